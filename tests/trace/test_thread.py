"""Runs that a checkpointer kept, on real graphs."""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from agents import PARIS, PARIS_STEPS, QUESTION, THREAD, ai, get_weather, needs, scripted, told
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langchain_llm_judge import TraceConverter, TraceError, to_trace


@tool
def ask(what: str) -> str:
    """Ask a person."""
    return f"they said {interrupt(what)}"


@tool
def boom(x: int) -> str:
    """Explodes."""
    raise RuntimeError("kaput")


def agent(*replies: Any, tools: Any = (get_weather, ask, boom), **more: Any) -> Any:
    return create_agent(scripted(*replies), list(tools), checkpointer=InMemorySaver(), **more)


def test_turns_of_a_thread_with_the_same_call_ids():
    graph = agent(ai("", PARIS), ai("one"), ai("", PARIS), ai("two"))
    for question in ("First?", "Second?"):
        graph.invoke({"messages": [("user", question)]}, THREAD)
    for turn, task, answer in (("last", "Second?", "two"), (-1, "Second?", "two"), (0, "First?", "one")):
        trace = to_trace((graph, THREAD), turn=turn)
        assert (trace.task, told(trace), trace.final_answer, trace.warnings) == (task, PARIS_STEPS, answer, [])
    both = to_trace((graph, THREAD), turn="all", tools=graph)
    assert told(both) == [*PARIS_STEPS, "message: one", "message of user: Second?", *PARIS_STEPS]
    assert both.tools_known
    with pytest.raises(TraceError, match="turn=2 is outside the thread of 2 turns"):
        to_trace((graph, THREAD), turn=2)


def test_a_summarised_history_is_recovered():
    cities = [ai(city, ("get_weather", {"city": city}, city)) for city in ("Paris", "Rome", "Oslo")]
    summarise = SummarizationMiddleware(model=scripted("SUMMARY"), trigger=("messages", 4), keep=("messages", 2))
    graph = agent(*cities, ai("All 21C."), middleware=[summarise])
    state = graph.invoke(QUESTION, THREAD)
    assert len(state["messages"]) == 4
    trace = to_trace((graph, THREAD))
    assert (trace.task, trace.final_answer, trace.status) == ("Q?", "All 21C.", "finished")
    assert [call.args["city"] for call in trace.calls()] == ["Paris", "Rome", "Oslo"]
    with pytest.raises(TraceError, match="no message of the user"):
        to_trace(state)


def test_a_paused_thread_and_its_end():
    graph = agent(ai("Hm.", ("ask", {"what": "sure?"}, "c1")), ai("Done."))
    graph.invoke(QUESTION, THREAD)
    trace = to_trace((graph, THREAD))
    assert told(trace) == ["thought: Hm.", "ask(what='sure?')"]
    assert (trace.status, trace.status_reason) == ("paused", "waits for an answer to sure?")
    graph.invoke(Command(resume="yes"), THREAD)
    trace = to_trace((graph, THREAD))
    assert told(trace) == ["thought: Hm.", "ask(what='sure?')", "-> they said yes"]
    assert (trace.task, trace.final_answer, trace.status) == ("Q?", "Done.", "finished")


def test_a_pause_shows_what_is_done_already():
    graph = agent(ai("", PARIS, ("ask", {"what": "sure?"}, "c2")), ai("Done."))
    graph.invoke(QUESTION, THREAD)
    assert told(to_trace((graph, THREAD))) == [PARIS_STEPS[0], "ask(what='sure?')", PARIS_STEPS[1]]


def test_a_pause_inside_a_subgraph():
    inner = create_agent(scripted(ai("Hm.", ("ask", {"what": "sure?"}, "c1")), ai("Done.")), [ask], name="inner")
    builder = StateGraph(MessagesState)
    builder.add_node("inner", inner)
    builder.add_edge(START, "inner")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke(QUESTION, THREAD)
    trace = to_trace((graph, THREAD))
    assert (told(trace), trace.status) == (["thought of inner: Hm.", "ask(what='sure?')"], "paused")
    graph.invoke(Command(resume="yes"), THREAD)
    assert to_trace((graph, THREAD)).final_answer == "Done."


