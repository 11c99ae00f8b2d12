"""Were the arguments of an agent's tool calls correct for the task?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from langchain_llm_judge.checks.levels import Exchange, level_of
from langchain_llm_judge.config import DEFAULT_THRESHOLD
from langchain_llm_judge.errors import InputError
from langchain_llm_judge.judges.argument_verdicts import (
    ArgumentVerdict,
    reference_calls,
    settled_verdicts,
    verdict_on,
)
from langchain_llm_judge.judges.base import Ask, Flow, Judge
from langchain_llm_judge.judges.transcript import content_of, tools_text, transcript
from langchain_llm_judge.models.replies import Index, Reason, ReplySchema, YesNo, one_per_id
from langchain_llm_judge.models.resolve import resolve_chat_model
from langchain_llm_judge.models.structured import Reply
from langchain_llm_judge.prompts import FilledPrompt, load_prompt
from langchain_llm_judge.results import Feedback, Result, Usage
from langchain_llm_judge.safety.fence import fence_all
from langchain_llm_judge.safety.injection import InjectionFinding, scan_parts
from langchain_llm_judge.trace.convert import to_trace
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall

TASK = ("input", "question", "query", "task")


class ArgumentCorrectness(Result):
    """What the arguments of a run's calls were worth."""

    score: float | None
    """Calls with correct arguments / all calls, from 0 to 1; in strict mode 1 or 0. `None` where no call was made."""
    passed: bool | None
    """Whether `score` reaches the threshold; `None` without a score."""
    threshold: float
    reason: str | None
    """The arithmetic, and every wrong call; `None` with `include_reason=False`."""
    verdicts: list[ArgumentVerdict]
    verbose_logs: str
    """The steps to the score, as `verbose_mode=True` prints them."""
    injection: list[InjectionFinding]
    """Findings of the scan in what the judge read; they change no score."""
    usage: Usage
    judge: str | None
    """The judge model; `None` where it was not asked."""
    prompt_version: str | None

    def feedback(self) -> list[Feedback]:
        """The score, with the verdicts in its metadata."""
        metadata = {
            "verdicts": [verdict.model_dump() for verdict in self.verdicts],
            "threshold": self.threshold,
            "judge": self.judge,
            "prompt_version": self.prompt_version,
        }
        return [Feedback(key="argument_correctness", score=self.score, comment=self.reason, metadata=metadata)]


class CallReply(ReplySchema):
    """One call as the judge answers it."""

    call: Index
    correct: YesNo
    reason: Reason = ""


class ArgumentsReply(ReplySchema):
    """A judge's reply about the arguments of calls."""

    verdicts: list[CallReply]


