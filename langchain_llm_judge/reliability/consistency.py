"""Does a judge say the same again about the same thing?"""

from __future__ import annotations

import asyncio
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from langchain_llm_judge.errors import ConfigError, InputError, shown
from langchain_llm_judge.reliability.asking import Answer, aask, ask, judge_for, temperature_of, uncached
from langchain_llm_judge.reliability.bootstrap import bootstrap_ci
from langchain_llm_judge.reliability.interval import Interval, share_interval
from langchain_llm_judge.reliability.ratings import checked_confidence, checked_rng
from langchain_llm_judge.results import Feedback, Result, label_of, score_of

AT_ONCE = 10
"""Samples that `ameasure_consistency` asks for at a time."""


class ConsistencyReport(Result):
    """What a judge said about one input, asked again and again."""

    agreement: float | None
    """Share of the readable verdicts that are the most frequent one, above 0 to 1; `None` without a verdict."""
    modal: str | None
    """The most frequent verdict: a winner, or `pass` or `fail`; `None` where none leads."""
    counts: dict[str, int]
    """How often each verdict came."""
    scores: list[float]
    """The scores that came, from 0 to 1, in order; empty for comparisons."""
    mean: float | None
    """Of the scores."""
    sd: float | None
    """Sample standard deviation of the scores; `None` with fewer than two."""
    spread: float | None
    """Highest score - lowest score."""
    ci: Interval | None
    """Bootstrap interval of `mean`, for judges without scores of `agreement`; `None` with fewer than two samples."""
    stable: bool | None
    """Whether every readable verdict was the same; `None` without a verdict."""
    n_ok: int
    """Samples with a verdict or a score."""
    n_failed: int
    """Samples without: the judge failed, or could not grade."""
    real_calls: int | None
    """Requests the judge model answered, those of failed samples among them where the error tells; `None` where
    nothing tells."""
    confidence: float
    """Of `ci`."""
    warnings: list[str]
    """What limits the finding."""
    errors: list[str]
    """Why samples failed, one text each."""

    def feedback(self) -> list[Feedback]:
        """The agreement with the most frequent verdict."""
        told = ", ".join(f"{count} × {verdict}" for verdict, count in self.counts.items()) or "no verdict"
        metadata = {"mean": self.mean, "sd": self.sd, "n": self.n_ok, "n_failed": self.n_failed, "stable": self.stable}
        return [Feedback(key="consistency", score=self.agreement, comment=told, metadata=metadata)]


