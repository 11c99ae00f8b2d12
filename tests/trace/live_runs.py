"""Graphs for the tests of live runs, and how such a run is recorded."""

from __future__ import annotations

from typing import Any

from agents import QUESTION
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langchain_llm_judge import AgentTrace, TraceRecorder
from langchain_llm_judge.testing import ScriptedJudgeModel


@tool
def boom(x: int) -> str:
    """Explode."""
    raise RuntimeError("kaput")


BOOM = ("boom", {"x": 1}, "c1")


def tool_graph(chat: ScriptedJudgeModel, tools: list[Any], *, errors: Any = False, **compiled: Any) -> Any:
    """An agent as a plain StateGraph with one ToolNode."""
    bound = chat.bind_tools(tools)
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=errors))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    return graph.compile(**compiled)


def node_graph(
    state: type, *, of_node: dict[str, Any] | None = None, of_graph: dict[str, Any] | None = None, **nodes: Any
):
    """A graph whose nodes follow one another."""
    graph = StateGraph(state)
    before = START
    for name, node in nodes.items():
        graph.add_node(name, node, **(of_node or {}))
        graph.add_edge(before, name)
        before = name
    return graph.compile(**(of_graph or {}))


def record(runnable: Any, given: Any = None, config: dict[str, Any] | None = None, **keys: Any) -> AgentTrace:
    """The trace of one run; where the run raises, the trace has to say so."""
    recorder = TraceRecorder(**keys)
    raised = None
    try:
        runnable.invoke(given or QUESTION, {**(config or {}), "callbacks": [recorder]})
    except Exception as error:
        raised = error
    assert raised is None or recorder.trace.status in ("failed", "step_limit"), raised
    assert len(recorder.traces) == 1
    assert recorder.open_runs == 0
    return recorder.trace
