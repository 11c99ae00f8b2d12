from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_llm_judge import ConfigError, InputError, krippendorff_alpha

LEVELS = ["nominal", "ordinal", "interval", "ratio"]


def test_alpha_by_hand():
    # two raters, three units, values 1 1, 1 2, 2 2: of 6 ratings 3 are 1 and 3 are 2.
    # observed: (0 + 2 + 0) / 6 = 1/3; expected: 2 * 3 * 3 / (6 * 5) = 3/5; alpha = 1 - 5/9
    assert krippendorff_alpha([[1, 1, 2], [1, 2, 2]]) == pytest.approx(4 / 9, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(2, 4).flatmap(
        lambda raters: st.lists(
            st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=raters, max_size=raters), min_size=1, max_size=8
        )
    ),
    st.sampled_from(LEVELS),
)
def test_alpha_equals_the_krippendorff_package(units, level):
    package = pytest.importorskip("krippendorff", reason="the krippendorff package is not installed")
    ratings = [list(row) for row in zip(*units, strict=True)]
    paired = [value for unit in units if sum(v is not None for v in unit) > 1 for value in unit if value is not None]
    ours = krippendorff_alpha(ratings, level=level)
    if len(set(paired)) < 2:
        assert ours is None
        return
    data = np.array([[np.nan if value is None else value for value in row] for row in ratings], float)
    theirs = package.alpha(reliability_data=data, level_of_measurement=level)
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_undefined_is_none():
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([[1, 2, 3]]) is None
    assert krippendorff_alpha([[], []]) is None
    assert krippendorff_alpha([[1, None], [None, 2]]) is None
    assert krippendorff_alpha([[1, 1, 5], [1, 1, None]]) is None


def test_ratings_that_stand_alone_do_not_count():
    assert krippendorff_alpha([[1, 2, 9], [1, 3, None]], level="interval") == krippendorff_alpha(
        [[1, 2], [1, 3]], level="interval"
    )


def test_ordinal_takes_words_that_sort_and_depends_on_order_only():
    words = krippendorff_alpha([["a", "b", "c"], ["a", "c", "c"]], level="ordinal")
    assert words == krippendorff_alpha([[1, 20, 300], [1, 300, 300]], level="ordinal")


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ConfigError, match="level='cardinal' is unknown; give one of 'nominal', 'ordinal'"):
        krippendorff_alpha([[1], [1]], level="cardinal")
    with pytest.raises(InputError, match=r"the raters have \[2, 1\] ratings"):
        krippendorff_alpha([[1, 2], [1]])
    with pytest.raises(InputError, match="'x' is str, expected a number"):
        krippendorff_alpha([["x"], ["y"]], level="interval")
    with pytest.raises(InputError, match="below 0 has no place on a ratio scale"):
        krippendorff_alpha([[-1], [1]], level="ratio")
    with pytest.raises(InputError, match="cannot be ranked"):
        krippendorff_alpha([["a"], [1]], level="ordinal")
