"""DeepEval test cases as a trace, told by their fields: DeepEval itself is never imported here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.trace.endings import Ending, limit_reason
from langchain_llm_judge.trace.messages import Assembled
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.schema import AgentTrace, Step, Thought, ToolCall, ToolResult, TraceStatus
from langchain_llm_judge.trace.state import build_trace, named
from langchain_llm_judge.trace.values import text_of
from langchain_llm_judge.trace.wire import read_args, text_or_none


def is_test_case(value: object) -> bool:
    """Whether it is DeepEval's `LLMTestCase`, or a dict of its fields with `tools_called`."""
    if isinstance(value, Mapping):
        return "tools_called" in value
    return any(kind.__name__ == "LLMTestCase" for kind in type(value).__mro__)


def trace_from_test_case(case: Any, options: TraceOptions) -> AgentTrace:
    """The trace of a test case: its calls in order, each with its output where it has one.

    `tools_called` of `None` means that tool use is not known. `metadata["source"]` is `deepeval`: a test case that
    records no outputs says nothing about unanswered calls.
    """
    task = options.task if options.task is not None else _field(case, "input")
    if not isinstance(task, str):
        keys = list(case) if isinstance(case, Mapping) else []
        raise TraceError(
            f"a test case with keys {named(keys)} has no text under 'input'; give the question there or with task=",
            source=type(case).__name__,
            seen=keys,
        )
    called = _field(case, "tools_called")
    answer = _field(case, "actual_output")
    answer = None if answer is None else text_of(answer)
    limit = limit_reason(answer)
    status: TraceStatus = "step_limit" if limit else "finished" if answer is not None else "unknown"
    contexts = [_context(item) for item in _listed(case, "retrieval_context")]
    steps = list(_steps(_listed(case, "tools_called")))
    assembled = Assembled(steps, answer, Ending(status, limit), contexts, None, [], None)
    trace = build_trace(assembled, options, task=task, tool_use_known=called is not None)
    return trace.model_copy(update={"metadata": {"source": "deepeval"}})


def _field(case: Any, name: str) -> Any:
    return case.get(name) if isinstance(case, Mapping) else getattr(case, name, None)


def _listed(case: Any, name: str) -> list[Any] | tuple[Any, ...]:
    value = _field(case, name)
    if value is None or isinstance(value, list | tuple):
        return value or []
    raise TraceError(f"{name} is {shown(value)}; give a list, or nothing", source="test case", seen=value)


def _context(item: Any) -> str:
    context = _field(item, "context")
    return text_of(item if context is None else context)


def _steps(called: Any) -> Iterator[Step]:
    for index, call in enumerate(called):
        if isinstance(call, ToolCall):
            yield call
            continue
        name = _field(call, "name")
        if not isinstance(name, str):
            raise TraceError(
                f"tools_called[{index}] is {shown(call)}; a call has a 'name' and 'args' (or 'input_parameters')",
                source="test case",
                seen=call,
            )
        yield from _one(call, name, index)


def _one(call: Any, name: str, index: int) -> Iterator[Step]:
    reasoning, output = _field(call, "reasoning"), _field(call, "output")
    if reasoning:
        yield Thought(content=text_of(reasoning))
    given = next((value for key in ("args", "input_parameters") if (value := _field(call, key)) is not None), None)
    args = read_args(given)
    call_id = text_or_none(_field(call, "id"))
    yield ToolCall(name=name, args=args, id=call_id, malformed=isinstance(args, str), group=index)
    if output is not None:
        yield ToolResult(call_id=call_id, name=name, content=text_of(output))
