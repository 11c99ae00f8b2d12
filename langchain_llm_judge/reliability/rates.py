"""What a judge's passes are worth, by people's labels on some of its rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_llm_judge.reliability.agreement import LabelPairs, units
from langchain_llm_judge.reliability.kappa import pairs_of_labels
from langchain_llm_judge.reliability.ratings import Floats, Integers
from langchain_llm_judge.reliability.resampling import Sample, Statistic
from langchain_llm_judge.reliability.verdicts import RowId

Labelled = tuple[RowId, str, str]
"""A row, the judge's label and people's: `pass` or `fail`."""


class PassTable:
    """Rows by who passes them, and every rate as a function of how often each kind of row occurs."""

    def __init__(self, labelled: Sequence[Labelled], unlabelled: Sequence[tuple[RowId, str]]) -> None:
        pairs = LabelPairs(labelled, scale=("pass", "fail"))
        sample, judge, human = pairs_of_labels(pairs.first, pairs.second, 2, pairs.unit)
        more, more_passes = _unlabelled(unlabelled)
        self.samples = [sample, more]
        self.judge_passes = np.concatenate([judge == 0, more_passes])
        self.human_passes = np.concatenate([human == 0, np.zeros(more_passes.size, dtype=bool)])
        self.human_fails = np.concatenate([human == 1, np.zeros(more_passes.size, dtype=bool)])

    def observed(self, statistic: Statistic) -> float | None:
        """A rate on the rows as they are; `None` where it is undefined."""
        value = float(statistic(np.concatenate([sample.counts for sample in self.samples])[np.newaxis])[0])
        return None if math.isnan(value) else value

    @property
    def precision(self) -> Statistic:
        """Of the labelled rows the judge passes, the share that people pass."""
        return _share(self.human_passes, self.judge_passes & (self.human_passes | self.human_fails))

    @property
    def recall(self) -> Statistic:
        """Of the rows people pass, the share that the judge passes."""
        return _share(self.judge_passes, self.human_passes)

    @property
    def specificity(self) -> Statistic:
        """Of the rows people fail, the share that the judge fails."""
        return _share(~self.judge_passes, self.human_fails)

    @property
    def pass_rate(self) -> Statistic:
        """Of all rows, the share that the judge passes."""
        return _share(self.judge_passes, np.ones_like(self.judge_passes))

    def uncut(self, counts: Integers) -> Floats:
        """Rogan and Gladen's corrected pass rate as it comes out; NaN where the judge tells nothing."""
        recall, specificity = self.recall(counts), self.specificity(counts)
        return _over(self.pass_rate(counts) + specificity - 1, recall + specificity - 1)

    def corrected(self, counts: Integers) -> Floats:
        """The corrected pass rate, cut to 0 to 1."""
        return np.asarray(np.clip(self.uncut(counts), 0, 1))


def _unlabelled(rows: Sequence[tuple[RowId, str]]) -> tuple[Sample, NDArray[np.bool_]]:
    passes = np.array([label == "pass" for _, label in rows], dtype=bool)
    unit = units([row for row, _ in rows])
    if unit is not None:
        return Sample(np.ones(passes.size, dtype=np.int64), unit=unit), passes
    return Sample(np.array([passes.sum(), (~passes).sum()])), np.array([True, False])


def _share(part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> Statistic:
    return lambda counts: _over(_times(counts, part & whole), _times(counts, whole))


def _times(counts: Integers, kinds: NDArray[np.bool_]) -> Floats:
    return np.asarray(np.einsum("ru,u->r", counts, kinds.astype(np.float64)))


def _over(part: Floats, whole: Floats) -> Floats:
    """NaN where `whole` is not above 0, NaN among that."""
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))
