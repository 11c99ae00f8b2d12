"""Letting several judges look at one run: each on its own, a failure of one kept as its error."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig

from langchain_llm_judge.errors import ConfigError, LLMJudgeError, shown
from langchain_llm_judge.judges.panel import named_apart
from langchain_llm_judge.results import all_passed
from langchain_llm_judge.retrieval import as_provider
from langchain_llm_judge.trace.schema import AgentTrace

Judges: TypeAlias = "Runnable[Any, Any] | Sequence[Runnable[Any, Any]]"
"""One judge, or several."""


NOT_OVER = frozenset({"paused", "cancelled", "abandoned"})
"""How runs end that are not judged: they were kept from coming to their end."""


@dataclass(frozen=True)
class Verdicts:
    """What several judges said of one run."""

    evaluations: dict[str, Any] = field(default_factory=dict)
    """Name of the judge → its result."""
    errors: dict[str, LLMJudgeError] = field(default_factory=dict)
    """Name of the judge → why there is no result."""

    @property
    def passed(self) -> bool | None:
        """`False` if any judge fails the run, else `None` if any has no verdict, else `True`."""
        verdict = all_passed(self.evaluations.values())
        return None if self.errors and verdict is not False else verdict


def checked_judges(judges: Judges) -> dict[str, Runnable[Any, Any]]:
    """The judges by name.

    Raises:
        ConfigError: There is none, or one is no judge.
    """
    given: object = [judges] if isinstance(judges, Runnable) else judges
    if not isinstance(given, list | tuple) or not given:
        raise ConfigError(f"judges={shown(judges)} holds no judge; give one such as AgentJudge(…), or a list of them")
    for judge in given:
        if not isinstance(judge, Runnable):
            raise ConfigError(f"{shown(judge)} is no judge; give a Runnable such as AgentJudge(…)")
    return named_apart(list(given))


def judge_all(judges: Mapping[str, Runnable[Any, Any]], case: Any, config: RunnableConfig | None = None) -> Verdicts:
    """Every judge's verdict on the case, one after the other."""
    verdicts = Verdicts()
    for name, judge in judges.items():
        try:
            verdicts.evaluations[name] = judge.invoke(case, config)
        except Exception as error:
            verdicts.errors[name] = as_judge_error(name, error)
    return verdicts


async def ajudge_all(
    judges: Mapping[str, Runnable[Any, Any]], case: Any, config: RunnableConfig | None = None
) -> Verdicts:
    """Every judge's verdict on the case, at once."""
    answers = await asyncio.gather(*(judge.ainvoke(case, config) for judge in judges.values()), return_exceptions=True)
    verdicts = Verdicts()
    for name, answer in zip(judges, answers, strict=True):
        if isinstance(answer, Exception):
            verdicts.errors[name] = as_judge_error(name, answer)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            verdicts.evaluations[name] = answer
    return verdicts


def as_judge_error(name: str, error: Exception) -> LLMJudgeError:
    """The error as one of this package's, so that callers meet one kind."""
    if isinstance(error, LLMJudgeError):
        return error
    wrapped = LLMJudgeError(f"judge {name!r} raised {type(error).__name__}: {shown(str(error))}")
    wrapped.__cause__ = error
    return wrapped


class Panelists:
    """Judges that look at traces of runs, each on its own.

    Args:
        judges: One judge or a list of them.
        rag: A retriever whose passages they get where the run itself retrieved none.

    Raises:
        ConfigError: No judges, or `rag` cannot be searched.
    """

    def __init__(self, judges: Judges, rag: Any = None) -> None:
        self.judges = checked_judges(judges)
        self._rag = None if rag is None else as_provider(rag)

    def judge(self, trace: AgentTrace | None) -> Verdicts:
        """The verdicts on a run; none for a run that did not come to its end, or that left no trace."""
        if trace is None or trace.status in NOT_OVER:
            return Verdicts()
        try:
            passages = self._rag.retrieve(trace.task) if self._rag and not trace.contexts else []
        except Exception as error:
            return self._all_failed(error)
        return judge_all(self.judges, _grounded(trace, passages))

    async def ajudge(self, trace: AgentTrace | None) -> Verdicts:
        """Like `judge`, without blocking the event loop."""
        if trace is None or trace.status in NOT_OVER:
            return Verdicts()
        try:
            passages = await self._rag.aretrieve(trace.task) if self._rag and not trace.contexts else []
        except Exception as error:
            return self._all_failed(error)
        return await ajudge_all(self.judges, _grounded(trace, passages))

    def _all_failed(self, error: Exception) -> Verdicts:
        return Verdicts(errors={name: as_judge_error(name, error) for name in self.judges})


def _grounded(trace: AgentTrace, passages: Sequence[Document]) -> AgentTrace:
    """The trace with retrieved passages, where the run itself retrieved none."""
    if not passages:
        return trace
    return trace.model_copy(update={"contexts": [passage.page_content for passage in passages]})


def apart(work: Callable[..., Any], *args: Any) -> Any:
    """Call `work` outside the run that is going on, so that nothing of the judging becomes part of that run."""
    return contextvars.Context().run(work, *args)
