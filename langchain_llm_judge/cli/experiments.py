"""Judging datasets, and looking at the runs that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langchain_llm_judge.cli.options import AsJson, Config, Model, Provider
from langchain_llm_judge.cli.outcome import PASSED, Outcome
from langchain_llm_judge.errors import ConfigError, StoreError, shown

if TYPE_CHECKING:
    from langchain_llm_judge.experiments.store import ExperimentStore

JUDGES = ("accuracy", "relevancy", "rag", "agent", "arguments", "grade", "compare")
"""Judges by the name of their command."""

Store = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Database; else JUDGE_STORE or sqlite:///llm_judge.db."),
]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="Name or id of a run.")]
RunA = Annotated[str, typer.Argument(metavar="RUN_A", help="Name or id of a run.")]
RunB = Annotated[str, typer.Argument(metavar="RUN_B", help="Name or id of another run.")]


def run(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A .jsonl or .csv file.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the run; the same name goes on with it.")],
    judge: Annotated[
        list[str], typer.Option("--judge", metavar="NAME", help=f"One of {', '.join(JUDGES)}; repeatable.")
    ],
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="How often every row is judged.")] = 1,
    budget: Annotated[float | None, typer.Option(min=0, metavar="USD", help="US dollars this call may spend.")] = None,
    calls: Annotated[int | None, typer.Option(min=0, metavar="N", help="Judge calls this call may spend.")] = None,
    max_concurrency: Annotated[int | None, typer.Option(min=1, metavar="N", help="Rows judged at once.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try again what failed before.")] = False,
    store: Store = None,
    model: Model = None,
    provider: Provider = None,
    config: Config = None,
    as_json: AsJson = False,
) -> Outcome:
    """Judge every row of a dataset; a broken run goes on where it stopped."""
    from langchain_llm_judge.experiments.runner import run_experiment
    from langchain_llm_judge.reports.runs import summary_view

    judges = [_judge(one, model, provider, config) for one in judge]
    done = run_experiment(
        dataset,
        judges,
        name=name,
        store=_opened(store),
        repeats=repeats,
        budget=budget,
        calls=calls,
        max_concurrency=max_concurrency,
        retry_failed=retry_failed,
    )
    summary = done.summary()
    return Outcome({"run": done.name, "id": done.id, "summary": _plain(summary)}, summary_view(done.name, summary))


def list_(store: Store = None, as_json: AsJson = False) -> Outcome:
    """List the runs of a store, the newest first."""
    from langchain_llm_judge.reports.runs import runs_view

    runs = _opened(store, must_exist=True).runs()
    return Outcome([vars(one) for one in runs], runs_view(runs))


list_.__name__ = "list"  # the command's name


def show(run: RunName, store: Store = None, as_json: AsJson = False) -> Outcome:
    """Show the metrics of a run, with intervals."""
    from langchain_llm_judge.reports.runs import summary_view

    found = _opened(store, must_exist=True).run(run)
    summary = found.summary()
    return Outcome({"run": found.name, "id": found.id, "summary": _plain(summary)}, summary_view(found.name, summary))


def agreement(run_a: RunA, run_b: RunB, store: Store = None, as_json: AsJson = False) -> Outcome:
    """How far two runs agree, row by row: the same rows, judged by two judges."""
    from langchain_llm_judge.reliability.agreement import judge_agreement
    from langchain_llm_judge.reports.runs import agreement_view

    report = judge_agreement(_opened(store, must_exist=True), run_a, run_b)
    return Outcome(report, agreement_view(report), PASSED)


def compare(run_a: RunA, run_b: RunB, store: Store = None, as_json: AsJson = False) -> Outcome:
    """How the scores of a second run differ from a first one's, row by row."""
    from langchain_llm_judge.experiments.compare import compare_runs
    from langchain_llm_judge.reports.runs import comparison_of_runs_view

    comparison = compare_runs(_opened(store, must_exist=True), run_a, run_b)
    return Outcome(comparison, comparison_of_runs_view(run_a, run_b, comparison))


def export(
    run: RunName,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where the rows go, one JSON object a line.")],
    store: Store = None,
    as_json: AsJson = False,
) -> Outcome:
    """Write a run's rows with their whole results to a file of JSON lines."""
    from pydantic_core import to_jsonable_python
    from rich.text import Text

    found = _opened(store, must_exist=True).run(run)
    rows = found.rows
    try:
        with output.open("w", encoding="utf-8") as file:
            for row in rows:
                line = to_jsonable_python({"run": found.name, **vars(row)})
                file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
    except OSError as error:
        raise ConfigError(f"{output} cannot be written: {error.strerror or error}; give another --output") from error
    return Outcome({"rows": len(rows), "output": str(output)}, Text(f"{len(rows)} rows written to {output}"))


def _plain(summary: Any) -> dict[str, Any]:
    return {metric: vars(one) for metric, one in summary.items()}


def _opened(url: str | None, *, must_exist: bool = False) -> ExperimentStore:
    from langchain_llm_judge.config import Settings
    from langchain_llm_judge.experiments.store import DEFAULT_URL, ExperimentStore

    chosen = url or Settings.from_environment().store or DEFAULT_URL
    file = chosen.removeprefix("sqlite:///")
    if must_exist and chosen.startswith("sqlite:///") and not Path(file).exists():
        raise StoreError(f"there is no store at {shown(file)}; give --store URL, or make one with: experiments run")
    return ExperimentStore(chosen)


def _judge(name: str, model: str | None, provider: str | None, config: Path | None) -> Any:
    """The judge of a command, by its name."""
    import langchain_llm_judge as judges

    match name:
        case "accuracy" | "relevancy":
            kind = judges.AccuracyAgent if name == "accuracy" else judges.RelevancyAgent
            chosen = {key: value for key, value in (("model", model), ("provider", provider)) if value is not None}
            return kind(config_path=config, **chosen)
        case "arguments":
            return judges.ArgumentCorrectnessJudge(model=model, provider=provider, config_path=config)
        case "rag" | "agent" | "grade" | "compare":
            kinds = {
                "rag": judges.RAGJudge,
                "agent": judges.AgentJudge,
                "grade": judges.GradingJudge,
                "compare": judges.PairwiseJudge,
            }
            return kinds[name](model, provider, config_path=config)
        case _:
            raise ConfigError(f"unknown judge {shown(name)}; give one of {', '.join(JUDGES)}")
