"""Criteria with anchored levels: what a grading judge is asked, and how its levels become a score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from langchain_llm_judge.errors import ConfigError, shown
from langchain_llm_judge.models.replies import Level5, Reason, ReplySchema, one_per_id
from langchain_llm_judge.results import Feedback, Result

LEVELS = 5


class Criterion(BaseModel):
    """One thing a judge grades, on five anchored levels.

    Example:
        >>> Criterion("Tone", "Is the answer polite?").weight
        1.0
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str = Field(min_length=1)
    description: str
    """What is asked, in a sentence or two."""
    levels: tuple[str, ...] = Field(
        default=("not at all", "hardly", "in part", "mostly", "fully"), min_length=LEVELS, max_length=LEVELS
    )
    """What each level means, lowest first; they count as evenly spaced from 0 to 1."""
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """Share in the mean, relative to the other criteria's."""

    def __init__(self, name: str, description: str, **settings: Any) -> None:
        try:
            super().__init__(name=name, description=description, **settings)
        except ValidationError as error:
            faults = "; ".join(f"{fault['loc'][0]}: {fault['msg']}" for fault in error.errors())
            raise ConfigError(f"criterion {shown(name)} is not usable: {faults}") from error


DEFAULT_CRITERIA = (
    Criterion(
        name="Task Completion",
        description="Did the agent do what the task asked, all of it and nothing against it?",
        levels=(
            "nothing that was asked was done, or the opposite",
            "little of it was done, or it was done wrongly",
            "a real part was done and a real part is missing or wrong",
            "all but a small matter was done",
            "everything that was asked was done",
        ),
    ),
    Criterion(
        name="Tool Selection",
        description="Of the tools offered, were the right ones called, and none missing or beside the point?",
        levels=(
            "the calls have nothing to do with the task, or none was made where the task needs one",
            "most calls were of the wrong tools",
            "right and wrong choices about equally",
            "the right tools but for one lesser choice",
            "every call was of the right tool, and no needed call is missing",
        ),
    ),
    Criterion(
        name="Step Efficiency",
        description="Was the task done without needless, repeated or circling steps?",
        levels=(
            "steps circle without progress",
            "most steps were needless",
            "about half of the steps were needless",
            "one or two needless steps",
            "no step could be left out",
        ),
    ),
)
"""What an agent is graded on by default."""

QUALITY = (
    Criterion(
        name="Quality",
        description="Is the output right, complete and to the point for the task?",
        levels=(
            "wrong or beside the task",
            "mostly wrong, or most of it missing",
            "right in part, with a real error or gap",
            "right but for a small error or gap, or longer than it need be",
            "right, complete and to the point",
        ),
    ),
)
"""What `grade` and `compare` ask by default."""


class CriterionGrade(Result):
    """A judge's grade on one criterion."""

    score: float
    """(level - 1) / 4, from 0 to 1."""
    level: int
    """From 1 to 5."""
    reason: str


class CriterionReply(ReplySchema):
    """One criterion as the judge answers it."""

    name: str = Field(description="name of the criterion, as given")
    level: Level5
    reason: Reason = ""


class GradeReply(ReplySchema):
    """A judge's reply to a list of criteria."""

    criteria: list[CriterionReply] = Field(description="one entry for each criterion, in the order given")


class Graded(Protocol):
    """Any result that carries grades by criterion."""

    @property
    def criteria(self) -> Mapping[str, CriterionGrade]:
        """Name of the criterion → its grade."""

    @property
    def score(self) -> float:
        """The overall score, from 0 to 1."""


def checked_criteria(criteria: Iterable[Criterion | str | Mapping[str, Any]]) -> tuple[Criterion, ...]:
    """Criteria as given, in their shortest forms too: a name, `"Name: what it asks"`, or a mapping.

    Raises:
        ConfigError: There is none, two share a name, or one cannot be read.
    """
    if isinstance(criteria, str | Criterion | Mapping):
        criteria = [criteria]
    read = tuple(_criterion(one) for one in criteria)
    names = [criterion.name.casefold() for criterion in read]
    if not read or len(set(names)) < len(names):
        raise ConfigError(f"criteria need at least one entry and names of their own, got {shown(names)}")
    return read


def _criterion(given: Criterion | str | Mapping[str, Any]) -> Criterion:
    if isinstance(given, Criterion):
        return given
    if isinstance(given, Mapping):
        try:
            return Criterion(**given)
        except TypeError as error:
            raise ConfigError(f"{shown(dict(given))} is no criterion: it needs 'name' and 'description'") from error
    name, _, description = str(given).partition(":")
    if not name.strip():
        raise ConfigError(f"{shown(given)} is no criterion; write 'Name: what it asks'")
    return Criterion(name=name.strip(), description=description.strip() or f"How good is it in {name.strip()}?")


def criteria_text(criteria: Sequence[Criterion]) -> str:
    """The criteria as the prompt lists them: name, question, five anchors."""
    return "\n\n".join(
        f"{criterion.name}: {criterion.description}\n"
        + "\n".join(f"  {number} = {anchor}" for number, anchor in enumerate(criterion.levels, start=1))
        for criterion in criteria
    )


def read_grades(criteria: Sequence[Criterion], reply: GradeReply) -> dict[str, CriterionGrade]:
    """One grade for each criterion, matched by name, case aside.

    Raises:
        ReplyFault: A criterion has no grade or two different ones, or a grade names no criterion.
    """
    names = [criterion.name.casefold() for criterion in criteria]
    entries = one_per_id(reply.criteria, names, lambda entry: entry.name.strip().casefold(), "criterion")
    return {
        criterion.name: CriterionGrade(score=(entry.level - 1) / (LEVELS - 1), level=entry.level, reason=entry.reason)
        for criterion, entry in zip(criteria, entries, strict=True)
    }


def weighted_mean(criteria: Sequence[Criterion], grades: Mapping[str, CriterionGrade]) -> float:
    """Sum of weight times score over the sum of weights, from 0 to 1."""
    total = sum(criterion.weight for criterion in criteria)
    mean = sum(criterion.weight * grades[criterion.name].score for criterion in criteria) / total
    return min(1.0, max(0.0, mean))


def arithmetic(criteria: Sequence[Criterion], grades: Mapping[str, CriterionGrade]) -> str:
    """How the score came about, in words a reader can recompute."""
    return " | ".join(
        f"{criterion.name} ({grades[criterion.name].score:.2f}"
        + (f", weight {criterion.weight:g}" if criterion.weight != 1 else "")
        + f"): {grades[criterion.name].reason}"
        for criterion in criteria
    )


def grade_feedback(graded: Graded, *, key: str, comment: str, metadata: dict[str, Any]) -> list[Feedback]:
    """The overall score and one for each criterion."""
    overall = Feedback(key=key, score=graded.score, comment=comment, metadata=metadata)
    return [
        overall,
        *(
            Feedback(key=name, score=grade.score, comment=grade.reason, metadata={"level": grade.level})
            for name, grade in graded.criteria.items()
        ),
    ]
