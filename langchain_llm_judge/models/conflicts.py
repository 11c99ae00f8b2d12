"""Where a claim and the passages cannot both be right: numbers, units, dates, names, negation, opposites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from langchain_llm_judge.models.statements import Statement
from langchain_llm_judge.models.words import Word, listed, term_of

_HEDGES = frozenset(listed("about around approximately approx roughly nearly almost over some circa"))
_TOLERANCE = 0.1
"""Share by which a hedged number may miss: `about 2,300` for 2,348."""

_OPPOSITES = listed(
    "increase/decrease rise/fall rise/drop grow/shrink gain/lose win/lose more/less higher/lower high/low "
    "above/below before/after earlier/later early/late old/new older/younger larger/smaller large/small "
    "big/small longer/shorter maximum/minimum most/least best/worst better/worse first/last open/closed "
    "true/false right/wrong north/south east/west northern/southern eastern/western hot/cold warm/cold "
    "buy/sell import/export enter/exit arrive/depart accept/reject allow/forbid allowed/prohibited "
    "permit/prohibit required/optional mandatory/optional include/exclude enable/disable free/paid "
    "public/private male/female positive/negative safe/dangerous cheap/expensive success/failure "
    "pass/fail"
)
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")


class Surroundings(NamedTuple):
    """What the passages, taken together, give a claim to be compared with."""

    terms: Set[str]
    numbers: Mapping[str, float | None]
    """The numbers in them, by term."""
    units: Mapping[str, Set[str]]
    """For every number the units it stands beside; `""` where it stands bare."""
    asked: Set[str]
    """Terms of the question: what the asker said needs no proof."""


def conflict(claim: Statement, nearest: Sequence[Statement], around: Surroundings) -> str | None:
    """Why the claim cannot be right by these passages, or `None`.

    Args:
        claim: The claim.
        nearest: The sentences that share most with it; all must contradict it.
        around: All passages taken together.
    """
    everywhere = next(_conflicts_anywhere(claim, around), None)
    if everywhere is not None or not nearest:
        return everywhere
    reasons = [next(_conflicts_with(claim, sentence), None) for sentence in nearest]
    return None if None in reasons else reasons[0]


def _conflicts_anywhere(claim: Statement, around: Surroundings) -> Iterator[str]:
    hedged = _hedged(claim)
    for number in claim.numbers:
        said = claim.text[number.start : number.end]
        if not number.spelled and not _has_number(number, around, hedged):
            yield f"no passage has the number {said!r}"
        elif wrong := _wrong_unit(number.term, claim.units[number.term], around):
            yield wrong
    for name in claim.names:
        if name.term not in around.asked and not _resembles_any(name.term, around.terms):
            yield f"no passage has the name {claim.text[name.start : name.end]!r}"


def _hedged(claim: Statement) -> set[str]:
    hedged = set()
    for word, following in zip(claim.words, claim.words[1:], strict=False):
        if claim.text[word.start : word.end].lower() in _HEDGES:
            hedged.add(following.term)
    return hedged


def _has_number(number: Word, around: Surroundings, hedged: Set[str]) -> bool:
    if number.term in around.numbers or number.term in around.asked:
        return True
    value = number.value
    if value is None or number.term not in hedged:
        return False
    return any(other is not None and abs(other - value) <= _TOLERANCE * value for other in around.numbers.values())


def _wrong_unit(number: str, units: Set[str], around: Surroundings) -> str | None:
    if not units or number in around.asked:
        return None
    there = around.units.get(number)
    unit = "/".join(sorted(units))
    if there is not None:
        wrong = "" not in there and not units & there
        return f"the passages give {number[1:]} {'/'.join(sorted(there))}, not {unit}" if wrong else None
    others = sorted(other[1:] for other, beside in around.units.items() if units & beside)
    return f"the passages give {', '.join(others[:3])} {unit}, not {number[1:]}" if others else None


def _resembles_any(name: str, terms: Iterable[str]) -> bool:
    """Whether a name or a form of it (`Italian` for Italy) is among the terms."""
    return name in terms or any(term.startswith(name[:4]) for term in terms)


def _conflicts_with(claim: Statement, sentence: Statement) -> Iterator[str]:
    for term in sorted((claim.denied & sentence.affirmed) - sentence.denied):
        yield f"the claim denies {term!r}, the passage affirms it"
    for term in sorted((sentence.denied & claim.affirmed) - sentence.affirmed - claim.denied):
        yield f"the passage denies {term!r}, the claim affirms it"
    for term in sorted(claim.terms - sentence.terms):
        opposite = next(iter(_opposites(term) & (sentence.terms - claim.terms)), None)
        if opposite is not None:
            yield f"the claim says {term!r}, the passage {opposite!r}"
    yield from _another_subject(claim, sentence)


def _another_subject(claim: Statement, sentence: Statement) -> Iterator[str]:
    """`London is the capital of France` where the passage has all of it, but of Paris."""
    subject = claim.subject
    if subject is not None and len(claim.terms) > 1 and claim.terms - sentence.terms == {subject.term}:
        for other in sentence.content:
            if other.capital and other.kind == "word" and other.term not in claim.terms:
                yield f"the claim says it of {subject.term!r}, the passage of {other.term!r}"


def _opposites(term: str) -> Set[str]:
    return (
        _OPPOSITE_TERMS.get(term, set())
        | {term.removeprefix(p) for p in _PREFIXES if term.startswith(p)}
        | {prefix + term for prefix in _PREFIXES}
    )


def _table(pairs: Iterable[str], term: Callable[[str], str]) -> Mapping[str, set[str]]:
    table: dict[str, set[str]] = {}
    for pair in pairs:
        first, second = map(term, pair.split("/"))
        table.setdefault(first, set()).add(second)
        table.setdefault(second, set()).add(first)
    return table


_OPPOSITE_TERMS = _table(_OPPOSITES, term_of)
