"""A DeepEval model as a LangChain chat model. The model is there already, so DeepEval is not imported here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel

_ATTACHMENT = re.compile(r"\[(?=DEEPEVAL:)")


def without_attachments(text: str) -> str:
    """The text with DeepEval's marks of images and files made harmless; it would open the path they name."""
    return _ATTACHMENT.sub("⁅", text)


class DeepEvalChatModel(BaseChatModel):
    """A DeepEval model as a LangChain chat model, so that any judge can use it.

    It is asked for plain text, and replies are read by us: DeepEval's own reading of a schema would hide
    what the model said.
    """

    llm: Any
    """The `DeepEvalBaseLLM`."""

    @property
    def model_name(self) -> str:
        """The model's own name."""
        return str(self.llm.get_model_name())

    @property
    def _llm_type(self) -> str:
        return "deepeval"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _result(self.llm.generate(_one_text(messages)))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _result(await self.llm.a_generate(_one_text(messages)))


def as_chat_model(model: Any) -> BaseChatModel:
    """A DeepEval model as a LangChain chat model.

    Args:
        model: A `DeepEvalBaseLLM`: one of DeepEval's own or a user's.
    """
    return DeepEvalChatModel(llm=model)


def _one_text(messages: Sequence[BaseMessage]) -> str:
    """Messages as the one prompt a DeepEval model takes; an earlier reply of its own is named as such."""
    texts = [
        f"Your reply was:\n{message.text}" if isinstance(message, AIMessage) else str(message.text)
        for message in messages
    ]
    return without_attachments("\n\n".join(texts))


def _result(said: Any) -> ChatResult:
    """What a DeepEval model gave: a text or object, with the cost beside it where it knows one."""
    answer, cost = said if isinstance(said, tuple) and len(said) == 2 else (said, None)
    if isinstance(answer, BaseModel):
        answer = answer.model_dump_json()
    message = AIMessage(str(answer), usage_metadata=_tokens(cost))
    return ChatResult(generations=[ChatGeneration(message=message)])


def _tokens(cost: Any) -> UsageMetadata | None:
    given, taken = getattr(cost, "input_tokens", None), getattr(cost, "output_tokens", None)
    if not isinstance(given, int) or not isinstance(taken, int):
        return None
    return UsageMetadata(input_tokens=given, output_tokens=taken, total_tokens=given + taken)
