"""Intervals of statistics that can be computed from counts of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.stats
from pydantic import BaseModel
from scipy.special import ndtr

from langchain_llm_judge.reliability.ratings import Floats, Integers
from langchain_llm_judge.reliability.resampling import LARGE, Sample, Statistic, distribution
from langchain_llm_judge.results import Result

MOST_UNDEFINED = 0.1
"""Share of resamples on which a statistic may be undefined before there is no interval."""

PART = 5_000
"""Rows that are drawn from where there are more than `LARGE` of as many kinds."""

PART_RESAMPLES = 2_000

Counted: TypeAlias = tuple[Sample, Statistic]
"""Rows by kind, and the statistic as a function of their counts."""


@dataclass(frozen=True)
class Countable:
    """A statistic of rows that can be computed from how often each kind of row occurs."""

    rows: int
    counted: Callable[[Integers, Integers | None], Counted]
    """From row numbers, and the unit of each, to the counted rows."""
    unit: Integers | None = None
    """Where rows repeat a case: which, numbered from 0."""


class Interval(Result):
    """Two ends between which the true value lies in the stated share of samples. Unpacks as `low, high`."""

    low: float
    high: float

    def __init__(self, low: float, high: float) -> None:
        BaseModel.__init__(self, low=low, high=high)

    def __iter__(self) -> Iterator[float]:  # type: ignore[override]
        yield self.low
        yield self.high

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def interval_of(statistic: Countable, *, confidence: float, rng: np.random.Generator) -> Interval | None:
    """The interval of a statistic of rows.

    Above 10,000 rows of as many kinds, a random part of 5,000 is drawn from, 2,000 times, and the ends it gives are
    moved as much nearer to the statistic of all rows as more rows make it more certain: by the root of the shares.
    """
    sample, on_counts = statistic.counted(np.arange(statistic.rows), statistic.unit)
    if sample.cells <= LARGE:
        return interval([sample], on_counts, confidence=confidence, rng=rng)
    part, on_part = statistic.counted(*_part(statistic, rng))
    ends = interval([part], on_part, confidence=confidence, rng=rng, resamples=PART_RESAMPLES)
    if ends is None:
        return None
    here, there = _on_observed([sample], on_counts), _on_observed([part], on_part)
    nearer = math.sqrt(part.size / sample.size)
    return Interval(here + (ends.low - there) * nearer, here + (ends.high - there) * nearer)


def interval(
    samples: Sequence[Sample],
    statistic: Statistic,
    *,
    confidence: float,
    rng: np.random.Generator,
    resamples: int | None = None,
) -> Interval | None:
    """The interval of a statistic of counts; the first sample's size decides how far it is expanded.

    Returns:
        `None` with fewer than 2 units, and where the statistic is undefined on the rows or on too many resamples.
    """
    size = samples[0].size
    if size < 2 or math.isnan(_on_observed(samples, statistic)):
        return None
    drawn = defined(distribution(samples, statistic, rng, resamples))
    return None if drawn is None else percentiles(drawn, size, confidence)


def defined(drawn: Floats) -> Floats | None:
    """The resamples on which the statistic is defined; `None` where they are too few."""
    found = drawn[np.isfinite(drawn)]
    return None if found.size < (1 - MOST_UNDEFINED) * drawn.size else found


def percentiles(drawn: Floats, size: int, confidence: float) -> Interval:
    """Percentiles of the resampled statistic, moved outwards as Student's t is wider than the normal."""
    tail = (1 - confidence) / 2
    expanded = float(ndtr(scipy.stats.t.ppf(tail, size - 1) * math.sqrt(size / (size - 1))))
    low, high = np.quantile(drawn, [expanded, 1 - expanded])
    return Interval(float(low), float(high))


def share_interval(count: int, of: int, *, confidence: float, rng: np.random.Generator) -> Interval | None:
    """The interval of `count` out of `of`.

    A share of 0 or 1 could still come out otherwise, which its rows cannot show; so one row's weight is spread over
    both outcomes.

    References:
        Agresti and Coull (1998), Approximate Is Better than "Exact" for Interval Estimation of Binomial Proportions,
        The American Statistician 52(2), on adding to the counts.
    """
    sample = Sample(np.array([count, of - count]), np.array([0.5, 0.5]))
    return interval([sample], lambda drawn: drawn[:, 0] / drawn.sum(axis=1), confidence=confidence, rng=rng)


def means(values: Floats, unit: Integers | None = None) -> Countable:
    """The mean of numbers.

    Args:
        values: One number a row.
        unit: Where rows repeat a case: which.
    """

    def counted(rows: Integers, unit: Integers | None) -> Counted:
        kinds, counts = values[rows], np.ones(rows.size, dtype=np.int64)
        if unit is None:
            kinds, counts = np.unique(kinds, return_counts=True)
        return Sample(counts, unit=unit), lambda drawn: np.einsum("ru,u->r", drawn, kinds) / drawn.sum(axis=1)

    return Countable(values.size, counted, unit)


def _on_observed(samples: Sequence[Sample], statistic: Statistic) -> float:
    counts = np.concatenate([sample.counts for sample in samples])
    return float(statistic(counts[np.newaxis])[0])


def _part(statistic: Countable, rng: np.random.Generator) -> tuple[Integers, Integers | None]:
    """Row numbers of a random part of the rows, whole units at a time, and the units they belong to."""
    if statistic.unit is None:
        return np.sort(rng.choice(statistic.rows, PART, replace=False)), None
    units = int(statistic.unit.max()) + 1
    chosen = rng.choice(units, max(2, PART * units // statistic.rows), replace=False)
    rows = np.flatnonzero(np.isin(statistic.unit, chosen))
    return rows, np.unique(statistic.unit[rows], return_inverse=True)[1]
