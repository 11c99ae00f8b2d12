"""The shape of a record: graphs and their nodes, attempts and their repetitions, and the order of what ran at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.nodes import is_command

CUT_OFF = frozenset(
    {
        "GraphInterrupt",
        "NodeInterrupt",
        "GraphBubbleUp",
        "GraphDrained",
        "ParentCommand",
        "GeneratorExit",
        "CancelledError",
    }
)
"""Exceptions that stop a run without its having failed."""

_RETRY = "retry:attempt:"

INTERRUPTS = frozenset({"GraphInterrupt", "NodeInterrupt"})


def ordered(runs: Sequence[Run]) -> Sequence[Run]:
    """Runs in the order of their start, the nodes of a graph among them in the order of its steps and tasks."""
    steps = [_step(run) for run in runs if run.is_node]
    if all(earlier < later for earlier, later in pairwise(steps)):
        return runs
    in_order = iter(sorted((run for run in runs if run.is_node), key=_place))
    return [next(in_order) if run.is_node else run for run in runs]


def graphs_in(root: Run) -> Iterator[Run]:
    """The graphs of a run, the outermost first, without those inside tools."""
    return (run for run in root.outer() if run.is_graph)


def outermost_graphs(root: Run) -> Iterator[Run]:
    """The graphs of a run that are inside no other."""
    waiting = [root]
    while waiting:
        run = waiting.pop()
        if run.is_graph:
            yield run
        elif run.kind != "tool":
            waiting.extend(reversed(run.children))


def first_nodes(graph: Run) -> list[Run]:
    """The nodes that a graph ran first."""
    nodes = [run for run in graph.children if run.is_node]
    step = min(map(_step, nodes))
    first = [node for node in nodes if _step(node) == step]
    # All tasks of an entrypoint run in one step, one after the other.
    return [min(first, key=_place)] if first[0].is_task else first


def is_resumed(root: Run) -> bool:
    """Whether a run goes on where another one stopped."""
    graph = next(graphs_in(root), None)
    if graph is None:
        return False
    return graph.inputs is None or (is_command(graph.inputs) and graph.inputs.resume is not None)


def kept_attempts(run: Run) -> Sequence[Run]:
    """The runs below in order, without attempts that were given up for another."""
    if len(run.children) < 2:
        return run.children
    children = ordered(run.children)
    if all(child.error is None for child in children):
        return children
    retries = [index for index, child in enumerate(children) if any(tag.startswith(_RETRY) for tag in child.tags)]
    last = len(children) - 1 if run.name == "RunnableWithFallbacks" else max(retries, default=0)
    kept = [child for child in children[:last] if child.error is None or child.error_type in CUT_OFF]
    return [*kept, *children[last:]]


def _place(node: Run) -> tuple[int, str]:
    return _step(node), _path(node.metadata.get("langgraph_path") or ())


def _step(node: Run) -> int:
    step: Any = node.metadata.get("langgraph_step")
    return step if type(step) is int else 0


def _path(part: Any) -> str:
    """A task's path as LangGraph sorts it when it applies what the tasks of a step wrote."""
    if isinstance(part, list | tuple):
        return f"~{', '.join(_path(item) for item in part)}"
    return f"{part:010d}" if isinstance(part, int) else str(part)


def resume_values(root: Run) -> Iterator[Any]:
    """What a person answered to the interrupts that the run goes on from."""
    for graph in outermost_graphs(root):
        if is_command(graph.inputs):
            resume = graph.inputs.resume
            yield from resume.values() if isinstance(resume, dict) else [resume]


def error_text(error: BaseException | str) -> str:
    """An exception as its `repr`; from a run tree's text the part before the traceback."""
    if isinstance(error, str):
        return error.partition("Traceback (most recent call last)")[0].strip()
    try:
        return repr(error)
    except Exception:
        return type(error).__name__
