"""The two sides of a trajectory match, read from whatever they are given as."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

from langchain_llm_judge.checks.equality import value_key
from langchain_llm_judge.checks.levels import as_trace
from langchain_llm_judge.errors import InputError, shown
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall
from langchain_llm_judge.trace.values import plain

_ARGS = ("args", "input_parameters", "arguments", "kwargs")
"""Where a call given as a dict may keep its arguments."""


@dataclass(frozen=True)
class Item:
    """A call or a node."""

    name: str
    args: dict[str, Any] | str | None
    """`None`: any arguments, or a node."""
    batch: int
    """Calls of one message share a number, counted upwards."""

    @cached_property
    def key(self) -> tuple[str, str | None]:
        """Equal for equal calls."""
        return self.name, None if self.args is None else value_key(self.args)

    @cached_property
    def parts(self) -> set[tuple[str, str]]:
        """The arguments one by one, names with the keys of their values; a text is one part."""
        args = self.args if isinstance(self.args, dict) else {"": self.args}
        return {(name, value_key(value)) for name, value in args.items()}


@dataclass(frozen=True, slots=True)
class Side:
    """What was called, or what was expected."""

    calls: list[Item]
    nodes: list[Item] = field(default_factory=list)
    unknown: bool = False
    """The source does not tell which tools were called."""


def called_side(source: Any) -> Side:
    """The side of the run."""
    return _side_of(as_trace(source))


def expected_side(reference: Any) -> Side:
    """The side of the reference."""
    if _are_calls(reference):
        return Side(_items(_call(item, position) for position, item in enumerate(reference)))
    return _side_of(as_trace(reference))


def _side_of(trace: AgentTrace) -> Side:
    calls = trace.calls()
    nodes = [name for name, _ in groupby(step.node for step in trace.steps if step.node is not None)]
    return Side(
        calls=_items((call.name, call.args, call.group) for call in calls),
        nodes=[Item(name, None, position) for position, name in enumerate(nodes)],
        unknown=not trace.tool_use_known and not calls,
    )


_Call = tuple[str, dict[str, Any] | str | None, int | None]


def _items(calls: Iterable[_Call]) -> list[Item]:
    items: list[Item] = []
    batch, last = -1, None
    for name, args, group in calls:
        batch += group is None or group != last
        last = group
        items.append(Item(name, args, batch))
    return items


def _are_calls(reference: Any) -> bool:
    """Whether it is a list of calls, and not a conversation or another source that `to_trace` reads."""
    if isinstance(reference, tuple):
        return all(isinstance(item, (ToolCall, Mapping, str)) for item in reference) and not _is_message(reference)
    return isinstance(reference, list) and not any(_is_message(item) for item in reference)


def _is_message(item: Any) -> bool:
    if isinstance(item, Mapping):
        return "role" in item
    if isinstance(item, tuple):
        return len(item) == 2 and all(isinstance(part, str) for part in item)
    return hasattr(item, "content") and hasattr(item, "type")


def _call(item: Any, position: int) -> _Call:
    if isinstance(item, ToolCall):
        return item.name, item.args, item.group
    if isinstance(item, str):
        return item, None, None
    fields = _fields(item)
    name = fields.get("name")
    if not isinstance(name, str):
        raise InputError(
            f"reference[{position}] is {shown(item)}, which names no tool; give a ToolCall, a tool's name, or a dict "
            'such as {"name": "search", "args": {"q": "x"}}',
            field="reference",
            found=sorted(map(str, item)) if isinstance(item, Mapping) else item,
        )
    return name, _args(fields, position), fields.get("group")


def _fields(item: Any) -> Mapping[str, Any]:
    """A call's fields, from a dict (OpenAI's nesting too) or from an object such as DeepEval's `ToolCall`."""
    if not isinstance(item, Mapping):
        return {key: getattr(item, key, None) for key in ("name", *_ARGS)}
    inner = item.get("function")
    return inner if isinstance(inner, Mapping) else item


def _args(fields: Mapping[str, Any], position: int) -> dict[str, Any] | str:
    given: Any = next((fields[key] for key in _ARGS if fields.get(key) is not None), {})
    if isinstance(given, str):
        return _parsed(given)
    if not isinstance(given, Mapping):
        raise InputError(
            f"the arguments of reference[{position}] are {shown(given)}; give a dict of arguments by name",
            field="reference",
            found=given,
        )
    # As a trace keeps it, so that a date matches the text a run has of it.
    args: dict[str, Any] = plain(given)
    return args


def _parsed(text: str) -> dict[str, Any] | str:
    """OpenAI-style calls give arguments as JSON text."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
