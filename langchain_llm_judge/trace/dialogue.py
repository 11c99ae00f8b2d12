"""Messages in any form, and the turns of a conversation.

A turn begins at a message of the user and takes in everything up to the next one; messages of the user in a row begin
one turn together. What a library wrote in the user's name (a summary, a notification: `lc_source`) begins none.
"""

from __future__ import annotations

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
from langchain_llm_judge.trace.said import AnyMessage, Said
from langchain_llm_judge.trace.wire import ROLES, from_dict, make, plain_role, role_of

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
    return [item.message() if isinstance(item, Said) else item for item in read_messages(value)]


def read_messages(value: Iterable[Any]) -> list[AnyMessage]:
    """The same as `as_messages`, with what came as dicts left as it was read."""
    messages: list[AnyMessage] = []
    for index, item in enumerate(value):
        kind = type(item)
        if kind in _READY:
            messages.append(item)
        elif kind is dict and (role := plain_role(item)) is not None:
            messages.append(make(role, item))
        else:
            _join(messages, _read(item, index))
    return messages


def is_message(value: object) -> bool:
    """Whether `as_messages` can read it; a bare text does not count."""
    if isinstance(value, BaseMessage):
        return True
    if isinstance(value, Mapping):
        return role_of(value) is not None
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
    messages: list[AnyMessage]
    """What came after the question."""


def span(messages: Sequence[AnyMessage], turn: Turn) -> Span:
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


def is_user(message: AnyMessage) -> bool:
    """Whether the user said it, rather than a library in the user's name."""
    return ROLES.get(message.type) == "human" and not message.additional_kwargs.get("lc_source")


def _starts(messages: Sequence[AnyMessage]) -> list[int]:
    starts: list[int] = []
    in_question = False
    for index, message in enumerate(messages):
        role = ROLES.get(message.type)
        if role == "human":
            if is_user(message) and not in_question:
                starts.append(index)
                in_question = True
        elif role != "system":
            in_question = False
    return starts


def _question_end(messages: Sequence[AnyMessage], start: int) -> int:
    end = start
    while end < len(messages) and ROLES.get(messages[end].type) in ("human", "system"):
        end += 1
    return end


def _task(question: Iterable[AnyMessage]) -> str | None:
    texts = [content_text(message.content) for message in question if is_user(message)]
    return "\n\n".join(texts) if texts else None


def _no_turn(turn: Turn, count: int) -> TraceError:
    return TraceError(
        f"turn={turn!r} is outside the conversation of {count} turn{'s' if count != 1 else ''}; "
        f"give 'last', 'all' or a number from {-count} to {count - 1}",
        source="messages",
        seen=count,
    )


def _join(messages: list[AnyMessage], new: Iterable[AnyMessage]) -> None:
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


def _read(item: Any, index: int) -> Iterator[AnyMessage]:
    if isinstance(item, ChatMessage):
        yield from _from_dict({**dict(item), "role": item.role}, index)
    elif isinstance(item, BaseMessage):
        yield item
    elif isinstance(item, str):
        yield HumanMessage(item)
    elif isinstance(item, Mapping):
        yield from _from_dict(item, index)
    elif is_message(item):
        first, second = item
        yield first if isinstance(first, BaseMessage) else make(ROLES[first], {"content": second})
    else:
        raise _no_message(item, index)


def _from_dict(item: Mapping[Any, Any], index: int) -> Iterator[AnyMessage]:
    role = role_of(item)
    if role is None:
        raise _no_message(item, index)
    return from_dict(item, role)


def _no_message(item: object, index: int) -> TraceError:
    return TraceError(
        f"item {index} is no message: {shown(item)}; a message is a LangChain message, a dict with 'role' and "
        "'content', or a pair such as ('user', 'text')",
        source=type(item).__name__,
        seen=index,
    )
