"""A judge model's verdict, with what it took to get it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from langchain_core.messages import BaseMessage

from langchain_llm_judge.models.catalog import cost_usd
from langchain_llm_judge.results import Usage

T = TypeVar("T")

Path = Literal["native", "json", "text"]
"""How the form was asked for: `native`, the provider's structured output; `json`, by prompt; `text`, not at all."""


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A verdict, with what it took to get it."""

    value: T
    usage: Usage
    attempts: int
    """Requests sent, failed ones among them."""
    path: Path
    raw: str
    """The reply as it came: text, or the arguments of its tool call as JSON."""
    prompt_version: str
    logprobs: Any = None
    """Log-probabilities of the reply's tokens as the model gave them; `None` where it gives none."""


@dataclass
class Spent:
    """What one question has taken so far."""

    started: float = field(default_factory=time.monotonic)
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.started

    def add(self, message: BaseMessage, listed_as: Iterable[str]) -> None:
        """Count a reply of a model that litellm's list may call so; one from LangChain's cache cost nothing."""
        tokens: Mapping[str, Any] = getattr(message, "usage_metadata", None) or {}
        if tokens.get("total_cost") == 0:
            return
        names = [str(message.response_metadata.get("model_name") or ""), *listed_as]
        self.usage += Usage(
            calls=1,
            input_tokens=tokens.get("input_tokens"),
            output_tokens=tokens.get("output_tokens"),
            cost_usd=cost_usd(names, tokens),
        )
