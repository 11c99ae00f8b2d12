"""`to_trace`: whatever is left of an agent run, as one kind of trace."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.trace.dialogue import is_message
from langchain_llm_judge.trace.executor import is_executor_result, trace_from_executor
from langchain_llm_judge.trace.options import TraceOptions, Turn
from langchain_llm_judge.trace.schema import AgentTrace, TraceStatus
from langchain_llm_judge.trace.state import INTERRUPT, named, trace_from_messages, trace_from_state
from langchain_llm_judge.trace.stored import is_stored_trace, read_json, trace_from_dict, with_options
from langchain_llm_judge.trace.testcase import is_test_case, trace_from_test_case


def to_trace(
    source: Any,
    *,
    task: str | None = None,
    tools: Any = None,
    turn: Turn = "last",
    messages_key: str | None = None,
    task_key: str | None = None,
    answer_key: str | None = None,
    status: TraceStatus | None = None,
) -> AgentTrace:
    """What is left of an agent run, as a trace that does not know the framework.

    Nothing given is changed, and the trace shares nothing with it.

    Args:
        source: Messages (LangChain objects, OpenAI-style dicts, tuples), a state or the result of `invoke`, the result
            of an AgentExecutor, `(graph, config)` of a thread with a checkpointer, stored `astream_events` or
            `stream(updates)` output, a run tree, a DeepEval `LLMTestCase`, a dict or JSON text of an `AgentTrace`.
        task: The question. Needed where the source carries none; elsewhere it replaces the one found.
        tools: What the agent was offered: tools, definitions in any provider's format, `ToolSpec`s, names, or the graph
            or executor itself to look in. Without it the source's own word counts, if it has one.
        turn: Which turn of a conversation: `"last"`, `"all"`, or its number from 0.
        messages_key: Key of the messages in a state; found by itself where only one list can be meant.
        task_key: Key of the question in a state.
        answer_key: Key of the final answer in a state.
        status: How the run ended, where you know better than the source.

    Raises:
        TraceError: No trace can be made; the message names what was seen and the parameter that helps.
        ConfigError: `turn` or `status` is none of the accepted values.

    Example:
        >>> trace = to_trace([("user", "2+2?"), ("assistant", "4")])
        >>> trace.task, trace.final_answer, trace.status
        ('2+2?', '4', 'finished')
    """
    options = TraceOptions(
        task=task,
        tools=tools,
        turn=turn,
        messages_key=messages_key,
        task_key=task_key,
        answer_key=answer_key,
        status=status,
    )
    return _convert(source, options)


class TraceConverter(Runnable[Any, AgentTrace]):
    """`to_trace` as a step of a chain: `agent | TraceConverter(tools=agent) | judge`.

    The arguments are those of `to_trace`. In a pipe without arguments, `to_trace` itself does.
    """

    def __init__(
        self,
        *,
        task: str | None = None,
        tools: Any = None,
        turn: Turn = "last",
        messages_key: str | None = None,
        task_key: str | None = None,
        answer_key: str | None = None,
        status: TraceStatus | None = None,
    ) -> None:
        self._options = TraceOptions(
            task=task,
            tools=tools,
            turn=turn,
            messages_key=messages_key,
            task_key=task_key,
            answer_key=answer_key,
            status=status,
        )

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AgentTrace:
        """The trace of `input`; see `to_trace`."""
        return self._call_with_config(lambda source: _convert(source, self._options), input, config)


def _convert(source: Any, options: TraceOptions) -> AgentTrace:
    if isinstance(source, AgentTrace):
        return with_options(source, options)
    if isinstance(source, str | bytes | bytearray):
        return _from_value(read_json(bytes(source) if isinstance(source, bytearray) else source), options)
    if is_test_case(source):
        return trace_from_test_case(source, options)
    if _is_run(source):
        from langchain_llm_judge.trace.runs import trace_from_run_tree

        return trace_from_run_tree(source, options)
    if _is_graph_output(source):
        return _from_graph_output(source, options)
    if isinstance(source, BaseMessage):
        return trace_from_messages([source], options)
    if _is_snapshot(source) or _is_thread(source):
        from langchain_llm_judge.trace.thread import trace_from_snapshot, trace_from_thread

        if _is_snapshot(source):
            return trace_from_snapshot(source, options)
        graph, config = source
        return trace_from_thread(graph, config, options)
    return _from_value(source, options)


def _from_value(source: Any, options: TraceOptions) -> AgentTrace:
    """Plain containers, and objects that are a state."""
    if isinstance(source, Mapping):
        return _from_mapping(source, options)
    if callable(getattr(source, "to_messages", None)):
        return trace_from_messages(source.to_messages(), options)
    if isinstance(source, list | tuple | Iterator):
        return _from_items(list(source), options)
    fields = _fields_of(source)
    if fields is not None:
        return _from_mapping(fields, options)
    raise _not_convertible(source)


def _from_mapping(source: Mapping[Any, Any], options: TraceOptions) -> AgentTrace:
    hinted = options.messages_key or options.task_key or options.answer_key
    if is_message(source):
        return trace_from_messages([source], options)
    if _is_run(source):
        from langchain_llm_judge.trace.runs import trace_from_run_tree

        return trace_from_run_tree(source, options)
    if is_test_case(source):
        return trace_from_test_case(source, options)
    if not hinted and "messages" not in source and is_stored_trace(source):
        return trace_from_dict(source, options)
    if is_executor_result(source) and "messages" not in source:
        return trace_from_executor(source, options)
    return trace_from_state(source, options)


def _from_items(items: list[Any], options: TraceOptions) -> AgentTrace:
    if not items:
        if options.task is not None:
            return trace_from_messages([], options)
        raise TraceError(
            "the list is empty; give the messages of a run, its events or its updates", source="list", seen=[]
        )
    if any(is_message(item) for item in items):
        return trace_from_messages(items, options)
    if all(_is_run(item) for item in items):
        from langchain_llm_judge.trace.runs import trace_from_run_trees

        return trace_from_run_trees(items, options)
    if all(_is_event(item) for item in items):
        from langchain_llm_judge.trace.events import trace_from_events

        return trace_from_events(items, options)
    if all(_may_be_update(item) for item in items):
        from langchain_llm_judge.trace.updates import trace_from_updates

        return trace_from_updates(items, options)
    raise _not_convertible(items)


def _is_event(item: Any) -> bool:
    if not isinstance(item, Mapping) or not isinstance(item.get("event"), str):
        return False
    parts = (("data", dict), ("metadata", dict), ("tags", list), ("parent_ids", list))
    return "data" in item and all(isinstance(item.get(key, kind()), kind) for key, kind in parts)


def _may_be_update(item: Any) -> bool:
    if isinstance(item, tuple | list):
        return len(item) in (2, 3) and isinstance(item[0], str | tuple | list)
    return isinstance(item, Mapping) and not _is_state(item)


def _is_state(item: Mapping[Any, Any]) -> bool:
    messages = item.get("messages")
    return isinstance(messages, list) and bool(messages) and all(is_message(message) for message in messages)


def _is_run(source: Any) -> bool:
    if isinstance(source, Mapping):
        return "run_type" in source and "inputs" in source
    return hasattr(source, "run_type") and hasattr(source, "inputs")


def _is_graph_output(source: Any) -> bool:
    return type(source).__name__ == "GraphOutput" and hasattr(source, "value") and hasattr(source, "interrupts")


def _from_graph_output(source: Any, options: TraceOptions) -> AgentTrace:
    value = source.value
    if isinstance(value, list | tuple):
        return _from_items(list(value), options)
    state = value if isinstance(value, Mapping) else _fields_of(value)
    if state is None:
        raise _not_convertible(value)
    return _from_mapping({**state, INTERRUPT: source.interrupts} if source.interrupts else state, options)


def _is_snapshot(source: Any) -> bool:
    return isinstance(source, tuple) and {"values", "next", "config"} <= set(getattr(source, "_fields", ()))


def _is_thread(source: Any) -> bool:
    return (
        isinstance(source, tuple | list)
        and len(source) == 2
        and callable(getattr(source[0], "get_state", None))
        and isinstance(source[1], Mapping)
    )


def _fields_of(source: Any) -> dict[str, Any] | None:
    """The fields of a state that is an object: a pydantic model or a dataclass."""
    if isinstance(source, type):
        return None
    if isinstance(source, BaseModel):
        return dict(source)
    if hasattr(source, "__dataclass_fields__"):
        return {name: getattr(source, name) for name in source.__dataclass_fields__}
    return None


def _not_convertible(source: Any) -> TraceError:
    if isinstance(source, AsyncIterable):
        what = f"{type(source).__name__} is an asynchronous stream; collect it first: [item async for item in stream]"
        return TraceError(what, source=type(source).__name__, seen=source)
    if isinstance(source, list) and all(isinstance(item, Mapping) for item in source):
        return TraceError(
            f"a list of {len(source)} states (the last with keys {named(source[-1])}) is several runs or several "
            "moments of one; convert each state by itself, or the last one of a stream",
            source="list",
            seen=[list(item) for item in source],
        )
    if callable(getattr(source, "invoke", None)):
        return TraceError(
            f"{type(source).__name__} is an agent, not a run of it; give what its invoke returned, or (graph, config) "
            "of a thread",
            source=type(source).__name__,
            seen=source,
        )
    return TraceError(
        f"no trace can be made of {type(source).__name__} {shown(source)}; give messages, a state or what invoke "
        "returned, (graph, config), stored events or updates, a run tree, a test case, or a trace as dict or JSON",
        source=type(source).__name__,
        seen=source,
    )
