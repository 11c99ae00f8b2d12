from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from langchain_llm_judge import ConfigError, InputError, cohen_kappa

LABELS = ["A", "B", "tie"]


def test_kappa_with_uneven_habits():
    # p_o = 3/4; p_e = 2/4*1/4 + 2/4*3/4 = 1/2; kappa = (3/4 - 1/2) / (1 - 1/2) = 1/2
    assert cohen_kappa(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"]) == 0.5


@pytest.mark.parametrize(
    ("a", "b", "share", "kappa"),
    [
        ([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1], 4 / 6, 1 / 3),
        ([1, 1, 1, 1], [1, 1, 1, 1], 1.0, None),
        ([1] * 10, [1] * 9 + [0], 0.9, 0.0),
        ([True, False], [True, False], 1.0, 1.0),
        (["A", "B"], ["B", "A"], 0.0, -1.0),
        ([1, 1, 1], [0, 0, 0], 0.0, 0.0),
        ([], [], None, None),
    ],
)
def test_f20_kappa_by_hand(a, b, share, kappa):
    assert cohen_kappa(a, b) == (None if kappa is None else pytest.approx(kappa, abs=1e-12))
    if share is not None:
        assert sum(x == y for x, y in zip(a, b, strict=True)) / len(a) == pytest.approx(share)


def test_f20_missing_ratings_stay_missing():
    a = [1, None, 0, 0, 1, 0, float("nan")]
    b = [1, 1, 0, None, 1, 1, 0]
    assert cohen_kappa(a, b) == cohen_kappa([1, 0, 1, 0], [1, 0, 1, 1])
    assert cohen_kappa([None, 1], [1, None]) is None


def test_f20_different_lengths_are_an_error():
    with pytest.raises(InputError, match=r"the raters gave 3 and 2 ratings") as caught:
        cohen_kappa([1, 0, 1], [1, 0])
    assert caught.value.found == (3, 2)
    assert isinstance(caught.value, ValueError)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=2, max_size=60),
    st.sampled_from([None, "linear", "quadratic"]),
)
def test_kappa_equals_scikit_learns(pairs, weights):
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    ours = cohen_kappa(a, b, weights=weights)
    if len({*a, *b}) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(cohen_kappa_score(a, b, weights=weights), abs=1e-12)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=2, max_size=40),
    st.sampled_from(["linear", "quadratic"]),
)
def test_weights_on_a_named_scale_equal_scikit_learns(pairs, weights):
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    scale = [1, 2, 3, 4, 5, 6]
    ours = cohen_kappa(a, b, weights=weights, labels=scale)
    if len({*a, *b}) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(cohen_kappa_score(a, b, weights=weights, labels=scale), abs=1e-12)


def test_a_named_scale_gives_words_their_order():
    a, b = ["low", "mid", "high", "low"], ["mid", "mid", "low", "low"]
    by_word = cohen_kappa(a, b, weights="linear", labels=["low", "mid", "high"])
    assert by_word == cohen_kappa([0, 1, 2, 0], [1, 1, 0, 0], weights="linear")
    assert by_word != cohen_kappa(a, b, weights="linear")  # "high" sorts first


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=30))
def test_kappa_is_symmetric_and_bounded(pairs):
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    kappa = cohen_kappa(a, b)
    assert kappa == cohen_kappa(b, a)
    assert kappa is None or -1 <= kappa <= 1


def test_labels_of_any_kind():
    assert cohen_kappa(np.array([0, 1, 1]), np.array([0, 1, 0])) == cohen_kappa([0, 1, 1], [0, 1, 0])
    assert cohen_kappa(["yes", 1, (2, 3)], ["yes", 1, (2, 3)]) == 1.0
    assert cohen_kappa(iter("ab"), iter("ab")) == 1.0


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ConfigError, match="weights='cubic' is unknown; give None, 'linear' or 'quadratic'"):
        cohen_kappa([1], [1], weights="cubic")
    with pytest.raises(InputError, match="cannot be ranked"):
        cohen_kappa([1, "a"], [1, "b"], weights="linear")
    with pytest.raises(InputError, match="cannot be compared"):
        cohen_kappa([{"a": 1}], [{"a": 1}])
    with pytest.raises(InputError, match=r"label 7 is none of \[1, 2\]"):
        cohen_kappa([1, 7], [1, 2], labels=[1, 2])
