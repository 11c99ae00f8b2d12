"""A chat model for tests: it replies from a script and records what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field, PrivateAttr

Reply: TypeAlias = "str | dict[str, Any] | BaseModel | BaseMessage | BaseException | Callable[[list[BaseMessage]], Any]"


class ScriptedJudgeModel(BaseChatModel):
    """A chat model that gives `replies` in order, then repeats the last.

    A reply is a text, a dict or pydantic object (a structured reply), a message, an exception to raise, or
    a callable that takes the messages and gives one of these. Safe in threads and tasks.

    Args:
        replies: The script; at least one item.
        structured: `False` makes it refuse native structured output, as some providers do.

    Example:
        >>> model = ScriptedJudgeModel(["yes"])
        >>> model.invoke("Is it?").text
        'yes'
        >>> len(model.calls)
        1
    """

    replies: list[Any] = Field(min_length=1)
    structured: bool = True

    _calls: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _schemas: list[type[BaseModel] | None] = PrivateAttr(default_factory=list)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, replies: Sequence[Reply], *, structured: bool = True, **kwargs: Any) -> None:
        super().__init__(**{"replies": list(replies), "structured": structured, **kwargs})

    @property
    def calls(self) -> list[list[BaseMessage]]:
        """The message lists it was asked, in order."""
        return self._calls

    @property
    def schemas(self) -> list[type[BaseModel] | None]:
        """The reply schema of each call: a pydantic class, or `None` for plain text."""
        return self._schemas

    @property
    def _llm_type(self) -> str:
        return "scripted-judge"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tool definitions, as a real integration does.

        Raises:
            NotImplementedError: The model was made with `structured=False`.
        """
        if not self.structured:
            raise NotImplementedError("this model was scripted without structured output")
        schema = tools[0] if len(tools) == 1 and isinstance(tools[0], type) else None
        definitions = [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=definitions, tool_choice=tool_choice, reply_schema=schema, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        schema = kwargs.get("reply_schema")
        with self._lock:
            item = self.replies[min(len(self._calls), len(self.replies) - 1)]
            self._calls.append(messages)
            self._schemas.append(schema)
        # Outside the lock: a scripted reply may wait, and other calls must not wait for it.
        while callable(item) and not isinstance(item, BaseMessage | BaseException):
            item = item(messages)
        if isinstance(item, BaseException):
            raise item
        return ChatResult(generations=[ChatGeneration(message=_as_message(item, schema))])


def _as_message(item: Any, schema: type[BaseModel] | None) -> BaseMessage:
    if isinstance(item, BaseMessage):
        return item.model_copy(deep=True)
    if isinstance(item, str):
        return AIMessage(item)
    if isinstance(item, BaseModel):
        item = item.model_dump(mode="json")
    if schema is None or not isinstance(item, dict):
        return AIMessage(json.dumps(item))
    return AIMessage("", tool_calls=[{"name": schema.__name__, "args": item, "id": "reply", "type": "tool_call"}])
