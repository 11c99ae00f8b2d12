"""Judging runs from a handler: faults F12, F13 and F14 on real graphs, life cycle, sampling, components."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from weather import ASK, Scripted, call, weather_agent

from langchain_llm_judge.attach.callbacks import JudgeCallbackHandler, JudgedRun
from langchain_llm_judge.errors import ConfigError, LLMJudgeError
from langchain_llm_judge.judges.agent import AgentJudge
from langchain_llm_judge.judges.base import Judge
from langchain_llm_judge.judges.grading import GradingJudge
from langchain_llm_judge.judges.rag import RAGJudge
from langchain_llm_judge.testing import ScriptedJudgeModel
from langchain_llm_judge.trace.live import TraceRecorder

ROOT = Path(__file__).parent.parent.parent
GOOD = {"criteria": [{"name": "Quality", "level": 5, "reason": "good"}]}
CHECKS = AgentJudge(grade=False)


def grader(*replies: Any) -> tuple[GradingJudge, ScriptedJudgeModel]:
    model = ScriptedJudgeModel(list(replies) or [GOOD])
    return GradingJudge(model), model


class Told(Judge[Any]):
    """A judge that does as told."""

    def __init__(self, act: Any, name: str = "Told") -> None:
        super().__init__(name=name)
        self.act = act

    def _judge(self, case: Any):
        return self.act(case)
        yield


def judged(run: Any, judges: Any = CHECKS, **settings: Any) -> JudgeCallbackHandler:
    """A handler after `run(handler)`, flushed."""
    handler = JudgeCallbackHandler(judges, **settings)
    run(handler)
    assert handler.flush(20)
    assert handler.open_runs == 0
    return handler


def test_a_run_is_judged_when_it_ended():
    judge, model = grader()
    handler = judged(lambda it: weather_agent().invoke(ASK, {"callbacks": [it]}), judge)
    (run,) = handler.results
    assert run.evaluations["GradingJudge"].score == 1.0
    assert (run.status, run.passed, run.errors) == ("finished", True, {})
    assert run.trace.final_answer == "It is 21C in Paris."
    assert "It is 21C in Paris." in model.calls[0][1].text


def test_the_judges_see_what_the_recorder_records():
    seen = []
    recorder = TraceRecorder()
    judged(lambda it: weather_agent().invoke(ASK, {"callbacks": [it, recorder]}), Told(seen.append))
    times = {"started_at", "duration_ms"}
    plain = [
        [{key: value for key, value in step.items() if key not in times} for step in trace.model_dump()["steps"]]
        for trace in (seen[0], recorder.trace)
    ]
    assert plain[0] == plain[1]
    assert seen[0].model_dump(exclude={"steps", "metadata"}) == recorder.trace.model_dump(exclude={"steps", "metadata"})


@tool
def boom(x: int) -> str:
    """Explodes."""
    raise RuntimeError("kaput")


def boomer(messages: list[Any]) -> AIMessage:
    return call("boom", x=1) if messages[-1].type == "human" else AIMessage("Done.")


def test_f12_a_raising_tool_fails_the_run_and_keeps_the_call():
    def run(handler: Any) -> None:
        with pytest.raises(RuntimeError, match="kaput"):
            weather_agent([boom], boomer).invoke(ASK, {"callbacks": [handler]})

    (result,) = judged(run).results
    assert result.status == "failed"
    assert [step.type for step in result.trace.steps] == ["tool_call", "tool_result"]
    assert result.trace.steps[1].is_error
    assert result.evaluations["AgentJudge"].passed is False


def tool_node_graph(handle: bool):
    model = Scripted(answer=boomer).bind_tools([boom])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([boom], handle_tool_errors=handle))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda s: "tools" if s["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "model")
    return graph.compile()


def test_f12_a_handled_error_finishes_the_run_with_a_failed_call():
    (result,) = judged(lambda it: tool_node_graph(True).invoke(ASK, {"callbacks": [it]})).results
    assert result.status == "finished"
    assert [step.is_error for step in result.trace.steps if step.type == "tool_result"] == [True]


@tool
def send_mail(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}" if interrupt({"question": to}) == "yes" else "refused"


def mailer(messages: list[Any]) -> AIMessage:
    return call("send_mail", to="bob") if messages[-1].type == "human" else AIMessage("Sent.")


def test_f12_an_interrupted_run_is_judged_once_when_it_was_resumed():
    judge, model = grader()
    agent = weather_agent([send_mail], mailer, checkpointer=InMemorySaver())
    handler = JudgeCallbackHandler(judge)
    config = {"configurable": {"thread_id": "7"}, "callbacks": [handler]}
    agent.invoke({"messages": [("user", "mail bob")]}, config)
    assert handler.flush(20)
    (paused,) = handler.results
    assert (paused.status, paused.evaluations, paused.passed) == ("paused", {}, None)
    assert model.calls == []
    agent.invoke(Command(resume="yes"), config)
    assert handler.flush(20)
    (whole,) = handler.results
    assert (whole.status, whole.thread_id, len(model.calls)) == ("finished", "7", 1)
    assert whole.run_id == paused.run_id
    assert [step.content for step in whole.trace.steps if step.type == "tool_result"] == ["sent to bob"]
    assert handler.open_runs == 0


async def test_f12_a_cancelled_task_is_not_judged():
    judge, model = grader()

    @tool
    async def slow(x: int) -> str:
        """Takes long."""
        await asyncio.sleep(30)
        return "late"

    agent = weather_agent([slow], lambda m: call("slow", x=1))
    handler = JudgeCallbackHandler(judge)
    task = asyncio.create_task(agent.ainvoke(ASK, {"callbacks": [handler]}))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert handler.flush(20)
    assert handler.open_runs == 0
    assert [run.status for run in handler.results] == ["cancelled"]
    assert model.calls == []


def test_f12_a_closed_stream_is_not_judged():
    judge, model = grader()

    def run(handler: Any) -> None:
        stream = weather_agent().stream(ASK, {"callbacks": [handler]}, stream_mode="updates")
        next(stream)
        stream.close()

    (result,) = judged(run, judge).results
    assert (result.status, result.evaluations) == ("abandoned", {})
    assert model.calls == []


async def test_f13_concurrent_runs_keep_apart():
    def city(messages: list[Any]) -> AIMessage:
        asked = messages[0].text
        return call("get_weather", city=asked) if len(messages) == 1 else AIMessage(f"{asked} done")

    agent = weather_agent(answer=city)
    handler = JudgeCallbackHandler(CHECKS)
    cities = ["Paris", "Rome", "Oslo"]
    await asyncio.gather(*(agent.ainvoke({"messages": [("user", c)]}, {"callbacks": [handler]}) for c in cities))
    assert handler.flush(20)
    assert {(run.trace.task, run.trace.final_answer) for run in handler.results} == {(c, f"{c} done") for c in cities}
    assert handler.open_runs == 0


def test_f13_bound_to_one_step_only():
    handler = JudgeCallbackHandler(CHECKS)
    step = RunnableLambda(lambda text: f"<{text}>").with_config(callbacks=[handler], run_name="inner")
    chain = RunnableLambda(str.upper) | step | RunnableLambda(str.strip)
    assert chain.invoke("hi") == "<HI>"
    assert handler.flush(20)
    assert [(run.name, run.trace.task) for run in handler.results] == [("inner", "HI")]
    assert handler.open_runs == 0


def test_f13_bound_and_passed_is_one_record():
    handler = JudgeCallbackHandler(CHECKS)
    agent = weather_agent().with_config(callbacks=[handler])
    agent.invoke(ASK, {"callbacks": [handler]})
    assert handler.flush(20)
    assert len(handler.results) == 1
    assert len(handler.results[0].trace.calls()) == 1


def test_f13_memory_stays_flat_over_many_runs():
    got: list[JudgedRun] = []
    chain = RunnableLambda(str.upper)
    handler = JudgeCallbackHandler(CHECKS, keep=0, on_result=lambda run: got.append(run.passed))

    def runs(count: int) -> int:
        for _ in range(count):
            chain.invoke("hi", {"callbacks": [handler]})
            assert handler.flush(20)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = runs(100)
        after = runs(400)
    finally:
        tracemalloc.stop()
    assert len(got) == 500
    assert handler.results == []
    assert (handler.open_runs, len(handler._runs)) == (0, 0)
    assert (after - before) / 400 < 200, "bytes a run"


def test_f13_a_graph_inside_a_tool_is_nested():
    inner = weather_agent(name="inner")

    @tool
    def ask_inner(question: str) -> str:
        """Ask another agent."""
        return inner.invoke({"messages": [("user", question)]})["messages"][-1].text

    def outer(messages: list[Any]) -> AIMessage:
        return call("ask_inner", question="Paris?") if messages[-1].type == "human" else AIMessage("Done.")

    (result,) = judged(lambda it: weather_agent([ask_inner], outer).invoke(ASK, {"callbacks": [it]})).results
    (asked,) = result.trace.calls()
    assert asked.subtrace.final_answer == "It is 21C in Paris."


def raising(_: Any) -> Any:
    raise RuntimeError("judge down")


def test_f14_a_judge_that_raises_touches_nothing():
    output = []
    handler = judged(lambda it: output.append(weather_agent().invoke(ASK, {"callbacks": [it]})), Told(raising))
    assert output[0]["messages"][-1].text == "It is 21C in Paris."
    (run,) = handler.results
    assert isinstance(run.errors["Told"], LLMJudgeError)
    assert "judge down" in str(run.errors["Told"])
    assert run.passed is None


def test_f14_raise_error_surfaces_it():
    handler = JudgeCallbackHandler(Told(raising), raise_error=True)
    with pytest.raises(LLMJudgeError, match="judge down"):
        weather_agent().invoke(ASK, {"callbacks": [handler]})
    assert handler.open_runs == 0
    assert len(handler.results) == 1


async def test_f14_raise_error_surfaces_in_async_runs_too():
    handler = JudgeCallbackHandler(Told(raising), raise_error=True)
    with pytest.raises(LLMJudgeError, match="judge down"):
        await weather_agent().ainvoke(ASK, {"callbacks": [handler]})
    assert handler.open_runs == 0


def test_f14_a_judge_inside_the_run_adds_no_steps_and_is_not_judged():
    inside, inner_model = grader()
    outside, outer_model = grader()

    def node(state: Any) -> Any:
        inside.invoke({"task": "t", "output": state["messages"][-1].text})
        return {"messages": [AIMessage("Final.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    handler = judged(lambda it: graph.compile().invoke(ASK, {"callbacks": [it]}), outside)
    (run,) = handler.results
    assert run.trace.steps == []
    assert run.trace.final_answer == "Final."
    assert (len(inner_model.calls), len(outer_model.calls)) == (1, 1)


def test_f14_a_foreground_judge_with_the_handler_in_its_context_is_not_judged():
    judge, model = grader()
    handler = judged(lambda it: weather_agent().invoke(ASK, {"callbacks": [it]}), judge, background=False)
    assert (len(handler.results), len(model.calls)) == (1, 1)


def test_f14_a_slow_judge_does_not_hold_up_the_run():
    def slow(_: Any) -> Any:
        time.sleep(1)

    agent = weather_agent()
    agent.invoke(ASK)
    handler = JudgeCallbackHandler(Told(slow))
    began = time.perf_counter()
    agent.invoke(ASK, {"callbacks": [handler]})
    took = time.perf_counter() - began
    assert took < 0.5
    assert not handler.flush(0.05), "it is still judging"
    assert handler.flush(20)


@pytest.mark.parametrize(("rate", "calls"), [(0, 0), (0.0, 0), (1, 40)])
def test_f14_sampling(rate: float, calls: int):
    judge, model = grader()
    chain = RunnableLambda(str.upper)
    handler = judged(lambda it: [chain.invoke("x", {"callbacks": [it]}) for _ in range(40)], judge, sample_rate=rate)
    assert len(handler.results) == len(model.calls) == calls


def test_sampling_takes_about_its_share_and_all_of_a_thread():
    chain = RunnableLambda(str.upper)

    def run(handler: Any) -> None:
        for number in range(300):
            for _ in range(2):
                chain.invoke("x", {"callbacks": [handler], "metadata": {"thread_id": str(number)}})

    threads = [run.thread_id for run in judged(run, sample_rate=0.3).results]
    assert 60 < len(set(threads)) < 120
    assert len(threads) == 2 * len(set(threads))


def test_a_full_queue_drops_and_counts():
    free = threading.Event()
    handler = JudgeCallbackHandler(Told(lambda _: free.wait(20)), max_pending=2)
    chain = RunnableLambda(str.upper)
    for _ in range(5):
        chain.invoke("x", {"callbacks": [handler]})
    assert handler.dropped == 3
    free.set()
    assert handler.flush(20)
    assert len(handler.results) == 2


def test_a_full_queue_can_hold_runs_up_instead():
    handler = JudgeCallbackHandler(Told(lambda _: time.sleep(0.05)), max_pending=1, when_full="wait")
    chain = RunnableLambda(str.upper)
    for _ in range(4):
        chain.invoke("x", {"callbacks": [handler]})
    assert handler.flush(20)
    assert (handler.dropped, len(handler.results)) == (0, 4)


def test_threads_and_batches():
    handler = JudgeCallbackHandler(CHECKS)
    agent = weather_agent()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: agent.invoke(ASK, {"callbacks": [handler]}), range(16)))
    agent.batch([ASK] * 4, {"callbacks": [handler]})
    assert handler.flush(30)
    assert len(handler.results) == 20
    assert all(run.passed for run in handler.results)
    assert handler.open_runs == 0


def test_on_result_gets_every_run_and_may_fail(caplog: pytest.LogCaptureFixture):
    def unhappy(run: JudgedRun) -> None:
        raise ValueError(run.name)

    handler = judged(lambda it: weather_agent().invoke(ASK, {"callbacks": [it]}), on_result=unhappy)
    assert len(handler.results) == 1
    assert "on_result failed" in caplog.text


def test_keep_holds_the_latest_results():
    chain = RunnableLambda(str.upper)
    handler = judged(lambda it: [chain.invoke(str(n), {"callbacks": [it]}) and it.flush(20) for n in range(5)], keep=2)
    assert [run.trace.task for run in handler.results] == ["3", "4"]


def test_components_are_judged_by_their_own_judges():
    seen: dict[str, Any] = {}
    model = Scripted(answer=lambda m: AIMessage("draft")).bind_tools([])
    writer = RunnableLambda(lambda text: f"{text}!").with_config(run_name="writer", tags=["style"])

    def node(state: Any) -> Any:
        draft = model.invoke(state["messages"]).text
        return {"messages": [AIMessage(writer.invoke(draft))]}

    graph = StateGraph(MessagesState)
    graph.add_node("write", node)
    graph.add_edge(START, "write")
    components = {
        name: Told(lambda trace, name=name: seen.update({name: trace}), name) for name in ("write", "writer", "style")
    }
    handler = judged(
        lambda it: graph.compile().invoke(ASK, {"callbacks": [it]}), Told(lambda _: None), components=components
    )
    assert {run.name for run in handler.results} == {"LangGraph", "write", "writer", "style"}
    assert (seen["writer"].task, seen["writer"].final_answer) == ("draft", "draft!")
    assert seen["style"].task == "draft"
    assert (seen["write"].task, seen["write"].final_answer) == ("Weather in Paris?", "draft!")


def test_components_can_be_all_there_is_to_judge():
    writer = RunnableLambda(str.upper).with_config(run_name="writer")
    handler = judged(
        lambda it: (writer | str.lower).invoke("x", {"callbacks": [it]}), [], components={"writer": CHECKS}
    )
    assert [run.name for run in handler.results] == ["writer"]


def test_an_unknown_component_is_listed_with_what_was_seen():
    handler = judged(lambda it: weather_agent().invoke(ASK, {"callbacks": [it]}), components={"modle": CHECKS})
    missing = next(run for run in handler.results if run.name == "modle")
    assert isinstance(missing.errors["modle"], ConfigError)
    assert "'modle'" in str(missing.errors["modle"])
    assert "model" in str(missing.errors["modle"])


class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page_content="The Aurora 3 goes 80 km.")]


def test_rag_judges_get_what_the_chain_retrieved():
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    chain = (
        {"context": Shelf(), "question": lambda text: text}
        | prompt
        | Scripted(answer=lambda _: AIMessage("The Aurora 3 goes 80 km."))
    )
    (run,) = judged(lambda it: chain.invoke("How far?", {"callbacks": [it]}), RAGJudge("offline")).results
    assert run.evaluations["RAGJudge"].faithfulness == 1.0


def test_rag_judges_get_the_handlers_passages_where_the_run_has_none():
    chain = Scripted(answer=lambda _: AIMessage("The Aurora 3 goes 80 km."))
    (run,) = judged(lambda it: chain.invoke("How far?", {"callbacks": [it]}), RAGJudge("offline"), rag=Shelf()).results
    assert run.evaluations["RAGJudge"].faithfulness == 1.0


def test_any_judge_is_a_handler():
    handler = CHECKS.as_callback(sample_rate=1.0)
    weather_agent().invoke(ASK, {"callbacks": [handler]})
    assert handler.flush(20)
    assert handler.results[0].passed is True


@pytest.mark.parametrize(
    "settings",
    [
        {"judges": []},
        {"judges": "AgentJudge"},
        {"judges": [CHECKS, "no judge"]},
        {"judges": None},
        {"sample_rate": 1.5},
        {"sample_rate": -0.1},
        {"sample_rate": True},
        {"sample_rate": float("nan")},
        {"max_pending": 0},
        {"keep": -1},
        {"components": {"x": "no judge"}},
        {"rag": 5},
        {"when_full": "block"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_settings_that_cannot_be_used(settings: dict[str, Any]):
    with pytest.raises(ConfigError):
        JudgeCallbackHandler(**{"judges": CHECKS, **settings})


def test_two_judges_of_one_class_have_names_of_their_own():
    handler = judged(lambda it: weather_agent().invoke(ASK, {"callbacks": [it]}), [CHECKS, CHECKS])
    assert set(handler.results[0].evaluations) == {"AgentJudge", "AgentJudge_2"}


def test_verdicts_are_not_lost_when_the_interpreter_ends():
    script = """
        import time
        from langchain_core.runnables import RunnableLambda
        from langchain_llm_judge import GradingJudge, JudgeCallbackHandler, ScriptedJudgeModel

        def slow(messages):
            time.sleep(0.5)
            return {"criteria": [{"name": "Quality", "level": 5, "reason": ""}]}

        handler = JudgeCallbackHandler(
            GradingJudge(ScriptedJudgeModel([slow])), on_result=lambda run: print(run.passed, flush=True)
        )
        RunnableLambda(str.upper).batch(["a", "b"], {"callbacks": [handler]})
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["True", "True"]
    assert done.stderr == ""


def test_langsmith_feedback_sends_nothing_where_tracing_is_off(monkeypatch: pytest.MonkeyPatch):
    import langsmith

    monkeypatch.setattr(langsmith, "Client", lambda: pytest.fail("a client was made"))
    handler = judged(lambda it: weather_agent().invoke(ASK, {"callbacks": [it]}), langsmith_feedback=True)
    assert handler.results[0].passed is True
