"""The scripted judge model is a product: users test their own judging with it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError

from langchain_llm_judge import ScriptedJudgeModel


class Verdict(BaseModel):
    score: int


def test_replies_come_in_order_and_the_last_repeats():
    model = ScriptedJudgeModel(["one", AIMessage("two"), lambda messages: f"heard {messages[-1].text}"])
    assert [model.invoke(str(turn)).text for turn in range(4)] == ["one", "two", "heard 2", "heard 3"]
    assert [call[-1].text for call in model.calls] == ["0", "1", "2", "3"]
    assert model.schemas == [None] * 4


@pytest.mark.parametrize("reply", [{"score": 8}, Verdict(score=8), lambda _: {"score": 8}, lambda _: Verdict(score=8)])
def test_structured_replies(reply: Any):
    model = ScriptedJudgeModel([reply])
    assert model.with_structured_output(Verdict).invoke("?") == Verdict(score=8)
    assert model.invoke("?").text == '{"score": 8}'
    assert model.schemas == [Verdict, None]


def test_dict_schemas_are_taken_too():
    schema = {"title": "verdict", "type": "object", "properties": {"score": {"type": "integer"}}}
    model = ScriptedJudgeModel([AIMessage("", tool_calls=[{"name": "verdict", "args": {"score": 8}, "id": "1"}])])
    assert model.with_structured_output(schema).invoke("?") == {"score": 8}


def test_exceptions_are_raised_and_counted():
    model = ScriptedJudgeModel([KeyError("x"), lambda _: ValueError("y"), "ok"])
    with pytest.raises(KeyError):
        model.invoke("?")
    with pytest.raises(ValueError, match="y"):
        model.invoke("?")
    assert (model.invoke("?").text, len(model.calls)) == ("ok", 3)


def test_a_model_without_structured_output_refuses_it():
    with pytest.raises(NotImplementedError):
        ScriptedJudgeModel(["x"], structured=False).with_structured_output(Verdict)


def test_a_script_has_at_least_one_reply():
    with pytest.raises(ValidationError, match="replies"):
        ScriptedJudgeModel([])


def test_every_reply_is_given_once_to_threads_and_tasks():
    model = ScriptedJudgeModel([str(number) for number in range(40)])
    with ThreadPoolExecutor(8) as pool:
        threads = [message.text for message in pool.map(model.invoke, ["?"] * 20)]

    async def tasks() -> list[str]:
        return [message.text for message in await asyncio.gather(*(model.ainvoke("?") for _ in range(20)))]

    assert sorted(threads + asyncio.run(tasks()), key=int) == [str(number) for number in range(40)]


def test_a_scripted_message_is_not_shared():
    message = AIMessage("x")
    model = ScriptedJudgeModel([message])
    first = model.invoke("?")
    first.content = "changed"
    assert (model.invoke("?").text, message.content) == ("x", "x")
