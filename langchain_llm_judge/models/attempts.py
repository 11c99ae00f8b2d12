"""One attempt at a model, and when to make another.

The only owner of retries: what another attempt may mend (rate limits, server errors, time-outs,
dropped connections) is tried again after a pause that grows, with jitter, or as long as the server
asks; everything else fails at once. Decided by the types and attributes of exceptions, never by their words.
"""

from __future__ import annotations

import asyncio
import contextvars
import email.utils
import math
import random
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

R = TypeVar("R")
V = TypeVar("V")

FIRST_PAUSE_S = 0.5

_TIMEOUTS = frozenset({"TimeoutError", "Timeout", "TimeoutException", "APITimeoutError", "ModelTimeoutError"})
_CONNECTIONS = frozenset(
    {
        "APIConnectionError",  # openai, anthropic, groq, litellm …
        "ClientConnectionError",  # aiohttp
        "ConnectionError",  # built-in, requests, botocore
        "EndpointConnectionError",  # botocore
        "ModelConnectionError",  # langchain-core
        "ServiceUnavailable",  # google
        "TransportError",  # httpx
    }
)
_GARBLED = frozenset({"JSONDecodeError", "DecodingError", "APIResponseValidationError"})
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


class Step(Protocol):
    """Something the outside world has to do for one question: an attempt, or a pause."""

    def run(self) -> Any:
        """Do it, blocking."""

    async def arun(self) -> Any:
        """Do it without blocking the event loop."""


Steps: TypeAlias = Generator[Step, Any, R]


def drive(steps: Steps[R]) -> R:
    """Run the steps to their value."""
    advance: Callable[[], Step] = lambda: next(steps)  # noqa: E731
    while True:
        try:
            step = advance()
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        try:
            advance = _sending(steps, step.run())
        except Exception as error:
            advance = _throwing(steps, error)


async def adrive(steps: Steps[R]) -> R:
    """Run the steps to their value without blocking the event loop."""
    advance: Callable[[], Step] = lambda: next(steps)  # noqa: E731
    while True:
        try:
            step = advance()
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        try:
            advance = _sending(steps, await step.arun())
        except Exception as error:
            advance = _throwing(steps, error)


def _sending(steps: Steps[Any], value: Any) -> Callable[[], Step]:
    return lambda: steps.send(value)


def _throwing(steps: Steps[Any], error: Exception) -> Callable[[], Step]:
    return lambda: steps.throw(error)


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


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def status_of(error: BaseException) -> int | None:
    """The HTTP error status an exception carries, under any of the names that client libraries give it."""
    response = getattr(error, "response", None)
    meta = response.get("ResponseMetadata", {}) if isinstance(response, Mapping) else {}
    for status in (
        getattr(error, "status_code", None),
        getattr(error, "status", None),
        getattr(response, "status_code", None),
        meta.get("HTTPStatusCode"),
        getattr(error, "code", None),
    ):
        if isinstance(status, int) and not isinstance(status, bool) and 400 <= status < 600:
            return int(status)
    return None


def detail_of(error: BaseException, name: str) -> Any:
    """A detail of an error, such as `code` or `param`, from the provider's body or the exception itself."""
    body = getattr(error, "body", None)
    given = body.get(name) if isinstance(body, Mapping) else None
    return getattr(error, name, None) if given is None else given


def is_timeout(error: BaseException) -> bool:
    """Whether the model took too long."""
    return any(_is_a(cause, _TIMEOUTS) for cause in causes(error)) or status_of(error) in {408, 504}


def is_connection(error: BaseException) -> bool:
    """Whether the connection failed, so that nothing is known about the model."""
    return any(_is_a(cause, _CONNECTIONS) for cause in causes(error))


def is_retryable(error: BaseException) -> bool:
    """Whether the same request may pass later."""
    if any(detail_of(cause, "code") in _SPENT for cause in causes(error)):
        return False
    status = status_of(error)
    if status is not None:
        return status in {408, 425, 429} or (status >= 500 and status != 501)
    if getattr(error, "is_retryable", None) is True:
        return True
    return is_timeout(error) or is_connection(error) or _is_a(error, _GARBLED)


def is_refusal_of_the_form(error: BaseException) -> bool:
    """Whether what was refused may be the form of the request: a parameter, not the request itself."""
    status = status_of(error)
    if status is not None:
        return status in {400, 415, 422, 501}
    return isinstance(error, NotImplementedError | TypeError | ValueError) and not is_retryable(error)


def retry_after(error: BaseException) -> float | None:
    """Seconds the server asks to wait, from the headers of its response."""
    for cause in causes(error):
        headers = getattr(getattr(cause, "response", None), "headers", None) or getattr(cause, "headers", None)
        if not isinstance(headers, Mapping):
            continue
        lower = {str(name).lower(): value for name, value in headers.items()}
        seconds = _milliseconds(lower.get("retry-after-ms")) or _seconds(lower.get("retry-after"))
        if seconds is not None:
            return max(0.0, seconds)
    return None


def _milliseconds(text: Any) -> float | None:
    seconds = _seconds(text)
    return None if seconds is None else seconds / 1000


def _seconds(text: Any) -> float | None:
    """Seconds from a `Retry-After` value: a number, or a date."""
    if text is None:
        return None
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        pass
    try:
        return email.utils.parsedate_to_datetime(text).timestamp() - time.time()
    except (TypeError, ValueError):
        return None


def _is_a(error: BaseException, names: frozenset[str]) -> bool:
    return any(kind.__name__ in names for kind in type(error).__mro__)
