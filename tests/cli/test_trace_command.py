"""`llm-judge trace` and `llm-judge version`."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import jsonschema_rs
import pytest
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, messages_to_dict

from langchain_llm_judge import AgentTrace, to_trace

CALL = {"name": "get_weather", "args": {"city": "Zürich ☔"}, "id": "1"}
MESSAGES = [
    HumanMessage("Wetter?"),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("rain", tool_call_id="1"),
    AIMessage("Rain."),
]
FORMS = {
    "messages_to_dict": json.dumps(messages_to_dict(MESSAGES)),
    "model_dump": json.dumps([message.model_dump(mode="json") for message in MESSAGES]),
    "a dumped state": dumps({"messages": MESSAGES}),
    "a trace": to_trace(MESSAGES).to_json(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_way_to_store_messages_converts_to_the_same_trace(command_line, form: str):
    ran = command_line("trace", "convert", "-", stdin=FORMS[form].encode())
    assert (ran.code, ran.err) == (0, "")
    assert AgentTrace.model_validate_json(ran.out) == to_trace(MESSAGES)


def test_what_convert_prints_fits_the_schema_and_converts_to_itself(command_line, tmp_path: Path):
    schema = json.loads(command_line("trace", "schema").out)
    first = command_line("trace", "convert", "-", stdin=FORMS["model_dump"].encode()).out
    jsonschema_rs.validate(schema, json.loads(first))
    assert command_line("trace", "convert", "-", stdin=first.encode()).out == first
    assert command_line("trace", "convert", "-", "--json", stdin=first.encode()).out == first


def test_hints_of_to_trace_are_options(command_line):
    state = json.dumps({"idea": "Wetter?", "log": json.loads(FORMS["model_dump"]), "out": "Rain."}).encode()
    ran = command_line("trace", "convert", "-", "--messages-key", "log", "--task-key", "idea", stdin=state)
    assert AgentTrace.model_validate_json(ran.out).calls()[0].args == CALL["args"]
    ran = command_line("trace", "convert", "-", "--task", "Else?", "--answer-key", "out", stdin=state)
    assert AgentTrace.model_validate_json(ran.out).task == "Else?"
    refused = command_line("trace", "convert", "-", stdin=b'{"idea": "x"}')
    assert refused.code == 2
    assert "--messages-key" in refused.err


@pytest.mark.parametrize(("turn", "task"), [("last", "two"), ("1", "two"), ("0", "one"), ("-2", "one")])
def test_turn(command_line, turn: str, task: str):
    turns = [
        {"role": role, "content": text} for role, text in [("user", "one"), ("ai", "1"), ("user", "two"), ("ai", "2")]
    ]
    ran = command_line("trace", "convert", "-", "--turn", turn, stdin=json.dumps(turns).encode())
    assert AgentTrace.model_validate_json(ran.out).task == task


@pytest.mark.parametrize("turn", ["first", "", "1.5", "9"])
def test_a_turn_there_is_not_is_wrong_use(command_line, turn: str):
    ran = command_line("trace", "convert", "-", "--turn", turn, stdin=FORMS["model_dump"].encode())
    assert (ran.code, ran.out) == (2, "")
    assert "turn" in ran.err


def test_version(command_line):
    try:
        installed = importlib.metadata.version("langchain-llm-judge")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed here")
    assert command_line("version").out == f"{installed}\n"
    assert json.loads(command_line("version", "--json").out) == {"version": installed}
