"""Which result belongs to which call."""

from __future__ import annotations

import pytest
from made_runs import call, message, result, run, thought

from langchain_llm_judge.checks.levels import level_of
from langchain_llm_judge.checks.run import run_checks


def pairs(*steps) -> list[str | None]:
    """The content each call got, in the order of the calls."""
    return [one.result.content if one.result else None for one in level_of(run(*steps)).exchanges]


def orphans(*steps) -> list[str]:
    return [steps[position].content for position in level_of(run(*steps)).orphans]


F02 = (
    call("search", id="c1", group=0, q="a"),
    call("search", id="c2", group=0, q="b"),
    call("clock", id="c3", group=0),
    call("ping", group=0),
    result("B", id="c2"),
    result("boom", id="c1", is_error=True),
    result("?", id="zz"),
)


def test_f02_results_join_by_id_whatever_their_order():
    assert pairs(*F02) == ["boom", "B", None, None]
    assert orphans(*F02) == ["?"]


def test_f02_findings():
    report = run_checks(run(*F02, answer="done"))
    found = {code: [f.tool for f in report.findings if f.code == code] for code in {f.code for f in report.findings}}
    assert found == {
        "failed_result": ["search"],
        "unanswered_call": ["clock", "ping"],
        "orphan_result": [None],
    }


def test_ids_that_repeat_over_turns_are_not_crossed():
    first = [call("ok", id="a"), result("one", id="a"), message("done1")]
    second = [call("ok", id="a"), result("two", id="a"), message("done2")]
    assert pairs(*first, *second) == ["one", "two"]


@pytest.mark.parametrize("id", ["a", "", None])
def test_a_call_left_open_in_one_turn_takes_no_result_of_the_next(id):
    steps = [call("ok", id=id), message("I could not do it."), call("ok", id=id), result("two", id=id, name="ok")]
    assert pairs(*steps) == [None, "two"]
    assert orphans(*steps) == []


@pytest.mark.parametrize("id", ["a", "", None])
def test_parallel_calls_of_one_id_are_answered_in_order(id):
    steps = [call("ok", id=id, group=1), call("ok", id=id, group=1), result("one", id=id), result("two", id=id)]
    assert pairs(*steps) == ["one", "two"]


@pytest.mark.parametrize("id", ["a", "", None])
def test_a_call_after_a_result_comes_before_one_left_open_earlier(id):
    steps = [call("ok", id=id), call("ok", id=id), result("one", id=id), call("ok", id=id), result("two", id=id)]
    assert pairs(*steps) == ["one", None, "two"]


def test_results_with_and_without_ids_together():
    steps = [
        call("a", id="x"),
        call("b"),
        call("b"),
        result("B", name="b"),
        result("A", id="x"),
        result("B2", name="b"),
    ]
    assert pairs(*steps) == ["A", "B", "B2"]


def test_a_thought_between_calls_of_parallel_branches_parts_nothing():
    steps = [thought(), call("a"), thought(), call("a"), result("one", name="a"), result("two", name="a")]
    assert pairs(*steps) == ["one", "two"]


def test_without_an_id_the_name_tells():
    assert pairs(call("a"), call("b"), result("B", name="b"), result("A", name="a")) == ["A", "B"]


def test_without_id_and_name_the_next_open_call_is_meant():
    assert pairs(call("a", id="x"), call("b"), result("A"), result("B")) == ["A", "B"]


@pytest.mark.parametrize(
    "stray",
    [result("late", id="zz"), result("late", id="a"), result("late", name="other"), result("late")],
    ids=["unknown id", "answered already", "unknown name", "nothing open"],
)
def test_what_belongs_to_no_call_is_an_orphan(stray):
    steps = [call("ok", id="a"), result("one", id="a"), stray]
    assert pairs(*steps) == ["one"]
    assert orphans(*steps) == ["late"]


def test_a_result_with_an_id_does_not_join_a_call_without():
    assert pairs(call("ok"), result("one", id="a", name="ok")) == [None]


def test_a_result_before_its_call_is_an_orphan():
    assert orphans(result("early", id="a"), call("ok", id="a")) == ["early"]


def test_the_trace_stays_as_it_was():
    trace = run(*F02)
    before = trace.model_dump()
    run_checks(trace)
    assert trace.model_dump() == before
