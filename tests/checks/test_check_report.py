"""The report, its options, and the checks as a Runnable."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from made_runs import call, done, run, tool

from langchain_llm_judge.checks.base import CODES, CheckReport
from langchain_llm_judge.checks.run import AgentChecks, run_checks
from langchain_llm_judge.errors import ConfigError, TraceError
from langchain_llm_judge.results import feedback
from langchain_llm_judge.trace.convert import to_trace

GOOD = run(*done(call(city="Rome")), tools=[tool()])
BAD = run(*done(call(town="Rome")), call("nope"), tools=[tool()], answer=None, status="failed")
MESSAGES = [
    HumanMessage("Weather in Rome?"),
    AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Rome"}, "id": "c1"}]),
    ToolMessage("sunny", tool_call_id="c1"),
    AIMessage("It is sunny."),
]


def test_every_code_has_a_result():
    for trace in (GOOD, BAD, run(), run(tool_use_known=False)):
        assert list(run_checks(trace).results) == list(CODES)


def test_a_good_run_passes():
    report = run_checks(GOOD, expected_tools=["weather"], forbidden_tools=["rm"], max_steps=1)
    assert report.passed
    assert report.findings == []
    assert {one.status for one in report.results.values()} == {"passed"}
    assert {one.why for one in report.results.values()} == {"nothing found"}


def test_a_bad_run_fails_where_it_is_bad():
    report = run_checks(BAD)
    assert not report.passed
    failed = {code for code, one in report.results.items() if one.status == "failed"}
    assert failed == {finding.code for finding in report.findings}
    assert failed == {
        "unknown_tool",
        "missing_argument",
        "unexpected_argument",
        "missing_final_answer",
        "unanswered_call",
    }
    assert report.results["unknown_tool"].why == "1 error"


def test_passed_agrees_with_the_results():
    for trace in (GOOD, BAD, run(), run(call(), call())):
        report = run_checks(trace)
        assert report.passed is all(one.status != "failed" for one in report.results.values())


def test_the_report_goes_to_json_and_back():
    report = run_checks(BAD)
    assert CheckReport.model_validate_json(report.model_dump_json()) == report


def test_feedback():
    (good,) = run_checks(GOOD).feedback()
    assert (good["key"], good["score"], good["comment"]) == ("checks", True, "nothing found")
    (bad,) = feedback(run_checks(BAD))
    assert bad["score"] is False
    assert bad["comment"].startswith("5 errors: unexpected_argument: 'weather' takes no argument 'town'")
    assert len(bad["metadata"]["findings"]) == 5
    assert set(bad["metadata"]["results"]) == set(CODES)


@pytest.mark.parametrize(
    "options",
    [
        {"expected_tools": "search"},
        {"expected_tools": [1]},
        {"expected_tools": [" "]},
        {"expected_tools": None},
        {"forbidden_tools": "search"},
        {"forbidden_tools": [None]},
        {"max_steps": -1},
        {"max_steps": 1.5},
        {"max_steps": True},
        {"max_steps": "3"},
        {"max_repeats": 0},
        {"max_repeats": None},
        {"max_repeats": True},
        {"expected_tools": ["a"], "forbidden_tools": ["a"]},
    ],
    ids=str,
)
def test_options_that_are_not_usable(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        run_checks(GOOD, **options)
    with pytest.raises(ConfigError):
        AgentChecks(**options)


def test_names_may_come_in_any_collection():
    for names in (("weather",), {"weather"}, iter(["weather"])):
        assert run_checks(GOOD, expected_tools=names).passed


@pytest.mark.parametrize("source", [3, None, {"idea": 1}, "no json"])
def test_what_is_no_run(source):
    with pytest.raises(TraceError):
        run_checks(source)
    with pytest.raises(TraceError):
        AgentChecks().invoke(source)


class TestAgentChecks:
    def test_it_takes_a_trace_or_what_a_trace_is_made_of(self):
        checks = AgentChecks(expected_tools=["weather"])
        expected = run_checks(to_trace(MESSAGES), expected_tools=["weather"])
        assert expected.passed
        for source in (to_trace(MESSAGES), MESSAGES, {"messages": MESSAGES}, to_trace(MESSAGES).to_json()):
            assert checks.invoke(source) == expected

    def test_in_a_pipe(self):
        agent = RunnableLambda(lambda question: {"messages": MESSAGES})
        assert (agent | to_trace | AgentChecks(max_steps=1)).invoke("Weather?").passed
        assert not (agent | AgentChecks(max_steps=0)).invoke("Weather?").passed

    async def test_async_and_batch(self):
        checks = AgentChecks()
        assert await checks.ainvoke(GOOD) == checks.invoke(GOOD)
        reports = await checks.abatch([GOOD, BAD, 3], return_exceptions=True)
        assert [getattr(report, "passed", None) for report in reports] == [True, False, None]
        assert isinstance(reports[2], TraceError)

    def test_it_honours_the_config(self):
        collector = RunCollectorCallbackHandler()
        AgentChecks().invoke(GOOD, {"callbacks": [collector], "run_name": "my checks", "tags": ["t"]})
        (traced,) = collector.traced_runs
        assert (traced.name, traced.tags, traced.error) == ("my checks", ["t"], None)

    def test_parallel_use_equals_serial_use(self):
        checks = AgentChecks(max_steps=1)
        sources = [GOOD, BAD] * 50
        serial = [checks.invoke(source) for source in sources]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(checks.invoke, sources)) == serial
        assert asyncio.run(checks.abatch(sources)) == serial
