"""Which tools were offered, in any form that a user or a framework holds them.

The schema is the model's view: arguments that LangGraph injects are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.trace.schema import ToolSpec


def tool_specs(source: Any) -> list[ToolSpec] | None:
    """The tools that a source offers, each name once.

    Args:
        source: Tools, functions, pydantic classes, definitions in any provider's format, `ToolSpec`s or names, alone or
            in a sequence; a mapping of name to tool; or what holds tools: a LangGraph graph (with its sub-graphs), a
            `ToolNode`, an AgentExecutor, a model with bound tools, a chain of these.

    Returns:
        `None` when nothing can be known: no source, or one that holds no tools this can see.

    Raises:
        TraceError: An item of a sequence is no tool; `seen` is the item.

    Example:
        >>> tool_specs(["search", {"name": "book", "input_schema": {"type": "object"}}])[1].parameters
        {'type': 'object'}
    """
    if source is None:
        return None
    if _is_one(source):
        return _unique(_specs_of(source))
    if isinstance(source, Mapping):
        return _unique(_named(source))
    if _is_sequence(source):
        return _unique(spec for item in source for spec in _in_sequence(item))
    return _held(source)


def direct_tools(source: Any) -> set[str]:
    """Names of the tools whose result is the answer (`return_direct`), as far as the source tells."""
    if isinstance(source, BaseTool):
        found = [source]
    elif _is_sequence(source):
        found = [tool for item in source for tool in _tools_in(item)]
    elif isinstance(source, Mapping):
        found = [tool for tool in source.values() if isinstance(tool, BaseTool)]
    else:
        found = list(_tools_in(source))
    return {tool.name for tool in found if isinstance(tool, BaseTool) and tool.return_direct}


def _is_sequence(source: Any) -> bool:
    return isinstance(source, Iterable) and not isinstance(source, str | Mapping | BaseModel | Runnable)


def _held(source: Any) -> list[ToolSpec] | None:
    found = [spec for tool in _tools_in(source) for spec in _specs_of(tool)]
    return _unique(found) if found or _tools_attribute(source) is not None else None


def _in_sequence(item: Any) -> list[ToolSpec]:
    if _is_one(item):
        return _specs_of(item)
    held = _held(item)
    if held is None:
        raise TraceError(
            f"tools contains {shown(item)}, which is no tool; give tools, their definitions as dicts, names, "
            "or the graph that holds them",
            source=type(item).__name__,
            seen=item,
        )
    return held


def _unique(specs: Iterable[ToolSpec]) -> list[ToolSpec]:
    """Each name once; the first that has a schema wins."""
    by_name: dict[str, ToolSpec] = {}
    for spec in specs:
        known = by_name.get(spec.name)
        if known is None or (known.parameters is None and spec.parameters is not None):
            by_name[spec.name] = spec
    return list(by_name.values())


# One tool


def _is_one(item: Any) -> bool:
    if isinstance(item, str | ToolSpec | BaseTool | type):
        return True
    if isinstance(item, Mapping):
        return is_definition(item)
    return callable(item) and hasattr(item, "__name__")


def _specs_of(item: Any) -> list[ToolSpec]:
    if isinstance(item, ToolSpec):
        return [item]
    if isinstance(item, str):
        return [ToolSpec(name=item)]
    if isinstance(item, Mapping):
        return list(_from_definition(item))
    return [_from_tool(item)]


def _from_tool(tool: Any) -> ToolSpec:
    """A tool, function or class as LangChain shows it to a model; its name and description where that fails."""
    try:
        return next(_from_definition(convert_to_openai_tool(tool)))
    except Exception:  # no docstring, an argument without a JSON Schema, a schema that raises
        name = getattr(tool, "name", None) or getattr(tool, "__name__", None) or type(tool).__name__
        return ToolSpec(name=str(name), description=getattr(tool, "description", None) or tool.__doc__)


def _named(tools: Mapping[Any, Any]) -> Iterator[ToolSpec]:
    for name, tool in tools.items():
        for spec in _in_sequence(tool):
            yield spec.model_copy(update={"name": str(name)})


# Definitions of providers


def is_definition(item: Mapping[Any, Any]) -> bool:
    """Whether a dict defines a tool, in any provider's format."""
    return any(isinstance(item.get(key), str) for key in ("name", "type", "title")) or any(
        key in item for key in ("function", "toolSpec", "function_declarations", "functionDeclarations", *_GOOGLE)
    )


