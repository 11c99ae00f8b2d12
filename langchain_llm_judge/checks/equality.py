"""When two arguments are the same.

As JSON values: objects whatever the order of their keys, lists in order, text exactly. A number equals a number
of the same value (`1` and `1.0`), but never a boolean (`1` and `true`) and never a text (`1` and `"1"`). What is no
JSON is read as a trace keeps it (`trace.values.plain`): a tuple as a list, a date as its ISO text.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_llm_judge.trace.values import plain


def value_key(value: Any) -> str:
    """A text that is the same for equal values and differs for others, so that values can be hashed."""
    try:
        return _text(value)
    except (TypeError, ValueError, RecursionError):
        return _text(plain(value))


def _text(value: Any) -> str:
    return _ENCODER.encode(_without_whole_floats(value))


_ENCODER = json.JSONEncoder(sort_keys=True, allow_nan=False)


def _without_whole_floats(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if isinstance(value, dict):
        return {key: _without_whole_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_whole_floats(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
