"""Cohen's kappa: agreement of two raters beyond chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from langchain_llm_judge.errors import ConfigError, InputError, shown
from langchain_llm_judge.reliability.bootstrap import counts_as
from langchain_llm_judge.reliability.interval import Countable, Counted
from langchain_llm_judge.reliability.ratings import Floats, Integers, complete_pairs, distinct, label_codes
from langchain_llm_judge.reliability.resampling import Sample, Statistic

KappaWeights = Literal["linear", "quadratic"]
"""How much worse a disagreement is when the labels lie further apart on their scale.

`linear`: by the steps between them. `quadratic`: by the steps squared, so that far misses dominate.
"""

MOST_LABELS = 20
"""Up to so many labels, every pair of them may come up in a resample, also one that no row shows."""


def cohen_kappa(
    a: Iterable[Any],
    b: Iterable[Any],
    *,
    weights: KappaWeights | None = None,
    labels: Sequence[Any] | None = None,
) -> float | None:
    """Agreement of two raters beyond what their own habits would give by chance.

    Cases where either rater has no label (`None`, NaN) are left out in pairs.

    Args:
        a: One label a case, from the first rater.
        b: Labels of the same cases, in the same order.
        weights: How far apart two labels are. `None`: different is different. `"linear"` and `"quadratic"` count the
            steps between them on the scale.
        labels: The scale, lowest first, also with labels that nobody used. `None`: the labels in use, ranked as they
            sort.

    Returns:
        Kappa, from -1 to 1; symmetric in the raters. 1 is full agreement, 0 is chance, below 0 is systematic
        disagreement. `None` without a case, and where both raters used one and the same label throughout: chance
        agreement is then 1 and the measure says nothing.

    Raises:
        InputError: The two differ in length; labels do not sort where `weights` needs it, or are not on the scale.
        ConfigError: `weights` is unknown.

    Example:
        >>> cohen_kappa(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
        0.5
        >>> cohen_kappa([1, 2, 3, 3], [1, 3, 3, 2], weights="quadratic")
        0.6363636363636364
        >>> cohen_kappa(["yes", "yes"], ["yes", "yes"]) is None
        True

    References:
        Cohen (1960), A Coefficient of Agreement for Nominal Scales, Educational and Psychological Measurement 20(1).
        Cohen (1968), Weighted Kappa, Psychological Bulletin 70(4).
    """
    scale, first, second = _coded(*complete_pairs(a, b), weights, labels)
    return kappa_of_codes(first, second, len(scale), weights)


def kappa_of_codes(a: Integers, b: Integers, labels: int, weights: KappaWeights | None = None) -> float | None:
    """Kappa of labels given by their places on a scale of `labels`; see `cohen_kappa`."""
    apart = _apart(labels, weights)
    seen = int(apart[a, b].sum()) * a.size
    # Python's whole numbers: the one rounding is in the last division.
    by_chance = int(np.bincount(a, minlength=labels) @ apart @ np.bincount(b, minlength=labels))
    return None if by_chance == 0 else (by_chance - seen) / by_chance


@counts_as(cohen_kappa)
def kappa_of_pairs(pairs: Sequence[Any]) -> Countable:
    """Kappa of pairs of labels."""
    first, second = complete_pairs(*columns(pairs))
    scale, a, b = _coded(first, second, None, None)
    return countable_labels(a, b, len(scale), kappa_of_counts)


def countable_labels(
    a: Integers,
    b: Integers,
    labels: int,
    statistic: Callable[[Integers, Integers, int], Statistic],
    unit: Integers | None = None,
) -> Countable:
    """A statistic of pairs of label codes, computed from how often each pair occurs.

    Args:
        a: Code of the first rater's label in each row.
        b: Code of the second's.
        labels: How many labels there are.
        statistic: From the two labels of each kind of row, and the number of labels, to the statistic of counts.
        unit: Where rows repeat a case: which.
    """

    def counted(rows: Integers, unit: Integers | None) -> Counted:
        sample, kind_a, kind_b = pairs_of_labels(a[rows], b[rows], labels, unit)
        return sample, statistic(kind_a, kind_b, labels)

    return Countable(a.size, counted, unit)


def columns(rows: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Pairs as two columns.

    Raises:
        InputError: A row is no pair.
    """
    for place, row in enumerate(rows):
        if not isinstance(row, list | tuple | np.ndarray) or len(row) != 2:
            raise InputError(f"values[{place}]={shown(row)} is no pair of ratings", field="values", found=row)
    return [row[0] for row in rows], [row[1] for row in rows]


def pairs_of_labels(
    a: Integers, b: Integers, labels: int, unit: Integers | None = None
) -> tuple[Sample, Integers, Integers]:
    """Pairs of label codes as a sample to draw from, with the two labels of each kind.

    Rows that agree throughout can only be drawn again as agreeing rows, and would give an interval of no width. So
    one row's weight is spread evenly over all pairs of labels, as a count of a half is added to a rate.

    Args:
        a: Code of the first rater's label in each row.
        b: Code of the second's.
        labels: How many labels there are.
        unit: Where rows repeat a case: which.

    References:
        Agresti and Min (2005), Simple Improved Confidence Intervals for Comparing Matched Proportions, Statistics in
        Medicine 24(5).
    """
    cells = labels * labels
    every_a, every_b = np.divmod(np.arange(cells), max(labels, 1))
    even = np.full(cells, 1 / max(cells, 1))
    if unit is not None:
        sample = Sample(
            np.concatenate([np.ones_like(a), np.zeros(cells, dtype=np.int64)]),
            np.concatenate([np.zeros(a.size), even]),
            unit,
        )
        return sample, np.concatenate([a, every_a]), np.concatenate([b, every_b])
    if labels <= MOST_LABELS:
        return Sample(np.bincount(a * labels + b, minlength=cells), even), every_a, every_b
    kinds, counts = np.unique(a * labels + b, return_counts=True)
    return Sample(counts), *np.divmod(kinds, labels)


def kappa_of_counts(kind_a: Integers, kind_b: Integers, labels: int) -> Statistic:
    """Unweighted kappa as a function of how often each pair of labels occurs."""
    by_a, by_b = np.eye(labels)[kind_a], np.eye(labels)[kind_b]
    differ = (kind_a != kind_b).astype(np.float64)

    def kappa(counts: Integers) -> Floats:
        rows = counts.astype(np.float64)
        total = rows.sum(axis=1)
        seen = np.einsum("ru,u->r", rows, differ) * total
        by_chance = total**2 - np.einsum("rk,rk->r", rows @ by_a, rows @ by_b)
        kappas: Floats = np.divide(by_chance - seen, by_chance, out=np.full(total.shape, np.nan), where=by_chance > 0)
        return kappas

    return kappa


def share_of_counts(kind_a: Integers, kind_b: Integers, _: int) -> Statistic:
    """Share of rows with the same label, as a function of how often each pair of labels occurs."""
    same = (kind_a == kind_b).astype(np.float64)
    return lambda counts: np.einsum("ru,u->r", counts, same) / counts.sum(axis=1)


def _coded(
    a: Sequence[Any], b: Sequence[Any], weights: KappaWeights | None, labels: Sequence[Any] | None
) -> tuple[list[Any], Integers, Integers]:
    if weights not in (None, "linear", "quadratic"):
        raise ConfigError(f"weights={shown(weights)} is unknown; give None, 'linear' or 'quadratic'")
    scale = distinct([*a, *b], ranked=weights is not None) if labels is None else list(labels)
    return scale, label_codes(a, scale), label_codes(b, scale)


def _apart(labels: int, weights: KappaWeights | None) -> Integers:
    """How far apart two labels are, in whole numbers; the scale's own factor cancels out."""
    steps = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels)))
    return {None: (steps > 0).astype(np.int64), "linear": steps, "quadratic": steps**2}[weights]
