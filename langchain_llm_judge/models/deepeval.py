"""The bridge between DeepEval and our judge models, in both directions.

DeepEval's own reading of a score turns 12 into 1.2, 0.9 into 0.09 and true into 0.1. Here every reply is
read by us before DeepEval sees it, on the scale it was asked for, with one re-ask. What DeepEval adds is what
`GEval` is for: where the model gives log-probabilities, the score is the mean of the scores it might have
given, weighted by their probability, and then need not be a tenth.

Importing this imports DeepEval, with its telemetry, its `.env` loading and its key file switched off where
the user has not set them. Metrics keep state, so one is made for each evaluation; they are measured without
progress bars and never through DeepEval's own event loop, which it would patch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field

from langchain_llm_judge.config import set_unless_given
from langchain_llm_judge.errors import JudgeReplyError, shown
from langchain_llm_judge.models.replies import Rating, Reason, ReplySchema, Score10
from langchain_llm_judge.models.structured import JudgeModel, Reply
from langchain_llm_judge.prompts import FilledPrompt
from langchain_llm_judge.results import Usage


def keep_quiet() -> None:
    """Switch off what DeepEval does beside measuring, where the user has not set it.

    DeepEval reads the environment again whenever it changes, so this is said again before each evaluation.
    """
    set_unless_given({"DEEPEVAL_TELEMETRY_OPT_OUT": "1"}, unless=["DEEPEVAL_TELEMETRY_ENABLED"])
    set_unless_given({"DEEPEVAL_DISABLE_DOTENV": "1", "DEEPEVAL_DISABLE_LEGACY_KEYFILE": "1"})


keep_quiet()

from deepeval.metrics import GEval  # noqa: E402
from deepeval.metrics.g_eval import Rubric  # noqa: E402
from deepeval.models import DeepEvalBaseLLM  # noqa: E402
from deepeval.test_case import LLMTestCase, SingleTurnParams  # noqa: E402

_STEP = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_RUBRIC = re.compile(r"^(\d+)(?:-(\d+))?: (.+)$", re.MULTILINE)
_SCORE = re.compile(r'"score"\s*:\s*"?(\d+)')
_ATTACHMENT = re.compile(r"\[(?=DEEPEVAL:)")


def without_attachments(text: str) -> str:
    """The text with DeepEval's marks of images and files made harmless; it would open the path they name."""
    return _ATTACHMENT.sub("⁅", text)


class ScoreReply(ReplySchema):
    """A judge's reply to a score judge."""

    reason: Reason = Field(default="", description="one or two sentences that name what decided the score")
    score: Score10


class BridgedModel(DeepEvalBaseLLM):  # type: ignore[misc]
    """Our judge model as DeepEval calls one.

    One is made for each evaluation: it keeps what the evaluation spends and what went wrong in it, and
    its calls become children of the judge's run.
    """

    def __init__(self, model: JudgeModel, config: RunnableConfig, prompt_version: str) -> None:
        keep_quiet()
        self._judge = model
        self._config = config
        self._prompt_version = prompt_version
        self.usage = Usage()
        self.last: Reply[Any] | None = None
        self.failure: Exception | None = None
        super().__init__(model.label)

    def load_model(self) -> BridgedModel:
        """Nothing to load: the judge model is there."""
        return self

    def get_model_name(self) -> str:
        """What results call the judge model."""
        return self._judge.label

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """A reply: an object of the schema, or text where there is none."""
        filled = self._filled(prompt)
        if schema is None:
            return self._kept(lambda: self._judge.say(filled, self._config)).value
        return self._kept(lambda: self._judge.ask(filled, schema, self._config)).value

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """`generate` without blocking the event loop."""
        filled = self._filled(prompt)
        if schema is None:
            return (await self._akept(self._judge.asay(filled, self._config))).value
        return (await self._akept(self._judge.aask(filled, schema, self._config))).value

    def generate_raw_response(self, prompt: str, top_logprobs: int = 5) -> tuple[Any, None]:
        """A score in the form `GEval` weights, with log-probabilities where the model gives them.

        They are not asked for: `top_logprobs` of them come from a model that is set up to give them.
        """
        filled = self._filled(prompt)
        return _completion(self._kept(lambda: self._judge.ask(filled, ScoreReply, self._config))), None

    async def a_generate_raw_response(self, prompt: str, top_logprobs: int = 5) -> tuple[Any, None]:
        """`generate_raw_response` without blocking the event loop."""
        filled = self._filled(prompt)
        return _completion(await self._akept(self._judge.aask(filled, ScoreReply, self._config))), None

    def _filled(self, prompt: str) -> FilledPrompt:
        if isinstance(prompt, _OurPrompt):
            return prompt.filled
        # DeepEval mixes instructions, examples and material, so an example is not told from a quotation.
        return FilledPrompt(system="", user=str(prompt), version=self._prompt_version, material="")

    def _kept(self, ask: Callable[[], Reply[Any]]) -> Reply[Any]:
        try:
            reply = ask()
        except Exception as error:
            self._note(error)
            raise
        return self._counted(reply)

    async def _akept(self, asking: Any) -> Reply[Any]:
        try:
            reply: Reply[Any] = await asking
        except Exception as error:
            self._note(error)
            raise
        return self._counted(reply)

    def _counted(self, reply: Reply[Any]) -> Reply[Any]:
        self.last = reply
        self.usage += reply.usage
        return reply

    def _note(self, error: Exception) -> None:
        self.failure = self.failure or error
        self.usage += getattr(error, "usage", None) or Usage()


