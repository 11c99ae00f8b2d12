"""Runs that a checkpointer kept: `(graph, config)` of a thread.

The history tells more than the last state. A turn begins at an `input` checkpoint, whatever messages stand in the
state; messages that were summarised or removed since are still there; and a thread that stopped says why: an
interrupt, an error, or nodes that are still to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.trace.dialogue import Span, as_messages, span
from langchain_llm_judge.trace.endings import Ending
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.schema import AgentTrace
from langchain_llm_judge.trace.state import INTERRUPT, messages_key_in, named, paused, trace_from_span, trace_from_state


def trace_from_snapshot(snapshot: Any, options: TraceOptions) -> AgentTrace:
    """The trace of one `get_state` snapshot, without its history."""
    values = _values(snapshot)
    return trace_from_state({**values, INTERRUPT: snapshot.interrupts} if snapshot.interrupts else values, options)


def trace_from_thread(graph: Any, config: Mapping[str, Any], options: TraceOptions) -> AgentTrace:
    """The trace of a turn of a thread.

    Raises:
        TraceError: The graph keeps no state, the thread has none, or there is no such turn.
    """
    snapshot = _snapshot(graph, config)
    state = _values(snapshot)
    key = messages_key_in(state, options)
    if key is None:
        return trace_from_snapshot(snapshot, options)
    windows = _windows(graph, config, snapshot, whole=options.turn not in ("last", -1))
    window = _chosen(windows, options)
    is_last = window[-1] is windows[-1][-1]
    part = _part(window, key, options, snapshot if is_last else None)
    ending = _ending(graph, config, snapshot, window, part) if is_last else None
    if ending is not None and ending.status == "failed":
        part = _with_failed_call(part, graph, snapshot)
    return trace_from_span(part, state if is_last else {}, options, ending=ending, ended=is_last and not snapshot.next)


# The history


def _snapshot(graph: Any, config: Mapping[str, Any]) -> Any:
    try:
        snapshot = graph.get_state(config, subgraphs=True)
    except Exception as error:  # no checkpointer, no thread_id, a store that cannot be reached
        raise TraceError(
            f"the state of {shown(_thread_of(config))} cannot be read ({type(error).__name__}: {error}); "
            "compile the graph with a checkpointer and give the config of the run, or give what invoke returned",
            source=type(graph).__name__,
            seen=_thread_of(config),
        ) from error
    if not snapshot.values and not snapshot.next:
        raise TraceError(
            f"{shown(_thread_of(config))} has no checkpoints; give the config the run was made with",
            source=type(graph).__name__,
            seen=_thread_of(config),
        )
    return snapshot


def _thread_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """What names the thread; the rest of a config may hold secrets."""
    configurable = config.get("configurable") or {}
    return {
        name: configurable[name] for name in ("thread_id", "checkpoint_ns", "checkpoint_id") if name in configurable
    }


def _values(snapshot: Any) -> dict[str, Any]:
    values = snapshot.values
    if isinstance(values, Mapping):
        return dict(values)
    return {"messages": values} if isinstance(values, list) else {"value": values}


def _windows(graph: Any, config: Mapping[str, Any], latest: Any, *, whole: bool) -> list[list[Any]]:
    """The snapshots of each turn, oldest first; of the last turn alone unless `whole`."""
    turns: list[list[Any]] = [[]]
    for snapshot in _lineage(graph, config, latest):
        turns[-1].append(snapshot)
        if (snapshot.metadata or {}).get("source") == "input":
            if not whole:
                break
            turns.append([])
    return [turn[::-1] for turn in reversed(turns) if turn]


def _lineage(graph: Any, config: Mapping[str, Any], latest: Any) -> Iterator[Any]:
    """A snapshot and its ancestors, newest first; branches of a forked thread are left out."""
    wanted = _id_of(latest.config)
    for snapshot in graph.get_state_history(_thread_config(config)):
        if _id_of(snapshot.config) == wanted:
            yield snapshot
            wanted = _id_of(snapshot.parent_config)
            if wanted is None:
                return


def _thread_config(config: Mapping[str, Any]) -> dict[str, Any]:
    return {"configurable": {name: value for name, value in _thread_of(config).items() if name != "checkpoint_id"}}


def _id_of(config: Mapping[str, Any] | None) -> Any:
    return ((config or {}).get("configurable") or {}).get("checkpoint_id")


def _chosen(windows: list[list[Any]], options: TraceOptions) -> list[Any]:
    if options.turn == "all":
        return [snapshot for window in windows for snapshot in window]
    number = -1 if options.turn == "last" else options.turn
    if not -len(windows) <= number < len(windows):
        count = f"{len(windows)} turn{'s' if len(windows) > 1 else ''}"
        raise TraceError(
            f"turn={number} is outside the thread of {count}; give 'last', 'all' or a number from 0",
            source="thread",
            seen=len(windows),
        )
    return windows[number]


# Its messages


def _part(window: list[Any], key: str, options: TraceOptions, latest: Any | None) -> Span:
    """The question and the messages of a turn, those among them that the state has lost since."""
    lists = [as_messages(_values(snapshot).get(key) or ()) for snapshot in window]
    pending = list(_pending_messages(latest, key)) if latest is not None else []
    if options.turn == "all":
        return span([*_union(lists), *pending], "all")
    begins_with_input = (window[0].metadata or {}).get("source") == "input" and len(window) > 1
    if not begins_with_input:
        return span([*_union(lists), *pending], "last")
    told = _without(lists[0], _union(lists))
    asked = _without(lists[0], lists[1])
    question = span(asked, "last")
    return Span(question.task, [*question.messages, *_without(asked, told), *pending])


def _union(lists: list[list[BaseMessage]]) -> list[BaseMessage]:
    """Every message in order of its first appearance, with its latest content; the last list where ids are missing."""
    if any(message.id is None for message in lists[-1]):
        return lists[-1]
    by_id: dict[str | None, BaseMessage] = {}
    for messages in lists:
        for message in messages:
            by_id[message.id] = message
    return list(by_id.values())


def _without(known: list[BaseMessage], messages: list[BaseMessage]) -> list[BaseMessage]:
    ids = {message.id for message in known}
    if None in ids:
        return messages[len(known) :]
    return [message for message in messages if message.id not in ids]


def _pending_messages(snapshot: Any, key: str) -> Iterator[BaseMessage]:
    """What a step that has not come to its end has said: tasks that are done, and sub-graphs on their way.

    The state of the thread has it only when all tasks of the step are done.
    """
    known = {message.id for message in as_messages(_values(snapshot).get(key) or ())}
    # Of an earlier checkpoint the results belong to the next one; only of a step that stopped they are still pending.
    stopped = any(task.interrupts or task.error for task in snapshot.tasks)
    for task in snapshot.tasks:
        if stopped and isinstance(task.result, Mapping):
            yield from as_messages(task.result.get(key) or ())
        if hasattr(task.state, "values") and hasattr(task.state, "tasks"):
            inner = as_messages(_values(task.state).get(key) or ())
            yield from (message for message in inner if message.id is None or message.id not in known)
            yield from _pending_messages(task.state, key)


# How it ended


def _ending(graph: Any, config: Mapping[str, Any], snapshot: Any, window: list[Any], part: Span) -> Ending | None:
    """Why a thread stopped before its end; `None` when it came to its end."""
    if not snapshot.next:
        return None
    pause = paused(snapshot.interrupts)
    if pause is not None:
        return pause
    errors = [str(task.error) for task in snapshot.tasks if task.error]
    if errors:
        return Ending("failed", "; ".join(errors))
    nodes = named(snapshot.next)
    if _has_breakpoint(graph, snapshot.next):
        return Ending("paused", f"stopped before {nodes} (a breakpoint of the graph)")
    limit = config.get("recursion_limit")
    if isinstance(limit, int) and _supersteps(window) >= limit:
        return Ending("step_limit", f"the recursion limit of {limit} was reached before {nodes}")
    last = part.messages[-1] if part.messages else None
    asked = isinstance(last, AIMessage) and bool(last.tool_calls or last.invalid_tool_calls)
    return Ending("incomplete" if asked else "unknown", f"the thread stopped before {nodes}")


def _has_breakpoint(graph: Any, nodes: Iterable[str]) -> bool:
    before: Any = getattr(graph, "interrupt_before_nodes", None) or ()
    after: Any = getattr(graph, "interrupt_after_nodes", None) or ()
    return bool(after) or before == "*" or any(node in before for node in nodes)


def _supersteps(window: list[Any]) -> int:
    first, last = ((snapshot.metadata or {}).get("step", 0) for snapshot in (window[0], window[-1]))
    return int(last) - int(first) - 1


def _with_failed_call(part: Span, graph: Any, snapshot: Any) -> Span:
    """The error of a tool node as the result of the one call that waits for it."""
    failed = [task for task in snapshot.tasks if task.error and _runs_tools(graph, task.name)]
    answered = {message.tool_call_id for message in part.messages if isinstance(message, ToolMessage)}
    last = next((message for message in reversed(part.messages) if isinstance(message, AIMessage)), None)
    waiting = [call for call in (last.tool_calls if last else ()) if call["id"] and call["id"] not in answered]
    if len(failed) != 1 or len(waiting) != 1:
        return part
    call_id = waiting[0]["id"] or ""
    error = ToolMessage(str(failed[0].error), tool_call_id=call_id, name=waiting[0]["name"], status="error")
    return Span(part.task, [*part.messages, error])


def _runs_tools(graph: Any, node: str) -> bool:
    bound = getattr(getattr(graph, "nodes", {}).get(node), "bound", None)
    return hasattr(bound, "tools_by_name")
