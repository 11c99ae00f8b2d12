"""Messages in any form as LangChain messages, and the turns of a conversation.

A turn begins at a message of the user and takes in everything up to the next one; messages of the user in a row begin
one turn together. What a library wrote in the user's name (a summary, a notification: `lc_source`) begins none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.trace.blocks import content_text
from langchain_llm_judge.trace.options import Turn
from langchain_llm_judge.trace.values import plain, text_of

ROLES = {
    "human": "human", "user": "human", "HumanMessage": "human", "HumanMessageChunk": "human",
    "ai": "ai", "assistant": "ai", "model": "ai", "AIMessage": "ai", "AIMessageChunk": "ai",
    "tool": "tool", "ToolMessage": "tool", "ToolMessageChunk": "tool",
    "function": "function", "FunctionMessage": "function",
    "system": "system", "developer": "system", "SystemMessage": "system", "SystemMessageChunk": "system",
    "remove": "remove", "RemoveMessage": "remove",
}  # fmt: skip
"""Names that providers and LangChain use, and what they mean."""

_READY = {HumanMessage, AIMessage, ToolMessage, SystemMessage, FunctionMessage, RemoveMessage}


def as_messages(value: Iterable[Any]) -> list[BaseMessage]:
    """Messages in any form as LangChain messages.

    Takes LangChain's objects (as they are), their JSON forms, OpenAI-style dicts (`content` may be null, `arguments` a
    JSON text, `function_call` the old form; items of the Responses API), `(role, content)` pairs,
    `(chunk, metadata)` pairs of a message stream, and bare texts as the user's. Chunks of one message are joined.
    Arguments that are no JSON object make an invalid call, never an error. Nothing given is changed.

    Raises:
        TraceError: An item is no message; `seen` is its position and type.

    Example:
        >>> [message.type for message in as_messages([("user", "2+2?"), {"role": "assistant", "content": "4"}])]
        ['human', 'ai']
    """
    messages: list[BaseMessage] = []
    for index, item in enumerate(value):
        if type(item) in _READY:
            messages.append(item)
        else:
            _join(messages, _read(item, index))
    return messages


def is_message(value: object) -> bool:
    """Whether `as_messages` can read it; a bare text does not count."""
    if isinstance(value, BaseMessage):
        return True
    if isinstance(value, Mapping):
        return _role_of(value) is not None
    if isinstance(value, list | tuple) and len(value) == 2:
        first, second = value
        if isinstance(first, BaseMessage):
            return isinstance(second, Mapping)
        return isinstance(first, str) and first in ROLES and isinstance(second, str | list)
    return False


@dataclass(frozen=True, slots=True)
class Span:
    """One turn, or all of them, within a list of messages."""

    task: str | None
    """What the user asked at its beginning; `None` when no user speaks."""
    messages: list[BaseMessage]
    """What came after the question."""


def span(messages: Sequence[BaseMessage], turn: Turn) -> Span:
    """The messages that a trace covers, and the question they answer.

    Raises:
        TraceError: There is no turn of that number.
    """
    starts = _starts(messages)
    first = starts[0] if starts else 0
    if turn == "all":
        opening = _question_end(messages, first) if starts else 0
        return Span(_task(messages[first:opening]), [*messages[:first], *messages[opening:]])
    if not starts:
        if turn not in ("last", 0, -1):
            raise _no_turn(turn, 1)
        return Span(None, list(messages))
    number = -1 if turn == "last" else turn
    if not -len(starts) <= number < len(starts):
        raise _no_turn(turn, len(starts))
    number %= len(starts)
    begin = starts[number]
    end = starts[number + 1] if number + 1 < len(starts) else len(messages)
    opening = _question_end(messages, begin)
    before = messages[:first] if number == 0 else []
    return Span(_task(messages[begin:opening]), [*before, *messages[opening:end]])


def is_user(message: BaseMessage) -> bool:
    """Whether the user said it, rather than a library in the user's name."""
    return message.type == "human" and not message.additional_kwargs.get("lc_source")


def _starts(messages: Sequence[BaseMessage]) -> list[int]:
    starts: list[int] = []
    in_question = False
    for index, message in enumerate(messages):
        if message.type == "human":
            if is_user(message) and not in_question:
                starts.append(index)
                in_question = True
        elif message.type != "system":
            in_question = False
    return starts


