"""Asking: the native form and its fall-back, the re-ask, what is counted, and the user's model left as it is."""

from __future__ import annotations

from typing import Any

import pytest
from judging import Verdict, prompt
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda

from langchain_llm_judge.errors import JudgeReplyError, ModelCallError
from langchain_llm_judge.models.replies import ReplyFault
from langchain_llm_judge.models.resolve import resolve_model
from langchain_llm_judge.models.structured import JudgeModel
from langchain_llm_judge.results import Usage
from langchain_llm_judge.testing import ScriptedJudgeModel

GOOD = {"score": 8, "reason": "ok"}


class Refuses(Exception):
    """A 400, as an SDK raises it."""

    def __init__(self, param: str | None = None, status_code: int = 400) -> None:
        super().__init__("refused")
        self.status_code = status_code
        self.param = param


class Particular(BaseChatModel):
    """A chat model that refuses some of the parameters it may be called with."""

    refuses: tuple[str, ...] = ()
    error: Any = None
    asked: list[dict[str, Any]] = []
    temperature: float | None = None

    @property
    def _llm_type(self) -> str:
        return "particular"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=tools, response_format="json", **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.asked.append(kwargs)
        sent = {**kwargs, **({"temperature": self.temperature} if self.temperature is not None else {})}
        if set(self.refuses) & set(sent):
            raise self.error or Refuses()
        return ChatResult(generations=[ChatGeneration(message=AIMessage('{"score": 8}'))])


def test_the_native_form_comes_first():
    model = ScriptedJudgeModel([GOOD])
    reply = JudgeModel.of(model).ask(prompt(), Verdict)
    assert (reply.value, reply.path, reply.attempts) == (Verdict(score=8, reason="ok"), "native", 1)
    assert model.schemas == [Verdict]
    assert [message.text for message in model.calls[0]] == ["You are a judge.", "Is 20 right?"]


def test_a_model_without_native_form_gets_the_form_in_words():
    model = ScriptedJudgeModel([GOOD], structured=False)
    reply = JudgeModel.of(model).ask(prompt(), Verdict)
    assert (reply.path, reply.attempts, model.schemas) == ("json", 1, [None])
    assert '"whole number from 0 to 10"' in model.calls[0][0].text
    assert model.calls[0][1].text == "Is 20 right?"


def test_any_chat_model_will_do():
    model = GenericFakeChatModel(messages=iter([AIMessage('{"score": 8}')]))
    assert JudgeModel.of(model).ask(prompt(), Verdict).value.score == 8


def test_f09_a_model_that_refuses_temperature_is_sent_none_and_stays_as_it_was():
    model = Particular(refuses=("temperature",))
    before = model.model_dump()
    judge = resolve_model(model)
    assert judge.ask(prompt(), Verdict).value.score == 8
    assert judge.chat is model
    assert {**model.model_dump(), "asked": []} == before
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "error", [Refuses(), Refuses(status_code=422), ValueError("no"), TypeError("no"), NotImplementedError()]
)
def test_f09_a_refused_form_is_asked_for_in_words_and_remembered(error: Exception):
    model = Particular(refuses=("response_format",), error=error)
    judge = resolve_model(model)
    assert [judge.ask(prompt(), Verdict).path for _ in range(3)] == ["json"] * 3
    assert ["tools" in asked for asked in model.asked] == [True, False, False, False]


