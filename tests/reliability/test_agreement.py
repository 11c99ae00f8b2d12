from __future__ import annotations

import numpy as np
import pytest
from judging_stand_ins import Row, Run, Store, Verdict, run_of, text_result
from sklearn.metrics import cohen_kappa_score

from langchain_llm_judge import AgreementReport, ConfigError, InputError, judge_agreement


def of(a, b, **options) -> AgreementReport:
    return judge_agreement(Store({"old": run_of(a), "new": run_of(b)}), "old", "new", **options)


@pytest.mark.parametrize(
    ("a", "b", "share", "kappa"),
    [
        ([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1], 0.6667, 0.3333),
        ([1, 1, 1, 1], [1, 1, 1, 1], 1.0, None),
        ([1] * 10, [1] * 9 + [0], 0.9, 0.0),
    ],
)
def test_f20_labels(a, b, share, kappa):
    report = of([bool(x) for x in a], [bool(x) for x in b])
    assert report.raw_agreement == pytest.approx(share, abs=5e-5)
    assert report.kappa == (None if kappa is None else pytest.approx(kappa, abs=5e-5))
    assert (report.n, report.n_failed, report.unmatched) == (len(a), 0, 0)
    if kappa is None:
        assert report.kappa_ci is None
        assert any(note.startswith("no kappa: both give 'pass' on every row") for note in report.notes)


def test_f20_failed_rows_are_missing_not_zero():
    failed = of([True, None, True, False], [True, True, None, False])
    without = of([True, False], [True, False])
    assert (failed.n, failed.n_failed) == (2, 2)
    assert (failed.kappa, failed.raw_agreement) == (without.kappa, without.raw_agreement) == (1.0, 1.0)
    scores = of([0.5, None, 0.75], [0.25, 0.5, 0.75])
    assert scores.mean_abs_diff == 0.125
    assert (scores.n, scores.n_failed) == (2, 1)


def test_winners_and_scores_are_compared_apart():
    winners = of(["A", "B", "tie", "A"], ["A", "tie", "tie", "B"])
    assert winners.raw_agreement == 0.5
    assert winners.kappa == pytest.approx(cohen_kappa_score(["A", "B", "tie", "A"], ["A", "tie", "tie", "B"]))
    assert (winners.spearman, winners.spearman_ci, winners.mean_abs_diff) == (None, None, None)
    assert "no spearman, no mean_abs_diff: no row has a score in both runs" in winners.notes
    scores = of([0.1, 0.4, 0.5, 0.9], [0.2, 0.3, 0.8, 0.7])
    assert scores.spearman == pytest.approx(0.8)
    assert scores.mean_abs_diff == pytest.approx((0.1 + 0.1 + 0.3 + 0.2) / 4)
    assert (scores.kappa, scores.raw_agreement) == (None, None)
    assert "no kappa, no raw_agreement: no row has a label in both runs" in scores.notes


def test_text_results_give_labels_and_scores():
    a, b = [0.9, 0.4, 0.7, 0.2], [0.8, 0.6, 0.9, 0.1]
    runs = [
        Run([Row(key, {"RelevancyAgent": text_result(score)}) for key, score in enumerate(scores)]) for scores in (a, b)
    ]
    report = judge_agreement(None, *runs)
    assert report.raw_agreement == 0.75
    assert report.spearman == pytest.approx(0.8)


def test_rows_are_matched_by_key_and_repeat_whatever_their_order():
    def row(key: str, repeat: int, winner: str) -> Row:
        return Row(key, {"judge": Verdict(winner=winner)}, repeat=repeat)

    a = Run([row("x", 0, "A"), row("x", 1, "B"), row("y", 0, "A"), row("only a", 0, "A")])
    b = Run([row("only b", 0, "B"), row("y", 0, "A"), row("x", 1, "A"), row("x", 0, "A")])
    report = judge_agreement(None, a, b)
    assert (report.n, report.unmatched) == (3, 2)
    assert report.raw_agreement == pytest.approx(2 / 3)


def test_repeats_of_a_row_do_not_make_the_interval_narrower():
    rng = np.random.default_rng(0)
    a = [bool(x) for x in rng.integers(0, 2, 40)]
    b = [x if keep else not x for x, keep in zip(a, rng.random(40) < 0.8, strict=True)]
    once = of(a, b)
    runs = [
        Run([Row(k, {"judge": Verdict(passed=v)}, repeat=r) for r in range(5) for k, v in enumerate(values)])
        for values in (a, b)
    ]
    often = judge_agreement(None, *runs)
    assert (often.n, often.kappa) == (200, pytest.approx(once.kappa))
    for name in ("kappa_ci", "raw_agreement_ci"):
        wide, also_wide = getattr(once, name), getattr(often, name)
        assert also_wide.high - also_wide.low == pytest.approx(wide.high - wide.low, rel=0.1)


def test_every_measure_lies_in_its_interval_and_the_interval_is_repeatable():
    rng = np.random.default_rng(4)
    a = rng.random(60).round(1)
    b = np.clip(a + rng.normal(0, 0.2, 60), 0, 1).round(1)
    runs = [Run([Row(k, {"judge": text_result(float(v))}) for k, v in enumerate(values)]) for values in (a, b)]
    report = judge_agreement(None, *runs)
    for name in ("kappa", "raw_agreement", "spearman", "mean_abs_diff"):
        ci = getattr(report, f"{name}_ci")
        assert getattr(report, name) in ci
        assert ci.low < ci.high
    assert report == judge_agreement(None, *runs)
    narrow = judge_agreement(None, *runs, confidence=0.5)
    assert narrow.spearman_ci.high - narrow.spearman_ci.low < report.spearman_ci.high - report.spearman_ci.low
    assert narrow.confidence == 0.5


