"""Checks of single calls and their results."""

from __future__ import annotations

import time

import pytest
from made_runs import call, done, message, result, run, tool

from langchain_llm_judge.checks.calls import reads_like_an_error
from langchain_llm_judge.checks.run import run_checks
from langchain_llm_judge.trace.schema import ToolCall


def found(trace, code: str, **rules):
    return [finding for finding in run_checks(trace, **rules).findings if finding.code == code]


def status(trace, code: str, **rules) -> str:
    return run_checks(trace, **rules).results[code].status


class TestUnknownTool:
    def test_a_call_of_a_tool_that_was_not_offered(self):
        (finding,) = found(
            run(*done(call(city="Rome"), call("Web Search", q="x")), tools=["weather", "Web_Search"]), "unknown_tool"
        )
        assert (finding.step, finding.tool, finding.severity) == (2, "Web Search", "error")
        assert finding.message == (
            "tool 'Web Search' was not offered; offered are 'Web_Search', 'weather'; did you mean 'Web_Search'?"
        )

    def test_unknown_tools_are_not_none(self):
        trace = run(*done(call("nope")))
        assert status(trace, "unknown_tool") == "not_applicable"
        assert run_checks(trace).results["unknown_tool"].why == "the source does not tell which tools were offered"

    def test_offered_none(self):
        assert status(run(*done(call("nope")), tools=[]), "unknown_tool") == "failed"

    def test_no_hint_where_nothing_is_near(self):
        (finding,) = found(run(*done(call("xyz")), tools=["weather"]), "unknown_tool")
        assert "did you mean" not in finding.message


class TestServerSideCalls:
    """Calls that the model's provider ran by itself."""

    def test_they_need_no_tool_and_no_result(self):
        web = ToolCall(name="web_search", args={"q": "x"}, server_side=True)
        report = run_checks(run(web, tools=[tool()]))
        assert report.findings == []

    def test_a_run_that_ends_on_one_without_an_answer_lacks_it(self):
        web = ToolCall(name="web_search", args={"q": "x"}, server_side=True)
        assert found(run(web, answer=None), "missing_final_answer")

    def test_they_count_as_calls(self):
        web = ToolCall(name="web_search", args={"q": "x"}, server_side=True)
        report = run_checks(run(web, web), max_steps=1, expected_tools=["web_search"])
        assert {f.code for f in report.findings} == {"step_budget", "repeated_call"}


class TestMalformedCall:
    TRACE = {"tools": [tool()], "answer": None, "status": "incomplete"}

    @pytest.mark.parametrize("name", ["weather", "nope"])
    def test_f03_a_malformed_call_is_reported_as_that_only(self, name):
        broken = ToolCall(name=name, args='{"city": "Par', id="c1", malformed=True)
        report = run_checks(run(broken, **self.TRACE))
        assert [(f.code, f.step, f.tool) for f in report.findings] == [("malformed_call", 0, name)]
        assert """'{"city": "Par'""" in report.findings[0].message

    def test_it_is_an_attempt(self):
        broken = ToolCall(name="weather", args="{", malformed=True)
        report = run_checks(run(broken, broken, **self.TRACE), max_steps=1, forbidden_tools=["weather"])
        codes = [finding.code for finding in report.findings]
        assert codes.count("forbidden_tool") == codes.count("malformed_call") == 2
        assert codes.count("step_budget") == 1
        assert "repeated_call" not in codes

    def test_a_long_text_is_cut(self):
        (finding,) = found(run(ToolCall(name="w", args="x" * 100_000, malformed=True)), "malformed_call")
        assert len(finding.message) < 400


