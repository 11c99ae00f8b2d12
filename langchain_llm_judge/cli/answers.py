"""Judging one answer to one question."""

from __future__ import annotations

from typing import Annotated

import typer

from langchain_llm_judge.cli.options import AsJson, Config, Model, Provider
from langchain_llm_judge.cli.outcome import Outcome, verdict_code

Question = Annotated[str, typer.Option(metavar="TEXT", help="What was asked.")]
Answer = Annotated[str, typer.Option(metavar="TEXT", help="The answer to judge.")]
Contexts = Annotated[
    list[str] | None,
    typer.Option("--context", metavar="TEXT", help="A passage that is the source of truth; repeatable, in rank order."),
]


def relevancy(
    question: Question,
    answer: Answer,
    model: Model = None,
    provider: Provider = None,
    config: Config = None,
    as_json: AsJson = False,
) -> Outcome:
    """Judge whether an answer addresses its question."""
    from langchain_llm_judge.judges.relevancy import RelevancyAgent
    from langchain_llm_judge.reports.answers import answer_view

    result = RelevancyAgent(config, provider, model).evaluate({"question": question, "answer": answer})
    return Outcome(result, answer_view(result), verdict_code(result["status"] == "PASS"))


def accuracy(
    question: Question,
    answer: Answer,
    context: Contexts = None,
    model: Model = None,
    provider: Provider = None,
    config: Config = None,
    as_json: AsJson = False,
) -> Outcome:
    """Judge whether an answer is right: by the model's own knowledge, or by the passages given as --context."""
    from langchain_llm_judge.judges.accuracy import AccuracyAgent
    from langchain_llm_judge.reports.answers import answer_view

    rag = (lambda _: context) if context else None
    result = AccuracyAgent(config, provider, model, rag).evaluate({"question": question, "answer": answer})
    return Outcome(result, answer_view(result), verdict_code(result["status"] == "PASS"))
