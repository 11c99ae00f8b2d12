"""Is an answer right: by the judge's own knowledge, or by passages that are retrieved for the question?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from langchain_llm_judge.config import DEFAULT_MODEL, DEFAULT_PROVIDER, DEFAULT_THRESHOLD
from langchain_llm_judge.errors import UnsupportedByEngineError
from langchain_llm_judge.judges.base import Flow, Retrieve, Run, Together
from langchain_llm_judge.judges.inputs import as_fields, optional_text, question_and_answer
from langchain_llm_judge.judges.relevancy import RelevancyAgent
from langchain_llm_judge.judges.text import Check, Progress, Tell, TextJudge, geval, load_bridge, text_result
from langchain_llm_judge.models.offline import OfflineEngine
from langchain_llm_judge.models.resolve import resolve_model
from langchain_llm_judge.models.structured import JudgeModel
from langchain_llm_judge.prompts import load_prompt
from langchain_llm_judge.results import EvaluationResult
from langchain_llm_judge.retrieval import as_provider
from langchain_llm_judge.safety.injection import scan_parts

RELEVANCY_WEIGHT = 0.4
FACTUAL_WEIGHT = 0.6


class AccuracyAgent(TextJudge):
    """Is the answer factually right, and does it address the question?

    Two checks by DeepEval's `GEval`: relevancy (a `RelevancyAgent`) and factual accuracy. Without `rag` the
    judge rates facts by its own knowledge, leniently towards short right answers. With `rag` the
    retrieved passages, all of them in rank order, are the source of truth: an answer that contradicts them
    or goes beyond them fails, however plausible.

    Score: 0.4 * relevancy + 0.6 * factual, from 0 to 1, higher is better. Passes at `threshold`. Cost: two
    model calls, one after the other in `evaluate` and `invoke`, at once in `aevaluate` and `ainvoke`; none
    with `model="offline"`, which needs `rag`.

    Input: `{"question", "answer", "reference"?}`, a trace, or a graph's state with messages. A reference answer is
    shown to the judge as right; the embedded engine goes by the passages alone.

    Args:
        config_path: Ini file with the provider's key.
        provider: litellm's name of the provider; plays no part where `model` is a model object.
        model: A chat model or its name, or `"offline"` for the embedded engine; see the README's table.
        rag: A `RAGProvider`, or any retriever.
        threshold: Lowest passing score, from 0 to 1.
        temperature: From 0 to 2; `JUDGE_TEMPERATURE` by default.

    Raises:
        ConfigError: A setting is not usable, or the model needs a key and none was found.
        UnsupportedByEngineError: `model="offline"` without `rag`.

    References:
        Prompts `relevancy`, `accuracy`, `accuracy_grounded`. Method after Liu et al. (2023), G-Eval.

    Example:
        >>> from langchain_llm_judge import AccuracyAgent
        >>> agent = AccuracyAgent(model="offline", rag=lambda query: ["The Eiffel Tower stands in Paris."])
        >>> agent.evaluate({"question": "Where is the Eiffel Tower?", "answer": "It stands in Paris."})["status"]
        'PASS'
    """

    def __init__(
        self,
        config_path: str | Path | None = None,
        provider: str | None = DEFAULT_PROVIDER,
        model: BaseChatModel | str | Any | None = DEFAULT_MODEL,
        rag: Any | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        temperature: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(threshold=threshold, name=name)
        self.rag = None if rag is None else as_provider(rag)
        self._model = resolve_model(model, provider, config_path=config_path, temperature=temperature)
        if isinstance(self._model, OfflineEngine) and self.rag is None:
            raise self._model.refuse("accuracy without a retriever")
        load_bridge(self._model)
        self.relevancy = RelevancyAgent(model=self._model, threshold=threshold)

    def update_threshold(self, threshold: float) -> None:
        """Set the passing threshold, also of the inner `RelevancyAgent`; evaluations under way keep theirs.

        Raises:
            ConfigError: `threshold` lies outside 0 to 1.
        """
        super().update_threshold(threshold)
        self.relevancy.update_threshold(threshold)

    def _judge(self, case: Any, *, on_progress: Progress | None = None) -> Flow[EvaluationResult]:
        threshold = self.threshold
        question, answer = question_and_answer(case)
        parts = {"question": question, "answer": answer, "reference": optional_text(as_fields(case), "reference")}
        passages = yield from self._passages(question, on_progress)
        relevancy, factual = yield from self._checks(question, answer, parts, passages, on_progress)
        contexts = passages or []
        score = combined(relevancy.score, factual.score)
        return text_result(
            score=score,
            reason=f"Relevancy ({relevancy.score:.2f}): {relevancy.reason} | "
            f"Factual ({factual.score:.2f}): {factual.reason}",
            threshold=threshold,
            metadata={
                "relevancy": relevancy.score,
                "factual": factual.score,
                "grounded": bool(contexts),
                "contexts": contexts,
                "injection": scan_parts({**parts, **{f"contexts[{i}]": text for i, text in enumerate(contexts)}}),
                "judge": self._model.label,
                "usage": relevancy.usage + factual.usage,
                "prompt_version": _versions(relevancy, factual),
            },
        )

    def _passages(self, question: str, on_progress: Progress | None) -> Flow[list[str] | None]:
        """The texts of all retrieved passages, in rank order; `None` where the judge goes by its own knowledge."""
        if self.rag is None:
            return None
        yield Tell(on_progress, "Retrieving passages")
        documents = self.rag.demanded(question, (yield Retrieve(self.rag, question)))
        return [document.page_content for document in documents] or None

    def _checks(
        self,
        question: str,
        answer: str,
        parts: Mapping[str, str | None],
        passages: list[str] | None,
        on_progress: Progress | None,
    ) -> Flow[tuple[Check, Check]]:
        """Relevancy and factual accuracy."""
        if isinstance(self._model, OfflineEngine):
            return (yield from _by_engine(self._model, question, answer, passages, on_progress))
        relevancy: Check
        factual: Check
        relevancy, factual = yield Together(
            [
                Run(partial(self.relevancy.check, question, answer, on_progress)),
                Run(partial(_factual, self._model, parts, passages, on_progress)),
            ]
        )
        return relevancy, factual

    def _settings(self) -> dict[str, Any]:
        names = ("relevancy", "accuracy" if self.rag is None else "accuracy_grounded")
        return {
            **self._model.identity(),
            "prompts": [load_prompt(name).version for name in names],
            "rag": None if self.rag is None else {"k": self.rag.k, "on_empty": self.rag.on_empty},
        }


def _factual(
    model: JudgeModel, parts: Mapping[str, str | None], passages: list[str] | None, on_progress: Progress | None
) -> Flow[Check]:
    yield Tell(on_progress, "Judging factual accuracy")
    template = "accuracy" if passages is None else "accuracy_grounded"
    return (yield from geval(model, "Factual accuracy", template, parts, passages))


def _by_engine(
    engine: OfflineEngine, question: str, answer: str, passages: Sequence[str] | None, on_progress: Progress | None
) -> Flow[tuple[Check, Check]]:
    if passages is None:
        raise engine.refuse("accuracy where nothing was retrieved")
    yield Tell(on_progress, "Checking relevancy")
    yield Tell(on_progress, "Judging factual accuracy")
    found = engine.grounded_accuracy(question, answer, passages)
    if found.factual is None:
        raise UnsupportedByEngineError(
            f"the embedded engine (model='offline') finds no claim in the answer that words can settle: "
            f"{found.factual_reason}; give a chat model"
        )
    return Check(found.relevancy, found.relevancy_reason), Check(found.factual, found.factual_reason)


def combined(relevancy: float, factual: float) -> float:
    """0.4 * relevancy + 0.6 * factual, without the noise of binary fractions."""
    return round(RELEVANCY_WEIGHT * relevancy + FACTUAL_WEIGHT * factual, 10)


def _versions(*checks: Check) -> str | None:
    return ", ".join(check.prompt_version for check in checks if check.prompt_version) or None
