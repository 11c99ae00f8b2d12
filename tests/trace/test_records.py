"""Records of runs, put together by hand: what no real run does the same way twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from agents import ai, told
from langchain_core.messages import RemoveMessage
from langgraph.types import Command
from pydantic import BaseModel

from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.nodes import messages_in
from langchain_llm_judge.trace.recorded import read_run
from langchain_llm_judge.trace.tree import ordered


def node(name: str, step: int, path: tuple[Any, ...], *messages: Any) -> Run:
    about = {"langgraph_step": step, "langgraph_node": name, "langgraph_path": path}
    run = Run(name, "chain", name=name, tags=[f"graph:step:{step}"], metadata=about, ended=True)
    run.outputs = {"messages": list(messages)}
    return run


def test_nodes_that_ran_at_once_come_in_the_order_in_which_the_graph_applies_them():
    pushed = [node(f"s{index}", 2, ("__pregel_push", index, False)) for index in (10, 2, 0)]
    pulled = [node(name, 1, ("__pregel_pull", name)) for name in ("b", "a")]
    other = Run("x", "chain", name="x")
    runs = [*pulled, other, *pushed]
    assert [run.name for run in ordered(runs)] == ["a", "b", "x", "s0", "s2", "s10"]


def test_messages_of_such_nodes_come_in_that_order_too():
    late, early = (node("work", 1, ("__pregel_push", index, False), ai(f"part {index}")) for index in (1, 0))
    root = Run("root", "chain", inputs="Q?", ended=True, children=[late, early])
    trace = read_run([root])
    assert (told(trace), trace.final_answer) == (["message: part 0"], "part 1")


def agent_run(answer: str) -> Run:
    root = Run(answer, "chain", name="inner", inputs="do it", ended=True)
    root.children = [node("model", 1, ("__pregel_pull", "model"), ai(answer))]
    return root


def tool_run(place: int, *children: Run) -> Run:
    about = {"name": "ask", "inputs": {"place": place}, "outputs": f"at {place}", "tool_call_id": "c1"}
    return Run(str(place), "tool", ended=True, children=list(children), **about)


@pytest.mark.parametrize("first_holds_an_agent", [True, False])
def test_tool_runs_that_began_in_another_order_than_their_calls_of_one_id(first_holds_an_agent: bool):
    calls = ai("", ("ask", {"place": 1}, "c1"), ("ask", {"place": 2}, "c1"))
    tools = node("tools", 2, ("__pregel_pull", "tools"))
    first = tool_run(1, agent_run("one")) if first_holds_an_agent else tool_run(1)
    tools.children = [tool_run(2, agent_run("two")), first]
    root = Run("root", "chain", inputs="Q?", ended=True)
    root.children = [node("model", 1, ("__pregel_pull", "model"), calls), tools]
    inner = [call.subtrace and call.subtrace.final_answer for call in read_run([root]).calls()]
    assert inner == ["one" if first_holds_an_agent else None, "two"]


class State(BaseModel):
    messages: list
    other: int = 0


@dataclass
class Fields:
    messages: list


ONE, TWO = ai("one", id="1"), ai("two", id="2")


@pytest.mark.parametrize(
    "output",
    [
        [ONE, TWO],
        {"messages": [ONE, TWO]},
        {"a": ONE, "b": [TWO], "c": "text", "d": [1, {"x": 1}]},
        {"messages": [RemoveMessage("0"), ONE, TWO]},
        Command(update={"messages": [ONE, TWO]}),
        Command(update=[("messages", [ONE]), ("other", 1), ("messages_too", [TWO])]),
        [Command(update={"messages": [ONE]}), {"messages": [TWO]}, Command(goto="x")],
        State(messages=[ONE, TWO]),
        Fields(messages=[ONE, TWO]),
    ],
)
def test_messages_in_every_form_of_an_output(output: Any):
    assert [message.id for message in messages_in(output)] == ["1", "2"]


@pytest.mark.parametrize("output", [None, "text", 1, {}, {"messages": "text"}, {"documents": [{"id": 1}]}, [1, "a"]])
def test_outputs_without_messages(output: Any):
    assert messages_in(output) == []


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (RuntimeError("x"), "RuntimeError"),
        ("RuntimeError('kaput')Traceback (most recent call last):", "RuntimeError"),
        ("langgraph.errors.GraphInterrupt((Interrupt(value=1),))", "GraphInterrupt"),
        ("it broke", ""),
        (None, None),
    ],
)
def test_the_name_of_an_error(error: Any, name: str | None):
    assert Run("1", "chain", error=error).error_type == name


def test_an_error_without_a_name_is_a_failure():
    trace = read_run([Run("1", "chain", inputs="Q?", error="it broke", ended=True)])
    assert (trace.status, trace.status_reason) == ("failed", "it broke")
