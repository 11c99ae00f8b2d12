"""Experiments: rows judged once, resumed, bounded, stored whole; the store part of F21, with LangChain's cache on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from scipy.stats import binomtest
from sqlalchemy import create_engine, text

from langchain_llm_judge.errors import ConfigError, DatasetError, StoreError, StoreVersionError
from langchain_llm_judge.experiments.codec import from_json, to_json
from langchain_llm_judge.experiments.compare import compare_runs
from langchain_llm_judge.experiments.dataset import read_dataset
from langchain_llm_judge.experiments.runner import arun_experiment, run_experiment
from langchain_llm_judge.experiments.schema import VERSION
from langchain_llm_judge.experiments.store import ExperimentStore, Outcome
from langchain_llm_judge.judges.agent import AgentJudge
from langchain_llm_judge.judges.grading import GradingJudge
from langchain_llm_judge.judges.rag import RAGJudge
from langchain_llm_judge.reliability.agreement import judge_agreement
from langchain_llm_judge.testing import ScriptedJudgeModel

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def langchains_cache() -> Iterator[None]:
    set_llm_cache(InMemoryCache())
    yield
    set_llm_cache(None)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ExperimentStore]:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    if request.param == "postgres":
        url = os.environ.get("JUDGE_TEST_PG", "")
        if not url:
            pytest.skip("JUDGE_TEST_PG names no PostgreSQL")
        _emptied(url)
    opened = ExperimentStore(url)
    yield opened
    opened.close()


def _emptied(url: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        for table in ("schema", "runs", "judges", "members", "rows", "evaluations", "measures"):
            connection.execute(text(f"DROP TABLE IF EXISTS llm_judge_{table}"))
    engine.dispose()


def levels(level: int) -> dict[str, Any]:
    return {"criteria": [{"name": "Quality", "level": level, "reason": "r"}]}


def by_task(messages: list[Any]) -> Any:
    """A grade from 1 to 5 by the number in the task; 13 gets no readable reply."""
    number = int(messages[1].text.split("task-")[1].split("\n")[0])
    return "no idea" if number == 13 else levels(number % 5 + 1)


def rows(count: int) -> list[dict[str, Any]]:
    return [{"id": f"r{number}", "task": f"task-{number}", "output": "o"} for number in range(count)]


def grader(**settings: Any) -> tuple[GradingJudge, ScriptedJudgeModel]:
    model = ScriptedJudgeModel([by_task])
    return GradingJudge(model, **settings), model


def experiment(dataset: Any, judge: Any, store: ExperimentStore, **settings: Any):
    return run_experiment(dataset, judge, **{"name": "run", "store": store, "progress": False, **settings})


def test_every_row_is_judged_and_stored_whole(store: ExperimentStore):
    judge, _ = grader()
    run = experiment(rows(20), judge, store)
    assert [row.key for row in run.rows] == [f"r{number}" for number in range(20)]
    assert run.rows[3].evaluations["GradingJudge"] == judge.invoke(rows(20)[3]).model_copy(
        update={"usage": run.rows[3].evaluations["GradingJudge"].usage}
    )
    assert "GradingJudge" in run.rows[13].errors
    summary = run.summary()["grade"]
    assert (summary.n, summary.failures) == (19, 1)
    expected = [(number % 5) / 4 for number in range(20) if number != 13]
    assert summary.mean == pytest.approx(sum(expected) / 19)
    assert summary.interval.low < summary.mean < summary.interval.high
    assert store.run("run").rows == run.rows
    assert [(info.name, info.rows) for info in store.runs()] == [("run", 20)]


def test_a_second_call_judges_nothing_twice(store: ExperimentStore):
    experiment(rows(10), grader()[0], store)
    again, model = grader()
    run = experiment(rows(10), again, store)
    assert model.calls == []
    assert len(run.rows) == 10


def test_rows_that_are_new_or_changed_are_judged(store: ExperimentStore):
    experiment(rows(5), grader()[0], store)
    changed = [
        *rows(4),
        {"id": "r4", "task": "task-9", "output": "other"},
        {"id": "new", "task": "task-1", "output": "o"},
    ]
    again, model = grader()
    run = experiment(changed, again, store)
    assert len(model.calls) == 2
    assert [row.key for row in run.rows] == ["r0", "r1", "r2", "r3", "r4", "new"]
    assert run.rows[4].inputs["output"] == "other"
    assert run.summary()["grade"].n == 6


@pytest.mark.parametrize("settings", [{"criteria": ["Quality: another question"]}, {"threshold": 0.9}])
def test_a_changed_judge_or_criterion_is_never_reused(store: ExperimentStore, settings: dict[str, Any]):
    experiment(rows(4), grader()[0], store)
    again, _ = grader(**settings)
    run = experiment(rows(4), again, store)
    thresholds = {row.evaluations["GradingJudge"].threshold for row in run.rows}
    assert thresholds == {settings.get("threshold", 0.5)}
    assert run.summary()["grade"].n == 4


def test_one_more_judge_leaves_the_first_ones_verdicts(store: ExperimentStore):
    experiment(rows(4), grader()[0], store)
    first, first_model = grader()
    second, second_model = grader(name="second", threshold=0.1)
    run = experiment(rows(4), [first, second], store)
    assert (len(first_model.calls), len(second_model.calls)) == (0, 4)
    assert set(run.rows[0].evaluations) == {"GradingJudge", "second"}
    assert {"GradingJudge.grade", "second.grade"} <= set(run.summary())


@pytest.mark.usefixtures("langchains_cache")
def test_f21_langchains_cache_serves_nothing_that_changed():
    model = ScriptedJudgeModel([{"criteria": [{"name": "x", "level": 5, "reason": ""}]}])

    def judge(city: str = "Paris", criterion: str = "x: is it good?") -> None:
        run = {"task": "t", "steps": [{"type": "tool_call", "name": "f", "args": {"city": city}}]}
        AgentJudge(model, criteria=[criterion]).invoke(run)

    judge()
    judge()
    assert len(model.calls) == 1, "the same question comes from the cache"
    judge(city="Rome")
    judge(criterion="x: is it bad?")
    assert len(model.calls) == 3


@pytest.mark.usefixtures("langchains_cache")
def test_repeats_and_retries_are_real_calls(store: ExperimentStore):
    judge, model = grader()
    experiment(rows(3), judge, store, repeats=2)
    assert len(model.calls) == 6
    replies = iter(["?", "?", levels(5)])
    mended = GradingJudge(ScriptedJudgeModel([lambda _: next(replies)]), name="mended")
    experiment(rows(1), mended, store, name="r")
    assert experiment(rows(1), mended, store, name="r", retry_failed=True).summary()["grade"].n == 1


def test_repeats_are_rows_of_their_own(store: ExperimentStore):
    judge, _ = grader()
    run = experiment(rows(3), judge, store, repeats=2)
    assert [(row.key, row.repeat) for row in run.rows] == [(f"r{n}", k) for n in range(3) for k in (0, 1)]


def test_budget_in_calls_stops_and_a_later_call_goes_on(store: ExperimentStore):
    judge, model = grader()
    run = experiment(rows(10), judge, store, calls=4, max_concurrency=1)
    assert (len(run.rows), len(model.calls)) == (4, 4)
    run = experiment(rows(10), judge, store, max_concurrency=1)
    assert (len(run.rows), len(model.calls)) == (10, 10)


def test_a_budget_in_money_stops_where_the_price_is_unknown(store: ExperimentStore):
    judge, model = grader()
    experiment(rows(10), judge, store, budget=1.0, max_concurrency=1)
    assert len(model.calls) == 1, "the first call shows that its price is not known"


def test_failures_are_kept_and_tried_again_only_when_asked(store: ExperimentStore):
    failing = GradingJudge(ScriptedJudgeModel(["?"]), name="judge")
    run = experiment(rows(3), failing, store)
    assert all(row.errors for row in run.rows)
    better = GradingJudge(ScriptedJudgeModel([levels(5)]), name="judge")
    assert not experiment(rows(3), better, store).rows[0].evaluations
    assert experiment(rows(3), better, store, retry_failed=True).summary()["grade"].n == 3


def test_a_name_that_is_there_can_be_refused(store: ExperimentStore):
    experiment(rows(1), grader()[0], store)
    with pytest.raises(ConfigError, match="there already"):
        experiment(rows(1), grader()[0], store, resume=False)


def test_targets_give_answers_traces_or_errors(store: ExperimentStore):
    def app(row: dict[str, Any]) -> Any:
        if row["kind"] == "raises":
            raise KeyError("app")
        return {"text": "80 km.", "dict": {"answer": "80 km."}, "message": AIMessage("80 km.")}[row["kind"]]

    dataset = [
        {"id": kind, "kind": kind, "question": "Range?", "contexts": ["It goes 80 km."]}
        for kind in ("text", "dict", "message", "raises")
    ]
    run = experiment(dataset, RAGJudge("offline"), store, target=RunnableLambda(app))
    assert [row.inputs.get("answer") for row in run.rows] == ["80 km.", "80 km.", "80 km.", None]
    assert "KeyError" in run.rows[3].errors["target"]
    assert run.summary()["faithfulness"].n == 3
    assert run.rows[3].evaluations == {}


def test_a_graph_as_target_is_judged_by_its_trace(store: ExperimentStore):
    def graph(row: dict[str, Any]) -> Any:
        return {"messages": [("user", row["question"]), AIMessage("Done.")]}

    run = experiment([{"question": "Do it"}], AgentJudge(grade=False), store, target=graph)
    assert run.rows[0].evaluations["AgentJudge"].trace.final_answer == "Done."
    assert run.rows[0].inputs["answer"] == "Done."


async def test_works_inside_a_running_loop_and_async(store: ExperimentStore):
    judge, _ = grader()
    assert len(experiment(rows(3), judge, store).rows) == 3
    run = await arun_experiment(rows(3), judge, name="async", store=store, progress=False)
    assert len(run.rows) == 3


def test_without_a_store_the_run_stays_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run = run_experiment(rows(30), grader()[0], name="memory", progress=False)
    assert len(run.rows) == 30
    assert list(tmp_path.iterdir()) == []


def test_the_environment_names_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGE_STORE", f"sqlite:///{tmp_path / 'named.db'}")
    run_experiment(rows(1), grader()[0], name="n", progress=False)
    assert (tmp_path / "named.db").exists()


@pytest.mark.parametrize(
    ("dataset", "told"),
    [
        ([], "no rows"),
        ([{"task": "t"}], "output"),
        ([{"task": "t", "output": ""}], "blank"),
        ([{"task": "t", "output": "o", "score": float("nan")}], "'score'"),
        ([{"task": "t", "output": "o", "deep": [{"x": float("inf")}]}], "'deep'"),
        (["text"], "row 1"),
        ([{"id": 1, "task": "t", "output": "o"}, {"id": "1", "task": "u", "output": "o"}], "id"),
        (5, "int"),
        ("missing.jsonl", "cannot be read"),
    ],
)
def test_datasets_that_cannot_be_judged_are_refused_before_any_call(dataset: Any, told: str):
    judge, model = grader()
    with pytest.raises(DatasetError, match=told):
        run_experiment(dataset, judge, name="x", progress=False)
    assert model.calls == []


@pytest.mark.parametrize(
    ("name", "content", "line", "told"),
    [
        ("d.jsonl", '{"task": "t", "output": "o"}\n\n{"task": "t"}\n', 3, "output"),
        ("d.jsonl", '{"task": "t", "output": "o"}\n{broken\n', 2, "no JSON"),
        ("d.jsonl", '{"task": "t", "output": "o"}\n[1]\n', 2, "list"),
        ("d.jsonl", '{"task": "t", "output": "o", "x": NaN}\n', 1, "'x'"),
        ("d.csv", "task,output\nt,o\nt,\n", 3, "blank"),
        ("d.csv", "task,output\nt,o,more\n", 2, "cells"),
    ],
)
def test_file_errors_name_file_line_and_field(tmp_path: Path, name: str, content: str, line: int, told: str):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DatasetError, match=told) as caught:
        run_experiment(str(path), grader()[0], name="x", progress=False)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_files_and_examples_are_read(tmp_path: Path):
    lines = tmp_path / "d.jsonl"
    lines.write_text("\ufeff" + '{"task": "ü", "output": "o"}\n{"task": "t", "output": "o"}\n', encoding="utf-8")
    table = tmp_path / "d.csv"
    table.write_text('task,output\n"a\nb","say ""hi"""\n', encoding="utf-8")
    assert [row.inputs["task"] for row in read_dataset(lines)] == ["ü", "t"]
    assert read_dataset(table)[0].inputs == {"task": "a\nb", "output": 'say "hi"'}

    class Example:
        id = "e1"
        inputs = {"question": "q"}
        outputs = {"answer": "right"}

    (row,) = read_dataset([Example()])
    assert (row.key, row.inputs) == ("e1", {"question": "q", "reference": "right", "id": "e1"})


