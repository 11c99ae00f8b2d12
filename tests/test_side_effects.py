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


PACKAGE = ROOT / "langchain_llm_judge"
MODULES = [
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__main__.py" and path.parent != PACKAGE
]
DEEPEVAL_OWNERS = ("models.deepeval", "judges.deepeval_metric")
LANGGRAPH_OWNERS = ("attach", "trace.capture", "trace.live", "cli.refund_agent")

IMPORT_ALL = """
import importlib, sys
for module in %r:
    importlib.import_module("langchain_llm_judge." + module)
    loaded = set(%r) & set(sys.modules)
    assert not loaded, f"{module} loads {loaded}"
"""


@pytest.mark.parametrize(
    ("modules", "kept_out"),
    [
        (
            [name for name in MODULES if not name.startswith(DEEPEVAL_OWNERS + LANGGRAPH_OWNERS)],
            ["litellm", "deepeval", "langgraph"],
        ),
        ([name for name in MODULES if name.startswith(LANGGRAPH_OWNERS)], ["litellm", "deepeval"]),
    ],
    ids=["every room", "owners of langgraph"],
)
def test_rooms_load_no_heavy_library_that_is_not_theirs(modules: list[str], kept_out: list[str], tmp_path: Path):
    assert modules
    report = watched(IMPORT_ALL % (modules, kept_out), tmp_path)
    assert [(event, told) for event, told in report["seen"] if not _is_known(event, told)] == []
    assert report["environment_kept"]
    assert report["files_kept"]
    assert report["printed"] == ""


def _is_known(event: str, told: str) -> bool:
    """urllib3 tries on import whether a socket can be bound to ::1; numpy sets and unsets a variable of OpenBLAS."""
    return event == "socket.__new__" or "'::1'" in told or "OPENBLAS_MAIN_FREE" in told
