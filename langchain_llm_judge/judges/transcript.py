"""A trace as the text a judge reads.

Every step is shown as one JSON object a line, so no content can pass for another step. Thoughts are
left out: a run is judged by what was done, and reasoning sways judges; failed ones are shown.
Long contents are cut in the middle so that the whole fits; no step is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count as counter
from typing import Any

from langchain_llm_judge.checks.levels import level_of
from langchain_llm_judge.trace.schema import AgentTrace, Message, Step, Thought, ToolCall, ToolResult, ToolSpec

MAX_CHARACTERS = 60_000
"""About 15,000 tokens; contents are cut until a transcript fits."""
_SHORTEST = 60


def transcript(trace: AgentTrace, *, limit: int = MAX_CHARACTERS, number_calls: bool = False) -> str:
    """All steps of the trace and its sub-traces, a line each.

    Args:
        trace: The run.
        limit: Characters to keep the contents to.
        number_calls: Give the calls of the run itself, not those of sub-traces, their position among them.
    """
    lines = list(_lines(trace))
    if number_calls:
        lines = _numbered(lines)
    longest = _longest_content([len(text) for line in lines for text in _texts(line)], limit)
    shown = [_text({key: _cut(value, longest) for key, value in line.items()}) for line in lines]
    return "\n".join(shown) or "(no steps)"


def tools_text(trace: AgentTrace) -> str:
    """The offered tools, a line each, or what is known of them."""
    if not trace.tools_known:
        return "(not known)"
    return "\n".join(_json(_tool(tool)) for tool in trace.tools) or "(none)"


def status_text(trace: AgentTrace) -> str:
    """How the run ended, in words."""
    reason = f": {_cut(trace.status_reason, 500)}" if trace.status_reason else ""
    return trace.status.replace("_", " ") + reason


def content_of(step: Step) -> str:
    """The text a step carries: its content, or a call's arguments."""
    if isinstance(step, ToolCall):
        return step.args if isinstance(step.args, str) else _json(step.args)
    return step.content


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {key: value for key, value in tool.model_dump().items() if value is not None}


def _lines(trace: AgentTrace, inside: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    if not trace.tool_use_known:
        yield {"note": "the source does not tell which tools were used"}
    level = level_of(trace)
    # A test case may leave all outputs out, and a provider that runs its own tools needs none.
    silent = trace.metadata.get("source") == "deepeval" and not level.results
    answered = {one.step for one in level.exchanges if one.result is not None or one.call.server_side or silent}
    for number, step in enumerate(trace.steps):
        line = _line(step, number in answered)
        if line:
            shown = {"step": number, **line, "inside": "/".join(inside) or None, "agent": step.agent}
            yield {key: value for key, value in shown.items() if value is not None}
        if isinstance(step, ToolCall) and step.subtrace is not None:
            yield from _lines(step.subtrace, (*inside, step.name))


def _line(step: Step, answered: bool) -> dict[str, Any]:
    match step:
        case ToolCall():
            marks = {"malformed": step.malformed, "unanswered": not answered}
            return {"call": step.name, "args": step.args, "id": step.id} | {
                mark: True for mark, on in marks.items() if on
            }
        case ToolResult():
            mark = {"error": step.error_type or True} if step.is_error else {}
            return {"result_of": step.call_id, "tool": step.name, **mark, "result": _verbatim(step.content)}
        case Message():
            return {"message": step.content}
        case Thought(is_error=True):
            return {"unreadable_reply": step.content}
        case _:
            return {}


def _numbered(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    numbers = counter()
    return [
        {"call_number": next(numbers), **line} if "call" in line and "inside" not in line else line for line in lines
    ]


class _Verbatim(str):
    """JSON text that stands in its line as it is, not as a quoted text."""

    __slots__ = ()


def _verbatim(content: str) -> str:
    """A content that is a JSON object or list on one line stands for itself, as that reads best."""
    if content[:1] not in ("{", "[") or len(content.splitlines()) != 1:
        return content
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return content
    return _Verbatim(content)


def _texts(line: dict[str, Any]) -> Iterator[str]:
    for value in line.values():
        if isinstance(value, str | dict | list):
            yield value if isinstance(value, str) else _json(value)


def _longest_content(lengths: list[int], limit: int) -> int:
    """The length to cut contents to so that their sum fits: the largest share that the short ones leave over."""
    left = limit
    for count, length in zip(range(len(lengths), 0, -1), sorted(lengths), strict=True):
        if length * count > left:
            return max(_SHORTEST, left // count)
        left -= length
    return max([*lengths, _SHORTEST])


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, dict | list):
        text = _json(value)
        return value if len(text) <= longest else _cut(text, longest)
    if not isinstance(value, str) or len(value) <= longest:
        return value
    half = longest // 2
    return f"{value[:half]} … [{len(value) - 2 * half} characters cut] … {value[-half:]}"


def _text(line: dict[str, Any]) -> str:
    parts = [f"{_json(key)}: {value if isinstance(value, _Verbatim) else _json(value)}" for key, value in line.items()]
    return f"{{{', '.join(parts)}}}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
