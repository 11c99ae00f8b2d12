"""Agent runs: a deterministic report and a judged grade, side by side and apart from each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from langchain_llm_judge.checks.base import CheckReport
from langchain_llm_judge.checks.run import run_checks
from langchain_llm_judge.config import DEFAULT_THRESHOLD
from langchain_llm_judge.judges.base import Ask, Flow, Judge
from langchain_llm_judge.judges.criteria import (
    DEFAULT_CRITERIA,
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
from langchain_llm_judge.judges.inputs import optional_text
from langchain_llm_judge.judges.transcript import content_of, status_text, tools_text, transcript
from langchain_llm_judge.models.resolve import resolve_chat_model
from langchain_llm_judge.models.structured import Reply
from langchain_llm_judge.prompts import FilledPrompt, load_prompt
from langchain_llm_judge.results import Feedback, Result, Usage
from langchain_llm_judge.safety.fence import fence_all
from langchain_llm_judge.safety.injection import InjectionFinding, scan_parts
from langchain_llm_judge.trace.convert import to_trace
from langchain_llm_judge.trace.schema import AgentTrace

UNGRADED = frozenset({"paused", "cancelled", "abandoned"})
"""Runs that did not come to their end; grading them would blame the agent for what it was kept from doing."""


class AgentGrade(Result):
    """The judged half of an agent evaluation."""

    criteria: dict[str, CriterionGrade]
    score: float
    """Weighted mean of the criteria's scores, from 0 to 1."""
    passed: bool
    """Whether `score` reaches the threshold."""
    threshold: float
    reason: str
    """The arithmetic behind `score`, criterion by criterion."""


class AgentEvaluation(Result):
    """Two separate assessments of one run."""

    checks: CheckReport
    """What can be settled without a model; never changes the grade."""
    grade: AgentGrade | None
    """`None` when no grade was asked for, or the run cannot be graded; `notes` says which."""
    passed: bool | None
    """The grade's verdict, or the checks' where no grade was asked for; `None` where there is none."""
    trace: AgentTrace
    injection: list[InjectionFinding]
    """Findings of the scan in what the judge read; they change no score."""
    notes: list[str]
    """Codes: `not_graded_paused`, `not_graded_cancelled`, `not_graded_abandoned`, `grade_off`."""
    usage: Usage
    judge: str | None
    """The judge model; `None` when none was asked."""
    prompt_version: str | None

    def feedback(self) -> list[Feedback]:
        """The checks' scores, then the grade and its criteria."""
        scores = self.checks.feedback()
        metadata = {"judge": self.judge, "prompt_version": self.prompt_version, "notes": self.notes}
        if self.grade is None:
            comment = f"not graded: {', '.join(self.notes)}"
            return [*scores, Feedback(key="agent", score=None, comment=comment, metadata=metadata)]
        return [*scores, *grade_feedback(self.grade, key="agent", comment=self.grade.reason, metadata=metadata)]


