"""Messages in any form, and the turns of a conversation."""

from __future__ import annotations

import copy
import json

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)

from langchain_llm_judge import TraceError
from langchain_llm_judge.trace.dialogue import as_messages, is_message, span


def openai_call(arguments: object, name: str = "f", call_id: object = "c1") -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


RUN = [
    SystemMessage("s"),
    HumanMessage("q"),
    AIMessage(
        "t",
        tool_calls=[{"name": "f", "args": {"a": 1}, "id": "1", "type": "tool_call"}],
        invalid_tool_calls=[{"name": "g", "args": "{", "id": "2", "error": "e", "type": "invalid_tool_call"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        name="bob",
    ),
    ToolMessage("r", tool_call_id="1", status="error", artifact={"x": 1}, name="f"),
    AIMessage("done", response_metadata={"finish_reason": "stop"}),
]


@pytest.mark.parametrize(
    "stored",
    [
        lambda run: [dumpd(message) for message in run],
        messages_to_dict,
        lambda run: [message.model_dump() for message in run],
        lambda run: json.loads(json.dumps([message.model_dump(mode="json") for message in run])),
    ],
    ids=["dumpd", "messages_to_dict", "model_dump", "json"],
)
def test_langchain_messages_come_back_from_every_stored_form(stored):
    assert as_messages(stored(RUN)) == RUN


@pytest.mark.parametrize(
    ("arguments", "args"),
    [
        ('{"city": "Paris"}', {"city": "Paris"}),
        ({"city": "Paris"}, {"city": "Paris"}),
        ("", {}),
        ("  \n", {}),
        (None, {}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
    ],
)
def test_arguments_that_are_an_object(arguments: object, args: dict):
    (message,) = as_messages([{"role": "assistant", "content": None, "tool_calls": [openai_call(arguments)]}])
    assert message.tool_calls == [{"name": "f", "args": args, "id": "c1", "type": "tool_call"}]
    assert message.invalid_tool_calls == []


@pytest.mark.parametrize("arguments", ['{"city": "Par', "[1]", "3", "null", "nonsense", "{'a': 1}", "[" * 100_000])
def test_f03_arguments_that_are_no_object_keep_their_text(arguments: str):
    (message,) = as_messages([{"role": "assistant", "content": "", "tool_calls": [openai_call(arguments)]}])
    assert message.tool_calls == []
    assert message.invalid_tool_calls[0]["args"] == arguments


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("user", "hi"), HumanMessage("hi")),
        (("assistant", "hi"), AIMessage("hi")),
        (("system", "hi"), SystemMessage("hi")),
        ({"role": "developer", "content": "hi"}, SystemMessage("hi")),
        ({"role": "user", "content": [{"type": "text", "text": "hi"}]}, HumanMessage([{"type": "text", "text": "hi"}])),
        ({"role": "tool", "content": {"a": 1}, "tool_call_id": 7}, ToolMessage('{"a": 1}', tool_call_id="7")),
        ({"role": "tool", "content": None}, ToolMessage("", tool_call_id="")),
        ({"role": "tool", "content": False, "tool_call_id": "c"}, ToolMessage("false", tool_call_id="c")),
        ({"role": "function", "name": "f", "content": "r"}, FunctionMessage(content="r", name="f")),
        ({"role": "assistant", "content": "a", "refusal": None, "audio": None}, AIMessage("a")),
        (
            {"role": "assistant", "content": "", "refusal": "No."},
            AIMessage("", additional_kwargs={"refusal": "No."}),
        ),
        (
            {"role": "assistant", "content": "a", "reasoning_content": "r"},
            AIMessage("a", additional_kwargs={"reasoning_content": "r"}),
        ),
        (
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}},
            AIMessage("", tool_calls=[{"name": "f", "args": {"a": 1}, "id": None, "type": "tool_call"}]),
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}]},
            AIMessage("", tool_calls=[{"name": "f", "args": {"__arg1": "x"}, "id": "c", "type": "tool_call"}]),
        ),
        ({"role": "critic", "content": "hm"}, AIMessage("hm", name="critic")),
        (ChatMessage("hi", role="user"), HumanMessage("hi")),
        (ChatMessage("hi", role="assistant"), AIMessage("hi")),
        ("bare", HumanMessage("bare")),
        ({"type": "remove", "id": "1"}, RemoveMessage(id="1")),
    ],
)  # fmt: skip
def test_messages_of_other_forms(given: object, expected: object):
    assert as_messages([given]) == [expected]


