"""Run trees as traces: live objects of a collector, and what a store keeps of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from agents import PARIS, PARIS_STEPS, QUESTION, ai, get_weather, scripted, told
from langchain.agents import create_agent
from langchain_classic.agents import AgentExecutor, create_react_agent
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langgraph.types import Command
from pydantic import BaseModel
from told_later import ALL, Told, config_of, given_to, paused

from langchain_llm_judge import TraceError, TraceRecorder, to_trace


def tree_of(runnable: Any, given: Any, config: dict[str, Any] | None = None) -> Any:
    collector = RunCollectorCallbackHandler()
    with suppress(RuntimeError):
        runnable.invoke(given, {**(config or {}), "callbacks": [collector]})
    return collector.traced_runs[-1]


def stored(tree: Any) -> dict[str, Any]:
    """A tree as JSON, the way LangSmith keeps it: models, messages and commands as dicts of their fields."""
    names = ("id", "name", "run_type", "inputs", "outputs", "error", "start_time", "end_time", "extra", "tags")
    told_of = {name: getattr(tree, name) for name in names}
    plain = json.loads(json.dumps({**told_of, "serialized": tree.serialized}, default=as_fields))
    return {**plain, "child_runs": [stored(child) for child in tree.child_runs]}


def as_fields(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


@pytest.mark.parametrize("form", ["collected", "stored"])
@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_a_tree_tells_the_run(make: Callable[[], Told], form: str):
    case = make()
    tree = tree_of(case.graph, given_to(case), config_of(case))
    trace = to_trace(tree if form == "collected" else stored(tree))
    assert (trace.task, told(trace), trace.final_answer) == ("Q?", case.steps, case.answer)
    assert trace.status == case.status


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_a_tree_tells_what_a_recorder_sees(make: Callable[[], Told]):
    case = make()
    recorder, collector = TraceRecorder(), RunCollectorCallbackHandler()
    try:
        case.graph.invoke(given_to(case), {**config_of(case), "callbacks": [recorder, collector]})
    except RuntimeError:
        assert case.raises
    live, later = recorder.trace, to_trace(collector.traced_runs[0])
    assert told(later) == told(live)
    assert (later.tools, later.tools_known, later.usage) == (live.tools, live.tools_known, live.usage)
    assert [(step.node, step.agent) for step in later.steps] == [(step.node, step.agent) for step in live.steps]
    inner = [[told(call.subtrace) for call in trace.calls() if call.subtrace] for trace in (later, live)]
    assert inner[0] == inner[1]


def test_the_error_of_a_tree_is_told_without_its_traceback():
    trace = to_trace(
        tree_of(create_agent(scripted(ai("", ("fail", {}, "c1"))), [fail]), {"messages": [("user", "Q?")]})
    )
    assert (trace.status, trace.status_reason) == ("failed", "RuntimeError('kaput')")
    assert trace.steps[1].error_type == "RuntimeError"


@tool
def fail() -> str:
    """Fail."""
    raise RuntimeError("kaput")


def test_the_second_half_of_a_run_is_told_with_what_it_was_given():
    case = paused()
    tree_of(case.graph, given_to(case), config_of(case))
    trace = to_trace(tree_of(case.graph, Command(resume="it"), config_of(case)))
    assert told(trace)[:2] == [*case.steps, "-> sent it"]
    assert trace.task == "Q?"


def test_the_trees_of_both_halves_are_one_run():
    case = paused()
    collector = RunCollectorCallbackHandler()
    config: Any = {**config_of(case), "callbacks": [collector]}
    case.graph.invoke(given_to(case), config)
    case.graph.invoke(Command(resume="it"), config)
    trace = to_trace(collector.traced_runs)
    assert told(trace)[:2] == [*case.steps, "-> sent it"]
    assert told(trace)[2:] != told(trace)[:2]


def test_the_trees_of_two_runs_are_refused():
    trees = [tree_of(create_agent(scripted("21C"), []), QUESTION) for _ in range(2)]
    assert to_trace(trees[:1]).final_answer == "21C"
    with pytest.raises(TraceError, match="the list holds 2 runs; give one of them"):
        to_trace(trees)


class Found(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page_content=f"about {query}")]


@pytest.mark.parametrize("form", ["collected", "stored"])
def test_documents_of_a_tree_are_contexts(form: str):
    tree = tree_of(RunnableLambda(lambda query: f"read {len(Found().invoke(query))}"), "x")
    trace = to_trace(tree if form == "collected" else stored(tree))
    assert (trace.task, trace.contexts, trace.final_answer) == ("x", ["about x"], "read 1")


@pytest.mark.parametrize("form", ["collected", "stored"])
def test_an_executor_of_texts(form: str):
    @tool
    def look(query: str) -> str:
        """Look."""
        return f"seen {query}"

    replies = ai("Look.\nAction: look\nAction Input: paris"), ai("no format"), ai("Final Answer: 42")
    agent = create_react_agent(
        scripted(*replies), [look], PromptTemplate.from_template("{tools} {tool_names} {input} {agent_scratchpad}")
    )
    executor = AgentExecutor(agent=agent, tools=[look], handle_parsing_errors=True)
    tree = tree_of(executor, {"input": "Q?"})
    trace = to_trace(tree if form == "collected" else stored(tree))
    steps = ["thought: Look.", "look('paris')", "-> seen paris", "thought in error: no format"]
    assert (trace.task, told(trace), trace.final_answer) == ("Q?", steps, "42")


def test_a_run_without_its_children_says_what_helps():
    run = SimpleNamespace(
        id=uuid4(),
        name="agent",
        run_type="chain",
        inputs={"input": "Q?"},
        outputs={"output": "A"},
        child_run_ids=[uuid4()],
    )
    with pytest.raises(TraceError, match="load_child_runs=True"):
        to_trace(run)


def test_nothing_in_the_tree_is_changed():
    tree = tree_of(create_agent(scripted(ai("", PARIS), "21C"), [get_weather]), {"messages": [("user", "Q?")]})
    before = repr(tree.outputs), repr([child.inputs for child in tree.child_runs])
    assert told(to_trace(tree)) == PARIS_STEPS
    assert (repr(tree.outputs), repr([child.inputs for child in tree.child_runs])) == before
