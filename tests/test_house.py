"""The rules of the house, read off the sources: who imports whom, and who owns what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "langchain_llm_judge"
ROOT = Path(__file__).parent.parent / PACKAGE
SOURCES = sorted(ROOT.rglob("*.py"))

# Lower rooms first; a room may import rooms of its own step or below.
STEP = {
    "errors": 0,
    "results": 1,
    "config": 2,
    "prompts": 2,
    "safety": 2,
    "trace.schema": 2,
    "trace.values": 2,
    "trace": 3,
    "checks": 3,
    "models": 3,
    "retrieval": 3,
    "reliability": 3,
    "testing": 3,
    "judges": 4,
    "attach": 5,
    "experiments": 5,
    "reports": 6,
    "cli": 7,
}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def room(module: str) -> str:
    return module if module in STEP else module.split(".")[0]


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute names of everything a file imports, at any depth, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield node.module or "", node.lineno
            if node.module == PACKAGE:
                for alias in node.names:
                    yield f"{PACKAGE}.{alias.name}", node.lineno


def inner_imports(path: Path) -> Iterator[tuple[str, int]]:
    for name, line in imports(path):
        if name.startswith(f"{PACKAGE}."):
            yield name.removeprefix(f"{PACKAGE}."), line


def importers_of(library: str) -> set[str]:
    return {
        module_name(path)
        for path in SOURCES
        if any(name == library or name.startswith(f"{library}.") for name, _ in imports(path))
    }


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_stairs_go_down_only(path: Path):
    here = module_name(path)
    if not here:
        return
    for target, line in inner_imports(path):
        assert STEP[room(target)] <= STEP[room(here)], f"{path}:{line}: {here} may not import {target}"


def test_rooms_of_one_step_have_no_cycles():
    edges: dict[str, set[str]] = {}
    for path in SOURCES:
        here = module_name(path)
        if here:
            edges.setdefault(room(here), set()).update(room(target) for target, _ in inner_imports(path))
    for start in edges:
        seen: set[str] = set()
        waiting = list(edges[start] - {start})
        while waiting:
            step = waiting.pop()
            assert step != start, f"{start} imports itself through other rooms"
            if step not in seen:
                seen.add(step)
                waiting += edges.get(step, set())


def test_checks_never_reach_a_model():
    for path in (ROOT / "checks").glob("*.py"):
        for target, line in inner_imports(path):
            assert room(target) not in {"models", "judges"}, f"{path}:{line}"


@pytest.mark.parametrize("place", ["trace/schema.py", "trace/values.py", "results.py", "reliability"])
def test_what_outlives_langchain_does_not_import_it(place: str):
    paths = (ROOT / place).rglob("*.py") if (ROOT / place).is_dir() else [ROOT / place]
    for path in paths:
        for name, line in imports(path):
            assert not name.startswith(("langchain_core", "langchain.", "langgraph", "langsmith")), f"{path}:{line}"


def test_reliability_takes_labels_and_numbers():
    for path in (ROOT / "reliability").glob("*.py"):
        for target, line in inner_imports(path):
            assert room(target) in {"errors", "results", "reliability"}, f"{path}:{line}"


@pytest.mark.parametrize(
    ("library", "owners"),
    [
        ("litellm", {"models.resolve"}),
        ("langchain_litellm", {"models.resolve"}),
        ("deepeval", {"models.deepeval", "judges.deepeval_metric"}),
        ("sqlalchemy", {"experiments.store", "experiments.schema"}),
        ("configparser", {"config"}),
    ],
)
def test_every_outside_library_has_one_owner(library: str, owners: set[str]):
    assert importers_of(library) <= owners


def test_only_config_reads_the_environment():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            reads = isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv", "putenv"}
            assert not reads or module_name(path) == "config", f"{path}:{node.lineno}"


def test_only_the_command_line_prints_and_exits():
    for path in SOURCES:
        here = module_name(path)
        if here.startswith("cli") or here == "judges.arguments":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"print", "exit", "quit"}, f"{path}:{node.lineno}"


def test_no_room_is_called_after_nothing():
    for path in ROOT.rglob("*"):
        assert path.stem not in {"utils", "util", "common", "helpers", "helper", "misc"}, path
