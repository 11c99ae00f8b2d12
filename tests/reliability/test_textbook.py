"""Published values, and recorded judges counted by hand."""

from __future__ import annotations

import pytest
from judging_stand_ins import Row, Run, ScriptedJudge, Verdict, run_of, shared_data
from sklearn.metrics import cohen_kappa_score

from langchain_llm_judge import cohen_kappa, judge_agreement, krippendorff_alpha, position_bias, spearman


def ours(case: dict):
    kind, _, option = case["statistic"].rpartition("_")
    match (kind or option, option):
        case ("kappa", weights):
            weights = None if weights == "kappa" else weights
            return cohen_kappa(case["a"], case["b"], weights=weights, labels=case.get("labels"))
        case ("spearman", _):
            return spearman(case["a"], case["b"])
        case ("krippendorff_alpha", level):
            return krippendorff_alpha(case["matrix"], level=level)
    raise LookupError(case["statistic"])


NOT_OURS = {"kendall_tau_b", "pearson", "fleiss_kappa"}
"""Statistics of the file that the public API does not name."""


def test_every_textbook_value():
    tried = 0
    for case in shared_data("agree_textbook.json"):
        if case["statistic"] in NOT_OURS:
            continue
        tried += 1
        expected = case["value"] if case["value"] is None else pytest.approx(case["value"], abs=1e-9)
        assert ours(case) == expected, (case["name"], case["statistic"])
    assert tried >= 20


def test_weights_go_by_rank_where_no_scale_is_named():
    (case,) = [
        case
        for case in shared_data("agree_textbook.json")
        if case["name"] == "irr anxiety raters 2,3" and case["statistic"] == "kappa_quadratic"
    ]
    assert cohen_kappa(case["a"], case["b"], weights="quadratic") == pytest.approx(case["value"], abs=1e-9)


def recorded_judges() -> dict[str, list[tuple[dict, list[str | None]]]]:
    rows = shared_data("pair_llmbar.jsonl")
    return {name: [(row, row["recorded"][name]) for row in rows] for name in rows[0]["recorded"]}


SIDES = {"1": "A", "2": "B", None: None}


def test_kappa_and_agreement_of_recorded_judges():
    judges = recorded_judges()
    labels = [SIDES[str(row["label"])] for row, _ in judges["GPT-4/Vanilla"]]
    for name, pairs in judges.items():
        given = [SIDES[winners[0]] for _, winners in pairs]
        both = [(label, winner) for label, winner in zip(labels, given, strict=True) if winner is not None]
        report = judge_agreement(None, run_of(labels), run_of(given))
        assert report.raw_agreement == pytest.approx(sum(a == b for a, b in both) / len(both), abs=1e-12), name
        assert report.kappa == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)), abs=1e-9), name
        assert (report.n, report.n_failed, report.unmatched) == (len(both), len(labels) - len(both), 0)
        assert report.kappa in report.kappa_ci
        assert report.raw_agreement in report.raw_agreement_ci


def test_position_consistency_of_recorded_judges():
    for name, pairs in recorded_judges().items():
        cases = [{"task": row["id"], "output_a": "1", "output_b": "2"} for row, _ in pairs]
        recorded = {row["id"]: winners for row, winners in pairs}

        def judged(case: dict, recorded: dict = recorded) -> Verdict:
            # Recorded winners are named by output; a judge names the place it was shown in.
            winner = recorded[case["task"]][case["output_a"] == "2"]
            if winner is None:
                return Verdict()
            return Verdict(winner="A" if winner == case["output_a"] else "B")

        bias = position_bias(ScriptedJudge(judged), cases)
        readable = [winners for _, winners in pairs if None not in winners]
        assert bias.n == len(readable)
        assert bias.n_failed == len(pairs) - len(readable)
        assert bias.consistent == pytest.approx(sum(one == two for one, two in readable) / len(readable)), name
        # The winner was output 1 where it stood first, and output 2 where that did.
        assert bias.first == pytest.approx(sum(winners == ["1", "2"] for winners in readable) / len(readable)), name


def test_spearman_of_recorded_scores():
    stats = pytest.importorskip("scipy.stats")
    rows = shared_data("agree_unieval.jsonl")
    for aspect in sorted(set(rows[0]["human"]) & set(rows[0]["judge"])):
        pairs = [(row["human"].get(aspect), row["judge"].get(aspect)) for row in rows]
        human, judge = [a for a, _ in pairs], [b for _, b in pairs]
        complete = [(a, b) for a, b in pairs if a is not None and b is not None]
        expected = stats.spearmanr(*zip(*complete, strict=True)).statistic
        assert spearman(human, judge) == pytest.approx(expected, abs=1e-9)
        runs = [
            Run([Row(k, {"j": Verdict(score=v)} if v is not None else {}) for k, v in enumerate(values)])
            for values in (human, judge)
        ]
        report = judge_agreement(None, *runs)
        assert report.spearman == pytest.approx(expected, abs=1e-9)
        assert report.spearman in report.spearman_ci
