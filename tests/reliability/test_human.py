from __future__ import annotations

import numpy as np
import pytest
from judging_stand_ins import Row, Run, Store, Verdict, run_of
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score

from langchain_llm_judge import HumanAgreement, InputError, human_agreement


def of(passes, labels, **options) -> HumanAgreement:
    return human_agreement(Store({"run": run_of(passes)}), "run", labels, **options)


def test_every_rate_by_hand():
    # labelled rows 0..7, judge P P P P F F F P, people P P P F F F P F: TP 3, FP 2, FN 1, TN 2
    # unlabelled rows 8..11: judge P P P F
    judge = [True, True, True, True, False, False, False, True, True, True, True, False]
    people = dict(enumerate([True, True, True, False, False, False, True, False]))
    report = of(judge, people)
    assert report.agreement == 5 / 8
    assert report.kappa == pytest.approx((5 / 8 - 0.5) / 0.5)  # people are half and half, so chance is a half
    assert (report.precision, report.recall, report.specificity) == (3 / 5, 3 / 4, 2 / 4)
    assert report.pass_rate == 8 / 12
    # (8/12 + 1/2 - 1) / (3/4 + 1/2 - 1) = (1/6) / (1/4) = 2/3
    assert report.corrected_pass_rate == pytest.approx(2 / 3)
    assert (report.n, report.n_unlabelled, report.unmatched, report.n_failed) == (8, 4, 0, 0)


def test_rates_equal_scikit_learns():
    rng = np.random.default_rng(2)
    people = rng.random(80) < 0.7
    judge = np.where(rng.random(80) < 0.85, people, ~people)
    report = of([bool(x) for x in judge], {key: bool(x) for key, x in enumerate(people)})
    assert report.precision == pytest.approx(precision_score(people, judge))
    assert report.recall == pytest.approx(recall_score(people, judge))
    assert report.kappa == pytest.approx(cohen_kappa_score(people, judge))
    # With every row labelled the corrected rate is people's own.
    assert report.corrected_pass_rate == pytest.approx(people.mean())
    for name in ("agreement", "kappa", "precision", "recall", "specificity", "corrected_pass_rate"):
        assert getattr(report, name) in getattr(report, f"{name}_ci"), name


def test_the_correction_finds_the_true_rate_where_the_judge_is_lenient():
    rng = np.random.default_rng(7)
    people = rng.random(20_000) < 0.6
    judge = np.where(people, rng.random(20_000) < 0.95, rng.random(20_000) < 0.4)  # passes 2 of 5 bad ones
    labels = {key: bool(people[key]) for key in range(2_000)}
    report = of([bool(x) for x in judge], labels)
    assert report.pass_rate > 0.7
    assert 0.6 in report.corrected_pass_rate_ci
    assert report.corrected_pass_rate == pytest.approx(0.6, abs=0.05)


def test_a_rate_outside_0_to_1_is_cut_and_a_note_says_so():
    # recall 1/2, specificity 1: rows without label all pass, so the rate comes out at 5/6 / (1/2) = 1.67
    report = of([True, False, False, *[True] * 9], {0: True, 1: True, 2: False})
    assert report.corrected_pass_rate == 1.0
    assert "corrected_pass_rate came out as 1.67 and was cut to 1" in report.notes


@pytest.mark.parametrize(
    ("judge", "people", "none", "note"),
    [
        (
            [True, True, False],
            [True, True, True],
            "specificity",
            "no specificity: people fail none of the 3 labelled rows",
        ),
        ([True, True, False], [False, False, False], "recall", "no recall: people pass none of the 3 labelled rows"),
        ([False, False], [True, False], "precision", "no precision: the judge passes none of the 2 labelled rows"),
        (
            [True, False, True, False],
            [False, True, True, False],
            "corrected_pass_rate",
            "no corrected_pass_rate: recall 0.5 and specificity 0.5 are those of a judge that tells nothing",
        ),
    ],
)
def test_undefined_rates_say_why(judge, people, none, note):
    report = of(judge, dict(enumerate(people)))
    assert getattr(report, none) is None
    assert getattr(report, f"{none}_ci") is None
    assert note in report.notes
    assert report.corrected_pass_rate is None