def test_f09_a_refusal_of_everything_is_an_error_and_not_remembered():
    model = Particular(refuses=("ls_structured_output_format", "tools", "stop"), error=Refuses(status_code=401))
    judge = resolve_model(model)
    for _ in range(2):
        with pytest.raises(ModelCallError) as caught:
            judge.ask(prompt(), Verdict)
        assert (caught.value.attempts, caught.value.retryable) == (1, False)
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("param", "sent"),
    [
        ("temperature", [(True, True), (True, False)]),
        (None, [(True, True), (False, True), (False, False)]),
    ],
)
def test_f09_temperature_is_left_out_where_it_was_refused(param: str | None, sent: list[tuple[bool, bool]]):
    asked: list[dict[str, Any]] = []

    def build(temperature: float | None) -> Particular:
        model = Particular(refuses=("temperature",), error=Refuses(param), temperature=temperature)
        model.asked = asked
        return model

    judge = JudgeModel(build, "made/by-us", temperature=0.0)
    built = [judge.ask(prompt(), Verdict).path for _ in range(2)]
    assert len(asked) == len(sent) + 1
    assert ["tools" in one for one in asked] == [structured for structured, _ in [*sent, sent[-1]]]
    assert built[0] == built[1]


def test_models_that_parse_for_themselves_are_read_all_the_same():
    class Parses(ScriptedJudgeModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            return RunnableLambda(lambda _: schema(score=8, reason="own"))

    assert JudgeModel.of(Parses(["unused"])).ask(prompt(), Verdict).value.reason == "own"


def test_an_integration_that_raises_over_a_reply_gives_the_reply_away():
    from langchain_core.exceptions import OutputParserException

    def raises(_: Any) -> Any:
        raise OutputParserException("cannot parse", llm_output='{"score": 8,}')

    assert JudgeModel.of(ScriptedJudgeModel([raises])).ask(prompt(), Verdict).value.score == 8


def test_fallbacks_and_bound_models_are_models_too():
    broken = ScriptedJudgeModel([RuntimeError("down")])
    spare = ScriptedJudgeModel([GOOD])
    assert resolve_model(broken.with_fallbacks([spare])).ask(prompt(), Verdict).value.score == 8
    bound = ScriptedJudgeModel([GOOD]).bind(stop=["x"])
    assert resolve_model(bound).ask(prompt(), Verdict).path == "json"
    watched = Watch()
    configured = ScriptedJudgeModel([GOOD]).with_config(tags=["mine"], callbacks=[watched])
    assert resolve_model(configured).ask(prompt(), Verdict).path == "native"
    assert "mine" in watched.tags[0]


def test_a_form_that_is_ignored_is_asked_for_in_words_from_then_on():
    def ignores(messages: list[BaseMessage]) -> str:
        return '{"score": 8}' if "JSON Schema" in str(messages) else "I'd say it is quite good."

    model = ScriptedJudgeModel([ignores])
    judge = JudgeModel.of(model)
    assert [judge.ask(prompt(), Verdict).attempts for _ in range(2)] == [2, 1]
    assert model.schemas == [Verdict, None, None]


def test_one_re_ask_shows_the_fault():
    model = ScriptedJudgeModel(['{"score": 12}', GOOD])
    reply = JudgeModel.of(model).ask(prompt(), Verdict)
    assert (reply.value.score, reply.attempts, reply.usage.calls) == (8, 2, 2)
    *first, said, again = model.calls[1]
    assert first == model.calls[0]
    assert said.text == '{"score": 12}'
    assert "score: 12 is not a whole number from 0 to 10" in again.text


def test_the_re_ask_covers_what_the_judge_reads_into_the_reply():
    def read(reply: Verdict) -> int:
        if reply.score < 5:
            raise ReplyFault("claim 3 has no verdict (2 given for 5)", "wrong_count")
        return reply.score

    model = ScriptedJudgeModel([{"score": 1}, GOOD])
    assert JudgeModel.of(model).ask(prompt(), Verdict, None, read).value == 8
    assert "claim 3 has no verdict" in model.calls[1][-1].text
    with pytest.raises(JudgeReplyError) as caught:
        JudgeModel.of(ScriptedJudgeModel([{"score": 1}])).ask(prompt(), Verdict, None, read)
    assert (caught.value.code, caught.value.raw) == ("wrong_count", '{"score": 1}')
    assert "prompt test/1+abc: claim 3 has no verdict" in str(caught.value)


def test_an_empty_reply_can_be_asked_about():
    model = ScriptedJudgeModel(["", GOOD])
    assert JudgeModel.of(model).ask(prompt(), Verdict).value.score == 8
    assert model.calls[1][-2].text == "(empty reply)"


class Watch(BaseCallbackHandler):
    def __init__(self) -> None:
        self.tags: list[list[str]] = []
        self.parents: list[Any] = []

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, parent_run_id: Any = None, tags: Any = None, **_: Any
    ) -> None:
        self.tags.append(tags)
        self.parents.append(parent_run_id)


