"""Trajectory match, computed by hand."""

from __future__ import annotations

import datetime
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from made_runs import call, done, message, run

from langchain_llm_judge.checks.match import TrajectoryMatch, TrajectoryStep, match_trajectory
from langchain_llm_judge.errors import ConfigError, InputError, TraceError
from langchain_llm_judge.results import feedback
from langchain_llm_judge.trace.schema import AgentTrace, Message, ToolCall


def want(name: str = "s", /, **args) -> dict:
    return {"name": name, "args": args}


def calls(*given, groups: list[int] | None = None) -> AgentTrace:
    """A run that made these calls; `groups` puts calls into one message."""
    made = [call(one["name"], **one["args"]) for one in given]
    for one, group in zip(made, groups or (), strict=False):
        one.group = group
    return run(*made)


A, B, C, D = want("a", n=1), want("b", n=2), want("c", n=3), want("d", n=4)


def numbers(match: TrajectoryMatch) -> tuple:
    return match.score, match.precision, match.recall


class TestF18:
    def test_duplicates_count(self):
        expected = [want(q="a"), want(q="a")]
        assert match_trajectory(calls(*expected), expected).score == 1.0
        assert match_trajectory(calls(want(q="a")), expected).score == 0.5

    @pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
    def test_the_order_of_the_reference_changes_nothing_in_a_mismatch(self, mode):
        expected = [want("book", a=1, b=1, c=1), want("book", a=1, b=1, c=2)]
        called = calls(want("book", a=1, b=1, c=2), want("book", a=1, b=5, c=5))
        one, other = match_trajectory(called, expected, mode=mode), match_trajectory(called, expected[::-1], mode=mode)
        assert numbers(one) == numbers(other) == (0.5, 0.5, 0.5)
        assert [step.args for step in one.missing] == [step.args for step in other.missing] == [expected[0]["args"]]

    def test_one_reference_call_made_three_times(self):
        match = match_trajectory(calls(A, A, A), [A], mode="unordered")
        # 1 of 3 called, 1 of 1 expected; the larger side has 3.
        assert numbers(match) == (pytest.approx(1 / 3), pytest.approx(1 / 3), 1.0)

    def test_parallel_calls_match_a_reference_in_order(self):
        assert match_trajectory(calls(B, A, groups=[0, 0]), [A, B]).score == 1.0
        assert match_trajectory(calls(B, A, groups=[0, 1]), [A, B]).score == 0.5

    def test_a_near_name_fails_with_a_hint(self):
        match = match_trajectory(calls(want("Web_Search")), [want("Web Search")])
        assert match.score == 0.0
        assert "missing 'Web Search' with {}, did you mean 'Web_Search'" in match.reason


class TestModes:
    # Called a, b, x; expected a, c, b, d: 2 match.
    CALLED, EXPECTED = (A, B, want("x")), [A, C, B, D]

    @pytest.mark.parametrize(
        ("mode", "score"), [("strict", 2 / 4), ("unordered", 2 / 4), ("subset", 2 / 3), ("superset", 2 / 4)]
    )
    def test_scores(self, mode, score):
        match = match_trajectory(calls(*self.CALLED), self.EXPECTED, mode=mode)
        assert numbers(match) == (score, 2 / 3, 2 / 4)
        assert [(step.name, step.called, step.expected) for step in match.matched] == [("a", 0, 0), ("b", 1, 2)]
        assert [(step.name, step.called, step.expected) for step in match.missing] == [("c", None, 1), ("d", None, 3)]
        assert [(step.name, step.called, step.expected) for step in match.extra] == [("x", 2, None)]

    def test_only_strict_keeps_the_order(self):
        called = calls(B, A, C)
        # Kept in order: a, c or b, c.
        assert match_trajectory(called, [A, B, C]).score == pytest.approx(2 / 3)
        for mode in ("unordered", "subset", "superset"):
            assert match_trajectory(called, [A, B, C], mode=mode).score == 1.0

    def test_fewer_and_more(self):
        assert match_trajectory(calls(A), [A, B], mode="subset").score == 1.0
        assert match_trajectory(calls(A), [A, B], mode="superset").score == 0.5
        assert match_trajectory(calls(A, B), [A], mode="subset").score == 0.5
        assert match_trajectory(calls(A, B), [A], mode="superset").score == 1.0

    def test_the_reason_repeats_the_arithmetic(self):
        match = match_trajectory(calls(*self.CALLED), self.EXPECTED)
        assert match.reason == (
            "strict: 2 of 3 calls match 2 of 4 expected; score 2/4 = 0.5; missing 'c' with {'n': 3}; "
            "missing 'd' with {'n': 4}; extra 'x' with {}"
        )

    def test_the_reason_tells_other_arguments_and_order_apart(self):
        assert (
            "missing 's' with {'q': 'a'} (called with {'q': 'b'})"
            in match_trajectory(calls(want(q="b")), [want(q="a")]).reason
        )
        assert "missing 'a' with {'n': 1} (called out of order)" in match_trajectory(calls(B, C, A), [A, B, C]).reason

    def test_a_long_reason_is_cut(self):
        match = match_trajectory(run(), [want("t", x="y" * 10_000) for _ in range(1_000)])
        assert len(match.reason) < 2_000
        assert match.reason.endswith("and 995 more")


