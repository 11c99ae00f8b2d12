"""Grading an output, comparing two, and asking whether a judge says the same again."""

from __future__ import annotations

from typing import Annotated

import typer

from langchain_llm_judge.cli.options import AsJson, Config, Model, Provider
from langchain_llm_judge.cli.outcome import FAILED, PASSED, Outcome, verdict_code
from langchain_llm_judge.errors import InputError

Task = Annotated[str, typer.Option(metavar="TEXT", help="What was asked for.")]
Output = Annotated[str, typer.Option(metavar="TEXT", help="The output to grade.")]
OptionalOutput = Annotated[str | None, typer.Option(metavar="TEXT", help="The output to grade.")]
OutputA = Annotated[str, typer.Option(metavar="TEXT", help="One output.")]
OutputB = Annotated[str, typer.Option(metavar="TEXT", help="The other output.")]
OptionalOutputA = Annotated[str | None, typer.Option(metavar="TEXT", help="One output to compare.")]
OptionalOutputB = Annotated[str | None, typer.Option(metavar="TEXT", help="The other output to compare.")]
Criteria = Annotated[
    list[str] | None,
    typer.Option("--criterion", metavar="'NAME: WHAT IT ASKS'", help="What decides; repeatable. Default: quality."),
]
Reference = Annotated[str | None, typer.Option(metavar="TEXT", help="The right output.")]
NoSwap = Annotated[bool, typer.Option("--no-swap", help="Ask one order only, at half the calls.")]
Samples = Annotated[int, typer.Option(min=1, metavar="N", help="How often the judge is asked.")]
Temperature = Annotated[
    float | None, typer.Option(min=0, max=2, metavar="T", help="Sampling temperature; at 0 little can vary.")
]


def grade(
    task: Task,
    output: Output,
    criterion: Criteria = None,
    reference: Reference = None,
    model: Model = None,
    provider: Provider = None,
    config: Config = None,
    as_json: AsJson = False,
) -> Outcome:
    """Grade one output on criteria with five levels."""
    from langchain_llm_judge.judges.grading import GradingJudge
    from langchain_llm_judge.reports.verdicts import graded_view

    judge = GradingJudge(model, provider, criteria=criterion or None, config_path=config)
    result = judge.invoke({"task": task, "output": output, "reference": reference})
    return Outcome(result, graded_view(result), verdict_code(result.passed))


def compare(
    task: Task,
    output_a: OutputA,
    output_b: OutputB,
    criterion: Criteria = None,
    reference: Reference = None,
    no_swap: NoSwap = False,
    model: Model = None,
    provider: Provider = None,
    config: Config = None,
    as_json: AsJson = False,
) -> Outcome:
    """Compare two outputs, in both orders."""
    from langchain_llm_judge.judges.pairwise import PairwiseJudge
    from langchain_llm_judge.reports.verdicts import comparison_view

    judge = PairwiseJudge(model, provider, criteria=criterion or None, swap=not no_swap, config_path=config)
    result = judge.invoke({"task": task, "output_a": output_a, "output_b": output_b, "reference": reference})
    return Outcome(result, comparison_view(result))


def consistency(
    task: Task,
    output: OptionalOutput = None,
    output_a: OptionalOutputA = None,
    output_b: OptionalOutputB = None,
    criterion: Criteria = None,
    samples: Samples = 5,
    temperature: Temperature = None,
    model: Model = None,
    provider: Provider = None,
    config: Config = None,
    as_json: AsJson = False,
) -> Outcome:
    """Ask a judge the same thing several times: does it agree with itself?"""
    from langchain_llm_judge.judges.llm_judge import LLMJudge
    from langchain_llm_judge.reliability.consistency import measure_consistency
    from langchain_llm_judge.reports.verdicts import consistency_view

    if (output is None) == (output_a is None and output_b is None):
        raise InputError("give --output to grade, or both --output-a and --output-b to compare", field="output")
    judge = LLMJudge(model, provider, criteria=criterion or None, temperature=temperature, config_path=config)
    report = measure_consistency(judge, task, output=output, output_a=output_a, output_b=output_b, samples=samples)
    return Outcome(report, consistency_view(report), PASSED if report.n_ok else FAILED)
