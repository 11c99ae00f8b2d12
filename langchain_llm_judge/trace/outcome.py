"""What a run was asked, what it answered, and how it ended, read off its root runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_llm_judge.trace.blocks import content_text
from langchain_llm_judge.trace.dialogue import as_messages, is_message, span
from langchain_llm_judge.trace.endings import Ending
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.nodes import messages_in, state_of
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.reading import Reading
from langchain_llm_judge.trace.state import INTERRUPT, paused
from langchain_llm_judge.trace.tree import CUT_OFF, INTERRUPTS, error_text, outermost_graphs
from langchain_llm_judge.trace.values import text_of

_INPUTS = ("input", "question", "query", "task")
_OUTPUTS = ("output", "answer", "result", "response")
_SHOWN = 500


# Question and answer


def task_of(root: Run, reading: Reading, options: TraceOptions) -> str:
    """What a run was asked; the JSON of its input where nothing in it is a question."""
    state = state_of(root.inputs) or {}
    if options.task_key is not None and options.task_key in state:
        return _text(state[options.task_key])
    told = [span(reading.given, "last").task, _asked_in(root.inputs, options)]
    if not (root.is_graph or root.is_node):
        told.reverse()
    task = next((task for task in told if task is not None), None)
    return text_of(root.inputs) if task is None else task


def answer_of(root: Run, options: TraceOptions) -> str | None:
    """What a run answered apart from its messages; `None` where only these tell."""
    output = root.outputs
    if isinstance(output, Mapping):
        return _answer_in(output, options, told_by_messages=root.is_graph and bool(messages_in(output)))
    if output is None or root.kind == "retriever":
        return None
    if messages_in(output):
        return None if root.is_graph else _text(output) or None
    return text_of(output)


def structured_response(root: Run) -> Any:
    """The structured answer in the state a run ended with; `None` when it has none."""
    return (state_of(root.outputs) or {}).get("structured_response")


def _asked_in(given: Any, options: TraceOptions) -> str | None:
    if isinstance(given, str):
        return given
    state = state_of(given) or {}
    known = [state[name] for name in _INPUTS if state.get(name) not in (None, "")]
    if known and not state.get("messages"):
        return _text(known[0])
    messages = messages_in(given)
    if messages:
        return span(as_messages(messages), "last").task
    texts = [value for value in state.values() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else None


def _answer_in(state: Mapping[str, Any], options: TraceOptions, *, told_by_messages: bool) -> str | None:
    if options.answer_key is not None and state.get(options.answer_key) is not None:
        return _text(state[options.answer_key])
    if told_by_messages or options.answer_key is not None:
        return None
    return next((_text(state[name]) for name in _OUTPUTS if state.get(name) is not None), None)


def _text(value: Any) -> str:
    """A value as text; of messages the last one's."""
    if is_message(value):
        return content_text(as_messages([value])[-1].content)
    if isinstance(value, list) and value and all(is_message(item) for item in value):
        return content_text(as_messages(value)[-1].content)
    return text_of(value)


# Ending


def stop_of(root: Run) -> Ending | None:
    """What kept a run from its end, as its events tell; `None` when it came to its end by itself."""
    kind = root.error_type
    if kind is None:
        return _stop_without_error(root)
    reason = error_text(root.error or "")[:_SHOWN]
    if kind in INTERRUPTS or kind == "GraphDrained":
        return Ending("paused", reason)
    if kind == "GeneratorExit":
        return Ending("abandoned", _CLOSED)
    if kind in ("CancelledError", "KeyboardInterrupt"):
        return Ending("cancelled", reason)
    if kind in _LIMITS or (kind == "TimeoutError" and not _was_raised_inside(root, kind)):
        return Ending("step_limit", reason)
    return Ending("failed", reason)


_LIMITS = frozenset(
    {"GraphRecursionError", "ModelCallLimitExceededError", "ToolCallLimitExceededError", "NodeTimeoutError"}
)
_CLOSED = "its stream was closed before its end"


def _stop_without_error(root: Run) -> Ending | None:
    pause = _pause(root)
    if pause is not None:
        return pause
    if not root.ended:
        return _unseen_stop(root)
    if not root.is_graph and any(not child.ended for child in root.children):
        # A chain whose stream is closed ends before the step that was still giving.
        return Ending("abandoned", _CLOSED)
    return None


def _unseen_stop(root: Run) -> Ending:
    """Stored events stop where a run raises, so the last failure below is the likely one."""
    failed = [run for run in root.outer() if run.error is not None and run.error_type not in CUT_OFF]
    if failed:
        return Ending("failed", error_text(failed[-1].error or "")[:_SHOWN])
    return Ending("unknown", "what was recorded stops before the run's end")


def _was_raised_inside(root: Run, kind: str) -> bool:
    return any(run.error_type == kind for run in root.walk() if run is not root)


def _pause(root: Run) -> Ending | None:
    """What an interrupted run waits for; `None` when it does not wait."""
    graphs = list(outermost_graphs(root)) or [root]
    interrupts = _interrupts(graphs[-1])
    if interrupts is None:
        return None
    return paused(interrupts) or Ending("paused", "stopped at a breakpoint")


def _interrupts(graph: Run) -> list[Any] | None:
    if graph.interrupts is not None:
        return graph.interrupts
    told = (state_of(graph.outputs) or {}).get(INTERRUPT)
    if told is not None:
        return list(told) if isinstance(told, list | tuple) else [told]
    last_execution = {run.execution or run.id: run for run in graph.children}
    is_interrupted = any(run.error_type in INTERRUPTS for run in last_execution.values())
    return [] if is_interrupted else None
