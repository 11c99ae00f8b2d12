"""Turn an agent's run into a framework-agnostic trace."""

from __future__ import annotations

from typing import Annotated

import typer

from langchain_llm_judge.cli.files import read_trace
from langchain_llm_judge.cli.options import AsJson
from langchain_llm_judge.cli.outcome import Outcome
from langchain_llm_judge.errors import InputError, shown

Source = Annotated[
    str, typer.Argument(metavar="FILE", help="Messages, a graph's state, recorded events or a run tree, as JSON.")
]
Task = Annotated[str | None, typer.Option(metavar="TEXT", help="What the agent was asked, where FILE does not tell.")]
MessagesKey = Annotated[str | None, typer.Option(metavar="KEY", help="The key of a state that holds the messages.")]
TaskKey = Annotated[str | None, typer.Option(metavar="KEY", help="The key of a state that holds the task.")]
AnswerKey = Annotated[str | None, typer.Option(metavar="KEY", help="The key of a state that holds the answer.")]
Turn = Annotated[str, typer.Option(metavar="WHICH", help="Turn of a conversation: last, all, or a number from 0.")]


def convert(
    file: Source,
    task: Task = None,
    messages_key: MessagesKey = None,
    task_key: TaskKey = None,
    answer_key: AnswerKey = None,
    turn: Turn = "last",
    as_json: AsJson = False,
) -> Outcome:
    """Print FILE as a trace, in the JSON that `agent --trace-file` reads."""
    return Outcome(
        read_trace(
            file,
            task=task,
            messages_key=messages_key,
            task_key=task_key,
            answer_key=answer_key,
            turn=_turn(turn),
        )
    )


def schema(as_json: AsJson = False) -> Outcome:
    """Print the JSON Schema of a trace."""
    from langchain_llm_judge.trace.schema import AgentTrace

    return Outcome(AgentTrace.model_json_schema())


def _turn(text: str) -> str | int:
    if text in ("last", "all"):
        return text
    try:
        return int(text)
    except ValueError:
        raise InputError(f"--turn {shown(text)} is none of: last, all, a number from 0", field="turn") from None