def _completion(reply: Reply[ScoreReply]) -> Any:
    """A reply as the completion object `GEval` reads."""
    message = SimpleNamespace(content=reply.value.model_dump_json())
    weights = _weights(reply.value.score, reply.logprobs)
    return SimpleNamespace(choices=[SimpleNamespace(message=message, logprobs=weights)])


def _weights(score: int, logprobs: Any) -> Any:
    """The token that is the score, with the scores that might have stood in its place; `None` where unknown."""
    tokens = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    token = _score_token(score, tokens) if tokens else None
    if token is None:
        return None
    others = [
        SimpleNamespace(token=other["token"].strip(), logprob=other["logprob"])
        for other in token.get("top_logprobs") or []
        if other["token"].strip() in _SCALE
    ]
    return SimpleNamespace(content=[SimpleNamespace(token=str(score), top_logprobs=others)]) if others else None


_SCALE = frozenset(str(score) for score in range(11))


def _score_token(score: int, tokens: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The one token that stands where the reply gives its score; `None` where that is not one token."""
    places = [place for place in _SCORE.finditer("".join(token["token"] for token in tokens)) if int(place[1]) == score]
    if len(places) != 1:
        return None
    at = 0
    for token in tokens:
        if at <= places[0].start(1) < at + len(token["token"]):
            return token if token["token"].strip() == str(score) else None
        at += len(token["token"])
    return None


class _OurPrompt(str):
    """A finished prompt on its way through DeepEval, which only hands it on."""

    __slots__ = ("filled",)
    filled: FilledPrompt

    def __new__(cls, filled: FilledPrompt) -> _OurPrompt:
        prompt = super().__new__(cls, f"{filled.system}\n\n{filled.user}")
        prompt.filled = filled
        return prompt


@dataclass(frozen=True)
class _Template:
    """What `GEval` takes for its evaluation template: it gives the prompt that is finished already."""

    prompt: FilledPrompt

    def generate_evaluation_results(self, **_: Any) -> str:
        return _OurPrompt(self.prompt)


@dataclass(frozen=True)
class Rate:
    """One `GEval` over a finished prompt, as an effect of a judge; its value is a `Reply` with a `Rating`.

    The evaluation steps are the numbered lines of the prompt's system part, the rubric its lines such as
    `1-3: …`. Both stand in the prompt, so no call is spent on making steps.
    """

    model: JudgeModel
    name: str
    prompt: FilledPrompt
    question: str
    """Fenced, as it stands in the prompt."""
    answer: str
    """Fenced, as it stands in the prompt."""

    def perform(self, config: RunnableConfig) -> Reply[Rating]:
        """Rate and wait."""
        bridge = self._bridge(config)
        metric = self.metric(bridge)
        try:
            metric.measure(self._case(), _show_indicator=False)
        except Exception as error:
            raise bridge.failure or error  # noqa: B904 - the failure has its own cause
        return self._rating(metric, bridge)

    async def aperform(self, config: RunnableConfig) -> Reply[Rating]:
        """Rate without blocking the event loop."""
        bridge = self._bridge(config)
        metric = self.metric(bridge)
        try:
            await metric.a_measure(self._case(), _show_indicator=False)
        except Exception as error:
            raise bridge.failure or error  # noqa: B904 - the failure has its own cause
        return self._rating(metric, bridge)

    def metric(self, model: Any) -> GEval:
        """A fresh metric; nothing of an evaluation outlives it."""
        system = self.prompt.system
        return GEval(
            name=self.name,
            evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
            evaluation_steps=_STEP.findall(system),
            rubric=[
                Rubric(score_range=(int(low), int(high or low)), expected_outcome=outcome)
                for low, high, outcome in _RUBRIC.findall(system)
            ],
            model=model,
            evaluation_template=_Template(self.prompt),
            async_mode=False,
        )

    def _bridge(self, config: RunnableConfig) -> BridgedModel:
        return BridgedModel(self.model, config, self.prompt.version)

    def _case(self) -> LLMTestCase:
        return LLMTestCase(input=without_attachments(self.question), actual_output=without_attachments(self.answer))

    def _rating(self, metric: GEval, bridge: BridgedModel) -> Reply[Rating]:
        reply = bridge.last
        if reply is None or not isinstance(metric.score, float) or not 0 <= metric.score <= 1:
            raise JudgeReplyError(
                f"{self.name}: GEval made the score {shown(metric.score)} of the reply; expected a number from 0 to 1",
                raw=reply.raw if reply else "",
                code="out_of_range",
                prompt_version=self.prompt.version,
                usage=bridge.usage,
            )
        return replace(reply, value=Rating(metric.score, metric.reason or ""), usage=bridge.usage)


class DeepEvalChatModel(BaseChatModel):
    """A DeepEval model as a LangChain chat model, so that any judge can use it.

    It is asked for plain text, and replies are read by us: DeepEval's own reading of a schema would hide
    what the model said.
    """

    llm: Any
    """The `DeepEvalBaseLLM`."""

    @property
    def model_name(self) -> str:
        """The model's own name."""
        return str(self.llm.get_model_name())

    @property
    def _llm_type(self) -> str:
        return "deepeval"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _result(self.llm.generate(_one_text(messages)))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _result(await self.llm.a_generate(_one_text(messages)))


def as_chat_model(model: Any) -> BaseChatModel:
    """A DeepEval model as a LangChain chat model.

    Args:
        model: A `DeepEvalBaseLLM`: one of DeepEval's own or a user's.
    """
    return DeepEvalChatModel(llm=model)


def _one_text(messages: Sequence[BaseMessage]) -> str:
    """Messages as the one prompt a DeepEval model takes; an earlier reply of its own is named as such."""
    texts = [
        f"Your reply was:\n{message.text}" if isinstance(message, AIMessage) else str(message.text)
        for message in messages
    ]
    return without_attachments("\n\n".join(texts))


def _result(said: Any) -> ChatResult:
    """What a DeepEval model gave: a text or object, with the cost beside it where it knows one."""
    answer, cost = said if isinstance(said, tuple) and len(said) == 2 else (said, None)
    if isinstance(answer, BaseModel):
        answer = answer.model_dump_json()
    message = AIMessage(str(answer), usage_metadata=_tokens(cost))
    return ChatResult(generations=[ChatGeneration(message=message)])


def _tokens(cost: Any) -> UsageMetadata | None:
    given, taken = getattr(cost, "input_tokens", None), getattr(cost, "output_tokens", None)
    if not isinstance(given, int) or not isinstance(taken, int):
        return None
    return UsageMetadata(input_tokens=given, output_tokens=taken, total_tokens=given + taken)
