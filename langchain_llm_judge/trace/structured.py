"""Answers in a schema, which LangChain takes through a pseudo tool.

The pseudo call that was accepted is the answer and no step. One after which the model was asked again had failed,
unless LangChain's own text says that it was accepted; so had one that LangChain answered with its error text. What
failed stays as a step in error, although its status says success.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from langchain_llm_judge.trace.said import AnyMessage, Said
from langchain_llm_judge.trace.schema import ToolCall, ToolResult
from langchain_llm_judge.trace.values import plain

# What LangChain writes as the result of a pseudo call, unless the user sets another text.
_ACCEPTED = "Returning structured response: "
_REFUSED = (
    "Error: Failed to parse structured output for tool ",
    "Error: Model incorrectly returned multiple structured responses ",
)


class Attempts:
    """The pseudo calls of one turn, until it is known which one was accepted."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._open: list[tuple[ToolCall, ToolResult]] = []

    def note(self, call: ToolCall, result: ToolResult) -> bool:
        """Take notice of a call and its result, if it is a pseudo call; says whether it is."""
        is_pseudo = call.name in self._names or result.content.startswith((_ACCEPTED, *_REFUSED))
        if is_pseudo:
            self._open.append((call, result))
        return is_pseudo

    def accepted(self, *, asked_again: bool) -> list[tuple[ToolCall, ToolResult]]:
        """The pseudo calls that gave an answer; the others are marked as errors. Nothing is open afterwards.

        Args:
            asked_again: Whether the model was asked again after them.
        """
        attempts, self._open = self._open, []
        for _, result in attempts:
            failed = result.content.startswith(_REFUSED) or (asked_again and not result.content.startswith(_ACCEPTED))
            result.is_error = result.is_error or failed
        return [(call, result) for call, result in attempts if not result.is_error]


def structured_names(messages: Iterable[AnyMessage], response: object) -> set[str]:
    """Names of the pseudo tools through which the last message with calls gave a state's `structured_response`."""
    if response is None:
        return set()
    calls: Sequence[Any] = ()
    for message in messages:
        calls = (message.calls if isinstance(message, Said) else getattr(message, "tool_calls", ())) or calls
    said = plain(response)
    return {call["name"] for call in calls if call["name"] == type(response).__name__ or plain(call["args"]) == said}


def says_the_same(answer: str | None, text: str) -> bool:
    """Whether an answer is a text, or the same JSON value."""
    if answer is None or answer.strip() == text.strip():
        return answer is not None
    try:
        return bool(json.loads(answer) == json.loads(text))
    except (ValueError, RecursionError):
        return False