def test_equal_rows_without_id_are_told_apart():
    keys = [row.key for row in read_dataset([{"task": "t"}, {"task": "t"}, {"task": "u"}])]
    assert len(set(keys)) == 3
    assert keys == [row.key for row in read_dataset([{"task": "t"}, {"task": "t"}, {"task": "u"}])]


def test_results_come_back_equal():
    results = [
        RAGJudge("offline").invoke({"question": "q?", "contexts": ["It goes 80 km."], "answer": "It goes 80 km."}),
        AgentJudge(grade=False).invoke(
            {"task": "t", "steps": [{"type": "tool_call", "name": "x", "args": {"a": [1]}}]}
        ),
        {"status": "PASS", "score": 1.0, "reason": "r", "metadata": {"usage": grader()[0].invoke(rows(1)[0]).usage}},
    ]
    for result in results:
        assert from_json(to_json(result)) == result


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("nan")]}, object()])
def test_what_is_no_json_is_never_stored(value: Any):
    with pytest.raises(StoreError):
        to_json(value)


def test_a_store_makes_python_import_nothing_else():
    for name in ("os:path", "..os:system", "config:Settings.__init__", "errors:ConfigError"):
        with pytest.raises(StoreError):
            from_json(json.dumps({"$type": name, "$value": {}}))


