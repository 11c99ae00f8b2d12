"""Handlers, gates and middleware where names, tags, results and classes are not the usual ones."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from weather import Scripted

from langchain_llm_judge.attach.callbacks import JudgeCallbackHandler
from langchain_llm_judge.attach.gates import gate
from langchain_llm_judge.attach.langsmith import post_feedback
from langchain_llm_judge.attach.middleware import JudgeMiddleware
from langchain_llm_judge.errors import ConfigError
from langchain_llm_judge.judges.agent import AgentJudge
from langchain_llm_judge.judges.rag import RAGJudge


def checks(name: str | None = None) -> AgentJudge:
    return AgentJudge(grade=False, name=name)


def test_a_component_named_like_the_whole_run_hides_nothing():
    handler = JudgeCallbackHandler(checks(), components={"up": checks("part")})
    RunnableLambda(str.upper, name="up").invoke("hi", {"callbacks": [handler]})
    assert handler.flush(20)
    assert [list(run.evaluations) for run in handler.results] == [["AgentJudge"], ["part"]]


def test_a_tagged_component_is_judged_once_though_its_parts_inherit_the_tag():
    part = (RunnableLambda(str.upper) | RunnableLambda(str.lower)).with_config(tags=["x"])
    handler = JudgeCallbackHandler([], components={"x": checks()})
    (RunnableLambda(lambda text: f"{text}!") | part | part).invoke("Hi", {"callbacks": [handler]})
    assert handler.flush(20)
    assert [(run.trace.task, run.trace.final_answer) for run in handler.results] == [("Hi!", "hi!"), ("hi!", "hi!")]


def test_a_result_that_cannot_be_posted_is_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    posted: list[Any] = []

    class Client:
        def create_feedback(self, *_: Any, **score: Any) -> None:
            posted.append(score)

    monkeypatch.setattr("langsmith.Client", Client)
    monkeypatch.setattr("langsmith.utils.tracing_is_enabled", lambda: True)
    run = checks().invoke({"task": "t", "steps": [], "final_answer": "a"})
    assert post_feedback(run_id=None, evaluations={"mine": {"odd": 1}, "AgentJudge": run}) == len(posted) > 0
    assert "'mine'" in caplog.text


def test_a_gate_of_several_judges_is_refused_in_a_sentence():
    with pytest.raises(ConfigError, match="one judge, got 2"):
        gate([checks(), checks()])


class Mine(JudgeMiddleware):
    """A user's own middleware."""


@pytest.mark.parametrize("when", ["answer", "model"])
@pytest.mark.parametrize("make", [Mine, JudgeMiddleware, lambda *a, **k: copy.copy(Mine(*a, **k))])
def test_middleware_can_be_subclassed_and_copied(make: Any, when: str):
    middleware = make(checks(), when=when)
    agent = create_agent(Scripted(answer=lambda _: AIMessage("Hi.")), [], middleware=[middleware])
    assert agent.invoke({"messages": [("user", "Say hi")]})["evaluations"]["AgentJudge"].passed is True


def test_passages_may_stand_beside_an_example():
    for name in ("context", "contexts"):
        scores = RAGJudge("offline")(inputs="Range?", outputs="It goes 80 km.", **{name: ["It goes 80 km."]})
        assert scores[0]["score"] == 1.0
