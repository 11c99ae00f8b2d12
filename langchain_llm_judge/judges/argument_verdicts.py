"""Verdicts on the arguments of calls, and those of them that need no judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from langchain_llm_judge.checks.arguments import argument_defects
from langchain_llm_judge.checks.equality import value_key
from langchain_llm_judge.checks.levels import Level
from langchain_llm_judge.errors import InputError, TraceError, shown
from langchain_llm_judge.results import Result
from langchain_llm_judge.trace.convert import to_trace
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall

DecidedBy = Literal["judge", "malformed", "schema", "reference"]
"""What settled a verdict.

`judge`: the judge model; `malformed`: the arguments are no JSON object; `schema`: they do not fit the tool's JSON
Schema; `reference`: the call equals a given reference call.
"""


class ArgumentVerdict(Result):
    """One call's verdict."""

    call: int
    """Position among the run's calls, from 0."""
    tool: str
    correct: bool
    reason: str
    decided_by: DecidedBy


def settled_verdicts(level: Level, reference: Sequence[ToolCall]) -> dict[int, ArgumentVerdict]:
    """The verdicts that need no judge, by call."""
    wanted = [_call_key(call) for call in reference]
    settled: dict[int, ArgumentVerdict] = {}
    for number, exchange in enumerate(level.exchanges):
        call = exchange.call
        if call.malformed:
            why = f"the arguments are no JSON object: {shown(call.args)}"
            settled[number] = verdict_on(number, call, False, why, "malformed")
        elif _call_key(call) in wanted:
            wanted.remove(_call_key(call))
            settled[number] = verdict_on(number, call, True, "equal to a reference call", "reference")
        elif defects := [d for d in argument_defects(call, level.schemas.get(call.name, ())) if d.severity == "error"]:
            settled[number] = verdict_on(number, call, False, "; ".join(d.message for d in defects), "schema")
    return settled


def _call_key(call: ToolCall) -> tuple[str, str]:
    return call.name, value_key(call.args)


def verdict_on(number: int, call: ToolCall, correct: bool, reason: str, decided_by: DecidedBy) -> ArgumentVerdict:
    """The verdict on one call."""
    return ArgumentVerdict(call=number, tool=call.name, correct=correct, reason=reason, decided_by=decided_by)


def reference_calls(reference: Any) -> list[ToolCall]:
    """Reference calls in any form of a call.

    Those that give no arguments settle nothing and are left out, and so is a text, which is an answer.

    Raises:
        InputError: It is no list of calls.
    """
    if reference is None or isinstance(reference, str):
        return []
    if isinstance(reference, AgentTrace):
        return reference.calls()
    if not isinstance(reference, Iterable):
        raise _no_calls(reference)
    if isinstance(reference, Mapping):
        reference = reference.get("tools_called", [reference])
    wanted = [call for call in map(_as_call, reference) if _gives_arguments(call)]
    try:
        return to_trace({"input": "reference", "tools_called": wanted}).calls()
    except TraceError as error:
        raise _no_calls(reference) from error


def _as_call(call: Any) -> Any:
    """A call in OpenAI's form, with its `arguments`, as name and args; others as they are."""
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or "arguments" not in function:
        return call
    return {"name": function.get("name"), "args": function["arguments"]}


def _gives_arguments(call: Any) -> bool:
    if isinstance(call, ToolCall):
        return True
    names = ("args", "input_parameters")
    values = [call.get(name) if isinstance(call, Mapping) else getattr(call, name, None) for name in names]
    return any(value is not None for value in values)


def _no_calls(reference: Any) -> InputError:
    return InputError(
        f"field 'reference' is {type(reference).__name__}: {shown(reference)}; expected a list of calls such as "
        "{'name': …, 'args': {…}}",
        field="reference",
        found=reference,
    )
