"""When two arguments are the same.

As JSON values: objects whatever the order of their keys, lists in order, text exactly. A number equals a number
of the same value (`1` and `1.0`), but never a boolean (`1` and `true`) and never a text (`1` and `"1"`). A tuple
is a list, a key that is no text is read as its text; a value JSON does not know is compared by type and `repr`.
"""

from __future__ import annotations

import json
from typing import Any


def value_key(value: Any) -> str:
    """A text that is the same for equal values and differs for others, so that values can be hashed."""
    try:
        return json.dumps(_plain(value), sort_keys=True, default=_foreign)
    except RecursionError:
        return f"<too deep to compare, object {id(value)}>"


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _foreign(value: Any) -> str:
    try:
        return f"<{type(value).__qualname__}> {value!r}"
    except Exception:
        return f"<{type(value).__qualname__}, object {id(value)}>"
