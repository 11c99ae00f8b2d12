from __future__ import annotations

import json
import math
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from langchain_llm_judge.models.replies import (
    Index,
    Level5,
    Reason,
    ReplyFault,
    ReplySchema,
    Score10,
    Winner,
    YesNo,
    fault_of,
    one_per_id,
)


class Scored(ReplySchema):
    score: Score10
    level: Level5 = 1
    reason: Reason = ""


class Answered(ReplySchema):
    correct: YesNo


class Compared(ReplySchema):
    winner: Winner


class Item(ReplySchema):
    call: Index
    correct: YesNo


class Listed(ReplySchema):
    verdicts: list[Item]
    extra: list[Item] | None = None


def code_of(schema: type[BaseModel], value: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        schema.model_validate(value, strict=True)
    return fault_of(caught.value).code


@pytest.mark.parametrize(
    ("given", "read"),
    [(0, 0), (10, 10), (8.0, 8), ("8", 8), (" 8 ", 8), ("8.0", 8), ("+8", 8), ("08", 8), (10.0, 10)],
)
def test_whole_numbers_are_read(given: object, read: int):
    assert Scored.model_validate({"score": given}).score == read


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (11, "out_of_range"),
        (85, "out_of_range"),
        (-3, "out_of_range"),
        (0.9, "out_of_range"),
        (9.99, "out_of_range"),
        ("0.9", "out_of_range"),
        ("12", "out_of_range"),
        (10**400, "out_of_range"),
        (math.inf, "out_of_range"),
        (-math.inf, "out_of_range"),
        (math.nan, "unreadable"),
        (True, "unreadable"),
        (False, "unreadable"),
        (None, "unreadable"),
        ("", "unreadable"),
        ("high", "unreadable"),
        ("8/10", "unreadable"),
        ("8 out of 10", "unreadable"),
        ("8,5", "unreadable"),
        ("nan", "unreadable"),
        ("inf", "unreadable"),
        ("1e1", "unreadable"),
        ("0x8", "unreadable"),
        ("８", "unreadable"),
        ([8], "unreadable"),
        ({"value": 8}, "unreadable"),
    ],
)
def test_what_is_not_on_the_scale_is_refused(given: object, code: str):
    assert code_of(Scored, {"score": given}) == code


@pytest.mark.parametrize(("level", "ok"), [(1, True), (5, True), (0, False), (6, False), (2.5, False)])
def test_levels(level: float, ok: bool):
    if ok:
        assert Scored.model_validate({"score": 1, "level": level}).level == level
    else:
        assert code_of(Scored, {"score": 1, "level": level}) == "out_of_range"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("yes", True),
        ("YES.", True),
        (" Yes", True),
        ("yes, as the passage says", True),
        (True, True),
        ("true", True),
        ("True.", True),
        ("no", False),
        ("No, it says 20", False),
        ("No. Yes would be wrong", False),
        ("no,yes", False),
        (False, False),
        ("FALSE", False),
    ],
)
def test_yes_and_no(given: object, read: bool):
    assert Answered.model_validate({"correct": given}).correct is read


@pytest.mark.parametrize(
    "given",
    [
        "idk",
        "",
        " ",
        None,
        1,
        0,
        "yes and no",
        "yes!",
        "yes: it is",
        "mostly",
        "y",
        "not yes",
        ", yes",
        "yess",
        ["yes"],
    ],
)
def test_everything_else_is_off_the_menu(given: object):
    assert code_of(Answered, {"correct": given}) == "off_menu"


@pytest.mark.parametrize(
    ("given", "read"), [("A", "A"), ("b", "B"), ("Tie.", "tie"), ("TIE", "tie"), ("A, it is shorter", "A")]
)
def test_winners(given: str, read: str):
    assert Compared.model_validate({"winner": given}).winner == read


@pytest.mark.parametrize("given", ["C", "Output A", "A or B", "", None, 1, True, "both"])
def test_winners_off_the_menu(given: object):
    assert code_of(Compared, {"winner": given}) == "off_menu"


@pytest.mark.parametrize(("given", "read"), [(None, ""), ("x\ny", "x\ny"), (3, "3"), (["a"], '["a"]'), ("\ud800", "?")])
def test_reasons_are_words(given: object, read: str):
    assert Scored.model_validate({"score": 1, "reason": given}).reason == read


def test_nested_lists_that_came_as_text_are_read():
    text = json.dumps([{"call": 0, "correct": "no"}])
    assert Listed.model_validate({"verdicts": text, "extra": text}).verdicts == [Item(call=0, correct=False)]
    assert code_of(Listed, {"verdicts": "[none"}) == "unreadable"


def test_the_schema_asks_for_every_field_and_uses_no_keyword_that_providers_refuse():
    schema = Listed.model_json_schema()
    assert schema["required"] == ["verdicts", "extra"]
    text = json.dumps([schema, Scored.model_json_schema(), Compared.model_json_schema()])
    for keyword in ("minimum", "maximum", "default", "pattern", "const", "minLength", "oneOf", "format"):
        assert f'"{keyword}"' not in text
    assert text.count('"additionalProperties": false') == text.count('"type": "object"')


def test_a_schema_gives_the_tool_its_name_and_fields_have_no_titles():
    from langchain_core.utils.function_calling import convert_to_openai_tool

    assert convert_to_openai_tool(Listed)["function"]["name"] == "Listed"
    assert "title" not in Scored.model_json_schema()["properties"]["score"]


def test_the_schema_passes_the_strict_mode_of_openai():
    from openai.lib._pydantic import to_strict_json_schema

    assert to_strict_json_schema(Listed)["properties"]["verdicts"]["items"]


def test_a_fault_names_the_place_and_the_value():
    with pytest.raises(ValidationError) as caught:
        Listed.model_validate({"verdicts": [{"call": 0, "correct": "idk"}]})
    assert str(fault_of(caught.value)) == 'verdicts.0.correct: \'idk\' is not "yes" or "no"'


def item(call: int, correct: bool = True) -> Item:
    return Item(call=call, correct=correct)


def test_one_verdict_per_id():
    given = [item(1), item(0), item(1)]
    assert one_per_id(given, range(2), lambda verdict: verdict.call, "call") == [item(0), item(1)]


@pytest.mark.parametrize(
    ("given", "count", "code", "message"),
    [
        ([item(0)], 2, "wrong_count", "call 1 has no verdict (1 given for 2)"),
        ([item(0), item(1), item(7)], 2, "wrong_count", "call 7 does not exist (3 given for 2)"),
        ([], 1, "wrong_count", "call 0 has no verdict (0 given for 1)"),
        ([item(0), item(0, False)], 1, "ambiguous", "call 0 has two different verdicts; give one"),
    ],
)
def test_verdicts_that_do_not_fit_the_ids(given: list[Item], count: int, code: str, message: str):
    with pytest.raises(ReplyFault) as caught:
        one_per_id(given, range(count), lambda verdict: verdict.call, "call")
    assert (caught.value.code, str(caught.value)) == (code, message)
