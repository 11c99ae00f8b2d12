"""Letting several judges look at one run: each on its own, a failure of one kept as its error."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig

from langchain_llm_judge.errors import ConfigError, LLMJudgeError, shown
from langchain_llm_judge.judges.panel import named_apart
from langchain_llm_judge.results import all_passed
from langchain_llm_judge.retrieval import RAGProvider
from langchain_llm_judge.trace.schema import AgentTrace

logger = logging.getLogger(__name__)

Judges: TypeAlias = "Runnable[Any, Any] | Sequence[Runnable[Any, Any]]"
"""One judge, or several."""


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


def grounded(trace: AgentTrace, rag: RAGProvider | None) -> AgentTrace:
    """The trace with retrieved passages, where the run itself retrieved none and there is a retriever."""
    if rag is None or trace.contexts:
        return trace
    return trace.model_copy(update={"contexts": [document.page_content for document in rag.retrieve(trace.task)]})


def apart(work: Callable[..., Any], *args: Any) -> Any:
    """Call `work` outside the run that is going on, so that nothing of the judging becomes part of that run."""
    return contextvars.Context().run(work, *args)
