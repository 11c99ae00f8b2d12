"""A real HTTP server on loopback that speaks enough of the OpenAI chat API, and of Anthropic's, to be a provider.

```python
with OpenAIServer([Busy(retry_after="0.1"), Says('{"score": 8}')]) as server:
    ChatOpenAI(base_url=server.url, api_key="sk-test", max_retries=0).invoke("hi")
assert len(server.requests) == 2
```

Behaviours are given in order and the last repeats; a callable `(request body) -> behaviour` looks at the request first.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Says:
    """A successful reply of text, or of one call of the tool that was offered where `arguments` is given."""

    text: str | None = None
    arguments: dict[str, Any] | str | None = None
    delay: float = 0.0
    finish_reason: str = "stop"
    refusal: str | None = None
    usage: dict[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    )


@dataclass(frozen=True)
class Fails:
    """An HTTP error in OpenAI's form."""

    status: int
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "scripted"


def busy(retry_after: str | None = None) -> Fails:
    """429, with the header where given."""
    return Fails(429, "rate_limit_exceeded", {"Retry-After": retry_after} if retry_after is not None else {})


@dataclass(frozen=True)
class Hangs:
    """Takes the request and stays silent; the server's end releases it."""

    seconds: float = 60.0


@dataclass(frozen=True)
class Drops:
    """Closes the connection without a word."""


@dataclass(frozen=True)
class Garbles:
    """Status 200 with a body that is no JSON."""

    body: str = '{"id": "chatcmpl-1", "choices": [{"mess'


Behaviour: TypeAlias = "Says | Fails | Hangs | Drops | Garbles"


def refuses(*parameters: str, otherwise: Behaviour) -> Callable[[dict[str, Any]], Behaviour]:
    """400 for a request that carries one of the parameters (`response_format`, `tools` …)."""
    return lambda body: Fails(400, "unsupported_parameter") if set(parameters) & set(body) else otherwise


class OpenAIServer:
    """Serves in background threads until closed; counts and keeps what it was asked."""

    def __init__(self, behaviours: Sequence[Behaviour | Callable[[dict[str, Any]], Behaviour]]) -> None:
        self.behaviours = list(behaviours)
        self.requests: list[dict[str, Any]] = []
        """Request bodies in order of arrival."""
        self.headers: list[dict[str, str]] = []
        self.arrivals: list[float] = []
        """`time.monotonic()` of each request."""
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def next(self, body: dict[str, Any], headers: dict[str, str]) -> Behaviour:
        with self._lock:
            behaviour = self.behaviours[min(len(self.requests), len(self.behaviours) - 1)]
            self.requests.append(body)
            self.headers.append(headers)
            self.arrivals.append(time.monotonic())
        return behaviour(body) if callable(behaviour) else behaviour

    def __enter__(self) -> OpenAIServer:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    owner: OpenAIServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet; two would wait for each other for 40 ms
    timeout = 30
    server: _Server

    def do_POST(self) -> None:
        owner = self.server.owner
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        match owner.next(body, dict(self.headers)):
            case Says() as reply:
                owner.closing.wait(reply.delay)
                form = _message if self.path.endswith("/messages") else _completion
                self._send(200, json.dumps(form(reply, body)))
            case Fails(status, code, headers, message):
                error = {"message": f"{message} {status}", "type": "error", "code": code, "param": None}
                self._send(status, json.dumps({"error": error}), headers)
            case Garbles(text):
                self._send(200, text)
            case Hangs(seconds):
                owner.closing.wait(seconds)
                self.close_connection = True
            case Drops():
                self.close_connection = True

    def _send(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def _completion(reply: Says, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    finish_reason = reply.finish_reason
    if reply.arguments is not None and body.get("tools"):
        arguments = reply.arguments if isinstance(reply.arguments, str) else json.dumps(reply.arguments)
        name = body["tools"][0]["function"]["name"]
        message["tool_calls"] = [
            {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
        ]
        finish_reason = "tool_calls"
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}],
    }
    return completion if reply.usage is None else {**completion, "usage": reply.usage}


def _message(reply: Says, body: dict[str, Any]) -> dict[str, Any]:
    """The same in Anthropic's form."""
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text is not None else []
    if reply.arguments is not None and body.get("tools"):
        content.append({"type": "tool_use", "id": "t1", "name": body["tools"][0]["name"], "input": reply.arguments})
    usage = reply.usage or {}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": {"stop": "end_turn", "length": "max_tokens"}.get(reply.finish_reason, reply.finish_reason),
        "stop_sequence": None,
        "usage": {"input_tokens": usage.get("prompt_tokens", 0), "output_tokens": usage.get("completion_tokens", 0)},
    }
