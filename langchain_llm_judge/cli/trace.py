"""Turn an agent's run into a framework-agnostic trace."""

from __future__ import annotations

from typing import Annotated

import typer

from langchain_llm_judge.cli.files import read_json
from langchain_llm_judge.cli.options import AsJson
from langchain_llm_judge.cli.outcome import Outcome

Source = Annotated[
    str, typer.Argument(metavar="FILE", help="Messages, a graph's state, recorded events or a run tree, as JSON.")
]


def convert(file: Source, as_json: AsJson = False) -> Outcome:
    """Print FILE as a trace, in the JSON that `agent --trace-file` reads."""
    from langchain_llm_judge.trace.convert import to_trace

    return Outcome(to_trace(read_json(file)))


def schema(as_json: AsJson = False) -> Outcome:
    """Print the JSON Schema of a trace."""
    from langchain_llm_judge.trace.schema import AgentTrace

    return Outcome(AgentTrace.model_json_schema())
