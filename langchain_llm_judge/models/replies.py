"""The words and numbers a judge may reply with, and nothing else.

Each scale is declared once, as an annotated field type, and enforced on every path: a value that is
not offered raises `ReplyFault` with its code and is never read as the nearest or the lenient one.
The JSON schemas that providers see use only keywords that none of them refuses; the rest of a
scale is said in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from langchain_llm_judge.errors import ReplyCode, shown

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_WHOLE = re.compile(r"\s*([+-]?[0-9]{1,15})(?:\.0+)?\s*")
_NUMBER = re.compile(r"\s*[+-]?[0-9]+(?:\.[0-9]+)?\s*")
_WORD = re.compile(r"\s*([^\s,.]+)\s*(?:[,.].*)?", re.DOTALL)
_YES_NO = {"yes": True, "true": True, "no": False, "false": False}
_WINNERS: dict[str, Literal["A", "B", "tie"]] = {"a": "A", "b": "B", "tie": "tie"}


class ReplyFault(Exception):
    """A reply that gives no verdict; the message is also what the judge is shown when asked again.

    Not a `ValueError`, so that no parser on the way takes it for its own.
    """

    def __init__(self, message: str, code: ReplyCode = "unreadable") -> None:
        super().__init__(message)
        self.code: ReplyCode = code


def whole_number(low: int, high: int) -> Callable[[object], int]:
    """A reader of whole numbers from `low` to `high`: 8, 8.0 and "8" are read; true, 0.9, 12, "8/10" are not."""
    scale = f"a whole number from {low} to {high}"

    def read(value: object) -> int:
        number = _as_number(value)
        if number is None:
            raise _refused("unreadable", value, scale)
        if number != number // 1 or not low <= number <= high:
            raise _refused("out_of_range", value, scale)
        return int(number)

    return read


def _as_number(value: object) -> int | float | None:
    if isinstance(value, str):
        whole = _WHOLE.fullmatch(value)
        if whole:
            return int(whole[1])
        return float(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return value


def _yes_no(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = _first_word(value)
    if word not in _YES_NO:
        raise _refused("off_menu", value, '"yes" or "no"')
    return _YES_NO[word]


def _winner(value: object) -> Literal["A", "B", "tie"]:
    word = _first_word(value)
    if word not in _WINNERS:
        raise _refused("off_menu", value, '"A", "B" or "tie"')
    return _WINNERS[word]


def _first_word(value: object) -> str:
    """The word that is all of a text, or all of it up to a comma or full stop; "" for anything else."""
    word = _WORD.fullmatch(value) if isinstance(value, str) else None
    return word[1].casefold() if word else ""


def _words(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    # Lone surrogates are no text: nothing could store or send them.
    return text.encode("utf-8", "replace").decode()


def _refused(code: ReplyCode, value: object, accepted: str) -> PydanticCustomError:
    return PydanticCustomError(code, "{seen} is not {accepted}", {"seen": shown(value), "accepted": accepted})


Score10 = Annotated[
    int,
    BeforeValidator(whole_number(0, 10)),
    WithJsonSchema({"type": "integer", "description": "whole number from 0 to 10"}),
]
"""A score on the scale of the score judges; `score / 10` is the public score."""

Level5 = Annotated[
    int,
    BeforeValidator(whole_number(1, 5)),
    WithJsonSchema({"type": "integer", "description": "whole number from 1 to 5"}),
]
"""One of five anchored levels; `(level - 1) / 4` is the public score."""

Index = Annotated[
    int,
    BeforeValidator(whole_number(0, 10**9)),
    WithJsonSchema({"type": "integer"}),
]
"""A position, counted from 0."""

YesNo = Annotated[
    bool,
    BeforeValidator(_yes_no),
    WithJsonSchema({"type": "string", "enum": ["yes", "no"]}),
]
"""`"yes"` and `"no"` as `True` and `False`; true and false are read too; words after a comma or full stop are not."""

Winner = Annotated[
    Literal["A", "B", "tie"],
    BeforeValidator(_winner),
    WithJsonSchema({"type": "string", "enum": ["A", "B", "tie"]}),
]
"""The better of two outputs."""

Reason = Annotated[str, BeforeValidator(_words), WithJsonSchema({"type": "string"})]
"""Free words; kept byte for byte. Give it the default `""`: a verdict without words is still a verdict."""


def _as_providers_take_it(schema: dict[str, Any]) -> None:
    """Every field required and no defaults, as the strict modes of providers want it.

    The titles of fields only cost tokens; the schema's own becomes the name of the tool that is offered.
    """
    properties = schema.get("properties", {})
    schema["required"] = list(properties)
    schema["additionalProperties"] = False
    schema.pop("description", None)  # the docstring, which speaks to readers of the code
    for field in properties.values():
        field.pop("default", None)
        field.pop("title", None)


class ReplySchema(BaseModel):
    """Base of every reply schema, and of the objects nested in one.

    Reads strictly: fields of the types above follow their scale, all others take only the JSON type
    they name. Fields that nobody asked for are ignored.

    Example:
        >>> class Verdict(ReplySchema):
        ...     score: Score10
        ...     reason: Reason = ""
        >>> Verdict.model_validate({"score": "8", "extra": 1})
        Verdict(score=8, reason='')
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", json_schema_extra=_as_providers_take_it)

    @model_validator(mode="before")
    @classmethod
    def _unwrap_json_texts(cls, value: Any) -> Any:
        """Read lists and objects that came as JSON text: some models quote nested tool arguments."""
        if not isinstance(value, dict):
            return value
        return {name: _unwrapped(item) if _holds_items(cls, name) else item for name, item in value.items()}