def test_unknown_runs_list_the_nearest(store: ExperimentStore):
    with pytest.raises(StoreError, match="no runs yet"):
        store.run("x")
    experiment(rows(1), grader()[0], store, name="baseline")
    with pytest.raises(StoreError, match="'baseline'"):
        store.run("basline")


def test_a_newer_store_is_refused_untouched(tmp_path: Path):
    path = tmp_path / "runs.db"
    url = f"sqlite:///{path}"
    ExperimentStore(url).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE llm_judge_schema SET version = {VERSION + 1}"))
    engine.dispose()
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match=f"schema {VERSION + 1}"):
        ExperimentStore(url)
    assert path.read_bytes() == before


FIRST_SCHEMA = Path(__file__).parent / "first_schema.sql"


def test_a_store_of_the_first_schema_is_read(tmp_path: Path):
    import sqlite3

    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(FIRST_SCHEMA.read_text())
    store = ExperimentStore(f"sqlite:///{path}")
    (row,) = store.run("old").rows
    assert row.evaluations["GradingJudge"].score == 1.0
    assert store.run("old").summary()["grade"].mean == 1.0


@pytest.mark.parametrize("url", ["nonsense", "sqlite:////nowhere/at/all/x.db", "oracle://x/y"])
def test_stores_that_cannot_be_opened(url: str):
    with pytest.raises(StoreError):
        ExperimentStore(url)


