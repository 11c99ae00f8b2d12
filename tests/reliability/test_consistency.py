from __future__ import annotations

import pytest
from judging_stand_ins import ScriptedJudge, Verdict, text_result
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from langchain_llm_judge import (
    ConfigError,
    ConsistencyReport,
    InputError,
    JudgeReplyError,
    ameasure_consistency,
    measure_consistency,
)
from langchain_llm_judge.results import Usage

CASE = {"question": "2+2?", "answer": "4"}
GARBAGE = JudgeReplyError("unreadable", raw="?", usage=Usage(calls=2))


def of(*answers, samples: int | None = None, **options) -> ConsistencyReport:
    judge = ScriptedJudge(*answers)
    return measure_consistency(judge, inputs=CASE, samples=samples or len(answers), **options)


def test_f19_scores_on_both_sides_of_the_threshold():
    report = of(text_result(0.7), text_result(0.7), text_result(0.2))
    assert report.mean == pytest.approx(0.5333, abs=5e-5)
    assert report.sd == pytest.approx(0.2887, abs=5e-5)
    assert report.spread == 0.5
    assert report.stable is False
    assert report.agreement == pytest.approx(2 / 3)
    assert (report.modal, report.counts) == ("pass", {"pass": 2, "fail": 1})
    assert report.scores == [0.7, 0.7, 0.2]
    assert report.ci.low < report.mean < report.ci.high
    assert (report.n_ok, report.n_failed, report.real_calls) == (3, 0, 3)


def test_f19_unreadable_samples_are_counted_and_kept_out():
    report = of(text_result(0.8), GARBAGE, text_result(0.8))
    assert (report.n_ok, report.n_failed, report.mean, report.stable) == (2, 1, 0.8, True)
    assert report.real_calls == 4  # the failed sample was asked twice
    assert report.errors == ["JudgeReplyError: unreadable"]


def test_f19_nothing_readable():
    report = of(GARBAGE, GARBAGE, GARBAGE)
    assert (report.n_ok, report.n_failed, report.counts, report.scores) == (0, 3, {}, [])
    for name in ("agreement", "modal", "mean", "sd", "spread", "ci", "stable"):
        assert getattr(report, name) is None
    assert report.feedback()[0]["score"] is None


def test_f19_one_sample():
    report = of(text_result(0.8))
    assert (report.sd, report.ci) == (None, None)
    assert (report.mean, report.agreement, report.modal, report.spread, report.n_ok) == (0.8, 1.0, "pass", 0.0, 1)
    assert "one sample shows nothing about consistency" in report.warnings


@pytest.mark.parametrize("samples", [0, -1, 2.0, "3", True, None])
def test_f19_samples_must_be_a_whole_number_from_1(samples):
    judge = ScriptedJudge(text_result(0.8))
    with pytest.raises(ConfigError, match="is no number of calls; give a whole number from 1"):
        measure_consistency(judge, inputs=CASE, samples=samples)
    assert judge.asked == []


class CachedJudge:
    """A judge over a chat model, with LangChain's cache in between unless it is told otherwise."""

    def __init__(self, model, cache: bool | None = None) -> None:
        self.model, self.cache = model, cache

    def uncached(self) -> CachedJudge:
        return CachedJudge(self.model, cache=False)

    def invoke(self, case):
        model = self.model if self.cache is None else self.model.model_copy(update={"cache": self.cache})
        return text_result(int(model.invoke("score this").content) / 10)


def test_f19_the_cache_is_bypassed():
    set_llm_cache(InMemoryCache())
    try:
        judge = CachedJudge(GenericFakeChatModel(messages=iter([AIMessage(str(n)) for n in (1, 6, 7, 8)])))
        assert judge.invoke(CASE) == judge.invoke(CASE)  # the cache is on
        report = measure_consistency(judge, inputs=CASE, samples=3)
    finally:
        set_llm_cache(None)
    assert report.scores == [0.6, 0.7, 0.8]
    assert report.real_calls == 3


def test_calls_that_were_not_made_are_told():
    cached = text_result(0.8)
    cached["metadata"]["usage"] = Usage(calls=0)
    report = of(text_result(0.8), cached, cached)
    assert report.real_calls == 1
    assert "1 real calls for 3 readable samples: the others came without the judge model" in report.warnings


def test_a_judge_that_tells_nothing_about_its_calls():
    report = of(Verdict(winner="A"), Verdict(winner="A"))
    assert report.real_calls is None
    assert any("real_calls is unknown" in warning for warning in report.warnings)


