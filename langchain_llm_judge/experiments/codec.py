"""Results as strict JSON and back, equal to what they were.

Every pydantic object is written with the name of its class; only classes of this package are read
back, so a store can never make Python import something else.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from langchain_llm_judge.errors import StoreError, shown
from langchain_llm_judge.trace.schema import AgentTrace

_PACKAGE = "langchain_llm_judge."
_TYPE, _VALUE = "$type", "$value"


def to_json(value: Any) -> str:
    """A result, a row's inputs or any JSON value as strict JSON.

    Raises:
        StoreError: It holds NaN, infinity, or something that is no JSON value.
    """
    try:
        return json.dumps(_encoded(value), ensure_ascii=False, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{shown(value)} cannot be stored: {error}; store JSON values and results only") from error


def from_json(text: str) -> Any:
    """The value that `to_json` wrote.

    Raises:
        StoreError: The text names a class that this version does not have.
    """
    return _decoded(json.loads(text))


def _encoded(value: Any) -> Any:
    if isinstance(value, AgentTrace):
        return {_TYPE: _name(value), _VALUE: value.model_dump(mode="json")}
    if isinstance(value, BaseModel):
        fields = {name: _encoded(getattr(value, name)) for name in type(value).model_fields}
        return {_TYPE: _name(value), _VALUE: fields}
    if isinstance(value, Mapping):
        return {str(key): _encoded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(item) for item in value]
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {_TYPE, _VALUE}:
            return _revived(value[_TYPE], value[_VALUE])
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
