"""What a command comes to: its outcome, its exit code, and the one place where errors become messages."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

import typer

from langchain_llm_judge import errors
from langchain_llm_judge.cli.console import write_json, write_message, write_view

if TYPE_CHECKING:
    from rich.console import RenderableType

P = ParamSpec("P")

PASSED = 0
"""Passed, or done where nothing is judged."""
FAILED = 1
"""Judged and failed, no verdict, or findings of a scan."""
WRONG_USE = 2
"""Wrong use or input, a missing key among them."""
JUDGE_FAILED = 3
"""The judge could not be reached, or gave no readable verdict."""
DEFECT = 70
"""An error nobody foresaw."""
INTERRUPTED = 130

_JUDGE_FAILURES = (errors.ModelCallError, errors.JudgeReplyError, errors.RetrievalError)


class Outcome(NamedTuple):
    """What a command found."""

    document: Any
    """For programs, printed by `--json`: a result, or anything else that has a JSON form."""
    view: RenderableType | None = None
    """For people; `None` where the document is what the command is called for."""
    code: int = PASSED


def verdict_code(passed: bool | None) -> int:
    """The exit code of a verdict; without a verdict it is that of a failed one."""
    return PASSED if passed else FAILED


def carried_out(command: Callable[P, Outcome]) -> Callable[P, None]:
    """The command as typer calls it: the outcome printed, errors as messages, the exit code as `typer.Exit`."""

    @functools.wraps(command)
    def run(*args: P.args, **options: P.kwargs) -> None:
        as_json = bool(options.get("as_json"))
        try:
            # What libraries print must not come between a program and its document.
            with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
                outcome = command(*args, **options)
            _print(outcome, as_json=as_json)
            code = outcome.code
        except (Exception, KeyboardInterrupt) as error:
            code = _report(error, as_json=as_json)
        raise typer.Exit(code)

    return run


def _print(outcome: Outcome, *, as_json: bool) -> None:
    if as_json or outcome.view is None:
        write_json(outcome.document)
    else:
        write_view(outcome.view)


def _report(error: BaseException, *, as_json: bool) -> int:
    code, message = _explained(error)
    write_message("\n".join([message, *getattr(error, "__notes__", [])]))
    if as_json:
        write_json({"error": {"type": type(error).__name__, "message": str(error), "exit_code": code}})
    return code


def _explained(error: BaseException) -> tuple[int, str]:
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "Interrupted."
    if isinstance(error, _JUDGE_FAILURES):
        return JUDGE_FAILED, f"Judge failed: {error}"
    if isinstance(error, errors.LLMJudgeError):
        return WRONG_USE, f"Error: {error}"
    if sys.flags.dev_mode:
        raise error
    return DEFECT, f"Unexpected error: {errors.shown(error)}; PYTHONDEVMODE=1 shows where it happened"
