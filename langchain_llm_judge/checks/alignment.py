"""Pairing what was called with what was expected: the largest pairing there is, in order or in any order.

Nothing here knows tools or arguments: two sides of items, and which of them may be paired. Where order counts, items
come in batches (the calls of one message), and inside a batch, of either side, order is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, groupby, islice
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pair: TypeAlias = tuple[int, int]
Fits: TypeAlias = NDArray[np.bool_]
"""One row a called item, one column an expected one: whether the two may be paired."""
Batch: TypeAlias = tuple[int, ...]

_CHOICES = 5_000
"""Ways to choose from one batch that are tried; more exist only where over a dozen parallel calls fit loosely."""


def in_any_order(fits: Fits, alike: Fits | None = None) -> list[Pair]:
    """The largest pairing; among equally large ones, one with the most pairs that are `alike`."""
    from scipy.optimize import linear_sum_assignment

    if not fits.any():
        return []
    # One more pair always outweighs all likeness together.
    worth = fits * float(min(fits.shape) + 1) + (0.0 if alike is None else fits & alike)
    rows, columns = linear_sum_assignment(worth, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True) if fits[row, column]]


def in_order(fits: Fits, called: Sequence[int], expected: Sequence[int]) -> list[Pair]:
    """The largest pairing that keeps the order of batches.

    Args:
        fits: Which items may be paired.
        called: The batch of each called item; items of one batch stand together.
        expected: The same for the other side.
    """
    rows, columns = _batches(called), _batches(expected)
    head = _common_start(fits, rows, columns)
    rows, columns = rows[len(head) :], columns[len(head) :]
    tail = _common_start(fits, rows[::-1], columns[::-1])
    rows, columns = rows[: len(rows) - len(tail)], columns[: len(columns) - len(tail)]
    return sorted(chain(*head, _middle(fits, rows, columns), *tail))


def _batches(numbers: Sequence[int]) -> list[Batch]:
    grouped = groupby(range(len(numbers)), key=lambda position: numbers[position])
    return [tuple(batch) for _, batch in grouped]


def _common_start(fits: Fits, rows: list[Batch], columns: list[Batch]) -> list[list[Pair]]:
    """The pairs of the first batches, as far as these pair up completely.

    Some largest pairing pairs them so: in any other, items of only one of the two batches are paired further on, as
    pairs from both would cross; putting the complete pairs in their place loses none.
    """
    start: list[list[Pair]] = []
    for row, column in zip(rows, columns, strict=False):
        pairs = _inside(fits, row, column) if len(row) == len(column) else []
        if len(pairs) < len(row):
            break
        start.append(pairs)
    return start


def _inside(fits: Fits, row: Batch, column: Batch) -> list[Pair]:
    if len(row) == len(column) == 1:
        return [(row[0], column[0])] if fits[row[0], column[0]] else []
    return [(row[i], column[j]) for i, j in in_any_order(fits[np.ix_(row, column)])]


def _middle(fits: Fits, rows: list[Batch], columns: list[Batch]) -> list[Pair]:
    if not rows or not columns:
        return []
    if all(len(batch) == 1 for batch in (*rows, *columns)):
        first, other = rows[0][0], columns[0][0]
        rest = fits[first : first + len(rows), other : other + len(columns)]
        return [(first + i, other + j) for i, j in _common_subsequence(rest)]
    return _Stairs(fits, rows, columns).pairs()


def _common_subsequence(fits: Fits) -> list[Pair]:
    """The longest common subsequence, a row at a time."""
    lengths = np.zeros((fits.shape[0] + 1, fits.shape[1] + 1), dtype=np.int32)
    for i, row in enumerate(fits):
        np.maximum.accumulate(np.maximum(lengths[i, 1:], lengths[i, :-1] + row), out=lengths[i + 1, 1:])
    pairs: list[Pair] = []
    i, j = fits.shape
    while i and j:
        if lengths[i, j] == lengths[i - 1, j]:
            i -= 1
        elif lengths[i, j] == lengths[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs


class _State(NamedTuple):
    """A pairing of everything up to one cell of the grid of batches."""

    size: int
    used: frozenset[int]
    """Items of the batch that goes on which are paired already."""
    pairs: list[Pair]
    """The pairs made in the last cell."""
    before: _State | None


class _Stairs:
    """The largest pairing of two sequences of batches.

    Pairs that keep the order lie on a walk through the grid of batches (a row a called batch, a column an expected
    one) that only goes right and down. Going right, the row's batch goes on, and what is used up of it matters;
    going down, the column's. Of all ways to a cell only those are kept that may still win.
    """

    def __init__(self, fits: Fits, rows: list[Batch], columns: list[Batch]) -> None:
        self._rows, self._columns = rows, columns
        self._by_row, self._by_column = _Side(fits), _Side(fits.T)
        self._busy = {(i, j) for i, row in enumerate(rows) for j in _columns_met(fits, row, columns)}

    def pairs(self) -> list[Pair]:
        above: list[list[_State]] = [[] for _ in self._columns]
        left = [_State(0, frozenset(), [], None)]
        for i in range(len(self._rows)):
            for j in range(len(self._columns)):
                through = self._through if (i, j) in self._busy else _past
                left, above[j] = through(i, j, left, above[j])
            left, last = [], left
        return _collected(max(last, key=lambda state: state.size))

    def _through(self, i: int, j: int, left: list[_State], above: list[_State]) -> tuple[list[_State], list[_State]]:
        """The states that leave a cell to the right, and those that leave it downwards."""
        row, column = self._rows[i], self._columns[j]
        right: list[_State] = []
        down: list[_State] = []
        for state in left:
            free = _free(row, state)
            right += [_after(state, pairs, state.used, row=True) for pairs in self._by_row.choices(free, column)]
            down += [_after(state, _turned(pairs)) for pairs in self._by_column.choices(column, free)]
        for state in above:
            free = _free(column, state)
            right += [_after(state, pairs, row=True) for pairs in self._by_row.choices(row, free)]
            down += [_after(state, _turned(pairs), state.used) for pairs in self._by_column.choices(free, row)]
        return _worth_keeping(right), _worth_keeping(down)


class _Side:
    """One side's choices inside a cell."""

    def __init__(self, fits: Fits) -> None:
        self._fits = fits
        # Items that fit the same others stand for each other.
        self._kind = [line.tobytes() for line in fits]

    def choices(self, items: Batch, others: Batch) -> Iterator[list[Pair]]:
        """Largest pairings of a cell, one for every choice of items that can be in one.

        Fewer pairs are never better: the pair given up here brings at most one elsewhere.
        """
        able = tuple(item for item in items if any(self._fits[item, other] for other in others))
        largest = _inside(self._fits, able, others)
        if len(largest) == len(able):
            yield largest
            return
        for chosen in islice(combinations(able, len(largest)), _CHOICES):
            pairs = _inside(self._fits, chosen, others) if self._takes_twins_in_order(chosen, able) else []
            if len(pairs) == len(largest):
                yield pairs

    def _takes_twins_in_order(self, chosen: Batch, able: Batch) -> bool:
        passed_over = set[bytes]()
        for item in able:
            if item not in chosen:
                passed_over.add(self._kind[item])
            elif self._kind[item] in passed_over:
                return False
        return True