def test_a_password_is_never_shown():
    with pytest.raises(StoreError) as caught:
        ExperimentStore("postgresql+psycopg://me:geheim@127.0.0.1:1/db?connect_timeout=1")
    assert "geheim" not in str(caught.value)


WRITER = """
import sys
from langchain_llm_judge.experiments.store import ExperimentStore, Outcome
from langchain_llm_judge.results import Usage
url, number, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = ExperimentStore(url)
run = store.run("shared")
result = {"status": "PASS", "score": 1.0, "reason": "r", "metadata": {}}
for row in range(count):
    store.write(run.id, (f"{number}-{row}", 0, "c"), {"row": row}, {("judge", "f"): Outcome(result)})
"""


def test_f21_six_writers_lose_nothing(store: ExperimentStore):
    per_writer = 60
    keys = [(f"{writer}-{row}", "c") for writer in range(6) for row in range(per_writer)]
    store.begin("shared", keys, {"judge": ("f", {})}, 1)
    url = store._engine.url.render_as_string(hide_password=False)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, url, str(number), str(per_writer)], env=environment)
        for number in range(6)
    ]
    assert [writer.wait(timeout=100) for writer in writers] == [0] * 6
    run = store.run("shared")
    assert len(run.rows) == 6 * per_writer
    assert run.summary()["relevancy"].n == 6 * per_writer


KILLED = """
import sys, time
from langchain_llm_judge import GradingJudge, ScriptedJudgeModel, run_experiment

def slow(messages):
    with open(sys.argv[2], "a") as calls:
        calls.write(messages[1].text.split("task-")[1].split(chr(10))[0] + chr(10))
    time.sleep(0.01)
    number = int(messages[1].text.split("task-")[1].split(chr(10))[0])
    return {"criteria": [{"name": "Quality", "level": number % 5 + 1, "reason": "r"}]}

rows = [{"id": str(n), "task": f"task-{n}", "output": "o"} for n in range(500)]
judge = GradingJudge(ScriptedJudgeModel([slow]))
run = run_experiment(rows, judge, name="killed", store="sqlite:///" + sys.argv[1], progress=False, max_concurrency=4)
print(len(run.rows), run.summary()["grade"])
"""


