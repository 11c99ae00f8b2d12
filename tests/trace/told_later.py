"""Real graphs for the tests of sources that are read after the run, each with what its trace has to be."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from agents import PARIS, PARIS_STEPS, QUESTION, THREAD, ai, get_weather, scripted
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState
from langgraph.types import interrupt
from langgraph_swarm import create_handoff_tool, create_swarm
from live_runs import BOOM, boom, node_graph, tool_graph
from pydantic import BaseModel


@dataclass(frozen=True)
class Told:
    """A graph and what one run of it has to tell."""

    graph: Any
    steps: list[str]
    answer: str | None
    status: str = "finished"
    raises: bool = False
    given: Any = None


class Weather(BaseModel):
    """A report."""

    city: str


@tool
def send(to: str) -> str:
    """Send a mail."""
    return f"sent {interrupt('send?')}"


class Dicts(TypedDict):
    messages: Annotated[list, operator.add]


def single() -> Told:
    return Told(create_agent(scripted(ai("hm", PARIS), "21C"), [get_weather]), ["thought: hm", *PARIS_STEPS], "21C")


def parallel() -> Told:
    calls = ai("", ("get_weather", {"city": "Rome"}, "c1"), ("get_weather", {"city": "Oslo"}, "c2"))
    steps = ["get_weather(city='Rome')", "get_weather(city='Oslo')", "-> Rome: 21C", "-> Oslo: 21C"]
    return Told(tool_graph(scripted(calls, "ok"), [get_weather]), steps, "ok")


def handled_error() -> Told:
    steps = ["boom(x=1)", "-> error: Error: RuntimeError('kaput')\n Please fix your mistakes."]
    return Told(tool_graph(scripted(ai("", BOOM), "failed"), [boom], errors=True), steps, "failed")


def raised_error() -> Told:
    steps = ["boom(x=1)", "-> error: RuntimeError('kaput')"]
    return Told(create_agent(scripted(ai("", BOOM)), [boom]), steps, None, status="failed", raises=True)


def handed_over() -> Told:
    alice = create_agent(
        scripted(ai("", ("transfer_to_bob", {}, "a1"))), [create_handoff_tool(agent_name="bob")], name="alice"
    )
    bob = create_agent(scripted(ai("", PARIS), "Bob: 21C"), [get_weather], name="bob")
    steps = ["transfer_to_bob()", "-> Successfully transferred to bob", *PARIS_STEPS]
    return Told(create_swarm([alice, bob], default_active_agent="alice").compile(), steps, "Bob: 21C")


def summarised() -> Told:
    summary = SummarizationMiddleware(model=scripted("SUMMARY"), trigger=("messages", 3), keep=("messages", 1))
    agent = create_agent(scripted(ai("", PARIS), ai("", PARIS), "done"), [get_weather], middleware=[summary])
    return Told(agent, PARIS_STEPS * 2, "done")


def sub_graphs() -> Told:
    first = create_agent(scripted(ai("", PARIS), "21C"), [get_weather], name="first")
    second = create_agent(scripted("as said"), [], name="second")
    return Told(
        node_graph(MessagesState, first=first, second=second), [*PARIS_STEPS, "message of first: 21C"], "as said"
    )


def paused() -> Told:
    agent = create_agent(scripted(ai("", ("send", {"to": "bob"}, "c1"))), [send], checkpointer=InMemorySaver())
    return Told(agent, ["send(to='bob')"], None, status="paused")


def structured() -> Told:
    strategy = ToolStrategy(Weather)
    chat = scripted(ai("", PARIS), ai("", ("Weather", {"city": "Paris"}, "s1")))
    return Told(create_agent(chat, [get_weather], response_format=strategy), PARIS_STEPS, '{"city": "Paris"}')


def dict_messages() -> Told:
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call]}
    graph = node_graph(
        Dicts,
        ask=lambda state: {"messages": [asks]},
        run=lambda state: {
            "messages": [{"role": "tool", "tool_call_id": "c1", "content": get_weather.invoke({"city": "Paris"})}]
        },
        say=lambda state: {"messages": [{"role": "assistant", "content": "21C"}]},
    )
    return Told(graph, PARIS_STEPS, "21C", given={"messages": [{"role": "user", "content": "Q?"}]})


def in_a_tool() -> Told:
    inner = create_agent(scripted(ai("", PARIS), "Paris: 21C"), [get_weather], name="inner")

    @tool
    def ask(question: str) -> str:
        """Ask."""
        return inner.invoke({"messages": [("user", question)]})["messages"][-1].text

    steps = ["ask(question='Paris?')", "-> Paris: 21C"]
    return Told(create_agent(scripted(ai("", ("ask", {"question": "Paris?"}, "c9")), "ok"), [ask]), steps, "ok")


ALL: list[Callable[[], Told]] = [
    single, parallel, handled_error, raised_error, handed_over, summarised, sub_graphs, paused, structured,
    dict_messages, in_a_tool,
]  # fmt: skip


def config_of(told: Told) -> dict[str, Any]:
    return dict(THREAD) if told.status == "paused" else {}


def given_to(told: Told) -> Any:
    return told.given or QUESTION