def _question_end(messages: Sequence[BaseMessage], start: int) -> int:
    end = start
    while end < len(messages) and messages[end].type in ("human", "system"):
        end += 1
    return end


def _task(question: Iterable[BaseMessage]) -> str | None:
    texts = [content_text(message.content) for message in question if is_user(message)]
    return "\n\n".join(texts) if texts else None


def _no_turn(turn: Turn, count: int) -> TraceError:
    return TraceError(
        f"turn={turn!r} is outside the conversation of {count} turn{'s' if count != 1 else ''}; "
        f"give 'last', 'all' or a number from {-count} to {count - 1}",
        source="messages",
        seen=count,
    )


def _join(messages: list[BaseMessage], new: Iterable[BaseMessage]) -> None:
    """Append, running chunks of one message together."""
    for message in new:
        last = messages[-1] if messages else None
        if (
            isinstance(message, AIMessageChunk)
            and isinstance(last, AIMessageChunk)
            and message.id is not None
            and message.id == last.id
        ):
            messages[-1] = last + message
        else:
            messages.append(message)


def _read(item: Any, index: int) -> Iterator[BaseMessage]:
    if isinstance(item, ChatMessage):
        yield from _from_mapping({**dict(item), "role": item.role}, index)
    elif isinstance(item, BaseMessage):
        yield item
    elif isinstance(item, str):
        yield HumanMessage(item)
    elif isinstance(item, Mapping):
        yield from _from_mapping(item, index)
    elif is_message(item):
        first, second = item
        yield first if isinstance(first, BaseMessage) else _make(ROLES[first], {"content": second})
    else:
        raise _no_message(item, index)


def _no_message(item: object, index: int) -> TraceError:
    return TraceError(
        f"item {index} is no message: {shown(item)}; a message is a LangChain message, a dict with 'role' and "
        "'content', or a pair such as ('user', 'text')",
        source=type(item).__name__,
        seen=index,
    )


def _role_of(item: Mapping[Any, Any]) -> str | None:
    """The role a dict names, whatever form it has; `None` when it is no message."""
    if item.get("lc") == 1 and isinstance(item.get("kwargs"), Mapping) and isinstance(item.get("id"), list | tuple):
        return ROLES.get(str(item["id"][-1])) if item["id"] else None
    if isinstance(item.get("role"), str):
        return ROLES.get(item["role"], "other")
    kind = item.get("type")
    if not isinstance(kind, str):
        return None
    if kind in _ITEMS:
        return kind if _ITEMS[kind] <= item.keys() else None
    has_body = "content" in item or isinstance(item.get("data"), Mapping) or kind == "remove"
    return ROLES.get(kind) if has_body else None


_ITEMS = {
    "function_call": {"name", "arguments"},
    "function_call_output": {"call_id", "output"},
    "reasoning": {"summary"},
}
"""Items of OpenAI's Responses API that are no messages by themselves, and the keys they must have."""


def _from_mapping(item: Mapping[Any, Any], index: int) -> Iterator[BaseMessage]:
    role = _role_of(item)
    if role is None:
        raise _no_message(item, index)
    if item.get("lc") == 1 and "kwargs" in item:
        item = item["kwargs"]
    elif "content" not in item and isinstance(item.get("data"), Mapping):
        item = item["data"]
    if role in _ITEMS:
        yield _from_response_item(role, item)
    elif role == "human" and isinstance(item.get("content"), list):
        yield from _split_tool_results(item)
    else:
        yield _make(role, item)


def _from_response_item(kind: str, item: Mapping[Any, Any]) -> BaseMessage:
    if kind == "function_call_output":
        return _make("tool", {"content": item["output"], "tool_call_id": item["call_id"]})
    if kind == "reasoning":
        return AIMessage("", additional_kwargs={"reasoning": plain(item)})
    call = {"id": item.get("call_id") or item.get("id"), "name": item["name"], "args": item["arguments"]}
    return _make("ai", {"content": "", "tool_calls": [call]})


def _split_tool_results(item: Mapping[Any, Any]) -> Iterator[BaseMessage]:
    """A user's message of the Anthropic form may carry tool results."""
    said = []
    for block in item["content"]:
        if isinstance(block, Mapping) and block.get("type") == "tool_result":
            status = "error" if block.get("is_error") else "success"
            yield _make("tool", {**block, "tool_call_id": block.get("tool_use_id"), "status": status})
        else:
            said.append(block)
    if said or not item["content"]:
        yield _make("human", {**item, "content": said})


