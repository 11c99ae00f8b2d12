"""Any value becomes strict JSON in the stated way, and nothing raises."""

from __future__ import annotations

import enum
import json
import math
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from types import MappingProxyType
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr, model_serializer

from langchain_llm_judge.trace.schema import AgentTrace, ToolCall, ToolResult
from langchain_llm_judge.trace.values import MAX_DEPTH, plain, text_of


class Colour(enum.Enum):
    RED = ("r", 1)


class Level(enum.IntEnum):
    HIGH = 3


class Place(BaseModel):
    city: str = "Paris"
    key: SecretStr = SecretStr("sk-secret")


class Refuses(BaseModel):
    a: int = 1

    @model_serializer
    def fail(self) -> dict[str, int]:
        raise RuntimeError("no")


@dataclass
class Point:
    x: int
    y: list[int]


Pair = namedtuple("Pair", "a b")


class NoRepr:
    def __repr__(self) -> str:
        raise ValueError("no")


class HostileDict(dict):
    def items(self):
        raise RuntimeError("no")


class HostileKey:
    def __str__(self) -> str:
        raise ValueError("no")

    __repr__ = __str__


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"ids": ["A"], "n": None, "b": True, "f": 1.5}, {"ids": ["A"], "n": None, "b": True, "f": 1.5}),
        (math.nan, "NaN"),
        ([math.inf, -math.inf], ["Infinity", "-Infinity"]),
        ([10**5000], [hex(10**5000)]),
        ({1: "a", None: "b", False: "c"}, {"1": "a", "null": "b", "false": "c"}),
        ({1.5: "d", (1, 2): "e"}, {"1.5": "d", "[1, 2]": "e"}),
        ({1: "a", "1": "b", b"1": "c"}, {"1": "a", "1 (2)": "b", "1 (3)": "c"}),
        ({HostileKey(): 1}, {"<HostileKey whose repr fails>": 1}),
        ((1, (2, 3)), [1, [2, 3]]),
        (Pair(1, 2), [1, 2]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (deque([1, 2]), [1, 2]),
        (range(3), [0, 1, 2]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (Colour.RED, ["r", 1]),
        ({Level.HIGH: Level.HIGH}, {"3": 3}),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(1, 2), "01:02:00"),
        (timedelta(seconds=90), "0:01:30"),
        (Decimal("1.10"), "1.10"),
        (Fraction(1, 3), "1/3"),
        (UUID(int=0), "00000000-0000-0000-0000-000000000000"),
        (PurePosixPath("/a/b"), "/a/b"),
        (b"text", "text"),
        (b"\xff\xfe", "//4="),
        (bytearray(b"ab"), "ab"),
        (memoryview(b"ab"), "ab"),
        (Place(), {"city": "Paris", "key": "**********"}),
        (Refuses(), {"a": 1}),
        (Point(1, [2]), {"x": 1, "y": [2]}),
        (np.float64("nan"), "NaN"),
        (np.int64(3), 3),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array(5), 5),
        (ValueError("x"), "ValueError('x')"),
        (NoRepr(), "<NoRepr whose repr fails>"),
        ([NoRepr()], ["<NoRepr whose repr fails>"]),
        ("\ud83d broken \ud83d\ude00", "\ufffd broken 😀"),
        ({"\ud83d": 1}, {"\ufffd": 1}),
    ],
)  # fmt: skip
def test_conversions_as_stated(given: object, expected: object):
    assert plain(given) == expected
    assert json.loads(json.dumps(plain(given), allow_nan=False)) == expected


def test_hostile_container_is_shown():
    assert plain({"a": HostileDict(b=1)}) == {"a": "{'b': 1}"}


def test_cycles_and_shared_values():
    loop: list[object] = [1]
    loop.append({"again": loop})
    shared = [1]
    assert plain(loop) == [1, {"again": "<cycle>"}]
    assert plain([shared, shared]) == [[1], [1]]


def test_depth_is_bounded():
    deep: list[object] = []
    inner = deep
    for _ in range(5000):
        inner.append([])
        inner = inner[0]
    text = json.dumps(plain(deep))
    assert f"<nested deeper than {MAX_DEPTH} levels>" in text
    assert AgentTrace.model_validate_json(AgentTrace(task="t", steps=[ToolCall(name="f", args={"a": deep})]).to_json())


def test_iterators_are_not_consumed():
    items = iter([1, 2])
    assert plain({"it": items})["it"].startswith("<list_iterator")
    assert list(items) == [1, 2]


def test_nothing_is_shared_with_the_value():
    given = {"a": [1, {"b": 2}]}
    made = plain(given)
    made["a"][1]["b"] = 3
    assert given == {"a": [1, {"b": 2}]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("as is", "as is"),
        (None, "null"),
        (False, "false"),
        (0, "0"),
        ("", ""),
        ({"a": "ü"}, '{"a": "ü"}'),
        (datetime(2026, 1, 2), "2026-01-02T00:00:00"),
        (b"raw", "raw"),
        (math.nan, "NaN"),
        ([1, "x"], '[1, "x"]'),
        (NoRepr(), "<NoRepr whose repr fails>"),
    ],
)
def test_text_of_a_value(given: object, expected: str):
    assert text_of(given) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_json_values_stay_as_they_are(value: object):
    assert plain(value) == value


ODD = {"when": datetime(2026, 1, 2), "nan": math.nan, "raw": b"\xff", "odd": NoRepr(), "set": {1}, "n": None}


def test_f06_a_trace_is_strict_json_whatever_is_put_into_it():
    trace = AgentTrace(
        task="t",
        steps=[ToolCall(name="f", args=ODD), ToolResult(content="r", artifact=ODD)],
        metadata=ODD,
    )
    assert json.loads(json.dumps(trace.model_dump(mode="json"), allow_nan=False))
    # Also what is put in afterwards, past the checks of the fields.
    trace.steps[0].args["later"] = ODD
    trace.metadata["later"] = {"deep": [ODD]}
    text = trace.to_json()
    assert "NaN" not in json.dumps(json.loads(text, parse_constant=pytest.fail)).replace('"NaN"', "")
    assert AgentTrace.model_validate_json(text).to_json() == text


def test_f06_results_of_any_value_are_text():
    given = [False, 0, "", {"a": 1}, datetime(2026, 1, 2), Place(), math.nan, b"\xff", NoRepr(), None]
    results = [ToolResult(content=text_of(value)) for value in given]
    assert [result.content for result in results] == [
        "false", "0", "", '{"a": 1}', "2026-01-02T00:00:00", '{"city": "Paris", "key": "**********"}', "NaN", "/w==",
        "<NoRepr whose repr fails>", "null",
    ]  # fmt: skip
