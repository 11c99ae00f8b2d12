"""The scores of a run, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from langchain_llm_judge.reliability.bootstrap import bootstrap_ci
from langchain_llm_judge.reliability.interval import Interval


class Measure(NamedTuple):
    """One score of one row, without the whole result."""

    key: str
    repeat: int
    judge: str
    metric: str
    """Empty for a judge that failed."""
    score: float | None
    """`None` where the judge gave no verdict or failed."""
    label: str | None
    """`pass` or `fail`, or the winner of a comparison."""


@dataclass(frozen=True)
class MetricSummary:
    """One metric over the rows of a run."""

    n: int
    """Rows with a score."""
    mean: float | None
    """Over these; `None` without any."""
    interval: Interval | None
    """95 % bootstrap interval of the mean; `None` where it is undefined."""
    failures: int
    """Rows without a score: no verdict, or a judge that failed. They are in no mean."""


def metric_names(measures: Iterable[Measure]) -> dict[tuple[str, str], str]:
    """What the metric of a judge is called: its own name, with the judge's in front where two judges share it."""
    pairs = dict.fromkeys((measure.judge, measure.metric) for measure in measures if measure.metric)
    metrics = [metric for _, metric in pairs]
    return {(judge, metric): f"{judge}.{metric}" if metrics.count(metric) > 1 else metric for judge, metric in pairs}


def summarize(measures: list[Measure]) -> dict[str, MetricSummary]:
    """Every metric with count, mean, interval and failures."""
    names = metric_names(measures)
    scores: dict[str, list[float]] = {name: [] for name in names.values()}
    missing = dict.fromkeys(scores, 0)
    for measure in measures:
        for name in _concerned(measure, names):
            if measure.score is None:
                missing[name] += 1
            else:
                scores[name].append(measure.score)
    return {name: _summary(values, missing[name]) for name, values in scores.items()}


def _concerned(measure: Measure, names: dict[tuple[str, str], str]) -> list[str]:
    """The metrics a measure speaks of: its own, or all of a judge's where the judge failed."""
    if measure.metric:
        return [names[measure.judge, measure.metric]]
    return [name for (judge, _), name in names.items() if judge == measure.judge]


def _summary(values: list[float], failures: int) -> MetricSummary:
    mean = float(np.mean(values)) if values else None
    interval = bootstrap_ci(values, rng=np.random.default_rng(0)) if values else None
    return MetricSummary(len(values), mean, interval, failures)
