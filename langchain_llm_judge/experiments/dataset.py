"""Datasets: rows to judge, from lists, JSONL, CSV and LangSmith examples, refused before any call is spent."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from langchain_llm_judge.errors import DatasetError, shown
from langchain_llm_judge.trace.values import plain

_csv_limit = threading.Lock()


class Place(NamedTuple):
    """Where a row stands, for messages."""

    path: str | None
    line: int | None
    """Line of the file, or number of the row, from 1."""

    def __str__(self) -> str:
        return f"{self.path} line {self.line}" if self.path else f"row {self.line}"


@dataclass(frozen=True)
class Row:
    """One row of a dataset."""

    key: str
    """Its `id`, else a hash of its content."""
    inputs: dict[str, Any]
    place: Place


def read_dataset(source: Any) -> list[Row]:
    """The rows of a dataset.

    Args:
        source: Dicts; the path of a `.jsonl` or `.csv` file; or LangSmith examples (`inputs`, `outputs`, `id`),
            whose `outputs` become the reference.

    Raises:
        DatasetError: It cannot be read or holds no rows; a row is no object, holds NaN, or has the id of another.
    """
    given = _from_file(Path(source)) if isinstance(source, str | Path) else _from_list(source)
    rows = [_row(fields, place) for fields, place in given]
    if not rows:
        raise DatasetError(f"{shown(source)} holds no rows; give at least one", path=_path(source))
    return _without_repeats(rows)


def _path(source: Any) -> str | None:
    return str(source) if isinstance(source, str | Path) else None


def _from_file(path: Path) -> Iterator[tuple[Any, Place]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(
            f"{path} cannot be read ({type(error).__name__}); give a UTF-8 file of JSON lines or CSV", path=str(path)
        ) from error
    if path.suffix.lower() == ".csv":
        return _from_csv(path, text)
    return _from_jsonl(path, text)


def _from_jsonl(path: Path, text: str) -> Iterator[tuple[Any, Place]]:
    # Not `splitlines`: it also splits at separators that may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield json.loads(line), Place(str(path), number)
        except ValueError as error:
            raise DatasetError(
                f"{path} line {number} is no JSON object: {shown(line)}; expected one object a line",
                path=str(path),
                line=number,
            ) from error


def _from_csv(path: Path, text: str) -> Iterator[tuple[Any, Place]]:
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        with _cells_up_to(len(text)):
            rows = [(fields, Place(str(path), reader.line_num)) for fields in reader]
    except csv.Error as error:
        raise DatasetError(
            f"{path} line {reader.line_num} is no CSV: {error}", path=str(path), line=reader.line_num
        ) from error
    for fields, place in rows:
        if None in fields or None in fields.values():
            raise DatasetError(
                f"{place} has another number of cells than the header; found {shown(list(fields.values()))}",
                path=place.path,
                line=place.line,
            )
        yield fields, place


@contextmanager
def _cells_up_to(size: int) -> Iterator[None]:
    """Let the csv module read large cells, such as whole documents; its limit is the process's, so it is put back."""
    with _csv_limit:
        usual = csv.field_size_limit()
        csv.field_size_limit(max(usual, size))
        try:
            yield
        finally:
            csv.field_size_limit(usual)


def _from_list(source: Any) -> Iterator[tuple[Any, Place]]:
    if not isinstance(source, Iterable) or isinstance(source, Mapping | bytes):
        raise DatasetError(
            f"a dataset is a list of dicts, a path, or LangSmith examples; got {type(source).__name__}: {shown(source)}"
        )
    for number, row in enumerate(source, start=1):
        yield _example_fields(row), Place(None, number)


def _example_fields(row: Any) -> Any:
    """A LangSmith example as a row; anything else as it is."""
    inputs = getattr(row, "inputs", None)
    if not isinstance(inputs, Mapping):
        return row
    outputs = getattr(row, "outputs", None) or {}
    reference = next(iter(outputs.values())) if len(outputs) == 1 else dict(outputs)
    known = {"id": str(row.id)} if getattr(row, "id", None) is not None else {}
    return {**inputs, **({"reference": reference} if outputs else {}), **known}


def _row(fields: Any, place: Place) -> Row:
    if not isinstance(fields, Mapping):
        raise DatasetError(
            f"{place} is {type(fields).__name__}, expected an object: {shown(fields)}", path=place.path, line=place.line
        )
    for name, value in fields.items():
        if has_nan(value):
            raise DatasetError(
                f"{place}: field {name!r} holds NaN or infinity; leave a missing value out",
                path=place.path,
                line=place.line,
                field=str(name),
            )
    inputs = {str(name): value for name, value in fields.items()}
    return Row(str(inputs["id"]) if _has_id(inputs) else content_hash(inputs), inputs, place)


def _has_id(inputs: Mapping[str, Any]) -> bool:
    return inputs.get("id") not in (None, "")


def has_nan(value: Any) -> bool:
    """Whether a value holds a number that is none."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(map(has_nan, value.values()))
    return isinstance(value, list | tuple) and any(map(has_nan, value))


def content_hash(value: Any) -> str:
    """A hash of a value's content: equal for equal values, whatever the order of their keys."""
    text = json.dumps(plain(value), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _without_repeats(rows: Sequence[Row]) -> list[Row]:
    """Identical rows without an id are told apart by number; one id with two contents is refused."""
    seen: dict[str, Row] = {}
    counts: dict[str, int] = {}
    for row in rows:
        earlier = seen.get(row.key)
        if earlier is not None and _has_id(row.inputs):
            raise DatasetError(
                f"{row.place}: id {row.key!r} stands at {earlier.place} already; give every row an id of its own",
                path=row.place.path,
                line=row.place.line,
                field="id",
            )
        counts[row.key] = counts.get(row.key, 0) + 1
        key = row.key if earlier is None else f"{row.key}-{counts[row.key]}"
        seen[key] = Row(key, row.inputs, row.place)
    return list(seen.values())
