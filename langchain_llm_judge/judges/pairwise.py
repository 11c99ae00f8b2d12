"""Comparing two outputs of one task, in both orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

from langchain_llm_judge.judges.base import Ask, Flow, Judge, Together
from langchain_llm_judge.judges.criteria import QUALITY, Criterion, checked_criteria, criteria_text
from langchain_llm_judge.judges.grading import TASK, criteria_of
from langchain_llm_judge.judges.inputs import as_fields, optional_text, required_text
from langchain_llm_judge.models.replies import Reason, ReplySchema, Winner
from langchain_llm_judge.models.resolve import resolve_chat_model
from langchain_llm_judge.models.structured import Reply
from langchain_llm_judge.prompts import FilledPrompt, load_prompt
from langchain_llm_judge.results import Feedback, Result, Usage
from langchain_llm_judge.safety.fence import fence_all
from langchain_llm_judge.safety.injection import InjectionFinding, scan_parts

Side = Literal["A", "B", "tie"]
"""Who won: the first output given, the second, or neither."""

_SWAPPED: dict[Side, Side] = {"A": "B", "B": "A", "tie": "tie"}


class Order(Result):
    """One question to the judge: which output stood first, and what it answered."""

    first: Literal["A", "B"]
    """The output that was shown first."""
    winner: Side
    """The winner by the caller's letters, whatever the order shown."""
    reason: str
    """The judge's words; its letters are those of the order shown: its A is the output shown first."""


class Comparison(Result):
    """Which of two outputs is better."""

    winner: Side
    """`tie` also where the two orders disagree; `position_consistent` tells that apart from a tie both times."""
    position_consistent: bool | None
    """Whether both orders gave the same winner; `None` where only one was asked."""
    reason: str
    orders: list[Order]
    injection: list[InjectionFinding]
    usage: Usage
    judge: str
    prompt_version: str

    def feedback(self) -> list[Feedback]:
        """1 where A won, 0 where B won, 0.5 for a tie."""
        score = {"A": 1.0, "B": 0.0, "tie": 0.5}[self.winner]
        metadata = {
            "winner": self.winner,
            "position_consistent": self.position_consistent,
            "judge": self.judge,
            "prompt_version": self.prompt_version,
        }
        return [Feedback(key="compare", score=score, comment=self.reason, metadata=metadata)]


class WinnerReply(ReplySchema):
    """A judge's reply to a comparison."""

    winner: Winner
    reason: Reason = ""


class PairwiseJudge(Judge[Comparison]):
    """Which of two outputs is better for the task?

    Both orders are asked, as judges favour a place; where the orders disagree, the winner is `tie` and
    `position_consistent` is `False`. Cost: two model calls, one with `swap=False`.

    Input: `{"task", "output_a", "output_b", "reference"?, "criteria"?}`.

    Args:
        model: A chat model or its name; see the README's table.
        provider: litellm's name of the provider, where `model` is its bare model name.
        criteria: What decides; `Criterion` objects or `"Name: what it asks"`. Default: `Quality`.
        swap: `False` asks one order only.
        temperature: From 0 to 2; `JUDGE_TEMPERATURE` by default.
        config_path: Ini file with the provider's key.

    Raises:
        ConfigError: A setting is not usable, or the model needs a key and none was found.

    References:
        Prompt `compare`. On the bias of places: Wang et al. (2024), Large Language Models are not Fair Evaluators.
    """

    def __init__(
        self,
        model: BaseChatModel | str | Any | None = None,
        provider: str | None = None,
        *,
        criteria: Iterable[Criterion | str] | None = None,
        swap: bool = True,
        temperature: float | None = None,
        config_path: str | Path | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self.criteria = QUALITY if criteria is None else checked_criteria(criteria)
        self.swap = swap
        self._model = resolve_chat_model(
            model, provider, config_path=config_path, temperature=temperature, purpose="compare outputs"
        )

    def _judge(self, case: Any, *, swap: bool | None = None) -> Flow[Comparison]:
        fields = as_fields(case)
        parts = {
            "task": required_text(fields, TASK),
            "output_a": required_text(fields, ("output_a",)),
            "output_b": required_text(fields, ("output_b",)),
            "reference": optional_text(fields, "reference"),
        }
        prompts = [_prompt(parts, criteria_of(fields, self.criteria))]
        if self.swap if swap is None else swap:
            swapped = {**parts, "output_a": parts["output_b"], "output_b": parts["output_a"]}
            prompts.append(_prompt(swapped, criteria_of(fields, self.criteria)))
        replies: list[Reply[WinnerReply]] = yield Together(
            [Ask(self._model, prompt, WinnerReply, lambda reply: reply) for prompt in prompts]
        )
        return self._comparison(replies, scan_parts(parts))

    def _comparison(self, replies: Sequence[Reply[WinnerReply]], injection: list[InjectionFinding]) -> Comparison:
        orders = [_order(place, reply.value) for place, reply in enumerate(replies)]
        agree = len({order.winner for order in orders}) == 1
        return Comparison(
            winner=orders[0].winner if agree else "tie",
            position_consistent=agree if len(orders) > 1 else None,
            reason=_reason(orders, agree),
            orders=orders,
            injection=injection,
            usage=Usage.total(reply.usage for reply in replies),
            judge=self._model.label,
            prompt_version=replies[0].prompt_version,
        )

    def _settings(self) -> dict[str, Any]:
        return {
            **self._model.identity(),
            "prompt": load_prompt("compare").version,
            "criteria": [criterion.model_dump() for criterion in self.criteria],
            "swap": self.swap,
        }


def _prompt(parts: Mapping[str, str | None], criteria: Sequence[Criterion]) -> FilledPrompt:
    return load_prompt("compare").fill(criteria=criteria_text(criteria), **fence_all(parts))


def _order(place: int, reply: WinnerReply) -> Order:
    swapped = place == 1
    return Order(
        first="B" if swapped else "A",
        winner=_SWAPPED[reply.winner] if swapped else reply.winner,
        reason=reply.reason,
    )


def _reason(orders: Sequence[Order], agree: bool) -> str:
    told = " | ".join(f"{order.first} shown first, winner {order.winner}: {order.reason}" for order in orders)
    if len(orders) == 1:
        return told
    return f"{'both orders agree' if agree else 'the two orders disagree, so a tie'} | {told}"
