"""Checks of a run as a whole, and of the runs inside it."""

from __future__ import annotations

import pytest
from made_runs import call, done, message, result, run, tool

from langchain_llm_judge.checks.run import run_checks
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall


def found(trace, code: str, **rules):
    return [finding for finding in run_checks(trace, **rules).findings if finding.code == code]


def delegating(*inner, name: str = "research", **more) -> tuple:
    """A call of a tool that runs an agent, with its result."""
    outer = call(name, id="outer", q="x")
    outer.subtrace = run(*inner, **more)
    return outer, result(id="outer")


class TestStepBudget:
    @pytest.mark.parametrize(("calls", "budget", "over"), [(0, 0, False), (2, 2, False), (3, 2, True), (1, 0, True)])
    def test_every_attempt_is_a_step(self, calls, budget, over):
        trace = run(*done(*(call(n=n) for n in range(calls))))
        assert bool(found(trace, "step_budget", max_steps=budget)) is over

    def test_the_finding_stands_at_the_first_call_beyond(self):
        trace = run(*done(call("a"), call("b"), call("c"), call("d")))
        (finding,) = found(trace, "step_budget", max_steps=2)
        assert (finding.step, finding.tool, finding.path, finding.severity) == (4, "c", (), "error")
        assert finding.message == "4 tool calls were attempted, 2 are allowed (max_steps=2)"

    def test_messages_and_results_are_no_steps(self):
        assert not found(run(message(), message(), *done(call()), message()), "step_budget", max_steps=1)

    def test_calls_of_sub_traces_count(self):
        trace = run(*delegating(*done(call("a"), call("b"))), *done(call("c")))
        assert not found(trace, "step_budget", max_steps=4)
        (finding,) = found(trace, "step_budget", max_steps=2)
        assert (finding.tool, finding.step, finding.path) == ("b", 2, ("research",))
        (finding,) = found(trace, "step_budget", max_steps=3)
        assert (finding.tool, finding.path) == ("c", ())

    def test_no_budget(self):
        assert run_checks(run()).results["step_budget"].status == "not_applicable"


class TestExpectedTools:
    def test_a_tool_that_was_not_called(self):
        (finding,) = found(run(*done(call("a"))), "expected_tool_unused", expected_tools=["a", "b"])
        assert (finding.tool, finding.step, finding.severity) == ("b", None, "error")
        assert finding.message == "expected tool 'b' was not called; called are 'a'"

    def test_f18_a_near_name_is_hinted(self):
        (finding,) = found(run(*done(call("Web_Search"))), "expected_tool_unused", expected_tools=["Web Search"])
        assert finding.message.endswith("did you mean 'Web_Search'?")

    def test_a_name_given_twice(self):
        once, twice = run(*done(call("a"))), run(*done(call("a"), call("a", n=1)))
        (finding,) = found(once, "expected_tool_unused", expected_tools=["a", "a"])
        assert "called 1 of 2 times" in finding.message
        assert not found(twice, "expected_tool_unused", expected_tools=["a", "a"])

    def test_calls_of_sub_traces_count(self):
        trace = run(*delegating(*done(call("search"))))
        assert not found(trace, "expected_tool_unused", expected_tools=["search", "research"])

    def test_a_failed_call_is_a_use(self):
        trace = run(call("a", id="1"), result("boom", id="1", is_error=True))
        assert not found(trace, "expected_tool_unused", expected_tools=["a"])

    def test_f05_unknown_use_is_not_none(self):
        trace = AgentTrace(task="q", steps=[], final_answer="a", tool_use_known=False)
        report = run_checks(trace, expected_tools=["search"], max_steps=3, forbidden_tools=["x"])
        assert report.findings == []
        assert {code for code, one in report.results.items() if one.status != "not_applicable"} == {
            "missing_final_answer"
        }
        assert report.results["expected_tool_unused"].why == "the source does not tell which tools were called"

    def test_known_to_be_none(self):
        trace = AgentTrace(task="q", steps=[], final_answer="a")
        assert found(trace, "expected_tool_unused", expected_tools=["search"])

    def test_a_sub_trace_may_have_used_it(self):
        trace = run(*delegating(tool_use_known=False))
        report = run_checks(trace, expected_tools=["search"])
        assert report.results["expected_tool_unused"].status == "not_applicable"
        assert "sub-trace of research" in report.results["expected_tool_unused"].why
        assert run_checks(trace, expected_tools=["research"]).results["expected_tool_unused"].status == "passed"


class TestFinalAnswer:
    @pytest.mark.parametrize("answer", [None, "", "  \n"])
    @pytest.mark.parametrize("ended", ["finished", "step_limit", "failed", "unknown", "incomplete"])
    def test_none_or_blank(self, answer, ended):
        trace = run(answer=answer, status=ended, status_reason="because")
        (finding,) = found(trace, "missing_final_answer")
        assert finding.message == f"the run gave no final answer (status {ended}: 'because')"
        assert finding.step is finding.tool is None

    @pytest.mark.parametrize("ended", ["incomplete", "unknown"])
    def test_a_run_that_stopped_on_a_call_is_reported_once(self, ended):
        report = run_checks(run(call(id="a"), answer=None, status=ended))
        assert [finding.code for finding in report.findings] == ["unanswered_call"]
        assert report.results["missing_final_answer"].status == "not_applicable"

    def test_a_message_after_the_call(self):
        report = run_checks(run(call(id="a"), message(), answer=None))
        assert [finding.code for finding in report.findings] == ["unanswered_call", "missing_final_answer"]

    def test_a_limit_that_stopped_on_a_call(self):
        report = run_checks(run(call(id="a"), answer=None, status="step_limit"))
        assert {finding.code for finding in report.findings} == {"missing_final_answer", "unanswered_call"}


class TestSubTraces:
    def test_they_are_checked_too_and_findings_carry_the_path(self):
        deepest = delegating(call("nope", id="z"), name="dig", tools=[tool()])
        trace = run(*delegating(*deepest, tools=["dig"]), tools=["research"])
        report = run_checks(trace)
        assert [(f.code, f.step, f.tool, f.path) for f in report.findings] == [
            ("unknown_tool", 0, "nope", ("research", "dig")),
            ("unanswered_call", 0, "nope", ("research", "dig")),
        ]

    def test_findings_come_in_order_of_the_run(self):
        trace = run(call("a", id="1"), *delegating(call("b", id="2")), call("c", id="3"))
        assert [(f.step, f.path) for f in run_checks(trace).findings] == [(0, ()), (3, ()), (0, ("research",))]

    def test_repetitions_count_by_level(self):
        trace = run(*delegating(*done(call("a"))), *done(call("a")))
        assert not found(trace, "repeated_call")

    def test_a_part_that_cannot_be_told_is_named(self):
        trace = run(*delegating(*done(call("a"))), tools=["research"])
        one = run_checks(trace).results["unknown_tool"]
        assert one.status == "passed"
        assert one.why == "nothing found; not told for research: the source does not tell which tools were offered"
        trace.tools_known = False
        assert run_checks(trace).results["unknown_tool"].status == "not_applicable"

    def test_a_paused_sub_agent(self):
        trace = run(*delegating(call("a", id="1"), status="paused", answer=None))
        assert run_checks(trace).findings == []

    def test_steps_that_are_recorded_are_checked_even_where_others_may_be_missing(self):
        broken = ToolCall(name="a", args="{", malformed=True)
        assert found(run(broken, tool_use_known=False), "malformed_call")
