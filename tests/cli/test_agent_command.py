"""`llm-judge agent`, from a file to an exit code; judges are a real server on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from openai_server import Fails, Hangs, OpenAIServer, Says

from langchain_llm_judge import AgentEvaluation

GOOD = {
    "task": "Weather in Paris?",
    "tools": ["get_weather"],
    "steps": [
        {"type": "tool_call", "name": "get_weather", "args": {"city": "Paris"}, "id": "1"},
        {"type": "tool_result", "call_id": "1", "content": "rain, " * 200},
    ],
    "final_answer": "Rain.",
}
BAD = {**GOOD, "final_answer": None, "steps": [*GOOD["steps"], {"type": "tool_call", "name": "get_wether", "id": "2"}]}
MESSAGES = [
    {"role": "user", "content": "Weather in Paris?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "1", "function": {"name": "get_weather", "arguments": '{"city": "Par'}}],
    },
]
CRITERIA = ("Task Completion", "Tool Selection", "Step Efficiency")


def graded(level: int, injected: str = "") -> Says:
    grades = [{"name": name, "level": level, "reason": f"level {level}{injected}"} for name in CRITERIA]
    return Says(json.dumps({"criteria": grades}), arguments={"criteria": grades})


@pytest.fixture
def file(tmp_path: Path) -> Callable[[object], str]:
    def write(content: object) -> str:
        path = tmp_path / "run.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch):
    """Starts the judge model's server; returns it with the options that name it."""
    servers = []

    def start(*behaviours: object, model: str = "openai/gpt-4o-mini") -> tuple[OpenAIServer, list[str]]:
        server = OpenAIServer(behaviours).__enter__()
        servers.append(server)
        monkeypatch.setenv("JUDGE_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
        monkeypatch.setenv("JUDGE_MAX_RETRIES", "0")
        return server, ["--model", model]

    yield start
    for server in servers:
        server.__exit__()


@pytest.mark.parametrize(("trace", "code"), [(GOOD, 0), (BAD, 1), (MESSAGES, 1)])
def test_checks_decide_where_no_grade_is_asked_for(command_line, file, trace: object, code: int):
    ran = command_line("agent", "--trace-file", file(trace), "--checks-only")
    assert ran.code == code
    assert ran.out.splitlines()[-1] == ("passed: by the checks" if code == 0 else "failed: by the checks")
    assert ran.err == ""


def test_the_trace_is_shown_with_its_calls_and_long_results_cut(command_line, file):
    out = command_line("agent", "--trace-file", file(BAD), "--checks-only").out
    assert 'call    get_weather(city="Paris")' in out
    assert "characters]" in out
    assert len(out) < 3000
    assert "unknown_tool" in out
    assert "get_wether" in out


def test_standard_input_is_a_file_too(command_line):
    ran = command_line("agent", "--trace-file", "-", "--checks-only", stdin=json.dumps(GOOD).encode())
    assert ran.code == 0


def test_expected_tools_and_the_step_budget_are_checked(command_line, file):
    options = ["--expected-tool", "get_weather", "--expected-tool", "book", "--max-steps", "0", "--json"]
    ran = command_line("agent", "--trace-file", file(GOOD), "--checks-only", *options)
    found = {finding["code"] for finding in json.loads(ran.out)["checks"]["findings"]}
    assert (ran.code, found) == (1, {"expected_tool_unused", "step_budget"})


def test_json_is_the_whole_evaluation(command_line, file):
    ran = command_line("agent", "--trace-file", file(GOOD), "--checks-only", "--json")
    evaluation = AgentEvaluation.model_validate_json(ran.out)
    assert evaluation.passed
    assert evaluation.trace.task == GOOD["task"]


@pytest.mark.parametrize(("level", "code", "verdict"), [(5, 0, "1.00, passed"), (1, 1, "0.00, failed")])
def test_the_grade_decides_where_there_is_one(command_line, file, served, level: int, code: int, verdict: str):
    server, options = served(graded(level, "\x1b[2J [red]"))
    ran = command_line("agent", "--trace-file", file(BAD), "--reference", "It rains.", *options)
    assert ran.code == code
    assert f"Grade  {verdict} at threshold 0.5" in ran.out
    assert "Task Completion" in ran.out
    assert f"level {level}\\u001b[2J [red]" in ran.out
    assert "1 call, 11 tokens in, 7 tokens out, $0.0000" in ran.out
    assert "failed_result" not in ran.out.split("Grade")[1]
    assert "It rains." in json.dumps(server.requests[0])


def test_the_key_may_stand_in_a_file(command_line, file, served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    server, options = served(graded(5))
    monkeypatch.delenv("OPENAI_API_KEY")
    config = tmp_path / "keys.ini"
    config.write_text("[OpenAI]\napi_key = sk-from-the-file\n", encoding="utf-8")
    ran = command_line("agent", "--trace-file", file(GOOD), *options, "--config", str(config))
    assert ran.code == 0, ran.err
    assert "Bearer sk-from-the-file" in server.headers[0].values()
    missing = command_line("agent", "--trace-file", file(GOOD), *options, "--config", "nowhere.ini")
    assert (missing.code, "nowhere.ini" in missing.err) == (2, True)


def test_halves_of_characters_do_not_keep_a_run_from_being_judged(command_line, file, served):
    server, options = served(graded(5))
    broken = json.dumps({**GOOD, "task": "Cut in the mid\ud83d", "final_answer": "\udc4d"})
    ran = command_line("agent", "--trace-file", file(broken), "--json", *options, "--reference", "caf\udce9")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["trace"]["task"] == "Cut in the mid\ud83d"
    assert "Cut in the mid\ufffd" in server.requests[0]["messages"][-1]["content"]


def test_json_stays_pure_with_a_model_that_litellm_has_no_price_for(command_line, file, served):
    _, options = served(graded(5), model="openai/nobody-knows-this-one")
    ran = command_line("agent", "--trace-file", file(GOOD), "--json", *options)
    assert ran.code == 0
    assert json.loads(ran.out)["usage"]["cost_usd"] is None


def test_json_stays_pure_in_a_process_of_its_own(process, file, served):
    _, options = served(graded(5), model="openai/nobody-knows-this-one")
    ran = process("-m", "langchain_llm_judge.cli", "agent", "--trace-file", file(GOOD), "--json", *options)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["passed"] is True
    assert ran.stderr == b""


@pytest.mark.parametrize("behaviour", [Fails(500), Fails(401), Says("no verdict here"), graded(9)])
def test_a_judge_that_fails_is_told_from_a_failed_run(command_line, file, served, behaviour):
    _, options = served(behaviour)
    ran = command_line("agent", "--trace-file", file(GOOD), *options)
    assert ran.code == 3
    assert ran.out == ""
    assert ran.err.startswith("Judge failed: ")
    assert "sk-secret" not in ran.err


def test_a_paused_run_has_no_verdict(command_line, file, served):
    server, options = served(graded(5))
    ran = command_line("agent", "--trace-file", file({**GOOD, "status": "paused"}), *options)
    assert (ran.code, server.requests) == (1, [])
    assert ran.out.splitlines()[-1] == "no verdict: not_graded_paused"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("not json", "is not JSON: Expecting value at line 1 column 1"),
        ("", "is empty; expected JSON"),
        ({"steps": []}, "'task'"),
        ({"task": "x", "steps": [{"type": "tool_cal"}]}, "'tool_cal'"),
        ({"idea": "x"}, "no messages found in a state with keys 'idea'"),
        ([], "empty"),
        (7, "int 7"),
        (None, "None"),
    ],
)
def test_bad_input_is_told_without_a_traceback(command_line, file, content: object, told: str):
    ran = command_line("agent", "--trace-file", file(content), "--checks-only")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: ")
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_a_missing_key_names_the_way_out(command_line, file):
    ran = command_line("agent", "--trace-file", file(GOOD))
    assert ran.code == 2
    assert "ANTHROPIC_API_KEY" in ran.err
    assert "--checks-only" in ran.err


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--trace-file"],
        ["--trace-file", "missing.json"],
        ["--trace-file", "x", "--max-steps", "-1"],
        ["--trace-file", "x", "--max-steps", "many"],
        ["--trace-file", "x", "--no-such-option"],
        ["--trace-file", "x", "left over"],
    ],
)
def test_wrong_use_is_2(command_line, options: list[str]):
    ran = command_line("agent", *options)
    assert (ran.code, ran.out) == (2, "")
    assert "Error" in ran.err


def test_options_without_effect_are_pointed_out(command_line, file):
    ran = command_line("agent", "--trace-file", file(GOOD), "--checks-only", "--model", "openai/gpt-4o-mini")
    assert ran.code == 0
    assert "--checks-only asks no model" in ran.err


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT to another process")
def test_an_interrupt_is_130_at_once_even_while_the_judge_hangs(file, served):
    server, options = served(Hangs())
    command = [sys.executable, "-m", "langchain_llm_judge.cli", "agent", "--trace-file", file(GOOD), *options]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        started = time.monotonic()
        while not server.requests and time.monotonic() < started + 30:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (130, b"", b"Interrupted.\n")
    assert time.monotonic() - interrupted < 3