class AgentJudge(Judge[AgentEvaluation]):
    """Was this agent run good? Deterministic checks, and a grade by a judge model.

    The grade: every criterion on five anchored levels, the score their weighted mean from 0 to 1,
    higher is better. Cost: one model call a run; none with `grade=False` or for runs that were
    paused, cancelled or abandoned.

    Input: anything `to_trace` takes, or `{"trace" | "messages": …, "reference": …}`.

    Args:
        model: A chat model or its name; see the README's table. Not needed with `grade=False`.
        provider: litellm's name of the provider, where `model` is its bare model name.
        criteria: What to grade; `Criterion` objects or `"Name: what it asks"`.
        expected_tools: Tools that must have been called; a check, not a criterion.
        max_steps: Tool calls allowed; a check, not a criterion.
        threshold: Lowest passing grade, from 0 to 1.
        grade: `False` runs the checks only.
        config_path: Ini file with the provider's key.

    Raises:
        ConfigError: A setting is not usable, or the model needs a key and none was found.

    References:
        Prompt `agent`.

    Example:
        >>> from langchain_llm_judge import AgentJudge
        >>> run = {"task": "Say hi", "steps": [], "final_answer": "hi"}
        >>> AgentJudge(grade=False).invoke(run).passed
        True
    """

    def __init__(
        self,
        model: BaseChatModel | str | Any | None = None,
        provider: str | None = None,
        *,
        criteria: Iterable[Criterion | str] = DEFAULT_CRITERIA,
        expected_tools: Sequence[str] = (),
        max_steps: int | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        grade: bool = True,
        temperature: float | None = None,
        config_path: str | Path | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(threshold=threshold, name=name)
        self.criteria = checked_criteria(criteria)
        self.expected_tools = tuple(expected_tools)
        self.max_steps = max_steps
        self._model = (
            resolve_chat_model(
                model, provider, config_path=config_path, temperature=temperature, purpose="grade agent runs"
            )
            if grade
            else None
        )

    def _judge(
        self,
        case: Any,
        *,
        reference: str | None = None,
        expected_tools: Sequence[str] | None = None,
        max_steps: int | None = None,
        criteria: Iterable[Criterion | str] | None = None,
    ) -> Flow[AgentEvaluation]:
        trace, given_reference = _trace_and_reference(case)
        asked = self.criteria if criteria is None else checked_criteria(criteria)
        checks = run_checks(
            trace,
            expected_tools=self.expected_tools if expected_tools is None else expected_tools,
            max_steps=self.max_steps if max_steps is None else max_steps,
        )
        if self._model is None or trace.status in UNGRADED:
            return self._ungraded(trace, checks)
        reference = reference or given_reference
        reply: Reply[dict[str, CriterionGrade]] = yield Ask(
            self._model, _prompt(trace, reference, asked), GradeReply, lambda answer: read_grades(asked, answer)
        )
        return self._graded(trace, checks, asked, reply, _scanned(trace, reference))

    def _ungraded(self, trace: AgentTrace, checks: CheckReport) -> AgentEvaluation:
        return AgentEvaluation(
            checks=checks,
            grade=None,
            passed=checks.passed if self._model is None else None,
            trace=trace,
            injection=_scanned(trace, None),
            notes=["grade_off" if self._model is None else f"not_graded_{trace.status}"],
            usage=Usage(),
            judge=None,
            prompt_version=None,
        )

    def _graded(
        self,
        trace: AgentTrace,
        checks: CheckReport,
        criteria: Sequence[Criterion],
        reply: Reply[dict[str, CriterionGrade]],
        injection: list[InjectionFinding],
    ) -> AgentEvaluation:
        score = weighted_mean(criteria, reply.value)
        grade = AgentGrade(
            criteria=reply.value,
            score=score,
            passed=score >= self.threshold,
            threshold=self.threshold,
            reason=arithmetic(criteria, reply.value),
        )
        return AgentEvaluation(
            checks=checks,
            grade=grade,
            passed=grade.passed,
            trace=trace,
            injection=injection,
            notes=[],
            usage=reply.usage,
            judge=self._model.label if self._model else None,
            prompt_version=reply.prompt_version,
        )

    def _example(self, inputs: Any, outputs: Any, reference_outputs: Any) -> Any:
        reference = super()._example(None, None, reference_outputs).get("reference")
        run = outputs if outputs is not None else inputs
        if isinstance(run, Mapping) and not ({"trace", "messages"} & set(run)) and "steps" not in run:
            run = {**(inputs if isinstance(inputs, Mapping) else {}), **run}
        return {"trace": run, "reference": reference}

    def _settings(self) -> dict[str, Any]:
        return {
            **(self._model.identity() if self._model else {"model": None}),
            "prompt": load_prompt("agent").version,
            "criteria": [criterion.model_dump() for criterion in self.criteria],
            "expected_tools": list(self.expected_tools),
            "max_steps": self.max_steps,
        }


def _trace_and_reference(case: Any) -> tuple[AgentTrace, str | None]:
    """The trace, and the reference where the input carries one."""
    if not isinstance(case, Mapping):
        return to_trace(case), None
    reference = optional_text(case, "reference")
    if "trace" in case:
        return to_trace(case["trace"]), reference
    run = {key: value for key, value in case.items() if key != "reference"} if "reference" in case else case
    return to_trace(run), reference


def _scanned(trace: AgentTrace, reference: str | None) -> list[InjectionFinding]:
    """What the scan finds in everything of this run that the data controls, each finding with its place."""
    parts = {"task": trace.task, "final_answer": trace.final_answer or "", "reference": reference or ""}
    for path, run in trace.walk():
        for number, step in enumerate(run.steps):
            place = "/".join((*path, f"steps[{number}]"))
            parts[place] = content_of(step)
    return scan_parts(parts)


def _prompt(trace: AgentTrace, reference: str | None, criteria: Sequence[Criterion]) -> FilledPrompt:
    parts = {
        "task": trace.task,
        "tools": tools_text(trace),
        "status": status_text(trace),
        "steps": transcript(trace),
        "answer": trace.final_answer,
        "reference": reference,
    }
    return load_prompt("agent").fill(criteria=criteria_text(criteria), **fence_all(parts))