def test_anthropic_results_inside_a_user_message():
    blocks = [
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "r"}], "is_error": True},
        {"type": "text", "text": "go on"},
    ]
    result, said = as_messages([{"role": "user", "content": blocks}])
    assert (result.tool_call_id, result.status, result.content) == ("c1", "error", [{"type": "text", "text": "r"}])
    assert said == HumanMessage([{"type": "text", "text": "go on"}])


def test_items_of_the_responses_api():
    items = [
        {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c1", "id": "fc1"},
        {"type": "function_call_output", "call_id": "c1", "output": "r"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
    ]
    messages = as_messages(items)
    assert [message.type for message in messages] == ["ai", "ai", "tool", "ai"]
    assert messages[1].tool_calls[0]["id"] == messages[2].tool_call_id == "c1"


def test_chunks_of_one_message_are_joined():
    piece = {"index": 0, "type": "tool_call_chunk"}
    stream = [
        (AIMessageChunk("he", id="1"), {"langgraph_node": "model"}),
        (AIMessageChunk("llo", id="1"), {}),
        (AIMessageChunk("", id="2", tool_call_chunks=[{"name": "f", "args": '{"a"', "id": "c", **piece}]), {}),
        (AIMessageChunk("", id="2", tool_call_chunks=[{"name": None, "args": ":1}", "id": None, **piece}]), {}),
    ]
    before = copy.deepcopy(stream)
    first, second = as_messages(stream)
    assert first.text == "hello"
    assert second.tool_calls[0]["args"] == {"a": 1}
    assert stream == before


def test_nothing_given_is_changed():
    given = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [openai_call('{"a": 1}')],
            "additional_kwargs": {"k": [1]},
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
    ]
    before = copy.deepcopy(given)
    as_messages(given)
    assert given == before


@pytest.mark.parametrize("item", [3, None, ("stranger", "x"), {"content": "x"}, {"role": 3, "content": ""}, ["a"], {}])
def test_what_is_no_message_is_named(item: object):
    with pytest.raises(TraceError, match="item 1 is no message: ") as caught:
        as_messages([("user", "q"), item])
    assert caught.value.seen == 1
    assert not is_message(item)


def test_a_state_with_a_role_is_no_message():
    assert not is_message({"role": "admin", "messages": [("user", "q")]})


CONVERSATION = [
    SystemMessage("s"),
    AIMessage("Hello!"),
    HumanMessage("a"),
    SystemMessage("s2"),
    HumanMessage("b"),
    AIMessage("1"),
    HumanMessage("summary", additional_kwargs={"lc_source": "summarization"}),
    AIMessage("2"),
    HumanMessage("c"),
    AIMessage("3"),
]


@pytest.mark.parametrize(
    ("turn", "task", "said"),
    [
        ("last", "c", ["3"]),
        (1, "c", ["3"]),
        (-1, "c", ["3"]),
        (0, "a\n\nb", ["s", "Hello!", "1", "summary", "2"]),
        (-2, "a\n\nb", ["s", "Hello!", "1", "summary", "2"]),
        ("all", "a\n\nb", ["s", "Hello!", "1", "summary", "2", "c", "3"]),
    ],
)
def test_turns(turn, task: str, said: list[str]):
    part = span(CONVERSATION, turn)
    assert part.task == task
    assert [message.content for message in part.messages] == said


@pytest.mark.parametrize("turn", [2, -3])
def test_a_turn_that_is_not_there(turn: int):
    with pytest.raises(TraceError, match=r"outside the conversation of 2 turns; give .* from -2 to 1") as caught:
        span(CONVERSATION, turn)
    assert caught.value.seen == 2


def test_without_a_user_there_is_one_turn_without_a_task():
    assert span([AIMessage("x")], 0) == span([AIMessage("x")], "last")
    assert span([AIMessage("x")], "last").task is None
    with pytest.raises(TraceError, match="outside the conversation of 1 turn;"):
        span([AIMessage("x")], 1)


def test_pictures_in_a_question_are_labelled():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    question = HumanMessage([{"type": "text", "text": "What is it?"}, picture])
    assert span([question], "last").task == "What is it?\n[image]"
