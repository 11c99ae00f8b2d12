"""Stored `astream_events` and `stream(updates)` as traces."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from agents import PARIS, PARIS_STEPS, QUESTION, ai, get_weather, scripted, told
from langchain.agents import create_agent
from langchain_core.load import dumps
from langgraph.graph import MessagesState
from langgraph.types import Command
from live_runs import node_graph
from told_later import ALL, Told, config_of, given_to, in_a_tool, paused, single, sub_graphs

from langchain_llm_judge import TraceError, to_trace


async def events_of(case: Told, given: Any = None, **options: Any) -> list[Any]:
    seen: list[Any] = []
    stream = case.graph.astream_events(given or given_to(case), config_of(case), version="v2", **options)
    try:
        async for event in stream:
            seen.append(event)
    except RuntimeError:
        assert case.raises
    return seen


def updates_of(case: Told, **options: Any) -> list[Any]:
    seen: list[Any] = []
    options = {"stream_mode": "updates", "subgraphs": True, **options}
    try:
        for update in case.graph.stream(given_to(case), config_of(case), **options):
            seen.append(update)
    except RuntimeError:
        assert case.raises
    return seen


# Events


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
async def test_events_tell_the_run(make: Callable[[], Told]):
    case = make()
    trace = to_trace(await events_of(case))
    assert (trace.task, told(trace), trace.final_answer) == ("Q?", case.steps, case.answer)
    assert trace.status == case.status


async def test_events_that_were_stored_as_json():
    case = sub_graphs()
    events = json.loads(dumps(await events_of(case)))
    trace = to_trace(events)
    assert (trace.task, told(trace), trace.final_answer, trace.status) == ("Q?", case.steps, case.answer, "finished")


async def test_events_name_no_tools_so_those_that_ran_are_not_all():
    trace = to_trace(await events_of(single()))
    assert ([spec.name for spec in trace.tools], trace.tools_known) == (["get_weather"], False)
    assert to_trace(await events_of(single()), tools=["a", "b"]).tools_known


async def test_events_of_both_halves_are_one_run():
    case = paused()
    first = await events_of(case)
    assert to_trace(first).status_reason == "waits for an answer to send?"
    trace = to_trace([*first, *await events_of(case, Command(resume="it"))])
    assert told(trace)[:2] == ["send(to='bob')", "-> sent it"]


async def test_events_that_stop_early_leave_the_end_open():
    events = await events_of(single())
    seen = [event for event in events if event["event"] == "on_tool_end"]
    trace = to_trace(events[: events.index(seen[0]) + 1])
    assert told(trace) == ["thought: hm", *PARIS_STEPS]
    assert (trace.status, trace.final_answer) == ("unknown", None)


async def test_events_without_those_of_chains():
    trace = to_trace(await events_of(single(), include_types=["chat_model", "tool"]), task="Q?")
    assert told(trace) == ["thought: hm", *PARIS_STEPS, "message: 21C"]
    assert trace.status == "unknown"


async def test_events_of_two_runs_are_refused():
    with pytest.raises(TraceError, match="the events are those of 2 runs; give the events of one"):
        to_trace([*await events_of(single()), *await events_of(single())])


def test_events_of_version_1_say_what_helps():
    with pytest.raises(TraceError, match="version='v2'"):
        to_trace([{"event": "on_chain_start", "name": "x", "run_id": "1", "tags": [], "metadata": {}, "data": {}}])


# Updates

NOT_TOLD = {
    # How a run ended that raised is not in its updates, nor what the tool raised.
    "raised_error": (["boom(x=1)"], None, "incomplete"),
}


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_updates_tell_the_run(make: Callable[[], Told]):
    case = make()
    steps, answer, status = NOT_TOLD.get(make.__name__, (case.steps, case.answer, case.status))
    trace = to_trace(updates_of(case), task="Q?")
    assert (told(trace), trace.final_answer, trace.status) == (steps, answer, status)


@pytest.mark.parametrize(
    "options",
    [
        {"subgraphs": False},
        {"subgraphs": True},
        {"stream_mode": ["updates", "values"]},
        {"stream_mode": ["updates", "messages"], "subgraphs": False},
        {"version": "v2"},
        {"version": "v2", "subgraphs": False},
    ],
    ids=str,
)
def test_updates_in_every_form(options: dict[str, Any]):
    case = single()
    trace = to_trace(updates_of(case, **options), task="Q?")
    assert (told(trace), trace.final_answer, trace.status) == (case.steps, case.answer, "finished")


def test_updates_of_an_agent_in_a_tool_belong_to_its_call():
    trace = to_trace(updates_of(in_a_tool()), task="Q?")
    assert told(trace.calls()[0].subtrace) == PARIS_STEPS
    assert trace.calls()[0].subtrace.final_answer == "Paris: 21C"


def test_updates_keep_other_state():
    graph = node_graph(MessagesState, of_graph=None, say=lambda state: {"messages": [ai("said")]})
    updates = [*graph.stream(QUESTION, stream_mode="updates"), {"write": {"answer": "written"}}]
    trace = to_trace(updates, task="Q?", answer_key="answer")
    assert (told(trace), trace.final_answer, trace.status) == (["message: said"], "written", "finished")


def test_updates_that_end_on_a_result_do_not_tell_how_the_run_ended():
    graph = create_agent(scripted(ai("", PARIS), "21C"), [get_weather])
    trace = to_trace(list(graph.stream(QUESTION, stream_mode="updates"))[:2], task="Q?")
    assert (told(trace), trace.final_answer, trace.status) == (PARIS_STEPS, None, "unknown")


def test_updates_need_the_question():
    with pytest.raises(TraceError, match="give it with task="):
        to_trace(updates_of(single()))


def test_a_stream_without_updates_says_what_helps():
    with pytest.raises(TraceError, match="stream_mode='updates'"):
        to_trace([("values", {"x": 1}), ("values", {"x": 2})], task="Q?")