REJECT = {"type": "reject", "message": "no"}


@needs("langchain", "1.5.0")
@pytest.mark.parametrize(
    ("decision", "result"),
    [
        ({"type": "approve"}, "-> Paris: 21C"),
        (REJECT, "-> error: User rejected the tool call for `get_weather` with reason: no"),
        ({"type": "edit", "edited_action": {"name": "get_weather", "args": {"city": "Oslo"}}}, None),
    ],
)  # fmt: skip
def test_decisions_of_a_person_keep_the_arguments_of_the_model(decision: dict, result: str | None):
    graph = agent(ai("", PARIS), ai("Done."), middleware=[HumanInTheLoopMiddleware(interrupt_on={"get_weather": True})])
    graph.invoke(QUESTION, THREAD)
    assert to_trace((graph, THREAD)).status == "paused"
    graph.invoke(Command(resume={"decisions": [decision]}), THREAD)
    steps = told(to_trace((graph, THREAD)))
    assert steps[0] == PARIS_STEPS[0]
    assert steps[1] == result if result else steps[1].endswith("Oslo: 21C")


def stop_at_limit(graph: Any) -> None:
    with pytest.raises(GraphRecursionError):
        graph.invoke(QUESTION, {**THREAD, "recursion_limit": 4})


def stop_by_raising(graph: Any) -> None:
    with pytest.raises(RuntimeError):
        graph.invoke(QUESTION, THREAD)


def loop(messages: list) -> AIMessage:
    return ai("", ("get_weather", {"city": "Paris"}, f"c{len(messages)}"))


BOOM = ai("", ("boom", {"x": 1}, "c1"))


@pytest.mark.parametrize(
    ("replies", "stop", "config", "status", "reason", "last"),
    [
        ([loop], stop_at_limit, {"recursion_limit": 4}, "step_limit", "the recursion limit of 4", "-> Paris: 21C"),
        ([loop], stop_at_limit, {}, "unknown", "the thread stopped before 'model'", "-> Paris: 21C"),
        ([BOOM], stop_by_raising, {}, "failed", "RuntimeError('kaput')", "-> error: RuntimeError('kaput')"),
        ([ai("", PARIS), RuntimeError("429")], stop_by_raising, {}, "failed", "RuntimeError('429')", "-> Paris: 21C"),
    ],
)  # fmt: skip
def test_why_a_thread_stopped(replies, stop: Callable, config: dict, status: str, reason: str, last: str):
    graph = agent(*replies)
    stop(graph)
    trace = to_trace((graph, {**THREAD, **config}))
    assert trace.status == status
    assert (trace.status_reason or "").startswith(reason)
    assert (trace.final_answer, told(trace)[-1]) == (None, last)


def test_breakpoints_of_the_graph_and_of_one_call():
    graph = agent(ai("t", PARIS), ai("Done."), interrupt_before=["tools"])
    graph.invoke(QUESTION, THREAD)
    assert to_trace((graph, THREAD)).status == "paused"
    graph.invoke(None, THREAD)
    assert to_trace((graph, THREAD)).status == "finished"
    other = agent(ai("t", PARIS), ai("Done."))
    other.invoke(QUESTION, THREAD, interrupt_before=["tools"])
    trace = to_trace((other, THREAD))
    assert (trace.status, trace.status_reason) == ("incomplete", "the thread stopped before 'tools'")


def test_a_run_that_ended_on_a_tool_node_gave_its_result_as_the_answer():
    def route(state: MessagesState) -> dict[str, Any]:
        return {"messages": [ai("", PARIS)]}

    def tools(state: MessagesState) -> dict[str, Any]:
        return {"messages": [ToolMessage("Paris: 21C", tool_call_id="c1")]}

    builder = StateGraph(MessagesState)
    builder.add_sequence([route, tools])
    builder.add_edge(START, "route")
    graph = builder.compile(checkpointer=InMemorySaver())
    state = graph.invoke(QUESTION, THREAD)
    trace = to_trace((graph, THREAD))
    assert (trace.status, trace.final_answer) == ("finished", "Paris: 21C")
    assert (to_trace(state).status, to_trace(state).final_answer) == ("unknown", None)


