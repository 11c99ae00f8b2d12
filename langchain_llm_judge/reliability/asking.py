"""Asking a judge the same thing again, and keeping what failed as a value.

Judges are taken by shape: anything with `invoke`, and a facade with `grading` and `pairwise`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_llm_judge.errors import (
    ConfigError,
    InputError,
    MissingExtraError,
    TraceError,
    UnsupportedByEngineError,
    shown,
)

WRONG_USE = (ConfigError, InputError, MissingExtraError, TraceError, UnsupportedByEngineError)
"""Errors that every further call would give too: raised, not counted."""


@dataclass(frozen=True)
class Answer:
    """What one call of a judge gave."""

    result: Any = None
    error: Exception | None = None

    @property
    def calls(self) -> int | None:
        """Requests the judge model answered for it; `None` where neither result nor error tells."""
        source = self.result if self.error is None else self.error
        usage = getattr(source, "usage", None)
        if isinstance(source, Mapping):
            usage = source.get("usage") or (source.get("metadata") or {}).get("usage")
        calls = usage.get("calls") if isinstance(usage, Mapping) else getattr(usage, "calls", None)
        return calls if isinstance(calls, int) else None


def ask(judge: Any, case: Any) -> Answer:
    """One call, its error as a value.

    Raises:
        LLMJudgeError: The judge is used wrongly, see `WRONG_USE`.
    """
    try:
        return Answer(judge.invoke(case))
    except WRONG_USE:
        raise
    except Exception as error:
        return Answer(error=error)


async def aask(judge: Any, case: Any) -> Answer:
    """One call without blocking the event loop, its error as a value."""
    try:
        if hasattr(judge, "ainvoke"):
            return Answer(await judge.ainvoke(case))
        return Answer(await asyncio.to_thread(judge.invoke, case))
    except WRONG_USE:
        raise
    except Exception as error:
        return Answer(error=error)


def judge_for(judge: Any, case: Any) -> Any:
    """The Runnable to ask: the judge itself, or of a facade the one that takes this input.

    Raises:
        InputError: It can be asked nothing, or a facade cannot tell from the input which of its judges is meant.
    """
    if hasattr(judge, "invoke"):
        return judge
    fields = case if isinstance(case, Mapping) else {}
    part = "pairwise" if "output_a" in fields else "grading" if "output" in fields else None
    if part is not None and hasattr(judge, part):
        return getattr(judge, part)
    raise InputError(
        f"{type(judge).__name__} has no invoke() for this input: {shown(case)}; "
        "give a judge such as judge.grading, judge.pairwise, judge.rag or judge.agent",
        field="judge",
        found=judge,
    )


def uncached(judge: Any) -> Any:
    """The same judge with LangChain's cache off: its own `uncached()`, and so for every part of a chain or binding."""
    # Asked of the class: a binding passes attributes through, and would lose what it binds.
    if hasattr(type(judge), "uncached"):
        return judge.uncached()
    fields = getattr(type(judge), "model_fields", {})
    if "cache" in fields:
        return judge.model_copy(update={"cache": False})
    parts = {name: (part := getattr(judge, name, None), _uncached_part(part)) for name in fields}
    changed = {name: after for name, (before, after) in parts.items() if after is not before}
    return judge.model_copy(update=changed) if changed else judge


def _uncached_part(part: Any) -> Any:
    if isinstance(part, list):
        parts = [_uncached_part(one) for one in part]
        return part if all(one is other for one, other in zip(part, parts, strict=True)) else parts
    return uncached(part) if hasattr(part, "invoke") else part


def temperature_of(judge: Any) -> float | None:
    """The temperature a judge samples at; `None` where it does not say."""
    judge = getattr(judge, "bound", judge)
    told = getattr(judge, "temperature", None)
    if told is None and callable(getattr(judge, "identity", None)):
        told = judge.identity().get("temperature")
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None
