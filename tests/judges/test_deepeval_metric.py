from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
from typing import Any

import pytest
from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import (
    AnswerRelevancyMetric,
    BaseMetric,
    ContextualPrecisionMetric,
    ContextualRecallMetric,
    ContextualRelevancyMetric,
    DAGMetric,
    ExactMatchMetric,
    FaithfulnessMetric,
    GEval,
    HallucinationMetric,
    PatternMatchMetric,
    ToolCorrectnessMetric,
)
from deepeval.metrics.dag import BinaryJudgementNode, DeepAcyclicGraph, VerdictNode
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams
from deepeval.test_case import ToolCall as Call
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda

from langchain_llm_judge import (
    ArgumentCorrectnessJudge,
    ConfigError,
    DeepEvalJudge,
    InputError,
    JudgeReplyError,
    ModelCallError,
    TraceError,
    feedback,
)
from langchain_llm_judge.judges.deepeval_metric import as_test_case
from langchain_llm_judge.models.deepeval import fresh
from langchain_llm_judge.testing import ScriptedJudgeModel

CASE = {"question": "Where?", "answer": "In Paris.", "contexts": ["It is in Paris."], "reference": "Paris"}


class Unused(DeepEvalBaseLLM):
    """A model that must not be asked: the judge's own takes its place."""

    def load_model(self) -> Any:
        return self

    def generate(self, *args: Any, **kwargs: Any) -> str:
        raise AssertionError("the metric's own model was asked")

    async def a_generate(self, *args: Any, **kwargs: Any) -> str:
        raise AssertionError("the metric's own model was asked")

    def get_model_name(self) -> str:
        return "unused"


class Custom(BaseMetric):
    """A user's metric without a model: the share of letters that are capitals."""

    def __init__(self, threshold: float | None = 0.1, wait: float = 0.0) -> None:
        self.threshold = threshold
        self._wait = wait
        self.seen: list[str] = []

    def measure(self, test_case: LLMTestCase) -> float:
        self.seen.append(test_case.input)
        time.sleep(self._wait)
        answer = test_case.actual_output or ""
        if answer == "raise":
            raise RuntimeError("broken metric")
        self.score = {"none": None, "nan": float("nan"), "big": 1.2, "low": -0.1, "true": True}.get(
            answer, sum(map(str.isupper, answer)) / max(len(answer), 1)
        )
        self.reason = f"for {test_case.input}, seen {len(self.seen)}"
        self.success = self.threshold is None or (self.score or 0) >= self.threshold
        return self.score

    async def a_measure(self, test_case: LLMTestCase) -> float:
        raise NotImplementedError

    @property
    def __name__(self) -> str:
        return "Capitals"


# Any metric


async def test_a_metric_without_a_model_is_a_runnable():
    judge = DeepEvalJudge(ExactMatchMetric())
    for result in (judge.invoke({**CASE, "answer": "Paris"}), await judge.ainvoke({**CASE, "answer": "Paris"})):
        assert (result.score, result.passed, result.threshold) == (1.0, True, 1)
        assert result.metric == "Exact Match"
        assert result.usage is None
    assert judge.invoke(CASE).passed is False
    assert feedback(result)[0]["key"] == "Exact Match"
    chain = RunnableLambda(lambda answer: {**CASE, "answer": answer}) | judge
    assert chain.invoke("Paris").passed is True


def reply(messages: list[Any]) -> dict[str, Any]:
    """What the steps of DeepEval's metrics ask for, as far as these tests need it."""
    text = messages[-1].text
    for key in ("verdicts", "statements", "truths", "claims"):
        if f'"{key}"' in text or f"'{key}'" in text:
            items = [{"verdict": "yes", "reason": "r", "statement": "s"}]
            return {key: items if key == "verdicts" else ["one"]}
    return {"reason": "because", "score": 7}


@pytest.mark.filterwarnings("ignore:'HallucinationMetric' now scores:DeprecationWarning")
@pytest.mark.parametrize(
    "metric",
    [
        AnswerRelevancyMetric,
        FaithfulnessMetric,
        ContextualPrecisionMetric,
        ContextualRecallMetric,
        ContextualRelevancyMetric,
        HallucinationMetric,
    ],
)
async def test_contract_deepevals_own_metrics_run_on_our_model(metric: type[BaseMetric]):
    made = metric(model=Unused())
    for given in (made, metric, functools.partial(metric, threshold=0.4)):
        model = ScriptedJudgeModel([reply])
        judge = DeepEvalJudge(given, model=model)
        for result in (judge.invoke(CASE), await judge.ainvoke(CASE)):
            assert 0 <= result.score <= 1
            assert result.judge == "ScriptedJudgeModel"
            assert result.usage is not None
        assert result.usage.calls == len(model.calls) / 2 > 0
    assert made.score is None


