"""Judging the arguments of an agent's tool calls."""

from __future__ import annotations

from langchain_llm_judge.cli.files import read_json
from langchain_llm_judge.cli.options import AsJson, Config, Model, Provider, TraceFile
from langchain_llm_judge.cli.outcome import Outcome, verdict_code


def arguments(
    trace_file: TraceFile,
    model: Model = None,
    provider: Provider = None,
    config: Config = None,
    as_json: AsJson = False,
) -> Outcome:
    """Judge whether the tool calls of a run have the arguments its task calls for."""
    from langchain_llm_judge.judges.arguments import ArgumentCorrectnessJudge
    from langchain_llm_judge.reports.answers import arguments_view

    judge = ArgumentCorrectnessJudge(model=model, provider=provider, config_path=config)
    result = judge.invoke(read_json(trace_file))
    return Outcome(result, arguments_view(result), verdict_code(result.passed))
