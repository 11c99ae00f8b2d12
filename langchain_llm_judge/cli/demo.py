"""The first thing to run: a real agent, recorded and checked, without a key or a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_llm_judge.cli.options import AsJson, Config, Model, Provider
from langchain_llm_judge.cli.outcome import Outcome

if TYPE_CHECKING:
    from rich.console import RenderableType

    from langchain_llm_judge.judges.agent import AgentEvaluation
    from langchain_llm_judge.reports.layout import Row
    from langchain_llm_judge.trace.schema import AgentTrace

_NEXT: list[Row] = [
    [("graded by a model", "dim"), "ANTHROPIC_API_KEY=... llm-judge demo --model anthropic/claude-haiku-4-5-20251001"],
    [("a run of your own", "dim"), "llm-judge agent --trace-file run.json --checks-only"],
    [("in your code", "dim"), 'recorder = TraceRecorder(); graph.invoke(inputs, {"callbacks": [recorder]})'],
]


def demo(model: Model = None, provider: Provider = None, config: Config = None, as_json: AsJson = False) -> Outcome:
    """Record and check a real agent run, and an answer.

    The run is made by a LangGraph agent with real tools and a scripted model that makes three mistakes: no key, no
    network. With --model the run is graded too. The answer is judged against its passages by the embedded engine.
    """
    from langchain_llm_judge.judges.agent import AgentJudge

    grade = bool(model or provider) and model != "offline"
    evaluation = AgentJudge(model, provider, grade=grade, config_path=config).invoke(_recorded_run())
    return Outcome(evaluation, _view(evaluation))


def _recorded_run() -> AgentTrace:
    from langchain_llm_judge.cli.refund_agent import TASK, refund_agent
    from langchain_llm_judge.trace.live import TraceRecorder

    recorder = TraceRecorder()
    refund_agent().invoke({"messages": [("user", TASK)]}, {"callbacks": [recorder]})
    return recorder.trace


def _view(evaluation: AgentEvaluation) -> RenderableType:
    from rich.console import Group

    from langchain_llm_judge.cli.refund_agent import PLANTED
    from langchain_llm_judge.reports.layout import heading, rows, stacked
    from langchain_llm_judge.reports.tables import agent_view

    found = {finding.code for finding in evaluation.checks.findings}
    planted: list[Row] = [
        [("found", "green") if code in found else ("missed", "red"), (code, "bold"), what]
        for code, what in PLANTED.items()
    ]
    sections: list[RenderableType] = [
        heading("A refund agent on LangGraph", "its model is scripted; its graph, tools and mistakes are real"),
        agent_view(evaluation),
        Group(heading("Planted mistakes", "each of a kind that is settled without a model"), rows(planted)),
    ]
    sections += [
        heading("An answer and its passages", "judged by the embedded engine: words, no model"),
        _answer_view(),
    ]
    if evaluation.judge is None:
        sections.append(Group(heading("Next", "that the answer is untrue takes a model to see"), rows(_NEXT)))
    return stacked(sections)


def _answer_view() -> RenderableType:
    from langchain_llm_judge.cli.refund_agent import ANSWERED
    from langchain_llm_judge.judges.rag import RAGJudge
    from langchain_llm_judge.reports.verdicts import rag_view

    return rag_view(RAGJudge("offline").invoke(ANSWERED))