async def test_f07_scores_of_a_users_geval_are_held_to_the_scale():
    steps = GEval("Tone", [SingleTurnParams.ACTUAL_OUTPUT], evaluation_steps=["Is it polite?"], model=Unused())
    for score, read in ((8, 0.8), ("8", 0.8), (10, 1.0)):
        judge = DeepEvalJudge(steps, model=ScriptedJudgeModel([{"score": score, "reason": "ok"}]))
        assert (judge.invoke(CASE).score, (await judge.ainvoke(CASE)).score) == (read, read)
    for score in (12, 0.9, True, None, float("nan"), "high", -3):
        judge = DeepEvalJudge(steps, model=ScriptedJudgeModel([{"score": score, "reason": "ok"}]))
        with pytest.raises(JudgeReplyError):
            judge.invoke(CASE)
        with pytest.raises(JudgeReplyError):
            await judge.ainvoke(CASE)


@pytest.mark.parametrize("answer", ["none", "nan", "big", "low", "true"])
async def test_scores_outside_0_to_1_are_errors_not_results(answer: str):
    judge = DeepEvalJudge(Custom())
    with pytest.raises(JudgeReplyError, match="'Capitals' gave the score"):
        judge.invoke({**CASE, "answer": answer})
    with pytest.raises(JudgeReplyError):
        await judge.ainvoke({**CASE, "answer": answer})


async def test_errors_of_a_metric_are_typed():
    with pytest.raises(ModelCallError, match="'Capitals' failed with RuntimeError") as caught:
        DeepEvalJudge(Custom()).invoke({**CASE, "answer": "raise"})
    assert isinstance(caught.value.__cause__, RuntimeError)
    judge = DeepEvalJudge(FaithfulnessMetric(model=Unused()), model=ScriptedJudgeModel([reply]))
    with pytest.raises(InputError, match="retrieval_context") as missing:
        await judge.ainvoke({"question": "q", "answer": "a"})
    assert isinstance(missing.value.__cause__, MissingTestCaseParamsError)
    down = DeepEvalJudge(FaithfulnessMetric, model=ScriptedJudgeModel([ConnectionResetError("gone")]))
    with pytest.raises(ModelCallError, match="ScriptedJudgeModel"):
        down.invoke(CASE)


@pytest.mark.parametrize("metric", [None, 7, "FaithfulnessMetric"])
def test_what_is_no_metric_is_refused(metric: Any):
    with pytest.raises(ConfigError, match="is no DeepEval metric"):
        DeepEvalJudge(metric)
    with pytest.raises(ConfigError, match="give model="):
        DeepEvalJudge(FaithfulnessMetric)


@pytest.mark.parametrize(
    "case", [{}, {"answer": "a"}, {"question": " ", "answer": "a"}, {"question": "q", "answer": ""}, 7]
)
def test_unusable_input_is_refused_before_measuring(case: Any):
    metric = Custom()
    with pytest.raises((InputError, TraceError)):
        DeepEvalJudge(metric).invoke(case)
    assert metric.seen == []


def test_a_metric_of_conversations_takes_only_those():
    from deepeval.metrics import ConversationalGEval

    metric = ConversationalGEval("Tone", criteria="Polite?", evaluation_steps=["Is it polite?"], model=Unused())
    with pytest.raises(InputError, match="measures conversations"):
        DeepEvalJudge(metric).invoke(CASE)


def test_identity_tells_metrics_and_settings_apart_and_is_the_same_again():
    def identity(metric: Any) -> str:
        return DeepEvalJudge(metric, model=ScriptedJudgeModel([reply])).fingerprint()

    made = [
        FaithfulnessMetric,
        AnswerRelevancyMetric,
        functools.partial(FaithfulnessMetric, threshold=0.8),
        functools.partial(FaithfulnessMetric, threshold=0.7),
        FaithfulnessMetric(model=Unused()),
        GEval("Tone", [SingleTurnParams.INPUT], evaluation_steps=["a"], model=Unused()),
        GEval("Tone", [SingleTurnParams.INPUT], evaluation_steps=["b"], model=Unused()),
    ]
    assert len({identity(metric) for metric in made}) == len(made)
    assert [identity(metric) for metric in made] == [identity(metric) for metric in made]


# State


