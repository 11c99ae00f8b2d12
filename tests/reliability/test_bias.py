from __future__ import annotations

from types import SimpleNamespace

import pytest
from judging_stand_ins import ScriptedJudge, Verdict

from langchain_llm_judge import (
    ConfigError,
    InputError,
    JudgeReplyError,
    PositionBias,
    aposition_bias,
    position_bias,
)

PAIR = {"task": "Greet.", "output_a": "Hi", "output_b": "Hello"}


def judge_by(rule) -> ScriptedJudge:
    """A judge that sees one order; `rule` is given both outputs as they are shown."""
    return ScriptedJudge(lambda case: Verdict(winner=rule(case["output_a"], case["output_b"])))


@pytest.mark.parametrize(
    ("rule", "consistent", "first"),
    [
        (lambda a, b: "A" if a == "Hi" else "B", 1.0, 0.0),
        (lambda a, b: "tie", 1.0, 0.0),
        (lambda a, b: "A", 0.0, 1.0),
        (lambda a, b: "B", 0.0, 0.0),
        (lambda a, b: "A" if a == "Hi" else "tie", 0.0, 1.0),
        (lambda a, b: "B" if a == "Hi" else "tie", 0.0, 0.0),
    ],
)
def test_what_decides(rule, consistent, first):
    judge = judge_by(rule)
    bias = position_bias(judge, [PAIR] * 3)
    assert (bias.n, bias.n_failed, bias.consistent, bias.first) == (3, 0, consistent, first)
    assert judge.asked[:2] == [PAIR, {"task": "Greet.", "output_a": "Hello", "output_b": "Hi"}]
    assert bias.consistent in bias.consistent_ci
    assert bias.first in bias.first_ci
    assert bias.consistent_ci.high - bias.consistent_ci.low > 0.1


def test_a_judge_that_asks_both_orders_is_asked_once():
    def both(first_wins: bool) -> SimpleNamespace:
        orders = [
            SimpleNamespace(first="A", winner="A"),
            SimpleNamespace(first="B", winner="B" if first_wins else "A"),
        ]
        return SimpleNamespace(winner="tie" if first_wins else "A", orders=orders)

    judge = ScriptedJudge(both(True), both(False))
    bias = position_bias(judge, [PAIR, PAIR])
    assert len(judge.asked) == 2
    assert (bias.n, bias.consistent, bias.first) == (2, 0.5, 0.5)


def test_a_judge_with_one_order_only_is_asked_about_the_other():
    judge = ScriptedJudge(
        SimpleNamespace(winner="A", orders=[SimpleNamespace(first="A", winner="A")]),
        SimpleNamespace(winner="B", orders=[SimpleNamespace(first="A", winner="B")]),
    )
    bias = position_bias(judge, [PAIR])
    assert (len(judge.asked), bias.consistent) == (2, 1.0)


def test_pairs_that_fail_in_an_order_are_in_no_share():
    error = JudgeReplyError("unreadable", raw="?")
    judge = ScriptedJudge(error, Verdict(winner="A"), error, Verdict(winner="A"), Verdict(winner="B"))
    bias = position_bias(judge, [PAIR] * 3)
    # The first pair fails at once, the second in its other order, the third is consistent.
    assert (bias.n, bias.n_failed, bias.consistent) == (1, 2, 1.0)
    nothing = position_bias(ScriptedJudge(Verdict()), [PAIR])
    assert (nothing.n, nothing.n_failed, nothing.consistent, nothing.consistent_ci) == (0, 1, None, None)
    empty = position_bias(judge, [])
    assert (empty.n, empty.n_failed, empty.first) == (0, 0, None)


def test_triples_references_and_facades():
    judge = judge_by(lambda a, b: "A")
    assert position_bias(judge, [("Greet.", "Hi", "Hello"), {**PAIR, "reference": "Hey"}]).n == 2
    assert judge.asked[1]["output_a"] == "Hello"
    assert judge.asked[3]["reference"] == "Hey"
    facade = SimpleNamespace(pairwise=judge_by(lambda a, b: "B"))
    assert position_bias(facade, [PAIR]).first == 0.0


@pytest.mark.parametrize("pair", [{"task": "t", "output_a": "x"}, ("x", "y"), "abc", None])
def test_what_is_no_pair_is_named_before_any_call(pair):
    judge = judge_by(lambda a, b: "A")
    with pytest.raises(InputError, match=r"pairs\[1\] is .*; give a dict with task, output_a, output_b"):
        position_bias(judge, [PAIR, pair])
    assert judge.asked == []


def test_wrong_use_is_raised():
    with pytest.raises(InputError, match="blank"):
        position_bias(ScriptedJudge(InputError("field 'task' is blank")), [PAIR])
    with pytest.raises(ConfigError, match="confidence=0"):
        position_bias(judge_by(lambda a, b: "A"), [PAIR], confidence=0)


async def test_the_async_twin_gives_the_same():
    def rule(a, b):
        return "A"

    assert await aposition_bias(judge_by(rule), [PAIR] * 4) == position_bias(judge_by(rule), [PAIR] * 4)


def test_feedback_and_json():
    bias = position_bias(judge_by(lambda a, b: "A"), [PAIR])
    assert [(one["key"], one["score"]) for one in bias.feedback()] == [
        ("position_consistent", 0.0),
        ("position_first", 1.0),
    ]
    assert PositionBias.model_validate_json(bias.model_dump_json()) == bias
