"""What a newcomer's machine reads: pyproject, constraints, Makefile, CI script, change log."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
README = (ROOT / "README.md").read_text(encoding="utf-8")


def requirements() -> list[Requirement]:
    """Everything that pyproject names, runtime, extras and dependency groups."""
    groups = [entry for group in PROJECT["dependency-groups"].values() for entry in group if isinstance(entry, str)]
    extras = [entry for extra in PROJECT["project"]["optional-dependencies"].values() for entry in extra]
    return [Requirement(text) for text in [*PROJECT["project"]["dependencies"], *extras, *groups]]


def pins() -> dict[str, Version]:
    return {canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in CONSTRAINTS)}


def test_constraints_are_names_and_versions_only():
    for line in CONSTRAINTS:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), line


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_every_dependency_is_pinned_within_its_bounds(requirement: Requirement):
    pin = pins().get(canonicalize_name(requirement.name))
    assert pin is not None, "run `make constraints`"
    assert requirement.specifier.contains(pin)


def test_every_dependency_has_a_lower_bound():
    for requirement in requirements():
        assert any(part.operator in {">=", "~=", "=="} for part in requirement.specifier), requirement


def test_what_pyproject_registers_exists():
    project = PROJECT["project"]
    entries = project["scripts"] | project["entry-points"]["pytest11"]
    assert set(entries) == {"llm-judge", "llm_judge"}
    for entry in entries.values():
        module, _, name = entry.partition(":")
        assert not name or callable(getattr(importlib.import_module(module), name))
        importlib.import_module(module)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_lists_every_target_a_person_may_want():
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30).stdout
    for target in ("demo", "test", "check", "live", "help"):
        assert re.search(rf"^  make {target} +\S", listed, re.MULTILINE), target


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_readme_names_the_two_commands(command: str):
    assert command in README


def test_ci_runs_what_the_readme_says():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert "set -eu" in lines
    assert lines[-2:] == ["make check", "make test"]


def test_change_log_has_an_unreleased_part_with_sentences():
    _, _, unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n## Unreleased\n")
    entries = [line for line in unreleased.partition("\n## ")[0].splitlines() if line.startswith("- ")]
    assert entries
    assert all(entry.endswith(".") for entry in entries)


def test_the_version_is_a_version():
    assert Version(PROJECT["project"]["version"]) > Version("0")
