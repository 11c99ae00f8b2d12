"""How far two judges agree over the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from langchain_llm_judge.reliability.correlation import countable_numbers, rank_correlation
from langchain_llm_judge.reliability.interval import Countable, Interval, interval_of, means
from langchain_llm_judge.reliability.kappa import countable_labels, kappa_of_codes, kappa_of_counts, share_of_counts
from langchain_llm_judge.reliability.ratings import (
    Integers,
    checked_confidence,
    checked_rng,
    distinct,
    label_codes,
)
from langchain_llm_judge.reliability.resampling import Statistic
from langchain_llm_judge.reliability.verdicts import (
    JudgeNames,
    RowId,
    Store,
    Verdict,
    judges_of,
    lines_of,
    matched_judges,
    verdicts_of,
)
from langchain_llm_judge.results import Feedback, Result


class AgreementReport(Result):
    """How far two runs agree. Intervals are bootstrap intervals over rows, never a model's own confidence."""

    kappa: float | None
    """Cohen's kappa of the labels (winner, or pass and fail), from -1 to 1; `None` where it is undefined."""
    kappa_ci: Interval | None
    raw_agreement: float | None
    """Share of rows with the same label, from 0 to 1; `None` without labels."""
    raw_agreement_ci: Interval | None
    spearman: float | None
    """Rank correlation of the scores, from -1 to 1; `None` where it is undefined."""
    spearman_ci: Interval | None
    mean_abs_diff: float | None
    """Mean distance of the two scores, from 0 to 1; `None` without scores."""
    mean_abs_diff_ci: Interval | None
    n: int
    """Rows with a verdict in both runs."""
    unmatched: int
    """Rows of either run that the other does not have."""
    n_failed: int
    """Rows of both runs that have no verdict in one of them; missing, not 0."""
    confidence: float
    """Of the intervals."""
    notes: list[str]
    """Why a number is `None`, and what else its reader should know."""

    def feedback(self) -> list[Feedback]:
        """The four measures, with their intervals in the metadata."""
        told = "; ".join(self.notes) or None
        return [
            Feedback(key=name, score=value, comment=told, metadata={"ci": ci and list(ci), "n": self.n})
            for name, value, ci in [
                ("kappa", self.kappa, self.kappa_ci),
                ("raw_agreement", self.raw_agreement, self.raw_agreement_ci),
                ("spearman", self.spearman, self.spearman_ci),
                ("mean_abs_diff", self.mean_abs_diff, self.mean_abs_diff_ci),
            ]
        ]


def judge_agreement(
    store: Store | None,
    run_a: Any,
    run_b: Any,
    *,
    judge: JudgeNames = None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> AgreementReport:
    """How far the judges of two runs agree over the rows that both have.

    Rows are matched by key and repeat. Labels (the winner of a comparison, else pass or fail) and scores are
    compared apart. Compared are the only judge of each run, or those of the same name; rows with several judges
    count by their joint verdict and mean score, see `reliability.verdicts`. Repeats of one key are drawn together in
    the bootstrap, as they are not independent.

    Args:
        store: Where the runs are looked up; `None` where the runs themselves are given.
        run_a: Name or id of a run, or the run.
        run_b: The other.
        judge: Compare this judge only; or two names, one a run.
        confidence: Of the intervals, between 0 and 1.
        rng: numpy `Generator`; `None` is a fixed seed.

    Returns:
        The report. What is undefined is `None`, with the reason in `notes`.

    Raises:
        InputError: The runs have several judges, and none in common.
        StoreError: A run is not in the store.
        ConfigError: `confidence` or `rng` is not usable.

    Example:
        >>> from types import SimpleNamespace as Obj
        >>> def run(*winners):
        ...     rows = [Obj(key=key, repeat=0, evaluations={"judge": Obj(winner=w)}) for key, w in enumerate(winners)]
        ...     return Obj(rows=rows)
        >>> report = judge_agreement(None, run("A", "A", "B", "B"), run("A", "B", "B", "B"))
        >>> report.raw_agreement, report.kappa, report.n
        (0.75, 0.5, 4)
        >>> report.notes
        ['no spearman, no mean_abs_diff: no row has a score in both runs']
    """
    confidence, rng = checked_confidence(confidence), checked_rng(rng)
    lines_a, lines_b = lines_of(store, run_a), lines_of(store, run_b)
    judges_a, judges_b = matched_judges(judges_of(lines_a), judges_of(lines_b), judge)
    pairs = Pairs(verdicts_of(lines_a, judges_a), verdicts_of(lines_b, judges_b))
    return _report(pairs, confidence, rng, _note_on_judges(judges_a))


class Pairs:
    """The verdicts of two runs on the rows that both have."""

    def __init__(self, a: dict[RowId, Verdict], b: dict[RowId, Verdict]) -> None:
        self.labels: list[tuple[RowId, Any, Any]] = []
        self.scores: list[tuple[RowId, Any, Any]] = []
        self.n = matched = 0
        for row, (label_a, score_a) in a.items():
            if row not in b:
                continue
            matched += 1
            label_b, score_b = b[row]
            if labelled := label_a is not None and label_b is not None:
                self.labels.append((row, label_a, label_b))
            if scored := score_a is not None and score_b is not None:
                self.scores.append((row, score_a, score_b))
            self.n += labelled or scored
        self.unmatched = len(a) + len(b) - 2 * matched
        self.n_failed = matched - self.n


def units(rows: Sequence[RowId]) -> Integers | None:
    """Which key each row belongs to, by number; `None` where no key is repeated."""
    if len({repeat for _, repeat in rows}) < 2:
        return None
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key, _ in rows], dtype=np.int64)


