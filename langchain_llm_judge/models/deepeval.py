"""The bridge by which DeepEval asks our judge models; the other direction is `deepeval_chat`.

DeepEval's own reading of a score turns 12 into 1.2, 0.9 into 0.09 and true into 0.1. Here every reply is
read by us before DeepEval sees it, on the scale it was asked for, with one re-ask. What DeepEval adds is what
`GEval` is for: where the model gives log-probabilities, the score is the mean of the scores it might have
given, weighted by their probability, and then need not be a tenth.

Importing this imports DeepEval, with its telemetry, its `.env` loading and its key file switched off where
the user has not set them. Metrics keep state, so one is made for each evaluation; they are measured without
progress bars and never through DeepEval's own event loop, which it would patch.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import inspect
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field

from langchain_llm_judge.config import set_unless_given
from langchain_llm_judge.errors import JudgeReplyError, shown
from langchain_llm_judge.models.deepeval_chat import without_attachments
from langchain_llm_judge.models.logprobs import score_weights
from langchain_llm_judge.models.replies import Rating, Reason, ReplySchema, Score10
from langchain_llm_judge.models.resolve import LITELLM_ENVIRONMENT
from langchain_llm_judge.models.structured import JudgeModel, Reply
from langchain_llm_judge.prompts import FilledPrompt
from langchain_llm_judge.results import Usage


def keep_quiet() -> None:
    """Switch off what DeepEval, and litellm under it, do beside measuring, where the user has not set it.

    DeepEval reads the environment again whenever it changes, so this is said again before each evaluation.
    """
    set_unless_given({"DEEPEVAL_TELEMETRY_OPT_OUT": "1"}, unless=["DEEPEVAL_TELEMETRY_ENABLED"])
    set_unless_given({"DEEPEVAL_DISABLE_DOTENV": "1", "DEEPEVAL_DISABLE_LEGACY_KEYFILE": "1"})
    set_unless_given(LITELLM_ENVIRONMENT)


keep_quiet()

from deepeval.metrics import BaseConversationalMetric, BaseMetric, DAGMetric, GEval  # noqa: E402
from deepeval.metrics.g_eval import Rubric  # noqa: E402
from deepeval.metrics.utils import copy_metrics  # noqa: E402
from deepeval.models import DeepEvalBaseLLM  # noqa: E402
from deepeval.test_case import LLMTestCase, SingleTurnParams  # noqa: E402

FOUND = (
    "score",
    "score_breakdown",
    "reason",
    "success",
    "error",
    "skipped",
    "evaluation_cost",
    "input_tokens",
    "output_tokens",
    "verbose_logs",
    "confidence",
)
"""What a metric keeps of its last evaluation."""

_STEP = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_RUBRIC = re.compile(r"^(\d+)(?:-(\d+))?: (.+)$", re.MULTILINE)


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


def _completion(reply: Reply[ScoreReply]) -> Any:
    """A reply as the completion object `GEval` reads."""
    message = SimpleNamespace(content=reply.value.model_dump_json())
    weights = score_weights(reply.value.score, reply.logprobs)
    return SimpleNamespace(choices=[SimpleNamespace(message=message, logprobs=weights)])


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
        # The reason as we read it: some versions of DeepEval take commas out of it.
        return replace(reply, value=Rating(metric.score, reply.value.reason), usage=bridge.usage)


def is_metric(value: Any) -> bool:
    """Whether it is a metric that is made already."""
    return isinstance(value, BaseMetric | BaseConversationalMetric)


def is_conversational(metric: Any) -> bool:
    """Whether it measures whole conversations, of which we make no test cases."""
    return isinstance(metric, BaseConversationalMetric)


def fresh(metric: Any, model: Any | None = None) -> Any:
    """A metric for one evaluation: with the settings of the given one, and nothing of what it found before.

    Args:
        metric: A metric, or what makes one when called with `model=`.
        model: Takes the place of the metric's model; `None` leaves it.
    """
    keep_quiet()
    if not is_metric(metric):
        made = metric(model=model)
        made.async_mode = False
        return made
    # A graph of nodes is copied by its constructor only, which is how DeepEval copies it too.
    twin = copy_metrics([metric])[0] if isinstance(metric, DAGMetric) else copy.copy(metric)
    for name, value in list(vars(twin).items()):
        if name in FOUND:
            delattr(twin, name)
        elif isinstance(value, list | dict | set):
            setattr(twin, name, copy.copy(value))
    # Its own event loop would be nested into a running one.
    twin.async_mode = False
    if model is not None:
        twin.model, twin.using_native_model, twin.evaluation_model = model, False, model.get_model_name()
    return twin


def quietly(measure: Callable[..., Any]) -> dict[str, bool]:
    """The argument that switches the progress bar off, for the metrics that take it."""
    return {"_show_indicator": False} if "_show_indicator" in inspect.signature(measure).parameters else {}


def off_any_loop(call: Callable[[], Any]) -> Any:
    """Call where no event loop runs: a metric that finds one may patch it to nest its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return call()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, call).result()
