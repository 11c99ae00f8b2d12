"""What a judge is given, as the fields of DeepEval's test case; DeepEval itself is not needed for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_llm_judge.checks.levels import Exchange, level_of
from langchain_llm_judge.judges.argument_verdicts import reference_calls
from langchain_llm_judge.judges.inputs import ANSWER, QUESTION, as_fields, checked_text, required_text
from langchain_llm_judge.retrieval import as_documents
from langchain_llm_judge.trace.convert import to_trace
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall, ToolSpec

_RUNS = frozenset({"trace", "messages", "steps", "tools_called", "intermediate_steps"})
"""Keys by which a mapping is a run, not a question with its answer."""

MALFORMED = "malformed_arguments"
"""Name under which a test case carries the raw text of arguments that are no JSON object."""


def case_fields(case: Any) -> dict[str, Any]:
    """The fields of a test case.

    Question or task become `input`, the answer `actual_output`, passages `retrieval_context` and, where no other is
    given, `context`; calls `tools_called` with their outputs; a reference text `expected_output`, reference calls
    `expected_tools`. Calls are dicts of a `ToolCall`'s fields. What is not known is left out.

    Args:
        case: A dict with question and answer, a run in any form `to_trace` takes, or a dict with a run and a reference.

    Raises:
        InputError: The question is missing, or a field is no text or blank.
        TraceError: No trace can be made of it.
    """
    if isinstance(case, Mapping) and not _RUNS & set(case):
        return _known(_of_answer(as_fields(case)))
    run = {name: value for name, value in case.items() if name != "reference"} if isinstance(case, Mapping) else case
    trace = to_trace(run["trace"] if isinstance(run, Mapping) and "trace" in run else run)
    reference = case.get("reference") if isinstance(case, Mapping) else None
    return _known({**_of_run(trace), **_of_reference(reference)})


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _of_answer(fields: Mapping[str, Any]) -> dict[str, Any]:
    given = fields.get("contexts", fields.get("context"))
    ideal = fields.get("context", given)
    answer = next((name for name in ANSWER if name in fields), None)
    return {
        "input": required_text(fields, QUESTION),
        "actual_output": None if answer is None else checked_text(answer, fields[answer]),
        "retrieval_context": _texts(given),
        "context": _texts(ideal),
        **_of_reference(fields.get("reference")),
    }


def _texts(passages: Any) -> list[str] | None:
    return None if passages is None else [document.page_content for document in as_documents(passages)]


def _of_run(trace: AgentTrace) -> dict[str, Any]:
    specs = {tool.name: tool for tool in trace.tools}
    exchanges = level_of(trace).exchanges
    return {
        "input": trace.task,
        "actual_output": trace.final_answer,
        "retrieval_context": trace.contexts or None,
        "context": trace.contexts or None,
        "tools_called": [_call(exchange, specs) for exchange in exchanges] if trace.tool_use_known else None,
    }


def _call(exchange: Exchange, specs: Mapping[str, ToolSpec]) -> dict[str, Any]:
    spec = specs.get(exchange.call.name)
    return {
        "name": exchange.call.name,
        "description": spec.description if spec else None,
        "input_parameters": _parameters(exchange.call),
        "output": exchange.result.content if exchange.result else None,
    }


def _parameters(call: ToolCall) -> dict[str, Any]:
    return call.args if isinstance(call.args, dict) else {MALFORMED: call.args}


def _of_reference(reference: Any) -> dict[str, Any]:
    if reference is None or isinstance(reference, str):
        return {"expected_output": reference}
    calls = reference_calls(reference)
    return {"expected_tools": [{"name": call.name, "input_parameters": _parameters(call)} for call in calls]}
