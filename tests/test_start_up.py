"""Start-up stays quick: the figures of `benchmarks/imports.py`, on few rounds."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent / "benchmarks" / "imports.py"


@pytest.fixture(scope="module")
def median() -> dict[str, float]:
    return benchmark.medians(rounds=5)


spec = importlib.util.spec_from_file_location("imports_benchmark", PATH)
assert spec is not None
assert spec.loader is not None
benchmark = importlib.util.module_from_spec(spec)
spec.loader.exec_module(benchmark)


def test_import_costs_at_most_a_fifth_more_than_langchain_core(median: dict[str, float]):
    assert benchmark.import_ratio(median) <= 1.2


def test_help_answers_in_half_a_second(median: dict[str, float]):
    assert median["llm-judge --help"] < 0.5
