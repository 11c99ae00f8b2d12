"""Checks on public trajectories and calls: what is there is found, and nothing else.

tau-bench airline runs (sierra-research, MIT) and BFCL calls with made defects (Apache-2.0), read where they are.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest

from langchain_llm_judge.checks.run import run_checks
from langchain_llm_judge.trace.convert import to_trace
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall, ToolSpec

DEFECT = {
    "missing_required": "missing_argument",
    "wrong_type": "invalid_argument",
    "unexpected_argument": "unexpected_argument",
    "unknown_tool": "unknown_tool",
}


@pytest.fixture(scope="module")
def tau(public_data):
    (tools,) = public_data("traj_tau_tools.json")
    rows = public_data("traj_tau_airline_gpt4o_a.jsonl")
    traces = [to_trace(row["messages"], tools=tools["tools_airline"], turn="all") for row in rows]
    return rows, traces


def raw_calls(row) -> list[tuple[str, str]]:
    """Tool and arguments of every call, straight from the messages."""
    calls = [one["function"] for message in row["messages"] for one in message.get("tool_calls") or []]
    return [(one["name"], json.dumps(json.loads(one["arguments"]), sort_keys=True)) for one in calls]


def test_all_trajectories_convert_with_all_their_calls(tau):
    rows, traces = tau
    assert len(rows) == 100
    assert [trace.warnings for trace in traces] == [[]] * 100
    for row, trace in zip(rows, traces, strict=True):
        assert [call.name for call in trace.calls()] == [name for name, _ in raw_calls(row)]


def test_exactly_the_repeated_calls_that_are_there(tau):
    rows, traces = tau
    for row, trace in zip(rows, traces, strict=True):
        counts = {key: count for key, count in Counter(raw_calls(row)).items() if count > 1}
        found = [finding for finding in run_checks(trace).findings if finding.code == "repeated_call"]
        assert sorted(finding.tool for finding in found) == sorted(name for name, _ in counts)
        assert sum(f.severity == "error" for f in found) == sum(count > 2 for count in counts.values())


def test_exactly_the_error_looking_results_that_are_there(tau):
    rows, traces = tau
    total = 0
    for row, trace in zip(rows, traces, strict=True):
        raw = [
            one["content"] for one in row["messages"] if one["role"] == "tool" and one["content"].startswith("Error")
        ]
        found = [finding for finding in run_checks(trace).findings if finding.code == "failed_result"]
        assert [trace.steps[finding.step].content for finding in found] == raw
        assert {finding.severity for finding in found} <= {"warning"}
        total += len(raw)
    assert total > 20


def test_no_unknown_tool_and_no_schema_violation(tau):
    _, traces = tau
    codes = {finding.code for trace in traces for finding in run_checks(trace).findings}
    assert codes <= {"repeated_call", "failed_result", "unanswered_call", "missing_final_answer"}
    for trace in traces:
        assert run_checks(trace).results["invalid_argument"].status == "passed"


def one_call(row) -> AgentTrace:
    tools = [ToolSpec(**tool["function"]) for tool in row["tools"]]
    call = ToolCall(name=row["call"]["name"], args=row["call"]["arguments"])
    return AgentTrace(task=row["messages"][-1]["content"], tools=tools, tools_known=True, steps=[call])


def converted(row) -> AgentTrace:
    call = {
        "id": "c1",
        "type": "function",
        "function": row["call"] | {"arguments": json.dumps(row["call"]["arguments"])},
    }
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    return to_trace([*row["messages"], asked], tools=row["tools"])


@pytest.mark.parametrize("made", [one_call, converted])
def test_defects_of_single_calls(public_data, made):
    seen = Counter()
    for row in public_data("toolargs_bfcl_mutated.jsonl"):
        found = {
            f.code for f in run_checks(made(row)).findings if f.severity == "error" and f.code != "unanswered_call"
        }
        if row["correct"]:
            assert not found, row["id"]
        elif row["defect"] in DEFECT:
            assert DEFECT[row["defect"]] in found, row["id"]
        seen[row["defect"]] += 1
    assert set(DEFECT) < set(seen)


def test_wrong_values_are_beyond_checks(public_data):
    rows = [row for row in public_data("toolargs_bfcl_mutated.jsonl") if row["defect"] == "wrong_value"]
    assert rows
    assert all(run_checks(one_call(row)).results["invalid_argument"].status == "passed" for row in rows)