def test_labels_in_every_spelling():
    spellings = [True, "PASS", "pass", " Yes ", 1, 1.0, "true", np.bool_(True), "Correct"]
    opposites = [False, "FAIL", "fail", "no", 0, 0.0, "False", np.int64(0), "incorrect"]
    report = of([True] * 9 + [False] * 9, dict(enumerate([*spellings, *opposites])))
    assert (report.agreement, report.kappa, report.n) == (1.0, 1.0, 18)
    with pytest.raises(InputError, match="label 'meh' of row 3 is none of True or False"):
        of([True] * 4, {3: "meh"})
    with pytest.raises(InputError, match="label True of row 0 is none of 'A', 'B' or 'tie'"):
        of(["A"], {0: True})


def test_winners_have_agreement_and_no_rates():
    report = of(["A", "B", "tie", "A"], {0: "A", 1: "b", 2: "A", 3: "A"})
    assert report.agreement == 0.75
    assert report.kappa == pytest.approx(cohen_kappa_score(["A", "B", "tie", "A"], ["A", "B", "A", "A"]))
    assert report.precision is report.pass_rate is report.corrected_pass_rate is report.corrected_pass_rate_ci is None
    assert "no precision, recall and pass rates: the verdicts are winners, not pass or fail" in report.notes


def test_rows_without_verdict_and_labels_without_row_are_counted():
    report = of([True, None, False, True], {0: True, 1: True, 2: False, 3: None, "gone": True})
    assert (report.n, report.n_failed, report.unmatched, report.n_unlabelled) == (2, 1, 1, 1)
    assert report.agreement == 1.0


def test_numbers_and_their_texts_name_the_same_row():
    run = Run([Row("7", {"j": Verdict(passed=True)}), Row(8, {"j": Verdict(passed=False)})])
    assert human_agreement(None, run, {7: True, "8": False}).agreement == 1.0


def test_keys_that_match_nothing_are_shown():
    report = of([True, False], {"a": True, "b": False})
    assert (report.n, report.unmatched, report.agreement) == (0, 2, None)
    assert "no label matches a row's key; labels have keys such as ['a', 'b']" in report.notes


def test_all_failed_and_nothing_labelled():
    assert of([None, None], {0: "A"}).n_failed == 1
    assert of([None, None], {0: True}).n_failed == 1
    empty = of([True], {})
    assert (empty.n, empty.pass_rate, empty.corrected_pass_rate) == (0, 1.0, None)


def test_repeats_are_drawn_with_their_row():
    rng = np.random.default_rng(3)
    people = rng.random(40) < 0.6
    judge = np.where(rng.random(40) < 0.8, people, ~people)
    labels = {key: bool(value) for key, value in enumerate(people) if key < 30}
    rows = [Row(k, {"j": Verdict(passed=bool(v))}, repeat=r) for r in range(4) for k, v in enumerate(judge)]
    once, often = (human_agreement(None, Run(some), labels) for some in (rows[:40], rows))
    assert often.n == 4 * once.n
    for name in ("agreement", "recall", "corrected_pass_rate"):
        assert getattr(often, name) == pytest.approx(getattr(once, name))
        wide, also_wide = getattr(once, f"{name}_ci"), getattr(often, f"{name}_ci")
        assert also_wide.high - also_wide.low == pytest.approx(wide.high - wide.low, rel=0.15)


def test_one_judge_of_several():
    run = Run([Row(k, {"good": Verdict(passed=k < 2), "bad": Verdict(passed=k >= 2)}) for k in range(4)])
    people = {0: True, 1: True, 2: False, 3: False}
    assert human_agreement(None, run, people, judge="good").agreement == 1.0
    assert human_agreement(None, run, people, judge="bad").agreement == 0.0
    assert human_agreement(None, run, people).agreement == 0.5  # jointly all fail
    with pytest.raises(InputError, match="judge 'ugly' is not in the run"):
        human_agreement(None, run, people, judge="ugly")


def test_feedback_and_json():
    report = of([True, False, True], {0: True, 1: False})
    assert [one["key"] for one in report.feedback()] == [
        "agreement",
        "kappa",
        "precision",
        "recall",
        "specificity",
        "corrected_pass_rate",
    ]
    assert HumanAgreement.model_validate_json(report.model_dump_json()) == report
