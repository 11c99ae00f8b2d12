"""The verdicts of stored runs: one label and one score a row.

Runs are taken by shape, not by class: a run gives `verdicts()`, or has `rows` with `key`, `repeat`, `evaluations`
(judge → result) and `errors`.

What counts: a row is one (key, repeat). Its label is the winner of a comparison, else `pass` or `fail`. A row
judged by several judges has their joint verdict (`fail` if any fails, else none if any has none, else `pass`; for
comparisons the winner most of them name, `tie` where none leads) and the mean of their scores, where all have one. A
judge that failed on a row has no verdict there; its row has none either, unless another judge's `fail` decides it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from langchain_llm_judge.errors import InputError, shown
from langchain_llm_judge.results import label_of, score_of


class Store(Protocol):
    """Where runs are looked up."""

    def run(self, name: str, /) -> Any:
        """The run of this name or id."""


class Verdict(NamedTuple):
    """What a row says."""

    label: str | None
    """A winner, or `pass` or `fail`; `None` where there is no verdict."""
    score: float | None
    """From 0 to 1; `None` where there is none."""


Line: TypeAlias = tuple[Any, int, str | None, str | None, float | None]
"""What one judge said of one row: key, repeat, judge (`None` where none was asked), label, score."""

RowId: TypeAlias = tuple[Any, int]
"""Key and repeat."""

JudgeNames: TypeAlias = str | tuple[str, str] | None
"""One judge, or one of each run; `None` takes those that match."""

NO_VERDICT = Verdict(None, None)


def lines_of(store: Store | None, run: Any) -> list[Line]:
    """What every judge said of every row, in a run given by name or id, or in the run itself.

    Raises:
        InputError: A name is given without a store.
    """
    # `verdicts` first: to ask a stored run for its rows is to read them.
    if not (hasattr(run, "verdicts") or hasattr(run, "rows")):
        run = _looked_up(store, run)
    if hasattr(run, "verdicts"):
        return list(run.verdicts())
    return [line for row in run.rows for line in _lines(row)]


def _looked_up(store: Any, run: Any) -> Any:
    if not hasattr(store, "run"):
        raise InputError(
            f"cannot look up run {shown(run)} in {shown(store)}; give an ExperimentStore, or the Run itself",
            field="store",
            found=store,
        )
    return store.run(run)


def _lines(row: Any) -> Iterator[Line]:
    repeat = getattr(row, "repeat", 0)
    for judge, result in row.evaluations.items():
        yield row.key, repeat, judge, label_of(result), score_of(result)
    for judge in getattr(row, "errors", ()):
        yield row.key, repeat, None if judge == "target" else judge, None, None
    if not row.evaluations and not getattr(row, "errors", ()):
        yield row.key, repeat, None, None, None


def judges_of(lines: Iterable[Line]) -> list[str]:
    """Names of the judges in a run, in order."""
    return list(dict.fromkeys(judge for _, _, judge, _, _ in lines if judge is not None))


def verdicts_of(lines: Iterable[Line], judges: Sequence[str]) -> dict[RowId, Verdict]:
    """Each row's joint verdict by the named judges."""
    if len(judges) == 1:
        return _of_one_judge(lines, judges[0])
    given: dict[RowId, dict[str | None, Verdict]] = {}
    for key, repeat, judge, label, score in lines:
        given.setdefault((key, repeat), {})[judge] = Verdict(label, score)
    return {row: _joint([by_judge.get(judge, NO_VERDICT) for judge in judges]) for row, by_judge in given.items()}


def _of_one_judge(lines: Iterable[Line], only: str) -> dict[RowId, Verdict]:
    found: dict[RowId, Verdict] = {}
    for key, repeat, judge, label, score in lines:
        if judge == only:
            found[key, repeat] = Verdict(label, score)
        else:
            found.setdefault((key, repeat), NO_VERDICT)
    return found


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


def _joint(verdicts: Sequence[Verdict]) -> Verdict:
    labels = [verdict.label for verdict in verdicts]
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    joint = _joint_winner(labels) if set(labels) - {"pass", "fail", None} else _joint_pass(labels)
    return Verdict(joint, sum(scores) / len(scores) if scores and len(scores) == len(verdicts) else None)


def _joint_pass(labels: Sequence[str | None]) -> str | None:
    if "fail" in labels:
        return "fail"
    return None if None in labels or not labels else "pass"


def _joint_winner(labels: Sequence[str | None]) -> str | None:
    if None in labels:
        return None
    leaders = Counter(labels).most_common(2)
    return "tie" if len(leaders) == 2 and leaders[0][1] == leaders[1][1] else leaders[0][0]