class TestGroups:
    def test_a_message_of_the_reference_may_come_in_any_order_too(self):
        reference = calls(A, B, C, groups=[0, 0, 1])
        assert match_trajectory(calls(B, A, C), reference).score == 1.0
        assert match_trajectory(calls(C, B, A), reference).score == pytest.approx(2 / 3)

    def test_messages_cut_differently(self):
        reference = calls(A, B, C, D, groups=[0, 0, 1, 1])
        assert match_trajectory(calls(B, C, A, D, groups=[0, 1, 1, 2]), reference).score == 1.0
        # c comes before a and b here, so one side of that has to go.
        assert match_trajectory(calls(C, B, A, D, groups=[0, 1, 1, 2]), reference).score == 0.75

    def test_which_of_two_fitting_calls_is_taken_is_chosen_well(self):
        # The first call fits both expected ones, the second only the fuller one.
        reference = calls(want(x=1, y=2), want(x=1, z=3), groups=[0, 0])
        called = calls(want(x=1), want(y=2))
        assert match_trajectory(called, reference, args="subset").score == 1.0
        assert match_trajectory(calls(want(y=2), want(x=1)), reference, args="subset").score == 1.0

    def test_calls_without_a_group_stand_alone(self):
        assert match_trajectory(calls(B, A), calls(A, B)).score == 0.5


class TestArguments:
    FULL, PART = want(x=1, y=[1, {"z": 2}]), want(x=1)

    @pytest.mark.parametrize(
        ("args", "called", "expected", "agrees"),
        [
            ("exact", FULL, FULL, True),
            ("exact", FULL, PART, False),
            ("ignore", FULL, want(q=9), True),
            ("subset", PART, FULL, True),
            ("subset", FULL, PART, False),
            ("superset", FULL, PART, True),
            ("superset", PART, FULL, False),
            ("subset", want(x=2), FULL, False),
            ("subset", want(), FULL, True),
            ("exact", want(x=1.0), want(x=1), True),
            ("exact", want(x=True), want(x=1), False),
            ("exact", want(x="1"), want(x=1), False),
            ("subset", want(x=True), FULL, False),
            ("exact", want(x=1, y=2), {"name": "s", "args": {"y": 2, "x": 1}}, True),
        ],
    )
    def test_modes(self, args, called, expected, agrees):
        for mode in ("strict", "unordered"):
            assert match_trajectory(calls(called), [expected], mode=mode, args=args).score == float(agrees)

    def test_overrides_by_tool(self):
        called, expected = calls(want("search", q="A "), want("book", n=1)), [want("search", q="a"), want("book", n=2)]
        assert match_trajectory(called, expected).score == 0.0
        assert match_trajectory(called, expected, overrides={"search": "ignore"}).score == 0.5
        overrides = {"search": lambda called, expected: called["q"].strip().lower() == expected["q"]}
        assert match_trajectory(called, expected, overrides=overrides).score == 0.5
        assert match_trajectory(called, expected, overrides=overrides | {"book": "ignore"}).score == 1.0

    def test_a_function_may_refuse_equal_arguments(self):
        for mode in ("strict", "unordered"):
            assert match_trajectory(calls(A), [A], mode=mode, overrides={"a": lambda *_: False}).score == 0.0

    def test_a_function_that_is_not_transitive_is_matched_optimally(self):
        close = {"s": lambda called, expected: abs(called["x"] - expected["x"]) <= 1}
        called, expected = calls(want(x=1), want(x=2)), [want(x=2), want(x=3)]
        assert match_trajectory(called, expected, mode="unordered", overrides=close).score == 1.0

    def test_equal_arguments_are_paired_where_any_would_do(self):
        match = match_trajectory(calls(want(x=2)), [want(x=1), want(x=2)], mode="unordered", args="ignore")
        assert [step.args for step in match.missing] == [{"x": 1}]

    def test_malformed_and_plain_text_match_the_same_text_only(self):
        text = run(ToolCall(name="s", args="paris"))
        assert match_trajectory(text, [{"name": "s", "args": "paris"}]).score == 1.0
        assert match_trajectory(text, [want(q="paris")], args="subset").score == 0.0
        assert match_trajectory(run(ToolCall(name="s", args="{", malformed=True)), [want()]).score == 0.0


