"""One configured judge for everything: grading, comparing, RAG, agents, arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from langchain_llm_judge.config import DEFAULT_THRESHOLD, checked_threshold
from langchain_llm_judge.judges.agent import AgentEvaluation, AgentJudge
from langchain_llm_judge.judges.arguments import ArgumentCorrectness, ArgumentCorrectnessJudge
from langchain_llm_judge.judges.criteria import DEFAULT_CRITERIA, Criterion, checked_criteria
from langchain_llm_judge.judges.grading import Grade, GradingJudge
from langchain_llm_judge.judges.pairwise import Comparison, PairwiseJudge
from langchain_llm_judge.judges.rag import RAGJudge
from langchain_llm_judge.judges.rag_verdicts import RAGEvaluation
from langchain_llm_judge.models.resolve import resolve_model


class LLMJudge:
    """One judge model with every judge on it.

    `judge.grading`, `.pairwise`, `.rag`, `.agent` and `.arguments` are the Runnables behind the methods.

    Args:
        model: A chat model or its name; see the README's table. `"offline"` judges RAG only.
        provider: litellm's name of the provider, where `model` is its bare model name.
        config_path: Ini file with the provider's key.
        temperature: From 0 to 2; `JUDGE_TEMPERATURE` by default.
        threshold: Lowest passing score, from 0 to 1.
        criteria: What `grade`, `compare` and `evaluate_agent` ask, in place of their defaults.
        rag: Retriever for `evaluate_rag` without contexts.

    Raises:
        ConfigError: A setting is not usable, or the model needs a key and none was found.
    """

    def __init__(
        self,
        model: BaseChatModel | str | Any | None = None,
        provider: str | None = None,
        *,
        config_path: str | Path | None = None,
        temperature: float | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        criteria: Iterable[Criterion | str] | None = None,
        rag: Any | None = None,
    ) -> None:
        self.threshold = checked_threshold(threshold)
        self.criteria = None if criteria is None else checked_criteria(criteria)
        self._model = resolve_model(model, provider, config_path=config_path, temperature=temperature)
        self._retriever = rag

    @cached_property
    def grading(self) -> GradingJudge:
        """Grades one output."""
        return GradingJudge(self._model, criteria=self.criteria, threshold=self.threshold)

    @cached_property
    def pairwise(self) -> PairwiseJudge:
        """Compares two outputs."""
        return PairwiseJudge(self._model, criteria=self.criteria)

    @cached_property
    def rag(self) -> RAGJudge:
        """Judges an answer against its passages."""
        return RAGJudge(self._model, rag=self._retriever, threshold=self.threshold)

    @cached_property
    def agent(self) -> AgentJudge:
        """Checks and grades an agent run."""
        return AgentJudge(self._model, criteria=self.criteria or DEFAULT_CRITERIA, threshold=self.threshold)

    @cached_property
    def arguments(self) -> ArgumentCorrectnessJudge:
        """Judges the arguments of tool calls."""
        return ArgumentCorrectnessJudge(self.threshold, self._model)

    def grade(
        self, task: str, output: str, *, criteria: Iterable[Criterion | str] | None = None, reference: str | None = None
    ) -> Grade:
        """How good is `output` for `task`? See `GradingJudge`."""
        return self.grading.invoke(_case(task=task, output=output, criteria=criteria, reference=reference))

    async def agrade(
        self, task: str, output: str, *, criteria: Iterable[Criterion | str] | None = None, reference: str | None = None
    ) -> Grade:
        """The async twin of `grade`."""
        return await self.grading.ainvoke(_case(task=task, output=output, criteria=criteria, reference=reference))

    def compare(
        self,
        task: str,
        output_a: str,
        output_b: str,
        *,
        criteria: Iterable[Criterion | str] | None = None,
        reference: str | None = None,
        swap: bool = True,
    ) -> Comparison:
        """Which of two outputs is better for `task`? See `PairwiseJudge`."""
        case = _case(task=task, output_a=output_a, output_b=output_b, criteria=criteria, reference=reference)
        return self.pairwise.invoke(case, swap=swap)

    async def acompare(
        self,
        task: str,
        output_a: str,
        output_b: str,
        *,
        criteria: Iterable[Criterion | str] | None = None,
        reference: str | None = None,
        swap: bool = True,
    ) -> Comparison:
        """The async twin of `compare`."""
        case = _case(task=task, output_a=output_a, output_b=output_b, criteria=criteria, reference=reference)
        return await self.pairwise.ainvoke(case, swap=swap)

    def evaluate_rag(
        self, question: str, contexts: Any | None = None, answer: str | None = None, reference: str | None = None
    ) -> RAGEvaluation:
        """Is `answer` supported by its passages? See `RAGJudge`."""
        return self.rag.invoke(self._rag_case(question, contexts, answer, reference))

    async def aevaluate_rag(
        self, question: str, contexts: Any | None = None, answer: str | None = None, reference: str | None = None
    ) -> RAGEvaluation:
        """The async twin of `evaluate_rag`."""
        return await self.rag.ainvoke(self._rag_case(question, contexts, answer, reference))

    def _rag_case(self, question: str, contexts: Any, answer: str | None, reference: str | None) -> dict[str, Any]:
        case = _case(question=question, contexts=contexts, answer=answer, reference=reference)
        # Without a retriever to ask, no contexts are what was given: there is nothing to judge by.
        return case if self._retriever is not None else {"contexts": None, **case}

    def evaluate_agent(
        self,
        trace: Any,
        *,
        reference: str | None = None,
        expected_tools: Sequence[str] = (),
        max_steps: int | None = None,
        criteria: Iterable[Criterion | str] | None = None,
    ) -> AgentEvaluation:
        """Was this agent run good? `trace` is anything `to_trace` takes. See `AgentJudge`."""
        return self.agent.invoke(
            trace, reference=reference, expected_tools=expected_tools, max_steps=max_steps, criteria=criteria
        )

    async def aevaluate_agent(
        self,
        trace: Any,
        *,
        reference: str | None = None,
        expected_tools: Sequence[str] = (),
        max_steps: int | None = None,
        criteria: Iterable[Criterion | str] | None = None,
    ) -> AgentEvaluation:
        """The async twin of `evaluate_agent`."""
        return await self.agent.ainvoke(
            trace, reference=reference, expected_tools=expected_tools, max_steps=max_steps, criteria=criteria
        )

    def evaluate_arguments(self, case: Any) -> ArgumentCorrectness:
        """Were the arguments of the tool calls right? See `ArgumentCorrectnessJudge`."""
        return self.arguments.invoke(case)

    async def aevaluate_arguments(self, case: Any) -> ArgumentCorrectness:
        """The async twin of `evaluate_arguments`."""
        return await self.arguments.ainvoke(case)


def _case(**fields: Any) -> dict[str, Any]:
    """A judge's input without the fields that were left out."""
    return {name: value for name, value in fields.items() if value is not None}
