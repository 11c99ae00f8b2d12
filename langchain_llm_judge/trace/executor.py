"""Results of LangChain's AgentExecutor as a trace.

What counts: one action is one call. Actions that came from one message of the model are a group, and the message's text
is their thought. A ReAct agent's thought is what it wrote before `Action:`. The action `_Exception` is an answer that
could not be parsed: a thought in error, no call. An observation "… is not a valid tool" is the framework's error.
Without `intermediate_steps` it is not known whether tools were used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

from langchain_core.messages import AIMessage

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.trace.blocks import Reasoning, Text, parts_of
from langchain_llm_judge.trace.dialogue import as_messages, is_message
from langchain_llm_judge.trace.endings import Ending, limit_reason
from langchain_llm_judge.trace.messages import Assembled, documents_in
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.schema import AgentTrace, Step, Thought, ToolCall, ToolResult
from langchain_llm_judge.trace.state import answer_in, build_trace, named, task_in
from langchain_llm_judge.trace.values import text_of
from langchain_llm_judge.trace.wire import text_or_none

STEPS = "intermediate_steps"
PARSE_FAILURE = "_Exception"
_INPUTS = ("input", "question", "query", "task")
_OUTPUTS = ("output", "answer", "result", "response")


def is_executor_result(value: Mapping[Any, Any]) -> bool:
    """Whether a mapping is what an AgentExecutor returned."""
    return STEPS in value or {"input", "output"} <= value.keys()


def trace_from_executor(result: Mapping[str, Any], options: TraceOptions) -> AgentTrace:
    """The trace of what an AgentExecutor returned.

    Raises:
        TraceError: It has no input or no output under a known key, or its steps are none.
    """
    task = options.task if options.task is not None else task_in(result, options)
    if task is None:
        task = _under(result, _INPUTS, "task_key")
    answer = answer_in(result, options) if options.answer_key else _under(result, _OUTPUTS, "answer_key")
    steps = result.get(STEPS)
    limit = limit_reason(answer)
    ending = Ending("step_limit", limit) if limit else Ending("finished")
    contexts = [text for value in result.values() if isinstance(value, list) and value for text in documents_in(value)]
    assembled = Assembled(list(_steps(steps)) if steps else [], answer, ending, contexts, None, [], None)
    return build_trace(assembled, options, task=task, tool_use_known=steps is not None)


def call_thought(log: str) -> str:
    """What the model said before it acted, out of an action's log."""
    said = re.search(r"^responded: (.*?)\s*\Z", log, flags=re.MULTILINE | re.DOTALL)
    if said:
        return said.group(1)
    if log.lstrip().startswith("Invoking: "):
        return ""
    return re.sub(
        r"\A\s*Thought:", "", re.split(r"^\s*Action\s*\d*\s*:", log, maxsplit=1, flags=re.MULTILINE)[0]
    ).strip()


def unparsed_text(log: str) -> str:
    """The model's text that could not be parsed, without the framework's words round it."""
    wrapped = re.match(
        r"Could not parse LLM output: `(.*)`(?:\nFor troubleshooting.*)?\Z", log.strip(), flags=re.DOTALL
    )
    return wrapped.group(1) if wrapped else log.strip()


def is_invalid_tool(name: str, observation: str) -> bool:
    """Whether an observation is AgentExecutor's answer to a tool that does not exist."""
    return observation.startswith(f"{name} is not a valid tool, try one of [")


def _under(result: Mapping[str, Any], names: Sequence[str], parameter: str) -> str:
    for name in names:
        if name in result:
            value = result[name]
            messages = as_messages(value) if isinstance(value, list) and value and all(map(is_message, value)) else None
            return messages[-1].text if messages else text_of(value)
    raise TraceError(
        f"an executor's result with keys {named(result)} has none of {named(names)}; name it with {parameter}=",
        source="executor result",
        seen=list(result),
    )


def _steps(taken: Any) -> Iterator[Step]:
    if not isinstance(taken, Sequence) or isinstance(taken, str):
        raise _no_step(taken)
    actions = [_Action(step) for step in taken]
    start = number = 0
    while start < len(actions):
        size = _group_size(actions, start)
        number += 1
        yield from _group(actions[start : start + size], number)
        start += size


class _Action:
    """One action and its observation, whether still an object or read from JSON."""

    def __init__(self, step: Any) -> None:
        if not isinstance(step, list | tuple) or len(step) != 2:
            raise _no_step(step)
        action, self.observation = step
        if isinstance(action, Mapping) and isinstance(action.get("kwargs"), Mapping):
            action = action["kwargs"]
        read = action.get if isinstance(action, Mapping) else lambda key, default=None: getattr(action, key, default)
        tool = read("tool")
        if not isinstance(tool, str):
            raise _no_step(step)
        self.tool = tool
        self.input: Any = read("tool_input", {})
        self.log = text_of(read("log") or "")
        self.call_id = text_or_none(read("tool_call_id"))
        log = read("message_log")
        log = as_messages(log) if isinstance(log, list | tuple) else []
        self.message = next((message for message in reversed(log) if isinstance(message, AIMessage)), None)

    def asked(self) -> dict[str, Any] | str:
        """The arguments as the model gave them; the executor unpacks the one of a single-input tool."""
        for call in self.message.tool_calls if self.message else ():
            if call["id"] == self.call_id and call["name"] == self.tool:
                return dict(call["args"])
        if isinstance(self.input, Mapping):
            return dict(self.input)
        return text_of(self.input)


def _group_size(actions: list[_Action], start: int) -> int:
    """How many actions from one on came from the same message.

    A message lists its calls, except one that came back from JSON: there its id tells.
    """
    first = actions[start].message
    following = islice(actions, start, None)
    if first is None:
        return 1
    if not first.tool_calls:
        same = takewhile(lambda action: action.message is not None and action.message.id == first.id, following)
        return len(list(same)) if first.id else 1
    left = [call["id"] for call in first.tool_calls]
    size = 0
    for action in following:
        if action.message != first or action.call_id not in left:
            break
        left.remove(action.call_id)
        size += 1
    return max(size, 1)


def _group(actions: list[_Action], number: int) -> Iterator[Step]:
    if actions[0].tool == PARSE_FAILURE:
        yield Thought(content=unparsed_text(actions[0].log), is_error=True)
        return
    yield from (Thought(content=text) for text in _thoughts(actions[0]) if text)
    for action in actions:
        yield ToolCall(name=action.tool, args=action.asked(), id=action.call_id, group=number)
    for action in actions:
        content = text_of(action.observation)
        yield ToolResult(
            call_id=action.call_id, name=action.tool, content=content, is_error=is_invalid_tool(action.tool, content)
        )


def _thoughts(action: _Action) -> list[str]:
    if action.message is None:
        return [call_thought(action.log)]
    return [part.text for part in parts_of(action.message) if isinstance(part, Reasoning | Text)]


def _no_step(seen: object) -> TraceError:
    return TraceError(
        f"{STEPS} holds {shown(seen)}; a step is a pair of an action (with 'tool' and 'tool_input') and an observation",
        source="executor result",
        seen=seen,
    )
