from __future__ import annotations

import json

import pytest

from langchain_llm_judge.reports.text import counted, cut, visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain, ünïcode 🙂 東京", "plain, ünïcode 🙂 東京"),
        ("a\tb\nc\r\nd", "a\tb\nc\nd"),
        ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
        ("\x9b31m", "\\u009b31m"),
        ("over\rwritten", "over\\u000dwritten"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud83d", "\\ud83d"),
    ],
)
def test_what_steers_a_terminal_is_made_visible(text: str, seen: str):
    assert visible(text) == seen
    assert visible(seen) == seen


def test_a_json_document_stays_the_same_document():
    value = {"\x9b\u202e": ["\ud800", "\x1b", "\x7f", '"\\']}
    assert json.loads(visible(json.dumps(value, ensure_ascii=False, indent=1))) == value


@pytest.mark.parametrize("length", [0, 1, 20, 40, 100, 10_000])
@pytest.mark.parametrize("limit", [20, 21, 300])
def test_cut_never_lengthens_and_says_what_it_left_out(length: int, limit: int):
    text = "".join(chr(97 + number % 26) for number in range(length))
    shown = cut(text, limit)
    assert len(shown) <= len(text)
    if shown != text:
        start, _, rest = shown.partition(" [")
        told, _, end = rest.partition(" characters] ")
        assert text.startswith(start)
        assert text.endswith(end)
        assert len(start) + int(told.replace(",", "")) + len(end) == length


def test_counted():
    assert [counted(number, "step") for number in (0, 1, 1000)] == ["0 steps", "1 step", "1,000 steps"]
