"""The largest pairing, against trying everything."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_llm_judge.checks.alignment import in_any_order, in_order


def matrix(rows: list[list[int]]) -> np.ndarray:
    return np.array(rows, dtype=bool)


@st.composite
def problems(draw, most: int = 5):
    """Which items fit, and the batch of each item on both sides."""
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    if draw(st.booleans()):
        fits = draw(st.lists(st.lists(st.booleans(), min_size=m, max_size=m), min_size=n, max_size=n))
    else:
        one, other = (draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)) for size in (n, m))
        fits = [[a == b for b in other] for a in one]
    called, expected = (np.cumsum(draw(st.lists(st.integers(0, 1), min_size=k, max_size=k))).tolist() for k in (n, m))
    return matrix(fits), called, expected


def arrangements(batches: list[int]) -> Iterator[list[int]]:
    """All orders of the items that keep the order of their batches."""
    groups = [[i for i, batch in enumerate(batches) if batch == number] for number in sorted(set(batches))]
    for chosen in product(*map(permutations, groups)):
        yield [item for group in chosen for item in group]


def common_subsequence(fits, rows: list[int], columns: list[int]) -> int:
    """Textbook length of the longest common subsequence."""
    table = [[0] * (len(columns) + 1) for _ in range(len(rows) + 1)]
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j], table[i][j] + int(fits[row, column]))
    return table[-1][-1]


@settings(deadline=None, max_examples=300)
@given(problems())
def test_in_order_is_as_large_as_the_best_arrangement(problem):
    fits, called, expected = problem
    pairs = in_order(fits, called, expected)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    assert all(fits[i, j] for i, j in pairs)
    assert not any(called[i] < called[k] and expected[j] > expected[n] for i, j in pairs for k, n in pairs)
    best = max(common_subsequence(fits, a, b) for a in arrangements(called) for b in arrangements(expected))
    assert len(pairs) == best


@settings(deadline=None, max_examples=200)
@given(problems(most=6))
def test_in_any_order_is_as_large_as_can_be(problem):
    fits, _, _ = problem
    small = fits if fits.shape[0] <= fits.shape[1] else fits.T
    best = max(
        sum(bool(small[i, j]) for i, j in enumerate(chosen))
        for chosen in permutations(range(small.shape[1]), len(small))
    )
    pairs = in_any_order(fits)
    assert len(pairs) == best
    assert all(fits[i, j] for i, j in pairs)


def test_size_comes_before_likeness():
    # Pairing 0 with its like 0 would leave 1 alone.
    assert sorted(in_any_order(matrix([[1, 1], [1, 0]]), matrix([[1, 0], [0, 0]]))) == [(0, 1), (1, 0)]
    assert sorted(in_any_order(matrix([[1, 1], [1, 1]]), matrix([[0, 1], [0, 0]]))) == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    "batches", [lambda n: list(range(n)), lambda n: [i // 3 for i in range(n)]], ids=["single", "threes"]
)
@pytest.mark.parametrize("kinds", [3, 30])
def test_long_sides_take_seconds_at_most(batches, kinds):
    random = np.random.default_rng(1)
    n = 150
    fits = random.integers(0, kinds, n)[:, None] == random.integers(0, kinds, n)[None, :]
    start = time.process_time()
    in_order(fits, batches(n), batches(n))
    assert time.process_time() - start < 5


def test_equal_sides_take_no_search():
    n = 3_000
    fits = np.eye(n, dtype=bool)
    fits[0, :] = fits[:, 0] = True
    start = time.process_time()
    assert len(in_order(fits, [i // 2 for i in range(n)], [i // 2 for i in range(n)])) == n
    assert time.process_time() - start < 2
