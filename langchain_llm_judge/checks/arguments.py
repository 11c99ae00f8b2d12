"""Checks of a call's arguments against the tool's JSON Schema.

What counts:

- Calls of an offered tool whose schema is known. Not applicable where no called tool has a known schema.
- `missing_argument`: a required argument is not given. One missing deeper inside a value makes the value an
  `invalid_argument`. Injected arguments are not in the schema a model sees, and so never required.
- `unexpected_argument`: a name the tool does not list (see `schemas`): an error, since most frameworks drop it
  silently, and a warning where the schema says `additionalProperties: true`.
- `invalid_argument`: a value against the schema, one finding an argument; the message names the place inside it.
  Booleans are no numbers, `1.0` is an integer, `"1"` is not; what JSON cannot say is checked as
  the text a trace keeps of it, so NaN is no number.
- Arguments given as plain text (ReAct agents) are the tool's first argument, as LangChain reads them: other
  required ones are missing, the value is checked where that argument takes text. Whether text would be read as
  a number cannot be told.
- A tool offered with several schemas (agents of one run may differ): the one that fits best counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from langchain_llm_judge.checks.base import Code, Finding, Rules, Severity, hint, listed
from langchain_llm_judge.checks.levels import Level
from langchain_llm_judge.checks.schemas import ArgumentSchema
from langchain_llm_judge.errors import shown
from langchain_llm_judge.trace.schema import ToolCall
from langchain_llm_judge.trace.values import plain

_Kind = jsonschema_rs.ValidationErrorKind
_CLOSED = (_Kind.AdditionalProperties, _Kind.UnevaluatedProperties)


@dataclass(frozen=True, slots=True)
class Defect:
    """One thing wrong with the arguments of a call."""

    code: Code
    message: str
    severity: Severity = "error"


def bad_arguments(level: Level, _: Rules) -> Iterator[Finding]:
    for exchange in level.exchanges:
        call = exchange.call
        for defect in argument_defects(call, level.schemas.get(call.name, ())):
            yield level.finding(
                defect.code, defect.message, step=exchange.step, tool=call.name, severity=defect.severity
            )


def no_schema(level: Level, _: Rules) -> str | None:
    if level.schemas or not level.exchanges:
        return None
    if not level.trace.tools_known:
        return "the source does not tell which tools were offered"
    return "no called tool has a known schema"


def left_open(level: Level) -> list[str]:
    """What the schemas of the called tools left open, in words."""
    called = dict.fromkeys(exchange.call.name for exchange in level.exchanges)
    known = level.schemas
    notes = [f"schema of {shown(name, 60)}: {note}" for name in known for part in known[name] for note in part.notes]
    bare = [name for name in called if name not in known]
    return notes + ([f"no schema is known of {listed(bare)}"] if known and bare else [])


def argument_defects(call: ToolCall, schemas: Iterable[ArgumentSchema]) -> list[Defect]:
    """What is wrong with a call's arguments by the schema that fits best; empty where nothing is, or none is known."""
    best: list[Defect] | None = None
    if call.malformed:
        return []
    for schema in schemas:
        args = call.args if isinstance(call.args, dict) else _text_as_argument(call.args, schema)
        defects = [] if args is None else list(_defects(call.name, args, schema))
        if best is None or len(defects) < len(best):
            best = defects
    return best or []


def _text_as_argument(text: str, schema: ArgumentSchema) -> dict[str, Any] | None:
    if not schema.names:
        return None
    name, part = next(iter(schema.names.items()))
    kinds = part.get("type", "string") if isinstance(part, dict) else "string"
    return {name: text} if "string" in kinds else None


def _defects(tool: str, args: dict[str, Any], schema: ArgumentSchema) -> Iterator[Defect]:
    for name in schema.unexpected(args):
        meant = hint(name, schema.names.keys() - args.keys())
        message = f"{shown(tool)} takes no argument {shown(name, 60)}; it takes {listed(schema.names)}{meant}"
        yield Defect("unexpected_argument", message, schema.extras or "error")
    told: set[tuple[Code, str]] = set()
    for code, about, message in _violations(args, schema):
        if (code, about) not in told:
            told.add((code, about))
            yield Defect(code, f"{shown(tool)}: {message}")


_Violation = tuple[Code, str, str]
"""The code, the argument it is about (empty for all of them together), and words."""


def _violations(args: dict[str, Any], schema: ArgumentSchema) -> list[_Violation]:
    try:
        if schema.validator.is_valid(args):
            return []
        return [one for error in schema.validator.iter_errors(args) for one in _read(error, args)]
    except ValueError:
        # No JSON: put into the trace after it was made, as the trace itself keeps JSON only.
        args = plain(args)
        return [one for error in schema.validator.iter_errors(args) for one in _read(error, args)]


def _read(error: jsonschema_rs.ValidationError, args: dict[str, Any]) -> Iterator[_Violation]:
    path = list(error.instance_path)
    if path:
        yield "invalid_argument", str(path[0]), f"{place(path)} is {shown(_at(args, path))}; {_expectation(error)}"
    elif isinstance(error.kind, _Kind.Required):
        name = error.kind.property
        meant = hint(name, args.keys())
        yield (
            "missing_argument",
            name,
            f"required argument {shown(name, 60)} is missing; given are {listed(args)}{meant}",
        )
    elif missing := _missing_either(error):
        yield "missing_argument", "", f"one of these is missing: {' or '.join(missing)}; given are {listed(args)}"
    elif not isinstance(error.kind, _CLOSED):
        yield "invalid_argument", "", f"the arguments {shown(args)} do not fit together; {_expectation(error)}"


def place(path: Iterable[str | int]) -> str:
    """Where in the arguments: `flights[0].date`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return f"argument {shown(text.removeprefix('.'), 120)}"


def _at(args: Any, path: list[str | int]) -> Any:
    for key in path:
        args = args[key]
    return args


def _branches(error: jsonschema_rs.ValidationError) -> list[list[jsonschema_rs.ValidationError]]:
    kind = error.kind
    return kind.context if isinstance(kind, (_Kind.AnyOf, _Kind.OneOfNotValid)) else []


def _missing_either(error: jsonschema_rs.ValidationError) -> list[str]:
    """For alternatives that each lack arguments: what each of them lacks."""
    wanted = []
    for branch in _branches(error):
        lacking = [shown(part.kind.property, 60) for part in branch if isinstance(part.kind, _Kind.Required)]
        if len(lacking) < len(branch):
            return []
        wanted.append(" and ".join(lacking))
    return wanted


def _expectation(error: jsonschema_rs.ValidationError) -> str:
    kind = error.kind
    if isinstance(kind, _Kind.Type):
        return f"expected {' or '.join(kind.types)}"
    if isinstance(kind, _Kind.Enum):
        return f"expected one of {shown(kind.options)}"
    if isinstance(kind, _Kind.Required):
        return f"it lacks {shown(kind.property, 60)}"
    if isinstance(kind, _CLOSED):
        return f"it takes no {listed(kind.unexpected)}"
    return _alternatives(error) or _cut(error.message)


def _alternatives(error: jsonschema_rs.ValidationError) -> str | None:
    """What each alternative expects of the same value, where that is all they say."""
    parts = [part for branch in _branches(error) for part in branch]
    if not parts or any(part.instance_path != error.instance_path for part in parts):
        return None
    wanted = dict.fromkeys(_expectation(part).removeprefix("expected ") for part in parts)
    return f"expected {' or '.join(wanted)}"


def _cut(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
