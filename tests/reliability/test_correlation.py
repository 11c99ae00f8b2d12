from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from langchain_llm_judge import InputError, Interval, bootstrap_ci, spearman
from langchain_llm_judge.reliability.correlation import countable_numbers

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, width=32))


def test_ties_share_the_mean_rank():
    # ranks 1.5 1.5 3 against 1 2.5 2.5: centred -.5 -.5 1 and -1 .5 .5; sum of products .75, squares 1.5 and 1.5
    assert spearman([1, 1, 2], [0, 5, 5]) == 0.5


@settings(deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=40))
def test_spearman_equals_scipys(pairs):
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert spearman(a, b) is None
    else:
        assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-9)


def test_full_correlation_is_not_a_hair_off():
    rng = np.random.default_rng(3)
    for size in (5, 10, 101):
        a = rng.normal(size=size)
        assert spearman(a, 2 * a + 1) == 1.0
        assert spearman(a, -a) == -1.0
        assert bootstrap_ci(zip(a, 2 * a, strict=True), spearman) == Interval(1.0, 1.0)


def test_undefined_is_none():
    assert spearman([3, 3, 3], [1, 2, 3]) is None
    assert spearman([1, 2, 3], [2, 2, 2]) is None
    assert spearman([1], [2]) is None
    assert spearman([], []) is None
    assert spearman([1, None, 3], [None, 2, 3]) is None


def test_missing_leaves_out_the_pair():
    assert spearman([1, 2, 3, None, 5], [1, 3, 2, 4, float("nan")]) == spearman([1, 2, 3], [1, 3, 2]) == 0.5


def test_every_kind_of_number_counts_and_nothing_else():
    assert spearman([Decimal("0.1"), Fraction(1, 2), True], [np.float32(1), np.int8(2), 3]) == 1.0
    with pytest.raises(InputError, match=r"a\[1\]='2' is str, expected a number"):
        spearman([1, "2"], [1, 2])
    with pytest.raises(InputError, match=r"b\[0\] is infinite"):
        spearman([1, 2], [float("inf"), 2])
    with pytest.raises(InputError, match="the raters gave 2 and 3 ratings"):
        spearman([1, 2], [1, 2, 3])


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12),
    st.integers(0, 2**32 - 1),
)
def test_correlation_of_counts_is_that_of_the_rows_written_out(pairs, seed):
    a, b = np.array([x for x, _ in pairs], float), np.array([y for _, y in pairs], float)
    sample, statistic = countable_numbers(a, b).counted(np.arange(a.size), None)
    kinds = np.unique(np.stack([a, b], axis=1), axis=0)
    drawn = sample.draw(np.random.default_rng(seed), 7)
    for counts, value in zip(drawn, statistic(drawn), strict=True):
        rows = np.repeat(kinds, counts, axis=0)
        expected = spearman(rows[:, 0], rows[:, 1])
        assert np.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-9)
