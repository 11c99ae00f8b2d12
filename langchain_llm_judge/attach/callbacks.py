"""Judging every run of a chain, graph or executor from a callback handler.

On the run's path the handler only notes events; the trace is made, and judged, in the background.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID, uuid5

from langchain_llm_judge.attach.background import Background, WhenFull
from langchain_llm_judge.attach.judging import Judges, Panelists, Verdicts, apart
from langchain_llm_judge.attach.langsmith import post_feedback
from langchain_llm_judge.config import Settings
from langchain_llm_judge.errors import ConfigError, LLMJudgeError, TraceError, shown
from langchain_llm_judge.trace.capture import RunCapture
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.recorded import read_run
from langchain_llm_judge.trace.schema import AgentTrace, TraceStatus

logger = logging.getLogger(__name__)

MAX_PENDING = 1000


@dataclass(frozen=True)
class JudgedRun:
    """One run, or one component of a run, and what the judges say of it."""

    run_id: UUID
    """Of the root run, the first one where a run was resumed; of the component's own run for components."""
    thread_id: str | None
    name: str | None
    """Name of the root run, or of the component as it was asked for."""
    trace: AgentTrace | None
    """`None` where no trace could be made; `errors` then says why."""
    evaluations: dict[str, Any] = field(default_factory=dict)
    """Name of the judge → its result; empty for runs that wait for a person or were stopped from outside."""
    errors: dict[str, LLMJudgeError] = field(default_factory=dict)
    """Name of the judge → why there is no result."""
    status: TraceStatus = "unknown"

    @property
    def passed(self) -> bool | None:
        """`False` if any judge fails the run, else `None` if any has no verdict, else `True`."""
        return Verdicts(self.evaluations, self.errors).passed


class JudgeCallbackHandler(RunCapture):
    """A callback handler that judges every root run when it ends.

    One object serves any number of concurrent runs, sync, async, in batches and threads. The run is not
    slowed, changed or broken by being judged: events are noted, all else happens in the background, and
    what goes wrong there is in the result's `errors`, or logged. A run that was interrupted is judged once, when it was
    resumed and came to its end; its record takes the place of the interrupted one's.

    Args:
        judges: One judge or a list of them. Every one sees the run's trace: text judges its task and final
            answer, RAG judges its retrieved passages too.
        background: `False` judges in the run's own thread, and delays its end by that.
        sample_rate: Share of the root runs that are judged, from 0 to 1; all runs of a thread or none.
        components: Name or tag of an inner run, or name of a graph's node → judges for that part of the run.
        on_result: Called with every `JudgedRun`, in a background thread; what it raises is logged.
        max_pending: Evaluations that may wait and run at once.
        when_full: Beyond that, `"drop"` drops and counts a run, `"wait"` holds the run up.
        keep: How many results `results` keeps, the latest ones; `None` keeps all.
        langsmith_feedback: Post the scores to LangSmith, where its tracing is on.
        raise_error: Judge in the foreground, and let errors of judges leave the run.
        rag: A retriever whose passages judges get where the run itself retrieved none.
        messages_key: Key of the messages in the graph's state; found by itself otherwise.
        task_key: Key of the question in the run's input.
        answer_key: Key of the answer in the run's output.

    Raises:
        ConfigError: Something that is no judge, or a setting out of its range.

    Example:
        >>> from langchain_core.runnables import RunnableLambda
        >>> from langchain_llm_judge import AgentJudge, JudgeCallbackHandler
        >>> with JudgeCallbackHandler(AgentJudge(grade=False)) as handler:
        ...     output = RunnableLambda(str.upper).invoke("hi", {"callbacks": [handler]})
        >>> handler.results[0].passed
        True
    """

    def __init__(
        self,
        judges: Judges,
        *,
        background: bool = True,
        sample_rate: float = 1.0,
        components: Mapping[str, Judges] | None = None,
        on_result: Callable[[JudgedRun], object] | None = None,
        max_pending: int = MAX_PENDING,
        when_full: WhenFull = "drop",
        keep: int | None = None,
        langsmith_feedback: bool = False,
        raise_error: bool = False,
        rag: Any = None,
        messages_key: str | None = None,
        task_key: str | None = None,
        answer_key: str | None = None,
    ) -> None:
        super().__init__()
        self.raise_error = raise_error
        self._panelists = Panelists(judges, rag) if judges or not components else None
        self._components = {name: Panelists(given, rag) for name, given in (components or {}).items()}
        self._options = TraceOptions(messages_key=messages_key, task_key=task_key, answer_key=answer_key)
        self._sample_rate = _checked("sample_rate", sample_rate, low=0, high=1)
        self._keep = None if keep is None else int(_checked("keep", keep, low=0))
        self._on_result = on_result
        self._langsmith_feedback = langsmith_feedback
        self._results: OrderedDict[tuple[UUID, str | None], JudgedRun] = OrderedDict()
        self._results_lock = threading.Lock()
        self._background = (
            Background(
                max_pending=int(_checked("max_pending", max_pending, low=1)),
                threads=Settings.from_environment().max_concurrency,
                when_full=when_full,
            )
            if background and not raise_error
            else None
        )

    @property
    def results(self) -> list[JudgedRun]:
        """What was judged so far, in the order in which it was."""
        with self._results_lock:
            return list(self._results.values())

    @property
    def dropped(self) -> int:
        """Runs that were not judged because `max_pending` was reached."""
        return self._background.dropped if self._background else 0

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every ended run is judged.

        Args:
            timeout: Seconds to wait at most; `None` waits as long as it takes.

        Returns:
            Whether nothing is left to judge.
        """
        return self._background.flush(timeout) if self._background else True

    def __enter__(self) -> JudgeCallbackHandler:
        """Use the handler; leaving waits for the verdicts."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until every ended run is judged."""
        self.flush()

    def on_root_end(self, roots: Sequence[Run]) -> None:
        """Have a run judged that has ended."""
        if not self._sampled(roots[0]):
            return
        if self._background:
            self._background.submit(lambda: self._judge(roots))
        else:
            apart(self._judge, roots)

    def _sampled(self, root: Run) -> bool:
        """Whether a run is one of those judged; decided by its thread, so that all halves of a run go together."""
        if self._sample_rate >= 1:
            return True
        return _share_of(root.thread_id or str(root.id)) < self._sample_rate

    def _judge(self, roots: Sequence[Run]) -> None:
        judged = [self._judged_run(roots)] if self._panelists else []
        for one in judged:
            self._deliver(one, None)
        for one in self._judged_components(roots):
            self._deliver(one, one.name)
            judged.append(one)
        failed = next((error for one in judged for error in one.errors.values()), None)
        if self.raise_error and failed is not None:
            raise failed

    def _judged_run(self, roots: Sequence[Run]) -> JudgedRun:
        return self._judged(roots, self._panelists, roots[0].name)

    def _judged(self, roots: Sequence[Run], panelists: Panelists | None, name: str | None) -> JudgedRun:
        record = partial(JudgedRun, _as_uuid(roots[0].id), roots[0].thread_id, name)
        try:
            trace = read_run(roots, self._options)
        except Exception as error:
            return record(None, errors={"trace": _no_trace(error)})
        verdicts = panelists.judge(trace) if panelists else Verdicts()
        return record(trace, verdicts.evaluations, verdicts.errors, trace.status)

    def _judged_components(self, roots: Sequence[Run]) -> list[JudgedRun]:
        judged = []
        for name, panelists in self._components.items():
            parts = [run for root in roots for run in _called(root, name)]
            judged += [self._judged([part], panelists, name) for part in parts]
            if not parts:
                judged.append(_not_seen(roots, name))
        return judged

    def _deliver(self, judged: JudgedRun, component: str | None) -> None:
        with self._results_lock:
            key = judged.run_id, component
            self._results.pop(key, None)  # a resumed run takes the place of its first half
            self._results[key] = judged
            while self._keep is not None and len(self._results) > self._keep:
                self._results.popitem(last=False)
        if self._langsmith_feedback:
            post_feedback(judged.run_id, judged.evaluations)
        if self._on_result is not None:
            try:
                self._on_result(judged)
            except Exception:
                logger.exception("on_result failed for the run %r (%s)", judged.name, judged.run_id)