class TestUndefined:
    @pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
    def test_both_empty(self, mode):
        match = match_trajectory(run(), [], mode=mode)
        assert numbers(match) == (None, None, None)
        assert match.feedback()[0]["score"] is None
        assert match.feedback()[0]["comment"] == "neither side has calls or nodes, so there is nothing to compare"

    @pytest.mark.parametrize(
        ("mode", "score"), [("strict", 0.0), ("unordered", 0.0), ("subset", None), ("superset", 0.0)]
    )
    def test_nothing_called(self, mode, score):
        match = match_trajectory(run(), [A], mode=mode)
        assert numbers(match) == (score, None, 0.0)

    @pytest.mark.parametrize(
        ("mode", "score"), [("strict", 0.0), ("unordered", 0.0), ("subset", 0.0), ("superset", None)]
    )
    def test_nothing_expected(self, mode, score):
        match = match_trajectory(calls(A), [], mode=mode)
        assert numbers(match) == (score, 0.0, None)
        assert "none, as it is a share of nothing" in match.reason or score is not None

    def test_unknown_calls_are_not_none(self):
        unknown = run(tool_use_known=False)
        for match in (match_trajectory(unknown, [A]), match_trajectory(calls(A), unknown)):
            assert numbers(match) == (None, None, None)
            assert "does not tell" in match.reason


class TestNodes:
    @staticmethod
    def through(*nodes: str) -> AgentTrace:
        return run(*(Message(content="x", node=node) for node in nodes))

    def test_where_neither_side_has_calls(self):
        match = match_trajectory(self.through("plan", "write", "write"), self.through("plan", "write", "check"))
        assert match.compared == "nodes"
        assert numbers(match) == (pytest.approx(2 / 3), 1.0, pytest.approx(2 / 3))
        assert match.missing == [TrajectoryStep(name="check", expected=2)]
        assert match.matched[0] == TrajectoryStep(name="plan", called=0, expected=0)

    def test_order(self):
        one, other = self.through("a", "b"), self.through("b", "a")
        assert match_trajectory(one, other).score == 0.5
        assert match_trajectory(one, other, mode="unordered").score == 1.0

    def test_where_one_side_has_calls_these_count(self):
        assert match_trajectory(self.through("a"), calls(A)).compared == "calls"

    def test_none_at_all(self):
        assert match_trajectory(run(message()), run(message())).score is None


class TestReferences:
    @pytest.mark.parametrize(
        "reference",
        [
            [{"name": "s", "args": {"q": "a"}}],
            ({"name": "s", "args": {"q": "a"}},),
            [{"name": "s", "args": {"q": "a"}, "id": "c1", "type": "tool_call"}],
            [{"name": "s", "input_parameters": {"q": "a"}}],
            [{"name": "s", "arguments": '{"q": "a"}'}],
            [{"id": "c1", "type": "function", "function": {"name": "s", "arguments": '{"q": "a"}'}}],
            [ToolCall(name="s", args={"q": "a"})],
            [SimpleNamespace(name="s", input_parameters={"q": "a"})],
            ["s"],
            calls(want(q="a")),
            calls(want(q="a")).model_dump(mode="json"),
            calls(want(q="a")).to_json(),
            [HumanMessage("?"), AIMessage("", tool_calls=[{"name": "s", "args": {"q": "a"}, "id": "c"}])],
            [("user", "?"), AIMessage("", tool_calls=[{"name": "s", "args": {"q": "a"}, "id": "c"}])],
        ],
        ids=lambda reference: type(reference).__name__,
    )
    def test_forms(self, reference):
        assert match_trajectory(calls(want(q="a")), reference).score == 1.0

    @pytest.mark.parametrize("given", [{"args": None}, {"arguments": ""}, {}])
    def test_no_arguments(self, given):
        assert match_trajectory(calls(want()), [{"name": "s", **given}]).score == 1.0
        assert match_trajectory(calls(want(q="a")), [{"name": "s", **given}]).score == 0.0

    def test_a_bare_name_leaves_the_arguments_open(self):
        for mode in ("strict", "unordered"):
            assert match_trajectory(calls(A, B), ["a", "b"], mode=mode).score == 1.0

    def test_dates_match_what_a_trace_keeps_of_them(self):
        day = datetime.date(2024, 5, 1)
        assert match_trajectory(calls(want(day=day)), [{"name": "s", "args": {"day": day}}]).score == 1.0
        assert match_trajectory(calls(want(day="2024-05-01")), [{"name": "s", "args": {"day": day}}]).score == 1.0
        assert match_trajectory(run(), [{"name": "s", "args": {"day": day}}]).missing[0].args == {"day": "2024-05-01"}

    @pytest.mark.parametrize("item", [{"tool": "s"}, {"name": 3}, 7, None, {"name": "s", "args": [1]}, {"name": None}])
    def test_what_is_no_call(self, item):
        with pytest.raises(InputError, match=r"reference\[1\]") as caught:
            match_trajectory(calls(A), [A, item])
        assert caught.value.field == "reference"

    @pytest.mark.parametrize("reference", [3, None, {"idea": 1}])
    def test_what_is_no_reference(self, reference):
        with pytest.raises(TraceError):
            match_trajectory(calls(A), reference)

    @pytest.mark.parametrize(
        "options",
        [
            {"mode": "sorted"},
            {"mode": None},
            {"args": "same"},
            {"args": ["exact"]},
            {"overrides": {"s": "same"}},
            {"overrides": {"s": None}},
            {"overrides": ["s"]},
        ],
        ids=str,
    )
    def test_options_that_are_not_usable(self, options):
        with pytest.raises(ConfigError, match=next(iter(options))):
            match_trajectory(calls(A), [A], **options)

    def test_anything_to_trace_takes_is_a_run(self):
        messages = [HumanMessage("?"), AIMessage("", tool_calls=[{"name": "s", "args": {"q": "a"}, "id": "c"}])]
        assert match_trajectory({"messages": messages}, [want(q="a")]).score == 1.0

    def test_calls_of_sub_traces_do_not_count(self):
        outer = call("research")
        outer.subtrace = run(*done(call("search")))
        assert match_trajectory(run(outer), ["research"]).score == 1.0

    def test_nothing_given_is_changed(self):
        called, reference = calls(A, B), [want("a", n=[1, {"x": 1.0}])]
        before = called.model_dump(), repr(reference)
        match_trajectory(called, reference, mode="unordered", args="subset")
        assert (called.model_dump(), repr(reference)) == before


