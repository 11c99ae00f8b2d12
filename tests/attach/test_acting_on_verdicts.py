"""In place, gates, nodes, middleware, evaluators, pytest: acting on verdicts in real graphs."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from weather import ASK, Scripted, call, get_weather, weather_agent, weather_man

from langchain_llm_judge.attach.gates import gate, judge_node, route_on_verdict
from langchain_llm_judge.attach.in_place import judge_in_place, with_verdicts
from langchain_llm_judge.attach.middleware import JudgeMiddleware
from langchain_llm_judge.attach.pytest_plugin import assert_passes
from langchain_llm_judge.errors import ConfigError, VerdictFailedError
from langchain_llm_judge.judges.agent import AgentJudge
from langchain_llm_judge.judges.grading import GradingJudge
from langchain_llm_judge.results import feedback
from langchain_llm_judge.testing import ScriptedJudgeModel

CHECKS = AgentJudge(grade=False)


def quality(level: int, reason: str = "because") -> dict[str, Any]:
    return {"criteria": [{"name": "Quality", "level": level, "reason": reason}]}


def grader(*replies: Any) -> GradingJudge:
    return GradingJudge(ScriptedJudgeModel(list(replies)))


PASSES, FAILS, BROKEN = quality(5), quality(1, "too short"), "no idea"
CASE = {"task": "t", "output": "o"}


def test_in_place_gives_output_and_verdicts():
    judged = judge_in_place(weather_agent(), [CHECKS, grader(FAILS)]).invoke(ASK)
    assert judged.output["messages"][-1].text == "It is 21C in Paris."
    assert judged.trace.calls()[0].args == {"city": "Paris"}
    assert judged.evaluations["AgentJudge"].passed is True
    assert judged.passed is False
    assert judged.errors == {}


async def test_in_place_knows_the_graphs_tools_where_the_model_was_not_told_them():
    class Untold(Scripted):
        def bind_tools(self, tools: Any, **kwargs: Any):
            return self

    def wrong(messages: Any) -> AIMessage:
        return call("get_weather", city="Paris", unit="C") if messages[-1].type == "human" else AIMessage("21C")

    agent = create_agent(Untold(answer=wrong), [get_weather])
    for judged in (judge_in_place(agent, CHECKS).invoke(ASK), await judge_in_place(agent, CHECKS).ainvoke(ASK)):
        assert [one.code for one in judged.evaluations["AgentJudge"].checks.findings] == ["unexpected_argument"]
        assert judged.passed is False


async def test_in_place_async_with_a_judge_that_fails():
    judged = await judge_in_place(weather_agent(), [CHECKS, grader(BROKEN)]).ainvoke(ASK)
    assert set(judged.errors) == {"GradingJudge"}
    assert judged.passed is None


def test_in_place_lets_the_runs_own_error_through():
    def broken(_: Any) -> Any:
        raise KeyError("app")

    with pytest.raises(KeyError, match="app"):
        judge_in_place(RunnableLambda(broken), CHECKS).invoke("x")


def test_with_verdicts_keeps_the_output():
    output = with_verdicts(weather_agent(), grader(PASSES)).invoke(ASK)
    assert output["messages"][-1].text == "It is 21C in Paris."
    assert output["evaluations"]["GradingJudge"].passed is True
    assert with_verdicts(RunnableLambda(str.upper), grader(PASSES)).invoke("hi")["output"] == "HI"


async def test_with_verdicts_streams_the_chain_first():
    async def words(text: str):
        for word in text.split():
            yield word

    from langchain_core.runnables import RunnableGenerator

    def letters(texts: Any):
        for text in texts:
            yield from text.split()

    chain = with_verdicts(RunnableGenerator(letters), [grader(PASSES), grader(BROKEN)])
    chunks = list(chain.stream("a b c"))
    assert [chunk.get("output") for chunk in chunks[:3]] == ["a", "b", "c"]
    assert set(chunks[3]) == {"evaluations", "evaluation_errors"}
    whole = chunks[0] + chunks[1] + chunks[2] + chunks[3]
    assert whole["output"] == "abc"
    again = [chunk async for chunk in with_verdicts(RunnableLambda(str.upper), grader(PASSES)).astream("a")]
    assert again[-1]["evaluations"]["GradingJudge"].passed is True


def test_a_gate_lets_a_pass_through():
    assert gate(grader(PASSES)).invoke(CASE) is CASE
    assert (RunnableLambda(lambda _: CASE) | gate(grader(PASSES))).invoke("x") == CASE


@pytest.mark.parametrize(("reply", "told"), [(FAILS, "too short"), (BROKEN, "no verdict")])
async def test_a_gate_holds_back_what_does_not_pass(reply: Any, told: str):
    with pytest.raises(VerdictFailedError, match=told) as caught:
        gate(grader(reply)).invoke(CASE)
    assert (caught.value.result is None) == (reply == BROKEN)
    with pytest.raises(VerdictFailedError, match=told):
        await gate(grader(reply)).ainvoke(CASE)


@pytest.mark.parametrize("reply", [FAILS, BROKEN])
async def test_a_gate_can_fall_back(reply: Any):
    assert gate(grader(reply), on_fail="fallback", fallback="sorry").invoke(CASE) == "sorry"
    instead = RunnableLambda(lambda case: case["task"])
    assert gate(grader(reply), on_fail="fallback", fallback=instead).invoke(CASE) == "t"
    assert await gate(grader(reply), on_fail="fallback", fallback=instead).ainvoke(CASE) == "t"


def test_a_gate_holds_a_stream_back_until_the_verdict():
    asked: list[Any] = []

    def slow(messages: Any) -> Any:
        asked.append(messages)
        return PASSES

    chunks = list(gate(grader(slow)).stream(CASE))
    assert chunks == [CASE]
    assert len(asked) == 1


@pytest.mark.parametrize("settings", [{"on_fail": "warn"}, {"judge": "no judge"}])
def test_gates_that_cannot_be_used(settings: dict[str, Any]):
    with pytest.raises(ConfigError):
        gate(**{"judge": CHECKS, **settings})


class Draft(TypedDict, total=False):
    question: str
    answer: str
    evaluations: dict[str, Any]


def correcting_graph(judge: Any, checkpointer: Any = None):
    graph = StateGraph(Draft)
    graph.add_node("write", lambda state: {"answer": state.get("answer", "") + "word "})
    graph.add_node("judge", judge_node(judge))
    graph.add_edge(START, "write")
    graph.add_edge("write", "judge")
    graph.add_conditional_edges("judge", route_on_verdict(END, "write"))
    return graph.compile(checkpointer=checkpointer)


@pytest.mark.parametrize("first", [FAILS, BROKEN])
async def test_a_graph_corrects_itself_until_the_verdict_passes(first: Any):
    replies = [first, first, PASSES] if first == BROKEN else [first, PASSES]
    config = {"configurable": {"thread_id": "1"}}
    state = correcting_graph(grader(*replies), InMemorySaver()).invoke({"question": "q"}, config)
    assert state["answer"] == "word word "
    assert state["evaluations"]["GradingJudge"].passed is True
    assert (await correcting_graph(grader(*replies)).ainvoke({"question": "q"}))["answer"] == "word word "


def test_a_router_without_verdict_takes_the_failing_way():
    route = route_on_verdict("good", "bad")
    assert route({}) == route({"evaluations": {}}) == route({"evaluations": {"J": "no reply"}}) == "bad"
    assert route({"evaluations": {"J": grader(PASSES).invoke(CASE)}}) == "good"
    assert route({"evaluations": {"J": {"status": "FAIL", "score": 0.1, "reason": "", "metadata": {}}}}) == "bad"


def test_a_judge_node_reads_messages():
    graph = StateGraph(dict)
    assert judge_node([CHECKS, grader(PASSES)]).invoke(weather_agent().invoke(ASK))["evaluations"].keys() == {
        "AgentJudge",
        "GradingJudge",
    }
    del graph


def agent_with(judge: Any, answer: Any = weather_man, **settings: Any):
    return weather_agent(answer=answer, middleware=[JudgeMiddleware(judge, **settings)])


async def test_middleware_writes_the_verdict_into_the_state():
    state = agent_with(grader(FAILS)).invoke(ASK)
    assert state["evaluations"]["GradingJudge"].passed is False
    assert state["messages"][-1].text == "It is 21C in Paris."
    assert (await agent_with(grader(FAILS)).ainvoke(ASK))["evaluations"]["GradingJudge"].passed is False


async def test_middleware_retries_with_the_reason():
    judge = grader(FAILS, PASSES)
    state = agent_with(judge, on_fail="retry").invoke(ASK)
    assert state["messages"][-1].text == "Corrected: 21C."
    assert "too short" in state["messages"][-2].text
    assert state["evaluations"]["GradingJudge"].passed is True
    again = await agent_with(grader(FAILS, PASSES), on_fail="retry").ainvoke(ASK)
    assert again["messages"][-1].text == "Corrected: 21C."


def test_after_a_retry_the_task_is_still_the_users():
    judge = grader(FAILS, PASSES)
    agent_with(judge, on_fail="retry").invoke(ASK)
    asked = judge._model.chat.calls[1][1].text
    assert "Weather in Paris?" in asked
    assert "too short" not in asked


@pytest.mark.parametrize("max_retries", [0, 1, 3])
def test_middleware_retries_at_most_so_often_then_the_last_answer_stays(max_retries: int):
    judge = grader(FAILS)
    state = agent_with(judge, on_fail="retry", max_retries=max_retries).invoke(ASK)
    assert len(judge._model.chat.calls) == max_retries + 1
    assert state["messages"][-1].type == "ai"
    assert state["evaluations"]["GradingJudge"].passed is False


def test_retries_are_counted_for_every_run_of_a_thread():
    agent = weather_agent(middleware=[JudgeMiddleware(grader(FAILS), on_fail="retry")], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    first = agent.invoke(ASK, config)["messages"]
    second = agent.invoke(ASK, config)["messages"]
    objections = [message for message in second if message.additional_kwargs.get("lc_source") == "llm_judge"]
    assert len(objections) == 2
    assert len(first) < len(second)


@pytest.mark.parametrize("on_fail", ["continue", "retry", "end"])
def test_a_judge_error_never_changes_the_answer(on_fail: str):
    judge = grader(BROKEN)
    state = agent_with(judge, on_fail=on_fail).invoke(ASK)
    assert state["messages"][-1].text == "It is 21C in Paris."
    assert len(judge._model.chat.calls) == 2, "one question and its re-ask"


@pytest.mark.parametrize("reply", [FAILS, BROKEN])
async def test_middleware_can_raise(reply: Any):
    with pytest.raises(VerdictFailedError):
        agent_with(grader(reply), on_fail="raise").invoke(ASK)
    with pytest.raises(VerdictFailedError):
        await agent_with(grader(reply), on_fail="raise").ainvoke(ASK)


@pytest.mark.parametrize(("when", "judged"), [("answer", 1), ("model", 2), ("tool", 1)])
async def test_middleware_judges_when_asked(when: str, judged: int):
    seen: list[Any] = []

    def note(messages: Any) -> Any:
        seen.append(messages)
        return {"criteria": [{"name": "x", "level": 5, "reason": ""}]}

    judge = AgentJudge(ScriptedJudgeModel([note]), criteria=["x: ?"])
    agent_with(judge, when=when).invoke(ASK)
    assert len(seen) == judged
    await agent_with(judge, when=when).ainvoke(ASK)
    assert len(seen) == 2 * judged


def test_middleware_can_end_a_run_after_bad_tool_results():
    judge = AgentJudge(
        ScriptedJudgeModel([{"criteria": [{"name": "x", "level": 1, "reason": "bad"}]}]), criteria=["x: ?"]
    )
    state = agent_with(judge, when="tool", on_fail="end").invoke(ASK)
    assert state["messages"][-1].type == "tool"


@pytest.mark.parametrize("settings", [{"on_fail": "x"}, {"max_retries": -1}, {"when": "never"}, {"judges": "x"}])
def test_middleware_that_cannot_be_used(settings: dict[str, Any]):
    with pytest.raises(ConfigError):
        JudgeMiddleware(**{"judges": CHECKS, **settings})


def test_judges_are_evaluators_in_the_habit_of_langsmith():
    score = grader(PASSES)(inputs={"question": "q"}, outputs={"answer": "a"}, reference_outputs={"answer": "a"})
    assert [one["key"] for one in score] == ["grade", "Quality"]
    assert score[0]["score"] == 1.0
    state = weather_agent().invoke(ASK)
    checks = CHECKS(inputs=ASK, outputs=state)
    assert {"score", "key", "comment", "metadata"} <= set(checks if isinstance(checks, dict) else checks[0])


def test_feedback_of_a_text_judges_dict():
    result = {"status": "PASS", "score": 0.8, "reason": "r", "metadata": {"relevancy": 0.8, "factual": None}}
    assert feedback(result) == [{"key": "relevancy", "score": 0.8, "comment": "r", "metadata": result["metadata"]}]


def test_assert_passes_says_why():
    passing, failing = grader(PASSES).invoke(CASE), grader(FAILS).invoke(CASE)
    assert_passes(passing)
    assert_passes([passing, passing])
    with pytest.raises(AssertionError, match="too short"):
        assert_passes(failing)
    with pytest.raises(AssertionError, match="too short"):
        assert_passes({"a": passing, "b": failing})
    with pytest.raises(AssertionError):
        assert_passes([])
    with pytest.raises(AssertionError):
        assert_passes(judge_in_place(weather_agent(), grader(BROKEN)).invoke(ASK))
    with pytest.raises(AssertionError):
        assert_passes(None)


def test_the_plugin_gives_its_fixture(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent.parent))
    pytester.makepyfile(
        """
        import pytest
        from langchain_llm_judge import LLMJudge, ScriptedJudgeModel

        @pytest.fixture(scope="session")
        def llm_judge():
            return LLMJudge(ScriptedJudgeModel([{"criteria": [{"name": "Quality", "level": 5, "reason": ""}]}]))

        def test_it(llm_judge):
            from langchain_llm_judge import assert_passes
            assert_passes(llm_judge.grade("t", "o"))
        """
    )
    installed = any(plugin.name == "llm_judge" for plugin in entry_points(group="pytest11"))
    ours = () if installed else ("-p", "langchain_llm_judge.attach.pytest_plugin")
    pytester.runpytest_subprocess(*ours, "-p", "no:plugins", "-p", "no:asyncio").assert_outcomes(passed=1)
