"""`llm-judge accuracy`, `relevancy` and `arguments`, from options to an exit code; judges are a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openai_server import Fails, OpenAIServer, Says

ASKED = ["--question", "Where is the Eiffel Tower?", "--answer", "In Paris."]
TEXT_RESULT = {"status", "score", "reason", "metadata"}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch):
    """Starts the judge model's server and makes it the default judge."""
    servers: list[OpenAIServer] = []

    def start(*behaviours: Any) -> OpenAIServer:
        servers.append(OpenAIServer(behaviours).__enter__())
        monkeypatch.setenv("JUDGE_API_BASE", servers[-1].url)
        monkeypatch.setenv("JUDGE_PROVIDER", "openai")
        monkeypatch.setenv("JUDGE_MODEL", "gpt-4o-mini")
        monkeypatch.setenv("JUDGE_MAX_RETRIES", "0")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
        return servers[-1]

    yield start
    for server in servers:
        server.__exit__()


def says(**reply: Any) -> Says:
    return Says(json.dumps(reply), arguments=reply)


def test_relevancy_passes_and_fails_by_exit_code(command_line: Callable[..., Any], served: Any):
    served(says(score=9, reason="names the city"), says(score=2, reason="off-topic"))
    passed, failed = (command_line("relevancy", *ASKED) for _ in range(2))
    assert (passed.code, failed.code) == (0, 1)
    assert "passed: 0.90 at threshold 0.5; names the city" in passed.out
    assert "failed: 0.20" in failed.out
    assert "openai/gpt-4o-mini, 1 call, 11 tokens in" in passed.out


def test_accuracy_prints_one_json_document(command_line: Callable[..., Any], served: Any):
    server = served(says(score=8, reason="r"))
    ran = command_line(
        "accuracy", *ASKED, "--context", "It stands in Paris.", "--context", "It is 330 m high.", "--json"
    )
    document = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert set(document) == TEXT_RESULT
    assert document["metadata"]["contexts"] == ["It stands in Paris.", "It is 330 m high."]
    assert document["metadata"]["grounded"] is True
    assert document["metadata"]["usage"]["calls"] == len(server.requests) == 2


def test_accuracy_without_a_model(command_line: Callable[..., Any]):
    right = command_line("accuracy", *ASKED, "--context", "The Eiffel Tower is in Paris.", "--model", "offline")
    assert right.code == 0
    assert "grounded in 1 passage" in right.out
    ungrounded = command_line("accuracy", *ASKED, "--model", "offline")
    assert (ungrounded.code, ungrounded.out) == (2, "")
    assert "offline" in ungrounded.err


RUN = {
    "task": "Weather in Paris?",
    "tools": [{"name": "w", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}],
    "steps": [
        {"type": "tool_call", "name": "w", "args": {"city": "Rome"}, "id": "1"},
        {"type": "tool_call", "name": "w", "args": {"town": "Paris"}, "id": "2"},
    ],
    "final_answer": "Rain.",
}


def test_arguments_shows_every_call(command_line: Callable[..., Any], served: Any, tmp_path: Path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(RUN))
    served(says(verdicts=[{"call": 0, "correct": "no", "reason": "Paris was asked"}]))
    ran = command_line("arguments", "--trace-file", str(file))
    assert ran.code == 1
    assert "Paris was asked" in ran.out
    assert "by schema" in ran.out
    assert "failed: 0.00 at threshold 0.5" in ran.out
    document = json.loads(command_line("arguments", "--trace-file", str(file), "--json").out)
    assert [verdict["decided_by"] for verdict in document["verdicts"]] == ["judge", "schema"]


def test_arguments_of_a_run_without_calls_have_no_verdict(command_line: Callable[..., Any], served: Any):
    served(says(verdicts=[]))
    run = json.dumps({"task": "Hi", "steps": [], "final_answer": "hi"})
    ran = command_line("arguments", "--trace-file", "-", stdin=run.encode())
    assert ran.code == 1
    assert "no verdict: no tool was called" in ran.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["relevancy", "--question", "q", "--answer", " "], 2),
        (["relevancy", "--question", "q"], 2),
        (["arguments", "--trace-file", "nowhere.json"], 2),
        (["relevancy", *ASKED], 3),
        (["relevancy", *ASKED, "--json"], 3),
    ],
)
def test_errors_have_their_exit_codes(command_line: Callable[..., Any], served: Any, words: list[str], code: int):
    server = served(Fails(401, "invalid_api_key"))
    ran = command_line(*words)
    assert ran.code == code
    assert ran.err
    assert "sk-secret" not in ran.out + ran.err
    assert len(server.requests) == (1 if code == 3 else 0)
    if "--json" in words:
        assert json.loads(ran.out)["error"]["exit_code"] == code


def test_without_a_key_it_says_what_to_do(
    command_line: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    ran = command_line("relevancy", *ASKED)
    assert ran.code == 2
    assert "ANTHROPIC_API_KEY" in ran.err
    nowhere = command_line("accuracy", *ASKED, "--config", "nowhere.ini")
    assert nowhere.code == 2
    assert "nowhere.ini" in nowhere.err
