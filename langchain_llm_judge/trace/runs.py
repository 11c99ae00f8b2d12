"""Run trees: what LangChain's tracers collect and LangSmith keeps, as traces.

A tree tells almost what the live recorder sees. It keeps errors as texts, so what a node handed over by raising
`ParentCommand` is read from the tool that asked for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_llm_judge.errors import TraceError
from langchain_llm_judge.trace.log import Run, RunKind
from langchain_llm_judge.trace.options import TraceOptions
from langchain_llm_judge.trace.recorded import read_run
from langchain_llm_judge.trace.schema import AgentTrace
from langchain_llm_judge.trace.serialized import revived
from langchain_llm_judge.trace.tree import is_resumed

_KINDS: dict[str, RunKind] = {"llm": "llm", "chat_model": "llm", "tool": "tool", "retriever": "retriever"}


def trace_from_run_tree(run: Any, options: TraceOptions) -> AgentTrace:
    """The trace of a run tree: a `Run` or `RunTree` with its children, or the dict of one.

    Raises:
        TraceError: It has children that were not loaded.
    """
    root = run_of(run)
    missing = _field(run, "child_run_ids")
    if missing and not root.children:
        raise TraceError(
            f"the run has {len(missing)} children that are not loaded; "
            "read it with client.read_run(run_id, load_child_runs=True)",
            source="run tree",
            seen=missing,
        )
    return read_run([root], options)


def trace_from_run_trees(trees: Sequence[Any], options: TraceOptions) -> AgentTrace:
    """The trace of one run in several trees: one that was interrupted, and those that went on with it.

    Raises:
        TraceError: They are several runs.
    """
    roots = [run_of(tree) for tree in trees]
    if not all(is_resumed(root) for root in roots[1:]):
        raise TraceError(
            f"the list holds {len(roots)} runs; give one of them, or an interrupted one with those that resumed it",
            source="run trees",
            seen=[root.name for root in roots],
        )
    return read_run(roots, options)


def run_of(tree: Any) -> Run:
    """A run tree in the form that reading knows; the tree is not changed."""
    kind = _KINDS.get(str(_field(tree, "run_type")), "chain")
    extra = _field(tree, "extra") or {}
    error = _field(tree, "error") or None
    run = Run(
        _field(tree, "id") or "",
        kind,
        name=_field(tree, "name"),
        tags=list(_field(tree, "tags") or ()),
        metadata=extra.get("metadata") or {},
        inputs=_inputs(kind, revived(_field(tree, "inputs"))),
        error=error,
        ended=error is not None or _field(tree, "end_time") is not None,
        started=_seconds(_field(tree, "start_time")),
        finished=_seconds(_field(tree, "end_time")),
        tool_call_id=extra.get("tool_call_id"),
        description=(_field(tree, "serialized") or {}).get("description"),
        offered=_offered(extra),
        is_structured="ls_structured_output_format" in (extra.get("options") or {}),
    )
    if error is None:
        outputs = _field(tree, "outputs") or {}
        run.outputs = _outputs(kind, revived(outputs))
        run.usage = (outputs.get("llm_output") or {}).get("token_usage")
    children = [run_of(child) for child in _field(tree, "child_runs") or ()]
    run.children = sorted(children, key=lambda child: child.started or 0.0)
    return run


def _field(tree: Any, name: str) -> Any:
    return tree.get(name) if isinstance(tree, Mapping) else getattr(tree, name, None)


def _inputs(kind: RunKind, given: Any) -> Any:
    """What a run was given, without the dict that the tracer put round what was none."""
    if kind == "retriever":
        return (given or {}).get("query")
    if kind == "llm":
        batches = (given or {}).get("messages") or (given or {}).get("prompts") or []
        return batches[0] if batches else None
    return _unwrapped(given, "input") if kind == "chain" else given


def _outputs(kind: RunKind, given: Mapping[str, Any]) -> Any:
    if kind == "retriever":
        return given.get("documents")
    if kind == "tool":
        return given.get("output")
    if kind == "llm":
        return _answer(given)
    return _unwrapped(given, "output")


def _unwrapped(given: Any, key: str) -> Any:
    """The tracer wraps everything but dicts; a text under this key is the same either way."""
    if isinstance(given, Mapping) and set(given) == {key} and not isinstance(given[key], str | Mapping):
        return given[key]
    return given


def _answer(outputs: Mapping[str, Any]) -> Any:
    """A model's message, or its text."""
    batches = outputs.get("generations") or []
    first = batches[0] if batches else None
    generation = first[0] if isinstance(first, list) and first else first
    if isinstance(generation, Mapping):
        return generation.get("message") or generation.get("text")
    return outputs.get("message") or outputs.get("output")


def _offered(extra: Mapping[str, Any]) -> list[Any] | None:
    parameters = extra.get("invocation_params")
    return None if parameters is None else list(parameters.get("tools") or ())


def _seconds(moment: Any) -> float | None:
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    if not isinstance(moment, datetime):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
