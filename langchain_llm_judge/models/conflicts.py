"""Where a claim and the passages cannot both be right: numbers, units, dates, names, negation, opposites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from langchain_llm_judge.models.lexicon import FALLING, HEDGES, OPPOSITES, RISING
from langchain_llm_judge.models.statements import UNIT_NAMES, Statement
from langchain_llm_judge.models.words import Word, term_of

_TOLERANCE = 0.1
"""Share by which a hedged number may miss: `about 2,300` for 2,348."""

_PREFIXABLE = 4
"""Letters a word has at least before a prefix makes its opposite (`legal`, `illegal`; not `it`, `unit`)."""
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
    reasons = [next(_conflicts_with(claim, sentence, around), None) for sentence in nearest]
    return None if None in reasons else reasons[0]


def _conflicts_anywhere(claim: Statement, around: Surroundings) -> Iterator[str]:
    hedged = _hedged(claim)
    for number in claim.numbers:
        said = claim.text[number.start : number.end]
        if not number.spelled and not _has_number(number, around, hedged):
            yield f"no passage has the number {said!r}"
        elif number.term not in hedged and (wrong := _wrong_unit(number.term, claim.units[number.term], around)):
            yield wrong
    for name in claim.names:
        if name.term not in around.asked and not _resembles_any(name.term, around.terms):
            yield f"no passage has the name {claim.text[name.start : name.end]!r}"


def _hedged(claim: Statement) -> set[str]:
    hedged = set()
    for word, following in zip(claim.words, claim.words[1:], strict=False):
        if claim.text[word.start : word.end].lower() in HEDGES:
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
    if there is not None:
        wrong = "" not in there and not units & there
        return f"the passages give {number[1:]} {_named(there)}, not {_named(units)}" if wrong else None
    others = sorted(other[1:] for other, beside in around.units.items() if units & beside)
    return f"the passages give {', '.join(others[:3])} {_named(units)}, not {number[1:]}" if others else None


def _named(units: Iterable[str]) -> str:
    return "/".join(sorted(UNIT_NAMES[unit] for unit in units))


def _resembles_any(name: str, terms: Iterable[str]) -> bool:
    """Whether a name or a form of it (`Italian` for Italy) is among the terms."""
    return name in terms or any(term.startswith(name[:4]) for term in terms)


def _conflicts_with(claim: Statement, sentence: Statement, around: Surroundings) -> Iterator[str]:
    yield from _other_amounts(claim, sentence, around)
    for term in sorted((claim.denied & sentence.affirmed) - sentence.denied):
        yield f"the claim denies {claim.said(term)!r}, the passage affirms it"
    for term in sorted((sentence.denied & claim.affirmed) - sentence.affirmed - claim.denied):
        yield f"the passage denies {sentence.said(term)!r}, the claim affirms it"
    if claim.denied and not sentence.may_deny:
        yield f"the claim denies {claim.said(min(claim.denied))!r}, the passage denies nothing"
    here, there = claim.all_terms, sentence.all_terms
    for term in sorted(here - there):
        opposite = min(_opposites(term) & (there - here), default=None)
        if opposite is not None:
            yield f"the claim says {claim.said(term)!r}, the passage {sentence.said(opposite)!r}"
    yield from _another_subject(claim, sentence)


def _other_amounts(claim: Statement, sentence: Statement, around: Surroundings) -> Iterator[str]:
    """`Item 3 costs 3 euros` where the passage has a 3, but gives item 3 another number of euros."""
    for number, units in claim.units.items():
        if number not in around.asked and not units & around.units.get(number, frozenset()):
            others = sorted(other[1:] for other, beside in sentence.units.items() if units & beside)
            if others and number not in _hedged(claim):
                yield f"the passage gives {', '.join(others[:3])} {_named(units)}, not {number[1:]}"


def _another_subject(claim: Statement, sentence: Statement) -> Iterator[str]:
    """`London is the capital of France` where the passage has all of it, but of Paris."""
    subject = claim.subject
    if subject is None or len(claim.content) < 2:
        return
    others = [
        word for word in sentence.content if word.capital and word.kind == "word" and word.term not in claim.terms
    ]
    if claim.terms - sentence.terms != {subject.term}:
        verb = claim.content[1]
        elsewhere = verb.capital or (subject.term, verb.term) in sentence.neighbours
        others = [other for other in others if not elsewhere and (other.term, verb.term) in sentence.neighbours]
    if others:
        told, instead = claim.said(subject.term), sentence.said(others[0].term)
        yield f"the claim says it of {told!r}, the passage of {instead!r}"


def _opposites(term: str) -> Set[str]:
    listed: Set[str] = _OPPOSITE_TERMS.get(term, set())
    if len(term) < _PREFIXABLE:
        return listed
    bare = {term.removeprefix(prefix) for prefix in _PREFIXES if term.startswith(prefix)}
    return listed | {word for word in bare if len(word) >= _PREFIXABLE} | {prefix + term for prefix in _PREFIXES}


def _table() -> Mapping[str, set[str]]:
    table: dict[str, set[str]] = {}
    pairs = [*OPPOSITES, *((up, down) for up in RISING for down in FALLING)]
    for first, second in ((term_of(one), term_of(other)) for one, other in pairs):
        table.setdefault(first, set()).add(second)
        table.setdefault(second, set()).add(first)
    return table


_OPPOSITE_TERMS = _table()