def _holds_items(schema: type[BaseModel], name: str) -> bool:
    field = schema.model_fields.get(name)
    annotation = None if field is None else field.annotation
    return any(get_origin(part) is list for part in (annotation, *get_args(annotation)))


def _unwrapped(value: Any) -> Any:
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


class Rating(NamedTuple):
    """The score of one check."""

    score: float
    """From 0 to 1: the judge's whole number / 10, or its weighted mean where log-probabilities came with it."""
    reason: str


def fault_of(error: ValidationError) -> ReplyFault:
    """The validation error of a reply as the sentence a judge is shown, with the code of its first fault."""
    faults = error.errors(include_url=False, include_context=False)
    lines = [f"{'.'.join(map(str, fault['loc'])) or 'reply'}: {fault['msg']}" for fault in faults[:5]]
    kind = faults[0]["type"]
    code: ReplyCode = "off_menu" if kind == "off_menu" else "out_of_range" if kind == "out_of_range" else "unreadable"
    return ReplyFault("; ".join(lines), code)


def one_per_id(verdicts: Iterable[T], ids: Sequence[K], id_of: Callable[[T], K], what: str) -> list[T]:
    """The verdicts in the order of `ids`, exactly one for each; identical repeated ones are one.

    Args:
        verdicts: As the judge gave them, in any order.
        ids: What was asked about, for instance `range(len(calls))`.
        id_of: The id a verdict speaks of.
        what: The name of the thing judged in messages, for instance `"call"`.

    Raises:
        ReplyFault: A verdict is missing, speaks of an id that was not asked about (`wrong_count`), or
            two differ about the same id (`ambiguous`).
    """
    given: dict[K, T] = {}
    for verdict in verdicts:
        key = id_of(verdict)
        if key in given and given[key] != verdict:
            raise ReplyFault(f"{what} {key!r} has two different verdicts; give one", "ambiguous")
        given[key] = verdict
    missing = [key for key in ids if key not in given]
    extra = [key for key in given if key not in set(ids)]
    if missing or extra:
        parts = [f"{what} {shown(missing[0])} has no verdict"] if missing else []
        parts += [f"{what} {shown(extra[0])} does not exist"] if extra else []
        raise ReplyFault(f"{'; '.join(parts)} ({len(given)} given for {len(ids)})", "wrong_count")
    return [given[key] for key in ids]
