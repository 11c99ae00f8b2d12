"""Judging an answer against its passages, and scanning texts for planted instructions."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from langchain_llm_judge.cli.files import read_json, read_text
from langchain_llm_judge.cli.options import AsJson, Config, Model, Provider
from langchain_llm_judge.cli.outcome import FAILED, PASSED, Outcome, verdict_code

Question = Annotated[str, typer.Option(metavar="TEXT", help="What was asked.")]
Answer = Annotated[str, typer.Option(metavar="TEXT", help="The answer to judge.")]
Contexts = Annotated[
    list[str] | None, typer.Option("--context", metavar="TEXT", help="A retrieved passage; repeatable, in rank order.")
]
ContextsFile = Annotated[
    str | None,
    typer.Option("--contexts-file", metavar="FILE", help="Passages as JSON: texts or documents; or plain text."),
]
Reference = Annotated[str | None, typer.Option(metavar="TEXT", help="The right answer, for context recall.")]


def rag(
    question: Question,
    answer: Answer,
    context: Contexts = None,
    contexts_file: ContextsFile = None,
    reference: Reference = None,
    model: Model = None,
    provider: Provider = None,
    config: Config = None,
    as_json: AsJson = False,
) -> Outcome:
    """Judge an answer claim by claim against its passages."""
    from langchain_llm_judge.judges.rag import RAGJudge
    from langchain_llm_judge.reports.verdicts import rag_view

    case = {"question": question, "answer": answer, "contexts": _contexts(context, contexts_file)}
    judge = RAGJudge(model, provider, config_path=config)
    evaluation = judge.invoke({**case, "reference": reference})
    return Outcome(evaluation, rag_view(evaluation), verdict_code(evaluation.passed))


def _contexts(given: list[str] | None, file: str | None) -> list[Any]:
    from langchain_llm_judge.retrieval import as_documents

    in_file = [] if file is None else as_documents(_passages_in(file))
    return [*(given or []), *in_file]


def _passages_in(file: str) -> Any:
    """JSON passages where the file is JSON by its name or its first character, else its text as one passage."""
    if file.lower().endswith((".json", ".jsonl")) or file == "-":
        return read_json(file)
    text = read_text(file)
    return read_json(file) if text.lstrip().startswith(("[", "{")) else text


def scan(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A text to scan; - for standard input.")],
    as_json: AsJson = False,
) -> Outcome:
    """Scan a text for instructions planted in it; exit code 1 where some are found."""
    from langchain_llm_judge.reports.verdicts import scan_view
    from langchain_llm_judge.safety.injection import scan_text

    findings = scan_text(read_text(file))
    return Outcome(findings, scan_view(findings), FAILED if findings else PASSED)
