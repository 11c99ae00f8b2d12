"""Traces read from files: what a hand-written one may leave out, and what its errors name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langchain_llm_judge import ToolSpec, TraceError, to_trace

CALL = {"type": "tool_call", "name": "f"}


def stored(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"task": "t", "steps": list(steps), **more}


def test_a_hand_written_trace_needs_only_task_and_steps():
    trace = to_trace(json.dumps(stored()))
    assert (trace.task, trace.steps, trace.tools_known, trace.status) == ("t", [], False, "unknown")
    trace = to_trace(stored(CALL, {"type": "tool_result", "content": "r"}, tools=["f", "g"], final_answer="a"))
    assert trace.tools == [ToolSpec(name="f"), ToolSpec(name="g")]
    assert (trace.tools_known, trace.status) == (True, "finished")
    assert to_trace(stored(tools=[])).tools_known
    assert not to_trace(stored(tools=None)).tools_known


def test_a_task_may_be_given_apart():
    assert to_trace({"steps": []}, task="given").task == "given"


@pytest.mark.parametrize("content", [False, 0, {"a": 1}, [1], None])
def test_f06_results_of_any_value(content: Any):
    trace = to_trace(stored(CALL, {"type": "tool_result", "content": content}))
    assert trace.steps[1].content == json.dumps(content)


CALL_0 = "step 0 (tool_call): "
SUB = "step 0 (tool_call) subtrace"
STEP_TYPES = "'thought', 'tool_call', 'tool_result', 'message'"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"steps": []}, "field 'task' is missing; found 'steps'"),
        ({"task": "t"}, "field 'steps' is missing; found 'task'"),
        (stored(final="x"), "field 'final' is unknown; accepted: 'task', 'tools', 'tools_known', 'steps', "),
        (stored(status="done"), "field 'status' is 'done'; input should be 'finished', 'incomplete', "),
        ({"task": 3, "steps": []}, "field 'task' is 3; input should be a valid string"),
        ({"task": "t", "steps": {}}, "field 'steps' is {}; input should be a valid list"),
        (stored({"type": "tool"}), f"step 0: has the type 'tool'; accepted: {STEP_TYPES}"),
        (stored(CALL, {"content": "x"}), f"step 1: has no type; accepted: {STEP_TYPES}"),
        (stored(CALL, 3), "step 1: is 3; "),
        (stored(CALL, {"type": "tool_call"}), "step 1 (tool_call): field 'name' is missing; found 'type'"),
        (stored({"type": "tool_result"}), "step 0 (tool_result): field 'content' is missing; found 'type'"),
        (stored({**CALL, "arguments": {}}), f"{CALL_0}field 'arguments' is unknown; accepted: 'type', 'name', "),
        (stored({**CALL, "args": [1]}), f"{CALL_0}field 'args' is [1]; input should be a valid dictionary or input "),
        (stored({**CALL, "started_at": "x"}), f"{CALL_0}field 'started_at' is 'x'; input should be a valid datetime"),
        (stored({**CALL, "subtrace": {"steps": []}}), f"{SUB}: field 'task' is missing; found 'steps'"),
        (stored({**CALL, "subtrace": stored({"type": "x"})}), f"{SUB} step 0: has the type 'x'; accepted: "),
        (stored(tools=["f", {"nam": "g"}]), "tool 1: field 'name' is missing; found 'nam' (and 1 more)"),
        (stored(tools=[{"name": "g", "schema": {}}]), "tool 0: field 'schema' is unknown; accepted: 'name',"),
        (stored(tools=3), "field 'tools' is 3; input should be a valid list"),
        (stored(schema_version=99), "field 'schema_version' is 99; input should be less than or equal to 1"),
        (stored(usage={"calls": 1, "tokens": 2}), "usage: field 'tokens' is unknown; accepted: 'calls', "),
    ],
)  # fmt: skip
def test_errors_name_the_step_the_field_and_what_is_accepted(data: dict, message: str):
    for given in (data, json.dumps(data)):
        with pytest.raises(TraceError) as caught:
            to_trace(given)
        assert str(caught.value).startswith(f"no trace: {message}")
        assert caught.value.source == "trace"
        assert caught.value.seen == list(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"task": "t",\n "steps": [}', "the text is not JSON: Expecting value at line 2 column 12 of"),
        ("[" * 100_000, "the JSON is nested too deeply to be read"),
    ],
)
def test_text_that_is_no_json(text: str, message: str):
    with pytest.raises(TraceError, match=message):
        to_trace(text)


def test_a_byte_order_mark_and_constants_that_json_does_not_have():
    assert to_trace("\ufeff" + json.dumps(stored())).task == "t"
    assert to_trace(b"\xef\xbb\xbf" + json.dumps(stored()).encode()).task == "t"
    trace = to_trace('{"task": "t", "steps": [{"type": "tool_call", "name": "f", "args": {"x": NaN}}]}')
    assert trace.calls()[0].args == {"x": "NaN"}
