"""What an exception of a model call means, told by types and attributes, never by its words.

Client libraries are not imported for it: their exceptions are known by the names of their classes.
"""

from __future__ import annotations

import email.utils
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

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