class TestFailedResult:
    def test_an_error_of_the_framework(self):
        trace = run(call(id="a", city="x"), result("boom", id="a", is_error=True, error_type="ValueError"))
        (finding,) = found(trace, "failed_result")
        assert (finding.severity, finding.step, finding.tool) == ("error", 1, "weather")
        assert finding.message == "'weather' failed with ValueError: 'boom'"
        assert not run_checks(trace).passed

    def test_a_result_that_only_reads_like_one_is_a_warning(self):
        trace = run(*done(call(city="x")))
        trace.steps[1].content = "Error: not found"
        report = run_checks(trace)
        assert [(f.code, f.severity) for f in report.findings] == [("failed_result", "warning")]
        assert report.passed
        assert report.results["failed_result"].model_dump() == {"status": "passed", "why": "1 warning"}

    @pytest.mark.parametrize(
        "content",
        [
            "Error: not found",
            "error: not found",
            "ERROR - disk full",
            "  Error: payment amount does not add up, total price is 280, but paid 255",
            "Error!",
            "Error",
            "Error 404",
            "Error code: 401 - {'error': {'message': 'bad key'}}",
            "Error invoking tool 'get_weather' with kwargs {} with error:\n city: Field required",
            "Error executing tool search: timed out",
            "Error while fetching the page",
            "Error fetching data from API",
            "[Error] no such file",
            "❌ Error: not found",
            "(error) no such key",
            "**Error:** no",
            "Exception: bad",
            "Fatal error: out of memory",
            "An error occurred while searching",
            "An unexpected error occurred.",
            "ValueError: bad",
            "RuntimeError('kaput')",
            "requests.exceptions.HTTPError: 500 Server Error",
            "httpx.ReadTimeout: timed out",
            "Traceback (most recent call last):\n  File ...",
            'Output:\nTraceback (most recent call last):\n  File "x"\nKeyError: 1',
            '{"error": "not found"}',
            '{"error": {"code": 404}}',
            '{"errors": [{"message": "bad"}]}',
            '{"status": "error", "message": "no"}',
            '{"isError": true, "content": []}',
            '{"success": false}',
            '\n{"ok": false, "error": "channel_not_found"}',
        ],
    )
    def test_reads_like_an_error(self, content):
        assert reads_like_an_error(content)

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "No errors found",
            "0 errors, 2 warnings",
            "Errors: 0",
            "Error: none",
            "Error: no",
            "Error: 0",
            "Error rates fell by 3 % in May",
            "Error handling in Go is explicit.",
            "Error correction codes add redundancy.",
            "Errors in measurement are common.",
            "The error was fixed in version 2.",
            "Erroneous zones, a book by Wayne Dyer",
            "ErrorBoundary is a React component",
            "Exceptional weather is expected.",
            "ValueErrors are raised for bad input",
            "Failure is the mother of success",
            "The traceback looked like this: Traceback (most recent call last)",
            '{"error": null, "result": 3}',
            '{"error": ""}',
            '{"errors": []}',
            '{"error": 0.02, "mean": 1}',
            '{"error": false}',
            '{"success": true}',
            '{"status": "ok", "error_rate": 0.1}',
            '{"status": "landed", "text": "error"}',
            '{"title": "Error"}',
            '{"error": "cut off',
            '[{"error": "a row that failed among others"}]',
            "3.0",
        ],
    )
    def test_reads_like_an_ordinary_text(self, content):
        assert not reads_like_an_error(content)

    @pytest.mark.parametrize(
        "content",
        [
            "Error" * 200_000,
            " " * 1_000_000,
            "(" * 1_000_000,
            "a." * 500_000,
            '{"error":' * 100_000,
            "\n" * 500_000 + "x Traceback",
            "an error " * 100_000,
        ],
        ids=lambda content: repr(content[:10]),
    )
    def test_reading_takes_no_time_on_hostile_texts(self, content):
        start = time.process_time()
        reads_like_an_error(content)
        assert time.process_time() - start < 0.5


