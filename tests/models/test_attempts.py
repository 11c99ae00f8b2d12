"""What is tried again, told by the types and attributes of exceptions of many client libraries."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import botocore.exceptions
import httpx
import openai
import pytest
import requests

from langchain_llm_judge.models.attempts import CallPolicy, InThread
from langchain_llm_judge.models.failures import is_refusal_of_the_form, is_retryable, is_timeout, retry_after, status_of

REQUEST = httpx.Request("POST", "http://127.0.0.1")


def http_error(status: int, **headers: str) -> openai.APIStatusError:
    return openai.APIStatusError("x", response=httpx.Response(status, request=REQUEST, headers=headers), body=None)


def aws_error(status: int) -> botocore.exceptions.ClientError:
    response: Any = {"Error": {"Code": "Throttling"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return botocore.exceptions.ClientError(response, "Converse")


class GoogleError(Exception):
    def __init__(self, code: int) -> None:
        self.code = code


def wrapped(cause: Exception) -> Exception:
    error = openai.APIConnectionError(request=REQUEST)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "again"),
    [
        *((http_error(status), True) for status in (408, 425, 429, 500, 502, 503, 504, 529)),
        *((http_error(status), False) for status in (400, 401, 402, 403, 404, 405, 409, 413, 422, 501)),
        (aws_error(429), True),
        (aws_error(403), False),
        (GoogleError(503), True),
        (GoogleError(400), False),
        (openai.APIConnectionError(request=REQUEST), True),
        (openai.APITimeoutError(request=REQUEST), True),
        (httpx.ConnectError("x"), True),
        (httpx.ReadTimeout("x"), True),
        (httpx.RemoteProtocolError("x"), True),
        (requests.ConnectionError("x"), True),
        (requests.Timeout("x"), True),
        (aiohttp.ServerDisconnectedError(), True),
        (botocore.exceptions.EndpointConnectionError(endpoint_url="x"), True),
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (BrokenPipeError(), True),
        (json.JSONDecodeError("x", "", 0), True),
        (httpx.DecodingError("x"), True),
        (httpx.InvalidURL("x"), False),
        (ValueError("429 too many requests, try again"), False),
        (RuntimeError("timeout"), False),
        (KeyError("x"), False),
    ],
    ids=lambda value: f"{type(value).__name__}-{status_of(value)}" if isinstance(value, Exception) else str(value),
)
def test_what_is_tried_again(error: Exception, again: bool):
    assert is_retryable(error) is again


def test_a_spent_quota_is_not_tried_again():
    error = openai.RateLimitError(
        "x", response=httpx.Response(429, request=REQUEST), body={"code": "insufficient_quota"}
    )
    assert not is_retryable(error)


def test_time_outs_are_told_through_what_wraps_them():
    assert is_timeout(wrapped(httpx.ReadTimeout("x")))
    assert not is_timeout(wrapped(httpx.ConnectError("x")))


@pytest.mark.parametrize(
    ("error", "form"),
    [
        (http_error(400), True),
        (http_error(422), True),
        (http_error(401), False),
        (http_error(429), False),
        (NotImplementedError(), True),
        (ValueError(), True),
        (TypeError(), True),
        (json.JSONDecodeError("x", "", 0), False),
        (RuntimeError(), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_may_be_a_refusal_of_the_form(error: Exception, form: bool):
    assert is_refusal_of_the_form(error) is form


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-4"}, 0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({}, None),
    ],
    ids=str,
)
def test_retry_after(headers: dict[str, str], seconds: float | None):
    assert retry_after(http_error(429, **headers)) == seconds


def test_pauses_grow_have_jitter_and_end():
    policy = CallPolicy(timeout_s=60, max_retries=3)
    drawn = [[policy.pause_after(http_error(500), attempt, 100) for attempt in (1, 2, 3, 4)] for _ in range(200)]
    for at, longest in enumerate((0.5, 1.0, 2.0)):
        pauses = [one[at] for one in drawn]
        assert all(pause is not None and longest / 2 <= pause <= longest for pause in pauses)
        assert len(set(pauses)) > 100
    assert {one[3] for one in drawn} == {None}


def test_a_pause_never_outlasts_the_budget():
    policy = CallPolicy(timeout_s=60, max_retries=3)
    assert policy.pause_after(http_error(429, **{"retry-after": "30"}), 1, 31) == 30
    assert policy.pause_after(http_error(429, **{"retry-after": "30"}), 1, 29) is None
    assert policy.pause_after(http_error(401), 1, 100) is None


@pytest.mark.parametrize(("timeout", "retries", "budget"), [(60, 3, 240), (60, 0, 120), (0.2, 3, 0.8)])
def test_the_budget(timeout: float, retries: int, budget: float):
    assert CallPolicy(timeout, retries).budget_s == pytest.approx(budget)


async def test_a_thread_carries_the_context_and_the_exception():
    def fails() -> None:
        raise KeyError("mine")

    for error in (KeyError,):
        with pytest.raises(error, match="mine"):
            InThread(fails).run()
        with pytest.raises(error, match="mine"):
            await InThread(fails).arun()
