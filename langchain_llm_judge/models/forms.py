"""How a judge model is asked for a form: the provider's own structured output, or words and a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence
from pydantic import BaseModel

from langchain_llm_judge.models.failures import causes
from langchain_llm_judge.models.parsing import raw_text
from langchain_llm_judge.models.replies import ReplyFault
from langchain_llm_judge.prompts import FilledPrompt

_FORM = "Reply with one JSON object and nothing else. It has to fit this JSON Schema:\n{schema}"
_AGAIN = "That reply gives no verdict: {fault}\nReply again, for the same material. {form}"
_SHOWN_AGAIN = 4000


class NoNativeForm(Exception):
    """The model has no native structured output for the schema."""


def native_form(chat: Any, schema: type[BaseModel]) -> Runnable[Any, Any]:
    """The chat model bound to the provider's own form of structured output.

    Only the bound model where the integration builds `model | parser`, as all do; what it says is read by us.
    """
    if isinstance(chat, RunnableBinding):
        if chat.kwargs:
            raise NoNativeForm  # with_structured_output would drop what is bound
        return native_form(chat.bound, schema).with_config(chat.config)
    try:
        chain = chat.with_structured_output(schema)
        if isinstance(chain, RunnableSequence) and isinstance(chain.first, RunnableBinding):
            return chain.first
    except Exception as error:
        raise NoNativeForm from error
    try:
        whole: Runnable[Any, Any] = chat.with_structured_output(schema, include_raw=True)
    except TypeError:
        return chain  # type: ignore[no-any-return]
    return whole


def as_message(answer: Any) -> BaseMessage:
    """What a runnable gave, as the message it was: `include_raw` wraps it, some models parse it themselves."""
    if isinstance(answer, Mapping) and isinstance(answer.get("raw"), BaseMessage):
        answer = answer["raw"]
    if isinstance(answer, BaseMessage):
        return answer
    if isinstance(answer, BaseModel):
        answer = answer.model_dump(mode="json")
    return AIMessage(answer if isinstance(answer, str) else json.dumps(answer, default=str))


def said_in(error: BaseException) -> BaseMessage | None:
    """The model's words, where an integration raises an error over a reply it could not parse."""
    for cause in causes(error):
        if isinstance(message := getattr(cause, "raw_message", None), BaseMessage):
            return message
        completion = getattr(cause, "completion", None)
        if choices := getattr(completion, "choices", None):
            said = choices[0].message.content or ""
            return AIMessage(said, response_metadata={"finish_reason": choices[0].finish_reason})
        if isinstance(text := getattr(cause, "llm_output", None), str):
            return AIMessage(text)
    return None


def opening(prompt: FilledPrompt) -> list[BaseMessage]:
    system = [SystemMessage(prompt.system)] if prompt.system.strip() else []
    return [*system, HumanMessage(prompt.user)]


def with_form(messages: Sequence[BaseMessage], schema: type[BaseModel]) -> list[BaseMessage]:
    """The messages with the form of the reply described in the system message."""
    form = form_of(schema)
    if isinstance(messages[0], SystemMessage):
        return [SystemMessage(f"{messages[0].text}\n\n{form}"), *messages[1:]]
    return [SystemMessage(form), *messages]


@cache
def form_of(schema: type[BaseModel]) -> str:
    """The form of a reply in words and JSON Schema."""
    return _FORM.format(schema=json.dumps(schema.model_json_schema(), separators=(",", ":"), ensure_ascii=False))


def ask_again(message: BaseMessage, fault: ReplyFault, schema: type[BaseModel]) -> list[BaseMessage]:
    said = raw_text(message)[:_SHOWN_AGAIN] or "(empty reply)"
    return [AIMessage(said), HumanMessage(_AGAIN.format(fault=fault, form=form_of(schema)))]
