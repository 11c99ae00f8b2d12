"""Settings from the environment, and keys from environment and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from langchain_llm_judge.config import Settings, checked_temperature, checked_threshold, find_api_key, set_unless_given
from langchain_llm_judge.errors import ConfigError, MissingAPIKeyError

KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def key_of(provider: str, path: str | Path | None = None) -> str | None:
    key = find_api_key(provider, path)
    return key.get_secret_value() if key else None


def test_defaults():
    assert Settings.from_environment({}) == Settings()
    assert (Settings().temperature, Settings().timeout_s, Settings().max_retries) == (0, 60, 3)
    assert (Settings().max_concurrency, Settings().store) == (10, None)


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("JUDGE_PROVIDER", " openai ", "provider", "openai"),
        ("JUDGE_MODEL", "gpt-4o", "model", "gpt-4o"),
        ("JUDGE_TEMPERATURE", "2", "temperature", 2.0),
        ("JUDGE_API_BASE", "http://localhost:8000/v1", "api_base", "http://localhost:8000/v1"),
        ("JUDGE_TIMEOUT_S", "0.5", "timeout_s", 0.5),
        ("JUDGE_MAX_RETRIES", "0", "max_retries", 0),
        ("JUDGE_MAX_CONCURRENCY", "1", "max_concurrency", 1),
        ("JUDGE_STORE", "sqlite:///x.db", "store", "sqlite:///x.db"),
        ("JUDGE_TIMEOUT_S", "  ", "timeout_s", 60.0),
    ],
)
def test_variables(variable: str, text: str, field: str, value: object):
    assert getattr(Settings.from_environment({variable: text}), field) == value


@pytest.mark.parametrize(
    ("variable", "text", "accepted"),
    [
        ("JUDGE_TEMPERATURE", "2.1", "from 0 to 2"),
        ("JUDGE_TEMPERATURE", "nan", "from 0 to 2"),
        ("JUDGE_TEMPERATURE", "warm", "from 0 to 2"),
        ("JUDGE_TIMEOUT_S", "0", "above 0"),
        ("JUDGE_TIMEOUT_S", "inf", "above 0"),
        ("JUDGE_MAX_RETRIES", "1.5", "whole number"),
        ("JUDGE_MAX_RETRIES", "-1", "whole number"),
        ("JUDGE_MAX_CONCURRENCY", "0", "whole number from 1"),
        ("JUDGE_API_BASE", "localhost", "a URL"),
        ("JUDGE_STORE", "runs.db", "a database URL"),
    ],
)
def test_wrong_values_name_variable_and_range(variable: str, text: str, accepted: str):
    with pytest.raises(ConfigError) as caught:
        Settings.from_environment({variable: text})
    assert variable in str(caught.value)
    assert accepted in str(caught.value)


@pytest.mark.parametrize("value", [-0.1, 1.1, True, "0.5", None, float("nan")])
def test_thresholds_out_of_range(value: object):
    with pytest.raises(ConfigError, match="threshold="):
        checked_threshold(value)


def test_numbers_in_range():
    assert (checked_threshold(0), checked_threshold(1), checked_temperature(2)) == (0.0, 1.0, 2.0)


def test_keys_are_looked_up_in_order(here: Path, monkeypatch: pytest.MonkeyPatch):
    (here / "config.ini").write_text("[OPENAI]\nAPI_KEY=third\n")
    (here / "mine.ini").write_text("[openai]\napi_key = second\n")
    monkeypatch.setenv("OPENAI_API_KEY", "first")
    assert key_of("openai", "mine.ini") == "first"
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    assert key_of("openai", "mine.ini") == "second"
    assert key_of("openai", here / "mine.ini") == "second"
    assert key_of("openai") == "third"


@pytest.mark.parametrize(
    "text",
    [
        f"[Anthropic]\nApi_Key = {KEY}\n",
        f"[anthropic]\nAPI_KEY: '{KEY}'\n",
        f'; keys\n[OTHER]\nx=1\n[ANTHROPIC]\nAPI_KEY="{KEY}"\n',
        f"\ufeff[ANTHROPIC]\nAPI_KEY={KEY}\n",
        f"[ANTHROPIC]\nregion=eu\n[anthropic]\nAPI_KEY={KEY}\n",
        f"[ANTHROPIC]\r\nAPI_KEY={KEY}\r\n",
    ],
)
def test_forms_of_the_file(here: Path, text: str):
    (here / "config.ini").write_text(text, encoding="utf-8", newline="")
    assert key_of("anthropic") == KEY


def test_percent_signs_are_part_of_a_key(here: Path):
    (here / "config.ini").write_text("[OPENAI]\nAPI_KEY=a%b%%c\n")
    assert key_of("openai") == "a%b%%c"


def test_a_key_never_shows(here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert KEY not in repr(find_api_key("openai")) + str(find_api_key("openai"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (f"API_KEY={KEY}".encode(), "MissingSectionHeaderError"),
        (f"[A]\n[A]\n{KEY}".encode(), "DuplicateSectionError"),
        (f"[OPENAI]\nAPI_KEY={KEY}\n".encode("utf-16"), "UnicodeDecodeError"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_without_its_words(here: Path, content: bytes, says: str):
    (here / "broken.ini").write_bytes(content)
    with pytest.raises(ConfigError, match=says) as caught:
        find_api_key("openai", "broken.ini")
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("path", ["missing.ini", "."])
def test_a_config_path_that_is_no_file(path: str):
    with pytest.raises(ConfigError, match="is no file"):
        find_api_key("openai", path)


def test_a_missing_key_says_where_it_was_looked_for(here: Path):
    (here / "mine.ini").write_text("[OPENAI]\nAPI_KEY=\n")
    with pytest.raises(MissingAPIKeyError) as caught:
        find_api_key("openai", "mine.ini")
    error = caught.value
    assert (error.provider, error.variable, error.looked_at) == ("openai", "OPENAI_API_KEY", [here / "mine.ini"])
    assert all(
        part in str(error) for part in ("OPENAI_API_KEY", str(here / "mine.ini"), "[OPENAI] API_KEY", '"offline"')
    )


def test_providers_that_need_no_key_take_one_where_there_is_one(monkeypatch: pytest.MonkeyPatch):
    assert key_of("ollama") is None
    monkeypatch.setenv("OLLAMA_API_KEY", "given")
    assert key_of("ollama") == "given"


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch):
    import os

    monkeypatch.setenv("TEST_SET", "mine")
    monkeypatch.delenv("TEST_UNSET", raising=False)
    monkeypatch.setenv("TEST_OTHER", "")
    set_unless_given({"TEST_SET": "ours", "TEST_UNSET": "ours"})
    assert (os.environ["TEST_SET"], os.environ.pop("TEST_UNSET")) == ("mine", "ours")
    set_unless_given({"TEST_UNSET": "ours"}, unless=["TEST_OTHER"])
    assert "TEST_UNSET" not in os.environ
