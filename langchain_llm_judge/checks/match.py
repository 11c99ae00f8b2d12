"""How far the calls of a run are those of a reference.

What counts:

- Calls of the run itself, every attempt; those of sub-traces belong to the agent inside the tool and do not count.
  Where neither side has a call, the nodes that were passed through (a node repeated without another between
  them once).
- Two calls match when their tools have the same name and their arguments agree as `args` says, by the equality of
  `equality`: `exact` the same; `ignore` any; `subset` every called argument is in the reference with the same value;
  `superset` the other way round. Arguments given as text match the same text only. `overrides` says otherwise for
  single tools.
- Every call is matched once at most, so duplicates count. The largest matching there is is taken; among equally
  large ones, where order is free, one that pairs equal arguments.
- `strict` keeps the order. Calls of one message (one `group`), on either side, may come in any order. The other
  modes know no order.
- A side whose calls are unknown gives no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_llm_judge.checks.agreement import (
    AgreementRules,
    ArgsMode,
    ArgsRule,
    MatchMode,
    free_pairs,
    ordered_pairs,
)
from langchain_llm_judge.checks.base import hint
from langchain_llm_judge.checks.equality import value_key
from langchain_llm_judge.checks.sides import Item, called_side, expected_side
from langchain_llm_judge.errors import shown
from langchain_llm_judge.results import Feedback, Result
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall


class TrajectoryStep(Result):
    """A call (or a node) of one side or of both."""

    name: str
    args: dict[str, Any] | str | None = None
    """As called, or as expected for a missing one; `None` for a node."""
    called: int | None = None
    """Position among the calls of the run, from 0; `None` when it is missing there."""
    expected: int | None = None
    """Position in the reference, from 0; `None` for an extra call."""


class TrajectoryMatch(Result):
    """How far a run's calls are the expected ones."""

    score: float | None
    """From 0 to 1. strict and unordered: matched / the larger side; subset: precision; superset: recall.
    `None` when both sides are empty, or the side it is a share of is."""
    precision: float | None
    """Matched / called; `None` when nothing was called."""
    recall: float | None
    """Matched / expected; `None` when nothing was expected."""
    matched: list[TrajectoryStep]
    missing: list[TrajectoryStep]
    """Expected and not called."""
    extra: list[TrajectoryStep]
    """Called and not expected."""
    mode: MatchMode
    compared: Literal["calls", "nodes"]
    reason: str
    """The arithmetic in words, with what is missing, what is extra, and near names."""

    def feedback(self) -> list[Feedback]:
        """One score `trajectory_match`."""
        details = self.model_dump(mode="json", exclude={"score", "reason"})
        return [Feedback(key="trajectory_match", score=self.score, comment=self.reason, metadata=details)]


def match_trajectory(
    trace: Any,
    reference: AgentTrace | Sequence[ToolCall | Mapping[str, Any] | str] | Any,
    *,
    mode: MatchMode = "strict",
    args: ArgsMode = "exact",
    overrides: Mapping[str, ArgsRule] | None = None,
) -> TrajectoryMatch:
    """How far the tool calls of a run are those of a reference. The head of this module says what counts.

    Args:
        trace: An `AgentTrace`, or anything `to_trace` takes.
        reference: The expected run: an `AgentTrace`, a list of calls (`ToolCall`, `{"name": …, "args": …}`, or a
            bare tool name for a call with any arguments), or anything else `to_trace` takes.
        mode: What the score asks for.
        args: How arguments are compared.
        overrides: Another rule for single tools, by name.

    Returns:
        The score with precision, recall and the calls behind them.

    Raises:
        ConfigError: A mode or an override is not usable.
        InputError: An item of `reference` is no call.
        TraceError: One of the sides is not convertible.

    Example:
        >>> trace = AgentTrace(task="?", steps=[ToolCall(name="search", args={"q": "a"})])
        >>> match_trajectory(trace, [{"name": "search", "args": {"q": "a"}}, {"name": "book"}]).score
        0.5
    """
    rules = AgreementRules.of(mode, args, overrides)
    called, expected = called_side(trace), expected_side(reference)
    if called.unknown or expected.unknown:
        return _nothing_told(rules.mode)
    if not called.calls and not expected.calls:
        return _match(called.nodes, expected.nodes, rules, "nodes")
    return _match(called.calls, expected.calls, rules, "calls")


