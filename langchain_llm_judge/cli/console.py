"""Writing to a console of any encoding, to a pipe, or to a reader that goes away."""

from __future__ import annotations

import codecs
import io
import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, TextIO

from langchain_llm_judge.reports.text import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

_FORGIVING = "llm-judge-console"

_PLAIN_FORMS = str.maketrans({"…": "...", "→": "->", "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"'})
"""What a typographic character becomes on a console that lacks it."""

PIPED_WIDTH = 100
"""Columns of a table that goes to a pipe or file; the variable COLUMNS says otherwise."""


def make_streams_forgiving() -> None:
    """Let both streams write any text: what their encoding lacks comes out in a plain or an escaped form."""
    codecs.register_error(_FORGIVING, _plain_form)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_FORGIVING)


def _plain_form(error: UnicodeError) -> tuple[bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = error.object[error.start : error.end].translate(_PLAIN_FORMS)
    return plain.encode(error.encoding, "backslashreplace"), error.end


def write_json(document: Any) -> None:
    """One strict JSON document on standard output, in whatever encoding that has."""
    from pydantic_core import to_jsonable_python

    text = json.dumps(to_jsonable_python(document), ensure_ascii=not _is_unicode(sys.stdout), allow_nan=False, indent=2)
    _write(sys.stdout, visible(text))


def write_view(view: RenderableType) -> None:
    """Something to read on standard output: colours on a terminal, plain text in a pipe."""
    from rich.console import Console

    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = None if on_terminal else shutil.get_terminal_size((PIPED_WIDTH, 24)).columns
    console = Console(width=width, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(view)
    _write(sys.stdout, "\n".join(line.rstrip() for line in captured.get().splitlines()))


def write_message(text: str) -> None:
    """A message on standard error."""
    _write(sys.stderr, visible(text))


def _is_unicode(stream: TextIO | None) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().startswith("utf")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # the process was started without one
        return
    try:
        stream.write(text + "\n")
        stream.flush()
    except OSError as error:
        # Nothing more can be written there, and the interpreter must not try again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise
