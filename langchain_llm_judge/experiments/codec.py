"""Results as strict JSON and back, equal to what they were.

Every pydantic object is written with the name of its class; only classes of this package are read
back, so a store can never make Python import something else.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from pydantic import BaseModel

from langchain_llm_judge.errors import StoreError, shown
from langchain_llm_judge.trace.schema import AgentTrace

_PACKAGE = "langchain_llm_judge."
_TYPE, _VALUE = "$type", "$value"
_MAPPING = "mapping"
"""Stands for a class where a mapping has these two keys itself: data must never choose what is imported."""


def _refused(value: Any) -> NoReturn:
    raise TypeError(f"{type(value).__name__} is no JSON value")


def to_json(value: Any, *, foreign: Callable[[Any], Any] = _refused) -> str:
    """A result, a row's inputs or any JSON value as strict JSON.

    Args:
        value: What to write.
        foreign: Makes a JSON value of an object that is neither a result nor JSON; refused by default.

    Raises:
        StoreError: It holds NaN, infinity, or something that is no JSON value.
    """
    try:
        text = json.dumps(_encoded(value, foreign), ensure_ascii=False, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{shown(value)} cannot be stored: {error}; store JSON values and results only") from error
    # No database takes lone surrogates; escaped, they are read back as they were.
    return re.sub("[\ud800-\udfff]", lambda lone: f"\\u{ord(lone[0]):04x}", text)


def from_json(text: str) -> Any:
    """The value that `to_json` wrote.

    Raises:
        StoreError: The text names a class that this version does not have.
    """
    return _decoded(json.loads(text))


def _encoded(value: Any, foreign: Callable[[Any], Any]) -> Any:
    if isinstance(value, AgentTrace):
        return {_TYPE: _name(value), _VALUE: value.model_dump(mode="json")}
    if isinstance(value, BaseModel) and type(value).__module__.startswith(_PACKAGE):
        fields = {name: _encoded(getattr(value, name), foreign) for name in type(value).model_fields}
        return {_TYPE: _name(value), _VALUE: fields}
    if isinstance(value, Mapping):
        fields = {str(key): _encoded(item, foreign) for key, item in value.items()}
        return {_TYPE: _MAPPING, _VALUE: fields} if set(fields) == {_TYPE, _VALUE} else fields
    if isinstance(value, list | tuple):
        return [_encoded(item, foreign) for item in value]
    return value if value is None or isinstance(value, str | int | float) else foreign(value)


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {_TYPE, _VALUE}:
            if value[_TYPE] != _MAPPING:
                return _revived(value[_TYPE], value[_VALUE])
            value = value[_VALUE]
        return {key: _decoded(item) for key, item in value.items()}
    return [_decoded(item) for item in value] if isinstance(value, list) else value


def _name(value: BaseModel) -> str:
    return f"{type(value).__module__.removeprefix(_PACKAGE)}:{type(value).__qualname__}"


def _revived(name: str, value: Any) -> BaseModel:
    module, _, class_name = name.partition(":")
    try:
        kind = getattr(importlib.import_module(_PACKAGE + module), class_name)
    except (ImportError, AttributeError) as error:
        raise StoreError(f"the store holds a {shown(name)}, which this version does not know") from error
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        raise StoreError(f"the store holds a {shown(name)}, which is no result")
    return kind.model_validate(value if issubclass(kind, AgentTrace) else _decoded(value))
