from __future__ import annotations

from typing import Any

import pytest

from langchain_llm_judge.models import catalog
from langchain_llm_judge.models.catalog import cost_usd, has_structured_output, provider_of

LIST: dict[str, dict[str, Any]] = {
    "plain": {"input_cost_per_token": 2.0, "output_cost_per_token": 3.0, "litellm_provider": "openai"},
    "cached": {
        "input_cost_per_token": 2.0,
        "output_cost_per_token": 3.0,
        "cache_read_input_token_cost": 0.5,
        "cache_creation_input_token_cost": 2.5,
        "supports_response_schema": True,
        "litellm_provider": "vertex_ai-language-models",
    },
    "tiered": {
        "input_cost_per_token": 2.0,
        "input_cost_per_token_above_128k_tokens": 4.0,
        "input_cost_per_token_above_200k_tokens": 8.0,
        "output_cost_per_token": 3.0,
        "output_cost_per_token_above_128k_tokens": 6.0,
        "litellm_provider": "bedrock_converse",
    },
    "free": {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0, "litellm_provider": "ollama"},
    "by-character": {"input_cost_per_character": 1.0, "litellm_provider": "vertex_ai"},
    "half": {"input_cost_per_token": 1.0, "litellm_provider": "openai"},
}


@pytest.fixture
def _our_list(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(catalog, "listed_models", lambda: LIST)


def tokens(read: int, written: int, **details: int) -> dict[str, Any]:
    return {"input_tokens": read, "output_tokens": written, "input_token_details": details}


@pytest.mark.usefixtures("_our_list")
@pytest.mark.parametrize(
    ("names", "usage", "cost"),
    [
        (["plain"], tokens(10, 1), 10 * 2 + 3),
        (["unknown", "plain"], tokens(10, 1), 23),
        (["", "plain"], tokens(0, 0), 0),
        (["cached"], tokens(10, 1, cache_read=4, cache_creation=1), 5 * 2 + 4 * 0.5 + 2.5 + 3),
        (["plain"], tokens(10, 1, cache_read=4), None),  # what a cached token costs is not known
        (["tiered"], tokens(128_000, 1), 128_000 * 2 + 3),
        (["tiered"], tokens(128_001, 1), 128_001 * 4 + 6),
        (["tiered"], tokens(200_001, 1), 200_001 * 8 + 6),
        (["free"], tokens(10, 1), 0),
        (["unknown"], tokens(10, 1), None),
        (["by-character"], tokens(10, 1), None),
        (["half"], tokens(10, 1), None),
        (["plain"], None, None),
        (["plain"], {}, None),
        ([], tokens(1, 1), None),
    ],
)
def test_costs(names: list[str], usage: Any, cost: float | None):
    assert cost_usd(names, usage) == cost


@pytest.mark.usefixtures("_our_list")
@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("plain", "openai"),
        ("openai/new", "openai"),
        ("cached", "vertex_ai"),
        ("tiered", "bedrock"),
        ("nobody/model", None),
        ("new", None),
    ],
)
def test_providers(name: str, provider: str | None):
    assert provider_of(name) == provider


@pytest.mark.usefixtures("_our_list")
def test_structured_output_is_assumed_of_the_unlisted_only():
    assert has_structured_output(["cached"])
    assert has_structured_output(["unknown"])
    assert not has_structured_output(["plain"])


def test_the_real_list_is_found_without_importing_litellm():
    assert provider_of("gpt-4") == "openai"
    assert provider_of("claude-haiku-4-5-20251001") == "anthropic"
    assert cost_usd(["gpt-4o-mini"], tokens(1_000_000, 0)) == pytest.approx(0.15)


def test_a_price_the_user_registered_counts(monkeypatch: pytest.MonkeyPatch):
    class Litellm:
        model_cost = {"mine": {"input_cost_per_token": 1.0, "output_cost_per_token": 1.0}}

    monkeypatch.setitem(catalog.sys.modules, "litellm", Litellm())
    assert cost_usd(["mine"], tokens(1, 1)) == 2


def test_a_list_that_is_not_there_leaves_costs_unknown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(catalog.sys.modules, "litellm", raising=False)
    monkeypatch.setattr(catalog.importlib.util, "find_spec", lambda _: None)
    catalog._list_on_disk.cache_clear()
    assert cost_usd(["gpt-4o-mini"], tokens(1, 1)) is None
    catalog._list_on_disk.cache_clear()
