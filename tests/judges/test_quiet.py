"""A whole evaluation seen from outside: a fresh process, an audit hook, a real server, a key that must not show.

What is let pass: `uname -p`, by which Python's `platform` tells OpenAI's client the kind of processor.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tracers.context import collect_runs
from openai_server import Fails, OpenAIServer, Says, busy

from langchain_llm_judge import AccuracyAgent, RelevancyAgent
from langchain_llm_judge.errors import LLMJudgeError

ROOT = Path(__file__).parents[2]
REPLY = json.dumps({"score": 8, "reason": "ok"})
KEY = "sk-proj-very-secret-0123456789"

WATCHED = """
import asyncio, json, os, sys, threading

seen = []
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def watch(event, args):
    if event == "socket.connect":
        seen.append([event, str(args[1])])
    elif event in ("os.mkdir", "os.rename") or (event == "subprocess.Popen" and args[1] != ["uname", "-p"]):
        seen.append([event, repr(args)[:200]])
    elif event == "open" and isinstance(args[2], int) and args[2] & WRITES and str(args[0]) != os.devnull:
        seen.append([event, repr(args)[:200]])

from langchain_llm_judge import AccuracyAgent

case = {"question": "Where is the Eiffel Tower?", "answer": "In Paris."}
agent = AccuracyAgent(provider="openai", model="gpt-4o-mini", rag=lambda query: ["It stands in Paris."])
sys.addaudithook(watch)
scores = [agent.evaluate(case)["score"] for _ in range(2)]
for _ in range(2):
    scores.append(asyncio.run(agent.aevaluate(case))["score"])
scores += [result["score"] for result in agent.batch([case] * 24)]

async def inside():
    return agent.evaluate(case)["score"]

scores.append(asyncio.run(inside()))
patched = hasattr(asyncio, "_nest_patched") or "nest_asyncio" in str(asyncio.run)
loud = [name for name in ("posthog", "sentry_sdk") if name in sys.modules]
print(json.dumps({"scores": scores, "seen": seen, "patched": patched, "loud": loud, "env": sorted(os.environ)}))
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory):
    """What a fresh process did during 29 evaluations of 2 metrics each (DeepEval reports after 50), and left behind."""
    folder = tmp_path_factory.mktemp("user")
    (folder / ".env").write_text("OPENAI_API_KEY=from-dotenv\nFROM_DOTENV=1\n")
    (folder / ".deepeval").mkdir()
    (folder / ".deepeval" / ".deepeval").write_text('{"confident_api_key": "from-keyfile"}')
    before = sorted(folder.rglob("*"))
    with OpenAIServer([Says(REPLY)]) as server:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DEEPEVAL_", "LITELLM_"))}
        environment = {
            **kept,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(folder),
            "OPENAI_API_KEY": KEY,
            "JUDGE_API_BASE": server.url,
        }
        ran = subprocess.run(
            [sys.executable, "-c", WATCHED], cwd=folder, env=environment, capture_output=True, text=True, timeout=100
        )
        assert ran.returncode == 0, ran.stderr
        *printed, report = ran.stdout.splitlines()
        yield json.loads(report) | {
            "printed": printed + ran.stderr.splitlines(),
            "files_kept": sorted(folder.rglob("*")) == before,
            "address": server.url,
            "requests": len(server.requests),
        }


def test_f21_only_the_judge_model_is_called(watched: dict[str, Any]):
    port = watched["address"].rsplit(":", 1)[1].removesuffix("/v1")
    assert watched["scores"] == [0.8] * 29
    assert watched["requests"] == 58
    connected = {address for event, address in watched["seen"] if event == "socket.connect"}
    assert connected == {f"('127.0.0.1', {port})"}


def test_f21_no_file_is_written_and_nothing_is_started(watched: dict[str, Any]):
    others = [entry for entry in watched["seen"] if entry[0] != "socket.connect"]
    assert others == []
    assert watched["files_kept"]
    assert watched["loud"] == []


def test_f21_nothing_is_printed(watched: dict[str, Any]):
    assert watched["printed"] == []


def test_f21_dotenv_and_key_file_of_deepeval_are_not_loaded(watched: dict[str, Any]):
    assert not {"FROM_DOTENV", "CONFIDENT_API_KEY"} & set(watched["env"])


def test_f10_the_loop_is_not_patched(watched: dict[str, Any]):
    assert not watched["patched"]


@pytest.mark.parametrize(
    "behaviours",
    [
        [Says(REPLY)],
        [Fails(401, f"invalid_key {KEY}")],
        [Fails(400, KEY)],
        [busy("0"), Says("garbage")],
        [Says(f"key {KEY}")],
    ],
    ids=["fine", "401", "400", "unreadable", "echo"],
)
def test_keys_never_show(
    behaviours: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.ini").write_text(f"[openai]\napi_key = {KEY}\n")
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    with OpenAIServer(behaviours) as server:
        monkeypatch.setenv("JUDGE_API_BASE", server.url)
        for agent in (
            RelevancyAgent(provider="openai", model="gpt-4o-mini"),
            AccuracyAgent(provider="openai", model="gpt-4o-mini"),
        ):
            shown += [repr(agent), repr(vars(agent)), str(agent.identity())]
            try:
                shown.append(repr(agent.evaluate({"question": "q", "answer": "a"})))
            except LLMJudgeError as error:
                causes = [error, error.__cause__, error.__context__]
                shown += [f"{cause} {cause!r}" for cause in causes if cause is not None]
        sent = {name.lower(): value for name, value in server.headers[0].items()}
        assert sent["authorization"] == f"Bearer {KEY}"
    captured = capsys.readouterr()
    assert KEY not in "".join([*shown, caplog.text, captured.out, captured.err])


async def test_keys_never_show_in_the_trace(monkeypatch: pytest.MonkeyPatch):
    with OpenAIServer([Says(REPLY)]) as server, collect_runs() as runs:
        monkeypatch.setenv("JUDGE_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        agent = RelevancyAgent(provider="openai", model="gpt-4o-mini")
        await agent.ainvoke({"question": "q", "answer": "a"})
    (run,) = runs.traced_runs
    assert [child.run_type for child in run.child_runs] == ["llm"]
    assert KEY not in run.model_dump_json() + repr(run)
