"""Experiments on what real datasets, targets and judges hand over: documents, dates, odd separators, wrapped judges."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from langchain_llm_judge.experiments.dataset import read_dataset
from langchain_llm_judge.experiments.runner import run_experiment
from langchain_llm_judge.experiments.store import ExperimentStore
from langchain_llm_judge.judges.agent import AgentJudge
from langchain_llm_judge.judges.grading import GradingJudge
from langchain_llm_judge.judges.panel import named_apart
from langchain_llm_judge.judges.rag import RAGJudge
from langchain_llm_judge.testing import ScriptedJudgeModel
from langchain_llm_judge.trace.convert import to_trace

ROW = {"question": "Range?", "contexts": ["It goes 80 km."], "answer": "It goes 80 km."}


@pytest.fixture
def store(tmp_path: Path) -> ExperimentStore:
    return ExperimentStore(f"sqlite:///{tmp_path / 'runs.db'}")


def experiment(rows: Any, judges: Any, store: ExperimentStore, **settings: Any) -> Any:
    return run_experiment(rows, judges, name="run", store=store, progress=False, **settings)


def test_a_rag_chain_as_target_gives_documents(store: ExperimentStore):
    def chain(row: dict[str, Any]) -> Any:
        return {
            "answer": "It goes 80 km.",
            "contexts": [Document("It goes 80 km.", metadata={"at": datetime.now(UTC)})],
        }

    for judges in ([RAGJudge("offline")], [RAGJudge("offline"), RAGJudge("offline", threshold=0.9)]):
        (row,) = experiment([{"question": "Range?"}], judges, store, target=chain).rows
        assert row.inputs["contexts"][0]["page_content"] == "It goes 80 km."
        assert [result.faithfulness for result in row.evaluations.values()] == [1.0] * len(judges)


def test_rows_may_hold_what_json_has_no_word_for(store: ExperimentStore):
    (row,) = experiment([{**ROW, "at": datetime(2026, 1, 2), "tags": {"b", "a"}}], RAGJudge("offline"), store).rows
    assert (row.inputs["at"], row.inputs["tags"]) == ("2026-01-02T00:00:00", ["a", "b"])
    assert row.evaluations["RAGJudge"].faithfulness == 1.0


def test_nan_of_a_target_is_that_rows_error(store: ExperimentStore):
    def app(row: dict[str, Any]) -> Any:
        return {"answer": "It goes 80 km.", "distance": float(row["distance"])}

    rows = [{**ROW, "id": distance, "distance": distance} for distance in ("nan", "0.5")]
    bad, good = experiment(rows, RAGJudge("offline"), store, target=app).rows
    assert "NaN" in bad.errors["target"]
    assert good.evaluations["RAGJudge"].passed is True


def test_a_judge_that_gives_no_result_fails_its_row_only(store: ExperimentStore):
    judges = [RAGJudge("offline"), RunnableLambda(lambda row: {"mine": 1}, name="mine")]
    (row,) = experiment([ROW], judges, store).rows
    assert list(row.evaluations) == ["RAGJudge"]
    assert "no result of a judge" in row.errors["mine"]


def test_a_target_that_ends_in_to_trace_is_judged(store: ExperimentStore):
    target = RunnableLambda(lambda row: [("user", row["question"]), ("ai", "Done.")]) | to_trace
    (row,) = experiment([{"question": "Do it"}], AgentJudge(grade=False), store, target=target).rows
    assert row.evaluations["AgentJudge"].trace.final_answer == "Done."


def test_a_row_never_chooses_what_is_imported(store: ExperimentStore):
    for name in ("results:Usage", "cli.__main__:app", "mapping"):
        value = {"$type": name, "$value": {}}
        (row,) = experiment([{**ROW, "x": value}], RAGJudge("offline"), store).rows
        assert row.inputs["x"] == value


def test_importing_the_command_lines_module_runs_nothing():
    code = "import langchain_llm_judge.cli.__main__"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).stdout == b""


def test_lone_surrogates_are_stored_and_judged(store: ExperimentStore):
    row = {"question": "Range?", "contexts": ["It goes \ud800 80 km."], "answer": "It goes 80 km."}
    verdict = {
        "claims": [{"claim": "It goes 80 km.", "supported": "yes", "passages": [0], "quote": "80 km"}],
        "passages": [{"index": 0, "relevant": "yes"}],
        "answer_relevance": {"level": 5, "reason": "r"},
    }
    model = ScriptedJudgeModel([verdict])
    (kept,) = experiment([row], RAGJudge(model), store).rows
    assert kept.inputs["contexts"] == row["contexts"]
    assert kept.evaluations["RAGJudge"].faithfulness == 1.0
    assert model.calls[0][1].text.encode()


def test_separators_inside_texts_split_no_line(tmp_path: Path):
    odd = "one\u2028two\x85three\x0cfour"
    lines, table = tmp_path / "rows.jsonl", tmp_path / "rows.csv"
    lines.write_text(json.dumps({"answer": odd}, ensure_ascii=False) + "\n", encoding="utf-8")
    table.write_text(f"answer,question\n{odd},q\n", encoding="utf-8")
    for path in (lines, table):
        (row,) = read_dataset(path)
        assert row.inputs["answer"] == odd


def test_cells_as_large_as_documents_are_read_and_the_limit_stays(tmp_path: Path):
    limit = csv.field_size_limit()
    path = tmp_path / "rows.csv"
    path.write_text(f"question,answer\nq,{'a' * 500_000}\n", encoding="utf-8")
    assert len(read_dataset(path)[0].inputs["answer"]) == 500_000
    assert csv.field_size_limit() == limit


def test_an_empty_id_is_no_id(tmp_path: Path):
    path = tmp_path / "rows.csv"
    path.write_text("id,question\n,q\n,q\n", encoding="utf-8")
    first, second = read_dataset(path)
    assert first.key != second.key


@pytest.mark.parametrize("wrap", [lambda it: it.with_retry(), lambda it: it | (lambda x: x), lambda it: it])
def test_a_changed_judge_inside_a_wrapper_is_never_reused(store: ExperimentStore, wrap: Any):
    model = ScriptedJudgeModel([{"criteria": [{"name": "Quality", "level": 3, "reason": "r"}]}])
    for threshold, calls in ((0.4, 1), (0.4, 1), (0.6, 2)):
        run = experiment([{"task": "t", "output": "o"}], wrap(GradingJudge(model, threshold=threshold)), store)
        assert len(model.calls) == calls
        assert [one.passed for one in run.rows[0].evaluations.values()] == [threshold < 0.5]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["A_2", "A", "A"], ["A_2", "A", "A_3"]),
        (["strict_rag", "rag", "rag_strict"], ["strict_rag", "rag", "rag_strict"]),
        (["rag_strict", "rag"], ["rag_strict", "rag"]),
        (["A", "A", "A_2"], ["A", "A_2", "A_2_2"]),
    ],
)
def test_no_judge_loses_its_name_or_its_place_to_another(given: list[str], named: list[str]):
    assert list(named_apart([RAGJudge("offline", name=name) for name in given])) == named
