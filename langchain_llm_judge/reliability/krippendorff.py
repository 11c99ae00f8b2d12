"""Krippendorff's alpha: agreement of any number of raters, with missing ratings, on any scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from langchain_llm_judge.errors import ConfigError, InputError, shown
from langchain_llm_judge.reliability.ratings import Floats, as_numbers, distinct, is_missing, label_codes

Level = Literal["nominal", "ordinal", "interval", "ratio"]
"""What the ratings are, and so how far apart two of them lie.

`nominal`: labels, same or different. `ordinal`: labels with an order (as they sort), apart by the ratings that lie
between them. `interval`: numbers, apart by their difference squared. `ratio`: numbers from 0 up, apart by their
difference over their sum, squared.
"""


def krippendorff_alpha(ratings: Iterable[Iterable[Any]], *, level: Level = "nominal") -> float | None:
    """Agreement of raters beyond chance: 1 - observed disagreement / disagreement expected by chance.

    Only units that two raters or more have rated count; ratings that stand alone are left out.

    Args:
        ratings: One row a rater, one entry a unit, `None` (or NaN) where the rater gave none.
        level: What the ratings are.

    Returns:
        Alpha, at most 1. 1 is full agreement, 0 is chance, below 0 is systematic disagreement. `None` where no unit
        has two ratings, and where all ratings that count are the same: nothing could have disagreed.

    Raises:
        InputError: The rows differ in length; labels do not sort at `ordinal`; a rating is no number at `interval` or
            `ratio`, or below 0 at `ratio`.
        ConfigError: `level` is unknown.

    Example:
        >>> krippendorff_alpha([[1, 2, 3, None], [1, 2, 3, 4], [None, 3, 3, 4]], level="ordinal")
        0.8934210526315789

    References:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. Hayes and Krippendorff (2007), Answering the
        Call for a Standard Reliability Measure for Coding Data, Communication Methods and Measures 1(1).
    """
    if level not in _DISTANCE:
        raise ConfigError(f"level={shown(level)} is unknown; give one of {', '.join(map(repr, _DISTANCE))}")
    rows = _rows(ratings)
    if not rows:
        return None
    present = np.array([[not is_missing(rating) for rating in row] for row in rows], dtype=bool)
    present &= present.sum(axis=0) > 1
    if not present.any():
        return None
    counted = [row[unit] for row, here in zip(rows, present, strict=True) for unit in np.flatnonzero(here)]
    table = np.zeros(present.shape)
    table[present] = _values(counted, level)
    expected = _expected(table[present], _DISTANCE[level])
    return None if expected == 0 else 1 - _observed(table, present, _DISTANCE[level]) / expected


def _rows(ratings: Iterable[Iterable[Any]]) -> list[list[Any]]:
    rows = [list(row) for row in ratings]
    lengths = [len(row) for row in rows]
    if len(set(lengths)) > 1:
        raise InputError(
            f"the raters have {shown(lengths)} ratings; give each one entry a unit, None where missing",
            field="ratings",
            found=lengths,
        )
    return rows


def _values(ratings: Sequence[Any], level: Level) -> Floats:
    """Ratings as numbers whose distance is the level's."""
    if level in ("interval", "ratio"):
        found = as_numbers(ratings, "ratings")
        if level == "ratio" and bool((found < 0).any()):
            raise InputError("a rating below 0 has no place on a ratio scale; use level='interval'", field="ratings")
        return found
    codes = label_codes(ratings, distinct(ratings, ranked=level == "ordinal")).astype(np.float64)
    ranks: Floats = rankdata(codes) if level == "ordinal" else codes
    return ranks


Distance = Callable[[Any, Any], Floats]


def _different(x: Floats, y: Floats) -> Floats:
    return np.asarray(x != y, dtype=np.float64)


def _squared(x: Floats, y: Floats) -> Floats:
    return np.asarray((x - y) ** 2)


def _proportional(x: Floats, y: Floats) -> Floats:
    total = x + y
    return np.asarray(np.divide(x - y, total, out=np.zeros(np.shape(total)), where=total > 0) ** 2)


_DISTANCE: dict[str, Distance] = {
    "nominal": _different,
    "ordinal": _squared,
    "interval": _squared,
    "ratio": _proportional,
}


def _observed(table: Floats, present: NDArray[np.bool_], distance: Distance) -> float:
    """Mean distance within units; a unit's pairs weigh as much as its ratings."""
    pairs_each = np.maximum(present.sum(axis=0) - 1, 1)
    total = 0.0
    for one, other in combinations(range(len(table)), 2):
        both = present[one] & present[other]
        total += 2 * float((distance(table[one], table[other]) / pairs_each)[both].sum())
    return total / int(present.sum())


def _expected(values: Floats, distance: Distance) -> float:
    """Mean distance of any two ratings, whatever their unit."""
    kinds, counts = np.unique(values, return_counts=True)
    total = sum(float(times * (counts @ distance(kind, kinds))) for kind, times in zip(kinds, counts, strict=True))
    return total / (values.size * (values.size - 1))
