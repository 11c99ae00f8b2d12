"""pytest: a judge as a fixture, and an assertion that says why. Does nothing unless used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from langchain_llm_judge.judges.llm_judge import LLMJudge


@pytest.fixture(scope="session")
def llm_judge() -> LLMJudge:
    """An `LLMJudge` configured by the environment; override it to choose the model."""
    from langchain_llm_judge.judges.llm_judge import LLMJudge

    return LLMJudge()


def assert_passes(evaluation: Any) -> None:
    """Assert that a result, or every result of several, is a pass; no verdict is not one.

    Args:
        evaluation: A result of any judge, a `Judged`, or a list or mapping of results.

    Raises:
        AssertionError: With the reason of every result that does not pass.
    """
    __tracebackhide__ = True
    from langchain_llm_judge.results import passed, reason_of

    failing = [f"{name}: {reason_of(result)}" for name, result in _results(evaluation).items() if not passed(result)]
    assert not failing, "\n".join(failing)


def _results(evaluation: Any) -> dict[str, Any]:
    several = getattr(evaluation, "evaluations", None)
    if several is not None:
        errors = getattr(evaluation, "errors", {})
        return {**several, **errors} or {"no judge": evaluation}
    if isinstance(evaluation, list | tuple):
        return {str(number): result for number, result in enumerate(evaluation)} or {"no results": evaluation}
    if isinstance(evaluation, dict) and "status" not in evaluation:
        return evaluation or {"no results": evaluation}
    return {type(evaluation).__name__: evaluation}
