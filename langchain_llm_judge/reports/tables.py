"""Results as tables for a terminal: every function takes a result and returns something rich can print."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from langchain_llm_judge.reports.layout import SEVERITY_STYLES as STYLES
from langchain_llm_judge.reports.layout import VERDICTS, Cell, Row, heading, rows, stacked, verdict_line
from langchain_llm_judge.reports.text import counted, cut
from langchain_llm_judge.trace.schema import AgentTrace, Step, ToolCall, ToolResult

if TYPE_CHECKING:
    from langchain_llm_judge.checks.base import CheckReport, Finding
    from langchain_llm_judge.judges.agent import AgentEvaluation, AgentGrade
    from langchain_llm_judge.results import Usage
    from langchain_llm_judge.safety.injection import InjectionFinding

LONGEST_CONTENT = 300
"""Characters of a step's content that are shown; longer ones lose their middle."""

_STEP_WORDS = {"tool_call": "call", "tool_result": "result", "thought": "thought", "message": "message"}
_STEP_STYLES = {"tool_call": "cyan", "tool_result": "", "thought": "dim italic", "message": ""}


def agent_view(evaluation: AgentEvaluation) -> RenderableType:
    """A whole agent evaluation: trace, findings, grade, what it cost, verdict."""
    sections = [trace_view(evaluation.trace), checks_view(evaluation.checks)]
    if evaluation.injection:
        sections.append(injection_view(evaluation.injection))
    if evaluation.grade is not None:
        sections.append(grade_view(evaluation.grade))
    if evaluation.judge is not None:
        sections.append(judge_view(evaluation.judge, evaluation.usage))
    return stacked([*sections, verdict_line(evaluation.passed, _because(evaluation))])


def trace_view(trace: AgentTrace) -> RenderableType:
    """The run: task, a row for every step, answer, and what the converter had to leave open."""
    answer = "(none)" if trace.final_answer is None else _content(trace.final_answer)
    steps = list(_step_rows(trace))
    table: list[Row] = [
        ("", "", ("task", "dim"), _content(trace.task)),
        ("", "", ("tools", "dim"), _tools(trace)),
        *steps,
        ("", "", ("answer", "dim"), answer),
        *(("", "", ("note", "dim"), (warning, "yellow")) for warning in trace.warnings),
    ]
    if len({agent for _, agent, _, _ in steps}) < 2:
        table = [(number, word, content) for number, _, word, content in table]
    return Group(heading("Trace", _status(trace)), rows(table))


def checks_view(report: CheckReport) -> RenderableType:
    """The findings, then the checks without one and those that could not be applied."""
    found: list[Row] = [
        [
            (finding.severity, STYLES[finding.severity]),
            (finding.code, "bold"),
            (_place(finding), "dim"),
            finding.message,
        ]
        for finding in report.findings
    ]
    quiet: list[Row] = [[(label, "dim"), (", ".join(codes), "dim")] for label, codes in _quiet(report).items() if codes]
    return Group(heading("Checks", _tally(report.findings)), *(rows(part) for part in (found, quiet) if part))


def grade_view(grade: AgentGrade) -> RenderableType:
    """Score and verdict, then every criterion with its level and reason."""
    criteria: list[Row] = [
        [(name, "bold"), f"{one.level} of 5", f"{one.score:.2f}", _content(one.reason)]
        for name, one in grade.criteria.items()
    ]
    title = heading("Grade", f"{grade.score:.2f}, ", VERDICTS[grade.passed], f" at threshold {grade.threshold:g}")
    return Group(title, rows(criteria))


def injection_view(findings: Iterable[InjectionFinding]) -> RenderableType:
    """What the scan found in texts the judge reads."""
    found: list[Row] = [
        [(one.severity, STYLES[one.severity]), (one.rule, "bold"), (one.where or "", "dim"), one.excerpt]
        for one in findings
    ]
    return Group(heading("Planted instructions", "found in judged text; they change no score"), rows(found))


def judge_view(judge: str, usage: Usage) -> RenderableType:
    """Who judged, and what that cost; unknown counts and costs are said to be unknown."""
    spent = [
        counted(usage.calls, "call"),
        "tokens in unknown" if usage.input_tokens is None else f"{usage.input_tokens:,} tokens in",
        "tokens out unknown" if usage.output_tokens is None else f"{usage.output_tokens:,} tokens out",
        "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}",
    ]
    return heading("Judge", f"{judge}, {', '.join(spent)}")


def _because(evaluation: AgentEvaluation) -> str:
    if evaluation.grade is not None:
        return "by the grade"
    return "by the checks" if evaluation.passed is not None else ", ".join(evaluation.notes)


def _status(trace: AgentTrace) -> str:
    ended = trace.status.replace("_", " ") + (
        f" ({cut(trace.status_reason, LONGEST_CONTENT)})" if trace.status_reason else ""
    )
    calls = counted(len(trace.calls()), "tool call") if trace.tool_use_known else "tool use unknown"
    return f"{ended}, {counted(len(trace.steps), 'step')}, {calls}"


def _tools(trace: AgentTrace) -> str:
    if not trace.tools_known:
        return "(unknown)"
    return ", ".join(tool.name for tool in trace.tools) or "(none)"


def _step_rows(trace: AgentTrace, above: str = "") -> Iterator[Row]:
    for number, step in enumerate(trace.steps):
        label = f"{above}{number}"
        yield (label, "dim"), step.agent or "", _word(step), (_step_text(step), _STEP_STYLES[step.type])
        if isinstance(step, ToolCall) and step.subtrace is not None:
            yield from _step_rows(step.subtrace, f"{label}.")


def _word(step: Step) -> Cell:
    failed = step.malformed if isinstance(step, ToolCall) else step.is_error
    return (f"{_STEP_WORDS[step.type]}!", "red") if failed else _STEP_WORDS[step.type]


def _step_text(step: Step) -> str:
    if not isinstance(step, ToolCall):
        name = f"{step.error_type}: " if isinstance(step, ToolResult) and step.error_type else ""
        return _content(name + step.content)
    if isinstance(step.args, str):
        return f"{step.name}({_content(step.args)})"
    return f"{step.name}({_content(', '.join(f'{name}={_value(value)}' for name, value in step.args.items()))})"


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _content(text: str) -> str:
    return cut(text.strip(), LONGEST_CONTENT)


def _place(finding: Finding) -> str:
    place = "" if finding.step is None else f"step {finding.step}"
    return " in ".join(filter(None, [place, " > ".join(finding.path)]))


def _tally(findings: Iterable[Finding]) -> str:
    severities = [finding.severity for finding in findings]
    counts = [
        counted(severities.count(severity), severity) for severity in ("error", "warning") if severity in severities
    ]
    return ", ".join(counts) or "nothing found"


def _quiet(report: CheckReport) -> dict[str, list[str]]:
    found = {finding.code for finding in report.findings}
    quiet = {"clean": "passed", "not applicable": "not_applicable"}
    return {
        label: [code for code, result in report.results.items() if result.status == status and code not in found]
        for label, status in quiet.items()
    }
