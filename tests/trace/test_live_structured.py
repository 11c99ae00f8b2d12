"""Live runs that answer in a schema."""

from __future__ import annotations

from typing import Any

import pytest
from agents import PARIS, PARIS_STEPS, ai, get_weather, scripted, told
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langgraph.graph import MessagesState
from live_runs import node_graph, record
from pydantic import BaseModel


class Weather(BaseModel):
    """A report."""

    city: str
    temp: int


class Failure(BaseModel):
    """No report."""

    why: str


GOOD = ("Weather", {"city": "Paris", "temp": 21}, "s2")
BAD = ("Weather", {"city": "Paris"}, "s1")
ANSWER = '{"city": "Paris", "temp": 21}'


@pytest.mark.parametrize(
    ("strategy", "replies", "steps"),
    [
        (ToolStrategy(Weather), [ai("", PARIS), ai("", GOOD)], PARIS_STEPS),
        (ToolStrategy(Weather, tool_message_content="noted"), [ai("", PARIS), ai("", GOOD)], PARIS_STEPS),
        (ToolStrategy(Weather | Failure), [ai("", GOOD)], []),
        (ToolStrategy(Weather), [ai("both", GOOD, PARIS)], ["thought: both", *PARIS_STEPS]),
        (ToolStrategy(Weather, handle_errors="fix it"), [ai("", BAD), ai("", GOOD)],
         ["Weather(city='Paris')", "-> error: fix it"]),
        (ProviderStrategy(Weather), [ai("", PARIS), ai(ANSWER)], PARIS_STEPS),
    ],
)  # fmt: skip
def test_the_structured_answer_is_the_answer_and_its_pseudo_tool_no_tool(strategy: Any, replies: Any, steps: list[str]):
    trace = record(create_agent(scripted(*replies), [get_weather], response_format=strategy))
    assert (told(trace), trace.final_answer, trace.status) == (steps, ANSWER, "finished")
    assert [spec.name for spec in trace.tools] == ["get_weather"]


def test_a_structured_answer_that_fails_for_good_is_no_tool_either():
    strategy = ToolStrategy(Weather, handle_errors=False)
    trace = record(create_agent(scripted(ai("", BAD)), [get_weather], response_format=strategy))
    assert ([spec.name for spec in trace.tools], trace.status) == (["get_weather"], "failed")


def test_a_structured_answer_that_code_reads_is_no_step():
    inner = create_agent(scripted(ai("", PARIS), ai("", GOOD)), [get_weather], response_format=ToolStrategy(Weather))

    def node(state: Any) -> Any:
        report = inner.invoke(state)["structured_response"]
        return {"messages": [AIMessage(f"{report.temp} degrees")]}

    trace = record(node_graph(MessagesState, node=node))
    assert (told(trace), trace.final_answer) == (PARIS_STEPS, "21 degrees")
    assert [spec.name for spec in trace.tools] == ["get_weather"]


def test_a_chain_that_ends_in_a_schema():
    chain = ChatPromptTemplate.from_template("{question}") | scripted(
        {"city": "Paris", "temp": 21}
    ).with_structured_output(Weather)
    trace = record(chain, {"question": "Q?"})
    assert (trace.task, told(trace), trace.final_answer) == ("Q?", [], ANSWER)
    assert (trace.tools, trace.tools_known, trace.status) == ([], True, "finished")


def test_a_router_in_a_node_is_a_message():
    router = scripted({"city": "Paris", "temp": 21}).with_structured_output(Weather)

    def route(state: Any) -> None:
        router.invoke("where?")

    trace = record(node_graph(MessagesState, route=route, end=lambda state: {"messages": [ai("bye")]}))
    assert (told(trace), trace.final_answer) == ([f"message: {ANSWER}"], "bye")
    assert trace.tools == []
