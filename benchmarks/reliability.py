"""How often the intervals of `langchain_llm_judge.reliability` hold the true value, and what they cost.

    python benchmarks/reliability.py [--seconds 180] [--seed 1] [--only coverage|methods|speed]

Coverage: draw rows from a known distribution, ask for the nominal 95 % interval, count how often the true value lies
inside; the standard error of a share near 0.95 from 1,000 draws is 0.7 points. Simulations run until the time is up,
each setting as often as every other. Kappa's true value is that of the table the rows are drawn from; Spearman's is
the correlation of 2,000,000 draws.

Methods: the same for plain percentiles, for percentiles expanded as Student's t is wider than the normal (the default)
and for BCa.

Marks: `=` covers 92 to 97.5 %, `<` less, `>` more.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.stats

from langchain_llm_judge.reliability import resampling
from langchain_llm_judge.reliability.bootstrap import bootstrap_ci, mean
from langchain_llm_judge.reliability.correlation import rank_correlation, spearman
from langchain_llm_judge.reliability.human import human_agreement
from langchain_llm_judge.reliability.interval import Interval, interval_of, share_interval
from langchain_llm_judge.reliability.kappa import (
    cohen_kappa,
    countable_labels,
    kappa_of_codes,
    kappa_of_counts,
    share_of_counts,
)

SIZES = (50, 200)
RESAMPLES_IN_SIMULATIONS = 1_000


@dataclass
class Setting:
    """One true value, one number of rows, and how often an interval has held it."""

    measure: str
    name: str
    size: int
    truth: float
    draw: Callable[[np.random.Generator], object]
    """From a generator to an interval, or `None`."""
    hits: int = 0
    asked: int = 0
    undefined: int = 0
    widths: list[float] = field(default_factory=list)

    def once(self, rng: np.random.Generator) -> None:
        ci = self.draw(rng)
        if ci is None:
            self.undefined += 1
            return
        self.asked += 1
        self.hits += ci.low - 1e-12 <= self.truth <= ci.high + 1e-12
        self.widths.append(ci.high - ci.low)

    def line(self) -> str:
        share = 100 * self.hits / max(self.asked, 1)
        mark = "=" if 92 <= share <= 97.5 else "<" if share < 92 else ">"
        return (
            f"{self.measure:10} {self.name:34} {self.size:5} {self.truth:8.3f} {share:7.1f} {mark} "
            f"{statistics.median(self.widths or [float('nan')]):7.3f} {self.asked:6} {self.undefined:5}"
        )


def mean_settings(size: int) -> list[Setting]:
    shapes: dict[str, tuple[float, Callable[[np.random.Generator], np.ndarray]]] = {
        "normal": (0.0, lambda rng: rng.normal(size=size)),
        "uniform": (0.5, lambda rng: rng.random(size)),
        "beta(8, 2), scores near 1": (0.8, lambda rng: rng.beta(8, 2, size)),
        "beta(0.5, 0.5), mostly 0 or 1": (0.5, lambda rng: rng.beta(0.5, 0.5, size)),
        "beta(9, 0.5), very skewed": (9 / 9.5, lambda rng: rng.beta(9, 0.5, size)),
        "tenths, binomial(10, 0.7)": (0.7, lambda rng: rng.binomial(10, 0.7, size) / 10),
        "five levels": (0.65, lambda rng: rng.choice([0, 0.25, 0.5, 0.75, 1], size, p=[0.1, 0.1, 0.2, 0.3, 0.3])),
        "rate 0.5": (0.5, lambda rng: (rng.random(size) < 0.5) * 1.0),
        "rate 0.8": (0.8, lambda rng: (rng.random(size) < 0.8) * 1.0),
        "rate 0.9": (0.9, lambda rng: (rng.random(size) < 0.9) * 1.0),
        "rate 0.95": (0.95, lambda rng: (rng.random(size) < 0.95) * 1.0),
        "log-normal": (float(np.exp(0.5)), lambda rng: rng.lognormal(size=size)),
    }
    return [
        Setting("mean", name, size, truth, lambda rng, draw=draw: bootstrap_ci(draw(rng), rng=rng))
        for name, (truth, draw) in shapes.items()
    ]


def share_settings(size: int) -> list[Setting]:
    """Rates of consistency and position bias."""
    return [
        Setting(
            "share",
            f"rate {rate}",
            size,
            rate,
            lambda rng, rate=rate: share_interval(int(rng.binomial(size, rate)), size, confidence=0.95, rng=rng),
        )
        for rate in (0.5, 0.8, 0.95, 0.98)
    ]


def kappa_settings(size: int) -> list[Setting]:
    """Two raters who agree on a share of rows and else answer each by their habits."""
    habits = {"even": [0.5, 0.5], "80:20": [0.8, 0.2], "90:10": [0.9, 0.1], "3 labels": [0.45, 0.45, 0.1]}
    settings = []
    for name, habit in habits.items():
        for kappa in (0.0, 0.3, 0.6, 0.8, 0.9, 0.95):
            chances = np.array(habit)
            table = kappa * np.diag(chances) + (1 - kappa) * np.outer(chances, chances)
            settings.append(Setting("kappa", f"{name}, {kappa}", size, kappa, _of_table(table, size, kappa_of_counts)))
            if kappa in (0.6, 0.9):
                agreement = float(np.trace(table))
                draw = _of_table(table, size, share_of_counts)
                settings.append(Setting("agreement", f"{name}, kappa {kappa}", size, agreement, draw))
    return settings


def _of_table(table: np.ndarray, size: int, statistic: Callable) -> Callable[[np.random.Generator], object]:
    labels = len(table)

    def draw(rng: np.random.Generator) -> object:
        a, b = np.divmod(rng.choice(table.size, size, p=table.ravel()), labels)
        if kappa_of_codes(a, b, labels) is None:
            return None
        return interval_of(countable_labels(a, b, labels, statistic), confidence=0.95, rng=rng)

    return draw


def spearman_settings(size: int) -> list[Setting]:
    settings = []
    for levels in (None, 10, 4):
        for rho in (0.0, 0.3, 0.6, 0.9, 0.97):
            a, b = _scores(np.random.default_rng(0), rho, 2_000_000, levels)
            truth = rank_correlation(a, b)
            name = f"{'continuous' if levels is None else f'{levels + 1} levels'}, {rho}"
            settings.append(Setting("spearman", name, size, truth, _of_scores(rho, size, levels)))
    return settings


def _scores(rng: np.random.Generator, rho: float, size: int, levels: int | None) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=size)
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=size)
    if levels is None:
        return x, y
    return tuple(np.clip(np.round((scores + 2.5) / 5 * levels), 0, levels) for scores in (x, y))


def _of_scores(rho: float, size: int, levels: int | None) -> Callable[[np.random.Generator], object]:
    return lambda rng: bootstrap_ci(list(zip(*_scores(rng, rho, size, levels), strict=True)), spearman, rng=rng)


class _Row:
    def __init__(self, key: int, passed: bool) -> None:
        self.key, self.repeat = key, 0
        self.evaluations = {"judge": {"status": "PASS" if passed else "FAIL", "score": float(passed)}}


class _Run:
    def __init__(self, passes: np.ndarray) -> None:
        self.rows = [_Row(key, bool(passed)) for key, passed in enumerate(passes)]


def corrected_settings(labelled: int) -> list[Setting]:
    """The corrected pass rate of 500 rows of which some carry a human label."""
    settings = []
    for rate, recall, specificity in [(0.5, 0.9, 0.9), (0.8, 0.9, 0.7), (0.8, 0.95, 0.5), (0.95, 0.9, 0.8)]:

        def draw(rng: np.random.Generator, rate: float = rate, se: float = recall, sp: float = specificity) -> object:
            human = rng.random(500) < rate
            judged = np.where(human, rng.random(500) < se, rng.random(500) >= sp)
            labels = {key: bool(human[key]) for key in range(labelled)}
            return human_agreement(None, _Run(judged), labels, rng=rng).corrected_pass_rate_ci

        name = f"{rate}, recall {recall}, spec. {specificity}"
        settings.append(Setting("corrected", name, labelled, rate, draw))
    return settings


def coverage(settings: list[Setting], seconds: float, seed: int) -> None:
    # Fewer resamples than a user gets, so that more samples can be drawn; the ends wobble more, which costs coverage.
    usual, resampling.RESAMPLES = resampling.RESAMPLES, RESAMPLES_IN_SIMULATIONS
    rng = np.random.default_rng(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for setting in settings:
            for _ in range(10):
                setting.once(rng)
    resampling.RESAMPLES = usual
    head = f"{'':10} {'rows drawn from':34} {'rows':>5} {'truth':>8}"
    print(f"\nnominal 95 % intervals\n{head} {'covered':>7}   {'width':>7} {'drawn':>6} None")
    for setting in settings:
        print(setting.line())


def method_settings(size: int) -> list[Setting]:
    """A few of the distributions above, each with the three ways to read the ends off the resamples."""
    of_scores = {
        "tenths, binomial(10, 0.7)": (0.7, lambda rng: rng.binomial(10, 0.7, size) / 10),
        "beta(9, 0.5), very skewed": (9 / 9.5, lambda rng: rng.beta(9, 0.5, size)),
        "rate 0.8": (0.8, lambda rng: (rng.random(size) < 0.8) * 1.0),
    }
    of_pairs = {
        "spearman, continuous, 0.6": (0.582, lambda rng: zip(*_scores(rng, 0.6, size, None), strict=True), spearman),
        "spearman, 5 levels, 0.6": (0.517, lambda rng: zip(*_scores(rng, 0.6, size, 4), strict=True), spearman),
        "kappa, even, 0.6": (0.6, lambda rng: _labels(rng, [0.5, 0.5], 0.6, size), cohen_kappa),
        "kappa, 80:20, 0.8": (0.8, lambda rng: _labels(rng, [0.8, 0.2], 0.8, size), cohen_kappa),
    }
    cases = {name: (truth, draw, mean) for name, (truth, draw) in of_scores.items()} | of_pairs
    return [
        Setting(method, name, size, truth, lambda rng, d=draw, s=statistic, read=read: read(list(d(rng)), s, rng))
        for name, (truth, draw, statistic) in cases.items()
        for method, read in {"plain": _plain, "expanded": _expanded, "BCa": _bca}.items()
    ]


def _labels(rng: np.random.Generator, habit: list[float], kappa: float, size: int) -> object:
    same = rng.random(size) < kappa
    a = rng.choice(len(habit), size, p=habit)
    return zip(a.tolist(), np.where(same, a, rng.choice(len(habit), size, p=habit)).tolist(), strict=True)


def _plain(rows: list, statistic: Callable, rng: np.random.Generator) -> Interval | None:
    columns = (np.array(rows),) if statistic is mean else tuple(np.array(rows).T)
    value = lambda *resample: math.nan if (found := statistic(*resample)) is None else found  # noqa: E731
    ci = scipy.stats.bootstrap(
        columns, value, paired=True, vectorized=False, n_resamples=999, method="percentile", rng=rng
    ).confidence_interval
    return Interval(float(ci.low), float(ci.high)) if math.isfinite(ci.low + ci.high) else None


def _expanded(rows: list, statistic: Callable, rng: np.random.Generator) -> Interval | None:
    return bootstrap_ci(rows, statistic, rng=rng)


def _bca(rows: list, statistic: Callable, rng: np.random.Generator) -> Interval | None:
    return bootstrap_ci(rows, statistic, rng=rng, method="bca")


def speed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    print(f"\n{'10,000 resamples of':44} {'rows':>7} {'s, median of 3':>15} {'CPU s':>7}")
    for rows in (200, 10_000, 100_000):
        x = rng.normal(size=rows)
        y = 0.6 * x + 0.8 * rng.normal(size=rows)
        a = rng.integers(0, 3, rows)
        b = np.where(rng.random(rows) < 0.7, a, rng.integers(0, 3, rows))
        levels = list(zip(np.round(x * 2).tolist(), np.round(y * 2).tolist(), strict=True))
        cases = {
            "mean": lambda x=x: bootstrap_ci(x),
            "kappa, 3 labels": lambda a=a, b=b: bootstrap_ci(
                list(zip(a.tolist(), b.tolist(), strict=True)), cohen_kappa
            ),
            "spearman, all scores different": lambda x=x, y=y: bootstrap_ci(list(zip(x, y, strict=True)), spearman),
            "spearman, some 15 levels": lambda levels=levels: bootstrap_ci(levels, spearman),
        }
        if rows <= 10_000:
            cases["mean by scipy.stats.bootstrap, batches of 100"] = lambda x=x: scipy.stats.bootstrap(
                (x,), np.mean, n_resamples=10_000, batch=100, method="percentile", rng=1
            )
        for name, case in cases.items():
            print(
                f"{name:44} {rows:7} {_seconds(case, time.perf_counter):15.2f} {_seconds(case, time.process_time):7.2f}"
            )


def _seconds(case: Callable[[], object], clock: Callable[[], float]) -> float:
    def once() -> float:
        start = clock()
        case()
        return clock() - start

    return statistics.median(once() for _ in range(3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=180, help="time for the coverage simulations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["coverage", "methods", "speed"])
    options = parser.parse_args()
    kinds = (mean_settings, share_settings, kappa_settings, spearman_settings, corrected_settings)
    if options.only in (None, "coverage"):
        coverage([setting for kind in kinds for size in SIZES for setting in kind(size)], options.seconds, options.seed)
    if options.only in (None, "methods"):
        coverage([setting for size in (20, 50) for setting in method_settings(size)], options.seconds, options.seed)
    if options.only in (None, "speed"):
        speed(options.seed)


if __name__ == "__main__":
    main()
