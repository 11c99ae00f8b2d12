"""Verdicts on single answers and on the arguments of calls, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from langchain_llm_judge.reports.layout import VERDICTS, Row, heading, rows, stacked, verdict_line
from langchain_llm_judge.reports.tables import injection_view, judge_view
from langchain_llm_judge.reports.text import counted

if TYPE_CHECKING:
    from langchain_llm_judge.judges.arguments import ArgumentCorrectness
    from langchain_llm_judge.results import EvaluationResult


def answer_view(result: EvaluationResult) -> RenderableType:
    """A text judge's result: its checks, what it was grounded in, what it cost, verdict."""
    metadata = result["metadata"]
    checks: list[Row] = [
        [(name, "bold"), f"{metadata[name]:.2f}"] for name in ("relevancy", "factual") if metadata[name] is not None
    ]
    passages = metadata["contexts"]
    ground = f"grounded in {counted(len(passages), 'passage')}" if passages else "by the judge's own knowledge"
    sections: list[RenderableType] = [
        Group(heading("Answer", "" if metadata["factual"] is None else ground), rows(checks))
    ]
    if metadata["injection"]:
        sections.append(injection_view(metadata["injection"]))
    sections.append(judge_view(metadata["judge"], metadata["usage"]))
    passed = result["status"] == "PASS"
    because = f"{result['score']:.2f} at threshold {metadata['threshold']:g}; {result['reason']}"
    return stacked([*sections, verdict_line(passed, because)])


def arguments_view(result: ArgumentCorrectness) -> RenderableType:
    """A row for every call, what it cost, verdict."""
    calls: list[Row] = [
        [
            (str(verdict.call), "dim"),
            (verdict.tool, "bold"),
            ("correct", VERDICTS[True][1]) if verdict.correct else ("wrong", VERDICTS[False][1]),
            (f"by {verdict.decided_by}", "dim"),
            verdict.reason,
        ]
        for verdict in result.verdicts
    ]
    sections: list[RenderableType] = [
        Group(heading("Calls", counted(len(calls), "call")), *([rows(calls)] if calls else []))
    ]
    if result.injection:
        sections.append(injection_view(result.injection))
    if result.judge is not None:
        sections.append(judge_view(result.judge, result.usage))
    because = result.reason or ""
    if result.score is not None:
        because = f"{result.score:.2f} at threshold {result.threshold:g}"
    return stacked([*sections, verdict_line(result.passed, because)])
