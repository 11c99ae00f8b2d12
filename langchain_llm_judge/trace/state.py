"""Messages and states as a trace: what `invoke` returned, or a list of messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.trace.dialogue import Span, as_messages, is_message, read_messages, span
from langchain_llm_judge.trace.endings import Ending
from langchain_llm_judge.trace.messages import Assembled, Entry, assemble, documents_in
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.said import AnyMessage
from langchain_llm_judge.trace.schema import AgentTrace
from langchain_llm_judge.trace.tools import direct_tools, is_definition, tool_specs
from langchain_llm_judge.trace.values import text_of

INTERRUPT = "__interrupt__"
_STRUCTURED = "structured_response"


def trace_from_messages(messages: Iterable[Any], options: TraceOptions) -> AgentTrace:
    """The trace of a list of messages in any form that `as_messages` reads."""
    return trace_from_span(span(read_messages(messages), options.turn), {}, options)


def trace_from_state(state: Mapping[str, Any], options: TraceOptions) -> AgentTrace:
    """The trace of a graph's state, or of what its `invoke` returned.

    Raises:
        TraceError: No messages are in it, or no question; `seen` lists its keys.
    """
    messages = messages_in(state, options)
    pause = paused(state.get(INTERRUPT))
    if messages is None:
        return _without_messages(state, options, pause)
    return trace_from_span(span(messages, options.turn), state, options, ending=pause)


def trace_from_span(
    part: Span, state: Mapping[str, Any], options: TraceOptions, *, ending: Ending | None = None, ended: bool = False
) -> AgentTrace:
    """The trace of one turn.

    Args:
        part: Its question and messages.
        state: What the state holds beside messages; empty where there is none.
        options: What the caller says.
        ending: How the run ended, where something better than its messages tells.
        ended: Whether it is known that the run ended by itself.
    """
    options = _with_own_tools(options, state)
    is_last = options.turn in ("last", "all", -1)
    assembled = assemble(
        [Entry(message) for message in part.messages],
        direct_tools=direct_tools(options.tools),
        answer=answer_in(state, options, optional=ending is not None) if is_last else None,
        structured_response=state.get(_STRUCTURED) if is_last else None,
        ended=ended,
        final=ending is None,
    )
    task = options.task if options.task is not None else task_in(state, options)
    if task is None:
        task = part.task
    if task is None:
        raise _no_task(part, state)
    return build_trace(assembled, options, task=task, ending=ending, contexts=_documents(state, options))


def build_trace(
    assembled: Assembled,
    options: TraceOptions,
    *,
    task: str,
    ending: Ending | None = None,
    contexts: Iterable[str] = (),
    tool_use_known: bool = True,
) -> AgentTrace:
    """Steps and what the caller says, as one trace."""
    tools = tool_specs(options.tools)
    ending = ending or assembled.ending
    return AgentTrace(
        task=task,
        tools=tools or [],
        tools_known=tools is not None,
        steps=assembled.steps,
        final_answer=assembled.final_answer,
        status=options.status or ending.status,
        status_reason=ending.reason if options.status in (None, ending.status) else None,
        tool_use_known=tool_use_known,
        contexts=[*contexts, *assembled.contexts],
        usage=assembled.usage,
        warnings=assembled.warnings,
    )


def messages_in(state: Mapping[str, Any], options: TraceOptions) -> list[AnyMessage] | None:
    """The messages of a state.

    Returns:
        `None` when it holds none but the caller names task and answer, so that there is something to judge.

    Raises:
        TraceError: None are found, several lists may be meant, or the key given holds none.
    """
    key = messages_key_in(state, options)
    if key is None:
        return None
    value = state.get(key)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TraceError(
            f"messages_key={key!r} names no list of messages in a state with keys {named(state)}; found {shown(value)}",
            source="state",
            seen=list(state),
        )
    return read_messages(value)


def messages_key_in(state: Mapping[str, Any], options: TraceOptions) -> str | None:
    """The key of a state's messages.

    Returns:
        `None` when it holds none but the caller names task and answer, so that there is something to judge.

    Raises:
        TraceError: None is found, or several lists may be meant.
    """
    key = options.messages_key or _messages_key(state)
    if key is None:
        if options.answer_key and (options.task_key or options.task is not None):
            return None
        raise TraceError(
            f"no messages found in a state with keys {named(state)}; "
            "name them with messages_key=, or task_key= and answer_key=",
            source="state",
            seen=list(state),
        )
    return key


def paused(interrupts: Any) -> Ending | None:
    """The ending of a run that waits for a person; `None` when there is no interrupt."""
    if not interrupts:
        return None
    asked = [
        getattr(item, "value", item) for item in (interrupts if isinstance(interrupts, list | tuple) else [interrupts])
    ]
    return Ending("paused", "waits for an answer to " + "; ".join(text_of(value) for value in asked))


def task_in(state: Mapping[str, Any], options: TraceOptions) -> str | None:
    """The task under `task_key`; `None` when no key was given."""
    if options.task_key is None:
        return None
    return _text_under(state, options.task_key, "task_key")


def answer_in(state: Mapping[str, Any], options: TraceOptions, *, optional: bool = False) -> str | None:
    """The answer under `answer_key`; `None` when no key was given, or when there is no answer yet."""
    key = options.answer_key
    if key is None or (optional and key not in state) or state.get(key, "") is None:
        return None
    return _text_under(state, key, "answer_key")


def named(keys: Iterable[Any]) -> str:
    """Keys as an error message lists them."""
    return ", ".join(repr(key) for key in keys) or "none"


def _text_under(state: Mapping[str, Any], key: str, parameter: str) -> str:
    if key not in state:
        raise TraceError(
            f"{parameter}={key!r} is not in a state with keys {named(state)}; name the key that holds it",
            source="state",
            seen=list(state),
        )
    value = state[key]
    if isinstance(value, BaseMessage):
        return value.text
    if isinstance(value, list) and value and all(is_message(item) for item in value):
        return as_messages(value)[-1].text
    return text_of(value)


def _messages_key(state: Mapping[str, Any]) -> str | None:
    value = state.get("messages")
    if isinstance(value, list | tuple) and all(is_message(item) for item in value):
        return "messages"
    keys = [key for key, value in state.items() if _are_messages(value)]
    if len(keys) > 1:
        raise TraceError(
            f"a state with keys {named(state)} holds several lists of messages: {named(keys)}; "
            "name one with messages_key=",
            source="state",
            seen=list(state),
        )
    return keys[0] if keys else None


def _are_messages(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(is_message(item) for item in value)


def _with_own_tools(options: TraceOptions, state: Mapping[str, Any]) -> TraceOptions:
    """The tools that a request to a model's API lists beside its messages, where the caller names none."""
    tools = state.get("tools")
    are_definitions = isinstance(tools, list) and all(
        isinstance(tool, Mapping) and is_definition(tool) for tool in tools
    )
    return replace(options, tools=tools) if options.tools is None and tools and are_definitions else options