def test_what_a_node_says_in_the_user_s_name_begins_no_turn():
    write = scripted("draft 1", "draft 2")
    builder = StateGraph(MessagesState)
    builder.add_node("write", lambda state: {"messages": [write.invoke(state["messages"])]})
    builder.add_node("critic", lambda state: {"messages": [HumanMessage("Better!")]})
    builder.add_edge(START, "write")
    builder.add_conditional_edges("write", lambda state: "critic" if len(state["messages"]) < 4 else END)
    builder.add_edge("critic", "write")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke(QUESTION, THREAD)
    trace = to_trace((graph, THREAD))
    assert (trace.task, trace.final_answer) == ("Q?", "draft 2")
    assert told(trace) == ["message: draft 1", "message of user: Better!"]


def test_history_given_in_the_input_is_no_step():
    graph = agent(ai("", PARIS), ai("new"))
    graph.invoke({"messages": [("user", "Old?"), ("assistant", "old"), ("user", "New?")]}, THREAD)
    trace = to_trace((graph, THREAD))
    assert (trace.task, told(trace), trace.final_answer) == ("New?", PARIS_STEPS, "new")


def test_a_fork_leaves_the_abandoned_branch_out():
    graph = agent(ai("", PARIS), ai("first end"), ai("second end"))
    graph.invoke(QUESTION, THREAD)
    after_tools = next(
        point
        for point in graph.get_state_history(THREAD)
        if point.next == ("model",) and len(point.values["messages"]) == 3
    )
    graph.invoke(None, after_tools.config)
    trace = to_trace((graph, THREAD))
    assert (told(trace), trace.final_answer) == (PARIS_STEPS, "second end")
    earlier = to_trace((graph, after_tools.config))
    assert (told(earlier), earlier.final_answer, earlier.status) == (PARIS_STEPS, None, "unknown")


class DictState(TypedDict):
    messages: Annotated[list, add]


def test_messages_as_dicts_have_no_ids():
    builder = StateGraph(DictState)
    builder.add_node("say", lambda state: {"messages": [{"role": "assistant", "content": f"{len(state['messages'])}"}]})
    builder.add_edge(START, "say")
    graph = builder.compile(checkpointer=InMemorySaver())
    for question in ("a", "b"):
        graph.invoke({"messages": [{"role": "user", "content": question}]}, THREAD)
    trace = to_trace((graph, THREAD))
    assert (trace.task, trace.final_answer) == ("b", "3")
    assert to_trace((graph, THREAD), turn=0).final_answer == "1"


def test_functional_graphs_keep_the_value_they_returned():
    @entrypoint(checkpointer=InMemorySaver())
    def functional(messages: list) -> list:
        return [*messages, ai("Done.")]

    functional.invoke([HumanMessage("Q?")], THREAD)
    trace = to_trace((functional, THREAD))
    assert (trace.task, trace.final_answer) == ("Q?", "Done.")


async def test_in_a_chain_with_async_runs():
    graph = agent(ai("", PARIS), ai("Done."))
    await graph.ainvoke(QUESTION, THREAD)
    trace = await TraceConverter(tools=graph).ainvoke((graph, THREAD))
    assert told(trace) == PARIS_STEPS


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"configurable": {"thread_id": "none"}}, r"^\{'thread_id': 'none'\} has no checkpoints; give the config"),
        ({}, r"^the state of \{\} cannot be read \(KeyError: .*\); compile the graph with a checkpointer"),
    ],
)
def test_threads_that_are_not_there(config: dict, message: str):
    graph = agent(ai("x"))
    graph.invoke(QUESTION, THREAD)
    with pytest.raises(TraceError, match=message):
        to_trace((graph, config))


def test_a_graph_without_a_checkpointer():
    graph = create_agent(scripted("x"), [])
    with pytest.raises(TraceError, match=r"cannot be read \(ValueError: No checkpointer set\)"):
        to_trace((graph, {"configurable": {"thread_id": "1", "api_key": "sk-secret"}}))
