"""Spearman's rank correlation: do two raters put cases in the same order?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from langchain_llm_judge.reliability.bootstrap import counts_as
from langchain_llm_judge.reliability.interval import Countable, Counted
from langchain_llm_judge.reliability.kappa import columns
from langchain_llm_judge.reliability.ratings import Floats, Integers, as_numbers, complete_pairs
from langchain_llm_judge.reliability.resampling import Sample, Statistic


def spearman(a: Iterable[Any], b: Iterable[Any]) -> float | None:
    """Correlation of the ranks that two raters give; ties share the mean of their ranks.

    Cases where either has no number (`None`, NaN) are left out in pairs.

    Args:
        a: One number a case, from the first rater.
        b: Numbers for the same cases, in the same order.

    Returns:
        From -1 to 1; symmetric. 1 is the same order, 0 no relation of the orders, -1 the reverse order. It says
        nothing about distances: scores that are all 0.2 too high correlate fully. `None` with fewer than 2 cases, and
        where one rater gives all cases the same number: there is no order to compare.

    Raises:
        InputError: The two differ in length; a value is no number, or infinite.

    Example:
        >>> spearman([0.1, 0.4, 0.5, 0.9], [0.2, 0.3, 0.8, 0.7])
        0.8
        >>> spearman([0.5, 0.5], [0.1, 0.9]) is None
        True

    References:
        Spearman (1904), The Proof and Measurement of Association between Two Things, American Journal of Psychology.
    """
    first, second = complete_pairs(a, b)
    return rank_correlation(as_numbers(first, "a"), as_numbers(second, "b"))


def rank_correlation(a: Floats, b: Floats) -> float | None:
    """Spearman's correlation of numbers without a gap; see `spearman`."""
    # Twice the distance from the mean rank is a whole number, so nothing is lost on the way.
    x = 2 * rankdata(a) - (a.size + 1)
    y = 2 * rankdata(b) - (b.size + 1)
    spread = float(x @ x) * float(y @ y)
    return None if spread == 0 else float(x @ y) / spread**0.5


@counts_as(spearman)
def spearman_of_pairs(pairs: Sequence[Any]) -> Countable:
    """Spearman's correlation of pairs of numbers."""
    first, second = complete_pairs(*columns(pairs))
    return countable_numbers(as_numbers(first, "a"), as_numbers(second, "b"))


def countable_numbers(a: Floats, b: Floats, unit: Integers | None = None) -> Countable:
    """Spearman's correlation of numbers without a gap, computed from how often each pair occurs.

    Args:
        a: The first rater's numbers.
        b: The second's.
        unit: Where rows repeat a case: which.
    """

    def counted(rows: Integers, unit: Integers | None) -> Counted:
        if unit is not None:
            return Sample(np.ones(rows.size, dtype=np.int64), unit=unit), _correlation(a[rows], b[rows])
        kinds, counts = np.unique(np.stack([a[rows], b[rows]], axis=1), axis=0, return_counts=True)
        return Sample(counts), _correlation(kinds[:, 0], kinds[:, 1])

    return Countable(a.size, counted, unit)


def _correlation(a: Floats, b: Floats) -> Statistic:
    ranks_a, ranks_b = _Ranks(a), _Ranks(b)

    def correlation(counts: Integers) -> Floats:
        # Whole numbers up to the cube of the rows drawn; beyond 1,000,000 rows they need more room than 64 bits.
        times = counts if counts[0].sum() <= 1_000_000 else counts.astype(np.float64)
        rows = times.sum(axis=1)
        x, at_once_a = ranks_a.of(times)
        y, at_once_b = ranks_b.of(times)
        x -= rows[:, np.newaxis]
        together = np.einsum("ru,ru,ru->r", x, times, y).astype(np.float64)
        # Rows of one value share a rank, which takes the cube of their number off the sum of squares.
        spread_a = rows**3 - _cubes(at_once_a)
        spread_b = spread_a if at_once_b is at_once_a else rows**3 - _cubes(at_once_b)
        # One root of the product, not two: equal orders then correlate with 1 exactly.
        spread = np.sqrt(spread_a / 3 * (spread_b / 3))
        found: Floats = np.divide(together, spread, out=np.full(spread.shape, np.nan), where=spread > 0)
        return found

    return correlation


def _cubes(numbers: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.einsum("rv,rv,rv->r", numbers, numbers, numbers))


class _Ranks:
    """Ranks of one rater's numbers in a resample, from how often each kind of row was drawn."""

    def __init__(self, numbers: Floats) -> None:
        values, self.place = np.unique(numbers, return_inverse=True)
        self.order = np.argsort(self.place, kind="stable")
        self.starts = np.searchsorted(self.place[self.order], np.arange(values.size))
        self.sorted = bool((np.diff(self.order) == 1).all())
        self.tied = values.size < numbers.size

    def of(self, times: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Twice the rank less 1, for each kind of row, and how many rows share each rank.

        The mean of the first over the rows is their number; so one rater's need not be centered on it when both are
        multiplied.
        """
        drawn = times if self.sorted else times.take(self.order, axis=1)
        if self.tied:
            drawn = np.add.reduceat(drawn, self.starts, axis=1)
        ranks = drawn.cumsum(axis=1)
        ranks *= 2
        ranks -= drawn
        if self.tied:
            return ranks.take(self.place, axis=1), drawn
        return ranks if self.sorted else ranks.take(self.place, axis=1), times
