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
from langchain_core.outputs import ChatGeneration, LLMResult
from langgraph.callbacks import GraphCallbackHandler, GraphInterruptEvent

from langchain_llm_judge.trace.log import Run, frozen, held
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

    def _begin(self, run: Run, parent_run_id: UUID | None) -> None:
        run.started = time.time()
        with self._lock:
            if run.id in self._runs:
                return
            if parent_run_id in self._ignored or IGNORED_TAG in run.tags:
                self._ignored.add(run.id)
                return
            self._runs[run.id] = run
            parent = None if parent_run_id is None else self._runs.get(parent_run_id)
            if parent is None:
                self._open_roots.add(run.id)
            else:
                parent.children.append(run)

    def _open_run(self, run_id: UUID) -> Run | None:
        """A run whose end is not noted yet; `None` for one that is left out, or that ended before."""
        run = self._runs.get(run_id)
        return None if run is None or run.ended else run

    def _end(self, run_id: UUID, error: BaseException | None = None) -> None:
        with self._lock:
            run = self._open_run(run_id)
            if run is None:
                self._ignored.discard(run_id)
                return
            run.ended, run.finished, run.error = True, time.time(), error
            if run_id not in self._open_roots:
                return
            self._forget(run)
            roots = [] if _is_bookkeeping(run) else self._stopped.join(run)
        if roots:
            self.on_root_end(roots)

    def _forget(self, root: Run) -> None:
        self._open_roots.discard(root.id)
        for run in root.walk():
            self._runs.pop(run.id, None)
            if not run.ended:
                # It goes on in a thread or task nobody waits for; what it starts is no new root.
                self._ignored.add(run.id)

    # Chains, graphs and their nodes

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note the start of a chain, a graph or one of its nodes."""
        name = kwargs.get("name") or _class_name(serialized)
        self._begin(Run(run_id, "chain", name, tags or [], metadata or {}, held(inputs)), parent_run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a chain gave."""
        run = self._open_run(run_id)
        if run is not None:
            run.outputs = held(outputs)
            if run.is_node:
                run.written = _messages_written(outputs)
                run.calls = _calls_of(run.written)
            if run.inputs == _STREAMED and kwargs.get("inputs") is not None:
                run.inputs = held(kwargs["inputs"])
        self._end(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a chain raised, a hand-over to another graph among them."""
        self._end(run_id, error)

    # Models

    def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what a chat model was asked and which tools it was offered."""
        asked = messages[0] if messages else []
        run = Run(run_id, "llm", kwargs.get("name") or _class_name(serialized), tags or [], metadata or {}, held(asked))
        run.offered = list((kwargs.get("invocation_params") or {}).get("tools") or ())
        run.is_structured = "ls_structured_output_format" in (kwargs.get("options") or {})
        self._begin(run, parent_run_id)

    def on_llm_start(
        self,
        serialized: dict[str, Any] | None,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what a text model was asked."""
        name = kwargs.get("name") or _class_name(serialized)
        run = Run(run_id, "llm", name, tags or [], metadata or {}, prompts[0] if prompts else "", offered=[])
        self._begin(run, parent_run_id)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a model answered."""
        run = self._open_run(run_id)
        if run is not None and response.generations and response.generations[0]:
            generation = response.generations[0][0]
            run.outputs = generation.message if isinstance(generation, ChatGeneration) else generation.text
            run.calls = _calls_of([run.outputs])
            run.usage = (response.llm_output or {}).get("token_usage")
        self._end(run_id)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note why a model gave no answer."""
        self._end(run_id, error)

    # Tools and retrievers

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note a tool's input, as it is before the tool can change it."""
        about = serialized or {}
        given = input_str if inputs is None else frozen(inputs)
        run = Run(run_id, "tool", kwargs.get("name") or about.get("name"), tags or [], metadata or {}, given)
        run.tool_call_id, run.description = kwargs.get("tool_call_id"), about.get("description")
        self._begin(run, parent_run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a tool gave."""
        self._give(run_id, output)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a tool raised, an interrupt among them."""
        self._end(run_id, error)

    def on_retriever_start(
        self,
        serialized: dict[str, Any] | None,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what was looked up."""
        name = kwargs.get("name") or _class_name(serialized)
        self._begin(Run(run_id, "retriever", name, tags or [], metadata or {}, query), parent_run_id)

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any) -> None:
        """Note what was found."""
        self._give(run_id, held(documents))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note why nothing was found."""
        self._end(run_id, error)

    def _give(self, run_id: UUID, output: Any) -> None:
        run = self._open_run(run_id)
        if run is not None:
            run.outputs = output
        self._end(run_id)

    # What executors and graphs tell of themselves

    def on_agent_action(self, action: AgentAction, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what an executor is going to do."""
        with self._lock:
            run = self._runs.get(run_id)
            if run is not None and not (run.actions and run.actions[-1] is action):
                run.actions = [*run.actions, action]

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


def _messages_written(outputs: Any) -> list[Any]:
    try:
        return messages_in(outputs)
    except Exception:  # an object of the run's that cannot be looked at; its end is noted all the same
        return []


def _calls_of(messages: Sequence[Any]) -> dict[int, list[Any]]:
    """The tool calls of messages as they are now, by the identity of the message."""
    found = {}
    for message in messages:
        is_models = isinstance(message, AIMessage)
        calls = message.tool_calls if is_models else message.get("tool_calls") if isinstance(message, dict) else None
        if calls:
            found[id(message)] = frozen(list(calls))
    return found
