"""Live runs that stop for a person, and the runs that go on with them."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
from agents import PARIS, PARIS_STEPS, QUESTION, THREAD, ai, get_weather, needs, scripted, told
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState
from langgraph.types import Command, interrupt
from live_runs import boom, node_graph, tool_graph

from langchain_llm_judge import AgentTrace, TraceRecorder
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.resuming import StoppedRuns

SEND = ("send", {"to": "bob"}, "c2")


@tool
def send(to: str) -> str:
    """Send a mail."""
    return f"{interrupt({'question': f'send to {to}?'})} to {to}"


@tool
def mail(to: str) -> str:
    """Send a mail without asking."""
    return f"sent to {to}"


def saved(build: Any, *args: Any, **kwargs: Any) -> Any:
    return build(*args, checkpointer=InMemorySaver(), **kwargs)


def in_two_halves(graph: Any, answer: Any, **keys: Any) -> TraceRecorder:
    """Run until the interrupt and go on with an answer; what was recorded is checked in between."""
    seen: list[str] = []
    recorder = TraceRecorder(on_trace=lambda trace: seen.append(trace.status), **keys)
    config = {**THREAD, "callbacks": [recorder]}
    first = graph.invoke(QUESTION, config)
    assert recorder.trace.status == "paused"
    assert recorder.trace.final_answer is None
    graph.invoke(answer(first) if callable(answer) else answer, config)
    assert seen == ["paused", "finished"]
    assert len(recorder.traces) == 1
    assert recorder.open_runs == 0
    return recorder


def test_f12_an_interrupt_pauses_and_the_resumed_run_takes_its_place():
    graph = saved(create_agent, scripted(ai("I'll send it.", SEND), "Sent."), [send])
    recorder = TraceRecorder()
    config = {**THREAD, "callbacks": [recorder]}
    graph.invoke(QUESTION, config)
    paused = recorder.trace
    assert (paused.status, paused.final_answer) == ("paused", None)
    assert paused.status_reason == 'waits for an answer to {"question": "send to bob?"}'
    assert told(paused) == ["thought: I'll send it.", "send(to='bob')"]
    create_agent(scripted("between"), [get_weather]).invoke(QUESTION, {"callbacks": [recorder]})
    graph.invoke(Command(resume="sent"), config)
    assert [trace.final_answer for trace in recorder.traces] == ["Sent.", "between"]
    resumed = recorder.traces[0]
    assert told(resumed) == ["thought: I'll send it.", "send(to='bob')", "-> sent to bob"]
    assert (resumed.task, resumed.status, resumed.metadata["run_id"]) == ("Q?", "finished", paused.metadata["run_id"])
    assert recorder.open_runs == 0


async def test_f12_an_interrupt_in_an_asynchronous_run():
    graph = saved(create_agent, scripted(ai("", SEND), "Sent."), [send])
    recorder = TraceRecorder()
    config = {**THREAD, "callbacks": [recorder]}
    await graph.ainvoke(QUESTION, config)
    assert recorder.trace.status == "paused"
    async for _ in graph.astream(Command(resume="sent"), config):
        pass
    assert told(recorder.trace) == ["send(to='bob')", "-> sent to bob"]
    assert (len(recorder.traces), recorder.open_runs) == (1, 0)


@pytest.mark.parametrize("build", [create_agent, tool_graph])
def test_a_sibling_that_ran_before_the_interrupt_has_one_result(build: Any):
    recorder = in_two_halves(
        saved(build, scripted(ai("", PARIS, SEND), "Done."), [get_weather, send]), Command(resume="sent")
    )
    assert told(recorder.trace) == [PARIS_STEPS[0], "send(to='bob')", PARIS_STEPS[1], "-> sent to bob"]


def test_two_interrupts_at_once():
    calls = ai("", ("send", {"to": "ann"}, "c1"), ("send", {"to": "bob"}, "c2"))
    recorder = in_two_halves(
        saved(create_agent, scripted(calls, "Done."), [send]),
        lambda first: Command(resume={item.id: "sent" for item in first["__interrupt__"]}),
    )
    assert told(recorder.trace) == ["send(to='ann')", "send(to='bob')", "-> sent to ann", "-> sent to bob"]


def test_two_interrupts_one_after_the_other():
    graph = saved(create_agent, scripted(ai("", SEND), ai("", ("send", {"to": "ann"}, "c3")), "Done."), [send])
    recorder = TraceRecorder()
    config = {**THREAD, "callbacks": [recorder]}
    graph.invoke(QUESTION, config)
    graph.invoke(Command(resume="sent"), config)
    assert (recorder.trace.status, len(recorder.traces)) == ("paused", 1)
    graph.invoke(Command(resume="sent"), config)
    assert told(recorder.trace) == ["send(to='bob')", "-> sent to bob", "send(to='ann')", "-> sent to ann"]
    assert (recorder.trace.status, len(recorder.traces)) == ("finished", 1)


class Draft(TypedDict):
    question: str
    answer: str


def test_a_node_that_asks_its_model_again_when_resumed_counts_once():
    chat = scripted("draft 1", "draft 2")

    def write(state: Any) -> Any:
        draft = chat.invoke("write").text
        return {"answer": f"{draft}, {interrupt(draft)}"}

    graph = node_graph(Draft, of_graph={"checkpointer": InMemorySaver()}, write=write)
    recorder = TraceRecorder(task_key="question", answer_key="answer")
    config = {**THREAD, "callbacks": [recorder]}
    graph.invoke({"question": "Q?"}, config)
    assert told(recorder.trace) == ["message: draft 1"]
    graph.invoke(Command(resume="approved"), config)
    assert told(recorder.trace) == ["message: draft 2"]
    assert (recorder.trace.final_answer, recorder.trace.task) == ("draft 2, approved", "Q?")


def test_what_a_person_answered_is_no_step():
    chat = scripted("draft 1", "draft 2")

    def write(state: Any) -> Any:
        draft = chat.invoke(state["messages"])
        return {"messages": [draft, HumanMessage(interrupt("fine?"))]}

    graph = node_graph(MessagesState, of_graph={"checkpointer": InMemorySaver()}, write=write)
    recorder = in_two_halves(graph, Command(resume="fine"))
    assert (told(recorder.trace), recorder.trace.final_answer) == ([], "draft 2")


@pytest.mark.parametrize(
    ("decision", "result"),
    [
        ({"type": "approve"}, "-> sent to bob"),
        pytest.param(
            {"type": "reject", "message": "no"},
            "-> error: User rejected the tool call for `mail` with reason: no",
            marks=needs("langchain", "1.4.0"),
        ),
        ({"type": "respond", "message": "he knows"}, "-> he knows"),
    ],
)
def test_decisions_of_a_reviewer(decision: dict, result: str):
    review = HumanInTheLoopMiddleware(interrupt_on={"mail": True})
    chat = scripted(ai("Mailing.", ("mail", {"to": "bob"}, "c2"), PARIS), "Done.")
    graph = saved(create_agent, chat, [mail, get_weather], middleware=[review])
    trace = in_two_halves(graph, Command(resume={"decisions": [decision]})).trace
    assert told(trace) == ["thought: Mailing.", "mail(to='bob')", PARIS_STEPS[0], result, PARIS_STEPS[1]]
    assert trace.final_answer == "Done."


@needs("langchain", "1.5.0")
def test_a_reviewer_who_edits_leaves_the_call_as_the_model_made_it():
    review = HumanInTheLoopMiddleware(interrupt_on={"mail": True})
    graph = saved(create_agent, scripted(ai("", ("mail", {"to": "bob"}, "c2")), "Done."), [mail], middleware=[review])
    edited = {"type": "edit", "edited_action": {"name": "mail", "args": {"to": "carol"}}}
    trace = in_two_halves(graph, Command(resume={"decisions": [edited]})).trace
    assert told(trace)[0] == "mail(to='bob')"
    assert told(trace)[1].startswith("-> Note: a human reviewer replaced this tool call")
    assert told(trace)[1].endswith("sent to carol")
    assert len(trace.steps) == 2


@pytest.mark.parametrize(
    ("where", "done"), [({"interrupt_before": ["tools"]}, 1), ({"interrupt_after": ["tools"]}, 2)], ids=str
)
def test_a_breakpoint_is_a_pause_and_none_goes_on(where: dict, done: int):
    graph = saved(create_agent, scripted(ai("", PARIS), "21C"), [get_weather], **where)
    recorder = TraceRecorder()
    config = {**THREAD, "callbacks": [recorder]}
    graph.invoke(QUESTION, config)
    assert (recorder.trace.status, recorder.trace.status_reason) == ("paused", "stopped at a breakpoint")
    assert told(recorder.trace) == PARIS_STEPS[:done]
    graph.invoke(None, config)
    assert (told(recorder.trace), recorder.trace.final_answer) == (PARIS_STEPS, "21C")
    assert len(recorder.traces) == 1


def test_an_interrupt_inside_a_sub_graph():
    inner = create_agent(scripted(ai("", SEND), "mailed"), [send], name="inner")
    outer = node_graph(
        MessagesState,
        of_graph={"checkpointer": InMemorySaver()},
        inner=inner,
        end=lambda state: {"messages": [ai("bye")]},
    )
    trace = in_two_halves(outer, Command(resume="sent")).trace
    assert told(trace) == ["send(to='bob')", "-> sent to bob", "message of inner: mailed"]
    assert trace.final_answer == "bye"


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_inside_the_agent_of_a_tool(times: int):
    mails = [ai(f"mail {number}", ("send", {"to": "bob"}, f"c{number}")) for number in range(times)]
    inner = create_agent(scripted(*mails, "mailed"), [send], name="inner")

    @tool
    def ask(question: str) -> str:
        """Ask."""
        return inner.invoke({"messages": [("user", question)]})["messages"][-1].text

    graph = saved(create_agent, scripted(ai("", ("ask", {"question": "Mail?"}, "c9")), "Done."), [ask])
    recorder = TraceRecorder()
    config = {**THREAD, "callbacks": [recorder]}
    graph.invoke(QUESTION, config)
    assert [call.subtrace.status for call in recorder.trace.calls()] == ["paused"]
    for _ in range(times):
        graph.invoke(Command(resume="sent"), config)
    assert told(recorder.trace) == ["ask(question='Mail?')", "-> mailed"]
    (call,) = recorder.trace.calls()
    mailed = [[f"thought of inner: mail {number}", "send(to='bob')", "-> sent to bob"] for number in range(times)]
    assert told(call.subtrace) == [line for lines in mailed for line in lines]
    assert (call.subtrace.task, call.subtrace.final_answer) == ("Mail?", "mailed")


def test_a_run_resumed_without_its_first_half_keeps_what_it_was_given():
    chat = scripted(ai("Mailing.", ("mail", {"to": "bob"}, "c2"), PARIS), "Done.")
    review = HumanInTheLoopMiddleware(interrupt_on={"mail": True})
    trace = second_half(saved(create_agent, chat, [mail, get_weather], middleware=[review]), APPROVE)
    steps = ["thought: Mailing.", "mail(to='bob')", PARIS_STEPS[0], "-> sent to bob", PARIS_STEPS[1]]
    assert told(trace) == steps
    assert (trace.task, trace.final_answer, trace.status) == ("Q?", "Done.", "finished")


@pytest.mark.parametrize("build", [create_agent, tool_graph])
def test_a_run_resumed_inside_a_tool_without_its_first_half_keeps_its_calls(build: Any):
    trace = second_half(saved(build, scripted(ai("Mailing.", SEND), "Done."), [send]), "sent")
    assert told(trace) == ["thought: Mailing.", "send(to='bob')", "-> sent to bob"]
    assert trace.steps[2].node == "tools"
    assert (trace.task, trace.final_answer, trace.status) == ("Q?", "Done.", "finished")


APPROVE = {"decisions": [{"type": "approve"}]}


def second_half(graph: Any, resume: Any) -> AgentTrace:
    graph.invoke(QUESTION, THREAD)
    recorder = TraceRecorder()
    graph.invoke(Command(resume=resume), {**THREAD, "callbacks": [recorder]})
    return recorder.trace


def test_a_failed_run_that_is_taken_up_again_is_one_run():
    tries: list[int] = []

    @tool
    def flaky() -> str:
        """Fail once."""
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("reset")
        return "ok"

    graph = saved(create_agent, scripted(ai("", ("flaky", {}, "c1")), "done"), [flaky])
    recorder = TraceRecorder()
    config = {**THREAD, "callbacks": [recorder]}
    with pytest.raises(ConnectionError):
        graph.invoke(QUESTION, config)
    assert told(recorder.trace) == ["flaky()", "-> error: ConnectionError('reset')"]
    graph.invoke(None, config)
    assert (told(recorder.trace), recorder.trace.final_answer) == (["flaky()", "-> ok"], "done")
    assert len(recorder.traces) == 1


def test_a_new_question_on_a_paused_thread_is_a_run_of_its_own():
    graph = saved(create_agent, scripted(ai("", SEND), "never mind"), [send])
    recorder = TraceRecorder()
    config = {**THREAD, "callbacks": [recorder]}
    graph.invoke(QUESTION, config)
    graph.invoke({"messages": [("user", "Something else")]}, config)
    assert [trace.task for trace in recorder.traces] == ["Q?", "Something else"]
    assert [trace.status for trace in recorder.traces] == ["paused", "finished"]
    assert len(recorder._stopped) == 0


def test_a_state_updated_by_hand_is_no_run_and_its_messages_count():
    graph = saved(create_agent, scripted(ai("", SEND), "Thanks."), [send])
    recorder = TraceRecorder()
    config = {**THREAD, "callbacks": [recorder]}
    graph.invoke(QUESTION, config)
    answer = {"role": "tool", "content": "done by hand", "tool_call_id": "c2"}
    graph.update_state(config, {"messages": [answer]}, as_node="tools")
    graph.invoke(None, config)
    assert len(recorder.traces) == 1
    assert told(recorder.trace) == ["send(to='bob')", "-> done by hand"]
    assert recorder.trace.final_answer == "Thanks."


def test_stopped_runs_are_kept_within_a_limit():
    stopped = StoppedRuns(limit=3)
    for number in range(10):
        root = Run(str(number), "chain", metadata={"thread_id": str(number)}, error=RuntimeError(), ended=True)
        assert stopped.join(root) == [root]
    assert len(stopped) == 3


def test_a_tool_that_raises_in_the_resumed_half_fails_the_run():
    graph = saved(create_agent, scripted(ai("", SEND), ai("", ("boom", {"x": 1}, "c9"))), [send, boom])
    recorder = TraceRecorder()
    config = {**THREAD, "callbacks": [recorder]}
    graph.invoke(QUESTION, config)
    with pytest.raises(RuntimeError):
        graph.invoke(Command(resume="sent"), config)
    assert told(recorder.trace)[-2:] == ["boom(x=1)", "-> error: RuntimeError('kaput')"]
    assert (recorder.trace.status, len(recorder.traces)) == ("failed", 1)
