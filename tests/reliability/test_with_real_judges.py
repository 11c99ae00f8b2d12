"""The same findings with this package's judges, stores and LangChain's cache."""

from __future__ import annotations

import pytest
from judging_stand_ins import Run as PlainRun
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda

from langchain_llm_judge import (
    ExperimentStore,
    GradingJudge,
    LLMJudge,
    PairwiseJudge,
    Panel,
    RAGJudge,
    RelevancyAgent,
    ScriptedJudgeModel,
    ameasure_consistency,
    human_agreement,
    judge_agreement,
    measure_consistency,
    position_bias,
    run_experiment,
)

CASE = {"question": "What is 2 + 2?", "answer": "4"}


@pytest.fixture
def cache():
    set_llm_cache(InMemoryCache())
    yield
    set_llm_cache(None)


def scored(*scores: int | str) -> ScriptedJudgeModel:
    return ScriptedJudgeModel([s if isinstance(s, str) else {"score": s, "reason": "r"} for s in scores])


def levels(*levels: int) -> ScriptedJudgeModel:
    return ScriptedJudgeModel(
        [{"criteria": [{"name": "Quality", "level": level, "reason": "r"}], "reason": "r"} for level in levels]
    )


def winners(*winners: str) -> ScriptedJudgeModel:
    return ScriptedJudgeModel([{"winner": winner, "reason": "r"} for winner in winners])


@pytest.mark.usefixtures("cache")
class TestWithTheCacheOn:
    def test_f19_scores_on_both_sides_of_the_threshold(self):
        report = measure_consistency(RelevancyAgent(model=scored(7, 7, 2)), inputs=CASE, samples=3)
        assert report.mean == pytest.approx(0.5333, abs=5e-5)
        assert report.sd == pytest.approx(0.2887, abs=5e-5)
        assert (report.spread, report.stable, report.real_calls) == (0.5, False, 3)

    def test_f19_replies_differ_though_the_cache_would_repeat_the_first(self):
        model = scored(6, 6, 7, 8)
        judge = RelevancyAgent(model=model)
        assert judge.invoke(CASE)["score"] == judge.invoke(CASE)["score"] == 0.6
        assert len(model.calls) == 1  # the cache is on
        report = measure_consistency(judge, inputs=CASE, samples=3)
        assert (report.scores, report.real_calls, len(model.calls)) == ([0.6, 0.7, 0.8], 3, 4)

    def test_f19_garbage_is_counted_and_kept_out(self):
        # An unreadable reply is asked again once, so the failed sample spends two calls.
        model = scored(8, "no idea", "no idea", 8)
        report = measure_consistency(RelevancyAgent(model=model), inputs=CASE, samples=3)
        assert (report.n_ok, report.n_failed, report.mean) == (2, 1, 0.8)
        assert report.real_calls == len(model.calls) == 4

    def test_f19_all_garbage(self):
        report = measure_consistency(RelevancyAgent(model=scored("no idea")), inputs=CASE, samples=2)
        assert (report.n_ok, report.n_failed, report.mean, report.stable) == (0, 2, None, None)

    def test_a_facade_grades_and_compares(self):
        model = levels(5, 2, 5)
        report = measure_consistency(LLMJudge(model), "Greet.", output="Hi", samples=3)
        assert (report.scores, report.counts, report.real_calls) == ([1.0, 0.25, 1.0], {"pass": 2, "fail": 1}, 3)
        model = winners("A", "B", "A", "B", "B", "A")
        report = measure_consistency(LLMJudge(model), "Greet.", output_a="Hi", output_b="Hello", samples=3)
        assert (report.counts, report.modal, report.real_calls) == ({"A": 2, "B": 1}, "A", 6)

    def test_a_panel(self):
        panel = Panel([PairwiseJudge(winners("A", "A"), swap=False), PairwiseJudge(winners("B"), swap=False)])
        report = measure_consistency(panel, "Greet.", output_a="Hi", output_b="Hello", samples=2)
        assert (report.counts, report.real_calls) == ({"tie": 2}, 4)

    @pytest.mark.parametrize(
        "around",
        [
            lambda judge: judge.with_retry(stop_after_attempt=2).with_config(tags=["x"]),
            lambda judge: RunnableLambda(dict) | judge,
            lambda judge: RunnableLambda(dict) | RunnableLambda(dict) | judge.with_retry(),
            lambda judge: judge.with_fallbacks([GradingJudge(levels(3))]),
        ],
    )
    def test_a_judge_inside_something(self, around):
        judge = around(GradingJudge(levels(5, 5, 1, 5)))
        judge.invoke({"task": "Greet.", "output": "Hi"})
        report = measure_consistency(judge, "Greet.", output="Hi", samples=3)
        assert (report.scores, report.real_calls) == ([1.0, 0.0, 1.0], 3)

    def test_a_chain_of_ones_own(self):
        model = scored("7", "7", "2", "7")
        prompt = PromptTemplate.from_template("Score {output} from 0 to 10.")
        chain = prompt | model | (lambda message: {"status": "PASS", "score": int(message.content) / 10, "reason": ""})
        chain.invoke({"output": "Hi"})
        assert measure_consistency(chain, inputs={"output": "Hi"}, samples=3).scores == [0.7, 0.2, 0.7]

    async def test_the_async_twin(self):
        report = await ameasure_consistency(GradingJudge(levels(5, 1, 5, 5)), "Greet.", output="Hi", samples=4)
        assert (sorted(report.scores), report.real_calls) == ([0.0, 1.0, 1.0, 1.0], 4)