def _checked(name: str, value: object, *, low: float, high: float = float("inf")) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ConfigError(f"{name}={shown(value)} is outside {low:g} to {high:g}")
    return value


def _share_of(identity: str) -> float:
    """A number from 0 to 1 that is the same for the same text, in every process."""
    return int(hashlib.sha256(identity.encode()).hexdigest()[:13], 16) / 16**13


def _as_uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


def _no_trace(error: Exception) -> LLMJudgeError:
    wrapped = TraceError(f"no trace could be made of the run: {type(error).__name__}: {shown(str(error))}")
    wrapped.__cause__ = error
    return wrapped


def _called(root: Run, name: str) -> list[Run]:
    """The runs of that name, node or tag."""
    runs = list(root.walk())
    # Tags are handed down to every run inside; the one that was tagged is the outermost.
    inherited = {child.id for run in runs if name in run.tags for child in run.children}
    return [run for run in runs if _is_named(run, name) or (name in run.tags and run.id not in inherited)]


def _is_named(run: Run, name: str) -> bool:
    return name == run.name or (run.is_node and run.metadata.get("langgraph_node") == name)


def _not_seen(roots: Sequence[Run], name: str) -> JudgedRun:
    """The record of a component that no run was: it says which names there were."""
    runs = [run for root in roots for run in root.walk()]
    names = sorted({run.name for run in runs if run.name} | {tag for run in runs for tag in run.tags if ":" not in tag})
    error = ConfigError(f"component {name!r} was not seen in the run {roots[0].name!r}; seen were {', '.join(names)}")
    return JudgedRun(
        run_id=uuid5(_as_uuid(roots[0].id), name),
        thread_id=roots[0].thread_id,
        name=name,
        trace=None,
        errors={name: error},
    )