def measure_consistency(
    judge: Any,
    task: str | None = None,
    *,
    output_a: str | None = None,
    output_b: str | None = None,
    output: str | None = None,
    inputs: Any = None,
    samples: int = 5,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> ConsistencyReport:
    """Ask a judge the same thing several times and report how far it agrees with itself.

    Every sample is a real call: LangChain's cache is bypassed. The verdict is the winner of a comparison, else pass
    or fail at the judge's threshold. A sample that fails is counted in `n_failed` and kept out of all else.

    Args:
        judge: Any judge, or an `LLMJudge`, whose `pairwise` or `grading` is then asked.
        task: What was asked for; goes with `output`, or with `output_a` and `output_b`.
        output_a: First output to compare.
        output_b: Second output to compare.
        output: Output to grade.
        inputs: The judge's input as it is, in place of the four above.
        samples: How often to ask, from 1.
        confidence: Of the interval, between 0 and 1.
        rng: numpy `Generator` for the interval; `None` is a fixed seed.

    Returns:
        The report. With one sample `sd` and `ci` are `None`; with nothing readable every measure is.

    Raises:
        ConfigError: `samples`, `confidence` or `rng` is not usable.
        InputError: The input is incomplete, or no input of this judge.

    Example:
        >>> from langchain_core.runnables import RunnableLambda
        >>> answers = iter([0.7, 0.7, 0.2])
        >>> def grade(case):
        ...     score = next(answers)
        ...     return {"status": "PASS" if score >= 0.5 else "FAIL", "score": score, "reason": "", "metadata": {}}
        >>> report = measure_consistency(RunnableLambda(grade), inputs={"question": "2+2?", "answer": "4"}, samples=3)
        >>> report.counts, report.stable, round(report.sd, 4), report.spread
        ({'pass': 2, 'fail': 1}, False, 0.2887, 0.5)
    """
    case, samples = _case(task, output_a, output_b, output, inputs), _checked_samples(samples)
    confidence, rng = checked_confidence(confidence), checked_rng(rng)
    asked = uncached(judge_for(judge, case))
    return _report([ask(asked, case) for _ in range(samples)], asked, confidence, rng)


async def ameasure_consistency(
    judge: Any,
    task: str | None = None,
    *,
    output_a: str | None = None,
    output_b: str | None = None,
    output: str | None = None,
    inputs: Any = None,
    samples: int = 5,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> ConsistencyReport:
    """The async twin of `measure_consistency`; asks for up to 10 samples at once."""
    case, samples = _case(task, output_a, output_b, output, inputs), _checked_samples(samples)
    confidence, rng = checked_confidence(confidence), checked_rng(rng)
    asked = uncached(judge_for(judge, case))
    gate = asyncio.Semaphore(AT_ONCE)

    async def one() -> Answer:
        async with gate:
            return await aask(asked, case)

    return _report(await asyncio.gather(*(one() for _ in range(samples))), asked, confidence, rng)


def _checked_samples(samples: object) -> int:
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise ConfigError(f"samples={shown(samples)} is no number of calls; give a whole number from 1, such as 5")
    return samples


def _case(task: str | None, output_a: str | None, output_b: str | None, output: str | None, inputs: Any) -> Any:
    given = {"output_a": output_a, "output_b": output_b, "output": output}
    fields = {name: value for name, value in given.items() if value is not None}
    if inputs is not None and task is None and not fields:
        return inputs
    if inputs is None and task is not None and set(fields) in ({"output"}, {"output_a", "output_b"}):
        # Judges of answers call the task a question.
        return {"task": task, "question": task, **fields}
    found = [*fields, *(["task"] if task is not None else []), *(["inputs"] if inputs is not None else [])]
    raise InputError(
        f"got {', '.join(found) or 'nothing to judge'}; give task with output, task with output_a and output_b, "
        "or inputs alone",
        field="inputs",
        found=found,
    )


def _report(answers: Sequence[Answer], judge: Any, confidence: float, rng: np.random.Generator) -> ConsistencyReport:
    readable = [answer for answer in answers if _is_readable(answer)]
    labels = Counter(label for answer in readable if (label := label_of(answer.result)) is not None)
    scores = [score for answer in readable if (score := score_of(answer.result)) is not None]
    known = [answer.calls for answer in answers if answer.calls is not None]
    return ConsistencyReport(
        agreement=max(labels.values()) / labels.total() if labels else None,
        modal=_leading(labels),
        counts=dict(labels),
        scores=scores,
        mean=statistics.fmean(scores) if scores else None,
        sd=statistics.stdev(scores) if len(scores) > 1 else None,
        # 0.7 - 0.2 is 0.49999999999999994 in binary; the scores have no such digits.
        spread=round(max(scores) - min(scores), 12) if scores else None,
        ci=_interval(scores, labels, confidence, rng),
        stable=len(labels) == 1 if labels else None,
        n_ok=len(readable),
        n_failed=len(answers) - len(readable),
        real_calls=sum(known) if known else None,
        confidence=confidence,
        warnings=list(_warnings(answers, readable, judge, labels)),
        errors=[_why(answer) for answer in answers if not _is_readable(answer)],
    )


def _is_readable(answer: Answer) -> bool:
    return answer.error is None and (label_of(answer.result) is not None or score_of(answer.result) is not None)


def _why(answer: Answer) -> str:
    if answer.error is not None:
        return f"{type(answer.error).__name__}: {answer.error}"
    notes = getattr(answer.result, "notes", None)
    return f"no verdict: {', '.join(notes)}" if notes else f"no verdict in {shown(answer.result)}"


def _leading(labels: Mapping[str, int]) -> str | None:
    leaders = [label for label, count in labels.items() if count == max(labels.values())]
    return leaders[0] if len(leaders) == 1 else None


def _interval(
    scores: Sequence[float], labels: Counter[str], confidence: float, rng: np.random.Generator
) -> Interval | None:
    if scores:
        return bootstrap_ci(scores, confidence=confidence, rng=rng)
    if not labels:
        return None
    return share_interval(max(labels.values()), labels.total(), confidence=confidence, rng=rng)


def _warnings(answers: Sequence[Answer], readable: Sequence[Answer], judge: Any, labels: Counter[str]) -> Any:
    if temperature_of(judge) == 0:
        yield "temperature 0: repeats show only the provider's nondeterminism, not how the judge wavers"
    if len(answers) == 1:
        yield "one sample shows nothing about consistency"
    if labels and _leading(labels) is None:
        yield "no verdict leads, so there is no modal one"
    known = [answer.calls for answer in answers if answer.calls is not None]
    if not known:
        yield "the judge does not say how many calls it made, so real_calls is unknown"
    elif sum(known) < len(readable):
        yield f"{sum(known)} real calls for {len(readable)} readable samples: the others came without the judge model"
