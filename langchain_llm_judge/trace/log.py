"""The record of one run: every chain, model, tool and retriever run under a root, as it happened.

It is the one form that reading knows. The live handler fills it while a run goes on, stored events
and run trees are put into it afterwards; `reading` makes a trace of it and never touches it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

RunKind = Literal["chain", "llm", "tool", "retriever"]

_COPY_DEPTH = 32


@dataclass(slots=True, eq=False)
class Run:
    """One run of a chain, model, tool or retriever."""

    id: UUID | str
    kind: RunKind
    name: str | None = None
    tags: list[str] = field(default_factory=list)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    inputs: Any = None
    outputs: Any = None
    """What the run gave: a chain's output, a model's message, a tool's output, a retriever's documents."""
    error: BaseException | str | None = None
    """The exception, or its text where the source keeps only that."""
    ended: bool = False
    started: float | None = None
    """Seconds since the epoch; `None` when the source does not tell."""
    finished: float | None = None
    tool_call_id: str | None = None
    """The id of the call a tool run answers; `None` when code called the tool."""
    description: str | None = None
    """A tool's own description."""
    offered: list[Any] | None = None
    """Definitions of the tools a model run was offered; `None` when the source does not tell."""
    is_structured: bool = False
    """True when a model run was made to give a structured answer (`with_structured_output`)."""
    usage: Mapping[str, Any] | None = None
    """Token counts that a model reported beside its message."""
    actions: Sequence[Any] = ()
    """What an executor decided to do, in order: its agent actions."""
    interrupts: list[Any] | None = None
    """What the graph reported that it waits for, empty at a breakpoint; `None` when it does not wait."""
    written: Sequence[Any] | None = None
    """The messages in the output of a node, as they came; `None` where they have not been looked for."""
    calls: Mapping[int, list[Any]] | None = None
    """Tool calls as they were when first seen, by `id()` of their message: tools may change their arguments."""
    children: list[Run] = field(default_factory=list)
    _is_node: bool | None = None

    def outer(self) -> Iterator[Run]:
        """As `walk`, without what lies below a tool run."""
        waiting = [self]
        while waiting:
            run = waiting.pop()
            yield run
            if run.kind != "tool":
                waiting.extend(reversed(run.children))

    def walk(self) -> Iterator[Run]:
        """This run and all below it, each before its children."""
        waiting = [self]
        while waiting:
            run = waiting.pop()
            yield run
            waiting.extend(reversed(run.children))

    @property
    def is_node(self) -> bool:
        """Whether this is one execution of a graph's node, or of a task of the functional API."""
        if self._is_node is None:
            is_node = any(tag.startswith("graph:step:") for tag in self.tags) and self.name != "__start__"
            self._is_node = is_node or self.is_task
        return self._is_node

    @property
    def is_task(self) -> bool:
        """Whether this is one execution of a task of the functional API."""
        path = self.metadata.get("langgraph_path") or (None,)
        return path[-1] is True and self.kind == "chain" and self.name == self.metadata.get("langgraph_node")

    @property
    def is_graph(self) -> bool:
        """Whether nodes of a graph ran directly below."""
        return any(child.is_node for child in self.children)

    @property
    def execution(self) -> str | None:
        """The name of this execution of a node; its repetition after a failure or an interrupt has the same."""
        namespace = self.metadata.get("langgraph_checkpoint_ns") if self.is_node else None
        return str(namespace) if namespace else None

    @property
    def thread_id(self) -> str | None:
        """The thread of a checkpointed graph; `None` when the run belongs to none."""
        thread = self.metadata.get("thread_id")
        return None if thread is None else str(thread)

    @property
    def error_type(self) -> str | None:
        """Class name of the exception, empty where it is not told; `None` when the run did not fail."""
        if isinstance(self.error, BaseException):
            return type(self.error).__name__
        if self.error is None:
            return None
        named = re.match(r"(?:\w+\.)*(\w+)\(", self.error)
        return named.group(1) if named else ""


def held(value: Any) -> Any:
    """A value whose lists no longer grow with the caller's: only the containers of the first two levels are new."""
    if type(value) is dict:
        return {key: list(item) if type(item) is list else item for key, item in value.items()}
    return list(value) if type(value) is list else value


def frozen(value: Any, depth: int = _COPY_DEPTH) -> Any:
    """A copy of a JSON-like value; what is no plain container stays the same object."""
    if depth and type(value) is dict:
        return {key: frozen(item, depth - 1) for key, item in value.items()}
    if depth and type(value) is list:
        return [frozen(item, depth - 1) for item in value]
    return value
