"""Grading one output on criteria with anchored levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from langchain_llm_judge.config import DEFAULT_THRESHOLD
from langchain_llm_judge.judges.base import Ask, Flow, Judge
from langchain_llm_judge.judges.criteria import (
    QUALITY,
    Criterion,
    CriterionGrade,
    GradeReply,
    arithmetic,
    checked_criteria,
    criteria_text,
    grade_feedback,
    read_grades,
    weighted_mean,
)
from langchain_llm_judge.judges.inputs import ANSWER, QUESTION, as_fields, optional_text, required_text
from langchain_llm_judge.models.resolve import resolve_chat_model
from langchain_llm_judge.models.structured import Reply
from langchain_llm_judge.prompts import load_prompt
from langchain_llm_judge.results import Feedback, Result, Usage
from langchain_llm_judge.safety.fence import fence_all
from langchain_llm_judge.safety.injection import InjectionFinding, scan_parts

TASK = ("task", *QUESTION)
OUTPUT = ("output", *(name for name in ANSWER if name != "output"))


class Grade(Result):
    """A grade of one output."""

    score: float
    """Weighted mean of the criteria's scores, from 0 to 1."""
    criteria: dict[str, CriterionGrade]
    reason: str
    """The arithmetic behind `score`, criterion by criterion."""
    passed: bool
    """Whether `score` reaches the threshold."""
    threshold: float
    injection: list[InjectionFinding]
    """Findings of the scan in task, output and reference; they change no score."""
    usage: Usage
    judge: str
    prompt_version: str

    def feedback(self) -> list[Feedback]:
        """The overall score and one for each criterion."""
        metadata = {"judge": self.judge, "prompt_version": self.prompt_version, "threshold": self.threshold}
        return grade_feedback(self, key="grade", comment=self.reason, metadata=metadata)


class GradingJudge(Judge[Grade]):
    """How good is this output for its task?

    Score: weighted mean of the criteria, each on five anchored levels from 0 to 1, higher is better.
    Passes at `threshold`. Cost: one model call.

    Input: `{"task", "output", "reference"?, "criteria"?}`.

    Args:
        model: A chat model or its name; see the README's table.
        provider: litellm's name of the provider, where `model` is its bare model name.
        criteria: What to grade; `Criterion` objects or `"Name: what it asks"`. Default: `Quality`.
        threshold: Lowest passing score, from 0 to 1.
        temperature: From 0 to 2; `JUDGE_TEMPERATURE` by default.
        config_path: Ini file with the provider's key.

    Raises:
        ConfigError: A setting is not usable, or the model needs a key and none was found.

    References:
        Prompt `grade`.
    """

    def __init__(
        self,
        model: BaseChatModel | str | Any | None = None,
        provider: str | None = None,
        *,
        criteria: Iterable[Criterion | str] | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        temperature: float | None = None,
        config_path: str | Path | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(threshold=threshold, name=name)
        self.criteria = QUALITY if criteria is None else checked_criteria(criteria)
        self._model = resolve_chat_model(
            model, provider, config_path=config_path, temperature=temperature, purpose="grade outputs"
        )

    def _judge(self, case: Any) -> Flow[Grade]:
        fields = as_fields(case)
        asked = criteria_of(fields, self.criteria)
        parts = {
            "task": required_text(fields, TASK),
            "output": required_text(fields, OUTPUT),
            "reference": optional_text(fields, "reference"),
        }
        prompt = load_prompt("grade").fill(criteria=criteria_text(asked), **fence_all(parts))
        reply: Reply[dict[str, CriterionGrade]] = yield Ask(
            self._model, prompt, GradeReply, lambda answer: read_grades(asked, answer)
        )
        return self._grade(asked, reply, scan_parts(parts))

    def _grade(
        self,
        criteria: Sequence[Criterion],
        reply: Reply[dict[str, CriterionGrade]],
        injection: list[InjectionFinding],
    ) -> Grade:
        score = weighted_mean(criteria, reply.value)
        return Grade(
            score=score,
            criteria=reply.value,
            reason=arithmetic(criteria, reply.value),
            passed=score >= self.threshold,
            threshold=self.threshold,
            injection=injection,
            usage=reply.usage,
            judge=self._model.label,
            prompt_version=reply.prompt_version,
        )

    def _settings(self) -> dict[str, Any]:
        return {
            **self._model.identity(),
            "prompt": load_prompt("grade").version,
            "criteria": [criterion.model_dump() for criterion in self.criteria],
        }


def criteria_of(fields: Mapping[str, Any], own: Sequence[Criterion]) -> Sequence[Criterion]:
    """The criteria an input carries, which replace the judge's own."""
    given = fields.get("criteria")
    return own if given is None else checked_criteria(given)
