"""The help of every command, and that help and listing load nothing heavy."""

from __future__ import annotations

import json

import pytest

from langchain_llm_judge.cli.app import COMMANDS, GROUPS

EVERY = [(command.__name__,) for command in COMMANDS] + [
    (group, command.__name__) for group, commands in GROUPS.items() for command in commands
]


def test_help_lists_every_command(command_line):
    told = command_line("--help")
    assert told.code == 0
    for name, *_ in EVERY:
        assert f"\n  {name} " in told.out
    assert "Exit codes: 0 passed" in told.out


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help_of_a_command_names_its_options(command_line, words: tuple[str, ...]):
    told = command_line(*words, "--help")
    assert told.code == 0
    assert "--json" in told.out
    assert told.out.isascii()


def test_every_group_has_a_help(command_line):
    for group, commands in GROUPS.items():
        told = command_line(group, "--help")
        assert all(command.__name__ in told.out for command in commands)


@pytest.mark.parametrize("arguments", [["nope"], ["trace", "nope"], ["--nope"]])
def test_what_does_not_exist_is_wrong_use(command_line, arguments: list[str]):
    ran = command_line(*arguments)
    assert (ran.code, ran.out) == (2, "")


def test_help_loads_nothing_heavy(process):
    source = (
        "import sys, json, atexit\n"
        "atexit.register(lambda: print(json.dumps([name for name in sys.modules]), file=sys.stderr))\n"
        "sys.argv = ['llm-judge', '--help']\n"
        "from langchain_llm_judge.cli import main; main()"
    )
    loaded = {name.partition(".")[0] for name in json.loads(process("-c", source).stderr)}
    assert loaded.isdisjoint({"langchain_core", "pydantic", "litellm", "deepeval", "langgraph", "numpy"})
