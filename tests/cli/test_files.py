from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from langchain_llm_judge.cli.files import read_json, read_text
from langchain_llm_judge.errors import InputError

TASK = {"task": "Größe 3 → 4?", "steps": []}
TEXT = '{"task": "Größe 3 → 4?", "steps": []}'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_any_unicode_encoding_is_read(tmp_path: Path, encoding: str):
    file = tmp_path / "trace.json"
    file.write_bytes(TEXT.encode(encoding))
    assert read_json(str(file)) == TASK
    assert read_text(str(file)) == TEXT


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_of_either_byte_order(tmp_path: Path, mark: bytes):
    file = tmp_path / "trace.json"
    file.write_bytes(mark + TEXT.encode("utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"))
    assert read_json(str(file)) == TASK


def test_lines_of_json_are_a_list(tmp_path: Path):
    file = tmp_path / "events.jsonl"
    file.write_text('{"a": 1}\n\n[2]\n"three"\n', encoding="utf-8")
    assert read_json(str(file)) == [{"a": 1}, [2], "three"]


def test_line_separators_inside_strings_end_no_line(tmp_path: Path):
    file = tmp_path / "events.jsonl"
    file.write_text('{"a": "x\u2028y"}\r\n{"a": "\x85"}\r\n', encoding="utf-8")
    assert read_json(str(file)) == [{"a": "x\u2028y"}, {"a": "\x85"}]


def test_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf[1]"), encoding="ascii"))
    assert read_json("-") == [1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty; expected JSON"),
        (b"  \n", "is empty; expected JSON"),
        (b'{"task": }', r"is not JSON: Expecting value at line 1 column 10, before '}'"),
        (b"task: x\nsteps: []\n", "is not JSON: Expecting value at line 1 column 1"),
        (b'{"task": "caf\xe9"}', r"is not utf-8 text: byte 13 reads b'\\xe9"),
        (b'{"a": 1', "is not JSON: Expecting ',' delimiter at line 1 column 8, before the end"),
        (b'{"a": 1}\n\n{"a": }\n', "is not JSON: Expecting value at line 3 column 7, before '}'"),
        (b'{"a": NaN}', "it holds NaN, which JSON does not have"),
        (b'{"a": -Infinity}', "it holds -Infinity"),
        (b'{"a": 1e999}', "it holds the number '1e999', which is too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "is not strict JSON: Exceeds the limit"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"\xff\xfea", "is not utf-16 text"),
    ],
)
def test_what_is_no_json_says_where_it_stops_being_it(tmp_path: Path, data: bytes, message: str):
    file = tmp_path / "trace.json"
    file.write_bytes(data)
    with pytest.raises(InputError, match=message) as refused:
        read_json(str(file))
    assert refused.value.field == str(file)


@pytest.mark.parametrize(
    ("place", "message"),
    [("missing.json", "No such file"), (".", "directory"), ("a\0b", "null byte"), ("x" * 5000, "too long")],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, message: str):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"cannot be read: .*{message}"):
        read_json(place)


def test_closed_standard_input_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input cannot be read: it is closed"):
        read_text("-")