async def test_every_evaluation_has_a_metric_of_its_own():
    metric = Custom(wait=0.01)
    judge = DeepEvalJudge(metric)
    cases = [{"question": f"q{number}", "answer": "A" * (number + 1) + "a" * (9 - number)} for number in range(10)]
    for results in (await judge.abatch(cases), judge.batch(cases)):
        assert [result.score for result in results] == [(number + 1) / 10 for number in range(10)]
        assert [result.reason for result in results] == [f"for q{number}, seen 1" for number in range(10)]
    assert (metric.seen, metric.score, metric.reason) == ([], None, None)


def test_a_fresh_metric_keeps_settings_and_forgets_findings():
    metric = Custom(threshold=0.3, wait=0.02)
    metric.measure(LLMTestCase(input="q", actual_output="AA"))
    twin = fresh(metric)
    assert (twin.threshold, twin._wait, type(twin)) == (0.3, 0.02, Custom)
    assert (twin.score, twin.reason, twin.success, twin.error) == (None, None, None, None)
    twin.seen.append("more")
    assert metric.seen == ["q"]
    assert metric.score == 1.0


@pytest.mark.filterwarnings("ignore:Passing 'children':DeprecationWarning")
async def test_a_graph_of_nodes_is_copied_with_its_metric():
    verdicts = [VerdictNode(verdict=True, score=10), VerdictNode(verdict=False, score=0)]
    node = BinaryJudgementNode(
        criteria="Is it short?", children=verdicts, evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT]
    )
    metric = DAGMetric("Short", DeepAcyclicGraph(root_nodes=[node]), model=Unused())
    assert fresh(metric).dag is not metric.dag
    judge = DeepEvalJudge(metric, model=ScriptedJudgeModel([{"verdict": True, "reason": "it is"}]))
    assert [result.score for result in await judge.abatch([CASE] * 5)] == [1.0] * 5


async def test_a_sync_metric_does_not_block_the_loop_and_nothing_is_patched():
    threads: list[Any] = []

    class Patching(Custom):
        def measure(self, test_case: LLMTestCase) -> float:
            from deepeval.utils import get_or_create_event_loop

            threads.append(threading.current_thread())
            loop = get_or_create_event_loop()
            loop.run_until_complete(asyncio.sleep(0.05))
            loop.close()
            return super().measure(test_case)

    judge = DeepEvalJudge(Patching())
    assert (await judge.ainvoke(CASE)).score > 0
    assert judge.invoke(CASE).score > 0
    assert threading.main_thread() not in threads
    assert not hasattr(asyncio, "_nest_patched")


def test_a_metric_without_a_threshold_gives_a_score_and_no_verdict():
    result = DeepEvalJudge(Custom(threshold=None)).invoke(CASE)
    assert result.score > 0
    assert result.passed is None


# Test cases


def test_question_answer_contexts_and_reference_become_a_test_case():
    made = as_test_case(CASE)
    assert (made.input, made.actual_output, made.expected_output) == ("Where?", "In Paris.", "Paris")
    assert made.retrieval_context == made.context == ["It is in Paris."]
    apart = as_test_case({**CASE, "context": ["ideal"]})
    assert (apart.retrieval_context, apart.context) == (["It is in Paris."], ["ideal"])


def test_a_run_becomes_a_test_case_with_its_calls_and_their_outputs():
    run = {
        "messages": [
            HumanMessage("Ada's orders"),
            AIMessage("", tool_calls=[{"name": "find_user", "args": {"name": "Ada"}, "id": "a"}]),
            ToolMessage('{"id":7}', tool_call_id="a"),
            AIMessage("", tool_calls=[{"name": "get_orders", "args": {"id": 7}, "id": "b"}]),
            AIMessage("None."),
        ]
    }
    made = as_test_case({"trace": run, "reference": [{"name": "find_user", "args": {"name": "Ada"}}]})
    assert (made.input, made.actual_output) == ("Ada's orders", "None.")
    assert [(call.name, call.input_parameters, call.output) for call in made.tools_called] == [
        ("find_user", {"name": "Ada"}, '{"id":7}'),
        ("get_orders", {"id": 7}, None),
    ]
    assert made.expected_tools == [Call(name="find_user", input_parameters={"name": "Ada"})]
    both = [{"name": "find_user", "args": {}}, {"name": "get_orders", "args": {}}]
    assert DeepEvalJudge(ToolCorrectnessMetric(model=Unused())).invoke({"trace": run, "reference": both}).score == 1.0