def _match(
    called: list[Item], expected: list[Item], rules: AgreementRules, compared: Literal["calls", "nodes"]
) -> TrajectoryMatch:
    pairs = ordered_pairs(called, expected, rules) if rules.mode == "strict" else free_pairs(called, expected, rules)
    taken, met = dict(pairs), {j: i for i, j in pairs}
    matched = [_step(called[i], called=i, expected=j) for i, j in sorted(pairs)]
    missing = [_step(item, expected=j) for j, item in enumerate(expected) if j not in met]
    extra = [_step(item, called=i) for i, item in enumerate(called) if i not in taken]
    precision = len(pairs) / len(called) if called else None
    recall = len(pairs) / len(expected) if expected else None
    larger = max(len(called), len(expected))
    share = {"subset": precision, "superset": recall}.get(rules.mode, len(pairs) / larger if larger else None)
    return TrajectoryMatch(
        score=share,
        precision=precision,
        recall=recall,
        matched=matched,
        missing=missing,
        extra=extra,
        mode=rules.mode,
        compared=compared,
        reason=_reason(rules.mode, compared, matched, missing, extra),
    )


def _step(item: Item, *, called: int | None = None, expected: int | None = None) -> TrajectoryStep:
    return TrajectoryStep(name=item.name, args=item.args, called=called, expected=expected)


def _nothing_told(mode: MatchMode) -> TrajectoryMatch:
    return TrajectoryMatch(
        score=None,
        precision=None,
        recall=None,
        matched=[],
        missing=[],
        extra=[],
        mode=mode,
        compared="calls",
        reason="a source does not tell which tools were called, so there is nothing to compare",
    )


def _reason(
    mode: MatchMode,
    compared: str,
    matched: list[TrajectoryStep],
    missing: list[TrajectoryStep],
    extra: list[TrajectoryStep],
) -> str:
    called, expected = len(matched) + len(extra), len(matched) + len(missing)
    if not called and not expected:
        return "neither side has calls or nodes, so there is nothing to compare"
    whole = {"subset": called, "superset": expected}.get(mode, max(called, expected))
    score = f"{len(matched)}/{whole} = {len(matched) / whole:.3g}" if whole else "none, as it is a share of nothing"
    facts = [
        f"{mode}: {len(matched)} of {called} {compared} match {len(matched)} of {expected} expected; score {score}"
    ]
    facts += [f"missing {_told(step)}{_instead(step, extra)}" for step in missing[:_SHOWN]]
    facts += [f"extra {_told(step)}" for step in extra[:_SHOWN]]
    hidden = max(len(missing) - _SHOWN, 0) + max(len(extra) - _SHOWN, 0)
    return "; ".join(facts) + (f"; and {hidden} more" if hidden else "")


_SHOWN = 5
"""Missing and extra calls a reason names."""


def _told(step: TrajectoryStep) -> str:
    return shown(step.name, 60) + ("" if step.args is None else f" with {shown(step.args, 120)}")


def _instead(step: TrajectoryStep, extra: list[TrajectoryStep]) -> str:
    """What was called in place of a missing call, where that can be told."""
    same_tool = [other for other in extra if other.name == step.name]
    if any(value_key(other.args) == value_key(step.args) for other in same_tool):
        return " (called out of order)"
    if same_tool:
        return f" (called with {shown(same_tool[0].args, 120)})"
    return hint(step.name, {other.name for other in extra}).replace(";", ",").replace("?", "")
