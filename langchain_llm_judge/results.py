"""The result types that every room speaks.

Results are frozen pydantic models: they compare by value, go to JSON and back without loss, and
hold no NaN and no infinity. `None` always means "no verdict" and never stands for a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, TypeVar

from pydantic import BaseModel, ConfigDict

Number = TypeVar("Number", int, float)

Status = Literal["PASS", "FAIL"]
"""Verdict of a text judge. There is no third value: what cannot be read is an error."""


JUDGE_TAG = "llm_judge"
"""Tag of every run a judge makes, so that a handler never grades the grading."""


class Feedback(TypedDict):
    """One score in the form LangSmith and openevals-style tools take."""

    key: str
    """Name of the measure."""
    score: float | bool | None
    """`None` when there is no verdict; `comment` then says why."""
    comment: str | None
    metadata: dict[str, Any]


class EvaluationResult(TypedDict):
    """What a text judge returns."""

    status: Status
    score: float
    """From 0 to 1, higher is better."""
    reason: str
    metadata: dict[str, Any]
    """`relevancy`, `factual`, `threshold`, `grounded`, `contexts`, `injection`, `judge`, `usage`, `prompt_version`."""


class Result(BaseModel):
    """Base of every structured result."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def feedback(self) -> list[Feedback]:
        """This result as a list of scores for LangSmith and openevals-style tools."""
        raise NotImplementedError(f"{type(self).__name__} carries no score of its own")


class Usage(Result):
    """What one evaluation spent on judge calls. Unknown counts and costs are `None`, never 0."""

    calls: int = 0
    """Requests answered by the judge model, re-asks among them."""
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_usd: float | None = 0.0
    """US dollars by litellm's price list; `None` for a model without a known price."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cost_usd=_sum(self.cost_usd, other.cost_usd),
        )

    @classmethod
    def total(cls, parts: Iterable[Usage]) -> Usage:
        """The sum over several calls or evaluations."""
        return sum(parts, cls())


def _sum(first: Number | None, second: Number | None) -> Number | None:
    return None if first is None or second is None else first + second


def passed(result: object) -> bool | None:
    """The verdict of any result: an object with `passed`, or a text judge's dict.

    Returns:
        `None` where there is no verdict, also for an object that carries none.
    """
    if isinstance(result, Mapping):
        return {"PASS": True, "FAIL": False}.get(str(result.get("status")))
    verdict = getattr(result, "passed", None)
    return verdict if isinstance(verdict, bool) else None


def score_of(result: object) -> float | None:
    """The one score of any result, from 0 to 1; `None` where there is none."""
    if isinstance(result, Mapping):
        score = result.get("score")
    else:
        score = next((getattr(result, name) for name in ("score", "faithfulness") if hasattr(result, name)), None)
        score = getattr(getattr(result, "grade", None), "score", None) if score is None else score
    return float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None


def reason_of(result: object) -> str:
    """Why a result is as it is, in one text: its own reason, or those of its scores."""
    if isinstance(result, str | Exception):
        return str(result)
    reason = result.get("reason") if isinstance(result, Mapping) else getattr(result, "reason", None)
    if reason:
        return str(reason)
    try:
        scores = feedback(result)
    except (TypeError, NotImplementedError):
        return f"{type(result).__name__} carries no verdict"
    return " | ".join(
        f"{score['key']} {_told(score['score'])}: {score['comment'] or 'no reason given'}" for score in scores
    )


def _told(score: float | bool | None) -> str:
    return "ungraded" if score is None else str(score) if isinstance(score, bool) else f"{score:.2f}"


def label_of(result: object) -> str | None:
    """The verdict of any result as a word: the winner of a comparison, `pass` or `fail`; `None` without a verdict."""
    winner = getattr(result, "winner", None)
    if winner is not None:
        return str(winner)
    verdict = passed(result)
    return None if verdict is None else "pass" if verdict else "fail"


def usage_of(result: object) -> Usage:
    """What any result spent; nothing known is unknown, not 0."""
    if isinstance(result, Mapping):
        usage = (result.get("metadata") or {}).get("usage")
    else:
        usage = getattr(result, "usage", None)
    return usage if isinstance(usage, Usage) else Usage(calls=0, input_tokens=None, output_tokens=None, cost_usd=None)


def all_passed(results: Iterable[object]) -> bool | None:
    """The joint verdict of several results.

    Returns:
        `False` if any fails, else `None` if any has no verdict or there are none, else `True`.
    """
    verdicts = [passed(result) for result in results]
    if False in verdicts:
        return False
    return None if not verdicts or None in verdicts else True


def feedback(result: object) -> list[Feedback]:
    """Any result as a list of scores for LangSmith and openevals-style tools.

    Args:
        result: A result object of this package, or the dict of a text judge.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(result, Result):
        return result.feedback()
    if isinstance(result, Mapping) and {"status", "score", "reason", "metadata"} <= set(result):
        metadata = dict(result["metadata"])
        key = "relevancy" if metadata.get("factual") is None else "accuracy"
        return [Feedback(key=key, score=result["score"], comment=result["reason"], metadata=metadata)]
    raise TypeError(f"{type(result).__name__} is no result of a judge; give what invoke() or evaluate() returned")
