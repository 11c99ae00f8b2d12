"""Checking and grading an agent's run."""

from __future__ import annotations

from typing import Annotated

import typer

from langchain_llm_judge.cli.console import write_message
from langchain_llm_judge.cli.files import read_trace
from langchain_llm_judge.cli.options import AsJson, Config, Model, Provider, TraceFile
from langchain_llm_judge.cli.outcome import Outcome, verdict_code
from langchain_llm_judge.errors import MissingAPIKeyError, UnsupportedByEngineError

ChecksOnly = Annotated[bool, typer.Option("--checks-only", help="Check the run without a model; needs no key.")]
Reference = Annotated[str | None, typer.Option(metavar="TEXT", help="What a good run comes to, for the grade.")]
ExpectedTools = Annotated[
    list[str] | None, typer.Option("--expected-tool", metavar="NAME", help="A tool that must be called; repeatable.")
]
MaxSteps = Annotated[int | None, typer.Option(min=0, metavar="N", help="Tool calls allowed.")]


def agent(
    trace_file: TraceFile,
    checks_only: ChecksOnly = False,
    reference: Reference = None,
    expected_tool: ExpectedTools = None,
    max_steps: MaxSteps = None,
    model: Model = None,
    provider: Provider = None,
    config: Config = None,
    as_json: AsJson = False,
) -> Outcome:
    """Check an agent's run without a model, and grade it with one."""
    from langchain_llm_judge.judges.agent import AgentJudge
    from langchain_llm_judge.reports.tables import agent_view

    if checks_only and (model or provider or reference):
        write_message("Note: --checks-only asks no model, so --model, --provider and --reference change nothing.")
    trace = read_trace(trace_file)
    try:
        judge = AgentJudge(
            model,
            provider,
            expected_tools=expected_tool or (),
            max_steps=max_steps,
            grade=not checks_only,
            config_path=config,
        )
        evaluation = judge.invoke({"trace": trace, "reference": reference})
    except (MissingAPIKeyError, UnsupportedByEngineError) as error:
        error.add_note("With --checks-only the run is checked without a model.")
        raise
    return Outcome(evaluation, agent_view(evaluation), verdict_code(evaluation.passed))