def test_calls_are_child_runs_with_the_judges_tag():
    watch = Watch()
    judge = JudgeModel.of(ScriptedJudgeModel([GOOD]))
    step = RunnableLambda(lambda _, config: judge.ask(prompt(), Verdict, config).value)
    step.invoke("x", {"callbacks": [watch], "tags": ["mine", "llm_judge"]})
    assert len(watch.tags) == 1
    assert watch.parents[0] is not None
    assert sorted(set(watch.tags[0])) == ["llm_judge", "mine", "nostream"]
    assert watch.tags[0].count("llm_judge") == 1


def with_tokens(text: str, **metadata: Any) -> AIMessage:
    usage = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}
    return AIMessage(text, usage_metadata=usage, response_metadata=metadata)


def test_usage_and_cost():
    model = ScriptedJudgeModel([with_tokens('{"score": 8}', model_name="gpt-4o-mini")])
    usage = JudgeModel.of(model).ask(prompt(), Verdict).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 1000, 100)
    assert usage.cost_usd == pytest.approx(0.00021)  # 1000 at $0.15 and 100 at $0.60 a million


@pytest.mark.parametrize("name", ["no-such-model", ""])
def test_f09_unknown_prices_are_none(name: str):
    model = ScriptedJudgeModel([with_tokens("no"), with_tokens('{"score": 8}', model_name=name)])
    usage = JudgeModel.of(model).ask(prompt(), Verdict).usage
    assert usage == Usage(calls=2, input_tokens=2000, output_tokens=200, cost_usd=None)


def test_unknown_tokens_are_none():
    usage = JudgeModel.of(ScriptedJudgeModel([GOOD])).ask(prompt(), Verdict).usage
    assert usage == Usage(calls=1, input_tokens=None, output_tokens=None, cost_usd=None)


@pytest.fixture
def cache():
    set_llm_cache(InMemoryCache())
    yield
    set_llm_cache(None)


@pytest.mark.usefixtures("cache")
def test_a_cached_reply_costs_nothing_and_uncached_is_asked_anew():
    model = ScriptedJudgeModel([{"score": 6}, {"score": 7}, {"score": 8}])
    judge = JudgeModel.of(model)
    assert [judge.ask(prompt(), Verdict).value.score for _ in range(2)] == [6, 6]
    assert judge.ask(prompt(), Verdict).usage == Usage()
    assert [judge.uncached().ask(prompt(), Verdict).value.score for _ in range(2)] == [7, 8]
    assert len(model.calls) == 3
    assert model.cache is None


def test_identity_tells_models_apart_and_holds_no_key():
    from langchain_openai import ChatOpenAI

    def of(**settings: Any) -> dict[str, Any]:
        return JudgeModel.of(ChatOpenAI(api_key="sk-very-secret", **settings)).identity()

    assert of(model="gpt-4o") == of(model="gpt-4o")
    assert len({str(of(model="gpt-4o")), str(of(model="gpt-4o-mini")), str(of(model="gpt-4o", temperature=1))}) == 3
    assert "secret" not in str(of(model="gpt-4o"))


def test_the_label_names_class_and_model():
    assert JudgeModel.of(ScriptedJudgeModel(["x"])).label == "ScriptedJudgeModel"
    from langchain_openai import ChatOpenAI

    assert repr(JudgeModel.of(ChatOpenAI(model="gpt-4o", api_key="sk-1"))) == "JudgeModel('ChatOpenAI/gpt-4o')"
