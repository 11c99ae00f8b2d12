"""How far a judge agrees with people, and what pass rate its known errors leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from langchain_llm_judge.errors import InputError, shown
from langchain_llm_judge.reliability.agreement import LabelPairs, why_no_interval
from langchain_llm_judge.reliability.interval import Countable, Interval, interval, interval_of
from langchain_llm_judge.reliability.kappa import kappa_of_counts, share_of_counts
from langchain_llm_judge.reliability.rates import PassTable
from langchain_llm_judge.reliability.ratings import checked_confidence, checked_rng, is_missing
from langchain_llm_judge.reliability.resampling import Statistic
from langchain_llm_judge.reliability.verdicts import (
    RowId,
    Store,
    Verdict,
    checked_judge,
    judges_of,
    lines_of,
    verdicts_of,
)
from langchain_llm_judge.results import Feedback, Result

_PASS = {"pass", "passed", "yes", "true", "1", "1.0", "correct", "good"}
_FAIL = {"fail", "failed", "no", "false", "0", "0.0", "incorrect", "wrong", "bad"}
_WINNERS = {"a": "A", "b": "B", "tie": "tie"}


class HumanAgreement(Result):
    """How far a judge agrees with people. Intervals are bootstrap intervals over rows."""

    agreement: float | None
    """Share of labelled rows on which the judge says the same, from 0 to 1."""
    agreement_ci: Interval | None
    kappa: float | None
    """Cohen's kappa, from -1 to 1; `None` where it is undefined."""
    kappa_ci: Interval | None
    precision: float | None
    """Of the rows the judge passes, the share that people pass; `None` where it passes none."""
    precision_ci: Interval | None
    recall: float | None
    """Of the rows people pass, the share that the judge passes (its sensitivity); `None` where they pass none."""
    recall_ci: Interval | None
    specificity: float | None
    """Of the rows people fail, the share that the judge fails; `None` where they fail none."""
    specificity_ci: Interval | None
    pass_rate: float | None
    """Share of all judged rows that the judge passes, labelled or not."""
    corrected_pass_rate: float | None
    """The pass rate that people would have given to all judged rows, from 0 to 1; `None` where it is undefined."""
    corrected_pass_rate_ci: Interval | None
    n: int
    """Rows with a verdict and a human label."""
    n_unlabelled: int
    """Rows with a verdict and no human label; they count in the pass rates only."""
    unmatched: int
    """Human labels for keys that the run does not have."""
    n_failed: int
    """Rows with a human label and no verdict; missing, not failed."""
    confidence: float
    """Of the intervals."""
    notes: list[str]
    """Why a number is `None`, and what else its reader should know."""

    def feedback(self) -> list[Feedback]:
        """Every measure, with its interval in the metadata."""
        told = "; ".join(self.notes) or None
        names = ["agreement", "kappa", "precision", "recall", "specificity", "corrected_pass_rate"]
        found = {name: (getattr(self, name), getattr(self, f"{name}_ci")) for name in names}
        return [
            Feedback(key=name, score=value, comment=told, metadata={"ci": ci and list(ci), "n": self.n})
            for name, (value, ci) in found.items()
        ]


