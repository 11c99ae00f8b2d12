"""Drawing rows again, with replacement, as counts: how often does each kind of row come up?

Rows that are alike are one kind, so that a statistic of counts (a mean, a kappa, a rank correlation) is
computed for a whole batch of resamples at once, and a batch never holds more than `CELLS` counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from langchain_llm_judge.reliability.ratings import Floats, Integers

RESAMPLES = 10_000
"""Resamples of an interval over up to `LARGE` rows."""
LARGE = 10_000
"""Above so many rows an interval is narrow, and fewer resamples place its ends well enough."""
WORK = 5 * 10**7
"""Rows drawn for one interval above `LARGE` rows, in at least `LEAST` resamples."""
LEAST = 500
CELLS = 2**14
"""Counts held at a time: 128 KB, which stays in the processor's cache and below what the C library maps anew."""
FEW_KINDS = 16
"""Below one kind in this many rows, drawing counts costs less than drawing rows."""

Statistic: TypeAlias = Callable[[Integers], Floats]
"""From counts (resamples × kinds) to one value a resample; NaN where it is undefined."""


@dataclass(frozen=True)
class Sample:
    """Rows to draw from, sorted into kinds."""

    counts: Integers
    """How many rows there are of each kind."""
    prior: Floats | None = None
    """Weight of each kind beside its rows, together as much as one row; for kinds that could come up but did not."""
    unit: Integers | None = None
    """Which unit each row belongs to (rows of one unit are drawn together); each row is then a kind of its own."""

    @cached_property
    def size(self) -> int:
        """Units that are drawn in one resample."""
        return int(self.counts.sum()) if self.unit is None else int(self.unit.max(initial=-1)) + 1

    @cached_property
    def cells(self) -> int:
        """Numbers that are held to draw one resample."""
        return self.counts.size if self._by_kind else max(self.size, self.counts.size)

    @cached_property
    def _by_kind(self) -> bool:
        return self.unit is None and (self.prior is not None or self.counts.size * FEW_KINDS < self.size)

    @cached_property
    def _kind_of_row(self) -> Integers | None:
        """`None` where every row is a kind of its own."""
        return np.repeat(np.arange(self.counts.size), self.counts) if (self.counts != 1).any() else None

    def draw(self, rng: np.random.Generator, resamples: int) -> Integers:
        """Counts of `resamples` resamples."""
        if self.size == 0:
            return np.zeros((resamples, self.counts.size), dtype=np.int64)
        if self._by_kind:
            weights = self.counts if self.prior is None else self.counts + self.prior
            return rng.multinomial(self.size, weights / weights.sum(), resamples)
        if self.unit is not None:
            return _draw_units(self.unit, self.size, self.prior, rng, resamples)
        return self.tally(rng.integers(0, self.size, (resamples, self.size)))

    def tally(self, drawn: Integers) -> Integers:
        """Rows drawn by number (resamples × rows) as counts of their kinds."""
        return histograms(drawn if self._kind_of_row is None else self._kind_of_row[drawn], self.counts.size)


def histograms(drawn: Integers, kinds: int) -> Integers:
    """How often each of the numbers below `kinds` is in each line."""
    counts = np.empty((len(drawn), kinds), dtype=np.int64)
    for line, numbers in zip(counts, drawn, strict=True):
        line[:] = np.bincount(numbers, minlength=kinds)
    return counts


def _draw_units(unit: Integers, units: int, prior: Floats | None, rng: np.random.Generator, resamples: int) -> Integers:
    # With a prior, one more unit can come up: it stands for the kinds that did not.
    drawn = rng.integers(0, units + (prior is not None), (resamples, units))
    times = histograms(drawn, units + 1)
    rows = times.take(unit, axis=1)
    if prior is None:
        return rows
    unseen = rng.multinomial(times[:, -1], prior[unit.size :])
    return np.concatenate([rows, unseen], axis=1)


def distribution(
    samples: Sequence[Sample], statistic: Statistic, rng: np.random.Generator, resamples: int | None = None
) -> Floats:
    """The statistic on every resample; several samples are drawn apart and their counts put side by side."""
    sizes = batch_sizes(sum(sample.cells for sample in samples), resamples)
    return np.concatenate([statistic(_side_by_side([sample.draw(rng, size) for sample in samples])) for size in sizes])


def _side_by_side(counts: Sequence[Integers]) -> Integers:
    return counts[0] if len(counts) == 1 else np.concatenate(counts, axis=1)


def batch_sizes(cells: int, resamples: int | None = None) -> Iterator[int]:
    """How many resamples to draw at a time, so that time and memory stay bounded.

    Args:
        cells: Numbers that are held to draw one resample.
        resamples: How many at most; `RESAMPLES` by default.
    """
    most = RESAMPLES if resamples is None else resamples
    total = most if cells <= LARGE else min(most, max(LEAST, WORK // cells))
    batch = max(1, CELLS // max(cells, 1))
    for start in range(0, total, batch):
        yield min(batch, total - start)
