"""The table of names, keys and settings. Nothing here calls a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

from langchain_llm_judge.config import DEFAULT_MODEL, DEFAULT_PROVIDER
from langchain_llm_judge.errors import ConfigError, MissingAPIKeyError, UnknownModelError, UnsupportedByEngineError
from langchain_llm_judge.models.resolve import resolve_chat_model, resolve_model
from langchain_llm_judge.models.structured import JudgeModel
from langchain_llm_judge.testing import ScriptedJudgeModel

KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _keys(monkeypatch: pytest.MonkeyPatch):
    for provider in ("ANTHROPIC", "OPENAI", "MISTRAL", "OPENROUTER", "AZURE", "GROQ", "TOGETHER_AI"):
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)


def label_of(*given: Any, **settings: Any) -> str:
    judge = resolve_model(*given, **settings)
    assert isinstance(judge, JudgeModel)
    return judge.label


@pytest.mark.usefixtures("_keys")
@pytest.mark.parametrize(
    ("model", "provider", "label"),
    [
        ("claude-haiku-4-5-20251001", "anthropic", "anthropic/claude-haiku-4-5-20251001"),
        ("claude-haiku-4-5-20251001", " Anthropic ", "anthropic/claude-haiku-4-5-20251001"),
        ("anthropic/claude-haiku-4-5-20251001", "anthropic", "anthropic/claude-haiku-4-5-20251001"),
        ("anthropic/claude-3.5-haiku", "openrouter", "openrouter/anthropic/claude-3.5-haiku"),
        ("brand-new-model", "openai", "openai/brand-new-model"),
        ("openai/gpt-4o-mini", None, "openai/gpt-4o-mini"),
        ("gpt-4", None, "gpt-4"),
        ("claude-haiku-4-5-20251001", None, "claude-haiku-4-5-20251001"),
        ("claude-haiku-4-5-20251001", DEFAULT_PROVIDER, "claude-haiku-4-5-20251001"),
        ("gpt-4o", DEFAULT_PROVIDER, "gpt-4o"),
        (DEFAULT_MODEL, DEFAULT_PROVIDER, "anthropic/claude-haiku-4-5-20251001"),
        (None, None, "anthropic/claude-haiku-4-5-20251001"),
        (None, "anthropic", "anthropic/claude-haiku-4-5-20251001"),
        (DEFAULT_MODEL, "anthropic", "anthropic/claude-haiku-4-5-20251001"),
        ("ollama/llama3:8b", None, "ollama/llama3:8b"),
        ("llama3:8b", "ollama", "ollama/llama3:8b"),
        ("anthropic.claude-haiku-4-5-20251001-v1:0", None, "anthropic.claude-haiku-4-5-20251001-v1:0"),
        ("openai:gpt-4o-mini", None, "openai:gpt-4o-mini"),
        ("openai:gpt-4o-mini", DEFAULT_PROVIDER, "openai:gpt-4o-mini"),
    ],
)
def test_names(model: Any, provider: Any, label: str):
    assert label_of(model, provider) == label


@pytest.mark.usefixtures("_keys")
@pytest.mark.parametrize(
    ("given", "variables", "label"),
    [
        ((None, None), {"JUDGE_MODEL": "gpt-4o"}, "gpt-4o"),
        ((None, None), {"JUDGE_MODEL": "gpt-4o", "JUDGE_PROVIDER": "openai"}, "openai/gpt-4o"),
        ((DEFAULT_MODEL, DEFAULT_PROVIDER), {"JUDGE_MODEL": "gpt-4o", "JUDGE_PROVIDER": "openai"}, "openai/gpt-4o"),
        ((None, "mistral"), {"JUDGE_MODEL": "m", "JUDGE_PROVIDER": "openai"}, "mistral/m"),
        (("gpt-4", None), {"JUDGE_MODEL": "gpt-4o", "JUDGE_PROVIDER": "openai"}, "gpt-4"),
        (("claude-haiku-4-5-20251001", "anthropic"), {"JUDGE_MODEL": "gpt-4o"}, "anthropic/claude-haiku-4-5-20251001"),
        ((None, None), {"JUDGE_PROVIDER": "anthropic"}, "anthropic/claude-haiku-4-5-20251001"),
        ((None, None), {"JUDGE_MODEL": "openai:gpt-4o"}, "openai:gpt-4o"),
    ],
)
def test_what_is_left_open_is_read_from_the_environment(
    given: tuple[Any, Any], variables: dict[str, str], label: str, monkeypatch: pytest.MonkeyPatch
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert label_of(*given) == label


def test_a_model_object_needs_no_provider_and_no_key():
    model = ScriptedJudgeModel(["x"])
    judge = resolve_model(model, "nonsense", config_path="not/there.ini")
    assert isinstance(judge, JudgeModel)
    assert judge.chat is model


@pytest.mark.usefixtures("_keys")
@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("gpt5x", None),
        ("no-such-provider/model", None),
        ("model", "no-such-provider"),
        ("foo:bar", None),
        ("a b", None),
    ],
)
def test_unknown_names(model: str, provider: str | None, capfd: pytest.CaptureFixture[str]):
    with pytest.raises(UnknownModelError, match="unknown judge model") as caught:
        resolve_model(model, provider)
    assert model in caught.value.model
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("model", "provider", "says"),
    [
        ("", None, "model=''"),
        (7, None, "model=7"),
        ("gpt-4o", "", "provider=''"),
        ("gpt-4o", 3, "provider=3"),
        (None, "openai", "given without a model"),
    ],
)
def test_what_is_no_name(model: Any, provider: Any, says: str):
    with pytest.raises(ConfigError, match=says):
        resolve_model(model, provider)


def test_a_provider_in_the_environment_needs_a_model(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGE_PROVIDER", "openai")
    with pytest.raises(ConfigError, match="JUDGE_PROVIDER='openai' is given without a model"):
        resolve_model()


@pytest.mark.parametrize("temperature", [-0.1, 2.1, True, "0.5", float("nan")])
def test_temperatures_out_of_range(temperature: Any):
    with pytest.raises(ConfigError, match="temperature"):
        resolve_model(ScriptedJudgeModel(["x"]), temperature=temperature)


@pytest.mark.parametrize("model", ["claude-haiku-4-5-20251001", None, "anthropic/claude-haiku-4-5-20251001"])
def test_a_missing_key_is_told_at_construction(model: str | None, tmp_path: Path):
    with pytest.raises(MissingAPIKeyError) as caught:
        resolve_model(model)
    assert (caught.value.provider, caught.value.variable) == ("anthropic", "ANTHROPIC_API_KEY")
    assert all(part in str(caught.value) for part in ("ANTHROPIC_API_KEY", "config.ini", 'model="offline"'))


def test_a_missing_key_of_langchains(tmp_path: Path):
    with pytest.raises(MissingAPIKeyError) as caught:
        resolve_model("openai:gpt-4o")
    assert caught.value.variable == "OPENAI_API_KEY"


@pytest.mark.parametrize("name", ["openai/gpt-4o-mini", "openai:gpt-4o-mini"])
@pytest.mark.parametrize("where", ["environment", "config_path", "config.ini"])
def test_where_keys_come_from(name: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = None
    if where == "environment":
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    elif where == "config_path":
        path = tmp_path / "keys.ini"
        path.write_text(f"[OpenAI]\napi_key = {KEY}\n")
    else:
        (tmp_path / "config.ini").write_text(f"[OPENAI]\nAPI_KEY={KEY}\n")
    judge = resolve_model(name, config_path=path)
    assert isinstance(judge, JudgeModel)
    chat: Any = judge.chat
    held = chat.openai_api_key.get_secret_value() if isinstance(chat, ChatOpenAI) else chat.api_key
    assert held == KEY
    for seen in (
        repr(judge),
        str(judge.identity()),
        judge.label,
        str(vars(chat)) if name.startswith("openai:") else "",
    ):
        assert KEY not in seen


@pytest.mark.parametrize(
    "name", ["ollama/llama3", "hosted_vllm/qwen", "llamafile/x", "bedrock/x", "vertex_ai/gemini-pro"]
)
def test_providers_that_ask_for_no_key(name: str):
    assert label_of(name) == name


def test_a_server_of_ones_own_asks_for_no_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGE_API_BASE", "http://127.0.0.1:9/v1")
    assert label_of("openai/my-model") == "openai/my-model"
    assert label_of("openai:my-model") == "openai:my-model"


def test_constructing_imports_no_litellm(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    resolve_model()
    resolve_model("anthropic/claude-haiku-4-5-20251001")
    assert "litellm" not in sys.modules


def test_offline():
    engine: Any = pytest.importorskip("langchain_llm_judge.models.offline").OfflineEngine
    assert isinstance(resolve_model("offline"), engine)
    assert isinstance(resolve_model("offline", DEFAULT_PROVIDER), engine)
    with pytest.raises(UnsupportedByEngineError, match="cannot compare outputs"):
        resolve_chat_model("offline", purpose="compare outputs")


def test_settings_reach_the_policy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGE_TIMEOUT_S", "7.5")
    monkeypatch.setenv("JUDGE_MAX_RETRIES", "1")
    policy = resolve_chat_model(ScriptedJudgeModel(["x"])).policy
    assert (policy.timeout_s, policy.max_retries, policy.budget_s) == (7.5, 1, 15)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("JUDGE_TIMEOUT_S", "soon"), ("JUDGE_TIMEOUT_S", "0"), ("JUDGE_MAX_RETRIES", "-1"), ("JUDGE_TEMPERATURE", "3")],
)
def test_wrong_settings_are_told_at_construction(monkeypatch: pytest.MonkeyPatch, variable: str, value: str):
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=variable):
        resolve_model(ScriptedJudgeModel(["x"]))