class TestRepeatedCall:
    @pytest.mark.parametrize(
        ("times", "max_repeats", "severity"),
        [
            (1, 1, None),
            (2, 1, "warning"),
            (3, 1, "error"),
            (4, 1, "error"),
            (3, 3, None),
            (4, 3, "warning"),
            (5, 3, "error"),
        ],
    )
    def test_one_more_than_allowed_is_a_warning_two_are_an_error(self, times, max_repeats, severity):
        trace = run(*done(*(call(city="Rome") for _ in range(times))))
        assert [f.severity for f in found(trace, "repeated_call", max_repeats=max_repeats)] == [severity] * bool(
            severity
        )

    def test_the_finding_stands_at_the_first_one_too_many(self):
        trace = run(*done(call(city="Rome"), call(city="Oslo"), call(city="Rome")))
        (finding,) = found(trace, "repeated_call")
        assert (finding.step, finding.tool) == (4, "weather")
        assert finding.message == (
            "'weather' was called 2 times with the same arguments {'city': 'Rome'} (steps 0, 4); max_repeats=1"
        )

    def test_another_tool_or_other_arguments_are_no_repetition(self):
        trace = run(*done(call("a", n=1), call("b", n=1), call("a", n=True), call("a", n="1"), call("a", n=[1])))
        assert not found(trace, "repeated_call")

    def test_key_order_and_whole_floats_do_not_matter(self):
        assert found(run(*done(call("a", n=1, m=2), call("a", m=2.0, n=1))), "repeated_call")

    def test_a_retry_after_a_failure_counts(self):
        trace = run(
            call(id="a", city="x"), result("boom", id="a", is_error=True), call(id="b", city="x"), result("y", id="b")
        )
        assert found(trace, "repeated_call")

    def test_plain_text_arguments(self):
        trace = run(*done(*(ToolCall(name="look", args="paris") for _ in range(2))))
        assert found(trace, "repeated_call")

    def test_many_calls_take_linear_time(self):
        def seconds(count: int) -> float:
            trace = run(*(call("a", n=n) for n in range(count)), status="paused")
            start = time.process_time()
            assert not found(trace, "repeated_call")
            return time.process_time() - start

        small = min(seconds(2_000) for _ in range(3))
        # A quadratic check would need 100 times as long.
        assert seconds(20_000) < 40 * small


class TestForbiddenTool:
    def test_every_call_is_found(self):
        trace = run(*done(call("rm"), call("ls"), call("rm", f="x")))
        assert [f.step for f in found(trace, "forbidden_tool", forbidden_tools=["rm"])] == [0, 4]

    def test_none_given(self):
        assert status(run(*done(call("rm"))), "forbidden_tool") == "not_applicable"


class TestUnansweredCall:
    @pytest.mark.parametrize("ended", ["finished", "incomplete", "step_limit", "failed", "unknown"])
    def test_a_call_without_a_result(self, ended):
        (finding,) = found(run(call(id="a", city="x"), status=ended), "unanswered_call")
        assert (finding.step, finding.tool, finding.severity) == (0, "weather", "error")

    @pytest.mark.parametrize("ended", ["paused", "cancelled", "abandoned"])
    def test_runs_that_could_not_end_by_themselves(self, ended):
        report = run_checks(run(call(id="a", city="x"), status=ended, answer=None))
        assert report.findings == []
        for code in ("unanswered_call", "missing_final_answer"):
            assert report.results[code].status == "not_applicable"
            assert ended in report.results[code].why

    def test_deepeval_test_cases_without_outputs(self):
        trace = run(call(city="x"), call(city="y"), metadata={"source": "deepeval"})
        report = run_checks(trace)
        assert report.findings == []
        assert report.results["unanswered_call"].status == "not_applicable"
        assert report.results["failed_result"].status == "not_applicable"

    def test_deepeval_test_cases_with_some_outputs(self):
        trace = run(call(city="x"), result(name="weather"), call(city="y"), metadata={"source": "deepeval"})
        assert [f.step for f in found(trace, "unanswered_call")] == [2]


class TestOrphanResult:
    def test_a_result_without_a_call(self):
        (finding,) = found(run(message(), result("late", id="zz", name="weather")), "orphan_result")
        assert (finding.step, finding.tool, finding.severity) == (1, "weather", "error")
        assert "'zz'" in finding.message
        assert "'late'" in finding.message
