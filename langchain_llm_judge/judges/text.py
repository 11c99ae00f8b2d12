"""What the judges of a single answer share: the one check by `GEval`, progress messages, their result."""

from __future__ import annotations

import inspect
import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from langchain_core.runnables import RunnableConfig

from langchain_llm_judge.config import checked_threshold
from langchain_llm_judge.judges.base import Flow, Judge
from langchain_llm_judge.models.offline import OfflineEngine
from langchain_llm_judge.models.replies import Rating
from langchain_llm_judge.models.structured import JudgeModel, Reply
from langchain_llm_judge.prompts import load_prompt
from langchain_llm_judge.results import EvaluationResult, Usage
from langchain_llm_judge.safety.fence import fence, fence_all, neutralize, nonce_for

Progress: TypeAlias = Callable[[str], Any]
"""Called with a message before each stage."""

_log = logging.getLogger(__name__)


class TextJudge(Judge[EvaluationResult]):
    """A judge of one answer to one question."""

    def evaluate(self, data: Any, on_progress: Progress | None = None) -> EvaluationResult:
        """Judge one answer.

        Args:
            data: `{"question": …, "answer": …}`; `input`, `query`, and `output`, `response`, `result` are read too.
            on_progress: Called with a message before each stage; an exception in it is logged and ignored. An
                async one is awaited by `aevaluate`.

        Raises:
            InputError: Question or answer is missing, no text, or blank.
            RetrievalError: The judge has a retriever, and it failed or found nothing.
            JudgeReplyError: The judge model gave no readable score, also after one re-ask.
            ModelCallError: The judge model could not be reached.
        """
        return self.invoke(data, on_progress=on_progress)

    async def aevaluate(self, data: Any, on_progress: Progress | None = None) -> EvaluationResult:
        """`evaluate` without blocking the event loop."""
        return await self.ainvoke(data, on_progress=on_progress)

    def update_threshold(self, threshold: float) -> None:
        """Set the passing threshold; evaluations under way keep the one they began with.

        Raises:
            ConfigError: `threshold` lies outside 0 to 1.
        """
        self.threshold = checked_threshold(threshold)

    @abstractmethod
    def _judge(self, case: Any, *, on_progress: Progress | None = None) -> Flow[EvaluationResult]:
        """The algorithm."""


@dataclass(frozen=True)
class Tell:
    """A message before a stage, as an effect; a listener that fails is none of the evaluation's business."""

    listener: Progress | None
    message: str

    def perform(self, config: RunnableConfig) -> None:
        """Tell it; a listener that can only be awaited is not."""
        told = self._told()
        if inspect.iscoroutine(told):
            told.close()
            _log.warning("on_progress is async and is only called by aevaluate and ainvoke")

    async def aperform(self, config: RunnableConfig) -> None:
        """Tell it, and await a listener that is async."""
        told = self._told()
        if inspect.isawaitable(told):
            try:
                await told
            except Exception:
                self._ignored()

    def _told(self) -> Any:
        try:
            return None if self.listener is None else self.listener(self.message)
        except Exception:
            self._ignored()

    def _ignored(self) -> None:
        _log.warning("on_progress(%r) raised and is ignored", self.message, exc_info=True)


class Check(NamedTuple):
    """What one check found and spent."""

    score: float
    """From 0 to 1."""
    reason: str
    usage: Usage = Usage()
    prompt_version: str | None = None
    """`None` where no model was asked."""


def load_bridge(model: JudgeModel | OfflineEngine) -> None:
    """Import DeepEval where it will be needed: it takes seconds, and an event loop must not wait for it."""
    if isinstance(model, JudgeModel):
        import langchain_llm_judge.models.deepeval  # noqa: F401


def geval(
    model: JudgeModel, name: str, template: str, parts: Mapping[str, str | None], passages: Sequence[str] | None = None
) -> Flow[Check]:
    """One check by DeepEval's `GEval` with the steps and rubric of a template, everything judged fenced."""
    from langchain_llm_judge.models.deepeval import Rate

    nonce = nonce_for(*(neutralize(text) for text in [*parts.values(), *(passages or [])] if text))
    slots = fence_all(parts, nonce=nonce)
    if passages is not None:
        shown = [fence(text, f"passage {place}", nonce=nonce) for place, text in enumerate(passages) if text.strip()]
        slots["passages"] = "\n".join(shown)
    prompt = load_prompt(template).fill(**slots)
    reply: Reply[Rating] = yield Rate(model, name, prompt, slots["question"], slots["answer"])
    return Check(reply.value.score, reply.value.reason, reply.usage, reply.prompt_version)


def text_result(*, score: float, reason: str, threshold: float, metadata: Mapping[str, Any]) -> EvaluationResult:
    """A text judge's result: `PASS` where the score reaches the threshold."""
    return EvaluationResult(
        status="PASS" if score >= threshold else "FAIL",
        score=score,
        reason=reason,
        metadata={**metadata, "threshold": threshold},
    )