def _columns_met(fits: Fits, row: Batch, columns: list[Batch]) -> list[int]:
    met = np.logical_or.reduce(fits[list(row)], axis=0)
    return [j for j, column in enumerate(columns) if met[list(column)].any()]


def _past(_i: int, _j: int, left: list[_State], above: list[_State]) -> tuple[list[_State], list[_State]]:
    """A cell in which nothing fits: what goes on goes on as it is, and a turn starts afresh."""
    right = left + [_after(state, []) for state in above]
    down = above + [_after(state, []) for state in left]
    return _worth_keeping(right), _worth_keeping(down)


def _free(batch: Batch, state: _State) -> Batch:
    return tuple(item for item in batch if item not in state.used)


def _turned(pairs: list[Pair]) -> list[Pair]:
    return [(row, column) for column, row in pairs]


def _after(state: _State, pairs: list[Pair], used: frozenset[int] = frozenset(), *, row: bool = False) -> _State:
    own = 0 if row else 1
    return _State(state.size + len(pairs), used | {pair[own] for pair in pairs}, pairs, state)


def _worth_keeping(states: list[_State]) -> list[_State]:
    """Without those that another state beats whatever comes: even if it gave up its pairs of items they have free."""
    kept: list[_State] = []
    for state in sorted(states, key=lambda state: (-state.size, len(state.used))):
        if not any(other.size - len(other.used - state.used) >= state.size for other in kept):
            kept.append(state)
    return kept


def _collected(state: _State | None) -> list[Pair]:
    pairs: list[Pair] = []
    while state is not None:
        pairs += state.pairs
        state = state.before
    return pairs
