"""The handed scenarios: real runs of LangChain and LangGraph, each with the right trace."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES = Path(os.environ.get("JUDGE_CASES", ROOT.parent / "shared" / "cases")) / "langgraph"


def test_every_scenario_gives_the_right_trace_live_and_afterwards():
    if not (CASES / "check.py").exists():
        pytest.skip(f"the scenarios are not at {CASES}; name their folder with JUDGE_CASES")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "check.py"], cwd=CASES, env=environment, capture_output=True, text=True, timeout=110
    )
    last = done.stdout.strip().splitlines()[-1]
    found = re.fullmatch(r"(\d+) passed, (\d+) failed", last)
    assert found, done.stdout + done.stderr
    assert found[2] == "0", done.stdout
    assert int(found[1]) >= 60
    assert done.returncode == 0
