"""Datasets: rows to judge, from lists, JSONL, CSV and LangSmith examples, refused before any call is spent."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from langchain_llm_judge.errors import DatasetError, shown
from langchain_llm_judge.trace.values import plain


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
    for number, line in enumerate(text.splitlines(), start=1):
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
    reader = csv.DictReader(text.splitlines(keepends=True), strict=True)
    try:
        for fields in reader:
            place = Place(str(path), reader.line_num)
            if None in fields or None in fields.values():
                raise DatasetError(
                    f"{place} has another number of cells than the header; found {shown(list(fields.values()))}",
                    path=str(path),
                    line=reader.line_num,
                )
            yield dict(fields), place
    except csv.Error as error:
        raise DatasetError(
            f"{path} line {reader.line_num} is no CSV: {error}", path=str(path), line=reader.line_num
        ) from error


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
        if _has_nan(value):
            raise DatasetError(
                f"{place}: field {name!r} holds NaN or infinity; leave a missing value out",
                path=place.path,
                line=place.line,
                field=str(name),
            )
    inputs = {str(name): value for name, value in fields.items()}
    identifier = inputs.get("id")
    return Row(content_hash(inputs) if identifier in (None, "") else str(identifier), inputs, place)


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(map(_has_nan, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_nan, value))


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
        if earlier is not None and "id" in row.inputs:
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
