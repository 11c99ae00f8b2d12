"""Asking a judge model for a verdict of a given form.

Native structured output first; where model or provider refuses it, plain JSON by prompt, remembered for the model.
What comes back is read strictly (`parsing`). A reply that gives no verdict is asked for once more, with the
fault shown; then it is a `JudgeReplyError` with the raw text, never a made-up verdict.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from langchain_llm_judge.models.attempts import CallPolicy
from langchain_llm_judge.models.question import Memory, PlainQuestion, Question, Way
from langchain_llm_judge.models.reply import Reply as Reply
from langchain_llm_judge.models.steps import arun_steps, run_steps
from langchain_llm_judge.prompts import FilledPrompt

T = TypeVar("T")

_SECRET = re.compile("key|token|secret|password|credential", re.IGNORECASE)


class JudgeModel:
    """A chat model and the policy to reach it. Safe in any number of threads, tasks and event loops.

    Args:
        build: Makes the chat model for a temperature; called once, on first use.
        label: What results call the model; never holds a key.
        policy: Time-outs and retries.
        temperature: What is sent, where we made the model; `None` sends none.
        parameters: What else decides the model's verdicts.
        listed_as: What litellm's list of models may call it.
        secrets: Texts that must not show up in any message.
        structured: `False` for a model that is known to have no native structured output.
    """

    def __init__(
        self,
        build: Callable[[float | None], Any],
        label: str,
        *,
        policy: CallPolicy | None = None,
        temperature: float | None = None,
        parameters: Mapping[str, Any] | None = None,
        listed_as: Iterable[str] = (),
        secrets: Iterable[str] = (),
        structured: bool = True,
    ) -> None:
        self._build = build
        self.label = label
        self.policy = policy or CallPolicy()
        self.temperature = temperature
        self._parameters = dict(parameters or {})
        self.listed_as = tuple(listed_as)
        self._secrets = tuple(secrets)
        self.memory = Memory(Way(structured=structured))

    @classmethod
    def of(cls, chat: Any, policy: CallPolicy | None = None) -> JudgeModel:
        """A user's chat model, taken as it is: nothing is sent that it was not set up with."""
        name = next((str(getattr(chat, key)) for key in ("model_name", "model") if getattr(chat, key, None)), "")
        kind = type(chat).__name__
        return cls(
            lambda _: chat,
            f"{kind}/{name}" if name else kind,
            policy=policy,
            parameters=_parameters_of(chat),
            listed_as=[name],
        )

    @property
    def chat(self) -> BaseChatModel:
        """The LangChain chat model; made on first use."""
        return self.chat_for(self.memory.way)

    def chat_for(self, way: Way) -> BaseChatModel:
        """The chat model for a way of asking."""
        sent = self.temperature if way.temperature else None
        with self.memory.lock:
            if sent not in self.memory.chats:
                self.memory.chats[sent] = self._build(sent)
            return self.memory.chats[sent]  # type: ignore[no-any-return]

    def ask(
        self,
        prompt: FilledPrompt,
        schema: type[BaseModel],
        config: RunnableConfig | None = None,
        read: Callable[[Any], T] = lambda reply: reply,
    ) -> Reply[T]:
        """Ask for a verdict.

        Args:
            prompt: What to ask; its user part holds the judged material.
            schema: The form of the reply, best a `ReplySchema`.
            config: Of the judge's run, so that the model's run becomes its child.
            read: From the reply to the judge's value; raises `ReplyFault` or `JudgeReplyError` for verdicts
                that are missing, extra or off the menu, which are then asked for once more.

        Raises:
            JudgeReplyError: Two replies gave no verdict.
            JudgeTimeoutError: No reply in time.
            ModelCallError: The model could not be reached, or refused.
        """
        return run_steps(Question(self, prompt, schema, config, read).steps(), lambda step: step.run())

    async def aask(
        self,
        prompt: FilledPrompt,
        schema: type[BaseModel],
        config: RunnableConfig | None = None,
        read: Callable[[Any], T] = lambda reply: reply,
    ) -> Reply[T]:
        """`ask` without blocking the event loop."""
        return await arun_steps(Question(self, prompt, schema, config, read).steps(), lambda step: step.arun())

    def say(self, prompt: FilledPrompt, config: RunnableConfig | None = None) -> Reply[str]:
        """Ask for plain text, which is taken as it comes; raises as `ask` does, apart from `JudgeReplyError`."""
        return run_steps(PlainQuestion(self, prompt, config).steps(), lambda step: step.run())

    async def asay(self, prompt: FilledPrompt, config: RunnableConfig | None = None) -> Reply[str]:
        """`say` without blocking the event loop."""
        return await arun_steps(PlainQuestion(self, prompt, config).steps(), lambda step: step.arun())

    def uncached(self) -> JudgeModel:
        """The same model with LangChain's cache off, for repeated measurement."""

        def build(temperature: float | None) -> Any:
            chat = self._build(temperature)
            return chat.model_copy(update={"cache": False}) if isinstance(chat, BaseChatModel) else chat

        twin = copy.copy(self)
        twin._build = build
        twin.memory = Memory(self.memory.way)
        return twin

    def identity(self) -> dict[str, Any]:
        """What decides this model's verdicts, as JSON values; never a key."""
        return {"model": self.label, "temperature": self.temperature, **self._parameters}

    def without_secrets(self, text: str) -> str:
        """The text with every key of this model blotted out."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def __repr__(self) -> str:
        return f"JudgeModel({self.label!r})"


def _parameters_of(chat: Any) -> dict[str, Any]:
    """The settings a chat model identifies itself by to LangChain's cache, as far as they are plain values."""
    known = getattr(chat, "_identifying_params", None)
    if not isinstance(known, Mapping):
        return {}
    plain = {name: value for name, value in known.items() if isinstance(value, str | int | float | bool)}
    return {name: value for name, value in plain.items() if not _SECRET.search(name)}
