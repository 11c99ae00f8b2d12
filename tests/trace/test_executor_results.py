"""What an AgentExecutor returns, on real executors and as stored JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents import PARIS, ai, get_weather, scripted, told
from langchain_classic.agents import AgentExecutor, create_react_agent, create_tool_calling_agent
from langchain_classic.agents.output_parsers.tools import ToolAgentAction
from langchain_core.agents import AgentAction, AgentActionMessageLog
from langchain_core.documents import Document
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.tools import Tool, tool

from langchain_llm_judge import TraceError, to_trace

CHAT = ChatPromptTemplate.from_messages([("human", "{input}"), ("placeholder", "{agent_scratchpad}")])
REACT = PromptTemplate.from_template("Tools: {tools} {tool_names}\nQ: {input}\nThought:{agent_scratchpad}")
LOOK = Tool("look", lambda query: f"saw {query}", "Looks.")


def run(*replies: AIMessage, tools: list[Any], **more: Any) -> dict[str, Any]:
    agent = create_tool_calling_agent(scripted(*replies), tools, CHAT)
    return AgentExecutor(agent=agent, tools=tools, return_intermediate_steps=True, **more).invoke({"input": "Q?"})


def react(*texts: str, **more: Any) -> dict[str, Any]:
    agent = create_react_agent(FakeListLLM(responses=list(texts)), [LOOK], REACT)
    return AgentExecutor(agent=agent, tools=[LOOK], return_intermediate_steps=True, **more).invoke({"input": "Q?"})


DONE = {"input": "q", "output": "a"}
ROME = ("get_weather", {"city": "Rome"}, "c2")
BOTH = [
    "thought: Let me look.",
    "get_weather(city='Paris')",
    "get_weather(city='Rome')",
    "-> Paris: 21C",
    "-> Rome: 21C",
]


def test_calls_of_one_message_are_a_group_and_share_a_thought():
    trace = to_trace(run(ai("Let me look.", PARIS, ROME), ai("Done."), tools=[get_weather]), tools=[get_weather])
    assert told(trace) == BOTH
    assert {call.group for call in trace.calls()} == {1}
    assert (trace.task, trace.final_answer, trace.status, trace.tools_known) == ("Q?", "Done.", "finished", True)


def test_a_result_that_went_through_json():
    result = run(ai("Let me look.", PARIS, ROME, id="m1"), ai("Done."), tools=[get_weather])
    result["intermediate_steps"] = [
        [action.model_dump(mode="json"), seen] for action, seen in result["intermediate_steps"]
    ]
    assert told(to_trace(json.dumps(result))) == BOTH


def test_f05_the_same_message_twice_is_two_groups():
    trace = to_trace(run(ai("", PARIS), tools=[get_weather], max_iterations=2))
    assert told(trace) == ["get_weather(city='Paris')", "-> Paris: 21C"] * 2
    assert [call.group for call in trace.calls()] == [1, 2]
    assert (trace.status, trace.final_answer) == ("step_limit", "Agent stopped due to max iterations.")


def test_equal_messages_without_ids_are_told_apart_by_their_calls():
    both = ai("Hm.", PARIS, ROME)
    actions = [
        ToolAgentAction(tool=name, tool_input=args, log="", message_log=[both], tool_call_id=call_id)
        for name, args, call_id in (PARIS, ROME, PARIS, ROME)
    ]
    trace = to_trace({**DONE, "intermediate_steps": [(action, "r") for action in actions]})
    assert [call.group for call in trace.calls()] == [1, 1, 2, 2]
    assert told(trace).count("thought: Hm.") == 2


def test_arguments_are_those_of_the_model():
    trace = to_trace(run(ai("", ("look", {"__arg1": "paris"}, "c1")), ai("Done."), tools=[LOOK]), tools=[LOOK])
    assert told(trace) == ["look(__arg1='paris')", "-> saw paris"]


def test_react_thoughts_and_plain_text_arguments():
    trace = to_trace(react("I should look.\nAction: look\nAction Input: paris", "I know.\nFinal Answer: fine"))
    assert told(trace) == ["thought: I should look.", "look('paris')", "-> saw paris"]
    assert not trace.calls()[0].malformed
    assert trace.final_answer == "fine"


@pytest.mark.parametrize("handling", [True, "Check your output.", lambda error: "Again!"])
def test_f05_a_parse_failure_is_a_thought_and_no_tool(handling: Any):
    trace = to_trace(react("gibberish", "I know.\nFinal Answer: ok", handle_parsing_errors=handling))
    assert told(trace) == ["thought in error: gibberish"]
    assert trace.calls() == []


@pytest.mark.parametrize("tools", [[LOOK], [LOOK, get_weather]])
def test_a_tool_that_does_not_exist_is_an_error(tools: list[Any]):
    trace = to_trace(run(ai("", ("nope", {"a": 1}, "c1")), ai("Sorry."), tools=tools))
    names = ", ".join(offered.name for offered in tools)
    assert told(trace) == ["nope(a=1)", f"-> error: nope is not a valid tool, try one of [{names}]."]


def test_f05_limits_of_react():
    trace = to_trace(react("Action: look\nAction Input: x", max_iterations=1))
    assert (trace.status, told(trace)) == ("step_limit", ["look('x')", "-> saw x"])


def test_an_answer_that_a_direct_tool_gave():
    @tool(return_direct=True)
    def direct(x: str) -> dict:
        """Answers itself."""
        return {"d": x}

    trace = to_trace(run(ai("", ("direct", {"x": "ü"}, "c1")), tools=[direct]))
    assert trace.final_answer == '{"d": "ü"}'


@pytest.mark.parametrize(
    ("result", "steps", "known"),
    [
        ({}, [], False),
        ({"chat_history": [HumanMessage("before")]}, [], False),
        ({"intermediate_steps": []}, [], True),
        ({"intermediate_steps": [(AgentAction("f", {"x": 1}, ""), 0)]}, ["f(x=1)", "-> 0"], True),
        ({"intermediate_steps": [(AgentAction("f", "x", ""), None)]}, ["f('x')", "-> null"], True),
    ],
)
def test_f05_shapes(result: dict, steps: list[str], known: bool):
    trace = to_trace({"input": "q", "output": "a", **result})
    assert (trace.task, trace.final_answer, told(trace), trace.tool_use_known) == ("q", "a", steps, known)


def test_old_function_calls_have_no_id():
    message = AIMessage("Hm.", additional_kwargs={"function_call": {"name": "f", "arguments": '{"x": 1}'}})
    action = AgentActionMessageLog(tool="f", tool_input={"x": 1}, log="Invoking: `f`", message_log=[message])
    trace = to_trace({"input": "q", "output": "a", "intermediate_steps": [(action, "r"), (action, "s")]})
    assert told(trace) == ["thought: Hm.", "f(x=1)", "-> r", "thought: Hm.", "f(x=1)", "-> s"]


def test_other_keys_documents_and_messages_as_input():
    trace = to_trace(
        {"topic": "q", "report": {"ok": True}, "intermediate_steps": []}, task_key="topic", answer_key="report"
    )
    assert (trace.task, trace.final_answer) == ("q", '{"ok": true}')
    trace = to_trace({"input": [HumanMessage("q")], "output": "a", "context": [Document("d")]})
    assert (trace.task, trace.contexts) == ("q", ["d"])


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"intermediate_steps": []}, r"keys 'intermediate_steps' has none of 'input', .*; name it with task_key="),
        ({"input": "q", "intermediate_steps": []}, r"has none of 'output', .*; name it with answer_key="),
        ({**DONE, "intermediate_steps": [3]}, "intermediate_steps holds 3; a step is a pair of an action"),
        ({**DONE, "intermediate_steps": [({}, "r")]}, "intermediate_steps holds"),
        ({**DONE, "intermediate_steps": "x"}, "intermediate_steps holds 'x'"),
    ],
)
def test_what_cannot_be_read_is_named(result: dict, message: str):
    with pytest.raises(TraceError, match=message):
        to_trace(result)
