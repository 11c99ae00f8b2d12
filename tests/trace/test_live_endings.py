"""Live runs that do not come to their end: failures, limits, cancelled tasks, closed streams."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any
from unittest.mock import MagicMock

import pytest
from agents import PARIS, PARIS_STEPS, QUESTION, THREAD, ai, get_weather, needs, scripted, told
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    ToolCallLimitMiddleware,
)
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.config import ContextThreadPoolExecutor
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphDrained, NodeTimeoutError
from langgraph.graph import MessagesState
from langgraph.runtime import RunControl
from langgraph.types import Overwrite
from live_runs import BOOM, boom, node_graph, record

from langchain_llm_judge import TraceRecorder


def again(messages: list[BaseMessage]) -> BaseMessage:
    return ai("again", ("get_weather", {"city": "Paris"}, f"c{len(messages)}"))


AGAIN = ["thought: again", *PARIS_STEPS]


@tool
async def wait(city: str) -> str:
    """Wait long."""
    await asyncio.sleep(30)
    return city


WAIT = ("wait", {"city": "Oslo"}, "c1")


def test_a_recursion_limit_is_a_step_limit():
    trace = record(create_agent(scripted(again), [get_weather]), config={"recursion_limit": 4})
    assert told(trace) == AGAIN * 2
    assert (trace.status, trace.final_answer) == ("step_limit", None)


@pytest.mark.parametrize(
    ("limit", "last", "answer"),
    [
        (ModelCallLimitMiddleware(run_limit=1, exit_behavior="end"), [], "Model call limits exceeded: run limit (1/1)"),
        (ModelCallLimitMiddleware(run_limit=1, exit_behavior="error"), [], None),
        (
            ToolCallLimitMiddleware(run_limit=1, exit_behavior="end"),
            [*AGAIN[:2], "-> error: Tool call limit exceeded. Do not make additional tool calls."],
            "Tool call limit reached: run limit exceeded (2/1 calls).",
        ),
        (ToolCallLimitMiddleware(run_limit=1, exit_behavior="error"), AGAIN[:2], None),
    ],
)
def test_limits_of_middleware(limit: Any, last: list[str], answer: str | None):
    trace = record(create_agent(scripted(again), [get_weather], middleware=[limit]))
    assert told(trace) == AGAIN + last
    assert (trace.status, trace.final_answer) == ("step_limit", answer)


def test_a_model_that_fails_ends_the_run_and_is_no_step():
    trace = record(create_agent(scripted(ai("", PARIS), RuntimeError("429")), [get_weather]))
    assert told(trace) == PARIS_STEPS
    assert (trace.status, trace.status_reason) == ("failed", "RuntimeError('429')")


@pytest.mark.parametrize(
    ("middleware", "answer"),
    [
        (ModelFallbackMiddleware(scripted("the backup")), "the backup"),
        (
            ModelRetryMiddleware(max_retries=1, initial_delay=0.001),
            "Model call failed after 2 attempts with RuntimeError: down",
        ),
    ],
)
def test_attempts_of_a_model_that_failed_are_no_steps(middleware: Any, answer: str):
    trace = record(create_agent(scripted(RuntimeError("down")), [get_weather], middleware=[middleware]))
    assert (told(trace), trace.final_answer, trace.status) == ([], answer, "finished")


def test_attempts_of_a_whole_agent_count_as_they_ended():
    chat = scripted(ai("bad", BOOM), ai("good", PARIS), "ok")
    agent = create_agent(chat, [boom, get_weather])
    trace = record(agent.with_retry(stop_after_attempt=2, wait_exponential_jitter=False))
    assert told(trace) == ["thought: good", *PARIS_STEPS]
    assert (trace.final_answer, trace.status) == ("ok", "finished")


def test_attempts_that_all_failed_leave_the_last():
    agent = create_agent(scripted(ai("bad", BOOM)), [boom])
    trace = record(agent.with_retry(stop_after_attempt=2, wait_exponential_jitter=False))
    assert told(trace) == ["thought: bad", "boom(x=1)", "-> error: RuntimeError('kaput')"]
    assert trace.status == "failed"


@needs("langgraph", "1.2.12")
def test_an_agent_that_failed_before_its_fallback_is_no_step():
    bad = create_agent(scripted(ai("bad", BOOM)), [boom])
    trace = record(bad.with_fallbacks([create_agent(scripted("fine"), [get_weather])]))
    assert (told(trace), trace.final_answer, trace.status) == ([], "fine", "finished")


async def test_f12_a_cancelled_task():
    recorder = TraceRecorder()
    agent = create_agent(scripted(ai("Waiting.", WAIT)), [wait])
    task = asyncio.create_task(agent.ainvoke(QUESTION, {"callbacks": [recorder]}))
    await asyncio.sleep(0.2)
    assert recorder.open_runs == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told(recorder.trace) == ["thought: Waiting.", "wait(city='Oslo')"]
    assert (recorder.trace.status, recorder.trace.final_answer) == ("cancelled", None)
    assert recorder.open_runs == 0


async def test_a_step_that_takes_too_long_is_a_limit():
    recorder = TraceRecorder()
    agent = create_agent(scripted(ai("", WAIT)), [wait])
    agent.step_timeout = 0.1
    with pytest.raises(TimeoutError):
        await agent.ainvoke(QUESTION, {"callbacks": [recorder]})
    assert (told(recorder.trace), recorder.trace.status) == (["wait(city='Oslo')"], "step_limit")


def test_a_tool_that_timed_out_is_a_failure():
    @tool
    def slow() -> str:
        """Time out."""
        raise TimeoutError("no reply")

    trace = record(create_agent(scripted(ai("", ("slow", {}, "c1"))), [slow]))
    assert (told(trace)[1], trace.status) == ("-> error: TimeoutError('no reply')", "failed")


@pytest.mark.parametrize("how", ["closed", "left to the garbage collector"])
def test_f12_a_stream_that_nobody_reads_to_its_end(how: str):
    recorder = TraceRecorder()
    agent = create_agent(scripted(ai("", PARIS), "21C"), [get_weather])
    stream = agent.stream(QUESTION, {"callbacks": [recorder]}, stream_mode="updates")
    for update in stream:
        if "tools" in update:
            break
    assert recorder.open_runs == 1
    if how == "closed":
        stream.close()
    del stream
    gc.collect()
    assert (told(recorder.trace), recorder.trace.status) == (PARIS_STEPS, "abandoned")
    assert (recorder.trace.final_answer, recorder.open_runs) == (None, 0)


async def test_f12_an_asynchronous_stream_that_is_closed():
    recorder = TraceRecorder()
    agent = create_agent(scripted(ai("", PARIS), "21C"), [get_weather])
    stream = agent.astream(QUESTION, {"callbacks": [recorder]}, stream_mode="updates")
    async for update in stream:
        if "tools" in update:
            break
    await stream.aclose()
    assert (told(recorder.trace), recorder.trace.status, recorder.open_runs) == (PARIS_STEPS, "abandoned", 0)


def test_f12_a_chain_whose_stream_is_closed():
    recorder = TraceRecorder()
    chain = ChatPromptTemplate.from_template("{question}") | RunnableLambda(slices) | StrOutputParser()
    stream = chain.stream({"question": "Q?"}, {"callbacks": [recorder]})
    next(stream)
    stream.close()
    gc.collect()
    assert (recorder.trace.status, recorder.trace.final_answer) == ("abandoned", None)
    assert (len(recorder.traces), recorder.open_runs) == (1, 0)
    "".join(chain.stream({"question": "Q?"}, {"callbacks": [recorder]}))
    assert (recorder.trace.status, recorder.trace.final_answer) == ("finished", "one two ")
    assert recorder.trace.task == "Q?"


def slices(_: Any) -> Any:
    yield "one "
    yield "two "


def test_a_graph_that_goes_on_in_the_background_starts_no_run_of_its_own():
    gate, done = threading.Event(), threading.Event()

    def node(state: Any) -> Any:
        def later() -> None:
            gate.wait(5)
            scripted("late").invoke("x")
            done.set()

        ContextThreadPoolExecutor(1).submit(RunnableLambda(lambda _: later()).invoke, 1)
        return {"messages": [ai("bye")]}

    recorder = TraceRecorder()
    node_graph(MessagesState, node=node).invoke(QUESTION, {"callbacks": [recorder]})
    gate.set()
    assert done.wait(5)
    assert (len(recorder.traces), recorder.trace.final_answer, recorder.open_runs) == (1, "bye", 0)


def test_partial_work_of_a_failed_run_has_no_answer():
    def fail(state: Any) -> Any:
        raise ValueError("no")

    trace = record(node_graph(MessagesState, say=lambda state: {"messages": [ai("so far")]}, fail=fail))
    assert (told(trace), trace.final_answer, trace.status) == (["message: so far"], None, "failed")


def test_a_run_that_was_drained_is_paused_and_taken_up_again():
    control = RunControl()

    def first(state: Any) -> Any:
        control.request_drain("shutdown")
        return {"messages": [ai("one")]}

    graph = node_graph(
        MessagesState,
        of_graph={"checkpointer": InMemorySaver()},
        first=first,
        second=lambda state: {"messages": [ai("two")]},
    )
    recorder = TraceRecorder()
    config: Any = {**THREAD, "callbacks": [recorder]}
    with pytest.raises(GraphDrained):
        graph.invoke(QUESTION, config, control=control)
    assert (told(recorder.trace), recorder.trace.status) == (["message: one"], "paused")
    graph.invoke(None, config)
    assert (told(recorder.trace), recorder.trace.final_answer) == (["message: one"], "two")
    assert (len(recorder.traces), recorder.trace.status) == (1, "finished")


async def test_a_node_that_takes_too_long_is_a_limit():
    async def slow(state: Any) -> Any:
        await asyncio.sleep(30)

    recorder = TraceRecorder()
    graph = node_graph(MessagesState, of_node={"timeout": 0.05}, slow=slow)
    with pytest.raises(NodeTimeoutError):
        await graph.ainvoke(QUESTION, {"callbacks": [recorder]})
    assert recorder.trace.status == "step_limit"


def test_objects_that_answer_to_every_name_are_no_commands():
    trace = record(RunnableLambda(lambda _: MagicMock(name="anything")))
    assert (trace.status, trace.steps) == ("finished", [])


def test_messages_that_overwrite_the_state():
    graph = node_graph(
        MessagesState,
        one=lambda state: {"messages": [ai("one")]},
        two=lambda state: {"messages": Overwrite([ai("two")])},
    )
    trace = record(graph)
    assert (told(trace), trace.final_answer) == (["message: one"], "two")
