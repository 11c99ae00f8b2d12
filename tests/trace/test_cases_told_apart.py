"""DeepEval test cases, which are recognised without importing DeepEval."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from agents import told

from langchain_llm_judge import TraceError, run_checks, to_trace


class LLMTestCase(SimpleNamespace):
    """A stand-in with DeepEval's name and fields."""


def case(**fields: object) -> LLMTestCase:
    empty = dict.fromkeys(("actual_output", "retrieval_context", "tools_called"))
    return LLMTestCase(**{"input": "q", **empty, **fields})


def call(name: str, **fields: object) -> SimpleNamespace:
    return SimpleNamespace(**{"name": name, "input_parameters": None, "output": None, "reasoning": None, **fields})


def test_calls_with_their_outputs_and_reasoning():
    calls = [
        call("f", input_parameters={"a": 1}, output={"ok": False}, reasoning="because"),
        call("g", output=0),
        call("h"),
    ]
    trace = to_trace(case(actual_output="a", tools_called=calls, retrieval_context=["c", SimpleNamespace(context="d")]))
    assert told(trace) == ["thought: because", "f(a=1)", '-> {"ok": false}', "g()", "-> 0", "h()"]
    assert (trace.task, trace.final_answer, trace.status) == ("q", "a", "finished")
    assert trace.contexts == ["c", "d"]


def test_unknown_tool_use_is_not_none():
    assert not to_trace(case(actual_output="a")).tool_use_known
    assert to_trace(case(actual_output="a", tools_called=[])).tool_use_known


def test_cases_without_outputs_say_nothing_about_unanswered_calls():
    report = run_checks(to_trace(case(actual_output="a", tools_called=[call("f")])))
    assert report.results["unanswered_call"].status == "not_applicable"


def test_dicts_of_the_fields():
    given = {"input": "q", "tools_called": [{"name": "f", "args": {"a": 1}}, {"name": "g", "args": "{bad"}]}
    trace = to_trace(given)
    assert told(trace) == ["f(a=1)", "g('{bad') malformed"]
    assert (trace.status, trace.final_answer) == ("unknown", None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"tools_called": []},
            "a test case with keys 'tools_called' has no text under 'input'; give the question there",
        ),
        ({"input": "q", "tools_called": 3}, "tools_called is 3; give a list, or nothing"),
        ({"input": "q", "tools_called": [], "retrieval_context": "c"}, "retrieval_context is 'c'; give a list"),
        ({"input": "q", "tools_called": [3]}, r"tools_called\[0\] is 3; a call has a 'name' and 'args'"),
    ],
)
def test_what_cannot_be_read_is_named(given: dict, message: str):
    with pytest.raises(TraceError, match=message):
        to_trace(given)


REAL = """
import os, sys
os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
from deepeval.test_case import LLMTestCase, ToolCall
from langchain_llm_judge import to_trace
calls = [ToolCall(name="f", input_parameters={"a": 1}, output=False), ToolCall(name="g")]
trace = to_trace(LLMTestCase(input="q", actual_output="a", tools_called=calls, retrieval_context=["c"]))
assert [step.type for step in trace.steps] == ["tool_call", "tool_result", "tool_call"], trace
assert trace.steps[1].content == "false" and trace.contexts == ["c"]
"""


def test_a_real_test_case(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", REAL], cwd=tmp_path, capture_output=True, text=True, timeout=100,
        env={"PYTHONPATH": ":".join(sys.path), "HOME": str(tmp_path), "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
