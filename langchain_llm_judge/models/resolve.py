"""From what a user names to a judge model.

Constructing opens no connection and imports no provider: litellm, which takes seconds to import, is
loaded by the first call, or earlier for a name that its model list on disk does not know.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable
from pydantic import ValidationError

from langchain_llm_judge.config import (
    DEFAULT_MODEL,
    DEFAULT_PROVIDER,
    KEYLESS_PROVIDERS,
    Default,
    Settings,
    checked_temperature,
    find_api_key,
    openai_base_url,
    set_unless_given,
)
from langchain_llm_judge.errors import (
    ConfigError,
    MissingAPIKeyError,
    UnknownModelError,
    UnsupportedByEngineError,
    shown,
)
from langchain_llm_judge.models.attempts import CallPolicy
from langchain_llm_judge.models.catalog import has_structured_output, listed_models, provider_of
from langchain_llm_judge.models.structured import JudgeModel

if TYPE_CHECKING:
    from langchain_llm_judge.models.offline import OfflineEngine

OFFLINE = "offline"
LITELLM_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_MODE": "PRODUCTION",
}
"""No downloads of its own (prices, headers, tokenizers), and no reading of `.env` files."""


def resolve_model(
    model: Any = None,
    provider: str | None = None,
    *,
    config_path: str | Path | None = None,
    temperature: float | None = None,
) -> JudgeModel | OfflineEngine:
    """The judge model a user names.

    Args:
        model: A LangChain chat model, taken as it is; a DeepEval model; `"offline"`, the embedded engine;
            `"provider:name"` (LangChain); `"provider/name"` or a bare name (litellm); `None`, the
            environment's `JUDGE_MODEL` or the default.
        provider: A litellm provider; `None` where the name says it all.
        config_path: Ini file with the provider's key, section `[PROVIDER]`, entry `API_KEY`.
        temperature: From 0 to 2; `JUDGE_TEMPERATURE` by default. Plays no part for a model object.

    Raises:
        UnknownModelError: Neither LangChain nor litellm knows the name.
        MissingAPIKeyError: The provider needs a key and there is none.
        ConfigError: A setting is out of range, or the model is none of the above.
    """
    if _is_resolved(model):
        return model  # type: ignore[no-any-return]
    settings = Settings.from_environment()
    if temperature is not None:
        temperature = checked_temperature(temperature)
    policy = CallPolicy(timeout_s=settings.timeout_s, max_retries=settings.max_retries)
    if isinstance(model, Runnable):
        return JudgeModel.of(model, policy)
    if _is_deepeval_model(model):
        from langchain_llm_judge.models.deepeval_chat import as_chat_model

        set_unless_given(LITELLM_ENVIRONMENT)  # it may reach its model through litellm
        return JudgeModel.of(as_chat_model(model), policy)
    name, provider = _given(model, provider, settings)
    if name == OFFLINE:
        from langchain_llm_judge.models.offline import OfflineEngine

        return OfflineEngine()
    sent = settings.temperature if temperature is None else temperature
    if provider is None and ":" in name.split("/")[0] and name not in listed_models():
        return _langchain_model(name, settings, policy, config_path, sent)
    return _litellm_model(name, provider, settings, policy, config_path, sent)


def resolve_chat_model(
    model: Any = None,
    provider: str | None = None,
    *,
    config_path: str | Path | None = None,
    temperature: float | None = None,
    purpose: str = "do this",
) -> JudgeModel:
    """`resolve_model` for what the embedded engine cannot do.

    Raises:
        UnsupportedByEngineError: The model is `"offline"`.
    """
    resolved = resolve_model(model, provider, config_path=config_path, temperature=temperature)
    if isinstance(resolved, JudgeModel):
        return resolved
    raise UnsupportedByEngineError(
        f'the embedded engine (model="offline") cannot {purpose}; give a chat model, or a name such as '
        f"'openai/gpt-4o-mini'"
    )


def _given(model: Any, provider: str | None, settings: Settings) -> tuple[str, str | None]:
    """Name and provider after the environment and the defaults have had their say."""
    owner = None if isinstance(provider, Default) else _clean(provider)
    if model is None or isinstance(model, Default):
        return _left_open(owner, settings)
    if not isinstance(model, str) or not model.strip():
        raise ConfigError(
            f"model={shown(model)} is no judge model; give a LangChain chat model, a DeepEval model, "
            f"\"offline\", or a name such as 'openai:gpt-4o-mini' or 'anthropic/claude-haiku-4-5-20251001'"
        )
    return model.strip(), owner


def _left_open(provider: str | None, settings: Settings) -> tuple[str, str | None]:
    """Name and provider where the user named no model."""
    owner = provider or _clean(settings.provider)
    if settings.model is not None:
        return settings.model, owner
    if owner in {None, DEFAULT_PROVIDER}:
        return str(DEFAULT_MODEL), str(DEFAULT_PROVIDER)
    source = "provider" if provider else "JUDGE_PROVIDER"
    raise ConfigError(f"{source}={shown(owner)} is given without a model; name one with model= or JUDGE_MODEL")


def _clean(provider: str | None) -> str | None:
    if provider is None:
        return None
    if not isinstance(provider, str) or not provider.strip():
        raise ConfigError(f"provider={shown(provider)} is no provider; give a name such as 'anthropic', or None")
    return provider.strip().lower()


def _is_resolved(model: Any) -> bool:
    """Whether another judge has resolved it already; the engine is told by its label, so as not to import it."""
    return isinstance(model, JudgeModel) or (not isinstance(model, str) and getattr(model, "label", None) == OFFLINE)


def _is_deepeval_model(model: Any) -> bool:
    """Told by the names of its classes, since importing DeepEval would cost everybody seconds."""
    return any(
        kind.__name__ == "DeepEvalBaseLLM" and kind.__module__.split(".")[0] == "deepeval"
        for kind in type(model).__mro__
    )


def _litellm_model(
    name: str,
    provider: str | None,
    settings: Settings,
    policy: CallPolicy,
    config_path: str | Path | None,
    temperature: float | None,
) -> JudgeModel:
    full = name if provider is None or name.startswith(f"{provider}/") else f"{provider}/{name}"
    owner = _litellm_provider(full)
    api_base = settings.api_base
    key = _key_or_none(owner, config_path, needed=api_base is None)

    listed_as = [full, full.partition("/")[2]]

    def build(sent: float | None) -> Any:
        return _chat_litellm(full, owner, key or ("none" if api_base else None), api_base, policy, sent)

    return JudgeModel(
        build,
        full,
        policy=policy,
        temperature=temperature,
        listed_as=listed_as,
        structured=has_structured_output(listed_as),
        secrets=[key] if key else [],
    )


def _key_or_none(provider: str, config_path: str | Path | None, *, needed: bool) -> str | None:
    try:
        key = find_api_key(provider, config_path)
    except MissingAPIKeyError:
        if needed:
            raise
        return None
    return key.get_secret_value() if key else None


def _litellm_provider(name: str) -> str:
    """The provider litellm reaches a name through.

    Raises:
        UnknownModelError: litellm does not know the name.
    """
    prefix, slash, _ = name.partition("/")
    provider = prefix if slash and prefix in KEYLESS_PROVIDERS else provider_of(name)
    if provider:
        return provider
    try:
        return str(_litellm().get_llm_provider(model=name)[1])
    except Exception:
        raise _unknown(name) from None


def _unknown(name: str) -> UnknownModelError:
    return UnknownModelError(
        f"unknown judge model {shown(name)}; expected 'provider:name' (LangChain) or 'provider/name' (litellm), "
        f"for example 'openai:gpt-4o-mini' or 'anthropic/claude-haiku-4-5-20251001'",
        model=name,
    )


def _litellm() -> Any:
    """litellm, imported quietly: no download of its price list, no `.env` loading, no debug prints."""
    set_unless_given(LITELLM_ENVIRONMENT)
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _chat_litellm(
    name: str, provider: str, key: str | None, api_base: str | None, policy: CallPolicy, temperature: float | None
) -> Any:
    _litellm()
    from langchain_litellm import ChatLiteLLM

    # One attempt of the integration's, none of the SDK's below it: retries are ours.
    sent: dict[str, Any] = {"max_retries": 0, "drop_params": True}
    if provider == "openai":
        sent["client"] = _openai_client(key, api_base or openai_base_url(), policy)
    chat = ChatLiteLLM(
        model=name,
        api_key=key,
        api_base=api_base,
        temperature=temperature,
        request_timeout=policy.timeout_s,
        max_retries=1,
        model_kwargs=sent,
        disable_streaming=True,  # nobody watches a verdict come in, though handlers of the app may ask models to stream
    )
    chat.client = _QuietLitellm()
    return chat


class _QuietLitellm:
    """litellm's calls, as the integration makes them, without the warnings that come with them.

    litellm imports on as it is used, and silences only at its first import what pydantic warns of in later ones: where
    filters are reset in between, as pytest does for each test, and warnings are errors, calls would fail. And
    its response holds objects that LangChain's tracers can only serialize with a warning, so it goes on as a dict.
    """

    def completion(self, **arguments: Any) -> Any:
        _silence()
        return _plain(_litellm().completion(**arguments))

    async def acompletion(self, **arguments: Any) -> Any:
        _silence()
        return _plain(await _litellm().acompletion(**arguments))


def _plain(response: Any) -> Any:
    """A response as a dict; a stream as it is."""
    return response.model_dump() if hasattr(response, "model_dump") else response


def _silence() -> None:
    warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier.*", category=UserWarning)


def _openai_client(key: str | None, base_url: str | None, policy: CallPolicy) -> Any:
    """A client for litellm to use: of its own it makes one in each thread that calls first, and closes none of them."""
    import openai

    return openai.OpenAI(api_key=key, base_url=base_url, max_retries=0, timeout=policy.timeout_s)


def _langchain_model(
    name: str, settings: Settings, policy: CallPolicy, config_path: str | Path | None, temperature: float | None
) -> JudgeModel:
    provider, _, bare = name.partition(":")
    key = _key_or_none(provider, config_path, needed=False)
    own: dict[str, Any] = {"disable_streaming": True, **({"api_key": key} if key else {})}
    if settings.api_base:
        own["base_url"] = settings.api_base
        own.setdefault("api_key", "none")
    plain = _init_chat_model(name, provider, own)
    takes = {alias for field, info in type(plain).model_fields.items() for alias in (field, info.alias)}
    wanted = {"max_retries": 0, "timeout": policy.timeout_s}
    own |= {setting: value for setting, value in wanted.items() if setting in takes}
    profile = getattr(plain, "profile", None) or {}
    sends = temperature if "temperature" in takes and profile.get("temperature") is not False else None

    def build(sent: float | None) -> Any:
        return _init_chat_model(name, provider, own if sent is None else {**own, "temperature": sent})

    return JudgeModel(
        build,
        name,
        policy=policy,
        temperature=sends,
        listed_as=[f"{provider}/{bare}", bare],
        secrets=[key] if key else [],
    )


def _init_chat_model(name: str, provider: str, own: dict[str, Any]) -> Any:
    from langchain.chat_models import init_chat_model

    try:
        return init_chat_model(name, **own)
    except ImportError as error:
        raise ConfigError(f"judge model {shown(name)} needs a LangChain integration: {error}") from error
    except Exception as error:
        if isinstance(error, ValueError) and not isinstance(error, ValidationError):
            raise _unknown(name) from error
        if "api_key" not in own:
            find_api_key(provider)
        raise ConfigError(f"judge model {shown(name)} cannot be set up ({type(error).__name__})") from None
