"""Two runs over the same rows: is one better, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import binomtest

from langchain_llm_judge.experiments.measures import Measure, metric_names
from langchain_llm_judge.experiments.store import ExperimentStore
from langchain_llm_judge.reliability.bootstrap import bootstrap_ci
from langchain_llm_judge.reliability.interval import Interval
from langchain_llm_judge.results import Result


class MetricDifference(Result):
    """One metric, row by row, in two runs."""

    n: int
    """Rows with a score in both runs."""
    unmatched: int
    """Rows with a score in one run only; they are in no number here."""
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    """Mean of b - a over the rows of both; `None` without any."""
    interval: Interval | None
    """Bootstrap interval of the difference over rows; `None` where it is undefined."""


class PassDifference(Result):
    """Pass and fail of one judge, row by row, in two runs."""

    n: int
    """Rows with a verdict in both runs."""
    only_a: int
    """Rows that pass in a and fail in b."""
    only_b: int
    """Rows that pass in b and fail in a."""
    p_value: float | None
    """McNemar's exact test, two-sided: how likely a split at least this uneven is if neither run is better.
    `None` where no row differs."""


class RunComparison(Result):
    """How two runs differ."""

    metrics: dict[str, MetricDifference]
    """By metric; those that only one run has are left out."""
    verdicts: dict[str, PassDifference]
    """By judge."""
    notes: list[str]


def compare_runs(
    store: ExperimentStore,
    a: str,
    b: str,
    *,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> RunComparison:
    """How run `b` differs from run `a`, row by row.

    Rows are matched by key and repeat, judges and metrics by name. Where each run has one judge only, and
    they are named differently, these two are compared.

    Args:
        store: Where both runs are.
        a: Name or id of the first run.
        b: Name or id of the second run.
        confidence: Of the intervals, between 0 and 1.
        rng: For the bootstrap; seeded with 0 by default, so that the same runs give the same intervals.

    Raises:
        StoreError: A run is not there.

    References:
        McNemar (1947), Psychometrika 12(2), 153-157; the exact form is the binomial test on the rows that differ.
    """
    generator = np.random.default_rng(0) if rng is None else rng
    first, second = _aligned(store.run(a).measures(), store.run(b).measures())
    scores_a, scores_b = _scores(first), _scores(second)
    shared = [metric for metric in scores_a if metric in scores_b]
    labels_a, labels_b = _labels(first), _labels(second)
    return RunComparison(
        metrics={metric: _difference(scores_a[metric], scores_b[metric], confidence, generator) for metric in shared},
        verdicts={judge: _mcnemar(labels_a[judge], labels_b[judge]) for judge in labels_a if judge in labels_b},
        notes=[
            f"{metric} is in one run only"
            for metric in [*scores_a, *scores_b]
            if (metric in scores_a) != (metric in scores_b)
        ],
    )


def _aligned(first: Sequence[Measure], second: Sequence[Measure]) -> tuple[list[Measure], list[Measure]]:
    """The measures of both runs, with the judges called alike where each run has just one."""
    judges_a, judges_b = {one.judge for one in first}, {one.judge for one in second}
    if len(judges_a) == len(judges_b) == 1 and judges_a != judges_b:
        (name,) = judges_a
        second = [one._replace(judge=name) for one in second]
    return list(first), list(second)


def _scores(measures: Sequence[Measure]) -> dict[str, dict[tuple[str, int], float]]:
    names = metric_names(measures)
    scores: dict[str, dict[tuple[str, int], float]] = {name: {} for name in names.values()}
    for one in measures:
        if one.metric and one.score is not None:
            scores[names[one.judge, one.metric]][one.key, one.repeat] = one.score
    return scores


def _labels(measures: Sequence[Measure]) -> dict[str, dict[tuple[str, int], bool]]:
    labels: dict[str, dict[tuple[str, int], bool]] = {}
    for one in measures:
        if one.label in ("pass", "fail"):
            labels.setdefault(one.judge, {})[one.key, one.repeat] = one.label == "pass"
    return labels


def _difference(
    a: Mapping[tuple[str, int], float],
    b: Mapping[tuple[str, int], float],
    confidence: float,
    rng: np.random.Generator,
) -> MetricDifference:
    both = [row for row in a if row in b]
    differences = [b[row] - a[row] for row in both]
    return MetricDifference(
        n=len(both),
        unmatched=len(a) + len(b) - 2 * len(both),
        mean_a=_mean([a[row] for row in both]),
        mean_b=_mean([b[row] for row in both]),
        difference=_mean(differences),
        interval=bootstrap_ci(differences, confidence=confidence, rng=rng) if both else None,
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _mcnemar(a: Mapping[tuple[str, int], bool], b: Mapping[tuple[str, int], bool]) -> PassDifference:
    both = [row for row in a if row in b]
    only_a = sum(a[row] and not b[row] for row in both)
    only_b = sum(b[row] and not a[row] for row in both)
    differing = only_a + only_b
    p_value = float(binomtest(only_a, differing).pvalue) if differing else None
    return PassDifference(n=len(both), only_a=only_a, only_b=only_b, p_value=p_value)
