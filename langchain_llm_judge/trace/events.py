"""Stored `astream_events`: every run's start and end, as a trace.

Events tell less than the live recorder sees: no tool definitions, and nothing at all where a chain or a model raises.
A run without its end is then the last that is known of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.trace.calls import results_in
from langchain_llm_judge.trace.log import Run, RunKind
from langchain_llm_judge.trace.nodes import state_of
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.recorded import read_run
from langchain_llm_judge.trace.schema import AgentTrace
from langchain_llm_judge.trace.serialized import revived
from langchain_llm_judge.trace.state import INTERRUPT
from langchain_llm_judge.trace.tree import is_resumed

_KINDS: dict[str, RunKind] = {"chat_model": "llm", "llm": "llm", "tool": "tool", "retriever": "retriever"}


def trace_from_events(events: Sequence[Mapping[str, Any]], options: TraceOptions) -> AgentTrace:
    """The trace of what `astream_events(version="v2")` gave.

    Raises:
        TraceError: The events are of version 1, or of several runs none of which goes on with another.
    """
    roots = _Events().roots_of(events)
    if not all(is_resumed(root) for root in roots[1:]):
        raise TraceError(
            f"the events are those of {len(roots)} runs; give the events of one",
            source="events",
            seen=[root.name for root in roots],
        )
    return read_run(roots, options)


class _Events:
    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self._roots: dict[str, Run] = {}

    def roots_of(self, events: Sequence[Mapping[str, Any]]) -> list[Run]:
        """The runs that the events tell of, as trees."""
        for event in events:
            if "parent_ids" not in event:
                raise TraceError(
                    f"the event {shown(event.get('event'))} has no 'parent_ids', so the runs cannot be told apart; "
                    "record them with astream_events(version='v2')",
                    source="events",
                    seen=list(event),
                )
            self._take(event)
        return list(self._roots.values())

    def _take(self, event: Mapping[str, Any]) -> None:
        _, _, rest = event["event"].partition("_")
        kind, _, phase = rest.rpartition("_")
        data = event.get("data") or {}
        run = self._runs.get(str(event.get("run_id"))) or self._start(kind, event)
        if phase == "stream":
            interrupts = (state_of(data.get("chunk")) or {}).get(INTERRUPT)
            run.interrupts = run.interrupts if interrupts is None else list(interrupts)
            return
        if data.get("input") is not None:
            run.inputs = _input(run.kind, revived(data["input"]))
        if phase == "end":
            run.ended, run.outputs = True, _output(run.kind, revived(data.get("output")))
        elif phase == "error":
            run.ended, run.error = True, data.get("error") or "error"
        if run.kind == "tool":
            run.tool_call_id = run.tool_call_id or data.get("tool_call_id") or _call_id(run.outputs)

    def _start(self, kind: str, event: Mapping[str, Any]) -> Run:
        run_id = str(event.get("run_id"))
        run = Run(run_id, _KINDS.get(kind, "chain"), name=event.get("name"), tags=list(event.get("tags") or ()))
        run.metadata = event.get("metadata") or {}
        self._runs[run_id] = run
        above = [str(parent) for parent in event["parent_ids"]]
        parent = next((self._runs[parent] for parent in reversed(above) if parent in self._runs), None)
        if parent is None and above:
            parent = self._unseen(above[0])
        if parent is None:
            self._roots[run_id] = run
        else:
            parent.children.append(run)
        return run

    def _unseen(self, run_id: str) -> Run:
        """A root whose own events were filtered out."""
        run = self._runs[run_id] = self._roots[run_id] = Run(run_id, "chain")
        return run


def _input(kind: RunKind, given: Any) -> Any:
    if kind == "llm" and isinstance(given, Mapping):
        batches = given.get("messages") or given.get("prompts") or [None]
        return batches[0]
    return given.get("query") if kind == "retriever" and isinstance(given, Mapping) else given


def _output(kind: RunKind, given: Any) -> Any:
    if kind == "llm" and isinstance(given, Mapping) and "generations" in given:
        first = (given["generations"] or [None])[0]
        generation = first[0] if isinstance(first, list) and first else first
        return generation.get("text") if isinstance(generation, Mapping) else getattr(generation, "text", None)
    return given.get("documents") if kind == "retriever" and isinstance(given, Mapping) else given


def _call_id(output: Any) -> str | None:
    """The id of the call that a tool's output answers."""
    results = results_in(output)
    return results[-1].tool_call_id if results else None
