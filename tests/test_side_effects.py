"""Importing does nothing but import (the package part of F21), seen from a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = ("litellm", "deepeval", "langgraph", "torch", "scipy", "sqlalchemy", "rich", "typer")

WATCHED_IMPORT = """
import json, os, sys

seen = []
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def watch(event, args):
    if event.startswith(("socket.", "subprocess.", "os.mkdir", "os.rename", "os.remove", "os.putenv", "os.unsetenv")):
        seen.append([event, repr(args)[:200]])
    elif event == "open" and isinstance(args[2], int) and args[2] & WRITES:
        seen.append([event, repr(args)[:200]])

before = dict(os.environ)
sys.addaudithook(watch)
exec(sys.argv[1])
report = {
    "seen": seen,
    "modules": [name for name in sys.modules],
    "environment_kept": dict(os.environ) == before,
}
"""


def watched(statement: str, folder: Path) -> dict:
    """What a fresh process did while it ran the statement, in a folder with a `.env` file."""
    (folder / ".env").write_text("OPENAI_API_KEY=from-dotenv\nJUDGE_MODEL=from-dotenv\n")
    files = sorted(folder.rglob("*"))
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(folder),
        "PYTHONWARNINGS": "error",
    }
    ran = subprocess.run(
        [sys.executable, "-c", WATCHED_IMPORT + "print('\\n' + json.dumps(report))", statement],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    printed, _, report = ran.stdout.rstrip().rpartition("\n")
    return json.loads(report) | {
        "printed": printed.strip() + ran.stderr,
        "files_kept": sorted(folder.rglob("*")) == files,
    }


def loaded(report: dict, library: str) -> list[str]:
    return [name for name in report["modules"] if name == library or name.startswith(f"{library}.")]


def test_f21_importing_the_package_does_nothing_else(tmp_path: Path):
    report = watched("import langchain_llm_judge", tmp_path)
    assert report["seen"] == []
    assert report["environment_kept"]
    assert report["files_kept"]
    assert report["printed"] == ""
    assert [name for library in HEAVY for name in loaded(report, library)] == []


def test_the_watch_sees_what_it_is_there_for(tmp_path: Path):
    statement = (
        "import socket, pathlib, os; socket.socket().close(); pathlib.Path('made').write_text('x'); "
        "os.environ['X_Y'] = '1'; print('hello')"
    )
    report = watched(statement, tmp_path)
    assert {event for event, _ in report["seen"]} >= {"socket.__new__", "open", "os.putenv"}
    assert not report["environment_kept"]
    assert not report["files_kept"]
    assert report["printed"] == "hello"


OWNERS = {
    "litellm": {"models.resolve"},
    "deepeval": {"models.deepeval", "judges.deepeval_metric"},
    "langgraph": {"attach", "cli.refund_agent"},
}
"""Rooms that may load a library when they are imported themselves."""

IMPORT_ALL = """
import importlib, sys
first = {}
for module in %r:
    importlib.import_module(module)
    for library in %r:
        if library in sys.modules:
            first.setdefault(library, module)
print(first)
assert not first, first
"""


@pytest.mark.parametrize("library", sorted(OWNERS))
def test_no_room_but_its_owner_loads(library: str, tmp_path: Path):
    package = ROOT / "langchain_llm_judge"
    modules = [
        ".".join(("langchain_llm_judge", *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted(package.rglob("*.py"))
        if path.name != "__main__.py"
    ]
    owners = tuple(f"langchain_llm_judge.{owner}" for owner in OWNERS[library])
    others = [module for module in modules if not module.startswith(owners)]
    report = watched(IMPORT_ALL % (others, [library]), tmp_path)
    assert report["seen"] == []