def test_comparisons_count_winners():
    judge = ScriptedJudge(*[Verdict(winner=w, usage=Usage(calls=2)) for w in ["A", "A", "tie", "A", "B"]])
    report = measure_consistency(judge, "Greet.", output_a="Hi", output_b="Hello", samples=5)
    assert judge.asked[0] == {"task": "Greet.", "question": "Greet.", "output_a": "Hi", "output_b": "Hello"}
    assert (report.modal, report.counts, report.agreement) == ("A", {"A": 3, "tie": 1, "B": 1}, 0.6)
    assert (report.mean, report.sd, report.spread, report.scores) == (None, None, None, [])
    assert report.ci.low < 0.6 < report.ci.high
    assert (report.stable, report.real_calls) == (False, 10)


def test_a_tie_of_verdicts_has_no_modal_one():
    report = of(text_result(0.8), text_result(0.2), text_result(0.8), text_result(0.2))
    assert (report.modal, report.agreement, report.stable) == (None, 0.5, False)
    assert "no verdict leads, so there is no modal one" in report.warnings


def test_results_without_a_verdict_have_failed():
    ungraded = Verdict()
    report = of(Verdict(score=0.5, passed=True), ungraded, Verdict(score=0.5, passed=True))
    assert (report.n_ok, report.n_failed, report.mean) == (2, 1, 0.5)
    assert report.errors[0].startswith("no verdict in Verdict(")


class Facade:
    """What `LLMJudge` looks like from here."""

    def __init__(self) -> None:
        self.grading = ScriptedJudge(text_result(0.8))
        self.pairwise = ScriptedJudge(Verdict(winner="B"))


def test_a_facade_picks_the_judge_by_what_it_is_given():
    judge = Facade()
    assert measure_consistency(judge, "Greet.", output="Hi", samples=2).modal == "pass"
    assert measure_consistency(judge, "Greet.", output_a="Hi", output_b="Hello", samples=2).modal == "B"
    assert measure_consistency(judge, inputs={"task": "t", "output": "o"}, samples=1).modal == "pass"
    assert (len(judge.grading.asked), len(judge.pairwise.asked)) == (3, 2)
    with pytest.raises(InputError, match=r"Facade has no invoke\(\) for this input"):
        measure_consistency(judge, inputs={"question": "q", "contexts": []})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"task": "t"},
        {"task": "t", "output_a": "x"},
        {"output": "x"},
        {"task": "t", "output": "x", "output_b": "y"},
        {"task": "t", "output": "x", "inputs": CASE},
        {"inputs": CASE, "output": "x"},
    ],
)
def test_incomplete_input_is_refused_before_any_call(given):
    judge = ScriptedJudge(text_result(0.8))
    with pytest.raises(InputError, match="give task with output, task with output_a and output_b, or inputs alone"):
        measure_consistency(judge, **given)
    assert judge.asked == []


def test_wrong_use_is_raised_and_other_failures_are_counted():
    with pytest.raises(InputError, match="blank"):
        of(InputError("field 'answer' is blank"), samples=3)
    report = of(RuntimeError("boom"), text_result(0.8), samples=2)
    assert (report.n_ok, report.n_failed, report.errors) == (1, 1, ["RuntimeError: boom"])


@pytest.mark.parametrize(("temperature", "warned"), [(0, True), (0.0, True), (0.7, False), (None, False)])
def test_temperature_0_is_warned_about(temperature, warned):
    judge = ScriptedJudge(text_result(0.8), temperature=temperature)
    report = measure_consistency(judge, inputs=CASE, samples=2)
    assert any(warning.startswith("temperature 0:") for warning in report.warnings) is warned


def test_the_temperature_is_also_read_from_what_identifies_a_judge():
    class Judge(ScriptedJudge):
        def identity(self):
            return {"temperature": 0.0}

    report = measure_consistency(Judge(text_result(0.8)), inputs=CASE, samples=2)
    assert any(warning.startswith("temperature 0:") for warning in report.warnings)


async def test_the_async_twin_gives_the_same_and_asks_at_once():
    import asyncio

    class Judge:
        running = most = 0

        async def ainvoke(self, case):
            Judge.running += 1
            Judge.most = max(Judge.most, Judge.running)
            await asyncio.sleep(0.01)
            Judge.running -= 1
            return text_result(0.8)

        def invoke(self, case):
            raise AssertionError("asked in the blocking way")

    report = await ameasure_consistency(Judge(), inputs=CASE, samples=25)
    assert (report.n_ok, report.mean, report.real_calls) == (25, pytest.approx(0.8), 25)
    assert Judge.most == 10
    twin = await ameasure_consistency(ScriptedJudge(text_result(0.7), GARBAGE), inputs=CASE, samples=2)
    assert (twin.n_ok, twin.n_failed) == (1, 1)
    with pytest.raises(ConfigError):
        await ameasure_consistency(Judge(), inputs=CASE, samples=0)


def test_feedback_and_json():
    report = of(text_result(0.7), text_result(0.2), text_result(0.9))
    (score,) = report.feedback()
    assert (score["key"], score["score"], score["comment"]) == ("consistency", report.agreement, "2 × pass, 1 × fail")
    assert ConsistencyReport.model_validate_json(report.model_dump_json()) == report