class ArgumentCorrectnessJudge(Judge[ArgumentCorrectness]):
    """Were the arguments of the tool calls correct for the task?

    Counts the calls of the run itself, every attempt; those of agents inside a tool are shown to the judge and
    not counted. Settled without the judge: a call that equals a reference call (right; one reference call
    settles one call), malformed arguments and arguments that do not fit the tool's JSON Schema (wrong). All others
    are judged in one model call, each with the results that stood before it.

    Score: calls with correct arguments / all calls, from 0 to 1, higher is better. Passes at `threshold`.

    Input: `{"input", "tools_called": [{"name", "args"}], "actual_output"?, "tools"?, "reference"?}`, a DeepEval
    `LLMTestCase`, `{"trace" | "messages": …, "reference"?}`, or anything else `to_trace` takes. `reference` is a list
    of calls; a test case's `expected_tools` are that too, where they give arguments.

    Args:
        threshold: Lowest passing score, from 0 to 1.
        model: A chat model or its name; see the README's table.
        include_reason: `False` leaves `reason` out of the result.
        strict_mode: Score 1 where all calls are correct, else 0; the threshold is then 1.
        async_mode: For the metric of `as_deepeval_metric`; this judge has `invoke` and `ainvoke`.
        verbose_mode: Print the steps to the score.
        provider: litellm's name of the provider, where `model` is its bare model name.
        config_path: Ini file with the provider's key.
        temperature: From 0 to 2; `JUDGE_TEMPERATURE` by default.

    Raises:
        ConfigError: A setting is not usable, or the model needs a key and none was found.

    References:
        Prompt `arguments`. Options and arithmetic of DeepEval's `ArgumentCorrectnessMetric`.

    Example:
        >>> from langchain_llm_judge import ArgumentCorrectnessJudge
        >>> from langchain_llm_judge.testing import ScriptedJudgeModel
        >>> model = ScriptedJudgeModel([{"verdicts": [{"call": 0, "correct": "no", "reason": "It asks for Paris."}]}])
        >>> case = {"input": "Weather in Paris?", "tools_called": [{"name": "weather", "args": {"city": "Rome"}}]}
        >>> result = ArgumentCorrectnessJudge(model=model).invoke(case)
        >>> result.score, result.passed, result.reason
        (0.0, False, '0 of 1 calls have correct arguments (0.00); call 0 weather: It asks for Paris.')
    """

    def __init__(
        self,
        threshold: float = DEFAULT_THRESHOLD,
        model: BaseChatModel | str | Any | None = None,
        include_reason: bool = True,
        strict_mode: bool = False,
        async_mode: bool = True,
        verbose_mode: bool = False,
        *,
        provider: str | None = None,
        config_path: str | Path | None = None,
        temperature: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(threshold=threshold, name=name)
        if strict_mode:
            self.threshold = 1.0
        self.include_reason = include_reason
        self.strict_mode = strict_mode
        self.async_mode = async_mode
        self.verbose_mode = verbose_mode
        self._model = resolve_chat_model(
            model, provider, config_path=config_path, temperature=temperature, purpose="judge the arguments of calls"
        )

    def as_deepeval_metric(self) -> Any:
        """This judge as a DeepEval `BaseMetric`, for `evaluate`, `assert_test` and `@observe(metrics=[…])`."""
        from langchain_llm_judge.judges.deepeval_metric import JudgeMetric

        return JudgeMetric(self, threshold=self.threshold, strict_mode=self.strict_mode, async_mode=self.async_mode)

    def _judge(self, case: Any) -> Flow[ArgumentCorrectness]:
        trace, reference = _trace_and_reference(case)
        level = level_of(trace)
        exchanges = level.exchanges
        settled = settled_verdicts(level, reference)
        open_calls = [number for number in range(len(exchanges)) if number not in settled]
        if open_calls and not trace.task.strip():
            raise InputError(
                "the run has no task, so there is nothing its arguments could be correct for; give it under 'input', "
                "or to_trace(…, task=…)",
                field="input",
                found=trace.task,
            )
        reply: Reply[list[ArgumentVerdict]] | None = None
        if open_calls:
            reply = yield Ask(
                self._model,
                _prompt(trace, open_calls),
                ArgumentsReply,
                lambda answer: _judged(answer, open_calls, exchanges),
            )
        verdicts = sorted([*settled.values(), *(reply.value if reply else [])], key=lambda verdict: verdict.call)
        result = self._result(trace, verdicts, reply)
        if self.verbose_mode:
            print(result.verbose_logs)  # noqa: T201 - what the option is for
        return result

    def _result(
        self, trace: AgentTrace, verdicts: Sequence[ArgumentVerdict], reply: Reply[list[ArgumentVerdict]] | None
    ) -> ArgumentCorrectness:
        score = self._score(verdicts)
        reason = _reason(trace, verdicts, score)
        return ArgumentCorrectness(
            score=score,
            passed=None if score is None else score >= self.threshold,
            threshold=self.threshold,
            reason=reason if self.include_reason else None,
            verdicts=list(verdicts),
            verbose_logs=_logs(verdicts, reason),
            injection=scan_parts(_read_by_the_judge(trace)),
            usage=reply.usage if reply else Usage(),
            judge=self._model.label if reply else None,
            prompt_version=reply.prompt_version if reply else None,
        )

    def _score(self, verdicts: Sequence[ArgumentVerdict]) -> float | None:
        """Calls with correct arguments / all calls; 1 or 0 in strict mode."""
        if not verdicts:
            return None
        correct = sum(verdict.correct for verdict in verdicts)
        return float(correct == len(verdicts)) if self.strict_mode else correct / len(verdicts)

    def _example(self, inputs: Any, outputs: Any, reference_outputs: Any) -> Any:
        run = outputs if outputs is not None else inputs
        if isinstance(run, Mapping) and isinstance(inputs, Mapping):
            run = {**inputs, **run}
        return run if reference_outputs is None else {"trace": run, "reference": reference_outputs}

    def _settings(self) -> dict[str, Any]:
        return {
            **self._model.identity(),
            "prompt": load_prompt("arguments").version,
            "include_reason": self.include_reason,
            "strict_mode": self.strict_mode,
        }


def _trace_and_reference(case: Any) -> tuple[AgentTrace, list[ToolCall]]:
    """The run, and the reference calls where the input has some."""
    if not isinstance(case, Mapping):
        return to_trace(case), reference_calls(getattr(case, "expected_tools", None))
    fields = dict(case)
    reference = fields.pop("reference", None)
    reference = fields.get("expected_tools") if reference is None else reference
    return _trace_of(fields), reference_calls(reference)


def _trace_of(fields: dict[str, Any]) -> AgentTrace:
    if "trace" in fields:
        return to_trace(fields["trace"])
    if "tools_called" not in fields:
        return to_trace(fields)
    task = next((fields[name] for name in TASK if isinstance(fields.get(name), str)), None)
    return to_trace(fields, task=task, tools=fields.get("tools"))


def _prompt(trace: AgentTrace, open_calls: Sequence[int]) -> FilledPrompt:
    parts = {"task": trace.task, "tools": tools_text(trace), "steps": transcript(trace, number_calls=True)}
    return load_prompt("arguments").fill(calls=", ".join(map(str, open_calls)), **fence_all(parts))


def _judged(reply: ArgumentsReply, open_calls: Sequence[int], exchanges: Sequence[Exchange]) -> list[ArgumentVerdict]:
    """One verdict for each open call, matched by number.

    Raises:
        ReplyFault: A call has no verdict or two different ones, or a verdict names a call that was not asked about.
    """
    entries = one_per_id(reply.verdicts, open_calls, lambda entry: entry.call, "call")
    return [
        verdict_on(entry.call, exchanges[entry.call].call, entry.correct, entry.reason, "judge") for entry in entries
    ]


def _read_by_the_judge(trace: AgentTrace) -> dict[str, str | None]:
    """Everything of the run that the data controls, with its place."""
    parts: dict[str, str | None] = {"task": trace.task}
    for path, run in trace.walk():
        for number, step in enumerate(run.steps):
            parts["/".join((*path, f"steps[{number}]"))] = content_of(step)
    return parts


def _reason(trace: AgentTrace, verdicts: Sequence[ArgumentVerdict], score: float | None) -> str:
    if score is None:
        return "no tool was called" if trace.tool_use_known else "the source does not tell which tools were called"
    correct = sum(verdict.correct for verdict in verdicts)
    wrong = [f"call {verdict.call} {verdict.tool}: {verdict.reason}" for verdict in verdicts if not verdict.correct]
    return "; ".join([f"{correct} of {len(verdicts)} calls have correct arguments ({score:.2f})", *wrong])


def _logs(verdicts: Sequence[ArgumentVerdict], reason: str) -> str:
    lines = [
        f"call {verdict.call} {verdict.tool}: {'yes' if verdict.correct else 'no'}, by {verdict.decided_by}; "
        f"{verdict.reason}"
        for verdict in verdicts
    ]
    return "\n".join([*lines, reason])
