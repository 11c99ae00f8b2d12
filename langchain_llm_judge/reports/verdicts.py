"""Results of judges as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from langchain_llm_judge.reports.layout import Cell, Row, heading, rows, stacked, verdict_line
from langchain_llm_judge.reports.tables import injection_view, judge_view
from langchain_llm_judge.reports.text import counted, cut

if TYPE_CHECKING:
    from langchain_llm_judge.judges.grading import Grade
    from langchain_llm_judge.judges.pairwise import Comparison
    from langchain_llm_judge.judges.rag_verdicts import ClaimVerdict, RAGEvaluation
    from langchain_llm_judge.reliability.consistency import ConsistencyReport
    from langchain_llm_judge.reliability.interval import Interval

LONGEST_TEXT = 200


def number(value: float | None) -> str:
    """A score with two decimals; `-` where there is none."""
    return "-" if value is None else f"{value:.2f}"


def interval(found: Interval | None) -> str:
    """An interval in brackets; empty where there is none."""
    return "" if found is None else f"[{found.low:.2f}, {found.high:.2f}]"


def rag_view(evaluation: RAGEvaluation) -> RenderableType:
    """Scores, claims and passages of a RAG evaluation, and its verdict."""
    scores: list[Row] = [
        [(name.replace("_", " "), "bold"), number(getattr(evaluation, name))]
        for name in ("faithfulness", "context_precision", "context_recall", "answer_relevance")
    ]
    sections: list[RenderableType] = [Group(heading("Scores", ", ".join(evaluation.notes)), rows(scores))]
    for title, claims in (("Claims", evaluation.claims), ("Reference claims", evaluation.reference_claims)):
        if claims:
            sections.append(Group(heading(title), rows(list(_claim_rows(claims)))))
    if evaluation.passages:
        passages: list[Row] = [
            [str(one.index), _yes_no(one.relevant), cut(evaluation.contexts[one.index], LONGEST_TEXT)]
            for one in evaluation.passages
        ]
        sections.append(Group(heading("Passages", "relevant or not"), rows(passages)))
    if evaluation.injection:
        sections.append(injection_view(evaluation.injection))
    sections.append(judge_view(evaluation.judge, evaluation.usage))
    because = f"faithfulness {number(evaluation.faithfulness)} at threshold {evaluation.threshold:g}"
    return stacked([*sections, verdict_line(evaluation.passed, because)])


def _claim_rows(claims: Sequence[ClaimVerdict]) -> Iterator[Row]:
    for claim in claims:
        cited = ", ".join(map(str, claim.passages))
        note: Cell = ("quote not found", "yellow") if claim.quote_found is False else (cited, "dim")
        yield [_yes_no(claim.supported), note, f"{cut(claim.claim, LONGEST_TEXT)}  {cut(claim.reason, LONGEST_TEXT)}"]


def _yes_no(holds: bool) -> Cell:
    return ("yes", "green") if holds else ("no", "red")


def scan_view(findings: Sequence[Any]) -> RenderableType:
    """What a scan found."""
    return injection_view(findings) if findings else heading("Scan", "nothing found")


def graded_view(grade: Grade) -> RenderableType:
    """A grade: criteria with their levels and reasons, and the verdict."""
    criteria: list[Row] = [
        [(name, "bold"), f"{one.level} of 5", number(one.score), cut(one.reason, LONGEST_TEXT)]
        for name, one in grade.criteria.items()
    ]
    sections: list[RenderableType] = [Group(heading("Grade", number(grade.score)), rows(criteria))]
    if grade.injection:
        sections.append(injection_view(grade.injection))
    sections.append(judge_view(grade.judge, grade.usage))
    return stacked([*sections, verdict_line(grade.passed, f"{number(grade.score)} at threshold {grade.threshold:g}")])


def comparison_view(comparison: Comparison) -> RenderableType:
    """The winner, and what was said in each order."""
    orders: list[Row] = [
        [(f"{order.first} shown first", "dim"), (order.winner, "bold"), cut(order.reason, LONGEST_TEXT)]
        for order in comparison.orders
    ]
    consistent = {True: "both orders agree", False: "the orders disagree, so a tie", None: "one order asked"}
    title = heading("Winner", (comparison.winner, "bold"), f"  {consistent[comparison.position_consistent]}")
    sections: list[RenderableType] = [Group(title, rows(orders))]
    if comparison.injection:
        sections.append(injection_view(comparison.injection))
    return stacked([*sections, judge_view(comparison.judge, comparison.usage)])


def consistency_view(report: ConsistencyReport) -> RenderableType:
    """How far a judge agreed with itself."""
    counts = ", ".join(f"{count} × {verdict}" for verdict, count in report.counts.items()) or "no verdict"
    table: list[Row] = [
        [("agreement", "bold"), number(report.agreement), counts],
        [("mean", "bold"), number(report.mean), interval(report.ci)],
        [("sd", "bold"), number(report.sd), ""],
        [("spread", "bold"), number(report.spread), ""],
        [("calls", "bold"), "-" if report.real_calls is None else str(report.real_calls), ""],
    ]
    notes: list[Row] = [[(note, "yellow")] for note in [*report.warnings, *dict.fromkeys(report.errors)]]
    title = heading("Consistency", f"{counted(report.n_ok, 'sample')}, {report.n_failed} failed")
    return Group(title, rows(table), *([rows(notes)] if notes else []))
