"""Listening to runs: a callback handler that keeps what happened and decides nothing.

What it does on the run's path is to note references under a lock; a trace is made when a root run
has ended. Only what a run goes on changing is copied: lists of messages, which nodes extend, and
the arguments of tool calls, which tools receive and may alter.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentAction
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import LLMResult
from langgraph.callbacks import GraphCallbackHandler, GraphInterruptEvent

from langchain_llm_judge.trace.log import Run, RunKind, frozen, held
from langchain_llm_judge.trace.nodes import messages_in
from langchain_llm_judge.trace.resuming import StoppedRuns

IGNORED_TAG = "llm_judge"
"""Runs with this tag are a judge's own; they and all below them are left out."""

_STREAMED = {"input": ""}
"""What a chain gives as its input when it is streamed; the real one comes with its end."""


class RunCapture(GraphCallbackHandler):
    """Base of handlers that want every root run as one record when it ends.

    One object serves any number of concurrent runs, sync and async, in any thread. A run whose parent
    it does not know is a root: this holds for a handler bound to one step of a chain too. Given twice
    to the same run, it records it once.

    Subclasses write `on_root_end`.
    """

    run_inline = True  # Noting an event is cheaper than handing it to a thread, and keeps the order.

    def __init__(self) -> None:
        self._runs: dict[UUID | str, Run] = {}
        self._open_roots: set[UUID | str] = set()
        self._ignored: set[UUID | str] = set()
        self._stopped = StoppedRuns()
        # Reentrant: a stream closed by the garbage collector ends its run wherever the thread happens to be.
        self._lock = threading.RLock()

    @property
    def open_runs(self) -> int:
        """Root runs that have begun and not ended; 0 when idle."""
        return len(self._open_roots)

    def on_root_end(self, roots: Sequence[Run]) -> None:
        """Called once for every root run when it has ended.

        Args:
            roots: The run, with all that happened below it; after the runs it goes on with, where it resumes
                a thread that had stopped. From now on they are no longer changed.
        """

    def _start(
        self, kind: RunKind, run_id: UUID, parent_run_id: UUID | None, known: Mapping[str, Any], **details: Any
    ) -> None:
        tags, metadata = known.get("tags") or [], known.get("metadata") or {}
        run = Run(run_id, kind, tags=tags, metadata=metadata, started=time.time(), **details)
        with self._lock:
            if run_id in self._runs:
                return
            if parent_run_id in self._ignored or IGNORED_TAG in tags:
                self._ignored.add(run_id)
                return
            self._runs[run_id] = run
            parent = None if parent_run_id is None else self._runs.get(parent_run_id)
            if parent is None:
                self._open_roots.add(run_id)
            else:
                parent.children.append(run)

    def _end(self, run_id: UUID, **outcome: Any) -> None:
        with self._lock:
            run = self._runs.get(run_id)
            if run is None or run.ended:
                self._ignored.discard(run_id)
                return
            run.ended, run.finished = True, time.time()
            for field, value in outcome.items():
                setattr(run, field, value)
            is_root = run_id in self._open_roots
            if is_root:
                self._forget(run)
            roots = self._stopped.join(run) if is_root and not _is_bookkeeping(run) else []
        if roots:
            self.on_root_end(roots)

    def _forget(self, root: Run) -> None:
        self._open_roots.discard(root.id)
        for run in root.walk():
            self._runs.pop(run.id, None)
            if not run.ended:
                # It goes on in a thread or task nobody waits for; what it starts is no new root.
                self._ignored.add(run.id)

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note the start of a chain, a graph or one of its nodes."""
        name = kwargs.get("name") or _class_name(serialized)
        self._start("chain", run_id, parent_run_id, kwargs, name=name, inputs=held(inputs))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a chain gave."""
        run = self._runs.get(run_id)
        if run is None:
            self._end(run_id)
            return
        outcome: dict[str, Any] = {"outputs": held(outputs)}
        if run.is_node:
            outcome["calls"] = _calls_written(outputs)
        if run.inputs == _STREAMED and kwargs.get("inputs") is not None:
            outcome["inputs"] = held(kwargs["inputs"])
        self._end(run_id, **outcome)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a chain raised, a hand-over to another graph among them."""
        self._end(run_id, error=error)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what a chat model was asked and which tools it was offered."""
        self._start_model(serialized, messages[0] if messages else [], run_id, parent_run_id, kwargs)

    def on_llm_start(
        self,
        serialized: dict[str, Any] | None,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what a text model was asked."""
        self._start_model(serialized, prompts[0] if prompts else "", run_id, parent_run_id, kwargs)

    def _start_model(
        self,
        serialized: dict[str, Any] | None,
        prompt: Any,
        run_id: UUID,
        parent_run_id: UUID | None,
        kwargs: Mapping[str, Any],
    ) -> None:
        name = kwargs.get("name") or _class_name(serialized)
        offered = (kwargs.get("invocation_params") or {}).get("tools")
        self._start(
            "llm",
            run_id,
            parent_run_id,
            kwargs,
            name=name,
            inputs=held(prompt),
            offered=list(offered or ()),
            is_structured="ls_structured_output_format" in (kwargs.get("options") or {}),
        )

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a model answered."""
        generation = response.generations[0][0] if response.generations and response.generations[0] else None
        answer = getattr(generation, "message", None) or getattr(generation, "text", None)
        usage = (response.llm_output or {}).get("token_usage")
        self._end(run_id, outputs=answer, calls=_calls_of([answer]), usage=usage)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note why a model gave no answer."""
        self._end(run_id, error=error)

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note a tool's input, as it is before the tool can change it."""
        self._start(
            "tool",
            run_id,
            parent_run_id,
            kwargs,
            name=kwargs.get("name") or (serialized or {}).get("name"),
            description=(serialized or {}).get("description"),
            inputs=input_str if inputs is None else frozen(inputs),
            tool_call_id=kwargs.get("tool_call_id"),
        )

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a tool gave."""
        self._end(run_id, outputs=output)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a tool raised, an interrupt among them."""
        self._end(run_id, error=error)

    def on_retriever_start(
        self,
        serialized: dict[str, Any] | None,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what was looked up."""
        name = kwargs.get("name") or _class_name(serialized)
        self._start("retriever", run_id, parent_run_id, kwargs, name=name, inputs=query)

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any) -> None:
        """Note what was found."""
        self._end(run_id, outputs=held(documents))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note why nothing was found."""
        self._end(run_id, error=error)

    def on_agent_action(self, action: AgentAction, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what an executor is going to do."""
        with self._lock:
            run = self._runs.get(run_id)
            if run is not None and not (run.actions and run.actions[-1] is action):
                run.actions.append(action)

    def on_interrupt(self, event: GraphInterruptEvent) -> None:
        """Note that a graph waits for a person."""
        run = None if event.run_id is None else self._runs.get(event.run_id)
        if run is not None:
            run.interrupts = list(event.interrupts)


def _is_bookkeeping(root: Run) -> bool:
    """Whether a run is LangGraph's own: `update_state` passes the callbacks of its config on to what writes."""
    is_update = (root.name or "").endswith("UpdateState") and root.thread_id is not None
    return is_update and all(run.kind == "chain" for run in root.walk())


def _class_name(serialized: Mapping[str, Any] | None) -> str | None:
    if not serialized:
        return None
    name = serialized.get("name") or (serialized.get("id") or [None])[-1]
    return None if name is None else str(name)


def _calls_written(outputs: Any) -> dict[int, list[Any]]:
    try:
        return _calls_of(messages_in(outputs))
    except Exception:  # an object of the run's that cannot be looked at; its end is noted all the same
        return {}


def _calls_of(messages: Sequence[Any]) -> dict[int, list[Any]]:
    """The tool calls of messages as they are now, by the identity of the message."""
    found = {}
    for message in messages:
        is_models = isinstance(message, AIMessage)
        calls = message.tool_calls if is_models else message.get("tool_calls") if isinstance(message, dict) else None
        if calls:
            found[id(message)] = frozen(list(calls))
    return found
