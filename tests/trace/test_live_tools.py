"""Live runs: calls of tools and what comes of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict

import pytest
from agents import PARIS, PARIS_STEPS, QUESTION, ai, get_weather, needs, scripted, told
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware, wrap_tool_call
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, tool
from langgraph.graph import MessagesState, add_messages
from langgraph.types import RetryPolicy
from live_runs import BOOM, boom, node_graph, record, tool_graph
from pydantic import BaseModel

from langchain_llm_judge import AgentTrace, TraceRecorder
from langchain_llm_judge.trace.schema import ToolCall, ToolResult

KAPUT = "-> error: RuntimeError('kaput')"


def results_of(trace: AgentTrace) -> list[ToolResult]:
    return [step for step in trace.steps if isinstance(step, ToolResult)]


def test_what_only_a_live_run_knows():
    started = datetime.now(UTC)
    answer = ai("", PARIS, usage_metadata={"input_tokens": 5, "output_tokens": 2, "total_tokens": 7})
    last = ai("21C", usage_metadata={"input_tokens": 9, "output_tokens": 1, "total_tokens": 10})
    trace = record(create_agent(scripted(answer, last), [get_weather], name="bot"))
    call, result = trace.steps
    assert (call.agent, call.node, result.agent, result.node) == ("bot", "model", "bot", "tools")
    assert started <= call.started_at <= result.started_at <= datetime.now(UTC)
    assert call.duration_ms >= 0
    assert trace.usage.calls == 2
    assert (trace.usage.input_tokens, trace.usage.output_tokens, trace.usage.cost_usd) == (14, 3, None)
    assert trace.tools_known
    assert trace.tools[0].parameters == {
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "type": "object",
    }
    assert trace.metadata["name"] == "bot"


def test_usage_is_unknown_where_one_call_does_not_tell():
    answer = ai("", PARIS, usage_metadata={"input_tokens": 5, "output_tokens": 2, "total_tokens": 7})
    trace = record(create_agent(scripted(answer, "21C"), [get_weather]))
    assert (trace.usage.calls, trace.usage.input_tokens) == (2, None)
    assert record(create_agent(scripted("21C"), [get_weather])).usage is None


def test_f12_a_tool_that_raises_fails_the_run_and_keeps_the_call():
    trace = record(create_agent(scripted(ai("I'll try.", BOOM)), [boom]))
    assert told(trace) == ["thought: I'll try.", "boom(x=1)", KAPUT]
    assert (trace.status, trace.status_reason, trace.final_answer) == ("failed", "RuntimeError('kaput')", None)
    assert results_of(trace)[0].error_type == "RuntimeError"


def test_f12_a_handled_error_is_a_failed_call_of_a_finished_run():
    trace = record(tool_graph(scripted(ai("", BOOM), "It failed."), [boom], errors=True))
    assert told(trace)[1].startswith("-> error: Error: RuntimeError('kaput')")
    assert (trace.status, trace.final_answer) == ("finished", "It failed.")
    assert results_of(trace)[0].error_type == "RuntimeError"


def test_a_failing_sibling_does_not_take_the_results_of_the_others_with_it():
    chat = scripted(ai("", PARIS, ("boom", {"x": 1}, "c2")))
    for graph in (tool_graph(chat, [get_weather, boom]), create_agent(chat, [get_weather, boom])):
        assert told(record(graph)) == [PARIS_STEPS[0], "boom(x=1)", PARIS_STEPS[1], KAPUT]


@pytest.mark.parametrize(
    ("options", "result"),
    [
        ({"max_retries": 2}, "-> ok at 3"),
        ({"max_retries": 1}, "-> error: Tool 'flaky' failed after 2 attempts with RuntimeError: 2. Please try again."),
        ({"max_retries": 1, "on_failure": "error"}, "-> error: RuntimeError('2')"),
    ],
)
def test_a_retried_call_has_one_result(options: dict, result: str):
    tries = []

    @tool
    def flaky() -> str:
        """Fail twice."""
        tries.append(1)
        if len(tries) < 3:
            raise RuntimeError(str(len(tries)))
        return f"ok at {len(tries)}"

    retry = ToolRetryMiddleware(initial_delay=0.001, jitter=False, **options)
    trace = record(create_agent(scripted(ai("", ("flaky", {}, "c1")), "done"), [flaky], middleware=[retry]))
    assert told(trace) == ["flaky()", result]


def test_the_error_of_a_retried_call_is_that_of_its_last_attempt():
    errors = iter([RuntimeError("first"), ValueError("second")])

    @tool
    def flaky() -> str:
        """Fail in different ways."""
        raise next(errors)

    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0.001)
    trace = record(create_agent(scripted(ai("", ("flaky", {}, "c1")), "done"), [flaky], middleware=[retry]))
    assert [result.error_type for result in results_of(trace)] == ["ValueError"]


def test_arguments_are_the_models_whatever_runs():
    @wrap_tool_call
    def elsewhere(request: Any, handler: Any) -> Any:
        return handler(request.override(tool_call={**request.tool_call, "args": {"city": "Berlin"}}))

    @wrap_tool_call
    def blocked(request: Any, handler: Any) -> Any:
        return ToolMessage("blocked", tool_call_id=request.tool_call["id"], status="error")

    assert told(record(create_agent(scripted(ai("", PARIS), "ok"), [get_weather], middleware=[elsewhere]))) == [
        PARIS_STEPS[0],
        "-> Berlin: 21C",
    ]
    assert told(record(create_agent(scripted(ai("", PARIS), "ok"), [get_weather], middleware=[blocked]))) == [
        PARIS_STEPS[0],
        "-> error: blocked",
    ]


F06_ARGS = {"ids": ["A", "B"], "opts": {"deep": True}, "n": None, "s": 'it\'s {"x"}'}


def changes_its_arguments(**given: Any) -> str:
    given["opts"]["deep"] = "changed"
    given["ids"].append("changed")
    return "ok"


@pytest.mark.parametrize("built", ["create_agent", "tool_graph", "by_code"])
def test_f06_arguments_equal_the_input_although_the_tool_changes_them(built: str):
    schema = {"title": "book", "description": "Book.", "type": "object", "properties": {"ids": {}, "opts": {}}}
    book = StructuredTool(name="book", description="Book.", args_schema=schema, func=changes_its_arguments)
    chat = scripted(ai("", ("book", {**F06_ARGS, "ids": ["A", "B"], "opts": {"deep": True}}, "c1")), "done")
    runnables = {
        "create_agent": create_agent(chat, [book]),
        "tool_graph": tool_graph(chat, [book]),
        "by_code": RunnableLambda(lambda _: book.invoke({**F06_ARGS, "ids": ["A", "B"], "opts": {"deep": True}})),
    }
    trace = record(runnables[built])
    assert [call.args for call in trace.calls()] == [F06_ARGS]
    assert AgentTrace.model_validate_json(trace.to_json()).calls()[0].args == F06_ARGS


class Point(BaseModel):
    x: int


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (False, "false"), (0, "0"), ("", ""), ({"a": 1}, '{"a": 1}'), (datetime(2026, 1, 2), "2026-01-02T00:00:00"),
        (Point(x=1), '{"x": 1}'), (float("nan"), "NaN"), (b"raw", "raw"), (None, "null"), (["a", 1], '["a", 1]'),
    ],
)  # fmt: skip
def test_f06_any_output_of_a_tool_that_code_calls_is_a_result(value: Any, text: str):
    give = StructuredTool.from_function(lambda: value, name="give", description="Give.")
    trace = record(RunnableLambda(lambda _: str(give.invoke({}))))
    assert told(trace) == ["give()", f"-> {text}"]
    assert AgentTrace.model_validate_json(trace.to_json()).steps[1].content == text


def test_f06_an_output_whose_repr_raises_is_a_result():
    give = StructuredTool.from_function(lambda: Unprintable(), name="give", description="Give.")
    trace = record(RunnableLambda(lambda _: [give.invoke({})] and "done"))
    assert results_of(trace)[0].content == "<Unprintable whose repr fails>"
    assert trace.to_json()


def test_calls_by_code_take_part_but_do_not_end_the_run():
    def node(state: Any) -> Any:
        answer = scripted("two").invoke("x")
        get_weather.invoke({"city": "Oslo"})
        return {"messages": [answer]}

    trace = record(node_graph(MessagesState, node=node))
    assert told(trace) == ["get_weather(city='Oslo')", "-> Oslo: 21C"]
    assert (trace.final_answer, trace.status) == ("two", "finished")
    assert (trace.tools_known, [spec.name for spec in trace.tools]) == (False, ["get_weather"])
    assert trace.calls()[0].id is None


@pytest.mark.parametrize("with_ids", [True, False])
def test_a_loop_written_by_hand(with_ids: bool):
    chat = scripted(ai("", PARIS), "done")

    def loop(asked: str) -> str:
        messages: list[Any] = [HumanMessage(asked)]
        while True:
            answer = chat.invoke(messages)
            messages.append(answer)
            if not answer.tool_calls:
                return answer.text
            for call in answer.tool_calls:
                messages.append(get_weather.invoke(call if with_ids else call["args"]))

    for runnable in (RunnableLambda(loop), node_graph(Chat, node=lambda state: {"answer": loop(state["question"])})):
        chat.calls.clear()
        trace = record(runnable, {"question": "Q?"} if hasattr(runnable, "nodes") else "Q?")
        assert told(trace) == PARIS_STEPS
        assert (trace.task, trace.final_answer, trace.calls()[0].id) == ("Q?", "done", "c1")


class Chat(TypedDict):
    question: str
    answer: str


def test_a_loop_inside_a_node_that_writes_its_last_message_only():
    chat = scripted(ai("let me see", PARIS), "done")

    def node(state: Any) -> Any:
        asked = chat.invoke(state["messages"])
        result = get_weather.invoke(asked.tool_calls[0])
        return {"messages": [chat.invoke([*state["messages"], asked, result])]}

    trace = record(node_graph(MessagesState, node=node))
    assert told(trace) == ["thought: let me see", *PARIS_STEPS]
    assert trace.final_answer == "done"


def test_a_node_that_failed_and_was_run_again_counts_once():
    tries = []

    def node(state: Any) -> Any:
        tries.append(1)
        answer = scripted(f"try {len(tries)}").invoke("x")
        get_weather.invoke({"city": "Oslo"})
        if len(tries) == 1:
            raise ConnectionError("reset")
        return {"messages": [answer]}

    policy = RetryPolicy(initial_interval=0.001, jitter=False)
    trace = record(node_graph(MessagesState, of_node={"retry_policy": policy}, node=node))
    assert told(trace) == ["get_weather(city='Oslo')", "-> Oslo: 21C"]
    assert (trace.task, trace.final_answer) == ("Q?", "try 2")


def test_a_node_that_raises_after_its_model_answered_keeps_the_answer():
    def node(state: Any) -> Any:
        scripted("I think so").invoke("x")
        raise ValueError("no")

    trace = record(node_graph(MessagesState, node=node))
    assert told(trace) == ["message: I think so"]
    assert (trace.status, trace.final_answer) == ("failed", None)


@needs("langchain", "1.5.0")
def test_malformed_calls_are_told_beside_the_others():
    broken = {"type": "invalid_tool_call", "name": "get_weather", "args": '{"city": "Par', "id": "c2", "error": "bad"}
    trace = record(create_agent(scripted(ai("", PARIS, invalid_tool_calls=[broken]), "done"), [get_weather]))
    assert told(trace) == [
        PARIS_STEPS[0],
        'get_weather(\'{"city": "Par\') malformed',
        PARIS_STEPS[1],
        "-> error: Tool call get_weather with id c2 could not be executed - arguments were malformed or truncated.",
    ]


def test_messages_that_nodes_write_in_other_forms():
    class State(BaseModel):
        messages: Annotated[list, add_messages]

    trace = record(
        node_graph(
            State,
            pair=lambda state: {"messages": [("ai", "a pair")]},
            mapping=lambda state: {"messages": {"role": "assistant", "content": "a dict"}},
            whole=lambda state: State(messages=[*state.messages, AIMessage("a whole state")]),
            alone=lambda state: {"messages": AIMessage("alone")},
        )
    )
    assert told(trace) == ["message: a pair", "message: a dict", "message: a whole state"]
    assert trace.final_answer == "alone"


def test_nothing_of_the_run_is_changed():
    given = {"messages": [HumanMessage("Q?", id="h")]}
    before = repr(given)
    answer = ai("", PARIS)
    with_recorder = create_agent(scripted(answer, "21C"), [get_weather]).invoke(given, {"callbacks": [TraceRecorder()]})
    without = create_agent(scripted(answer, "21C"), [get_weather]).invoke(QUESTION)
    assert repr(given) == before
    assert [m.content for m in with_recorder["messages"][1:]] == [m.content for m in without["messages"][1:]]
    assert with_recorder["messages"][1].tool_calls == answer.tool_calls


def test_what_happens_to_the_result_later_is_not_in_the_trace():
    recorder = TraceRecorder()
    result = create_agent(scripted(ai("", PARIS), "21C"), [get_weather]).invoke(QUESTION, {"callbacks": [recorder]})
    result["messages"][1].tool_calls[0]["args"]["city"] = "changed"
    result["messages"][2].content = "changed"
    assert told(recorder.trace) == PARIS_STEPS
    assert isinstance(recorder.trace.steps[0], ToolCall)
