"""Traces that were written down: a dict or JSON text of an `AgentTrace`, also one written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from langchain_llm_judge.errors import TraceError, shown
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
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\\ufeff")
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"the text is not JSON: {error.msg} at line {error.lineno} column {error.colno} of {shown(text)}"
    except RecursionError:
        what = "the JSON is nested too deeply to be read"
    except UnicodeDecodeError as error:
        what = f"the bytes are not UTF-8: {error.reason} at byte {error.start}"
    raise TraceError(f"{what}; give the JSON of a trace, of a state or of a list of messages", source="text", seen=text)


def _not_a_trace(error: ValidationError, data: Mapping[Any, Any]) -> TraceError:
    problems = error.errors(include_url=False)
    sentence = _sentence(problems[0], data)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return TraceError(f"no trace: {sentence}{more}", source="trace", seen=list(data))


def _sentence(problem: ErrorDetails, data: Mapping[Any, Any]) -> str:
    """One problem in words: where, what was seen, what is accepted."""
    kind, place = problem["type"], problem["loc"]
    where, field, inner = _locate(place, data)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        seen = inner.get("type") if isinstance(inner, Mapping) else None
        return f"{where}has the type {shown(seen)}; accepted: {named(_STEP_TYPES)}"
    if kind == "missing":
        return f"{where}field {field!r} is missing; found {named(_parent(place, data))}"
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{where}field {field!r} is unknown; accepted: {named(_accepted(place))}"
    message = problem["msg"][:1].lower() + problem["msg"][1:]
    return f"{where}{f'field {field!r} ' if field else ''}is {shown(inner)}; {message}"


def _locate(place: Sequence[int | str], data: Any) -> tuple[str, str | None, Any]:
    """Where a problem lies: `step 2 (tool_call): `, its field, and the value there."""
    where, field = "", None
    value = data
    previous: int | str = ""
    for key in place:
        if isinstance(key, int):
            where += f"{'step' if previous == 'steps' else previous} {key} "
            field = None
        elif previous != "" and isinstance(previous, int) and key in _STEP_TYPES:
            where += f"({key}) "
            previous = key
            continue
        else:
            field = key
        value = _inner(value, key)
        previous = key
    return where, field, value


def _inner(value: Any, key: int | str) -> Any:
    try:
        return value[key]
    except (KeyError, IndexError, TypeError):
        return None


def _parent(place: Sequence[int | str], data: Any) -> Any:
    for key in place[:-1]:
        data = data if key in _STEP_TYPES else _inner(data, key)
    return data if isinstance(data, Mapping) else ()


def _accepted(place: Sequence[int | str]) -> list[str]:
    step = next((_STEP_TYPES[key] for key in reversed(place) if key in _STEP_TYPES), None)
    if step is not None:
        return [field.name for field in fields(step)]
    model = ToolSpec if "tools" in place else AgentTrace
    return list(model.model_fields)
