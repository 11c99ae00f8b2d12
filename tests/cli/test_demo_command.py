"""`llm-judge demo`: a real run without key or network, and a grade where a model is named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from openai_server import OpenAIServer, Says
from test_side_effects import watched

from langchain_llm_judge import AgentEvaluation
from langchain_llm_judge.cli.refund_agent import PLANTED

GRADES = {
    "criteria": [
        {"name": "Task Completion", "level": 1, "reason": "nothing was refunded"},
        {"name": "Tool Selection", "level": 4, "reason": "right tools"},
        {"name": "Step Efficiency", "level": 3, "reason": "one look-up too many"},
    ]
}


def test_it_finds_every_planted_mistake_and_nothing_else(command_line):
    ran = command_line("demo", "--json")
    evaluation = AgentEvaluation.model_validate_json(ran.out)
    assert ran.code == 0
    assert [finding.code for finding in evaluation.checks.findings] == list(PLANTED)
    assert evaluation.trace.status == "finished"
    assert [call.name for call in evaluation.trace.calls()] == ["find_order", "refund_policy", "find_order", "refund"]


def test_it_shows_the_run_the_findings_and_the_way_to_a_model(command_line):
    ran = command_line("demo")
    assert (ran.code, ran.err) == (0, "")
    assert 'refund_policy(reason="damaged", country="DE")' in ran.out
    assert ran.out.count("\n  found ") == len(PLANTED)
    assert "missed" not in ran.out
    assert "--model" in ran.out


@pytest.mark.parametrize("options", [(), ("--model", "offline")])
def test_it_judges_an_answer_on_the_embedded_engine(command_line, options: tuple[str, ...]):
    ran = command_line("demo", *options)
    assert ran.code == 0
    told = " ".join(ran.out.split())  # however wide the console is
    assert "faithfulness 0.50" in told
    assert "no passage has the number '30'" in told
    assert "offline, 0 calls" in told


def test_with_a_model_it_is_graded(command_line, monkeypatch: pytest.MonkeyPatch):
    with OpenAIServer([Says(json.dumps(GRADES), arguments=GRADES)]) as server:
        monkeypatch.setenv("JUDGE_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        ran = command_line("demo", "--provider", "openai", "--model", "gpt-4o-mini")
    assert ran.code == 0, ran.err
    assert "Grade  0.42, failed" in ran.out
    assert "nothing was refunded" in ran.out
    assert "\nNext" not in ran.out


def test_a_model_without_a_key_is_wrong_use(command_line):
    ran = command_line("demo", "--model", "openai/gpt-4o-mini")
    assert (ran.code, ran.out) == (2, "")
    assert "OPENAI_API_KEY" in ran.err


def test_it_reaches_for_no_network_and_writes_no_file(tmp_path: Path):
    statement = (
        "import sys; sys.argv = ['llm-judge', 'demo']\n"
        "from langchain_llm_judge.cli import main\n"
        "try: main()\nexcept SystemExit as ended: assert not ended.code"
    )
    report = watched(statement, tmp_path)
    assert report["files_kept"]
    assert [event for event, _ in report["seen"] if event in {"socket.connect", "socket.getaddrinfo", "open"}] == []
    assert "litellm" not in report["modules"]


@pytest.mark.parametrize(
    "console", [{"PYTHONIOENCODING": "cp1252"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}], ids=str
)
def test_it_comes_out_plain_on_any_console(process, console: dict[str, str]):
    ran = process("-m", "langchain_llm_judge.cli", "demo", environment=console)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.decode("ascii")
    assert b"\x1b" not in ran.stdout
    assert os.linesep.encode() in ran.stdout