def test_f21_after_kill_9_the_same_command_goes_on(tmp_path: Path):
    database, calls = tmp_path / "runs.db", tmp_path / "calls.txt"
    command = [sys.executable, "-c", KILLED, str(database), str(calls)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    first = subprocess.Popen(command, env=environment)
    deadline = time.monotonic() + 60
    while not (calls.exists() and calls.read_text().count("\n") >= 120):
        assert time.monotonic() < deadline
        assert first.poll() is None
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    kept = len(ExperimentStore(f"sqlite:///{database}").run("killed").rows)
    assert 0 < kept < 500
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=True)
    run = ExperimentStore(f"sqlite:///{database}").run("killed")
    assert [row.key for row in run.rows] == [str(number) for number in range(500)]
    counts = [calls.read_text().split().count(str(number)) for number in range(500)]
    assert sum(counts) <= 500 + 4, "only what was under way when it was killed is asked again"
    undisturbed = run_experiment(
        [row.inputs for row in run.rows],
        GradingJudge(ScriptedJudgeModel([by_number])),
        name="undisturbed",
        progress=False,
    )
    assert run.summary() == undisturbed.summary()
    assert done.stdout.startswith("500 ")


def by_number(messages: list[Any]) -> Any:
    return levels(int(messages[1].text.split("task-")[1].split("\n")[0]) % 5 + 1)


def test_runs_are_compared_row_by_row(store: ExperimentStore):
    first = GradingJudge(ScriptedJudgeModel([by_number]), name="old")
    second = GradingJudge(ScriptedJudgeModel([lambda m: levels(5)]), name="new")
    experiment(rows(10), first, store, name="a")
    experiment(rows(12), second, store, name="b")
    compared = compare_runs(store, "a", "b")
    grade = compared.metrics["grade"]
    assert (grade.n, grade.unmatched) == (10, 2)
    assert grade.difference == pytest.approx(0.5)
    assert grade.interval.low < 0.5 < grade.interval.high
    verdicts = compared.verdicts["old"]
    # levels 1 and 2 (0 and .25) fail in a: 4 of 10 rows; none fails in b
    assert (verdicts.n, verdicts.only_a, verdicts.only_b) == (10, 0, 4)
    assert verdicts.p_value == pytest.approx(binomtest(0, 4).pvalue) == 0.125
    agreement = judge_agreement(store, "a", "b")
    assert (agreement.n, agreement.unmatched) == (10, 2)
    assert agreement.raw_agreement == pytest.approx(0.6)


def test_store_write_keeps_what_is_there(store: ExperimentStore):
    run = store.begin("w", [("k", "c")], {"judge": ("f", {})}, 1)
    good = {"status": "PASS", "score": 1.0, "reason": "r", "metadata": {}}
    bad = {**good, "status": "FAIL", "score": 0.0}
    store.write(run.id, ("k", 0, "c"), {}, {("judge", "f"): Outcome(good)})
    store.write(run.id, ("k", 0, "c"), {}, {("judge", "f"): Outcome(bad)})
    assert run.rows[0].evaluations["judge"]["score"] == 1.0


@pytest.mark.parametrize("settings", [{"repeats": 0}, {"max_concurrency": 0}, {"budget": -1}, {"calls": "many"}])
def test_settings_that_cannot_be_used(settings: dict[str, Any]):
    with pytest.raises(ConfigError):
        run_experiment(rows(1), grader()[0], name="x", progress=False, **settings)


def test_interrupting_keeps_what_is_done(tmp_path: Path):
    script = textwrap.dedent(
        """
        import sys, time
        from langchain_llm_judge import GradingJudge, ScriptedJudgeModel, run_experiment
        def slow(messages):
            time.sleep(0.05); print("call", flush=True)
            return {"criteria": [{"name": "Quality", "level": 5, "reason": ""}]}
        rows = [{"id": str(n), "task": "t", "output": "o"} for n in range(500)]
        run_experiment(rows, GradingJudge(ScriptedJudgeModel([slow])), name="r", store=sys.argv[1], progress=False)
        """
    )
    url = f"sqlite:///{tmp_path / 'r.db'}"
    process = subprocess.Popen(
        [sys.executable, "-c", script, url],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(15):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert 0 < len(ExperimentStore(url).run("r").rows) < 500


async def test_many_rows_at_once_in_memory():
    run = await asyncio.wait_for(arun_experiment(rows(60), grader()[0], name="m", progress=False), 60)
    assert len(run.rows) == 60