def test_a_text_judge_takes_task_and_output():
    assert measure_consistency(RelevancyAgent(model=scored(8)), "What is 2 + 2?", output="4", samples=1).mean == 0.8


def test_the_embedded_engine_repeats_itself_without_a_call():
    case = {"question": "Range?", "contexts": ["The range is 80 km."], "answer": "The range is 80 km."}
    report = measure_consistency(RAGJudge("offline"), inputs=case, samples=3)
    assert (report.mean, report.sd, report.stable, report.real_calls) == (1.0, 0.0, True, 0)
    assert "0 real calls for 3 readable samples: the others came without the judge model" in report.warnings


def test_position_bias_of_a_judge_that_asks_both_orders():
    model = winners("A", "A", "A", "B")  # first place both times; then output A both times
    found = position_bias(LLMJudge(model), [("Greet.", "Hi", "Hello"), ("Greet.", "Hey", "Yo")])
    assert (found.n, found.consistent, found.first, len(model.calls)) == (2, 0.5, 0.5, 4)


@pytest.fixture
def store(tmp_path) -> ExperimentStore:
    return ExperimentStore(f"sqlite:///{tmp_path / 'runs.db'}")


ROWS = [{"id": str(n), "task": f"task {n}", "output": f"output {n}"} for n in range(6)]


def stored(store: ExperimentStore, name: str, *scores: int) -> None:
    judge = GradingJudge(levels(*scores), name=name)
    run_experiment(ROWS, judge, name=name, store=store, max_concurrency=1, progress=False)


def test_agreement_of_stored_runs_is_that_of_their_rows(store):
    stored(store, "old", 5, 4, 1, 2, 5, 1)
    stored(store, "new", 5, 5, 1, 4, 4, 2)
    report = judge_agreement(store, "old", "new")
    assert (report.n, report.raw_agreement) == (6, pytest.approx(5 / 6))
    assert report.kappa == pytest.approx(2 / 3)
    assert report.mean_abs_diff == pytest.approx((0 + 0.25 + 0 + 0.5 + 0.25 + 0.25) / 6)
    whole = [PlainRun(store.run(name).rows) for name in ("old", "new")]
    assert judge_agreement(None, *whole) == report
    assert judge_agreement(None, store.run("old"), store.run("new")) == report
    people = {"0": True, "1": True, "2": False, "3": False}
    assert human_agreement(store, "old", people).agreement == 1.0
    assert human_agreement(None, whole[0], people) == human_agreement(store, "old", people)


def test_stored_comparisons_and_panels_keep_their_winner(store):
    rows = [{"id": str(n), "task": "t", "output_a": f"a{n}", "output_b": f"b{n}"} for n in range(4)]
    one = PairwiseJudge(winners("A", "B", "A", "A"), swap=False, name="one")
    panel = Panel(
        [PairwiseJudge(winners(*"ABAB"), swap=False), PairwiseJudge(winners(*"ABBB"), swap=False)], name="panel"
    )
    for judge in (one, panel):
        run_experiment(rows, judge, name=judge.name, store=store, max_concurrency=1, progress=False)
    report = judge_agreement(store, "one", "panel")  # A A, B B, A tie, A B
    assert (report.n, report.raw_agreement, report.spearman) == (4, 0.5, None)


def test_f20_failed_rows_are_missing_not_zero(store):
    stored(store, "old", 5, 4, 1, 2, 5, 1)
    judge = GradingJudge(ScriptedJudgeModel([*levels(5, 4, 1).replies, "no idea"]), name="new")
    run_experiment(ROWS, judge, name="new", store=store, max_concurrency=1, progress=False)
    report = judge_agreement(store, "old", "new")
    assert (report.n, report.n_failed, report.kappa, report.mean_abs_diff) == (3, 3, 1.0, 0.0)
