"""Settings: the only reader of the environment and of `config.ini`.

The environment is read when a judge is constructed, never on import.
"""

from __future__ import annotations

import configparser
import math
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, SecretStr

from langchain_llm_judge.errors import ConfigError, MissingAPIKeyError, shown

T = TypeVar("T")


class Default(str):
    """A default that still tells "left out" from "given": the environment overrides only the former."""

    __slots__ = ()


DEFAULT_PROVIDER = Default("anthropic")
DEFAULT_MODEL = Default("claude-haiku-4-5-20251001")
DEFAULT_THRESHOLD = 0.5

KEYLESS_PROVIDERS = frozenset(
    {"ollama", "ollama_chat", "vllm", "hosted_vllm", "llamafile", "lm_studio", "xinference", "lemonade"}
    | {"bedrock", "sagemaker", "sagemaker_chat", "vertex_ai", "oci", "github_copilot"}
)
"""litellm providers that serve local models, or find their credentials elsewhere, and ask for no key."""


class Settings(BaseModel):
    """What the environment says about judging."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    provider: str | None = None
    """`JUDGE_PROVIDER`."""
    model: str | None = None
    """`JUDGE_MODEL`."""
    temperature: float = 0.0
    """`JUDGE_TEMPERATURE`, from 0 to 2."""
    api_base: str | None = None
    """`JUDGE_API_BASE`: address of the judge model's server, where it is not the provider's own."""
    timeout_s: float = 60.0
    """`JUDGE_TIMEOUT_S`: seconds one attempt may take."""
    max_retries: int = 3
    """`JUDGE_MAX_RETRIES`: attempts after the first."""
    max_concurrency: int = 10
    """`JUDGE_MAX_CONCURRENCY`: evaluations at once in `batch` and `abatch`, where the config says nothing."""
    store: str | None = None
    """`JUDGE_STORE`: URL of the experiment store."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the `JUDGE_…` variables.

        Raises:
            ConfigError: A value cannot be read or lies outside its range; the message names variable and range.
        """
        env = os.environ if environment is None else environment

        def read(name: str, parse: Callable[[str], T], accepted: str, ok: Callable[[T], bool]) -> dict[str, T]:
            text = env.get(name, "").strip()
            if not text:
                return {}
            try:
                value = parse(text)
            except ValueError:
                value = None
            if value is None or not ok(value):
                raise ConfigError(f"{name}={shown(text)} is not {accepted}; correct or unset it")
            return {name.removeprefix("JUDGE_").lower(): value}

        return cls.model_validate(
            read("JUDGE_PROVIDER", str, "a provider name", bool)
            | read("JUDGE_MODEL", str, "a model name", bool)
            | read("JUDGE_TEMPERATURE", float, "a number from 0 to 2", lambda t: 0 <= t <= 2)
            | read("JUDGE_API_BASE", str, "a URL such as http://localhost:8000/v1", lambda u: "://" in u)
            | read("JUDGE_TIMEOUT_S", float, "a number of seconds above 0", lambda s: 0 < s < math.inf)
            | read("JUDGE_MAX_RETRIES", int, "a whole number from 0 to 100", lambda n: 0 <= n <= 100)
            | read("JUDGE_MAX_CONCURRENCY", int, "a whole number from 1", lambda n: n >= 1)
            | read("JUDGE_STORE", str, "a database URL such as sqlite:///llm_judge.db", lambda u: "://" in u)
        )


def checked_threshold(threshold: object) -> float:
    """A passing threshold in [0, 1].

    Raises:
        ConfigError: It is no number, or lies outside.
    """
    return _share("threshold", threshold, high=1.0, example="0.7")


def checked_temperature(temperature: object) -> float:
    """A sampling temperature in [0, 2].

    Raises:
        ConfigError: It is no number, or lies outside.
    """
    return _share("temperature", temperature, high=2.0, example="0.7")


def _share(name: str, value: object, *, high: float, example: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= high:
        raise ConfigError(f"{name}={shown(value)} is outside 0 to {high:g}; give a number such as {example}")
    return float(value)


def find_api_key(provider: str, config_path: str | Path | None = None) -> SecretStr | None:
    """The key of a litellm provider, or `None` for a provider that serves local models.

    Looked up in this order: environment `<PROVIDER>_API_KEY`; section `[PROVIDER]`, entry `API_KEY` of
    the file at `config_path`; the same of `config.ini` in the working directory. Section and entry
    names match without case.

    Raises:
        MissingAPIKeyError: None of these has a key.
        ConfigError: The file at `config_path` is not there or cannot be read.
    """
    variable = f"{provider.upper().replace('-', '_')}_API_KEY"
    key = os.environ.get(variable, "").strip()
    if key:
        return SecretStr(key)
    looked_at = []
    given = Path(config_path).expanduser() if config_path is not None else None
    if given is not None and not given.is_file():
        raise ConfigError(f"config_path={shown(str(config_path))} is no file; give the path of an ini file")
    for path in (given, Path("config.ini")):
        if path is None or not path.is_file():
            continue
        looked_at.append(path.absolute())
        key = _key_in_file(path, provider)
        if key:
            return SecretStr(key)
    if provider in KEYLESS_PROVIDERS:
        return None
    files = ", ".join(str(path) for path in looked_at) or f"{Path('config.ini').absolute()} (not there)"
    raise MissingAPIKeyError(
        f"no API key for judge provider {provider!r}: {variable} is not set and there is no "
        f'[{provider.upper()}] API_KEY in {files}; set {variable}, or use model="offline" to judge without a model',
        provider=provider,
        variable=variable,
        looked_at=looked_at or [Path("config.ini").absolute()],
    )


def openai_base_url() -> str | None:
    """The address of OpenAI's server, where the environment names another than its own."""
    return os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or None


def _key_in_file(path: Path, provider: str) -> str:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(path.read_text(encoding="utf-8-sig"), source=str(path))
    except (configparser.Error, OSError, UnicodeDecodeError) as error:
        # The parser quotes the offending line, which may hold the key.
        raise ConfigError(
            f"{path} cannot be read as an ini file ({type(error).__name__}); "
            f"expected a section [{provider.upper()}] with an entry API_KEY"
        ) from None
    sections = (parser[name] for name in parser.sections() if name.strip().lower() == provider.lower())
    keys = (section.get("api_key", "").strip().strip("\"'") for section in sections)
    return next(filter(None, keys), "")


def set_unless_given(variables: Mapping[str, str], *, unless: Iterable[str] = ()) -> None:
    """Set environment variables that the user has not set; for libraries that are configured in no other way.

    Args:
        variables: Names and values.
        unless: Other names for the same settings: nothing is set where the user has set one of these.
    """
    if any(name in os.environ for name in unless):
        return
    for name, value in variables.items():
        os.environ.setdefault(name, value)
