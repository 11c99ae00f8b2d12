"""When two arguments are the same."""

from __future__ import annotations

import datetime
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_llm_judge.checks.equality import value_key

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0, -0.0),
        (10**20, 1e20),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": {"x": [1.0], "y": None}}, {"a": {"y": None, "x": [1]}}),
        ((1, 2), [1, 2]),
        (math.nan, math.nan),
        (math.nan, "NaN"),
        ({1: "x"}, {"1": "x"}),
        ({1: "x", "a": 2}, {"1": "x", "a": 2}),
        (datetime.date(2024, 1, 1), "2024-01-01"),
    ],
)
def test_equal(one, other):
    assert value_key(one) == value_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        (1, "1"),
        (1.0, "1.0"),
        (1, 1.5),
        (None, "null"),
        (None, False),
        ("", None),
        ([1, 2], [2, 1]),
        ([], {}),
        ("a", "A"),
        ("a", "a "),
        (2**53, 2**53 + 1),
        ({"a": None}, {}),
        (math.inf, -math.inf),
        ('{"a": 1}', {"a": 1}),
    ],
)
def test_different(one, other):
    assert value_key(one) != value_key(other)


@given(JSON)
def test_a_value_that_went_through_json_is_the_same(value):
    assert value_key(json.loads(json.dumps(value))) == value_key(value)


def test_values_that_cannot_be_read_break_nothing():
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert value_key(Broken()) != value_key(deep)
    while deep:
        deep = deep.pop()
