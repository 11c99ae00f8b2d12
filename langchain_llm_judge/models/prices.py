"""What a judge call costs, by litellm's price list.

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


def price_list() -> Mapping[str, Mapping[str, Any]]:
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
    prices = price_list()
    entry = next((prices[name] for name in names if name in prices), None)
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
