"""Reading what people hand to a judge: question and answer under the names in use, examples, references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_llm_judge.errors import InputError, shown
from langchain_llm_judge.trace.convert import to_trace
from langchain_llm_judge.trace.schema import AgentTrace

QUESTION = ("question", "input", "query")
ANSWER = ("answer", "output", "response", "result")


def question_and_answer(case: Any) -> tuple[str, str]:
    """Question and answer of a judge's input.

    Args:
        case: A mapping that has them under one of the names in use, a trace, or a state with `messages`.

    Raises:
        InputError: One is missing, no text, or blank; the message names the keys found.
    """
    fields = as_fields(case)
    return required_text(fields, QUESTION), required_text(fields, ANSWER)


def as_fields(case: Any) -> Mapping[str, Any]:
    """The input as a mapping; a trace, or a graph's state with messages, as its question, answer and contexts.

    Raises:
        InputError: It is none of these.
    """
    if isinstance(case, AgentTrace):
        return {"question": case.task, "answer": case.final_answer, "contexts": case.contexts}
    if isinstance(case, Mapping):
        return {**as_fields(to_trace(case)), **case} if _is_state(case) else case
    raise InputError(
        f"a judge's input is a dict such as {{'question': …, 'answer': …}}, got {type(case).__name__}: {shown(case)}",
        found=case,
    )


def _is_state(case: Mapping[str, Any]) -> bool:
    """Whether question and answer are to be found in messages."""
    return "messages" in case and not all(any(name in case for name in names) for names in (QUESTION, ANSWER))


def required_text(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    """The text under the first of `names` that is there.

    Raises:
        InputError: None is there, or the value is no text or blank.
    """
    names = tuple(names)
    name = next((name for name in names if name in fields), None)
    if name is None:
        others = f" (or {', '.join(repr(other) for other in names[1:])})" if names[1:] else ""
        raise InputError(
            f"field {names[0]!r}{others} is missing; found {_listed(fields)}", field=names[0], found=list(fields)
        )
    return checked_text(name, fields[name])


def optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    """The text under `name`; `None` where it is absent, `None` or blank.

    Raises:
        InputError: The value is no text.
    """
    value = fields.get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return checked_text(name, value)


def checked_text(name: str, value: Any) -> str:
    """`value` as text that is not blank; a LangChain message counts as its text.

    Raises:
        InputError: It is no text, or blank.
    """
    if isinstance(value, BaseMessage):
        value = str(value.text)
    if not isinstance(value, str):
        raise InputError(
            f"field {name!r} is {type(value).__name__}, expected text: {shown(value)}", field=name, found=value
        )
    if not value.strip():
        raise InputError(f"field {name!r} is blank: {shown(value)}; there is nothing to judge", field=name, found=value)
    return value


def example_case(inputs: Any, outputs: Any, reference_outputs: Any) -> dict[str, Any]:
    """A LangSmith-style example as a judge's input.

    Mappings are merged; a bare text is the question, the answer or the reference.
    """
    case: dict[str, Any] = {}
    case.update(inputs if isinstance(inputs, Mapping) else {"question": inputs} if inputs is not None else {})
    case.update(outputs if isinstance(outputs, Mapping) else {"answer": outputs} if outputs is not None else {})
    if reference_outputs is not None:
        case["reference"] = _reference_text(reference_outputs)
    return case


def _reference_text(reference: Any) -> Any:
    if not isinstance(reference, Mapping):
        return reference
    for name in ("reference", *ANSWER):
        if name in reference:
            return reference[name]
    return next(iter(reference.values())) if len(reference) == 1 else dict(reference)


def _listed(fields: Mapping[str, Any]) -> str:
    return ", ".join(repr(name) for name in fields) or "no fields at all"
