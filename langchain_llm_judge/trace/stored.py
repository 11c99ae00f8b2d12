"""Traces that were written down: a dict or JSON text of an `AgentTrace`, also one written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.results import Usage
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.schema import AgentTrace, Message, Thought, ToolCall, ToolResult, ToolSpec
from langchain_llm_judge.trace.state import named
from langchain_llm_judge.trace.tools import tool_specs

_STEP_TYPES = {"thought": Thought, "tool_call": ToolCall, "tool_result": ToolResult, "message": Message}


def is_stored_trace(value: Mapping[Any, Any]) -> bool:
    """Whether a dict is meant as a trace: it has steps, or nothing but fields of a trace."""
    return "steps" in value or ("task" in value and value.keys() <= AgentTrace.model_fields.keys())


def trace_from_dict(data: Mapping[Any, Any], options: TraceOptions) -> AgentTrace:
    """The trace a dict holds.

    Raises:
        TraceError: A field is missing, unknown or of the wrong kind; the message names the step and what is accepted.
    """
    told = {"task": options.task} if options.task is not None else {}
    try:
        trace = AgentTrace.model_validate({**data, **told})
    except ValidationError as error:
        raise _not_a_trace(error, data) from error
    return with_options(trace, options)


def with_options(trace: AgentTrace, options: TraceOptions) -> AgentTrace:
    """The same trace with what the caller says instead; the trace itself when the caller says nothing."""
    said: dict[str, Any] = {}
    if options.task is not None:
        said["task"] = options.task
    if options.status is not None:
        said["status"] = options.status
    tools = tool_specs(options.tools)
    if tools is not None:
        said |= {"tools": tools, "tools_known": True}
    return trace.model_copy(update=said) if said else trace


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        TraceError: It is no JSON; the message says where it stops being JSON.
    """
    try:
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"the text is not JSON: {error.msg} at line {error.lineno} column {error.colno} of {shown(text)}"
    except RecursionError:
        what = "the JSON is nested too deeply to be read"
    except UnicodeDecodeError as error:
        what = f"the bytes are not UTF-8: {error.reason} at byte {error.start}"
    raise TraceError(f"{what}; give the JSON of a trace, of a state or of a list of messages", source="text", seen=text)


def _not_a_trace(error: ValidationError, data: Mapping[Any, Any]) -> TraceError:
    problems: dict[tuple[int | str, ...], list[ErrorDetails]] = {}
    for problem in error.errors(include_url=False):
        problems.setdefault(_place(problem, data), []).append(problem)
    place, first = next(iter(problems.items()))
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return TraceError(f"no trace: {_sentence(place, first, data)}{more}", source="trace", seen=list(data))


def _place(problem: ErrorDetails, data: Any) -> tuple[int | str, ...]:
    """The keys that lead to a problem, without pydantic's names for the branches of a union."""
    keys: list[int | str] = []
    for position, key in enumerate(problem["loc"]):
        is_step_type = key in _STEP_TYPES and keys and isinstance(keys[-1], int)
        last_is_absent = problem["type"] == "missing" and position == len(problem["loc"]) - 1
        if not (is_step_type or last_is_absent or _holds(data, key)):
            break
        keys.append(key)
        data = data if is_step_type else _inner(data, key)
    return tuple(keys)


def _sentence(place: tuple[int | str, ...], problems: list[ErrorDetails], data: Any) -> str:
    """One problem in words: where, what was seen, what is accepted."""
    kind = problems[0]["type"]
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        step = _at(place, data)
        seen = f"has the type {shown(step['type'])}" if isinstance(step, Mapping) and "type" in step else "has no type"
        return f"{_where(place)}{seen}; accepted: {named(_STEP_TYPES)}"
    if kind == "missing":
        return f"{_where(place[:-1])}field {place[-1]!r} is missing; found {named(_at(place[:-1], data))}"
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{_where(place[:-1])}field {place[-1]!r} is unknown; accepted: {named(_accepted(place))}"
    wanted = " or ".join(dict.fromkeys(problem["msg"][:1].lower() + problem["msg"][1:] for problem in problems))
    field = f"field {place[-1]!r} " if place and isinstance(place[-1], str) else ""
    return f"{_where(place[:-1] if field else place)}{field}is {shown(_at(place, data))}; {wanted}"


def _where(place: Sequence[int | str]) -> str:
    """`step 2 (tool_call): `, `step 0 (tool_call) subtrace step 1: `; nothing at the top."""
    words: list[str] = []
    for position, key in enumerate(place):
        if isinstance(key, int):
            words.append(str(key))
        elif key in _STEP_TYPES and position and isinstance(place[position - 1], int):
            words.append(f"({key})")
        else:
            words.append({"steps": "step", "tools": "tool"}.get(key, key))
    return " ".join(words) + ": " if words else ""


def _at(place: Sequence[int | str], data: Any) -> Any:
    for position, key in enumerate(place):
        is_step_type = key in _STEP_TYPES and position and isinstance(place[position - 1], int)
        data = data if is_step_type else _inner(data, key)
    return data


def _holds(value: Any, key: int | str) -> bool:
    return key in value if isinstance(value, Mapping) else isinstance(value, list) and isinstance(key, int)


def _inner(value: Any, key: int | str) -> Any:
    try:
        return value[key]
    except (KeyError, IndexError, TypeError):
        return None


def _accepted(place: Sequence[int | str]) -> list[str]:
    """The fields of what holds the last key of a place."""
    holder = place[-2] if len(place) > 1 else ""
    if holder in _STEP_TYPES:
        return [field.name for field in fields(_STEP_TYPES[str(holder)])]
    model = {"usage": Usage}.get(str(holder), ToolSpec if isinstance(holder, int) else AgentTrace)
    return list(model.model_fields)
