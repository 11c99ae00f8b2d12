"""Does an answer stay with the question it was given?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from langchain_llm_judge.config import DEFAULT_MODEL, DEFAULT_PROVIDER, DEFAULT_THRESHOLD
from langchain_llm_judge.judges.base import Flow
from langchain_llm_judge.judges.inputs import question_and_answer
from langchain_llm_judge.judges.text import Check, Progress, Tell, TextJudge, geval, load_bridge, text_result
from langchain_llm_judge.models.offline import OfflineEngine
from langchain_llm_judge.models.resolve import resolve_model
from langchain_llm_judge.prompts import load_prompt
from langchain_llm_judge.results import EvaluationResult
from langchain_llm_judge.safety.injection import scan_parts


class RelevancyAgent(TextJudge):
    """Does the answer address the question directly?

    Off-topic text is penalised; helpful context beside the point that was asked for is not. Whether the
    answer is true plays no part. Built on DeepEval's `GEval`.

    Score: whole number of the judge / 10, or the mean weighted by log-probabilities where the model gives
    them; from 0 to 1, higher is better. Passes at `threshold`. Cost: one model call; none with
    `model="offline"`.

    Input: `{"question", "answer"}`, a trace, or a graph's state with messages.

    Args:
        config_path: Ini file with the provider's key.
        provider: litellm's name of the provider; plays no part where `model` is a model object.
        model: A chat model or its name, or `"offline"` for the embedded engine; see the README's table.
        threshold: Lowest passing score, from 0 to 1.
        temperature: From 0 to 2; `JUDGE_TEMPERATURE` by default.

    Raises:
        ConfigError: A setting is not usable, or the model needs a key and none was found.

    References:
        Prompt `relevancy`. Method after Liu et al. (2023), G-Eval.

    Example:
        >>> from langchain_llm_judge import RelevancyAgent
        >>> from langchain_llm_judge.testing import ScriptedJudgeModel
        >>> agent = RelevancyAgent(model=ScriptedJudgeModel([{"score": 9, "reason": "It names the city."}]))
        >>> result = agent.evaluate({"question": "What is the capital of France?", "answer": "Paris."})
        >>> result["status"], result["score"]
        ('PASS', 0.9)
    """

    def __init__(
        self,
        config_path: str | Path | None = None,
        provider: str | None = DEFAULT_PROVIDER,
        model: BaseChatModel | str | Any | None = DEFAULT_MODEL,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        temperature: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(threshold=threshold, name=name)
        self._model = resolve_model(model, provider, config_path=config_path, temperature=temperature)
        load_bridge(self._model)

    def _judge(self, case: Any, *, on_progress: Progress | None = None) -> Flow[EvaluationResult]:
        threshold = self.threshold
        question, answer = question_and_answer(case)
        check = yield from self.check(question, answer, on_progress)
        return text_result(
            score=check.score,
            reason=check.reason,
            threshold=threshold,
            metadata={
                "relevancy": check.score,
                "factual": None,
                "grounded": False,
                "contexts": [],
                "injection": scan_parts({"question": question, "answer": answer}),
                "judge": self._model.label,
                "usage": check.usage,
                "prompt_version": check.prompt_version,
            },
        )

    def check(self, question: str, answer: str, on_progress: Progress | None = None) -> Flow[Check]:
        """The score alone, as a part of another judge's flow."""
        yield Tell(on_progress, "Checking relevancy")
        if isinstance(self._model, OfflineEngine):
            found = self._model.answer_relevance(question, answer)
            return Check(found.score, found.reason)
        return (yield from geval(self._model, "Relevancy", "relevancy", {"question": question, "answer": answer}))

    def _settings(self) -> dict[str, Any]:
        return {**self._model.identity(), "prompt": load_prompt("relevancy").version}
