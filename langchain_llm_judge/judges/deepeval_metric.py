"""DeepEval's metrics as judges, and a judge as a DeepEval metric."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig

from langchain_llm_judge.config import DEFAULT_THRESHOLD
from langchain_llm_judge.errors import (
    ConfigError,
    InputError,
    JudgeReplyError,
    JudgeTimeoutError,
    LLMJudgeError,
    ModelCallError,
    shown,
)
from langchain_llm_judge.judges.base import Flow, Judge
from langchain_llm_judge.judges.deepeval_cases import case_fields
from langchain_llm_judge.models.deepeval import (
    FOUND,
    BridgedModel,
    fresh,
    is_conversational,
    is_metric,
    keep_quiet,
    off_any_loop,
    quietly,
)
from langchain_llm_judge.models.deepeval_chat import without_attachments
from langchain_llm_judge.models.resolve import resolve_chat_model
from langchain_llm_judge.models.structured import JudgeModel
from langchain_llm_judge.results import Feedback, Result, Usage, score_of, usage_of

keep_quiet()

from deepeval.errors import MissingTestCaseParamsError  # noqa: E402
from deepeval.metrics import BaseMetric  # noqa: E402
from deepeval.test_case import ConversationalTestCase, LLMTestCase, ToolCall  # noqa: E402

_PLAIN = (str, int, float, bool, list, tuple, type(None))
"""Settings of a metric that say what it asks."""


class MetricResult(Result):
    """What a DeepEval metric found."""

    score: float
    """From 0 to 1."""
    passed: bool | None
    """The metric's own verdict; `None` for a metric without a threshold."""
    reason: str | None
    """`None` where the metric gives none."""
    metric: str
    """The metric's name."""
    threshold: float | None
    usage: Usage | None
    """What our model spent; `None` where the metric asked a model of its own, which does not tell."""
    judge: str | None
    """The model; `None` where the metric asks none."""

    def feedback(self) -> list[Feedback]:
        """The score under the metric's name."""
        metadata = {"threshold": self.threshold, "judge": self.judge}
        return [Feedback(key=self.metric, score=self.score, comment=self.reason, metadata=metadata)]


