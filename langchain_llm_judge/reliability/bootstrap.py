"""How far a number may lie from the truth, given that only so many rows were judged: bootstrap intervals.

The endpoints are percentiles of the resampled statistic, moved outwards so that they would be those of
Student's t on normal data ("expanded percentile"). Plain percentiles are too narrow below some 50 rows, and BCa,
offered as a choice, covers no better here: `benchmarks/reliability.py` prints how often each holds the true value.
"""

from __future__ import annotations

import inspect
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import scipy.stats

from langchain_llm_judge.errors import ConfigError, InputError, shown
from langchain_llm_judge.reliability.interval import Countable, Interval, defined, interval_of, means, percentiles
from langchain_llm_judge.reliability.ratings import (
    Floats,
    Integers,
    as_numbers,
    checked_confidence,
    checked_rng,
    is_missing,
)
from langchain_llm_judge.reliability.resampling import CELLS, batch_sizes

Method = Literal["percentile", "bca"]
"""How the endpoints are read off the resamples.

`percentile`: percentiles, expanded for small samples. `bca`: bias-corrected and accelerated, by scipy; costs one
more evaluation or two a row, and is `None` where leaving out one row changes nothing or leaves it undefined.
"""

_COUNTED: dict[Any, Callable[[Sequence[Any]], Countable]] = {}


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean."""
    return float(np.mean(np.fromiter(values, dtype=np.float64)))


def bootstrap_ci(
    values: Iterable[Any],
    statistic: Callable[[Any], float | None] = mean,
    *,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
    method: Method = "percentile",
) -> Interval | None:
    """Confidence interval of a statistic, by drawing the rows again with replacement.

    10,000 resamples; above 10,000 rows fewer. Means, `cohen_kappa` and `spearman` are computed for many resamples at
    once; so is a statistic that takes `axis`, such as numpy's.

    By simulation, nominal 95 % covers 92 to 97.5 % at 50 and 200 rows for means of scores, Spearman's correlation and
    kappa. It does not where too few rows differ: kappas and rates of 0.9 and more at 50 rows or 0.95 at 200, and
    labels that one row in ten carries (kappa 92 to 99.8 %; a rate of 0.95 at 50 rows 90 to 92 %); for heavy tails (a
    log-normal mean 89 % at 50 rows, 92 % at 200) and scores heaped at one end (a beta(9, 0.5) mean 91.9 % at 50); for
    Spearman's correlation of 0.97 on 11 levels (97.7 % at 50); and below 20 rows (a mean of 5 scores some 90 %).

    Args:
        values: One row an entry: a number, or a sequence of columns. Missing numbers (`None`, NaN) are left out.
        statistic: From an array of rows, numbers in one dimension or columns in two, to a number; `None` or NaN
            where it is undefined. `cohen_kappa` and `spearman` take rows that are pairs.
        confidence: Between 0 and 1.
        rng: numpy `Generator`; `None` is a fixed seed, so that the same rows give the same interval.
        method: `"percentile"` (expanded for small samples) or `"bca"`.

    Returns:
        The interval; both ends are one value where all resamples give the same, which says that these rows show no
        variation, not that there is none. `None` with fewer than 2 rows, where the statistic is undefined on the
        rows or on more than a tenth of the resamples. Resamples on which it is undefined are left out.

    Raises:
        ConfigError: `confidence`, `rng` or `method` is not usable.
        InputError: A value is no number, or infinite; rows are not alike in length.

    Example:
        >>> scores = [0.9, 0.8, 0.4, 0.7, 1.0, 0.6, 0.8, 0.9]
        >>> low, high = bootstrap_ci(scores)
        >>> 0.5 < low < 0.7625 < high < 0.95
        True

    References:
        Efron and Tibshirani (1993), An Introduction to the Bootstrap. Hesterberg (2015), What Teachers Should Know
        About the Bootstrap, The American Statistician 69(4), on expanded percentiles.
    """
    confidence, rng = checked_confidence(confidence), checked_rng(rng)
    if method not in ("percentile", "bca"):
        raise ConfigError(f"method={shown(method)} is unknown; give 'percentile' or 'bca'")
    rows = list(values)
    if statistic in _COUNTED:
        countable = _COUNTED[statistic](rows)
        if method == "percentile":
            return interval_of(countable, confidence=confidence, rng=rng)
        sample, on_counts = countable.counted(np.arange(countable.rows), None)
        return _interval_of_rows(sample.size, lambda drawn: on_counts(sample.tally(drawn)), confidence, rng, method)
    table = _table(rows)
    return _interval_of_rows(len(table), _on_table(table, statistic), confidence, rng, method)


def counts_as(
    *functions: Any,
) -> Callable[[Callable[[Sequence[Any]], Countable]], Callable[[Sequence[Any]], Countable]]:
    """Says that a statistic can be computed from counts of kinds, for `bootstrap_ci` to use."""

    def register(counted: Callable[[Sequence[Any]], Countable]) -> Callable[[Sequence[Any]], Countable]:
        _COUNTED.update(dict.fromkeys(functions, counted))
        return counted

    return register


@counts_as(mean, np.mean, statistics.mean, statistics.fmean)
def counted_mean(rows: Sequence[Any]) -> Countable:
    """The mean of the numbers that are there."""
    return means(_present_numbers(rows))


def _interval_of_rows(
    size: int, statistic: Callable[[Integers], Floats], confidence: float, rng: np.random.Generator, method: Method
) -> Interval | None:
    if size < 2 or math.isnan(float(statistic(np.arange(size)[np.newaxis])[0])):
        return None
    batches = [statistic(rng.integers(0, size, (batch, size))) for batch in batch_sizes(size)]
    drawn = defined(np.concatenate(batches))
    if drawn is None:
        return None
    if method == "percentile" or drawn.min() == drawn.max():
        return percentiles(drawn, size, confidence)
    return _bca(drawn, size, statistic, confidence)


def _bca(drawn: Floats, size: int, statistic: Callable[[Integers], Floats], confidence: float) -> Interval | None:
    if not _has_bca(drawn, size, statistic):
        return None

    # scipy takes the resamples as drawn, adds none, and does the jackknife.
    def on_indices(rows: Integers, axis: int = -1) -> Floats:
        return statistic(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape[:-1])

    with np.errstate(all="ignore"):
        bootstrap: Any = scipy.stats.bootstrap
        found = bootstrap(
            (np.arange(size),),
            on_indices,
            n_resamples=0,
            bootstrap_result=SimpleNamespace(bootstrap_distribution=drawn),
            confidence_level=confidence,
            batch=max(1, CELLS // size),
            method="BCa",
            vectorized=True,
        ).confidence_interval
    return Interval(float(found.low), float(found.high))


def _has_bca(drawn: Floats, size: int, statistic: Callable[[Integers], Floats]) -> bool:
    """Whether scipy finds BCa's two corrections; where it does not, it warns and gives NaN."""
    observed = float(statistic(np.arange(size)[np.newaxis])[0])
    others = np.arange(size - 1)
    without = [statistic((others + (others >= row))[np.newaxis])[0] for row in range(size)]
    return bool(drawn.min() <= observed <= drawn.max() and np.isfinite(without).all() and np.ptp(without) > 0)


