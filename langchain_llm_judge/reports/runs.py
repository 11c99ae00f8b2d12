"""Runs of experiments as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from langchain_llm_judge.reports.layout import Row, heading, rows, stacked
from langchain_llm_judge.reports.text import counted
from langchain_llm_judge.reports.verdicts import interval, number

if TYPE_CHECKING:
    from langchain_llm_judge.experiments.compare import RunComparison
    from langchain_llm_judge.experiments.measures import MetricSummary
    from langchain_llm_judge.experiments.store import RunInfo
    from langchain_llm_judge.reliability.agreement import AgreementReport


def runs_view(runs: Sequence[RunInfo]) -> RenderableType:
    """The runs of a store, newest first."""
    table: list[Row] = [
        [(run.name, "bold"), f"{run.rows:,} rows", run.created_at[:19], (run.id, "dim")] for run in runs
    ]
    return Group(heading("Runs", counted(len(runs), "run")), rows(table))


def summary_view(name: str, summary: Mapping[str, MetricSummary]) -> RenderableType:
    """The metrics of a run, with intervals."""
    table: list[Row] = [
        [(metric, "bold"), number(one.mean), interval(one.interval), f"n {one.n:,}", _failures(one.failures)]
        for metric, one in summary.items()
    ]
    return Group(heading(name), rows(table or [["nothing is judged yet"]]))


def _failures(count: int) -> tuple[str, str]:
    return (f"{count:,} without a score", "yellow") if count else ("", "")


def agreement_view(report: AgreementReport) -> RenderableType:
    """How far two runs agree."""
    table: list[Row] = [
        [(name.replace("_", " "), "bold"), number(getattr(report, name)), interval(getattr(report, f"{name}_ci"))]
        for name in ("raw_agreement", "kappa", "spearman", "mean_abs_diff")
    ]
    counts = f"{counted(report.n, 'row')} in both, {report.unmatched} unmatched, {report.n_failed} failed"
    return Group(heading("Agreement", counts), rows(table), *_notes(report.notes))


def comparison_of_runs_view(a: str, b: str, comparison: RunComparison) -> RenderableType:
    """How run b differs from run a."""
    metrics: list[Row] = [
        [(metric, "bold"), number(one.mean_a), number(one.mean_b), _signed(one.difference), interval(one.interval)]
        for metric, one in comparison.metrics.items()
    ]
    verdicts: list[Row] = [
        [(judge, "bold"), f"{one.only_a} pass in a only", f"{one.only_b} pass in b only", f"p {_p(one.p_value)}"]
        for judge, one in comparison.verdicts.items()
    ]
    sections: list[RenderableType] = [Group(heading("Scores", f"a = {a}, b = {b}, b - a"), rows(metrics))]
    if verdicts:
        sections.append(Group(heading("Pass and fail", "McNemar's exact test"), rows(verdicts)))
    return stacked([*sections, *_notes(comparison.notes)])


def _notes(notes: Sequence[str]) -> list[RenderableType]:
    return [rows([[(note, "yellow")] for note in notes])] if notes else []


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