class DeepEvalJudge(Judge[MetricResult]):
    """Any DeepEval metric of one turn as a Runnable.

    Metrics keep the state of their last evaluation, so each evaluation gets its own: a copy that shares the
    model and nothing it could write to, or a new one where `metric` is a class or function that makes them.

    Input: `{"question", "answer", "contexts"?, "reference"?, "tools_called"?}`, a trace, anything else `to_trace`
    takes, or a DeepEval test case, which is passed on as it is.

    Args:
        metric: A metric, or what makes one when called with `model=`: a metric's class, or
            `functools.partial(FaithfulnessMetric, threshold=0.8)`.
        model: A chat model or its name that takes the place of the metric's; see the README's table. `None` leaves
            the metric its own, which is then asked as DeepEval asks it.
        provider: litellm's name of the provider, where `model` is its bare model name.
        config_path: Ini file with the provider's key.
        temperature: From 0 to 2; `JUDGE_TEMPERATURE` by default.

    Raises:
        ConfigError: `metric` is no metric, or the model needs a key and none was found.

    Example:
        >>> from deepeval.metrics import ExactMatchMetric
        >>> from langchain_llm_judge import DeepEvalJudge
        >>> judge = DeepEvalJudge(ExactMatchMetric())
        >>> judge.invoke({"question": "2+2?", "answer": "4", "reference": "4"}).passed
        True
    """

    def __init__(
        self,
        metric: Any,
        model: BaseChatModel | str | Any | None = None,
        *,
        provider: str | None = None,
        config_path: str | Path | None = None,
        temperature: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self._metric = metric
        self._model: JudgeModel | None = None
        if model is not None or provider is not None:
            self._model = resolve_chat_model(
                model, provider, config_path=config_path, temperature=temperature, purpose="stand in for a model"
            )
        self._check()
        threshold = getattr(metric, "threshold", None)
        self.threshold = DEFAULT_THRESHOLD if threshold is None else threshold

    def _check(self) -> None:
        if is_metric(self._metric):
            return
        if not callable(self._metric):
            raise ConfigError(
                f"metric={shown(self._metric)} is no DeepEval metric; give one, or its class together with model="
            )
        if self._model is None:
            raise ConfigError(f"metric={shown(self._metric)} makes a metric for a model; give model= with it")

    def _judge(self, case: Any) -> Flow[MetricResult]:
        if is_conversational(self._metric) and not isinstance(case, ConversationalTestCase):
            raise InputError(
                f"metric {_name(self._metric)!r} measures conversations; give DeepEval's ConversationalTestCase, "
                f"got {type(case).__name__}",
                found=case,
            )
        result: MetricResult = yield Measure(self._metric, self._model, as_test_case(case))
        return result

    def _settings(self) -> dict[str, Any]:
        metric = self._metric
        made_by = getattr(metric, "func", metric)  # of a functools.partial
        given = vars(metric) if is_metric(metric) else getattr(metric, "keywords", {})
        plain = {name: str(value) for name, value in given.items() if name not in FOUND and isinstance(value, _PLAIN)}
        model = self._model.identity() if self._model else {"model": plain.get("evaluation_model")}
        # The prompts are DeepEval's, and change with it.
        return {"metric": _name(made_by), "settings": plain, "deepeval": version("deepeval"), **model}


@dataclass(frozen=True)
class Measure:
    """One evaluation by a metric of its own, as an effect of a judge; its value is a `MetricResult`."""

    metric: Any
    model: JudgeModel | None
    case: Any
    """DeepEval's test case."""

    def perform(self, config: RunnableConfig) -> MetricResult:
        """Measure and wait."""
        bridge = self._bridge(config)
        metric = fresh(self.metric, bridge)
        started = time.monotonic()
        try:
            off_any_loop(lambda: metric.measure(self.case, **quietly(metric.measure)))
        except Exception as error:
            raise _typed(error, metric, bridge, started) from error
        return _result(metric, bridge)

    async def aperform(self, config: RunnableConfig) -> MetricResult:
        """Measure without blocking the event loop; a metric that is only sync runs in a thread."""
        bridge = self._bridge(config)
        metric = fresh(self.metric, bridge)
        started = time.monotonic()
        try:
            try:
                await metric.a_measure(self.case, **quietly(metric.a_measure))
            except NotImplementedError:
                await asyncio.to_thread(metric.measure, self.case, **quietly(metric.measure))
        except Exception as error:
            raise _typed(error, metric, bridge, started) from error
        return _result(metric, bridge)

    def _bridge(self, config: RunnableConfig) -> BridgedModel | None:
        return None if self.model is None else BridgedModel(self.model, config, "deepeval")


def as_test_case(case: Any) -> Any:
    """DeepEval's test case of a judge's input; one that is a test case already is passed on as it is."""
    if isinstance(case, LLMTestCase | ConversationalTestCase):
        return case
    fields = _harmless(case_fields(case))
    for name in ("tools_called", "expected_tools"):
        if name in fields:
            fields[name] = [ToolCall(**call) for call in fields[name]]
    return LLMTestCase(**fields)


def _harmless(value: Any) -> Any:
    """Every text in a value without marks of attachments, which a metric's own model would open."""
    if isinstance(value, str):
        return without_attachments(value)
    if isinstance(value, dict):
        return {key: _harmless(item) for key, item in value.items()}
    return [_harmless(item) for item in value] if isinstance(value, list | tuple) else value


def _typed(error: Exception, metric: Any, bridge: BridgedModel | None, started: float) -> LLMJudgeError:
    """What went wrong, as one of our errors."""
    if bridge is not None and isinstance(bridge.failure, LLMJudgeError):
        return bridge.failure
    if isinstance(error, LLMJudgeError):
        return error
    name, kind = _name(metric), type(error).__name__
    if isinstance(error, MissingTestCaseParamsError):
        return InputError(f"metric {name!r} needs more than was given: {error}", found=str(error))
    if isinstance(error, ValueError | KeyError | TypeError):
        return JudgeReplyError(
            f"metric {name!r} made no score of its model's replies ({kind}, see the cause)", raw=shown(error)
        )
    fails = JudgeTimeoutError if isinstance(error, TimeoutError) else ModelCallError
    return fails(
        f"metric {name!r} failed with {kind} (see the cause)",
        model=str(getattr(metric, "evaluation_model", None)),
        attempts=1,
        elapsed_s=time.monotonic() - started,
    )


def _result(metric: Any, bridge: BridgedModel | None) -> MetricResult:
    return MetricResult(
        score=_checked(metric),
        passed=_passed(metric),
        reason=metric.reason,
        metric=_name(metric),
        threshold=metric.threshold,
        usage=bridge.usage if bridge else None,
        judge=getattr(metric, "evaluation_model", None),
    )


def _passed(metric: Any) -> bool | None:
    """The metric's own verdict; some older ones only leave it in `success`."""
    if metric.threshold is None:
        return None
    try:
        verdict = metric.is_successful()
    except NotImplementedError:
        verdict = metric.success
    return verdict if isinstance(verdict, bool) else None


def _checked(metric: Any) -> float:
    """The score, on the scale from 0 to 1.

    Raises:
        JudgeReplyError: It is missing, no number, or outside.
    """
    score, error = metric.score, getattr(metric, "error", None)
    number = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
    if number and 0 <= score <= 1 and error is None:
        return float(score)
    told = f"; it says: {shown(error)}" if error is not None else ""
    raise JudgeReplyError(
        f"metric {_name(metric)!r} gave the score {shown(score)}, expected a number from 0 to 1{told}",
        raw=shown({"score": score, "reason": metric.reason, "error": error}),
        code="out_of_range" if number else "unreadable",
    )


def _name(metric: Any) -> str:
    return str(getattr(metric, "__name__", None) or type(metric).__name__)


class JudgeMetric(BaseMetric):  # type: ignore[misc]
    """A judge as a DeepEval metric, for `evaluate`, `assert_test` and `@observe(metrics=[…])`.

    Where the judge gives no verdict (no tool was called), score and success are `None`, which DeepEval counts neither
    as passed nor as failed.
    """

    def __init__(
        self,
        judge: Judge[Any],
        threshold: float = DEFAULT_THRESHOLD,
        strict_mode: bool = False,
        async_mode: bool = True,
        name: str = "Argument Correctness",
    ) -> None:
        # DeepEval copies metrics by the names of these arguments.
        self.judge = judge
        self.score: float | None = None
        self.success: bool | None = None
        self.error: str | None = None
        self.threshold = threshold
        self.strict_mode = strict_mode
        self.async_mode = async_mode
        self.name = name
        self.include_reason = True
        self.verbose_mode = False

    def measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float | None:
        """Judge a test case."""
        return self._take(self.judge.invoke(test_case))

    async def a_measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float | None:
        """Judge a test case without blocking the event loop."""
        return self._take(await self.judge.ainvoke(test_case))

    def is_successful(self) -> bool | None:
        """The verdict; `None` where there is none."""
        self.success = None if self.score is None else self.score >= self.threshold
        if self.error is not None:
            self.success = False
        return self.success

    @property
    def __name__(self) -> str:
        return self.name

    def _take(self, result: Any) -> float | None:
        usage = usage_of(result)
        self.error, self.score = None, score_of(result)
        self.reason = result.reason
        self.verbose_logs = getattr(result, "verbose_logs", None)
        self.evaluation_model = result.judge
        self.evaluation_cost, self.input_tokens, self.output_tokens = (
            usage.cost_usd,
            usage.input_tokens,
            usage.output_tokens,
        )
        self.is_successful()
        return self.score
