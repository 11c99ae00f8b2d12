"""Where a recorder may stand, and what it keeps."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from agents import PARIS, PARIS_STEPS, QUESTION, ai, get_weather, needs, scripted, told
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import tool
from langgraph.graph import MessagesState
from live_runs import node_graph, record

from langchain_llm_judge import TraceError, TraceRecorder
from langchain_llm_judge.trace.capture import RunCapture
from langchain_llm_judge.trace.log import Run


def by_city(messages: list[BaseMessage]) -> BaseMessage:
    """Asks for the weather of the city that the user named, then answers."""
    city = str(messages[0].content)
    return ai(f"{city} done") if len(messages) > 1 else ai("", ("get_weather", {"city": city}, "c1"))


def asked(city: str) -> dict:
    return {"messages": [("user", city)]}


def kept_by(recorder: RunCapture) -> int:
    return len(recorder._runs) + len(recorder._ignored) + len(recorder._open_roots) + len(recorder._stopped)


CITIES = ["Paris", "Rome", "Oslo"]


def each_city_once(recorder: TraceRecorder) -> None:
    assert sorted(trace.task for trace in recorder.traces) == sorted(CITIES)
    for trace in recorder.traces:
        assert told(trace) == [f"get_weather(city={trace.task!r})", f"-> {trace.task}: 21C"]
        assert trace.final_answer == f"{trace.task} done"
    assert (recorder.open_runs, kept_by(recorder)) == (0, 0)


async def test_f13_one_recorder_in_three_runs_at_once():
    recorder = TraceRecorder()
    agent = create_agent(scripted(by_city), [get_weather])
    await asyncio.gather(*(agent.ainvoke(asked(city), {"callbacks": [recorder]}) for city in CITIES))
    each_city_once(recorder)


def test_f13_one_recorder_in_threads_and_batches():
    agent = create_agent(scripted(by_city), [get_weather])
    recorder = TraceRecorder()
    agent.batch([asked(city) for city in CITIES], {"callbacks": [recorder]})
    each_city_once(recorder)
    recorder = TraceRecorder()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda city: agent.invoke(asked(city), {"callbacks": [recorder]}), CITIES))
    each_city_once(recorder)


@needs("langgraph", "1.2.12")
def test_f13_bound_to_one_step_of_a_chain():
    recorder = TraceRecorder()
    agent = create_agent(scripted(ai("", PARIS), "21C"), [get_weather])
    chain = RunnableLambda(lambda text: asked(text)) | agent.with_config(callbacks=[recorder]) | RunnableLambda(len)
    chain.invoke("Q?")
    assert (told(recorder.trace), recorder.trace.task, recorder.trace.final_answer) == (PARIS_STEPS, "Q?", "21C")
    assert (len(recorder.traces), kept_by(recorder)) == (1, 0)


def test_f13_bound_to_a_model_or_a_tool_inside_a_graph():
    recorder = TraceRecorder()
    chat = scripted(ai("", PARIS), "21C").with_config(callbacks=[recorder])
    node_graph(MessagesState, node=lambda state: {"messages": [chat.invoke(state["messages"])]}).invoke(QUESTION)
    assert (recorder.trace.task, told(recorder.trace)) == ("Q?", PARIS_STEPS[:1])
    assert (len(recorder.traces), kept_by(recorder)) == (1, 0)


@pytest.mark.parametrize("streamed", [False, True])
async def test_f13_bound_and_passed(streamed: bool):
    recorder = TraceRecorder()
    agent = create_agent(scripted(ai("", PARIS), "21C"), [get_weather]).with_config(callbacks=[recorder])
    config: Any = {"callbacks": [recorder]}
    if streamed:
        async for _ in agent.astream(QUESTION, config):
            pass
    else:
        agent.invoke(QUESTION, config)
    assert (told(recorder.trace), recorder.trace.final_answer) == (PARIS_STEPS, "21C")
    assert (len(recorder.traces), kept_by(recorder)) == (1, 0)


def test_f13_a_chain_bound_and_passed():
    recorder = TraceRecorder()
    chain = RunnableLambda(str.upper) | RunnableLambda(str.title)
    assert chain.with_config(callbacks=[recorder]).invoke("hello", {"callbacks": [recorder]}) == "Hello"
    assert (recorder.trace.final_answer, recorder.trace.status, len(recorder.traces)) == ("Hello", "finished", 1)


def test_f13_every_event_twice_is_one_record():
    recorder, root, inner = TraceRecorder(), uuid4(), uuid4()
    for run_id, parent in ((root, None), (inner, root)):
        for _ in range(2):
            recorder.on_chain_start(None, "hi", run_id=run_id, parent_run_id=parent, name="chain")
    for run_id in (inner, root):
        for _ in range(2):
            recorder.on_chain_end("hello", run_id=run_id)
    assert (recorder.trace.status, recorder.trace.final_answer) == ("finished", "hello")
    assert (len(recorder.traces), kept_by(recorder)) == (1, 0)


def test_f13_a_run_inside_a_tool_is_nested():
    expert = create_agent(scripted(ai("let me see", PARIS), "Paris is 21C"), [get_weather], name="expert")

    @tool
    def ask(question: str) -> str:
        """Ask the expert."""
        return expert.invoke(asked(question))["messages"][-1].text

    boss = create_agent(scripted(ai("", ("ask", {"question": "Paris?"}, "c1")), "21C"), [ask], name="boss")
    trace = record(boss)
    assert told(trace) == ["ask(question='Paris?')", "-> Paris is 21C"]
    inner = trace.calls()[0].subtrace
    assert told(inner) == ["thought of boss/expert: let me see", *PARIS_STEPS]
    assert (inner.task, inner.final_answer, inner.status) == ("Paris?", "Paris is 21C", "finished")
    assert [spec.name for spec in inner.tools] == ["get_weather"]
    assert [spec.name for spec in trace.tools] == ["ask", "get_weather"]
    assert [path for path, _ in trace.walk()] == [(), ("ask",)]


def objects_alive() -> int:
    gc.collect()
    return len(gc.get_objects())


def test_f13_a_thousand_runs_leave_nothing_behind():
    seen: list[str] = []
    recorder = TraceRecorder(on_trace=lambda trace: seen.append(trace.status), keep=10)
    graph = node_graph(MessagesState, a=lambda state: {"messages": [ai("one")]}, b=lambda state: None)
    given, config = [QUESTION] * 50, {"callbacks": [recorder]}
    graph.batch(given, config)
    before = objects_alive()
    for _ in range(19):
        graph.batch(given, config)
    assert objects_alive() - before < 100
    assert not any(isinstance(thing, Run) for thing in gc.get_objects())
    assert (seen, len(recorder.traces)) == (["finished"] * 1000, 10)
    assert (kept_by(recorder), recorder.open_runs) == (0, 0)


def test_judges_are_left_out():
    judge = create_agent(scripted(by_city), [get_weather], name="judge").with_config(tags=["llm_judge"])

    def node(state: Any) -> Any:
        judge.invoke(asked("Rome"))
        return {"messages": [ai("bye")]}

    recorder = TraceRecorder()
    trace = record(node_graph(MessagesState, node=node))
    assert (told(trace), trace.final_answer, trace.tools, trace.usage) == ([], "bye", [], None)
    judge.invoke(asked("Rome"), {"callbacks": [recorder]})
    assert (recorder.traces, kept_by(recorder)) == ([], 0)


def test_an_error_in_on_trace_reaches_the_log_and_not_the_run(caplog: pytest.LogCaptureFixture):
    def fail(trace: Any) -> None:
        raise ValueError("mine")

    recorder = TraceRecorder(on_trace=fail)
    with caplog.at_level(logging.ERROR):
        assert RunnableLambda(str.upper).invoke("hello", {"callbacks": [recorder]}) == "HELLO"
    assert "on_trace failed" in caplog.text
    assert recorder.trace.final_answer == "HELLO"


def test_before_the_first_run():
    recorder = TraceRecorder()
    assert (recorder.traces, recorder.open_runs) == ([], 0)
    with pytest.raises(TraceError, match="no run has ended yet"):
        _ = recorder.trace


def test_open_runs_while_they_go_on():
    recorder, gate = TraceRecorder(), threading.Event()
    waits = RunnableLambda(lambda _: gate.wait(5))
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            pool.submit(waits.invoke, 1, {"callbacks": [recorder]})
        while recorder.open_runs < 2:
            pass
        gate.set()
    assert (recorder.open_runs, len(recorder.traces)) == (0, 2)


def test_runs_of_other_kinds_than_graphs():
    recorder = TraceRecorder()
    config: Any = {"callbacks": [recorder]}
    scripted("hello").invoke("hi", config)
    assert (recorder.trace.task, recorder.trace.final_answer) == ("hi", "hello")
    get_weather.invoke({"city": "Paris"}, config)
    assert (told(recorder.trace), recorder.trace.final_answer) == (PARIS_STEPS, "Paris: 21C")
    RunnableParallel(a=scripted("one"), b=scripted("two")).invoke("hi", config)
    said = [*told(recorder.trace), f"message: {recorder.trace.final_answer}"]
    assert sorted(said) == ["message: one", "message: two"]
    RunnableLambda(lambda text: ai(f"{text} there")).invoke("hi", config)
    assert (told(recorder.trace), recorder.trace.final_answer) == ([], "hi there")
    assert [trace.status for trace in recorder.traces] == ["finished"] * 4


def test_two_runs_with_the_same_id_are_two_traces():
    recorder, run_id = TraceRecorder(), uuid4()
    for text in ("one", "two"):
        RunnableLambda(str.upper).invoke(text, {"callbacks": [recorder], "run_id": run_id})
    assert [trace.final_answer for trace in recorder.traces] == ["ONE", "TWO"]
