"""Labels and numbers as raters give them, checked before anything is computed.

Missing is `None`, NaN, and pandas' `NA`; a missing rating stays missing and never counts as a value.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langchain_llm_judge.errors import ConfigError, InputError, shown

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def is_missing(value: object) -> bool:
    """Whether a rating is missing."""
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


def complete_pairs(a: Iterable[Any], b: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The cases that both raters rated.

    Raises:
        InputError: The two differ in length.
    """
    first, second = list(a), list(b)
    if len(first) != len(second):
        raise InputError(
            f"the raters gave {len(first)} and {len(second)} ratings; give one a case from each, None where missing",
            field="b",
            found=(len(first), len(second)),
        )
    both = [(x, y) for x, y in zip(first, second, strict=True) if not is_missing(x) and not is_missing(y)]
    return [x for x, _ in both], [y for _, y in both]


def as_numbers(values: Iterable[Any], field: str) -> Floats:
    """Values as floats; booleans are 0 and 1.

    Raises:
        InputError: One is no number, or infinite; the message names its position.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub" and values.ndim == 1:
        found = values.astype(np.float64)
    else:
        found = np.array([_number(value, place, field) for place, value in enumerate(values)], dtype=np.float64)
    if np.isinf(found).any():
        place = int(np.flatnonzero(np.isinf(found))[0])
        raise InputError(f"{field}[{place}] is infinite; give finite numbers", field=field, found=float(found[place]))
    return found


def _number(value: Any, place: int, field: str) -> float:
    if isinstance(value, numbers.Real | Decimal | np.bool_):
        return float(value)
    raise InputError(
        f"{field}[{place}]={shown(value)} is {type(value).__name__}, expected a number", field=field, found=value
    )


def label_codes(labels: Sequence[Any], scale: Sequence[Any]) -> Integers:
    """Position of each label on the scale.

    Raises:
        InputError: A label is not on it, or cannot be compared for equality by hash.
    """
    places = {label: place for place, label in enumerate(scale)}
    try:
        return np.array([places[label] for label in labels], dtype=np.int64)
    except (KeyError, TypeError):
        odd = next(label for label in labels if not isinstance(label, Hashable) or label not in places)
        raise InputError(f"label {shown(odd)} is none of {shown(list(scale))}", field="labels", found=odd) from None


def distinct(labels: Iterable[Any], *, ranked: bool) -> list[Any]:
    """Every label once: sorted where the order counts, else as first seen.

    Raises:
        InputError: They do not sort though the order counts, or one is a list or dict.
    """
    try:
        seen = list(dict.fromkeys(labels))
        return sorted(seen) if ranked else seen
    except TypeError as error:
        raise InputError(
            f"these labels cannot be {'ranked' if ranked else 'compared'} ({error}); give numbers or texts of one type"
            + (", or name their order with labels=" if ranked else ""),
            field="labels",
        ) from None


def checked_confidence(confidence: object) -> float:
    """A confidence level between 0 and 1, both excluded.

    Raises:
        ConfigError: It is no number, or lies outside.
    """
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise ConfigError(f"confidence={shown(confidence)} is not between 0 and 1; give a share such as 0.95")
    return float(confidence)


def checked_rng(rng: object) -> np.random.Generator:
    """The given source of randomness; `None` is a fixed seed, so that the same data give the same interval.

    Raises:
        ConfigError: It is no numpy `Generator`.
    """
    if rng is None:
        return np.random.default_rng(0)
    if not isinstance(rng, np.random.Generator):
        raise ConfigError(f"rng={shown(rng)} is no numpy Generator; give numpy.random.default_rng(seed)")
    return rng
