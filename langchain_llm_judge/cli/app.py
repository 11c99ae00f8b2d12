"""The list of commands.

A command is a function in the file of its group: its name is the command's, its docstring the help, its parameters the
options, and it returns an `Outcome`. It imports what it calls inside itself, so `--help` stays quick.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from langchain_llm_judge.cli import about, agent, answers, arguments, demo, experiments, grading, rag, trace
from langchain_llm_judge.cli.outcome import Outcome, carried_out

COMMANDS: tuple[Callable[..., Outcome], ...] = (
    demo.demo,
    agent.agent,
    arguments.arguments,
    rag.rag,
    answers.accuracy,
    answers.relevancy,
    grading.grade,
    grading.compare,
    grading.consistency,
    rag.scan,
    about.version,
)
"""Commands of one word, in the order of the help."""

GROUPS: dict[str, tuple[Callable[..., Outcome], ...]] = {
    "experiments": (
        experiments.run,
        experiments.list_,
        experiments.show,
        experiments.agreement,
        experiments.compare,
        experiments.export,
    ),
    "trace": (trace.convert, trace.schema),
}
"""Commands of two words; the help of a group is the docstring of its module."""

_GROUP_HELP = {"experiments": experiments.__doc__, "trace": trace.__doc__}

_EXIT_CODES = """
Exit codes: 0 passed or done; 1 judged and failed, or no verdict; 2 wrong use or input; 3 the judge failed;
130 interrupted. Every FILE may be - for standard input.
"""


def _typer(help_text: str | None, epilog: str | None = None) -> typer.Typer:
    return typer.Typer(
        help=help_text,
        epilog=epilog,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def _build() -> typer.Typer:
    app = _typer("Judge LangChain and LangGraph runs, and see how far the verdicts can be trusted.", _EXIT_CODES)
    for command in COMMANDS:
        app.command(command.__name__)(carried_out(command))
    for name, commands in GROUPS.items():
        group = _typer(_GROUP_HELP[name])
        for command in commands:
            group.command(command.__name__)(carried_out(command))
        app.add_typer(group, name=name)
    return app


app = _build()
