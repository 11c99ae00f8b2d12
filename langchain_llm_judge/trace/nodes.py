"""What a node of a graph wrote: the messages in its output, whatever form the output has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage
from pydantic import BaseModel

from langchain_llm_judge.trace.dialogue import is_message


def messages_in(output: Any) -> list[Any]:
    """The messages a node's output holds, in order, as they are.

    Read are messages in every form that `as_messages` takes, alone, in lists, as values of a dict or state
    object, and in the update of one `Command` or of several. Removals are no messages.
    """
    return list(_messages(output))


def states_in(output: Any) -> list[Mapping[str, Any]]:
    """The state updates a node's output holds: one, or several in a list."""
    values = output if isinstance(output, list | tuple) else [output]
    return [state for value in values if not is_message(value) and (state := state_of(value)) is not None]


def state_of(value: Any) -> Mapping[str, Any] | None:
    """A state, or an update of one, as a mapping; `None` when the value is none."""
    if type(value) is dict or isinstance(value, Mapping):
        return value
    if is_command(value):
        return _updated(value.update)
    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage):
        return {name: getattr(value, name, None) for name in type(value).model_fields}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    return None


def is_command(value: Any) -> bool:
    """Whether a value is LangGraph's `Command`, told by its form: LangGraph need not be imported."""
    kind = type(value)  # a mock has every attribute, its class has not
    return hasattr(kind, "goto") and hasattr(kind, "resume") and hasattr(kind, "update")


def _updated(update: Any) -> Mapping[str, Any] | None:
    if not isinstance(update, list | tuple):
        return state_of(update)
    pairs = [item for item in update if isinstance(item, tuple) and len(item) == 2]
    return dict(pairs) if len(pairs) == len(update) else {"": update}


def _messages(output: Any) -> Iterator[Any]:
    if isinstance(output, str | bytes | int | float | None):
        return
    if isinstance(output, BaseMessage) or is_message(output):
        yield from _kept([output])
    elif isinstance(output, list | tuple):
        for item in output:
            yield from _messages(item)
    else:
        for value in map(_overwriting, (state_of(output) or {}).values()):
            is_list = type(value) is list or (isinstance(value, tuple) and not is_message(value))
            yield from _kept(value if is_list else [value])


def _overwriting(value: Any) -> Any:
    """What LangGraph's `Overwrite` puts in place of a channel's value; any other value as it is."""
    if isinstance(value, dict) and set(value) == {"__overwrite__"}:
        return value["__overwrite__"]
    return value.value if type(value).__name__ == "Overwrite" and hasattr(type(value), "value") else value


def _kept(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, BaseMessage):
            if not isinstance(value, RemoveMessage):
                yield value
        elif is_message(value):
            yield value