def test_undefined_measures_say_why():
    assert "no spearman: one run gives 0.5 on every row" in of([0.5, 0.5], [0.1, 0.9]).notes
    assert "no spearman: 1 row with two scores, at least 2 are needed" in of([0.5], [0.1]).notes
    one = of(["A"], ["B"])
    assert one.kappa == 0.0
    assert "no kappa_ci: 1 row, at least 2 are needed" in one.notes
    empty = of([], [])
    assert (empty.n, empty.kappa, empty.raw_agreement, empty.spearman, empty.mean_abs_diff) == (
        0,
        None,
        None,
        None,
        None,
    )
    assert len(empty.notes) == 2


def test_which_judges_are_compared():
    def run(**winners: str) -> Run:
        return Run([Row("x", {judge: Verdict(winner=winner) for judge, winner in winners.items()})])

    assert judge_agreement(None, run(old="A"), run(new="A")).raw_agreement == 1.0
    assert judge_agreement(None, run(old="A", other="B"), run(old="A")).raw_agreement == 1.0
    assert judge_agreement(None, run(a="A", b="B"), run(a="B", b="B"), judge="b").raw_agreement == 1.0
    assert judge_agreement(None, run(a="A", b="B"), run(c="A", d="B"), judge=("a", "c")).raw_agreement == 1.0
    with pytest.raises(InputError, match=r"the runs share no judge: \['a', 'b'\], \['c'\]; name two with judge="):
        judge_agreement(None, run(a="A", b="B"), run(c="A"))
    with pytest.raises(InputError, match=r"judge 'z' is not in the run; it has \['a'\]"):
        judge_agreement(None, run(a="A"), run(a="A"), judge="z")


def test_a_row_with_several_judges_has_their_joint_verdict():
    def row(key: int, *passes: bool | None, scores=(0.5, 0.5)) -> Row:
        return Row(
            key,
            {f"j{n}": Verdict(passed=p, score=s) for n, (p, s) in enumerate(zip(passes, scores, strict=True))},
        )

    a = Run([row(0, True, True), row(1, True, False), row(2, False, None), row(3, True, None)])
    b = Run([row(0, True, True, scores=(0.5, 1.0)), row(1, False, True), row(2, False, False), row(3, True, True)])
    report = judge_agreement(None, a, b)
    # Row 3 has no verdict in a: one judge passes it and the other says nothing. All others agree.
    assert report.raw_agreement == 1.0
    assert report.kappa == 1.0
    assert report.mean_abs_diff == pytest.approx(0.25 / 4)
    assert "labels are the joint verdict and scores the mean of j0, j1; judge= picks one" in report.notes


def test_a_score_counts_where_every_judge_has_one():
    def run(*scores: float | None) -> Run:
        return Run([Row(0, {f"j{n}": Verdict(passed=True, score=score) for n, score in enumerate(scores)})])

    assert judge_agreement(None, run(0.5, 1.0), run(0.5, 0.5)).mean_abs_diff == 0.25
    assert judge_agreement(None, run(0.5, None), run(0.5, 0.5)).mean_abs_diff is None


def test_a_judge_that_failed_on_a_row_leaves_it_without_a_verdict():
    good, failed = Verdict(passed=True), Row(1, {"a": Verdict(passed=True)}, errors={"b": "boom"})
    run = Run([Row(0, {"a": good, "b": good}), failed])
    report = judge_agreement(None, run, run)
    assert (report.n, report.n_failed) == (1, 1)


def test_a_failed_target_is_no_judge():
    run = Run([Row(0, {"a": Verdict(winner="A")}), Row(1, errors={"target": "boom"})])
    report = judge_agreement(None, run, run)
    assert (report.n, report.n_failed, report.notes[:1]) == (1, 1, report.notes[:1])
    assert not any("joint" in note for note in report.notes)


def test_a_run_that_gives_its_verdicts_is_not_read_row_by_row():
    class Light:
        @property
        def rows(self):
            raise AssertionError("read whole rows")

        def verdicts(self):
            return [("x", 0, "j", "pass", 0.75), ("y", 0, "j", "fail", 0.25), ("z", 0, None, None, None)]

    report = judge_agreement(None, Light(), Light())
    assert (report.n, report.n_failed, report.kappa, report.mean_abs_diff) == (2, 1, 1.0, 0.0)


def test_feedback_and_json():
    report = of(["A", "B", "A"], ["A", "B", "B"])
    assert [(one["key"], one["score"]) for one in report.feedback()] == [
        ("kappa", report.kappa),
        ("raw_agreement", report.raw_agreement),
        ("spearman", None),
        ("mean_abs_diff", None),
    ]
    assert "no spearman" in report.feedback()[2]["comment"]
    assert AgreementReport.model_validate_json(report.model_dump_json()) == report


def test_bad_options_are_refused_before_the_store_is_read():
    class Unread:
        def run(self, name: str):
            raise AssertionError("read")

    with pytest.raises(ConfigError, match="confidence=2"):
        judge_agreement(Unread(), "a", "b", confidence=2)
    with pytest.raises(ConfigError, match="rng=1"):
        judge_agreement(Unread(), "a", "b", rng=1)
    with pytest.raises(InputError, match="cannot look up run 'a' in None; give an ExperimentStore, or the Run itself"):
        judge_agreement(None, "a", "b")