def human_agreement(
    store: Store | None,
    run: Any,
    labels: Mapping[Any, Any],
    *,
    judge: str | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> HumanAgreement:
    """How far a run's verdicts agree with people's labels, and the pass rate corrected for the judge's errors.

    The corrected pass rate is Rogan and Gladen's: (q + specificity - 1) / (recall + specificity - 1), with q the pass
    rate of all judged rows, and recall and specificity from the labelled ones. It is cut to 0 to 1, and a note says so.
    Its interval draws the labelled and the unlabelled rows again, apart. It holds as far as the labelled rows are
    a random part of the run; choosing the rows to label by the judge's verdict biases it.

    Args:
        store: Where the run is looked up; `None` where the run itself is given.
        run: Name or id of a run, or the run.
        labels: Row key → what people said: `True`, `"pass"`, `"yes"`, 1 and their opposites; `"A"`, `"B"`, `"tie"` for
            comparisons; `None` where they gave none.
        judge: Name of the judge; `None` takes the only one, or the joint verdict of several.
        confidence: Of the intervals, between 0 and 1.
        rng: numpy `Generator`; `None` is a fixed seed.

    Returns:
        The report. What is undefined is `None`, with the reason in `notes`; precision, recall and pass rates of
        comparisons are.

    Raises:
        InputError: A label is none of these; the judge is not in the run.
        StoreError: The run is not in the store.
        ConfigError: `confidence` or `rng` is not usable.

    Example:
        >>> from types import SimpleNamespace as Obj
        >>> passes = [True, True, True, False, False, True, True, False]
        >>> rows = [Obj(key=k, repeat=0, evaluations={"judge": Obj(passed=p)}) for k, p in enumerate(passes)]
        >>> report = human_agreement(None, Obj(rows=rows), {0: "pass", 1: "pass", 2: "fail", 3: "fail", 4: "fail"})
        >>> report.agreement, report.precision, report.recall, report.pass_rate
        (0.8, 0.6666666666666666, 1.0, 0.625)
        >>> round(report.corrected_pass_rate, 4)  # (0.625 + 2/3 - 1) / (1 + 2/3 - 1)
        0.4375

    References:
        Rogan and Gladen (1978), Estimating Prevalence from the Results of a Screening Test, American Journal of
        Epidemiology 107(1). Lang and Reiczigel (2014), Confidence Limits for Prevalence of Disease Adjusted for
        Estimated Sensitivity and Specificity, Preventive Veterinary Medicine 113(1), on adding to the counts.
    """
    confidence, rng = checked_confidence(confidence), checked_rng(rng)
    lines = lines_of(store, run)
    judges = judges_of(lines)
    verdicts = verdicts_of(lines, judges if judge is None else [checked_judge(judge, judges)])
    return _report(_Labelled(verdicts, labels), confidence, rng)


class _Labelled:
    """A run's verdicts beside people's labels."""

    def __init__(self, verdicts: Mapping[RowId, Verdict], labels: Mapping[Any, Any]) -> None:
        judged = {row: verdict.label for row, verdict in verdicts.items() if verdict.label is not None}
        said = judged.values() if judged else [str(label).lower() for label in labels.values()]
        self.binary = not set(said) & {*_WINNERS, *_WINNERS.values()}
        given = {key: _label(key, label, self.binary) for key, label in labels.items() if not is_missing(label)}
        human = {row: given[key] for row in verdicts if (key := _known(row[0], given)) is not None}
        keys = {_known(key, given) for key, _ in verdicts}
        self.unmatched = sum(key not in keys for key in given)
        self.missed = list(given)[:3] if given and not human else []
        self.n_failed = sum(row not in judged for row in human)
        self.pairs = [(row, judged[row], human[row]) for row in human if row in judged]
        self.unlabelled = [(row, label) for row, label in judged.items() if row not in human]

    def table(self) -> PassTable:
        """Pass and fail of the judge beside people's; empty where the judge compares."""
        return PassTable(self.pairs, self.unlabelled) if self.binary else PassTable([], [])


def _known(key: Any, given: Mapping[Any, Any]) -> Any | None:
    """The label's key that names this row: itself, or its text, as a dataset's number may be stored as text."""
    if key in given:
        return key
    return next((other for other in (str(key), _whole(key)) if other in given), None)


def _whole(key: Any) -> int | None:
    return int(key) if isinstance(key, str) and key.isdecimal() else None


def _label(key: Any, label: Any, binary: bool) -> str:
    word = str(label).strip().lower()
    if binary and word in _PASS | _FAIL:
        return "pass" if word in _PASS else "fail"
    if not binary and word in _WINNERS:
        return _WINNERS[word]
    accepted = "True or False, 'pass' or 'fail', 'yes' or 'no', 1 or 0" if binary else "'A', 'B' or 'tie'"
    raise InputError(f"label {shown(label)} of row {shown(key)} is none of {accepted}", field="labels", found=label)


def _report(labelled: _Labelled, confidence: float, rng: np.random.Generator) -> HumanAgreement:
    pairs, table = LabelPairs(labelled.pairs), labelled.table()

    def ci(statistic: Countable) -> Interval | None:
        return interval_of(statistic, confidence=confidence, rng=rng)

    def ci_of_rate(rate: Statistic) -> Interval | None:
        return interval(table.samples, rate, confidence=confidence, rng=rng)

    report = HumanAgreement(
        agreement=pairs.share,
        agreement_ci=ci(pairs.countable(share_of_counts)),
        kappa=pairs.kappa,
        kappa_ci=ci(pairs.countable(kappa_of_counts)),
        **_rates(table, ci_of_rate) if labelled.binary else dict.fromkeys(_RATES),
        n=len(labelled.pairs),
        n_unlabelled=len(labelled.unlabelled),
        unmatched=labelled.unmatched,
        n_failed=labelled.n_failed,
        confidence=confidence,
        notes=[],
    )
    return report.model_copy(update={"notes": list(_notes(report, labelled, pairs))})


_SHARES = ("precision", "recall", "specificity")
_RATES = (
    *_SHARES,
    *(f"{name}_ci" for name in _SHARES),
    "pass_rate",
    "corrected_pass_rate",
    "corrected_pass_rate_ci",
)


def _rates(table: PassTable, ci: Callable[[Statistic], Interval | None]) -> dict[str, Any]:
    shares = {name: getattr(table, name) for name in _SHARES}
    return {
        **{name: table.observed(statistic) for name, statistic in shares.items()},
        **{f"{name}_ci": ci(statistic) for name, statistic in shares.items()},
        "pass_rate": table.observed(table.pass_rate),
        "corrected_pass_rate": table.observed(table.corrected),
        "corrected_pass_rate_ci": ci(table.corrected),
    }


def _notes(report: HumanAgreement, labelled: _Labelled, pairs: LabelPairs) -> Iterable[str]:
    if labelled.missed:
        yield f"no label matches a row's key; labels have keys such as {shown(labelled.missed)}"
    if not labelled.pairs:
        yield "no agreement, no kappa: no row has both a verdict and a human label"
    else:
        yield from pairs.why(report)
    if not labelled.binary:
        yield "no precision, recall and pass rates: the verdicts are winners, not pass or fail"
        return
    yield from _notes_on_rates(report, labelled)


def _notes_on_rates(report: HumanAgreement, labelled: _Labelled) -> Iterable[str]:
    missing = {"precision": "the judge passes", "recall": "people pass", "specificity": "people fail"}
    for name, who in missing.items():
        if getattr(report, name) is None:
            yield f"no {name}: {who} none of the {report.n} labelled rows"
    if report.recall is None or report.specificity is None:
        yield "no corrected_pass_rate: recall and specificity are both needed"
    elif report.corrected_pass_rate is None:
        yield (
            f"no corrected_pass_rate: recall {report.recall:.3g} and specificity {report.specificity:.3g} are those of "
            "a judge that tells nothing"
        )
    else:
        table = labelled.table()
        value = table.observed(table.uncut)
        if value is not None and not 0 <= value <= 1:
            yield f"corrected_pass_rate came out as {value:.3g} and was cut to {report.corrected_pass_rate:g}"
        yield from why_no_interval("corrected_pass_rate", report.corrected_pass_rate_ci, report.n)
