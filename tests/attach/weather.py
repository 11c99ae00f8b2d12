"""Real agents with scripted models, for judging them where they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool

ASK = {"messages": [("user", "Weather in Paris?")]}


class Scripted(BaseChatModel):
    """Says what `answer` makes of the messages so far."""

    answer: Callable[[list[BaseMessage]], AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any):
        return self.bind(tools=[convert_to_openai_tool(one) for one in tools])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])


@tool
def get_weather(city: str) -> str:
    """Get the weather of a city."""
    return f"{city}: 21C"


def call(name: str, call_id: str = "c1", **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": call_id, "type": "tool_call"}])


def weather_man(messages: list[BaseMessage]) -> AIMessage:
    """One call, then the answer; told to correct itself, it says so."""
    if messages[-1].type == "human" and not any(message.type == "tool" for message in messages):
        return call("get_weather", city="Paris")
    return AIMessage("Corrected: 21C." if messages[-1].type == "human" else "It is 21C in Paris.")


def weather_agent(tools: Sequence[Any] = (get_weather,), answer: Any = weather_man, **settings: Any):
    return create_agent(Scripted(answer=answer), list(tools), **settings)
