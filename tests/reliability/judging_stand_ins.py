"""Stand-ins for stores, runs and judges, by shape."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from langchain_llm_judge.results import Usage

CASES = Path(os.environ.get("JUDGE_CASES", Path(__file__).parents[3] / "shared" / "cases"))


def shared_data(name: str) -> Any:
    """A file of the shared data, or a skipped test."""
    path = CASES.parent / "data" / name
    if not path.is_file():
        pytest.skip(f"{path} is not there; set JUDGE_CASES")
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else [json.loads(line) for line in text.splitlines()]


@dataclass
class Verdict:
    """A result with whatever it carries."""

    winner: str | None = None
    score: float | None = None
    passed: bool | None = None
    usage: Usage | None = None


@dataclass
class Row:
    key: Any
    evaluations: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    repeat: int = 0


@dataclass
class Run:
    rows: list[Row]


@dataclass
class Store:
    runs: Mapping[str, Run]

    def run(self, name: str) -> Run:
        return self.runs[name]


def run_of(values: Iterable[Any], judge: str = "judge") -> Run:
    """One row a value, keyed by position: a text is a winner, a number a score, a bool a pass; None failed."""
    return Run([_row(key, value, judge) for key, value in enumerate(values)])


def _row(key: int, value: Any, judge: str) -> Row:
    if value is None:
        return Row(key, errors={judge: "no verdict"})
    kind = {str: "winner", bool: "passed", float: "score", int: "score"}[type(value)]
    return Row(key, {judge: Verdict(**{kind: value})})


def text_result(score: float, threshold: float = 0.5) -> dict[str, Any]:
    """What a text judge returns."""
    status = "PASS" if score >= threshold else "FAIL"
    return {"status": status, "score": score, "reason": "r", "metadata": {"usage": Usage(calls=1)}}


class ScriptedJudge:
    """Gives its answers in order; an exception is raised, a callable is asked."""

    def __init__(self, *answers: Any, temperature: float | None = None) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.temperature = temperature

    def invoke(self, case: Any) -> Any:
        self.asked.append(case)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer(case) if isinstance(answer, Callable) else answer
