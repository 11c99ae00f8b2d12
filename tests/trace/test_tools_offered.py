"""Tools are found wherever they are held, with the schema the model sees."""

from __future__ import annotations

from typing import Annotated, TypedDict

import pytest
from agents import get_weather, scripted
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain.tools import ToolRuntime
from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolArg, StructuredTool, Tool, tool
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode
from pydantic import BaseModel, Field

from langchain_llm_judge import ToolSpec, TraceError
from langchain_llm_judge.trace.tools import direct_tools, tool_specs

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


@tool
def hidden(q: str, state: Annotated[dict, InjectedState], user: Annotated[str, InjectedToolArg] = "x") -> str:
    """Has injected arguments."""
    return q


@tool
def with_runtime(q: str, runtime: ToolRuntime) -> str:
    """Has a runtime."""
    return q


def plain_function(q: str) -> str:
    """A function.

    Args:
        q: The question.
    """
    return q


class Search(BaseModel):
    """Search the web."""

    q: str = Field(alias="query")


class Typed(TypedDict):
    """A typed dict."""

    q: str


from_dict = StructuredTool(name="d", description="D.", args_schema={**SCHEMA, "title": "d"}, func=lambda q: q)


def names(source: object) -> list[str] | None:
    specs = tool_specs(source)
    return None if specs is None else [spec.name for spec in specs]


def only(source: object) -> ToolSpec:
    (spec,) = tool_specs(source) or []
    return spec


@pytest.mark.parametrize("offered", [hidden, with_runtime], ids=lambda offered: offered.name)
def test_injected_arguments_are_not_in_the_schema(offered: object):
    assert only([offered]).parameters == {"properties": {"q": {"type": "string"}}, "required": ["q"], "type": "object"}


@pytest.mark.parametrize(
    ("offered", "name", "properties"),
    [
        (get_weather, "get_weather", ["city"]),
        (plain_function, "plain_function", ["q"]),
        (Search, "Search", ["query"]),
        (Typed, "Typed", ["q"]),
        (from_dict, "d", ["q"]),
        (Tool("single", str, "Takes a text."), "single", ["__arg1"]),
        ({"type": "function", "function": {"name": "f", "description": "F.", "parameters": SCHEMA}}, "f", ["q"]),
        ({"type": "function", "name": "f", "parameters": SCHEMA}, "f", ["q"]),
        ({"name": "f", "input_schema": SCHEMA}, "f", ["q"]),
        ({"name": "f", "inputSchema": SCHEMA}, "f", ["q"]),
        ({"name": "f", "parameters": SCHEMA}, "f", ["q"]),
        ({"toolSpec": {"name": "f", "inputSchema": {"json": SCHEMA}}}, "f", ["q"]),
        ({"function_declarations": [{"name": "f", "parameters": SCHEMA}]}, "f", ["q"]),
        ({"title": "f", "description": "F.", **SCHEMA}, "f", ["q"]),
        (ToolSpec(name="f", parameters=SCHEMA), "f", ["q"]),
    ],
)
def test_every_form_of_a_tool(offered: object, name: str, properties: list[str]):
    for given in (offered, [offered], (offered,)):
        spec = only(given)
        assert spec.name == name
        assert list((spec.parameters or {})["properties"]) == properties


@pytest.mark.parametrize(
    ("offered", "name"),
    [
        ("search", "search"),
        ({"type": "web_search_20250305", "name": "web_search"}, "web_search"),
        ({"type": "code_interpreter", "container": {"type": "auto"}}, "code_interpreter"),
        ({"google_search": {}}, "google_search"),
        (ToolSpec(name="f"), "f"),
    ],
)
def test_tools_without_a_schema(offered: object, name: str):
    assert only([offered]) == ToolSpec(name=name)


def test_each_name_once_and_the_schema_wins():
    assert tool_specs(["f", {"name": "f", "parameters": SCHEMA}, "g", "f"]) == [
        ToolSpec(name="f", parameters=SCHEMA),
        ToolSpec(name="g"),
    ]
    assert names({"renamed": get_weather}) == ["renamed"]
    assert names([]) == []
    assert names({get_weather.name: get_weather, "f": {"name": "x", "parameters": SCHEMA}}) == ["get_weather", "f"]


def agent(*tools: object, **more: object):
    return create_agent(scripted("x"), list(tools), **more)


def test_tools_of_graphs_and_their_subgraphs():
    inner = agent(get_weather, hidden, middleware=[TodoListMiddleware()], name="inner")
    outer = StateGraph(MessagesState)
    outer.add_node("agent", inner)
    outer.add_node("more", ToolNode([with_runtime]))
    outer.add_edge(START, "agent")
    graph = outer.compile()
    assert set(names(graph) or ()) == {"get_weather", "hidden", "write_todos", "with_runtime"}
    assert set(names([graph, "extra"]) or ()) == {"get_weather", "hidden", "write_todos", "with_runtime", "extra"}


def test_a_graph_in_the_closure_of_a_node():
    inner = agent(get_weather)
    outer = StateGraph(MessagesState)
    outer.add_node("node", lambda state: inner.invoke(state))
    outer.add_edge(START, "node")
    assert names(outer.compile()) == ["get_weather"]


def test_tools_of_executors_models_and_chains():
    prompt = ChatPromptTemplate.from_messages([("human", "{input}"), ("placeholder", "{agent_scratchpad}")])
    model = scripted("x")
    executor = AgentExecutor(agent=create_tool_calling_agent(model, [get_weather], prompt), tools=[get_weather, hidden])
    assert names(executor) == ["get_weather", "hidden"]
    assert names(model.bind_tools([get_weather])) == ["get_weather"]
    assert names(prompt | model.bind_tools([get_weather]) | RunnableLambda(str)) == ["get_weather"]
    assert names(agent(get_weather).with_config(tags=["a"])) == ["get_weather"]
    assert names(RunnableLambda(str) | agent(hidden)) == ["hidden"]
    assert names(ToolNode([get_weather])) == ["get_weather"]


def test_what_cannot_be_known_is_none():
    @entrypoint()
    def functional(messages: list) -> list:
        return messages

    for source in (None, functional, agent(), scripted("x"), object(), 3):
        assert tool_specs(source) is None


@pytest.mark.parametrize("wrong", [[3], [get_weather, None], [object()]])
def test_what_is_no_tool_is_named(wrong: list):
    with pytest.raises(TraceError, match=r"tools contains .*, which is no tool; give tools,") as caught:
        tool_specs(wrong)
    assert caught.value.seen is wrong[-1]


def test_direct_tools():
    @tool(return_direct=True)
    def direct(x: str) -> str:
        """Answers itself."""
        return x

    for source in (agent(get_weather, direct), [get_weather, direct], {"direct": direct}, [agent(direct)], direct):
        assert direct_tools(source) == {"direct"}
    for source in (None, "direct", ["direct"], [{"name": "direct"}], agent(get_weather)):
        assert direct_tools(source) == set()
