"""The 100 real trajectories of tau-bench (MIT), which lie beside the cases."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from langchain_llm_judge import AgentTrace, to_trace
from langchain_llm_judge.trace.schema import ToolResult

DATA = Path(os.environ.get("JUDGE_CASES", Path(__file__).parents[3] / "shared" / "cases")).parent / "data"
RUNS = DATA / "traj_tau_airline_gpt4o_a.jsonl"

pytestmark = pytest.mark.skipif(not RUNS.exists(), reason=f"no {RUNS.name} beside the cases (JUDGE_CASES)")


@pytest.fixture(scope="module")
def runs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RUNS.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def tools() -> list[dict[str, Any]]:
    return json.loads((DATA / "traj_tau_tools.json").read_text(encoding="utf-8"))["tools_airline"]


def test_every_call_and_result_is_there_in_order_without_a_warning(runs: list, tools: list):
    assert len(runs) == 100
    for run in runs:
        before = copy.deepcopy(run["messages"])
        trace = to_trace(run["messages"], tools=tools, turn="all", task=run["task"])
        asked = [call["function"] for said in before for call in said.get("tool_calls") or ()]
        assert [(call.name, call.args) for call in trace.calls()] == [
            (call["name"], json.loads(call["arguments"])) for call in asked
        ]
        assert [step.content for step in trace.steps if isinstance(step, ToolResult)] == [
            said["content"] for said in before if said["role"] == "tool"
        ]
        assert (trace.task, trace.warnings, len(trace.tools)) == (run["task"], [], len(tools))
        assert run["messages"] == before


def test_with_defaults_and_through_json(runs: list):
    for run in runs:
        trace = to_trace(run["messages"])
        assert trace.warnings == []
        assert trace.task == next(said["content"] for said in reversed(run["messages"]) if said["role"] == "user")
        assert to_trace(json.dumps(run["messages"])) == trace == AgentTrace.model_validate_json(trace.to_json())
