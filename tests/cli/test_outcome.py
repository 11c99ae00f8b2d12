"""The one place where outcomes are printed and errors become messages and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import typer

from langchain_llm_judge import errors
from langchain_llm_judge.cli.outcome import Outcome, carried_out, verdict_code

CODES = {
    errors.ConfigError("no such setting"): 2,
    errors.MissingAPIKeyError("no key", provider="x", variable="X_API_KEY"): 2,
    errors.UnknownModelError("no such model", model="gpt"): 2,
    errors.MissingExtraError("Ray", "ray"): 2,
    errors.InputError("no such field"): 2,
    errors.TraceError("no trace"): 2,
    errors.DatasetError("no rows"): 2,
    errors.StoreError("no such run"): 2,
    errors.InsufficientDataError("too few", have=1, need=2): 2,
    errors.UnsupportedByEngineError("needs a model"): 2,
    errors.RetrievalError("nothing found", query="q"): 3,
    errors.ModelCallError("no reply", model="m", attempts=3, elapsed_s=1.0): 3,
    errors.JudgeTimeoutError("no reply in time", model="m", attempts=3, elapsed_s=1.0): 3,
    errors.JudgeReplyError("unreadable", raw="x"): 3,
    KeyError("unforeseen"): 70,
    RecursionError("unforeseen"): 70,
    KeyboardInterrupt(): 130,
}


def command_that(raises: BaseException | None = None, **outcome) -> Callable[..., None]:
    def command(as_json: bool = False) -> Outcome:
        print("a library's chatter")
        if raises is not None:
            raise raises
        return Outcome(**outcome)

    return carried_out(command)


def exit_code(command: Callable[..., None], *, as_json: bool) -> int:
    with pytest.raises(typer.Exit) as ended:
        command(as_json=as_json)
    return ended.value.exit_code


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(("error", "code"), CODES.items(), ids=lambda value: type(value).__name__)
def test_every_error_has_its_exit_code_and_a_message(
    error: BaseException, code: int, as_json: bool, capsys: pytest.CaptureFixture[str]
):
    assert exit_code(command_that(raises=error), as_json=as_json) == code
    out, err = capsys.readouterr()
    assert str(error) in err or repr(error) in err
    assert "Traceback" not in err
    if as_json:
        assert json.loads(out) == {"error": {"type": type(error).__name__, "message": str(error), "exit_code": code}}


def test_every_error_of_the_package_is_in_the_table():
    def below(kind: type) -> set[type]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    untold = below(errors.LLMJudgeError) - {type(error) for error in CODES}
    # The base is abstract, a newer store is a store error, and gates are not part of the command line.
    assert {kind.__name__ for kind in untold} == {"LLMJudgeError", "StoreVersionError", "VerdictFailedError"}


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1), (None, 1)])
def test_exit_code_of_a_verdict(passed: bool | None, code: int):
    assert exit_code(command_that(document={}, code=verdict_code(passed)), as_json=True) == code


def test_json_is_one_document_and_the_rest_goes_to_stderr(capsys: pytest.CaptureFixture[str]):
    exit_code(command_that(document={"score": 1.0}, view="passed"), as_json=True)
    out, err = capsys.readouterr()
    assert json.loads(out) == {"score": 1.0}
    assert err == "a library's chatter\n"


def test_a_person_gets_the_view(capsys: pytest.CaptureFixture[str]):
    exit_code(command_that(document={"score": 1.0}, view="passed"), as_json=False)
    assert capsys.readouterr().out == "a library's chatter\npassed\n"


def test_a_document_without_a_view_is_printed_as_json(capsys: pytest.CaptureFixture[str]):
    exit_code(command_that(document=[1, "é"]), as_json=False)
    assert json.loads(capsys.readouterr().out.removeprefix("a library's chatter\n")) == [1, "é"]


def test_json_is_strict(capsys: pytest.CaptureFixture[str]):
    assert exit_code(command_that(document={"score": float("nan")}), as_json=True) == 70
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "ValueError"


def test_notes_of_an_error_are_told(capsys: pytest.CaptureFixture[str]):
    error = errors.ConfigError("no key")
    error.add_note("Do this instead.")
    exit_code(command_that(raises=error), as_json=False)
    assert capsys.readouterr().err == "Error: no key\nDo this instead.\n"


def test_an_unforeseen_error_is_one_line(capsys: pytest.CaptureFixture[str]):
    exit_code(command_that(raises=ValueError("two\nlines")), as_json=False)
    assert capsys.readouterr().err.count("\n") == 1


def test_escapes_in_a_message_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]):
    exit_code(command_that(raises=errors.InputError("seen: \x1b[2J")), as_json=False)
    assert capsys.readouterr().err == "Error: seen: \\u001b[2J\n"
