"""Any console encoding, pipes, and readers that go away; in real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HARD = "Grüße → 東京 🙂 “q” … \ud83d end"
PRINTS = f"""
from langchain_llm_judge.cli.console import make_streams_forgiving, write_json, write_message, write_view
from langchain_llm_judge.reports.layout import rows
make_streams_forgiving()
text = {HARD!a}
"""
VIEW = PRINTS + "write_view(rows([(('label', 'red'), text)])); write_message(text)"
DOCUMENT = PRINTS + "write_json({'text': text})"

CONSOLES = [
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "utf-8"},
    {"PYTHONIOENCODING": "utf-16"},
    {"PYTHONIOENCODING": "cp932"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX"},
]
ROOT = Path(__file__).parent.parent.parent

Process = Callable[..., "subprocess.CompletedProcess[bytes]"]


def decoded(data: bytes, console: dict[str, str]) -> str:
    return data.decode(console.get("PYTHONIOENCODING", "utf-8"))


@pytest.mark.parametrize("console", CONSOLES, ids=str)
def test_text_comes_out_on_any_console(process: Process, console: dict[str, str]):
    ran = process("-c", VIEW, environment=console)
    assert ran.returncode == 0, ran.stderr
    for stream in (ran.stdout, ran.stderr):
        text = decoded(stream, console)
        assert "end" in text
        assert "\\ud83d" in text
        assert "\x1b" not in text


@pytest.mark.parametrize("console", CONSOLES, ids=str)
def test_json_is_the_same_document_on_any_console(process: Process, console: dict[str, str]):
    ran = process("-c", DOCUMENT, environment=console)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(decoded(ran.stdout, console)) == {"text": HARD}


def test_json_on_a_terminal_steers_nothing(process: Process):
    source = PRINTS + "write_json(['\\x9b31m', '\\u202e', '\\x1b[2J'])"
    out = process("-c", source, environment={"PYTHONIOENCODING": "utf-8"}).stdout.decode("utf-8")
    assert json.loads(out) == ["\x9b31m", "\u202e", "\x1b[2J"]
    assert out.isascii()


def test_typography_becomes_plain_where_the_console_lacks_it(process: Process):
    ran = process("-c", VIEW, environment={"PYTHONIOENCODING": "ascii"})
    assert b"-> \\u6771\\u4eac" in ran.stdout
    assert b'"q" ... ' in ran.stdout


def test_a_terminal_gets_colours_unless_no_color_is_set(process: Process):
    assert b"\x1b[31mlabel" in process("-c", VIEW, environment={"FORCE_COLOR": "1", "TERM": "xterm"}).stdout
    assert b"\x1b[31m" not in process("-c", VIEW, environment={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout


def test_a_reader_that_goes_away_changes_nothing_but_the_output():
    source = PRINTS + "write_json([text] * 100_000); raise SystemExit(1)"
    with subprocess.Popen(
        [sys.executable, "-c", source],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"[\n"
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /dev/full")
def test_a_full_disk_is_an_error_not_a_traceback_at_exit():
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "langchain_llm_judge.cli", "trace", "convert", "-"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
            input=b'{"task": "x", "steps": []}',
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert ran.returncode == 70
    assert b"No space left" in ran.stderr
    assert ran.stderr.count(b"\n") == 1


def test_closed_streams_are_no_error():
    for closed in ("1>&-", "2>&-", "1>&- 2>&-"):
        ran = subprocess.run(
            ["bash", "-c", f'"$0" -m langchain_llm_judge.cli trace schema {closed}', sys.executable],
            capture_output=True,
            timeout=60,
        )
        assert ran.returncode == 0, (closed, ran.stderr)
