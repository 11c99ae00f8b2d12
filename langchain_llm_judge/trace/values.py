"""Any Python value as a JSON value, and any value as the text a model would have seen.

Nothing is lost silently and nothing raises; each conversion is stated in `plain`.
"""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from ipaddress import IPv4Address, IPv6Address
from typing import Any, TypeAlias
from uuid import UUID

from pydantic import BaseModel, SecretBytes, SecretStr

from langchain_llm_judge.errors import shown

JSONValue: TypeAlias = "bool | int | float | str | list[JSONValue] | dict[str, JSONValue] | None"

MAX_DEPTH = 100
"""Levels of nesting that are kept. JSON readers stop at about 200, and a trace adds some of its own."""

# Python refuses to write an integer of more than 4300 digits; 2**14000 has 4215.
_MAX_BITS = 14_000
_SHOWN_OBJECT = 500
_AS_TEXT = (timedelta, Decimal, Fraction, UUID, complex, IPv4Address, IPv6Address, SecretStr, SecretBytes)


def plain(value: object) -> Any:
    """A new value of JSON's own types that says the same, whatever was given.

    - Text, whole numbers, `True`, `False`, `None` and finite numbers stay; lone surrogates in a text become U+FFFD.
    - NaN and the infinities: the texts `NaN`, `Infinity`, `-Infinity`.
    - Whole numbers of more than some 4,200 digits: their hexadecimal text.
    - Mappings: an object in the same order. Keys that are no text become text as JSON writes it (`null`, `true`, `1`);
      a key that is taken already gets ` (2)`.
    - Lists, tuples, ranges and other sequences: an array. Sets: an array, sorted by its JSON text.
    - Pydantic models and dataclasses: an object of their fields. Enum members: their value.
    - Dates and times: ISO 8601. Durations, `Decimal`, `Fraction`, `complex`, UUIDs, IP addresses, paths: their text.
    - Bytes: their text where it is UTF-8, else base64.
    - numpy arrays and numbers: an array, a number.
    - Secrets: their mask. Exceptions, functions, anything else: its `repr`, cut at 500 characters; its class name where
      `repr` fails.
    - An object inside itself: `<cycle>`. What lies more than 100 levels deep: `<nested deeper than 100 levels>`.

    Iterators are shown, not consumed. The value given is never changed and shares nothing with the result.

    Example:
        >>> plain({1: (2, float("nan")), "when": date(2026, 1, 2)})
        {'1': [2, 'NaN'], 'when': '2026-01-02'}
    """
    return _plain(value, set())


def text_of(value: object) -> str:
    """The text a model sees of a tool's output or a state's value.

    Text is itself. Everything else is the JSON of `plain(value)`, non-ASCII kept, so `None` is
    `null`, `False` is `false` and a dict is a JSON object; what `plain` turns into a text (a date, bytes, NaN) is
    that text without quotes.

    Example:
        >>> text_of({"city": "Zürich", "temp": 21}), text_of(None), text_of("as is")
        ('{"city": "Zürich", "temp": 21}', 'null', 'as is')
    """
    value = plain(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(value: Any, above: set[int]) -> Any:
    kind = type(value)
    if kind is str:
        return value if value.isascii() else clean(value)
    if value is None or kind is bool:
        return value
    if kind is dict or kind is list:
        return _nested(value, above)
    convert = _BY_TYPE.get(kind)
    if convert is not None:
        return convert(value)
    return _nested(value, above) if _is_container(value) else _atom(value)


def _nested(value: Any, above: set[int]) -> Any:
    """A container's items, guarded against cycles and against depth."""
    mark = id(value)
    if mark in above:
        return "<cycle>"
    if len(above) >= MAX_DEPTH:
        return f"<nested deeper than {MAX_DEPTH} levels>"
    above.add(mark)
    try:
        return _items(value, above)
    except Exception:  # a hostile container: its methods raise
        return _representation(value)
    finally:
        above.discard(mark)


def _items(value: Any, above: set[int]) -> Any:
    kind = type(value)
    if kind is list or kind is tuple:
        return [_plain(item, above) for item in value]
    if kind is dict or isinstance(value, Mapping):
        return _object(value.items(), above)
    if isinstance(value, Set):
        return sorted((_plain(item, above) for item in value), key=json.dumps)
    if isinstance(value, BaseModel):
        return _object(_model_fields(value), above)
    if is_dataclass(value):
        return _object(((field.name, getattr(value, field.name)) for field in fields(value)), above)
    if isinstance(value, Sequence):
        return [_plain(item, above) for item in value]
    return _plain(value.tolist(), above)


def _object(pairs: Iterable[tuple[Any, Any]], above: set[int]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, item in pairs:
        name = key if type(key) is str and key.isascii() else _key(key)
        if name in result:
            name = _free(name, result)
        # Most items are short texts: a call saved for each is half the time of a trace.
        kind = type(item)
        result[name] = item if (kind is str and item.isascii()) or kind is bool else _plain(item, above)
    return result


def _key(key: Any) -> str:
    key = key.value if isinstance(key, Enum) else key
    return text_of(key)


def _free(name: str, taken: Mapping[str, Any]) -> str:
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


def _model_fields(model: BaseModel) -> list[tuple[str, Any]]:
    try:
        return list(model.model_dump().items())
    except Exception:  # a serializer of the model raises, or the model contains itself
        return list(model)


def _is_container(value: Any) -> bool:
    if isinstance(value, str | bytes | bytearray | memoryview | type | Enum | SecretStr | SecretBytes):
        return False
    if isinstance(value, Mapping | Sequence | Set | BaseModel) or is_dataclass(value):
        return True
    return callable(getattr(value, "tolist", None))


def _atom(value: Any) -> Any:
    if isinstance(value, Enum):
        return plain(value.value)
    for kind, convert in _BY_BASE:
        if isinstance(value, kind):
            try:
                return convert(value)
            except Exception:
                return _representation(value)
    return _representation(value)


def _representation(value: object) -> str:
    return clean(shown(value, _SHOWN_OBJECT))


def clean(text: str) -> str:
    """The text without lone surrogates, which neither JSON nor UTF-8 can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _integer(value: int) -> int | str:
    value = int(value)
    return value if value.bit_length() <= _MAX_BITS else hex(value)


def _number(value: float) -> float | str:
    value = float(value)
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _bytes(value: bytes | bytearray | memoryview) -> str:
    raw = bytes(value)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode("ascii")


def _iso(value: date | time) -> str:
    return value.isoformat()


_BY_TYPE: dict[type, Callable[[Any], Any]] = {
    int: _integer,
    float: _number,
    bytes: _bytes,
    datetime: _iso,
    date: _iso,
    time: _iso,
}
"""The common types, found by one look-up."""

_BY_BASE: list[tuple[Any, Callable[[Any], Any]]] = [
    (str, lambda value: clean(str.__str__(value))),
    (int, _integer),
    (float, _number),
    (bytes | bytearray | memoryview, _bytes),
    (date | time, _iso),
    (_AS_TEXT, lambda value: clean(str(value))),
    (os.PathLike, lambda value: clean(str(os.fspath(value)))),
]
"""Subclasses of the above, and what has a text of its own."""