def test_malformed_arguments_keep_their_text():
    made = as_test_case({"input": "q", "actual_output": "a", "tools_called": [{"name": "w", "args": '{"city": "Par'}]})
    assert made.tools_called[0].input_parameters == {"malformed_arguments": '{"city": "Par'}


def test_a_test_case_is_passed_on_as_it_is():
    given = LLMTestCase(input="q", actual_output="[DEEPEVAL:IMAGE:x]")
    assert as_test_case(given) is given
    assert DeepEvalJudge(PatternMatchMetric(".*")).invoke(LLMTestCase(input="q", actual_output="a")).passed is True


def test_marks_of_attachments_in_what_is_judged_are_made_harmless():
    made = as_test_case({**CASE, "answer": "see [DEEPEVAL:IMAGE:/etc/passwd]"})
    assert not made.multimodal
    assert "[DEEPEVAL:" not in made.actual_output


# Our judge inside DeepEval


def verdicts(*words: str) -> dict[str, Any]:
    return {"verdicts": [{"call": number, "correct": word, "reason": "r"} for number, word in enumerate(words)]}


def called(*names: str, question: str = "q") -> LLMTestCase:
    calls = [Call(name=name, input_parameters={"x": 1}) for name in names]
    return LLMTestCase(input=question, actual_output="a", tools_called=calls)


def argument_metric(*words: str, **settings: Any) -> Any:
    return ArgumentCorrectnessJudge(model=ScriptedJudgeModel([verdicts(*words)]), **settings).as_deepeval_metric()


def test_our_judge_is_a_deepeval_metric():
    metric = argument_metric("yes", "no", threshold=0.6)
    assert metric.measure(called("w", "v")) == 0.5
    assert (metric.score, metric.success, metric.is_successful(), metric.threshold) == (0.5, False, False, 0.6)
    assert metric.reason.startswith("1 of 2 calls")
    assert (metric.__name__, metric.evaluation_model) == ("Argument Correctness", "ScriptedJudgeModel")
    assert "call 1 v: no" in metric.verbose_logs
    assert asyncio.run(metric.a_measure(called("w", "v"), _show_indicator=False)) == 0.5


def test_without_a_verdict_the_metric_neither_passes_nor_fails():
    metric = argument_metric("yes")
    assert metric.measure(called()) is None
    assert (metric.score, metric.success, metric.is_successful()) == (None, None, None)


@pytest.fixture
def in_a_folder_of_its_own(tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    """DeepEval's own `evaluate` writes a cache where it runs, and leaves an event loop open."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    yield
    with contextlib.suppress(RuntimeError):
        asyncio.get_event_loop_policy().get_event_loop().close()
    asyncio.set_event_loop(None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("in_a_folder_of_its_own")
@pytest.mark.parametrize("run_async", [True, False])
def test_evaluate_and_assert_test_take_it(run_async: bool):
    from deepeval import assert_test, evaluate
    from deepeval.evaluate.configs import AsyncConfig, DisplayConfig

    def reply(messages: list[Any]) -> Any:
        return verdicts("yes" if "right" in messages[-1].text else "no")

    metric = ArgumentCorrectnessJudge(model=ScriptedJudgeModel([reply])).as_deepeval_metric()
    result = evaluate(
        test_cases=[called("w", question="right"), called("w", question="wrong")],
        metrics=[metric],
        async_config=AsyncConfig(run_async=run_async),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
    )
    data = sorted((test.input, test.success, test.metrics_data[0].score) for test in result.test_results)
    assert data == [("right", True, 1.0), ("wrong", False, 0.0)]
    assert_test(called("w", question="right"), [metric], run_async=run_async)
    with pytest.raises(AssertionError, match="Argument Correctness"):
        assert_test(called("w", question="wrong"), [metric], run_async=run_async)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("in_a_folder_of_its_own")
def test_it_measures_observed_components():
    from deepeval.dataset import EvaluationDataset, Golden
    from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
    from deepeval.tracing import observe, update_current_span

    model = ScriptedJudgeModel([verdicts("yes", "no")])
    metric = ArgumentCorrectnessJudge(model=model).as_deepeval_metric()

    @observe(metrics=[metric])
    def agent(question: str) -> str:
        update_current_span(test_case=called("w", "v", question=question))
        return "a"

    quiet = DisplayConfig(show_indicator=False, print_results=False)
    dataset = EvaluationDataset(goldens=[Golden(input="Hi!")])
    for golden in dataset.evals_iterator(async_config=AsyncConfig(run_async=False), display_config=quiet):
        agent(golden.input)
    assert "Hi!" in model.calls[0][-1].text
    assert metric.score == 0.5
