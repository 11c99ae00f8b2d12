"""What litellm's list of models says: whose a model is, whether it has structured output, what a call costs.

The list is read from the installed package's data, without importing litellm, which takes seconds;
once litellm is imported its own table counts, with whatever the user has registered there.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

_TIER = re.compile(r"_above_(\d+)k_tokens$")


_KINDS = {
    "azure_text": "azure",
    "bedrock_converse": "bedrock",
    "cohere_chat": "cohere",
    "text-completion-openai": "openai",
}
"""Names by which the list tells apart the kinds of models of one provider."""


def listed_models() -> Mapping[str, Mapping[str, Any]]:
    """Model name → what litellm knows about it; empty where the list cannot be found."""
    litellm = sys.modules.get("litellm")
    known = getattr(litellm, "model_cost", None)
    return known if known else _list_on_disk()


@cache
def _list_on_disk() -> Mapping[str, Mapping[str, Any]]:
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    path = Path(spec.origin).parent / "model_prices_and_context_window_backup.json"
    try:
        prices: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return prices


def provider_of(name: str) -> str | None:
    """The litellm provider of a model name, bare or after a provider; `None` when the list knows neither."""
    prefix, slash, _ = name.partition("/")
    known = listed_models()
    if slash and prefix in {entry.get("litellm_provider") for entry in known.values()}:
        return prefix
    provider = known.get(name, {}).get("litellm_provider")
    if not provider:
        return None
    return "vertex_ai" if provider.startswith("vertex_ai") else _KINDS.get(provider, provider)


def has_structured_output(names: Iterable[str]) -> bool:
    """Whether the provider holds the model to a JSON schema; assumed of models that are not listed."""
    entry = _entry(names)
    return entry is None or entry.get("supports_response_schema") is True


def _entry(names: Iterable[str]) -> Mapping[str, Any] | None:
    known = listed_models()
    return next((known[name] for name in names if name in known), None)


def cost_usd(names: Iterable[str], usage: Mapping[str, Any] | None) -> float | None:
    """US dollars for one call.

    Args:
        names: What the model may be called in the list, the most certain first.
        usage: LangChain's `usage_metadata` of the reply.

    Returns:
        `None` when the tokens or the price are not known.
    """
    if not usage:
        return None
    entry = _entry(names)
    if entry is None:
        return None
    details = usage.get("input_token_details") or {}
    read, written = details.get("cache_read") or 0, details.get("cache_creation") or 0
    total = usage.get("input_tokens") or 0
    amounts = {
        "input_cost_per_token": total - read - written,
        "cache_read_input_token_cost": read,
        "cache_creation_input_token_cost": written,
        "output_cost_per_token": usage.get("output_tokens") or 0,
    }
    parts = [amount and _times(amount, _rate(entry, kind, total)) for kind, amount in amounts.items()]
    known = entry.get("input_cost_per_token") is not None and None not in parts
    return float(sum(part or 0 for part in parts)) if known else None


def _times(amount: int, rate: float | None) -> float | None:
    return None if rate is None else amount * rate


def _rate(entry: Mapping[str, Any], kind: str, input_tokens: int) -> float | None:
    """The price of one token of a kind, of the tier that a prompt of this length falls into."""
    rate, reached = entry.get(kind), 0
    for name, price in entry.items():
        tier = _TIER.search(name) if name.startswith(kind) and price is not None else None
        if tier and name[: tier.start()] == kind and reached < int(tier[1]) * 1000 < input_tokens:
            rate, reached = price, int(tier[1]) * 1000
    return rate
