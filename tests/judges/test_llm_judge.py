"""The facade: every method reaches its Runnable, sync and async, with one model for all."""

from __future__ import annotations

from typing import Any

import pytest

from langchain_llm_judge.errors import ConfigError, UnsupportedByEngineError
from langchain_llm_judge.judges.criteria import Criterion
from langchain_llm_judge.judges.llm_judge import LLMJudge
from langchain_llm_judge.testing import ScriptedJudgeModel

RUN = {
    "task": "Weather?",
    "steps": [{"type": "tool_call", "name": "w", "args": {"city": "Paris"}}],
    "final_answer": "21C",
}
PASSAGE = "The range is 80 km."


def levels(*names: str, level: int = 5) -> dict[str, Any]:
    return {"criteria": [{"name": name, "level": level, "reason": "r"} for name in names]}


def facade(reply: Any, **settings: Any) -> tuple[LLMJudge, ScriptedJudgeModel]:
    model = ScriptedJudgeModel([reply])
    return LLMJudge(model, **settings), model


async def test_grade():
    judge, model = facade(levels("Quality", level=4))
    assert judge.grade("t", "o", reference="r").score == (await judge.agrade("t", "o", reference="r")).score == 0.75
    assert len(model.calls) == 2


async def test_compare():
    judge, model = facade({"winner": "A", "reason": ""})
    assert judge.compare("t", "a", "b").position_consistent is False
    assert (await judge.acompare("t", "a", "b", swap=False)).winner == "A"
    assert len(model.calls) == 3


async def test_evaluate_agent():
    judge, _ = facade(levels("Tone"), criteria=["Tone: polite?"])
    evaluation = judge.evaluate_agent(RUN, expected_tools=["other"], max_steps=0)
    assert list(evaluation.grade.criteria) == ["Tone"]
    assert {finding.code for finding in evaluation.checks.findings} >= {"expected_tool_unused", "step_budget"}
    assert evaluation.passed is True, "checks do not change the grade"
    again = await judge.aevaluate_agent(RUN, criteria=[Criterion("Tone", "polite?")])
    assert again.grade.score == 1.0


async def test_evaluate_rag():
    judge = LLMJudge("offline")
    assert judge.evaluate_rag("Range?", contexts=[PASSAGE], answer=PASSAGE).faithfulness == 1.0
    assert (await judge.aevaluate_rag("Range?", [PASSAGE], PASSAGE, reference=PASSAGE)).context_recall == 1.0
    assert judge.evaluate_rag("Range?", answer=PASSAGE).notes == ["no_context"]
    assert LLMJudge("offline", rag=lambda _: [PASSAGE]).evaluate_rag("Range?", answer=PASSAGE).faithfulness == 1.0


async def test_evaluate_arguments():
    judge, _ = facade({"verdicts": [{"call": 0, "correct": "no", "reason": "r"}]})
    assert judge.evaluate_arguments(RUN).score == 0.0
    assert (await judge.aevaluate_arguments(RUN)).passed is False


def test_threshold_and_criteria_reach_every_judge():
    judge, _ = facade(levels("Quality"), threshold=0.9)
    runnables = (judge.grading, judge.rag, judge.agent, judge.arguments)
    assert {runnable.threshold for runnable in runnables} == {0.9}
    with pytest.raises(ConfigError):
        LLMJudge(ScriptedJudgeModel(["x"]), threshold=2)


def test_the_engine_does_what_it_can():
    judge = LLMJudge("offline")
    assert judge.rag.identity()["model"] == "offline"
    for name in ("grading", "pairwise", "agent", "arguments"):
        with pytest.raises(UnsupportedByEngineError):
            getattr(judge, name)