def _make(role: str, item: Mapping[Any, Any]) -> BaseMessage:
    content = _content(item.get("content"))
    about: dict[str, Any] = {
        "id": _text_or_none(item.get("id")),
        "name": _text_or_none(item.get("name")),
        "additional_kwargs": _object(item.get("additional_kwargs")),
        "response_metadata": _object(item.get("response_metadata")),
    }
    if role == "ai":
        return _make_ai(content, item, about)
    if role == "tool":
        status = "error" if item.get("status") == "error" else "success"
        call_id = _text_or_none(item.get("tool_call_id")) or ""
        return ToolMessage(content, tool_call_id=call_id, status=status, artifact=item.get("artifact"), **about)
    if role == "function":
        return FunctionMessage(content=content, **{**about, "name": about["name"] or ""})
    if role == "remove":
        return RemoveMessage(id=about["id"] or "")
    if role == "human":
        return HumanMessage(content, **about)
    if role == "system":
        return SystemMessage(content, **about)
    return AIMessage(content, **{**about, "name": about["name"] or _text_or_none(item.get("role"))})


def _make_ai(content: Any, item: Mapping[Any, Any], about: dict[str, Any]) -> AIMessage:
    kwargs = {key: value for key, value in about["additional_kwargs"].items() if key != "tool_calls"}
    for key in ("reasoning_content", "reasoning", "refusal"):
        if item.get(key):
            kwargs.setdefault(key, plain(item[key]))
    asked = item.get("tool_calls") or about["additional_kwargs"].get("tool_calls") or ()
    calls = [_call(call) for call in asked if isinstance(call, Mapping)]
    old_form = item.get("function_call") or kwargs.pop("function_call", None)
    if not calls and isinstance(old_form, Mapping):
        calls = [_call({"function": old_form})]
    invalid = [call for call in item.get("invalid_tool_calls") or () if isinstance(call, Mapping)]
    usage = item.get("usage_metadata")
    return AIMessage(
        content,
        tool_calls=[call for call in calls if isinstance(call["args"], dict)],
        invalid_tool_calls=[call for call in calls if not isinstance(call["args"], dict)]
        + [{**_call(call), "args": _raw(call.get("args"))} for call in invalid],
        usage_metadata=usage if _is_usage(usage) else None,
        **{**about, "additional_kwargs": kwargs},
    )


def _call(call: Mapping[Any, Any]) -> dict[str, Any]:
    """A call of any form; `args` is a text when it is no JSON object."""
    inner = call.get("function") or call.get("custom") or call
    inner = inner if isinstance(inner, Mapping) else {}
    if call.get("type") == "custom":
        args: Any = {"__arg1": _raw(inner.get("input"))}
    else:
        args = read_args(next((inner[key] for key in ("arguments", "args") if key in inner), None))
    name = text_of(inner.get("name") or "")
    return {"name": name, "args": args, "id": _text_or_none(call.get("id"))} | (
        {"type": "tool_call"} if isinstance(args, dict) else {"type": "invalid_tool_call", "error": None}
    )


def read_args(args: object) -> dict[str, Any] | str:
    """Arguments as an object; the text as it came when it is no JSON object. Nothing and blank text are `{}`."""
    if isinstance(args, Mapping):
        result = plain(args)
        return result if isinstance(result, dict) else text_of(result)
    if args is None or (isinstance(args, str) and not args.strip()):
        return {}
    if isinstance(args, str):
        try:
            value = json.loads(args, strict=False)
        except (ValueError, RecursionError):
            return args
        return plain(value) if isinstance(value, dict) else args
    return text_of(args)


def _raw(args: object) -> str:
    return "" if args is None else text_of(args)


def _content(content: object) -> Any:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return [block if isinstance(block, str) else _block(block) for block in content]
    return text_of(content)


def _block(block: object) -> Any:
    return plain(block) if isinstance(block, Mapping) else text_of(block)


def _object(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _text_or_none(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else text_of(value)


def _is_usage(usage: object) -> bool:
    return isinstance(usage, Mapping) and {"input_tokens", "output_tokens", "total_tokens"} <= usage.keys()
