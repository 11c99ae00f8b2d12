"""`to_trace` on states and results, in a chain, and what it refuses."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from agents import PARIS, PARIS_STEPS, QUESTION, THREAD, ai, get_weather, scripted, told
from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import interrupt
from pydantic import BaseModel

from langchain_llm_judge import AgentTrace, ConfigError, ToolSpec, TraceConverter, TraceError, to_trace

RUN = [HumanMessage("Q?"), ai("", PARIS), ToolMessage("Paris: 21C", tool_call_id="c1"), ai("Warm.")]


@pytest.fixture
def agent():
    return create_agent(scripted(lambda messages: ai("", PARIS) if len(messages) == 1 else ai("Warm.")), [get_weather])


@dataclass
class DataState:
    messages: list[Any]


class ModelState(BaseModel):
    messages: list[Any]
    note: str = ""


@pytest.mark.parametrize(
    "source",
    [
        RUN,
        tuple(RUN),
        iter(RUN),
        {"messages": RUN},
        {"chat": RUN, "n": 1},
        DataState(RUN),
        ModelState(messages=RUN),
        ChatPromptValue(messages=RUN),
        json.dumps([message.model_dump(mode="json") for message in RUN]),
        json.dumps({"messages": [message.model_dump(mode="json") for message in RUN]}).encode(),
        to_trace(RUN),
        to_trace(RUN).to_json(),
        json.loads(to_trace(RUN).to_json()),
    ],
    ids=lambda source: type(source).__name__,
)
def test_every_form_of_one_run(source: Any):
    trace = to_trace(source)
    assert (trace.task, told(trace), trace.final_answer, trace.status) == ("Q?", PARIS_STEPS, "Warm.", "finished")


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_result_of_invoke(agent: Any, version: Any):
    result = agent.invoke(QUESTION, version=version)
    trace = to_trace(result, tools=agent)
    assert told(trace) == PARIS_STEPS
    assert [spec.name for spec in trace.tools] == ["get_weather"]
    assert trace.tools_known


def test_nothing_given_is_changed():
    source = {"messages": [*RUN, {"role": "assistant", "content": None, "tool_calls": []}], "extra": {"a": [1]}}
    before = copy.deepcopy(source)
    trace = to_trace(source)
    trace.steps[0].args["city"] = "Oslo"
    assert source == before


async def test_in_a_chain(agent: Any):
    for step in (to_trace, TraceConverter(tools=agent)):
        chain = agent | step
        assert told(chain.invoke(QUESTION)) == PARIS_STEPS
        assert told(await chain.ainvoke(QUESTION)) == PARIS_STEPS
    converter = TraceConverter(turn=0)
    assert [trace.task for trace in converter.batch([RUN, RUN])] == ["Q?", "Q?"]
    assert (RunnableLambda(lambda _: RUN) | converter).invoke(None).task == "Q?"
    with pytest.raises(ConfigError, match="turn='first' is no turn"):
        TraceConverter(turn="first")


@pytest.mark.parametrize(
    ("middleware", "answer"),
    [
        (ModelCallLimitMiddleware(run_limit=1, exit_behavior="end"), "Model call limits exceeded: run limit (1/1)"),
        (
            ToolCallLimitMiddleware(run_limit=0, exit_behavior="end"),
            "Tool call limit reached: run limit exceeded (1/0 calls).",
        ),
    ],
)
def test_limits_of_middleware(middleware: Any, answer: str):
    agent = create_agent(scripted(ai("", PARIS)), [get_weather], middleware=[middleware])
    trace = to_trace(agent.invoke(QUESTION), tools=agent)
    assert (trace.status, trace.final_answer, len(trace.calls())) == ("step_limit", answer, 1)


class Weather(BaseModel):
    """Weather report."""

    city: str
    temp: int = 21


GIVEN = ("Weather", {"city": "Paris"}, "w1")
WRONG = ("Weather", {"temp": "hot"}, "w0")


@pytest.mark.parametrize(
    ("strategy", "replies", "steps"),
    [
        (ToolStrategy(Weather), [ai("", PARIS), ai("", GIVEN)], PARIS_STEPS),
        (ToolStrategy(Weather, tool_message_content="Saved."), [ai("", PARIS), ai("", GIVEN)], PARIS_STEPS),
        (ToolStrategy(Weather), [ai("", PARIS, GIVEN)], PARIS_STEPS),
        (
            ToolStrategy(Weather, handle_errors="Again.", tool_message_content="Saved."),
            [ai("", WRONG), ai("", GIVEN)],
            ["Weather(temp='hot')", "-> error: Again."],
        ),
        (ToolStrategy(Weather), [ai("", WRONG), ai("", GIVEN)], None),
        (ToolStrategy(Weather), [ai("", GIVEN, ("Weather", {"city": "Rome"}, "w2")), ai("", GIVEN)], None),
    ],
)
def test_structured_answers(strategy: Any, replies: list[AIMessage], steps: list[str] | None):
    agent = create_agent(scripted(*replies), [get_weather], response_format=strategy)
    trace = to_trace(agent.invoke(QUESTION), tools=agent)
    assert json.loads(trace.final_answer or "") == {"city": "Paris", "temp": 21}
    assert [spec.name for spec in trace.tools] == ["get_weather"]
    if steps is not None:
        assert told(trace) == steps
    failed = [step for step in trace.steps if step.type == "tool_result" and step.name == "Weather"]
    assert all(step.is_error for step in failed)
    assert len(failed) == len([call for call in trace.calls() if call.name == "Weather"])


def test_a_structured_answer_before_the_end_is_a_message():
    answered = [ai("", GIVEN), ToolMessage("Returning structured response: x", tool_call_id="w1", name="Weather")]
    trace = to_trace([("user", "q"), *answered, ai("Thanks, colleague.")])
    assert told(trace) == ['message: {"city": "Paris"}']
    assert trace.final_answer == "Thanks, colleague."


def test_a_stale_structured_response_is_no_answer():
    state = {"messages": [*RUN, ("user", "next"), ai("", PARIS)], "structured_response": Weather(city="old")}
    trace = to_trace(state)
    assert (trace.final_answer, trace.status) == (None, "incomplete")


def test_an_interrupt_is_a_pause():
    @tool
    def send(to: str) -> str:
        """Send a mail."""
        return interrupt({"question": f"send to {to}?"})

    agent = create_agent(
        scripted(ai("I'll send it.", ("send", {"to": "bob"}, "c1"))), [send], checkpointer=InMemorySaver()
    )
    for version in ("v1", "v2"):
        result = agent.invoke(QUESTION, {"configurable": {"thread_id": version}}, version=version)
        trace = to_trace(result)
        assert told(trace) == ["thought: I'll send it.", "send(to='bob')"]
        assert (trace.status, trace.final_answer) == ("paused", None)
        assert trace.status_reason == 'waits for an answer to {"question": "send to bob?"}'


def test_a_static_breakpoint_leaves_only_a_dangling_call():
    agent = create_agent(
        scripted(ai("t", PARIS)), [get_weather], checkpointer=InMemorySaver(), interrupt_before=["tools"]
    )
    assert to_trace(agent.invoke(QUESTION, THREAD)).status == "incomplete"
    assert to_trace(agent.get_state(THREAD)).status == "incomplete"
    assert to_trace((agent, THREAD)).status == "paused"


class Chat(TypedDict):
    question: str
    chat: Annotated[list[BaseMessage], add_messages]
    answer: str
    documents: list[Document]


def test_a_state_of_other_keys():
    def respond(state: Chat) -> dict[str, Any]:
        return {"chat": [ai("21C")], "answer": "ANSWER: 21C", "documents": [Document("d1"), Document("d2")]}

    builder = StateGraph(Chat)
    builder.add_node("respond", respond)
    builder.add_edge(START, "respond")
    builder.add_edge("respond", END)
    result = builder.compile().invoke({"question": "Weather?"})
    trace = to_trace(result, task_key="question", answer_key="answer")
    assert (trace.task, told(trace), trace.final_answer) == ("Weather?", ["message: 21C"], "ANSWER: 21C")
    assert trace.contexts == ["d1", "d2"]
    assert to_trace(result, task="Given", messages_key="chat").task == "Given"


def test_a_state_without_messages_tells_task_and_answer_only():
    trace = to_trace({"q": "Weather?", "a": {"temp": 21}}, task_key="q", answer_key="a")
    assert (trace.task, trace.final_answer, trace.status) == ("Weather?", '{"temp": 21}', "finished")
    assert not trace.tool_use_known


def test_a_request_to_a_model_s_api_lists_its_tools():
    request = {"model": "m", "messages": RUN, "tools": [{"type": "function", "function": {"name": "f"}}]}
    assert [spec.name for spec in to_trace(request).tools] == ["f"]
    assert [spec.name for spec in to_trace(request, tools=["g"]).tools] == ["g"]
    assert not to_trace({"messages": RUN, "tools": ["hammer"]}).tools_known


def test_documents_of_a_state_that_went_through_json():
    state = {"messages": [("user", "q"), ("ai", "a")], "documents": [{"page_content": "d", "metadata": {}}], "n": [1]}
    assert to_trace(state).contexts == ["d"]


def test_keys_given_by_the_caller_tell_a_state_from_a_stored_trace():
    plan = {"task": "q", "steps": ["look", "answer"], "final_answer": "a"}
    trace = to_trace(plan, task_key="task", answer_key="final_answer")
    assert (trace.task, trace.final_answer, trace.steps, trace.tool_use_known) == ("q", "a", [], False)


def test_calls_that_are_no_list_are_named():
    with pytest.raises(TraceError, match="tool_calls of a message is True; give a list of calls such as"):
        to_trace([("user", "q"), {"role": "assistant", "content": "", "tool_calls": True}])


def test_what_the_caller_says_wins():
    trace = to_trace(RUN, task="T", status="failed", tools=["a", {"name": "b"}])
    assert (trace.task, trace.status) == ("T", "failed")
    assert trace.tools == [ToolSpec(name="a"), ToolSpec(name="b")]
    again = to_trace(trace, task="T2", tools=[])
    assert (again.task, again.tools, again.tools_known, trace.task) == ("T2", [], True, "T")
    assert to_trace(trace) is trace


NO_MESSAGES = (
    r"^no messages found in a state with keys 'idea', 'expanded'; "
    r"name them with messages_key=, or task_key= and answer_key=$"
)
NO_TASK = (
    r"^no message of the user among 1 messages \(ai\) of a state with keys 'messages'; "
    r"give the question with task=, or name it with task_key=$"
)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ({"idea": 1, "expanded": "x"}, {}, NO_MESSAGES),
        ({"messages": RUN}, {"messages_key": "chat"}, r"^messages_key='chat' names no list of messages .* found None$"),
        ({"a": RUN, "b": RUN}, {}, r"holds several lists of messages: 'a', 'b'; name one with messages_key=$"),
        ({"messages": RUN}, {"task_key": "q"}, r"^task_key='q' is not in a state with keys 'messages'; name the key"),
        ({"messages": RUN}, {"answer_key": "a"}, r"^answer_key='a' is not in a state with keys 'messages'"),
        ({"messages": [ai("x")]}, {}, NO_TASK),
        ([ai("x"), ai("y")], {}, r"^no message of the user among 2 messages \(ai, ai\); give the question with task=$"),
        ([], {}, r"^the list is empty; give the messages of a run, its events or its updates$"),
        ([{"messages": RUN}, {"messages": RUN}], {}, r"^a list of 2 states \(the last with keys 'messages'\) is"),
        ([1, 2], {}, r"^no trace can be made of list \[1, 2\]; give messages,"),
        (None, {}, r"^no trace can be made of NoneType None; give messages,"),
        (5, {}, r"^no trace can be made of int 5; give messages,"),
        ("hello", {}, r"^the text is not JSON: .* of 'hello'; give the JSON of a trace,"),
        (b"\xff", {}, r"^the bytes are not UTF-8: "),
        ("", {}, r"^the text is not JSON: "),
        ("3", {}, r"^no trace can be made of int 3"),
        (RUN, {"turn": 3}, r"^turn=3 is outside the conversation of 1 turn; give 'last',"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_says_what_helps(source: Any, options: dict, message: str):
    with pytest.raises(TraceError, match=message):
        to_trace(source, **options)


def test_an_agent_or_an_open_stream_is_no_run(agent: Any):
    with pytest.raises(
        TraceError, match="CompiledStateGraph is an agent, not a run of it; give what its invoke returned"
    ):
        to_trace(agent)
    with pytest.raises(TraceError, match="asynchronous stream; collect it first"):
        to_trace(agent.astream(QUESTION))


@pytest.mark.parametrize(
    "options", [{"turn": "first"}, {"turn": True}, {"turn": None}, {"turn": 1.0}, {"status": "done"}, {"task": 3}]
)
def test_wrong_options(options: dict):
    with pytest.raises(
        ConfigError, match=r"turn=.* is no turn|status='done' is unknown; give one of finished,|task=3 is no text"
    ):
        to_trace(RUN, **options)


def test_a_message_alone_needs_a_task():
    assert to_trace(ai("x"), task="t").final_answer == "x"
    assert to_trace({"role": "assistant", "content": "x"}, task="t").final_answer == "x"
    assert to_trace([], task="t").status == "unknown"


def test_conversion_is_a_fixed_point():
    trace = to_trace(RUN, tools=[get_weather])
    assert AgentTrace.model_validate_json(trace.to_json()) == trace == to_trace(trace.to_json())
