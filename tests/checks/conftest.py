"""Public data handed out beside the project, where it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CASES = Path(os.environ.get("JUDGE_CASES", Path(__file__).parents[2] / "../shared/cases"))


@pytest.fixture(scope="session")
def public_data() -> Callable[[str], list[Any]]:
    """The rows of one file; skips the test where the data is not at hand."""

    def rows(name: str) -> list[Any]:
        path = CASES.parent / "data" / name
        if not path.exists():
            pytest.skip(f"{name} is not beside JUDGE_CASES ({CASES})")
        text = path.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]

    return rows
