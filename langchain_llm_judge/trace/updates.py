"""Stored `stream(stream_mode="updates")` output, with or without sub-graphs, as a trace.

Updates are what nodes wrote, so the rules of reading hold. What wrote no state (a model's text that went nowhere, a
tool's failure that left the graph) is not in them, nor is the question, nor whether the stream came to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage

from langchain_llm_judge.errors import TraceError
from langchain_llm_judge.trace.blocks import content_text
from langchain_llm_judge.trace.calls import results_in
from langchain_llm_judge.trace.dialogue import as_messages
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.nodes import messages_in, states_in
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.recorded import read_run
from langchain_llm_judge.trace.schema import AgentTrace
from langchain_llm_judge.trace.serialized import revived
from langchain_llm_judge.trace.state import INTERRUPT

_METADATA = "__metadata__"


def trace_from_updates(items: Sequence[Any], options: TraceOptions) -> AgentTrace:
    """The trace of a list of updates in any of the forms that `stream` gives them.

    Raises:
        TraceError: No updates are among the items, or the question is not given.
    """
    updates = [update for item in items for update in _updates(item)]
    if not updates:
        raise TraceError(
            "the stream holds no updates; record it with stream_mode='updates', best with subgraphs=True",
            source="stream",
            seen=len(items),
        )
    if options.task is None:
        raise TraceError("updates of a stream do not hold the question; give it with task=", source="stream", seen=None)
    root = _Stream().root_of(updates)
    root.children[0].inputs = _told_before(updates, options.task)
    return read_run([root], options, is_whole=False)


def _told_before(updates: Sequence[_Update], task: str) -> list[Any]:
    """What the run began with, where a node writes it again: the messages up to the question."""
    for update in updates:
        messages = messages_in(update.output)
        asked = [
            index
            for index, message in enumerate(messages)
            if (read := as_messages([message])[0]).type == "human" and content_text(read.content) == task
        ]
        if asked:
            return messages[: asked[-1] + 1]
    return []


@dataclass(frozen=True, slots=True)
class _Update:
    """What one node wrote, and the path of sub-graphs it lies in."""

    path: tuple[str, ...]
    node: str
    output: Any


class _Stream:
    """The graphs of a stream, put together as runs."""

    def __init__(self) -> None:
        self._graphs: dict[tuple[str, ...], Run] = {(): _graph_run(())}
        self._inner: dict[tuple[str, ...], list[tuple[str, int]]] = {}
        self._steps = 0

    def root_of(self, updates: Sequence[_Update]) -> Run:
        for update in updates:
            self._steps += 1
            graph = self._graph(update.path)
            if update.node == INTERRUPT:
                graph.interrupts = list(update.output or ())
            else:
                graph.children.append(self._node(update))
                graph.outputs.update(_values(update.output))
        for path, waiting in list(self._inner.items()):
            for name, step in waiting:
                self._graphs[path].children.append(
                    _run_of_node(name.partition(":")[0], step, (self._graphs[*path, name],))
                )
        return self._graphs[()]

    def _graph(self, path: tuple[str, ...]) -> Run:
        """The graph of a path; one inside a node waits for what the node itself will write."""
        if path not in self._graphs:
            self._graph(path[:-1])
            self._graphs[path] = _graph_run(path)
            self._inner.setdefault(path[:-1], []).append((path[-1], self._steps))
        return self._graphs[path]

    def _node(self, update: _Update) -> Run:
        waiting = self._inner.get(update.path, [])
        of_node = [entry for entry in waiting if entry[0].partition(":")[0] == update.node]
        results = _results_in(update.output)
        inside = self._inside(update, of_node, one_each=bool(results))
        for entry in inside:
            waiting.remove(entry)
        graphs = [self._graphs[*update.path, name] for name, _ in inside]
        step = min((step for _, step in inside), default=self._steps)
        if results and len(graphs) <= len(results):
            graphs = [_run_of_tool(result, graph) for result, graph in zip(results, graphs, strict=False)]
        return _run_of_node(update.node, step, graphs, update.output)

    def _inside(self, update: _Update, waiting: list[tuple[str, int]], *, one_each: bool) -> list[tuple[str, int]]:
        """The graphs that ran inside a node: those whose messages it repeats, else the first that waits."""
        if one_each:
            return waiting[: len(_results_in(update.output))]
        written = {_identity(message) for message in messages_in(update.output)}
        for entry in waiting:
            graph = self._graphs[*update.path, entry[0]]
            inner = {_identity(message) for node in graph.children for message in messages_in(node.outputs)}
            if written & inner:
                return [entry]
        return waiting[:1]


def _updates(item: Any) -> Iterator[_Update]:
    """What one item of a stream tells, in whichever of its forms."""
    path: Any = ()
    mode, data = "updates", item
    if isinstance(item, Mapping) and item.keys() >= {"type", "ns", "data"}:
        path, mode, data = item["ns"], item["type"], item["data"]
    elif isinstance(item, tuple | list) and len(item) == 3:
        path, mode, data = item
    elif isinstance(item, tuple | list) and len(item) == 2:
        first, data = item
        path, mode = ((), first) if isinstance(first, str) else (first, "updates")
    if mode == "updates" and isinstance(data, Mapping):
        for node, output in data.items():
            if node != _METADATA:
                yield _Update(tuple(path), str(node), revived(output))


def _graph_run(path: tuple[str, ...]) -> Run:
    return Run("/".join(path), "chain", outputs={}, ended=True)


def _values(output: Any) -> dict[str, Any]:
    """What a node wrote into its graph's state beside messages."""
    state = {key: value for update in states_in(output) for key, value in update.items()}
    return {key: value for key, value in state.items() if not messages_in({"": value})}


def _run_of_node(name: str, step: int, children: Sequence[Run], output: Any = None) -> Run:
    run = Run("", "chain", name=name, tags=[f"graph:step:{step}"], outputs=output, ended=True)
    run.metadata = {"langgraph_step": step, "langgraph_node": name}
    run.children = list(children)
    return run


def _run_of_tool(result: ToolMessage, graph: Run) -> Run:
    run = Run("", "tool", name=result.name, tool_call_id=result.tool_call_id, outputs=result, ended=True)
    run.children = [graph]
    return run


def _results_in(output: Any) -> list[ToolMessage]:
    """The results a node wrote where it wrote no other message: it is one that runs tools."""
    results = results_in(output)
    return results if len(results) == len(messages_in(output)) else []


def _identity(message: Any) -> Any:
    message_id = message.get("id") if isinstance(message, Mapping) else getattr(message, "id", None)
    return message_id or id(message)
