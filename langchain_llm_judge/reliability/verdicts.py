"""The verdicts of stored runs: one label and one score a row.

Runs and rows are taken by shape, not by class: a run has `rows`, a row has `key`, `repeat`, `evaluations` (judge →
result) and `errors`.

What counts: a row is one (key, repeat). Its label is the winner of a comparison, else `pass` or `fail`. A row
judged by several judges has their joint verdict (`fail` if any fails, else none if any has none, else `pass`; for
comparisons the winner most of them name, `tie` where none leads) and the mean of their scores, where all have one. A
judge that failed on a row has no verdict there; its row has none either, unless another judge's `fail` decides it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from langchain_llm_judge.errors import InputError, shown
from langchain_llm_judge.results import all_passed, passed, score_of


class Row(Protocol):
    """One judged row of a run."""

    @property
    def key(self) -> Any:
        """What names the row in every run over the same data."""

    @property
    def evaluations(self) -> Mapping[str, Any]:
        """Name of the judge → its result."""


class Run(Protocol):
    """A stored run."""

    @property
    def rows(self) -> Iterable[Any]:
        """Its rows, each a `Row`."""


class Store(Protocol):
    """Where runs are looked up."""

    def run(self, name: str, /) -> Run:
        """The run of this name or id."""


class Verdict(NamedTuple):
    """What a row says."""

    label: str | None
    """A winner, or `pass` or `fail`; `None` where there is no verdict."""
    score: float | None
    """From 0 to 1; `None` where there is none."""


RowId: TypeAlias = tuple[Any, int]
"""Key and repeat."""

JudgeNames: TypeAlias = str | tuple[str, str] | None
"""One judge, or one of each run; `None` takes those that match."""


def rows_of(store: Store | None, run: Any) -> list[Any]:
    """The rows of a run given by name or id, or of the run itself.

    Raises:
        InputError: A name is given without a store.
    """
    if hasattr(run, "rows"):
        return list(run.rows)
    if store is None or not hasattr(store, "run"):
        raise InputError(
            f"cannot look up run {shown(run)} in {shown(store)}; give an ExperimentStore, or the Run itself",
            field="store",
            found=store,
        )
    return list(store.run(run).rows)


def verdicts_of(rows: Iterable[Any], judges: Sequence[str]) -> dict[RowId, Verdict]:
    """Each row's joint verdict by the named judges."""
    return {
        (row.key, getattr(row, "repeat", 0)): _joint([row.evaluations.get(judge) for judge in judges]) for row in rows
    }


def label_of(result: object) -> str | None:
    """A result's label: the winner of a comparison or a panel of them, else `pass` or `fail`."""
    fields = result if isinstance(result, Mapping) else None
    winner = fields.get("winner") if fields is not None else getattr(result, "winner", None)
    if winner is None and isinstance(getattr(result, "verdict", None), str):
        winner = getattr(result, "verdict", None)
    if isinstance(winner, str):
        return winner
    verdict = passed(result)
    return None if verdict is None else "pass" if verdict else "fail"


def judges_of(rows: Iterable[Any]) -> list[str]:
    """Names of the judges that gave verdicts in these rows; where none did, of those that failed."""
    rows = list(rows)
    gave = dict.fromkeys(judge for row in rows for judge in row.evaluations)
    return list(gave or dict.fromkeys(judge for row in rows for judge in getattr(row, "errors", ())))


def matched_judges(of_a: Sequence[str], of_b: Sequence[str], judge: JudgeNames) -> tuple[list[str], list[str]]:
    """Which judges of two runs to compare: those named, else the only ones, else those of the same name.

    Raises:
        InputError: A named judge is not in the run, or nothing matches.
    """
    if judge is not None:
        first, second = (judge, judge) if isinstance(judge, str) else judge
        return [checked_judge(first, of_a)], [checked_judge(second, of_b)]
    if len(of_a) == len(of_b) == 1:
        return list(of_a), list(of_b)
    common = [name for name in of_a if name in of_b]
    if not common and of_a and of_b:
        raise InputError(
            f"the runs share no judge: {shown(list(of_a))}, {shown(list(of_b))}; name two with judge=(first, second)",
            field="judge",
            found=(list(of_a), list(of_b)),
        )
    return common, common


def checked_judge(name: str, judges: Sequence[str]) -> str:
    """A judge's name that occurs in the run.

    Raises:
        InputError: It does not.
    """
    if name not in judges:
        raise InputError(
            f"judge {shown(name)} is not in the run; it has {shown(list(judges))}", field="judge", found=name
        )
    return name


def _joint(results: Sequence[Any]) -> Verdict:
    if len(results) == 1:
        return Verdict(label_of(results[0]), score_of(results[0]))
    labels = [label_of(result) for result in results]
    scores = [score for result in results if (score := score_of(result)) is not None]
    joint = _joint_winner(labels) if set(labels) - {"pass", "fail", None} else _joint_pass(results)
    return Verdict(joint, sum(scores) / len(scores) if scores and len(scores) == len(results) else None)


def _joint_pass(results: Sequence[Any]) -> str | None:
    verdict = all_passed(results)
    return None if verdict is None else "pass" if verdict else "fail"


def _joint_winner(labels: Sequence[str | None]) -> str | None:
    if None in labels:
        return None
    leaders = Counter(labels).most_common(2)
    return "tie" if len(leaders) == 2 and leaders[0][1] == leaders[1][1] else leaders[0][0]
