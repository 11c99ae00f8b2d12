"""Whatever is wrong with a source, the error is the typed one, and what converts is a trace that reads back."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from langchain_llm_judge import AgentTrace, TraceError, to_trace

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
MADE_CALL = {"name": "f", "args": {}, "id": "1"}
SOURCES: dict[str, Any] = {
    "openai": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "y"},
                {"type": "server_tool_use", "id": "1", "name": "n", "input": {}},
                {"type": "image_url", "image_url": {"url": "u"}},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}]},
                {"type": "text", "text": "x"},
            ],
        },
    ],
    "langchain": {
        "messages": [
            {"type": "human", "content": "q"},
            {
                "type": "ai",
                "data": {
                    "content": "a",
                    "tool_calls": [MADE_CALL],
                    "invalid_tool_calls": [{**MADE_CALL, "args": "{"}],
                    "usage_metadata": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
                },
            },
        ],
        "structured_response": {"a": 1},
        "__interrupt__": [{"value": 1}],
        "tools": [{"name": "f", "parameters": {}}],
    },
    "responses": [
        {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"content": "x"}},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "o"},
        {"type": "reasoning", "summary": []},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
    ],
    "executor": {
        "input": "q",
        "output": "a",
        "intermediate_steps": [
            [
                {
                    "tool": "f",
                    "tool_input": {"a": 1},
                    "log": "l",
                    "message_log": [{"type": "ai", "content": "x", "tool_calls": [MADE_CALL]}],
                    "tool_call_id": "1",
                },
                "observation",
            ]
        ],
    },
    "trace": {
        "task": "t",
        "steps": [
            {"type": "tool_call", "name": "f", "args": {}, "subtrace": {"task": "x", "steps": []}},
            {"type": "tool_result", "content": "x"},
            {"type": "message", "content": "m"},
        ],
        "tools": ["f", {"name": "g", "parameters": {}}],
        "usage": {"calls": 1},
        "metadata": {},
    },
    "test case": {
        "input": "q",
        "tools_called": [{"name": "f", "args": {}, "output": 1}],
        "retrieval_context": ["a"],
        "actual_output": "z",
    },
}
ODD = [None, 0, 1.5, True, "", [], {}, "x", [1], {"a": 1}, math.nan, b"x", {1: 2}, ("a", "b"), [None], [[]], "\ud83d"]


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*above, key)
        yield from places(item, (*above, key))


def spoilt(source: Any, rng: random.Random) -> Any:
    """A copy with one to three of its parts missing or replaced."""
    source = copy.deepcopy(source)
    for _ in range(rng.randint(1, 3)):
        *way, last = rng.choice(list(places(source)) or [(None,)])
        holder = source
        for key in way:
            holder = holder[key]
        if last is None:
            continue
        if rng.random() < 0.3:
            del holder[last]
        else:
            holder[last] = copy.deepcopy(rng.choice(ODD))
    return source


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("options", [{}, {"task": "t", "turn": "all"}], ids=["plain", "with options"])
def test_spoilt_sources_give_a_trace_or_the_typed_error(kind: str, options: dict[str, Any]):
    rng = random.Random(kind)
    converted = 0
    refusals = []
    for _ in range(400):
        source = spoilt(SOURCES[kind], rng)
        before = copy.deepcopy(source)
        try:
            trace = to_trace(source, **options)
        except TraceError as error:
            refusals.append(str(error))
        else:
            converted += 1
            assert AgentTrace.model_validate_json(trace.to_json()).to_json() == trace.to_json()
        assert repr(source) == repr(before)
    assert converted > 20
    assert all(20 < len(refusal) < 1500 for refusal in refusals)


@pytest.mark.parametrize("kind", SOURCES)
def test_the_sources_themselves_convert(kind: str):
    assert json.loads(to_trace(SOURCES[kind], task="t", turn="all").to_json())["steps"]
