"""One algorithm, two drivers.

An algorithm is a generator that yields what the outside world has to do and is sent what came of it, or thrown
the exception. The drivers differ in the one line that does it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

S = TypeVar("S")
R = TypeVar("R")


def run_steps(steps: Generator[S, Any, R], perform: Callable[[S], Any]) -> R:
    """Run the steps to their value, blocking."""
    try:
        step = next(steps)
        while True:
            try:
                value = perform(step)
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def arun_steps(steps: Generator[S, Any, R], perform: Callable[[S], Awaitable[Any]]) -> R:
    """Run the steps to their value without blocking the event loop."""
    try:
        step = next(steps)
        while True:
            try:
                value = await perform(step)
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
