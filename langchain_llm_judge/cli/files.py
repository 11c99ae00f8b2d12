"""Reading the FILEs a command is given; `-` is standard input."""

from __future__ import annotations

import codecs
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from langchain_llm_judge.errors import InputError, TraceError, shown

if TYPE_CHECKING:
    from langchain_llm_judge.trace.schema import AgentTrace

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; UTF-32 comes first, as its little-endian mark begins with that of UTF-16."""


def read_text(file: str) -> str:
    """The text of a file in UTF-8, or in UTF-16 or UTF-32 with a byte order mark, as Windows shells write them.

    Raises:
        InputError: It is not there, cannot be read, or is in another encoding.
    """
    name, data = _read_bytes(file)
    encoding = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        seen = shown(data[error.start : error.start + 12])
        raise InputError(
            f"{name} is not {encoding} text: byte {error.start} reads {seen}; save it as UTF-8", field=file
        ) from None


def read_json(file: str) -> Any:
    """The JSON value of a file, or the list of the values in a file with one value a line.

    Raises:
        InputError: The file cannot be read, or is no strict JSON; the message says where it stops being JSON.
    """
    text = read_text(file)
    name = _name(file)
    if not text.strip():
        raise InputError(f"{name} is empty; expected JSON", field=file)
    try:
        return _parsed_lines(text) if _has_a_value_a_line(text) else _parse(text)
    except RecursionError:
        raise InputError(f"{name} is nested too deeply to be read as JSON", field=file) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        seen = shown(error.doc[error.pos : error.pos + 40]) if error.pos < len(error.doc) else "the end"
        raise InputError(f"{name} is not JSON: {error.msg} at {where}, before {seen}", field=file) from None
    except ValueError as error:
        raise InputError(f"{name} is not strict JSON: {error}", field=file) from None


def read_trace(file: str, **hints: Any) -> AgentTrace:
    """The trace that a file holds, or that its messages, state, events or run tree make.

    Args:
        file: JSON in any form `to_trace` takes.
        hints: Where to look in it; those of `to_trace`.

    Raises:
        InputError: The file cannot be read, or is no JSON.
        TraceError: No trace can be made of it.
    """
    from langchain_llm_judge.trace.convert import to_trace

    source = read_json(file)
    try:
        return to_trace(source, **hints)
    except TraceError as error:
        if error.source != "trace":
            error.add_note("Such hints are options of: llm-judge trace convert (--task, --messages-key, --turn ...)")
        raise


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse, parse_float=_finite)


def _has_a_value_a_line(text: str) -> bool:
    first, _, rest = text.strip().partition("\n")
    try:
        _parse(first)
    except (ValueError, RecursionError):
        return False
    return bool(rest)


def _parsed_lines(text: str) -> list[Any]:
    # Not `splitlines`: it also splits at separators that may stand inside a JSON string.
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(_parse(line))
            except json.JSONDecodeError as error:
                error.lineno = number
                raise
    return values


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"it holds {constant}, which JSON does not have; use null")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"it holds the number {shown(digits)}, which is too large")
    return number


def _read_bytes(file: str) -> tuple[str, bytes]:
    name = _name(file)
    try:
        return name, _stdin_bytes() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{name} cannot be read: {reason}; give a file's path, or - for standard input", field=file
        ) from None


def _stdin_bytes() -> bytes:
    if sys.stdin is None:
        raise OSError("it is closed")
    return sys.stdin.buffer.read()


def _name(file: str) -> str:
    return "standard input" if file == "-" else shown(file)