def _on_table(table: Any, statistic: Callable[[Any], float | None]) -> Callable[[Integers], Floats]:
    if table.ndim == 1 and _takes_axis(statistic):
        return lambda drawn: np.asarray(_quietly(statistic, table[drawn], axis=-1), dtype=np.float64)
    return lambda drawn: np.array([_value(_quietly(statistic, table[rows])) for rows in drawn])


def _quietly(statistic: Callable[..., Any], rows: Any, **options: Any) -> Any:
    # A resample may be degenerate; that is counted as undefined, not warned about.
    with np.errstate(all="ignore"):
        return statistic(rows, **options)


def _value(value: Any) -> float:
    return math.nan if is_missing(value) else float(value)


def _takes_axis(statistic: Callable[..., Any]) -> bool:
    try:
        return "axis" in inspect.signature(statistic).parameters
    except (TypeError, ValueError):
        return False


def _table(rows: Sequence[Any]) -> Any:
    """Rows as an array of one or two dimensions."""
    if not any(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return _present_numbers(rows)
    lengths = {len(row) if isinstance(row, list | tuple | np.ndarray) else 0 for row in rows}
    if len(lengths) > 1:
        raise InputError(f"rows have {sorted(lengths)} columns; give each the same", field="values")
    table = np.empty((len(rows), lengths.pop()), dtype=object)
    table[:] = [list(row) for row in rows]
    numeric = all(isinstance(cell, int | float | np.number) for cell in table.flat)
    return table.astype(np.float64) if numeric else table


def _present_numbers(rows: Sequence[Any]) -> Floats:
    return as_numbers([row for row in rows if not is_missing(row)], "values")
