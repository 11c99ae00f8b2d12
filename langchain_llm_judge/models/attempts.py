"""One attempt at a model, and when to make another.

The only owner of retries: what another attempt may mend (rate limits, server errors, time-outs, dropped
connections) is tried again after a pause that grows, with jitter, or is as long as the server asks. Everything
else fails at once.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from langchain_llm_judge.models.failures import is_retryable, retry_after

R = TypeVar("R")
V = TypeVar("V")

FIRST_PAUSE_S = 0.5


class Step(Protocol):
    """Something the outside world has to do for one question: an attempt, or a pause."""

    def run(self) -> Any:
        """Do it, blocking."""

    async def arun(self) -> Any:
        """Do it without blocking the event loop."""


Steps: TypeAlias = Generator[Step, Any, R]


@dataclass(frozen=True)
class Pause:
    """Wait before the next attempt."""

    seconds: float

    def run(self) -> None:
        """Wait."""
        time.sleep(self.seconds)

    async def arun(self) -> None:
        """Wait without blocking."""
        await asyncio.sleep(self.seconds)


@dataclass(frozen=True)
class InThread:
    """A blocking call in a thread of its own, given up after `timeout` seconds.

    The thread is a daemon: a call that hangs is left behind and never keeps the interpreter from ending,
    which threads of a pool would.
    """

    call: Callable[[], Any]
    timeout: float | None = None

    def run(self) -> Any:
        """Call and wait."""
        return _value_of(self._start(), self.timeout)

    async def arun(self) -> Any:
        """Call without blocking."""
        async with asyncio.timeout(self.timeout):
            return await asyncio.wrap_future(self._start())

    def _start(self) -> Future[Any]:
        future: Future[Any] = Future()
        context = contextvars.copy_context()
        threading.Thread(
            target=context.run, args=(_settle, future, self.call), name="llm-judge-call", daemon=True
        ).start()
        return future


def _settle(future: Future[V], call: Callable[[], V]) -> None:
    future.set_running_or_notify_cancel()
    try:
        value = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(value)


def _value_of(future: Future[V], timeout: float | None) -> V:
    try:
        return future.result(timeout)
    finally:
        del future  # with its exception's traceback it would be a reference cycle


@dataclass(frozen=True)
class Attempt:
    """One request to a model."""

    call: Callable[[], Any]
    acall: Callable[[], Awaitable[Any]]
    timeout: float
    natively: bool
    """Whether `arun` may await the model; otherwise its sync client serves, in a thread."""

    def run(self) -> Any:
        """Ask and wait."""
        return InThread(self.call, self.timeout).run()

    async def arun(self) -> Any:
        """Ask without blocking the event loop."""
        if self.natively:
            try:
                return await self._awaited()
            except RuntimeError as error:
                # What a pooled connection of a closed loop raises, and nothing else of an HTTP client.
                if type(error) is not RuntimeError:
                    raise
        try:
            return await InThread(self.call, self.timeout).arun()
        except NotImplementedError:  # a model without a sync client
            return await self._awaited()

    async def _awaited(self) -> Any:
        async with asyncio.timeout(self.timeout):
            return await self.acall()


@dataclass(frozen=True)
class CallPolicy:
    """How long and how often to try."""

    timeout_s: float = 60.0
    """Seconds one attempt may take."""
    max_retries: int = 3
    """Attempts after the first."""

    @property
    def budget_s(self) -> float:
        """Seconds one question may take with all its attempts, pauses and the re-ask."""
        return self.timeout_s * max(2, self.max_retries + 1)

    def pause_after(self, error: BaseException, attempt: int, left_s: float) -> float | None:
        """Seconds to wait before the next attempt, or `None` when there is none.

        Args:
            error: Why the last attempt failed.
            attempt: Its number, from 1.
            left_s: Seconds left of the budget.
        """
        if attempt > self.max_retries or not is_retryable(error):
            return None
        asked = retry_after(error)
        backoff = min(FIRST_PAUSE_S, self.timeout_s / 4) * 2 ** (attempt - 1)
        pause = backoff * random.uniform(0.5, 1.0) if asked is None else asked
        return pause if pause < left_s else None
