"""Does a judge favor a place rather than an output?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from langchain_llm_judge.errors import InputError, shown
from langchain_llm_judge.reliability.asking import Answer, aask, ask, judge_for
from langchain_llm_judge.reliability.interval import Interval, share_interval
from langchain_llm_judge.reliability.ratings import checked_confidence, checked_rng
from langchain_llm_judge.results import Feedback, Result, label_of

AT_ONCE = 10
"""Pairs that `aposition_bias` asks about at a time."""

_SWAPPED = {"A": "B", "B": "A", "tie": "tie"}


class PositionBias(Result):
    """What the order of two outputs does to a judge's choice."""

    n: int
    """Pairs with a winner in both orders."""
    n_failed: int
    """Pairs without a verdict in at least one order; they are in no share."""
    consistent: float | None
    """Share of pairs with the same winner in both orders, from 0 to 1; `None` without pairs."""
    consistent_ci: Interval | None
    first: float | None
    """Share of pairs where the order decided, in favor of the place shown first: it won both times, or once beside a
    tie. The rest, neither consistent nor this, favor the second place. `None` without pairs."""
    first_ci: Interval | None
    confidence: float
    """Of the intervals."""

    def feedback(self) -> list[Feedback]:
        """Both shares, with their intervals in the metadata."""
        told = f"{self.n} pairs in both orders, {self.n_failed} without a verdict"
        return [
            Feedback(key=f"position_{name}", score=value, comment=told, metadata={"ci": ci and list(ci), "n": self.n})
            for name, value, ci in [
                ("consistent", self.consistent, self.consistent_ci),
                ("first", self.first, self.first_ci),
            ]
        ]


def position_bias(
    judge: Any, pairs: Iterable[Any], *, confidence: float = 0.95, rng: np.random.Generator | None = None
) -> PositionBias:
    """Show pairs of outputs in both orders and count how often the order decides.

    Args:
        judge: A judge of comparisons, or an `LLMJudge`. One that asks both orders by itself is asked once a pair;
            another is asked twice, the second time with the outputs exchanged.
        pairs: Inputs with `task`, `output_a`, `output_b`, or triples of these.
        confidence: Of the intervals, between 0 and 1.
        rng: numpy `Generator`; `None` is a fixed seed.

    Returns:
        The shares. An unbiased judge has `first` near half of 1 - `consistent`.

    Raises:
        InputError: A pair lacks an output.
        ConfigError: `confidence` or `rng` is not usable.

    Example:
        >>> from types import SimpleNamespace as Obj
        >>> from langchain_core.runnables import RunnableLambda
        >>> likes_first = RunnableLambda(lambda case: Obj(winner="A"))
        >>> found = position_bias(likes_first, [("Greet.", "Hi", "Hello"), ("Greet.", "Hey", "Hi")])
        >>> found.n, found.consistent, found.first
        (2, 0.0, 1.0)

    References:
        Wang et al. (2024), Large Language Models are not Fair Evaluators, ACL. Zheng et al. (2023), Judging
        LLM-as-a-Judge with MT-Bench and Chatbot Arena, NeurIPS.
    """
    confidence, rng = checked_confidence(confidence), checked_rng(rng)
    cases = [_case(place, pair) for place, pair in enumerate(pairs)]
    return _bias([_both_orders(judge_for(judge, case), case) for case in cases], confidence, rng)


async def aposition_bias(
    judge: Any, pairs: Iterable[Any], *, confidence: float = 0.95, rng: np.random.Generator | None = None
) -> PositionBias:
    """The async twin of `position_bias`; asks about up to 10 pairs at once."""
    confidence, rng = checked_confidence(confidence), checked_rng(rng)
    cases = [_case(place, pair) for place, pair in enumerate(pairs)]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(case: Mapping[str, Any]) -> tuple[str, str] | None:
        async with gate:
            return await _aboth_orders(judge_for(judge, case), case)

    return _bias(await asyncio.gather(*map(one, cases)), confidence, rng)


def _case(place: int, pair: Any) -> dict[str, Any]:
    if isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 3:
        pair = dict(zip(("task", "output_a", "output_b"), pair, strict=True))
    if not isinstance(pair, Mapping) or not {"output_a", "output_b"} <= set(pair):
        raise InputError(
            f"pairs[{place}] is {shown(pair)}; give a dict with task, output_a, output_b, or these three in order",
            field=f"pairs[{place}]",
            found=pair,
        )
    return dict(pair)


def _exchanged(case: Mapping[str, Any]) -> dict[str, Any]:
    return {**case, "output_a": case["output_b"], "output_b": case["output_a"]}


def _both_orders(judge: Any, case: Mapping[str, Any]) -> tuple[str, str] | None:
    first = ask(judge, case)
    return _winners(first, None) or _winners(first, ask(judge, _exchanged(case)) if _is_one_order(first) else None)


async def _aboth_orders(judge: Any, case: Mapping[str, Any]) -> tuple[str, str] | None:
    first = await aask(judge, case)
    return _winners(first, None) or _winners(
        first, await aask(judge, _exchanged(case)) if _is_one_order(first) else None
    )


def _is_one_order(answer: Answer) -> bool:
    """Whether the other order is still to be asked."""
    return label_of(answer.result) in _SWAPPED and len(getattr(answer.result, "orders", ())) < 2


def _winners(first: Answer, exchanged: Answer | None) -> tuple[str, str] | None:
    """The winners with A shown first and with B shown first, by the caller's letters."""
    orders = {order.first: order.winner for order in getattr(first.result, "orders", ())}
    if set(orders) == {"A", "B"}:
        return orders["A"], orders["B"]
    if exchanged is None:
        return None
    one, other = label_of(first.result), label_of(exchanged.result)
    return (one, _SWAPPED[other]) if one in _SWAPPED and other in _SWAPPED else None


def _bias(winners: Sequence[tuple[str, str] | None], confidence: float, rng: np.random.Generator) -> PositionBias:
    judged = [pair for pair in winners if pair is not None]
    consistent = sum(one == other for one, other in judged)
    first = sum(_leaning(*pair) > 0 for pair in judged)

    return PositionBias(
        n=len(judged),
        n_failed=len(winners) - len(judged),
        consistent=consistent / len(judged) if judged else None,
        consistent_ci=share_interval(consistent, len(judged), confidence=confidence, rng=rng),
        first=first / len(judged) if judged else None,
        first_ci=share_interval(first, len(judged), confidence=confidence, rng=rng),
        confidence=confidence,
    )


def _leaning(a_first: str, b_first: str) -> int:
    """How often the first place won less how often the second did."""
    return {"A": 1, "B": -1}.get(a_first, 0) + {"B": 1, "A": -1}.get(b_first, 0)