def _without_messages(state: Mapping[str, Any], options: TraceOptions, pause: Ending | None) -> AgentTrace:
    """A state that tells task and answer only: what was done in between is not known."""
    task = options.task if options.task is not None else task_in(state, options)
    answer = answer_in(state, options, optional=pause is not None)
    ending = pause or Ending("finished" if answer is not None else "unknown")
    assembled = Assembled([], None if pause else answer, ending, [], None, [], None)
    return build_trace(assembled, options, task=task or "", contexts=_documents(state, options), tool_use_known=False)


def _documents(state: Mapping[str, Any], options: TraceOptions) -> list[str]:
    """Texts of the retrieved documents that a state keeps under a key of their own."""
    found: list[str] = []
    for key, value in state.items():
        if isinstance(value, list | tuple) and value and key != options.messages_key:
            found += documents_in(value)
    return found


def _no_task(part: Span, state: Mapping[str, Any]) -> TraceError:
    kinds = ", ".join(message.type for message in part.messages[:8])
    where = f" of a state with keys {named(state)}" if state else ""
    return TraceError(
        f"no message of the user among {len(part.messages)} messages ({kinds or 'none'}){where}; "
        f"give the question with task={', or name it with task_key=' if state else ''}",
        source="state" if state else "messages",
        seen=list(state) if state else [message.type for message in part.messages],
    )
