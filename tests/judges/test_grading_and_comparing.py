"""Grades on anchored levels, comparisons in both orders, panels."""

from __future__ import annotations

from typing import Any

import pytest

from langchain_llm_judge.errors import ConfigError, InputError, JudgeReplyError, UnsupportedByEngineError
from langchain_llm_judge.judges.criteria import Criterion, checked_criteria
from langchain_llm_judge.judges.grading import GradingJudge
from langchain_llm_judge.judges.pairwise import PairwiseJudge
from langchain_llm_judge.judges.panel import Panel
from langchain_llm_judge.testing import ScriptedJudgeModel

CASE = {"task": "Say hello.", "output": "Hello!"}
PAIR = {"task": "Say hello.", "output_a": "Hello!", "output_b": "Go away."}


def levels(**given: Any) -> dict[str, Any]:
    return {"criteria": [{"name": name, "level": level, "reason": "r"} for name, level in given.items()]}


def test_a_grade_is_the_weighted_mean_of_its_criteria():
    criteria = [Criterion("Tone", "Polite?", weight=3), Criterion("Length", "Short?")]
    grade = GradingJudge(ScriptedJudgeModel([levels(Tone=5, length=2)]), criteria=criteria).invoke(CASE)
    assert grade.score == pytest.approx((3 * 1 + 0.25) / 4)
    assert grade.criteria["Length"].level == 2
    assert "Tone (1.00, weight 3)" in grade.reason
    assert grade.passed is True
    assert [one["key"] for one in grade.feedback()] == ["grade", "Tone", "Length"]


@pytest.mark.parametrize(
    "reply",
    [
        levels(),
        levels(Quality=6),
        levels(Quality=0),
        levels(Quality=True),
        levels(Quality=3.5),
        levels(Quality="high"),
        levels(Other=3),
        levels(Quality=3, Other=3),
        {"criteria": [{"name": "Quality", "level": 2}, {"name": "quality", "level": 4}]},
        {"criteria": [{"name": "Quality"}]},
        {"score": 5},
        "no idea",
    ],
    ids=str,
)
def test_unreadable_grades_are_errors_after_one_re_ask(reply: Any):
    model = ScriptedJudgeModel([reply])
    with pytest.raises(JudgeReplyError) as caught:
        GradingJudge(model).invoke(CASE)
    assert len(model.calls) == 2
    assert caught.value.raw
    assert caught.value.usage.calls == 2


def test_criteria_of_a_call_replace_the_judges():
    model = ScriptedJudgeModel([levels(Tone=5)])
    grade = GradingJudge(model).invoke({**CASE, "criteria": ["Tone: is it polite?"]})
    assert list(grade.criteria) == ["Tone"]
    assert "is it polite?" in model.calls[0][0].text


def test_the_reference_is_in_the_prompt():
    model = ScriptedJudgeModel([levels(Quality=5)])
    GradingJudge(model).invoke({**CASE, "reference": "Hi there, {friend}"})
    assert model.calls[0][1].text.count("Hi there, {friend}") == 1


@pytest.mark.parametrize(
    "criteria",
    [[], ["Tone", "tone"], [{"name": "x"}], [{"name": "x", "description": "d", "levels": ["a"]}], [": no name"]],
    ids=str,
)
def test_criteria_that_cannot_be_used(criteria: Any):
    with pytest.raises(ConfigError):
        checked_criteria(criteria)


@pytest.mark.parametrize("settings", [{"levels": ["a", "b"]}, {"weight": 0}, {"weight": float("nan")}])
def test_a_criterion_out_of_its_range(settings: dict[str, Any]):
    with pytest.raises(ConfigError):
        Criterion("Tone", "Polite?", **settings)


@pytest.mark.parametrize("case", [{"task": "t"}, {"task": " ", "output": "o"}, {"output": "o"}, "text", 5])
def test_bad_input_before_any_call(case: Any):
    model = ScriptedJudgeModel([levels(Quality=5)])
    with pytest.raises(InputError):
        GradingJudge(model).invoke(case)
    assert model.calls == []


def test_both_orders_agree():
    model = ScriptedJudgeModel([{"winner": "A", "reason": "x"}, {"winner": "B", "reason": "y"}])
    comparison = PairwiseJudge(model).invoke(PAIR)
    assert (comparison.winner, comparison.position_consistent) == ("A", True)
    assert [order.winner for order in comparison.orders] == ["A", "A"]
    assert "Output A:\n<<<data" in model.calls[1][1].text
    assert model.calls[1][1].text.index("Go away.") < model.calls[1][1].text.index("Hello!")


@pytest.mark.parametrize("winners", [("A", "A"), ("B", "B"), ("tie", "A"), ("B", "tie")])
def test_orders_that_disagree_are_a_tie_that_says_so(winners: tuple[str, str]):
    model = ScriptedJudgeModel([{"winner": winner, "reason": ""} for winner in winners])
    comparison = PairwiseJudge(model).invoke(PAIR)
    assert (comparison.winner, comparison.position_consistent) == ("tie", False)
    assert "disagree" in comparison.reason


async def test_one_order_leaves_consistency_open():
    model = ScriptedJudgeModel([{"winner": "b.", "reason": ""}])
    comparison = await PairwiseJudge(model, swap=False).ainvoke(PAIR)
    assert (comparison.winner, comparison.position_consistent) == ("B", None)
    assert len(model.calls) == 1
    assert PairwiseJudge(ScriptedJudgeModel([{"winner": "tie"}])).invoke(PAIR).position_consistent is True


@pytest.mark.parametrize("winner", ["both", None, "", "A or B", "Output A", 1, True])
def test_off_menu_winners_are_errors(winner: Any):
    with pytest.raises(JudgeReplyError) as caught:
        PairwiseJudge(ScriptedJudgeModel([{"winner": winner, "reason": ""}])).invoke(PAIR)
    assert caught.value.code == "off_menu"


def graders(*given: int | str) -> list[GradingJudge]:
    return [GradingJudge(ScriptedJudgeModel([levels(Quality=one) if isinstance(one, int) else one])) for one in given]


@pytest.mark.parametrize(
    ("given", "verdict", "passed"),
    [((5, 5, 1), "pass", True), ((1, 1, 5), "fail", False), ((1, 5), "tie", None), (("?", 5, 1), "tie", None)],
)
async def test_a_panel_goes_by_majority_and_a_tie_is_a_tie(given: Any, verdict: str, passed: bool | None):
    result = Panel(graders(*given)).invoke(CASE)
    assert (result.verdict, result.passed) == (verdict, passed)
    assert len(result.verdicts) + len(result.errors) == len(given)
    assert (await Panel(graders(*given)).ainvoke(CASE)).votes == result.votes


def test_a_panel_without_any_verdict_has_none():
    result = Panel(graders("?", "?")).invoke(CASE)
    assert (result.verdict, result.passed, result.score) == (None, None, None)
    assert set(result.errors) == {"GradingJudge", "GradingJudge_2"}


def test_a_panel_of_comparisons():
    judges = [PairwiseJudge(ScriptedJudgeModel([{"winner": winner}]), swap=False) for winner in ("A", "B", "B")]
    assert Panel(judges).invoke(PAIR).verdict == "B"


def test_a_panel_needs_two():
    with pytest.raises(ConfigError, match="at least 2"):
        Panel(graders(5))


@pytest.mark.parametrize("judge", [GradingJudge, PairwiseJudge])
def test_the_engine_cannot_grade(judge: Any):
    with pytest.raises(UnsupportedByEngineError):
        judge("offline")
