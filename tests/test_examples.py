"""Every example runs as it stands: without a key, without a network, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(example: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(example), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=100,
    )


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_runs_without_a_key(example: Path, tmp_path: Path):
    ran = run(example, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
    assert list(tmp_path.iterdir()) == [], "an example leaves nothing behind"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_takes_a_real_model(example: Path, tmp_path: Path):
    assert "--model" in run(example, tmp_path, "--help").stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_is_short(example: Path):
    assert len(example.read_text(encoding="utf-8").splitlines()) < 50
