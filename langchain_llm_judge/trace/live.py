"""Traces of runs as they happen: a callback handler to pass to any chain, graph or executor."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from langchain_llm_judge.errors import ConfigError, TraceError
from langchain_llm_judge.trace.capture import RunCapture
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.recorded import read_run
from langchain_llm_judge.trace.schema import AgentTrace

logger = logging.getLogger(__name__)


class TraceRecorder(RunCapture):
    """A callback handler that makes a trace of every run it is passed to.

    It sees what the final state no longer tells: calls of a run that raised, messages that were summarised or replaced,
    agents inside tools, and which tools every model call was offered. One object serves any number of
    concurrent runs, sync and async. It changes nothing in the run, and an error of its own is logged, never raised.

    What counts: one trace a root run, the runs of judges left out. A run that was interrupted (or failed) and is
    resumed on its thread is joined with its first half and takes its place.

    Args:
        messages_key: Key of the messages in the graph's state; found by itself otherwise.
        task_key: Key of the question in the run's input.
        answer_key: Key of the answer in the run's output.
        on_trace: Called with every trace when its run has ended, in the thread where it ended: with a paused one, and
            again with the whole when it was resumed. What it raises is logged.
        keep: How many of the newest traces stay in `traces`; `None` keeps all. With `on_trace` and `keep=0`
            a process may run for ever.

    Example:
        >>> from langchain_core.runnables import RunnableLambda
        >>> recorder = TraceRecorder()
        >>> RunnableLambda(str.upper).invoke("hello", {"callbacks": [recorder]})
        'HELLO'
        >>> recorder.trace.task, recorder.trace.final_answer, recorder.open_runs
        ('hello', 'HELLO', 0)
    """

    def __init__(
        self,
        *,
        messages_key: str | None = None,
        task_key: str | None = None,
        answer_key: str | None = None,
        on_trace: Callable[[AgentTrace], object] | None = None,
        keep: int | None = None,
    ) -> None:
        super().__init__()
        if keep is not None and keep < 0:
            raise ConfigError(f"keep={keep} is no number of traces; give 0 or more, or None to keep all")
        self._keep = keep
        self._options = TraceOptions(messages_key=messages_key, task_key=task_key, answer_key=answer_key)
        self._on_trace = on_trace
        self._traces: dict[str, AgentTrace] = {}

    @property
    def traces(self) -> list[AgentTrace]:
        """The traces so far, in the order in which their runs ended."""
        with self._lock:
            return list(self._traces.values())

    @property
    def trace(self) -> AgentTrace:
        """The last of `traces`.

        Raises:
            TraceError: No run has ended yet.
        """
        with self._lock:
            trace = next(reversed(self._traces.values()), None)
        if trace is None:
            raise TraceError(
                "no run has ended yet that this recorder was passed to; give it to one with "
                "config={'callbacks': [recorder]}",
                source="TraceRecorder",
            )
        return trace

    def on_root_end(self, roots: Sequence[Run]) -> None:
        """Make the trace of a run that has ended."""
        try:
            trace = read_run(roots, self._options)
        except Exception:
            logger.exception("no trace could be made of the run %r (%s)", roots[-1].name, roots[-1].id)
            return
        self._store(roots, trace)
        if self._on_trace is not None:
            try:
                self._on_trace(trace)
            except Exception:
                logger.exception("on_trace failed for the run %r (%s)", roots[-1].name, roots[-1].id)

    def _store(self, roots: Sequence[Run], trace: AgentTrace) -> None:
        key = str(roots[0].id)
        with self._lock:
            while len(roots) == 1 and key in self._traces:
                key += "+"  # a caller gave two runs the same id
            self._traces[key] = trace
            while self._keep is not None and len(self._traces) > self._keep:
                del self._traces[next(iter(self._traces))]