_GOOGLE = ("google_search", "google_search_retrieval", "code_execution", "url_context", "google_maps")
"""Gemini's built-in tools are keys of an object instead of names."""


def _from_definition(item: Mapping[Any, Any]) -> Iterator[ToolSpec]:
    for key in ("function_declarations", "functionDeclarations"):
        if key in item:
            for declaration in item[key]:
                yield from _from_definition(declaration)
            return
    for key in ("function", "custom", "toolSpec"):
        if isinstance(item.get(key), Mapping):
            yield from _from_definition(item[key])
            return
    yield ToolSpec(name=_name(item), description=_text(item.get("description")), parameters=_parameters(item))


def _name(item: Mapping[Any, Any]) -> str:
    for key in ("name", "title", "type"):
        if isinstance(item.get(key), str):
            return str(item[key])
    return next(key for key in _GOOGLE if key in item)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _parameters(item: Mapping[Any, Any]) -> dict[str, Any] | None:
    for key in ("parameters", "input_schema", "inputSchema", "args_schema"):
        schema = item.get(key)
        if isinstance(schema, Mapping):
            inner = schema.get("json")
            return dict(inner) if isinstance(inner, Mapping) else dict(schema)
    is_schema = isinstance(item.get("properties"), Mapping)
    return (
        {key: value for key, value in item.items() if key not in ("name", "title", "description")}
        if is_schema
        else None
    )


# What holds tools


def _tools_in(holder: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """Tools and definitions inside a graph, node, executor, model or chain."""
    seen = set() if seen is None else seen
    if id(holder) in seen or isinstance(holder, str | bytes | int | float | dict | type) or holder is None:
        return
    seen.add(id(holder))
    if isinstance(holder, BaseTool):
        yield holder
        return
    yield from _tools_attribute(holder) or ()
    for inner in _inside(holder):
        yield from _tools_in(inner, seen)


def _tools_attribute(holder: Any) -> list[Any] | None:
    """The tools an object lists itself; `None` when it lists none."""
    by_name = getattr(holder, "tools_by_name", None)
    if isinstance(by_name, Mapping):
        return list(by_name.values())
    if isinstance(holder, RunnableBinding):
        bound = holder.kwargs.get("tools")
        return list(bound) if isinstance(bound, list | tuple) else None
    tools = getattr(holder, "tools", None)
    if isinstance(holder, Runnable) and isinstance(tools, list | tuple):
        return [tool for tool in tools if _is_one(tool)]
    return None


def _inside(holder: Any) -> Iterator[Any]:
    subgraphs = getattr(holder, "get_subgraphs", None)
    nodes = getattr(holder, "nodes", None)
    if callable(subgraphs) and isinstance(nodes, Mapping):
        yield from nodes.values()
        yield from (graph for _, graph in _walk(subgraphs))
        return
    for name in ("bound", "first", "last", "runnable", "default"):
        yield getattr(holder, name, None)
    for name in ("middle", "steps", "deps", "branches"):
        value = getattr(holder, name, None)
        if isinstance(value, list | tuple):
            yield from (part for item in value for part in (item if isinstance(item, tuple) else (item,)))
    steps = getattr(holder, "steps__", None)
    if isinstance(steps, Mapping):
        yield from steps.values()


def _walk(subgraphs: Callable[..., Iterable[tuple[str, Any]]]) -> Iterable[tuple[str, Any]]:
    try:
        return list(subgraphs(recurse=True))
    except Exception:  # a remote graph that cannot be reached, a graph without the option
        return []