def test_the_result_goes_to_json_and_back_and_gives_feedback():
    match = match_trajectory(calls(A, B), [A, C])
    assert TrajectoryMatch.model_validate_json(match.model_dump_json()) == match
    (told,) = feedback(match)
    assert (told["key"], told["score"], told["comment"]) == ("trajectory_match", 0.5, match.reason)
    assert told["metadata"]["precision"] == 0.5


SIDES = st.lists(st.sampled_from([A, B, C, want("a", n=2), want("a")]), max_size=6)
MODES = st.sampled_from(["strict", "unordered", "subset", "superset"])
ARGS = st.sampled_from(["exact", "ignore", "subset", "superset"])


class TestProperties:
    @given(SIDES, SIDES, MODES, ARGS)
    def test_bounds_and_sums(self, called, expected, mode, args):
        match = match_trajectory(calls(*called), expected, mode=mode, args=args)
        assert all(value is None or 0 <= value <= 1 for value in numbers(match))
        assert len(match.matched) + len(match.missing) == len(expected)
        assert len(match.matched) + len(match.extra) == len(called)
        assert (match.precision is None) == (not called)
        assert (match.recall is None) == (not expected)

    @given(SIDES, SIDES.flatmap(lambda side: st.tuples(st.just(side), st.permutations(side))), ARGS)
    def test_the_order_of_the_reference_is_free_where_order_is(self, called, references, args):
        one, other = (match_trajectory(calls(*called), side, mode="unordered", args=args) for side in references)
        assert numbers(one) == numbers(other)

    @given(SIDES, SIDES)
    def test_swapping_the_sides_swaps_precision_and_recall(self, one, other):
        for mode in ("strict", "unordered"):
            there = match_trajectory(calls(*one), calls(*other), mode=mode)
            back = match_trajectory(calls(*other), calls(*one), mode=mode)
            assert numbers(there) == (back.score, back.recall, back.precision)

    @given(SIDES.filter(bool), MODES, ARGS)
    def test_a_run_matches_itself(self, side, mode, args):
        assert match_trajectory(calls(*side), side, mode=mode, args=args).score == 1.0

    @given(SIDES, SIDES)
    def test_order_can_only_cost(self, called, expected):
        strict = match_trajectory(calls(*called), expected)
        unordered = match_trajectory(calls(*called), expected, mode="unordered")
        assert len(strict.matched) <= len(unordered.matched)

    @given(SIDES, SIDES, MODES)
    def test_a_looser_rule_never_matches_less(self, called, expected, mode):
        sizes = [
            len(match_trajectory(calls(*called), expected, mode=mode, args=args).matched)
            for args in ("exact", "subset", "ignore")
        ]
        assert sizes == sorted(sizes)
