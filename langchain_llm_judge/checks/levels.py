"""One level of a trace (the run itself or a sub-trace), and which result belongs to which call.

A result joins an open call by id. Ids may repeat over turns, over parallel calls, or be missing (`None` or
empty), so the id alone does not settle it:

- Calls that follow each other without a result or a message between them form one batch.
- Among open calls of one id, the latest batch comes first, and within it the order of the calls. An unanswered
  call of an earlier turn therefore never takes the result of a later one.
- A result without an id joins by the tool's name where it has one, else the next open call, by the same order.
- A result with an id never joins a call with another id or with none: it is an orphan. So is a second result
  for a call that has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from langchain_llm_judge.checks.base import Code, Finding, Severity
from langchain_llm_judge.checks.schemas import ArgumentSchema, argument_schema
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall, ToolResult, ToolSpec


@dataclass(slots=True)
class Exchange:
    """A call with the result that belongs to it."""

    step: int
    """Position of the call in its trace's steps."""
    call: ToolCall
    result: ToolResult | None = None
    """`None` when the call was never answered."""


@dataclass(frozen=True, slots=True)
class Level:
    """The run itself or one sub-trace, with its calls joined to their results."""

    path: tuple[str, ...]
    trace: AgentTrace
    exchanges: list[Exchange]
    results: list[int]
    """Positions of all results in the steps."""
    orphans: list[int]
    """Positions of the results that belong to no call."""
    schemas: dict[str, tuple[ArgumentSchema, ...]]
    """The schemas of the called tools by name, without the unknown ones."""

    @property
    def blind(self) -> str | None:
        """Why nothing can be said about calls; `None` when something can."""
        if self.trace.tool_use_known or self.exchanges or self.results:
            return None
        return "the source does not tell which tools were called"

    def at(self, positions: Iterable[int]) -> Iterator[tuple[int, ToolResult]]:
        """The results at these positions."""
        for position in positions:
            step = self.trace.steps[position]
            assert isinstance(step, ToolResult)
            yield position, step

    def finding(
        self,
        code: Code,
        message: str,
        *,
        step: int | None = None,
        tool: str | None = None,
        severity: Severity = "error",
    ) -> Finding:
        """A finding at this level."""
        return Finding(code=code, severity=severity, message=message, step=step, tool=tool, path=self.path)


def as_trace(source: Any) -> AgentTrace:
    """The trace itself, or one made of anything `to_trace` takes."""
    if isinstance(source, AgentTrace):
        return source
    from langchain_llm_judge.trace.convert import to_trace

    return to_trace(source)


def attempts(trace: AgentTrace, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int, ToolCall]]:
    """Every call of a run in order of happening, those of a sub-trace right after the call that ran it."""
    for index, step in enumerate(trace.steps):
        if isinstance(step, ToolCall):
            yield path, index, step
            if step.subtrace is not None:
                yield from attempts(step.subtrace, (*path, step.name))


def levels_of(trace: AgentTrace) -> list[Level]:
    """The run and every sub-trace below it; the trace is not changed."""
    return [level_of(part, path) for path, part in trace.walk()]


def level_of(trace: AgentTrace, path: tuple[str, ...] = ()) -> Level:
    """One trace with its calls joined to their results; sub-traces are not looked at."""
    pairing = _Pairing(by_id_only=all(step.call_id for step in trace.steps if isinstance(step, ToolResult)))
    for index, step in enumerate(trace.steps):
        if isinstance(step, ToolCall):
            pairing.call(index, step)
        elif isinstance(step, ToolResult):
            pairing.result(index, step)
        elif step.type == "message":
            pairing.batch += 1
    schemas = _schemas(trace.tools, {exchange.call.name for exchange in pairing.exchanges})
    return Level(path, trace, pairing.exchanges, pairing.results, pairing.orphans, schemas)


def _schemas(tools: list[ToolSpec], called: set[str]) -> dict[str, tuple[ArgumentSchema, ...]]:
    schemas: dict[str, tuple[ArgumentSchema, ...]] = {}
    for tool in tools:
        if tool.name in called and tool.parameters is not None:
            schemas[tool.name] = (*schemas.get(tool.name, ()), argument_schema(tool.parameters))
    return schemas


class _Pairing:
    """Reads steps in order and joins every result to the call that waits for it."""

    def __init__(self, *, by_id_only: bool) -> None:
        self.exchanges: list[Exchange] = []
        self.results: list[int] = []
        self.orphans: list[int] = []
        self.batch = 0
        self._by_id_only = by_id_only
        self._by_id = _Waiting()
        self._by_name = _Waiting()
        self._by_order = _Waiting()

    def call(self, index: int, call: ToolCall) -> None:
        exchange = Exchange(step=index, call=call)
        self.exchanges.append(exchange)
        if call.id:
            self._by_id.add(call.id, self.batch, exchange)
        if not self._by_id_only:
            self._by_name.add(call.name, self.batch, exchange)
            self._by_order.add("", self.batch, exchange)

    def result(self, index: int, result: ToolResult) -> None:
        self.results.append(index)
        exchange = self._caller(result)
        if exchange is None:
            self.orphans.append(index)
        else:
            exchange.result = result
        self.batch += 1

    def _caller(self, result: ToolResult) -> Exchange | None:
        if result.call_id:
            return self._by_id.take(result.call_id)
        if result.name:
            return self._by_name.take(result.name)
        return self._by_order.take("")


class _Waiting:
    """Calls that wait for a result, by key: batches of them, the latest batch last.

    Keeps no more than is open, so that a long run does not slow the garbage collector down.
    """

    def __init__(self) -> None:
        self._batches: dict[str, list[_Batch]] = {}

    def add(self, key: str, number: int, exchange: Exchange) -> None:
        batches = self._open(key)
        if batches and batches[-1].number == number:
            batches[-1].exchanges.append(exchange)
        else:
            self._batches.setdefault(key, batches).append(_Batch(number, [exchange]))

    def take(self, key: str) -> Exchange | None:
        batches = self._open(key)
        if not batches:
            return None
        exchange = batches[-1].first_open()
        if batches[-1].answered + 1 == len(batches[-1].exchanges):
            batches.pop()
        if not batches:
            del self._batches[key]
        return exchange

    def _open(self, key: str) -> list[_Batch]:
        """The batches with an open call at their end; others were answered by another key meanwhile."""
        batches = self._batches.get(key, [])
        while batches and batches[-1].first_open() is None:
            batches.pop()
        if not batches:
            self._batches.pop(key, None)
        return batches


@dataclass(slots=True)
class _Batch:
    number: int
    exchanges: list[Exchange]
    answered: int = 0
    """So many of the first are answered already."""

    def first_open(self) -> Exchange | None:
        for exchange in islice(self.exchanges, self.answered, None):
            if exchange.result is None:
                return exchange
            self.answered += 1
        return None
