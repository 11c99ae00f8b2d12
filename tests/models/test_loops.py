"""F10 and F11: one judge model in any loop, any thread, and many at once."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from judging import Verdict, prompt
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from openai_server import OpenAIServer, Says

from langchain_llm_judge.errors import JudgeTimeoutError, ModelCallError
from langchain_llm_judge.models.attempts import CallPolicy
from langchain_llm_judge.models.resolve import resolve_model
from langchain_llm_judge.models.structured import JudgeModel
from langchain_llm_judge.testing import ScriptedJudgeModel

Serve = Callable[..., OpenAIServer]
GOOD = Says('{"score": 8, "reason": "ok"}')


@pytest.fixture(params=["ChatOpenAI", "litellm"])
def judge(request: pytest.FixtureRequest, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> JudgeModel:
    server = serve(GOOD)
    if request.param == "ChatOpenAI":
        return resolve_model(ChatOpenAI(model="gpt-4o-mini", base_url=server.url, api_key="sk-1", max_retries=0))
    monkeypatch.setenv("JUDGE_API_BASE", server.url)
    return resolve_model("openai/gpt-4o-mini")


async def several(judge: JudgeModel, count: int = 3) -> list[int]:
    replies = await asyncio.gather(*(judge.aask(prompt(), Verdict) for _ in range(count)))
    assert {reply.attempts for reply in replies} == {1}
    return [reply.value.score for reply in replies]


def test_f10_three_loops_in_a_row(judge: JudgeModel):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert asyncio.run(several(judge)) == [8, 8, 8]
            gc.collect()


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop has no Windows build")
def test_f10_uvloop(judge: JudgeModel):
    import uvloop

    for _ in range(2):
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            assert runner.run(several(judge)) == [8, 8, 8]


async def test_f10_invoke_inside_a_running_loop(judge: JudgeModel):
    assert judge.ask(prompt(), Verdict).value.score == 8
    assert await several(judge) == [8, 8, 8]
    assert judge.ask(prompt(), Verdict).value.score == 8


def test_f10_eight_threads_with_and_without_loops(judge: JudgeModel):
    def work(number: int) -> int:
        if number % 2:
            return judge.ask(prompt(), Verdict).value.score
        return asyncio.run(several(judge, 1))[0]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(16))) == [8] * 16


def test_f10_a_model_whose_connections_belong_to_the_users_closed_loop(serve: Serve):
    chat = ChatOpenAI(model="gpt-4o-mini", base_url=serve(GOOD).url, api_key="sk-1", max_retries=0)
    asyncio.run(chat.ainvoke("the user's own call"))
    assert asyncio.run(several(resolve_model(chat))) == [8, 8, 8]


def test_f10_no_loop_is_patched(judge: JudgeModel):
    asyncio.run(several(judge))
    assert not hasattr(asyncio, "_nest_patched")
    assert not hasattr(asyncio.new_event_loop, "_nest_patched")


class Native(BaseChatModel):
    """A model with an async client of its own, which says where it ran."""

    ran: list[Any] = []
    hangs: bool = False

    @property
    def _llm_type(self) -> str:
        return "native"

    def _said(self) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage('{"score": 8}'))])

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        self.ran.append(threading.current_thread())
        return self._said()

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        self.ran.append(asyncio.get_running_loop())
        try:
            await asyncio.sleep(60 if self.hangs else 0)
        except asyncio.CancelledError:
            self.ran.append("cancelled")
            raise
        return self._said()


async def test_a_model_without_a_client_is_awaited():
    model = Native()
    assert (await JudgeModel.of(model).aask(prompt(), Verdict)).value.score == 8
    assert model.ran == [asyncio.get_running_loop()]


class Pooled(Native):
    """The same with an SDK client, whose connections would die with the loop."""

    client: Any = None


async def test_a_model_that_keeps_a_client_is_asked_in_a_thread():
    model = Pooled()
    assert (await JudgeModel.of(model).aask(prompt(), Verdict)).value.score == 8
    [thread] = model.ran
    assert isinstance(thread, threading.Thread)
    assert thread is not threading.main_thread()


async def test_a_model_without_a_sync_client_is_awaited():
    class OnlyAsync(Pooled):
        def _generate(self, *_: Any, **__: Any) -> ChatResult:
            raise NotImplementedError

    model = OnlyAsync()
    assert (await JudgeModel.of(model).aask(prompt(), Verdict)).value.score == 8
    assert model.ran == [asyncio.get_running_loop()]


def test_the_users_own_calls_with_the_model_are_not_touched(serve: Serve):
    chat = ChatOpenAI(model="gpt-4o-mini", base_url=serve(GOOD).url, api_key="sk-1", max_retries=0)
    asyncio.run(several(resolve_model(chat)))
    with asyncio.Runner() as runner:
        assert "8" in runner.run(chat.ainvoke("the user's own call")).text
        runner.run(chat.root_async_client.close())


async def test_a_cancelled_evaluation_cancels_the_call():
    model = Native(hangs=True)
    task = asyncio.create_task(JudgeModel.of(model).aask(prompt(), Verdict))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.ran[-1] == "cancelled"


async def test_f09_a_hanging_native_model_is_cancelled_in_time():
    model = Native(hangs=True)
    began = time.monotonic()
    with pytest.raises(JudgeTimeoutError):
        await JudgeModel.of(model, CallPolicy(0.2)).aask(prompt(), Verdict)
    assert time.monotonic() - began < 1
    assert model.ran[-1] == "cancelled"


async def test_a_sync_only_model_never_blocks_the_loop():
    def slow(_: Any) -> dict[str, Any]:
        time.sleep(0.3)
        return {"score": 8}

    judge = JudgeModel.of(ScriptedJudgeModel([slow]))
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    heart = asyncio.create_task(beat())
    await several(judge)
    heart.cancel()
    assert beats > 5


def scores_its_input(messages: list[BaseMessage]) -> dict[str, Any]:
    number = int(messages[1].text)
    time.sleep(0.15 if number % 3 == 0 else 0)
    if number == 5:
        raise RuntimeError("input 5 fails")
    return {"score": number % 11, "reason": f"for {number}"}


def checked(results: list[Any]) -> None:
    for number, result in enumerate(results):
        if number == 5:
            assert isinstance(result, ModelCallError)
            assert "input 5 fails" in str(result)
        else:
            assert result.value == Verdict(score=number % 11, reason=f"for {number}")


def test_f11_twenty_at_once_in_threads():
    model = ScriptedJudgeModel([scores_its_input])
    judge = JudgeModel.of(model)
    step = RunnableLambda(lambda number, config: judge.ask(prompt(str(number)), Verdict, config))
    checked(step.batch(list(range(20)), {"max_concurrency": 20}, return_exceptions=True))
    assert len(model.calls) == 20
    assert judge.ask(prompt("7"), Verdict).value.score == 7


async def test_f11_twenty_at_once_in_tasks():
    model = ScriptedJudgeModel([scores_its_input])
    judge = JudgeModel.of(model)
    asked = (judge.aask(prompt(str(number)), Verdict) for number in range(20))
    began = time.monotonic()
    checked(await asyncio.gather(*asked, return_exceptions=True))
    assert time.monotonic() - began < 1.0  # seven of them wait 0.15 s, together
    assert (await judge.aask(prompt("7"), Verdict)).value.score == 7


def test_f11_twenty_at_once_over_http(serve: Serve):
    def by_input(body: dict[str, Any]) -> Says:
        number = int(body["messages"][1]["content"])
        return Says(f'{{"score": {number % 11}, "reason": "for {number}"}}', delay=0.1 if number % 3 == 0 else 0)

    chat = ChatOpenAI(model="gpt-4o-mini", base_url=serve(by_input).url, api_key="sk-1", max_retries=0)
    judge = resolve_model(chat)

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(judge.aask(prompt(str(number)), Verdict) for number in range(20)))

    for _ in range(2):
        assert [reply.value.score for reply in asyncio.run(all_at_once())] == [number % 11 for number in range(20)]
