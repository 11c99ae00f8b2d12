"""Judge models behind a real HTTP server on loopback: retries, time-outs, faults, and what is sent where."""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import os
import subprocess
import sys
import textwrap
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judging import Verdict, prompt
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tracers.context import collect_runs
from langchain_openai import ChatOpenAI
from openai_server import Drops, Fails, Garbles, Hangs, OpenAIServer, Says, busy, refuses

from langchain_llm_judge.errors import JudgeReplyError, JudgeTimeoutError, ModelCallError
from langchain_llm_judge.models import attempts
from langchain_llm_judge.models.resolve import resolve_model
from langchain_llm_judge.models.structured import JudgeModel, Reply

ROOT = Path(__file__).parents[2]
GOOD = Says('{"score": 8, "reason": "ok"}')
KEY = "sk-very-secret-0123456789"

Serve = Callable[..., OpenAIServer]
Made = Callable[[OpenAIServer], JudgeModel]
Ask = Callable[[JudgeModel], Reply[Any]]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(attempts, "FIRST_PAUSE_S", 0.01)


@pytest.fixture(params=["litellm", "ChatOpenAI"])
def made(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Made:
    def make(server: OpenAIServer) -> JudgeModel:
        if request.param == "ChatOpenAI":
            return resolve_model(ChatOpenAI(model="gpt-4o-mini", base_url=server.url, api_key=KEY, max_retries=0))
        monkeypatch.setenv("JUDGE_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        return resolve_model("openai/gpt-4o-mini")

    return make


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Ask:
    if request.param == "sync":
        return lambda judge: judge.ask(prompt(), Verdict)
    return lambda judge: asyncio.run(judge.aask(prompt(), Verdict))


def test_success(serve: Serve, made: Made, ask: Ask):
    server = serve(GOOD)
    reply = ask(made(server))
    assert (reply.value.score, reply.path, reply.attempts) == (8, "native", 1)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    assert reply.usage.cost_usd == pytest.approx(11 * 0.15e-6 + 7 * 0.6e-6)
    [sent] = server.requests
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert [message["content"] for message in sent["messages"]] == ["You are a judge.", "Is 20 right?"]


@pytest.mark.parametrize("fault", [busy(), Fails(500), Fails(503), Fails(529), Fails(408), Drops(), Garbles()], ids=str)
def test_f09_what_may_pass_is_tried_again_by_us_alone(serve: Serve, made: Made, ask: Ask, fault: Any):
    server = serve(fault, fault, GOOD)
    reply = ask(made(server))
    assert (reply.value.score, reply.attempts, reply.usage.calls) == (8, 3, 1)
    assert len(server.requests) == 3


@pytest.mark.parametrize("fault", [busy(), Fails(500), Garbles()], ids=str)
def test_a_name_of_langchains_sends_exactly_our_attempts(
    serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch, fault: Any
):
    server = serve(fault, fault, GOOD)
    monkeypatch.setenv("JUDGE_API_BASE", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    reply = ask(resolve_model("openai:gpt-4o-mini"))
    assert (reply.value.score, reply.path, reply.attempts, len(server.requests)) == (8, "native", 3, 3)


@pytest.mark.parametrize("fault", [busy(), Fails(500), Drops()], ids=str)
def test_f09_trying_is_bounded(serve: Serve, made: Made, ask: Ask, monkeypatch: pytest.MonkeyPatch, fault: Any):
    server = serve(fault)
    with pytest.raises(ModelCallError) as caught:
        ask(made(server))
    assert (len(server.requests), caught.value.attempts, caught.value.retryable) == (4, 4, True)


def test_f09_the_number_of_retries_is_a_setting(serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGE_MAX_RETRIES", "0")
    monkeypatch.setenv("JUDGE_API_BASE", (server := serve(busy())).url)
    with pytest.raises(ModelCallError):
        ask(resolve_model("openai/gpt-4o-mini"))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "fault", [Fails(401), Fails(403), Fails(404), Fails(413), Fails(429, "insufficient_quota")], ids=str
)
def test_f09_what_cannot_pass_fails_at_once(serve: Serve, made: Made, ask: Ask, fault: Fails):
    server = serve(fault)
    with pytest.raises(ModelCallError) as caught:
        ask(made(server))
    assert len(server.requests) == 1
    assert (caught.value.attempts, caught.value.retryable) == (1, False)
    assert str(fault.status) in str(caught.value)


def test_f09_a_refused_response_format_costs_one_request_once(serve: Serve, made: Made, ask: Ask):
    server = serve(refuses("response_format", "tools", otherwise=GOOD))
    judge = made(server)
    assert [ask(judge).path for _ in range(2)] == ["json", "json"]
    assert ["response_format" in sent for sent in server.requests] == [True, False, False]
    assert "JSON Schema" in server.requests[1]["messages"][0]["content"]


def test_a_request_that_is_refused_in_every_form_is_an_error(serve: Serve, made: Made, ask: Ask):
    server = serve(Fails(400))
    with pytest.raises(ModelCallError) as caught:
        ask(made(server))
    assert not caught.value.retryable
    assert len(server.requests) <= 3


def test_f09_temperature_is_left_out_for_models_that_refuse_it(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    server = serve(refuses("temperature", otherwise=GOOD))
    monkeypatch.setenv("JUDGE_API_BASE", server.url)
    for name in ("openai/some-model", "openai:some-model"):
        judge = resolve_model(name)
        assert [judge.ask(prompt(), Verdict).value.score for _ in range(2)] == [8, 8]
        assert "temperature" not in server.requests[-1]


@pytest.mark.parametrize("name", ["openai/o3-mini", "openai:o3-mini"])
def test_models_known_to_take_no_temperature_get_none(serve: Serve, monkeypatch: pytest.MonkeyPatch, name: str):
    server = serve(GOOD)
    monkeypatch.setenv("JUDGE_API_BASE", server.url)
    assert resolve_model(name).ask(prompt(), Verdict).attempts == 1
    assert "temperature" not in server.requests[0]


@pytest.mark.parametrize("name", ["openai/gpt-4o-mini", "openai:gpt-4o-mini"])
@pytest.mark.parametrize(("setting", "given", "sent"), [(None, None, 0), ("0.5", None, 0.5), ("0.5", 1, 1)])
def test_temperature(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, name: str, setting: str | None, given: float | None, sent: float
):
    server = serve(GOOD)
    monkeypatch.setenv("JUDGE_API_BASE", server.url)
    if setting:
        monkeypatch.setenv("JUDGE_TEMPERATURE", setting)
    resolve_model(name, temperature=given).ask(prompt(), Verdict)
    assert server.requests[0]["temperature"] == sent


@pytest.mark.parametrize("name", ["openai/gpt-4o-mini", "openai:gpt-4o-mini"])
async def test_a_verdict_is_not_streamed_where_the_app_is(serve: Serve, monkeypatch: pytest.MonkeyPatch, name: str):
    server = serve(GOOD)
    monkeypatch.setenv("JUDGE_API_BASE", server.url)
    judge = resolve_model(name)

    async def judged(_: str, config: RunnableConfig) -> int:
        return (await judge.aask(prompt(), Verdict, config)).value.score

    events = [event async for event in RunnableLambda(judged).astream_events("x")]
    assert events[-1]["data"]["output"] == 8
    assert not server.requests[0].get("stream")


@pytest.mark.usefixtures("_imported")
@pytest.mark.filterwarnings("error")
def test_litellm_works_where_warnings_are_errors(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGE_API_BASE", serve(GOOD).url)
    for name in ("openai/gpt-4o-mini", "anthropic/claude-haiku-4-5-20251001", "mistral/m", "ollama/m"):
        warnings.resetwarnings()
        warnings.simplefilter("error")
        with contextlib.suppress(JudgeReplyError):
            assert resolve_model(name).ask(prompt(), Verdict).value.score == 8


def test_nothing_is_sent_for_a_users_model_that_the_user_did_not_ask_for(serve: Serve):
    server = serve(GOOD)
    resolve_model(ChatOpenAI(model="x", base_url=server.url, api_key=KEY)).ask(prompt(), Verdict)
    assert set(server.requests[0]) - {"stream"} == {"model", "messages", "response_format"}


def test_a_gpt_4_without_response_format_is_asked_in_words_from_the_start(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    server = serve(GOOD)
    monkeypatch.setenv("JUDGE_API_BASE", server.url)
    assert resolve_model("gpt-4").ask(prompt(), Verdict).path == "json"
    assert "response_format" not in server.requests[0]


@pytest.mark.parametrize("headers", [{"Retry-After": "0.3"}, {"retry-after-ms": "300"}], ids=str)
def test_f09_retry_after_is_honoured(serve: Serve, made: Made, ask: Ask, headers: dict[str, str]):
    server = serve(Fails(429, headers=headers), GOOD)
    ask(made(server))
    assert 0.3 <= server.arrivals[1] - server.arrivals[0] < 2


def test_f09_retry_after_may_be_a_date(serve: Serve, made: Made, ask: Ask):
    date = int(time.time()) + 2
    server = serve(Fails(429, headers={"Retry-After": email.utils.formatdate(date, usegmt=True)}), GOOD)
    ask(made(server))
    assert date <= time.time() < date + 5
    assert len(server.requests) == 2


def test_f09_a_server_that_asks_for_more_time_than_there_is_fails_at_once(serve: Serve, made: Made, ask: Ask):
    began = time.monotonic()
    with pytest.raises(ModelCallError, match="asks to wait 3600 s") as caught:
        ask(made(serve(busy("3600"))))
    assert caught.value.attempts == 1
    assert time.monotonic() - began < 10  # the first call may import litellm


@pytest.fixture
def _imported(monkeypatch: pytest.MonkeyPatch):
    """litellm's import is not what is timed here."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert resolve_model("openai/gpt-4o-mini").chat


@pytest.mark.usefixtures("_imported")
def test_f09_a_hanging_model_ends_in_time(serve: Serve, made: Made, ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGE_TIMEOUT_S", "0.2")
    judge = made(serve(Hangs()))
    began = time.monotonic()
    with pytest.raises(JudgeTimeoutError, match="JUDGE_TIMEOUT_S") as caught:
        ask(judge)
    assert time.monotonic() - began < 1
    assert isinstance(caught.value, TimeoutError)
    assert (caught.value.model, caught.value.retryable) == (judge.label, True)
    assert 0.2 <= caught.value.elapsed_s < 1


@pytest.mark.usefixtures("_imported")
def test_one_slow_reply_is_tried_again(serve: Serve, made: Made, ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGE_TIMEOUT_S", "1")
    server = serve(Hangs(), GOOD)
    assert ask(made(server)).attempts == 2
    assert len(server.requests) == 2


def test_replies_cut_off_or_declined(serve: Serve, made: Made, ask: Ask):
    with pytest.raises(JudgeReplyError) as caught:
        ask(made(serve(Says('{"score": 8, "rea', finish_reason="length"))))
    assert (caught.value.code, caught.value.raw) == ("truncated", '{"score": 8, "rea')
    judge = made(serve(Says(None, refusal="I can't judge this.")))
    with pytest.raises(JudgeReplyError) as caught:
        ask(judge)
    assert caught.value.code == ("unreadable" if judge.label.startswith("openai/") else "refused")  # litellm drops it


def test_unknown_price_and_unknown_tokens(serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGE_API_BASE", serve(GOOD).url)
    usage = ask(resolve_model("openai/no-such-model")).usage
    assert (usage.input_tokens, usage.cost_usd) == (11, None)


@pytest.mark.parametrize("fault", [busy(), Fails(500), Drops()], ids=str)
def test_anthropic_through_litellm_sends_exactly_our_attempts(
    serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch, fault: Any
):
    server = serve(fault, fault, GOOD)
    monkeypatch.setenv("JUDGE_API_BASE", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    reply = ask(resolve_model("claude-haiku-4-5-20251001", "anthropic"))
    assert (reply.value.score, reply.attempts, len(server.requests)) == (8, 3, 3)
    assert reply.usage.cost_usd == pytest.approx(11e-6 + 7 * 5e-6)


@pytest.mark.parametrize("name", ["openai/gpt-4o-mini", "openai:gpt-4o-mini", "anthropic/claude-haiku-4-5-20251001"])
def test_keys_reach_the_server_and_nobody_else(
    serve: Serve,
    ask: Ask,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
):
    caplog.set_level("DEBUG")
    server = serve(GOOD, Fails(401, code=KEY, message=f"Incorrect API key provided: {KEY}"))
    monkeypatch.setenv("JUDGE_API_BASE", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    judge = resolve_model(name)
    with collect_runs() as runs:
        ask(judge)
        with pytest.raises(ModelCallError) as caught:
            ask(judge)
    assert KEY in str(server.headers[0])
    assert len(runs.traced_runs) == 2
    traced = [repr(vars(run)) for run in runs.traced_runs[:1]]
    told = "".join(traceback.format_exception(caught.value))
    printed = capfd.readouterr()
    for seen in (repr(judge), str(judge.identity()), *traced, told, caplog.text, printed.out, printed.err):
        assert KEY not in seen


def fresh_process(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the script in a process of its own, with the folder as its home and working directory."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'models'}",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=110,
    )


def test_litellm_in_a_fresh_process(serve: Serve, tmp_path: Path):
    """No `.env` is read, nothing is printed or left behind, no other host is asked for."""
    (tmp_path / ".env").write_text("FROM_DOTENV=1\nOPENAI_API_KEY=sk-from-dotenv\n")
    server = serve(Fails(500), GOOD, Fails(401), GOOD)
    script = """
        import asyncio, os, sys
        asked = []
        def watch(event, args):
            if event in ("socket.getaddrinfo", "socket.gethostbyname") and args[0] not in ("127.0.0.1", None):
                asked.append(args[0])
        sys.addaudithook(watch)
        from judging import Verdict, prompt
        from langchain_llm_judge.models.resolve import resolve_model
        first, second = map(resolve_model, ("openai/gpt-4o-mini", "anthropic/claude-haiku-4-5-20251001"))
        assert "litellm" not in sys.modules
        assert first.ask(prompt(), Verdict).attempts == 2
        for judge in (first, second):
            try: asyncio.run(judge.aask(prompt(), Verdict))
            except Exception as error: assert "401" in str(error), error
        assert "litellm" in sys.modules
        assert "FROM_DOTENV" not in os.environ
        assert not asked, asked
    """
    keys = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    ran = fresh_process(script, tmp_path, JUDGE_API_BASE=server.url, **keys)
    assert ran.stderr == ""
    assert (ran.returncode, ran.stdout) == (0, "")
    assert len(server.requests) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == [".env"]


def test_a_hanging_model_never_keeps_the_interpreter_from_ending(tmp_path: Path):
    script = """
        import asyncio, sys, time
        from judging import Verdict, prompt
        from langchain_llm_judge.models.attempts import CallPolicy
        from langchain_llm_judge.models.structured import JudgeModel
        from langchain_llm_judge.testing import ScriptedJudgeModel
        judge = JudgeModel.of(ScriptedJudgeModel([lambda _: time.sleep(600)]), CallPolicy(0.1, 0))
        for call in (lambda: judge.ask(prompt(), Verdict), lambda: asyncio.run(judge.aask(prompt(), Verdict))):
            try: call()
            except TimeoutError: print("in time")
    """
    ran = fresh_process(script, tmp_path)
    assert (ran.stdout.split("\n"), ran.stderr) == (["in time", "in time", ""], "")
