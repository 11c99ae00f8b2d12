"""What the README shows is run: its Python blocks in order, its commands' options, its tables against the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from openai_server import OpenAIServer, Says

from langchain_llm_judge.cli.app import app
from langchain_llm_judge.config import Settings

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
GRADES = [
    {"name": name, "level": 2, "reason": "the tool said rain"}
    for name in ("Task Completion", "Tool Selection", "Step Efficiency")
]


@pytest.fixture
def judge_server(monkeypatch: pytest.MonkeyPatch):
    """The default judge of this test: a server on loopback that speaks OpenAI's API."""
    with OpenAIServer([Says(json.dumps({"criteria": GRADES}), arguments={"criteria": GRADES})]) as server:
        monkeypatch.setenv("JUDGE_PROVIDER", "openai")
        monkeypatch.setenv("JUDGE_MODEL", "gpt-4o-mini")
        monkeypatch.setenv("JUDGE_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield server


def test_python_blocks_run_in_order(
    judge_server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert BLOCKS
    names: dict[str, object] = {"__name__": "readme"}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith("error unexpected_argument ")
    assert "0.25 Task Completion (0.25): the tool said rain" in printed
    assert "0.5 ['It flies.']" in printed
    assert "Relevancy (" in printed
    assert "finished True" in printed
    assert len(judge_server.requests) == 1
    with pytest.raises(SystemExit, match="1"):
        app(["agent", "--trace-file", "run.json", "--checks-only"], prog_name="llm-judge")


def test_the_start_is_short():
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 20


def test_the_settings_table_is_complete():
    told = set(re.findall(r"`(JUDGE_[A-Z_]+)`", README))
    assert told == {f"JUDGE_{name.upper()}" for name in Settings.model_fields}


def test_every_room_is_on_the_map():
    rooms = {path.name for path in (Path(__file__).parent.parent / "langchain_llm_judge").iterdir() if path.is_dir()}
    modules = {path.stem for path in (Path(__file__).parent.parent / "langchain_llm_judge").glob("*.py")}
    map_of_the_house = README.partition("## The house")[2].partition("\n## ")[0]
    told = set(re.findall(r"`(\w+)`", map_of_the_house))
    assert (rooms | modules) - {"__pycache__", "templates", "__init__"} <= told


@pytest.mark.parametrize("command", sorted(set(re.findall(r"^llm-judge ((?:trace )?[a-z]+)", README, re.MULTILINE))))
def test_every_command_it_names_exists(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="0"):
        app([*command.split(), "--help"], prog_name="llm-judge")
    assert f"Usage: llm-judge {command} " in capsys.readouterr().out


def test_every_option_it_names_exists(capsys: pytest.CaptureFixture[str]):
    for line in re.findall(r"^llm-judge agent (.*?)(?:#.*)?$", README, re.MULTILINE):
        with pytest.raises(SystemExit, match="0"):
            app(["agent", "--help"], prog_name="llm-judge")
        told = capsys.readouterr().out
        assert all(option in told for option in re.findall(r"--[a-z-]+", line)), line
