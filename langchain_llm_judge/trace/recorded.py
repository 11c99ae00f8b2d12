"""The record of a run as a trace: task, tools, steps, answer, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import ToolMessage

from langchain_llm_judge.results import Usage
from langchain_llm_judge.trace.endings import Ending, limit_reason
from langchain_llm_judge.trace.executor import PARSE_FAILURE
from langchain_llm_judge.trace.executor_runs import INVALID_TOOL, is_executor
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.messages import Assembled, Entry, assemble, documents_in
from langchain_llm_judge.trace.nodes import states_in
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.outcome import answer_of, stop_of, structured_response, task_of
from langchain_llm_judge.trace.places import Item
from langchain_llm_judge.trace.reading import Reading, read
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall, ToolSpec
from langchain_llm_judge.trace.tools import direct_tools, tool_specs
from langchain_llm_judge.trace.tree import INTERRUPTS
from langchain_llm_judge.trace.values import plain


def read_run(
    roots: Sequence[Run], options: TraceOptions | None = None, *, is_whole: bool = True, above: str | None = None
) -> AgentTrace:
    """The trace of a run.

    Args:
        roots: Its root runs in order: several where it was interrupted and resumed. They are only read.
        options: What the caller says about the run.
        is_whole: `False` where the record may stop before the run did: its messages then tell how it ended.
        above: Path of the agent whose tool the run is inside of.
    """
    options = options or TraceOptions()
    reading = read(roots, above)
    runs = [run for root in roots for run in root.walk()]
    stop = stop_of(roots[-1])
    answer = answer_of(roots[-1], options) if stop is None else None
    pseudo = reading.structured_tools | _pseudo_tools(roots)
    assembled = assemble(
        [_entry(item) for item in reading.items],
        structured_tools=pseudo,
        direct_tools=direct_tools(options.tools),
        answer=answer,
        structured_response=structured_response(roots[-1]),
        ended=stop is None and is_whole,
        final=stop is None,
    )
    _attach_subtraces(assembled, reading)
    tools, tools_known = _tools(runs, options, pseudo | assembled.structured_tools)
    ended_by_itself = is_whole or answer is not None
    ending = stop or (_natural_ending(assembled, answer) if ended_by_itself else assembled.ending)
    return AgentTrace(
        task=options.task if options.task is not None else task_of(roots[0], reading, options),
        tools=tools,
        tools_known=tools_known,
        steps=assembled.steps,
        final_answer=assembled.final_answer,
        status=options.status or ending.status,
        status_reason=ending.reason if options.status in (None, ending.status) else None,
        contexts=_contexts(runs) or assembled.contexts,
        usage=_usage(runs),
        warnings=assembled.warnings,
        metadata=_about(roots),
    )


def _entry(item: Item) -> Entry:
    """An item with its times; what code wrote has none of its own."""
    run = item.run
    entry = Entry(item.message, item.agent, item.node, is_unparsed=item.is_unparsed, by_code=item.by_code)
    if run.kind in ("llm", "tool") and run.started is not None:
        entry.started_at = datetime.fromtimestamp(run.started, UTC)
        if run.finished is not None:
            entry.duration_ms = max(0.0, (run.finished - run.started) * 1000)
    if run.kind == "tool" and isinstance(item.message, ToolMessage) and item.message.status == "error":
        entry.error_type = run.error_type or None
    return entry


def _natural_ending(assembled: Assembled, answer: str | None) -> Ending:
    """The ending of a run that ended by itself: what its messages leave open is then settled."""
    ending, limit = assembled.ending, limit_reason(answer)
    if limit is not None:
        return Ending("step_limit", limit)
    if ending.status == "unknown" or (ending.status == "incomplete" and assembled.final_answer is not None):
        return Ending("finished")
    return ending


def _about(roots: Sequence[Run]) -> dict[str, Any]:
    first = roots[0]
    about = {"run_id": str(first.id), "name": first.name, "thread_id": first.thread_id}
    return {key: value for key, value in about.items() if value is not None}


# Sub-traces


def _attach_subtraces(assembled: Assembled, reading: Reading) -> None:
    """Give every call the run of the agent inside its tool."""
    with_agents = [call for call in reading.calls if call.run is not None and _holds_agent(call.run)]
    if not with_agents:
        return
    steps: dict[tuple[str | None, str], list[ToolCall]] = {}
    for step in assembled.steps:
        if isinstance(step, ToolCall):
            steps.setdefault((step.id, step.name), []).append(step)
    for call in with_agents:
        free = steps.get((call.id, call.name), [])
        same = [step for step in free if step.args == plain(call.args)] or free
        if same:
            free.remove(same[0])
            same[0].subtrace = read_run(_agent_runs(call.runs), above=same[0].agent)


def _holds_agent(run: Run) -> bool:
    """Whether a graph or tools ran inside; a lone model call is no agent."""
    return any(inner.is_graph or inner.kind == "tool" for inner in run.walk() if inner is not run) or (
        run.kind == "chain" and run.is_graph
    )


def _agent_runs(tool_runs: Sequence[Run]) -> list[Run]:
    """The agent inside a tool: its last run, after the interrupted ones that this one went on with."""
    *before, last = [_agent_run(run) for run in tool_runs]
    kept = [last]
    for run in reversed(before):
        executed = {inner.execution for part in kept for inner in part.walk()} - {None}
        if any(inner.error_type in INTERRUPTS and inner.execution in executed for inner in run.walk()):
            kept.insert(0, run)
    return kept


def _agent_run(tool_run: Run) -> Run:
    """The one agent that ran inside a tool, or all that ran there, where there were several."""
    inside = [child for child in tool_run.children if child.kind == "chain" and _holds_agent(child)]
    if len(inside) == 1:
        return inside[0]
    about = {"name": tool_run.name, "inputs": tool_run.inputs, "outputs": tool_run.outputs, "error": tool_run.error}
    return Run(tool_run.id, "chain", ended=tool_run.ended, children=tool_run.children, **about)


# Tools


def _tools(runs: Sequence[Run], options: TraceOptions, pseudo: set[str]) -> tuple[list[ToolSpec], bool]:
    """The tools that models were offered in this run, and whether these are known to be all."""
    if options.tools is not None:
        given = tool_specs(options.tools)
        return given or [], given is not None
    models = [run for run in runs if run.kind == "llm" and "lc_internal_call" not in run.metadata]
    specs = {spec.name: spec for spec in _offered(models, pseudo)}
    told = bool(models) and all(run.offered is not None for run in models)
    known = bool(specs) or (told and not any(is_executor(run) for run in runs))
    for run in runs:
        if run.kind == "tool" and run.name and run.name not in specs and run.name not in _EXECUTORS_OWN:
            known = known and bool(specs)
            specs[run.name] = ToolSpec(name=run.name, description=run.description)
    return list(specs.values()), known


_EXECUTORS_OWN = frozenset({PARSE_FAILURE, INVALID_TOOL})
"""Tools with which an executor answers what it cannot run."""


def _offered(models: Sequence[Run], pseudo: set[str]) -> list[ToolSpec]:
    """Every tool that one of the models was offered; models mostly are offered the same again and again."""
    different: list[list[Any]] = []
    for run in models:
        if run.offered and not run.is_structured and run.offered not in different:
            different.append(run.offered)
    # `create_agent` puts the pseudo tools of a structured answer last, all of its alternatives in a row.
    real = [takewhile(lambda spec: spec.name not in pseudo, tool_specs(offered) or []) for offered in different]
    return tool_specs([spec for specs in real for spec in specs]) or []


def _pseudo_tools(roots: Sequence[Run]) -> set[str]:
    """Names of tools that only stood for a structured answer which could not be read."""
    named = [getattr(root.error, "tool_name", None) for root in roots]
    return {name for name in named if isinstance(name, str)}


# What the whole run used


def _contexts(runs: Sequence[Run]) -> list[str]:
    """Texts of the documents that retrievers gave, or nodes wrote where no retriever ran."""
    retrieved = [run.outputs for run in runs if run.kind == "retriever" and run.outputs]
    if not retrieved:
        retrieved = list(_documents_written(runs))
    return [text for documents in retrieved for text in documents_in(documents)]


def _documents_written(runs: Sequence[Run]) -> Iterator[list[Any]]:
    """Lists of documents among what nodes and the innermost chains gave, each document once."""
    seen: set[int] = set()
    for run in runs:
        if run.kind == "chain" and (run.is_node or not run.children):
            states = [run.outputs] if type(run.outputs) is dict else states_in(run.outputs)
            for value in [run.outputs, *(value for state in states for value in state.values())]:
                if isinstance(value, list) and value and isinstance(value[0], Document):
                    yield [document for document in value if id(document) not in seen]
                    seen |= {id(document) for document in value}


def _usage(runs: Sequence[Run]) -> Usage | None:
    """Tokens of all answered model calls, discarded ones among them; `None` when not one of them tells."""
    answered = [run for run in runs if run.kind == "llm" and run.outputs is not None]
    told = [_tokens(run) for run in answered]
    if not any(told):
        return None
    unknown = Usage(calls=1, input_tokens=None, output_tokens=None, cost_usd=None)
    return Usage.total(unknown if one is None else one for one in told)


def _tokens(run: Run) -> Usage | None:
    said = getattr(run.outputs, "usage_metadata", None) or run.usage or {}
    first = said.get("input_tokens", said.get("prompt_tokens"))
    second = said.get("output_tokens", said.get("completion_tokens"))
    if not isinstance(first, int) or not isinstance(second, int):
        return None
    return Usage(calls=1, input_tokens=first, output_tokens=second, cost_usd=None)