def _report(pairs: Pairs, confidence: float, rng: np.random.Generator, notes: list[str]) -> AgreementReport:
    labels, scores = LabelPairs(pairs.labels), ScorePairs(pairs.scores)

    def ci(statistic: Countable) -> Interval | None:
        return interval_of(statistic, confidence=confidence, rng=rng)

    report = AgreementReport(
        kappa=labels.kappa,
        kappa_ci=ci(labels.countable(kappa_of_counts)),
        raw_agreement=labels.share,
        raw_agreement_ci=ci(labels.countable(share_of_counts)),
        spearman=scores.correlation,
        spearman_ci=ci(scores.countable_correlation()),
        mean_abs_diff=scores.distance,
        mean_abs_diff_ci=ci(scores.countable_distance()),
        n=pairs.n,
        unmatched=pairs.unmatched,
        n_failed=pairs.n_failed,
        confidence=confidence,
        notes=[],
    )
    return report.model_copy(update={"notes": notes + labels.why(report) + scores.why(report)})


class LabelPairs:
    """Two labels a row."""

    def __init__(self, pairs: Sequence[tuple[RowId, Any, Any]], scale: Sequence[Any] | None = None) -> None:
        first, second = [a for _, a, _ in pairs], [b for _, _, b in pairs]
        self.scale = distinct([*first, *second], ranked=False) if scale is None else scale
        self.first, self.second = label_codes(first, self.scale), label_codes(second, self.scale)
        self.unit = units([row for row, *_ in pairs])

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance."""
        return kappa_of_codes(self.first, self.second, len(self.scale))

    @property
    def share(self) -> float | None:
        """Share of rows with the same label."""
        return float((self.first == self.second).mean()) if self.first.size else None

    def countable(self, statistic: Callable[[Integers, Integers, int], Statistic]) -> Countable:
        """A statistic of the pairs for the bootstrap."""
        return countable_labels(self.first, self.second, len(self.scale), statistic, self.unit)

    def why(self, report: Any) -> list[str]:
        """Why there is no kappa, or no interval."""
        if not self.first.size:
            return ["no kappa, no raw_agreement: no row has a label in both runs"]
        if report.kappa is None:
            return [f"no kappa: both give {self.scale[0]!r} on every row, so chance alone would agree fully"]
        return why_no_interval("kappa", report.kappa_ci, self.first.size)


class ScorePairs:
    """Two scores a row."""

    def __init__(self, pairs: Sequence[tuple[RowId, Any, Any]]) -> None:
        self.first = np.array([a for _, a, _ in pairs], dtype=np.float64)
        self.second = np.array([b for _, _, b in pairs], dtype=np.float64)
        self._unit = units([row for row, *_ in pairs])

    @property
    def correlation(self) -> float | None:
        """Rank correlation."""
        return rank_correlation(self.first, self.second)

    @property
    def distance(self) -> float | None:
        """Mean distance."""
        return float(np.abs(self.first - self.second).mean()) if self.first.size else None

    def countable_correlation(self) -> Countable:
        """The correlation for the bootstrap."""
        return countable_numbers(self.first, self.second, self._unit)

    def countable_distance(self) -> Countable:
        """The distance for the bootstrap."""
        return means(np.abs(self.first - self.second), self._unit)

    def why(self, report: AgreementReport) -> list[str]:
        """Why there is no correlation, or no interval."""
        if not self.first.size:
            return ["no spearman, no mean_abs_diff: no row has a score in both runs"]
        if report.spearman is None:
            constant = self.first if np.ptp(self.first) == 0 else self.second
            few = f"{self.first.size} row with two scores, at least 2 are needed"
            return [f"no spearman: {few if self.first.size < 2 else f'one run gives {constant[0]:g} on every row'}"]
        return why_no_interval("spearman", report.spearman_ci, self.first.size)


def why_no_interval(name: str, ci: Interval | None, rows: int) -> list[str]:
    """Why a number that is there has no interval."""
    if ci is not None:
        return []
    if rows < 2:
        return [f"no {name}_ci: {rows} row, at least 2 are needed"]
    return [f"no {name}_ci: {name} is undefined on too many resamples of these {rows} rows"]


def _note_on_judges(judges: Sequence[str]) -> list[str]:
    if len(judges) < 2:
        return []
    return [f"labels are the joint verdict and scores the mean of {', '.join(judges)}; judge= picks one"]
