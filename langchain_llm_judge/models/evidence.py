"""Is a claim said in the passages? Settled by the words, without a model.

A claim's *cover* is the mean of three shares: of its content words that occur in the passages, of its
neighbouring pairs of content words that occur there as neighbours, and of its content words that one
passage says within two sentences. A *conflict* (a number, date, unit or name that the passages do not
have, a negation or an opposite on one side only) brings the score down to 0, however much is covered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from langchain_llm_judge.models.conflicts import Surroundings, conflict
from langchain_llm_judge.models.sentences import sentences
from langchain_llm_judge.models.statements import Statement
from langchain_llm_judge.results import Result

SAME_SUBJECT = 0.6
"""Share of a claim's content words that a sentence must have before it can contradict it."""
TOLD = 0.8
"""Share of a question's content words that one sentence must have before a bare no can contradict it."""
SUPPORTED_FROM = 0.6
"""Score from which a claim counts as supported."""


class Support(Result):
    """The engine's verdict on one claim."""

    claim: str
    supported: bool
    passages: list[int]
    """Indices from 0 of the passages that say it, best first; empty when unsupported."""
    quote: str
    """The place that says it, a slice of the first of `passages`; empty when unsupported."""
    reason: str
    score: float
    """From 0 (not said, or contradicted) to 1 (said in full); supported from 0.6."""


class Window(NamedTuple):
    """One sentence of a passage, or two in a row."""

    passage: int
    text: str
    sentences: tuple[Statement, ...]
    terms: frozenset[str]


@lru_cache(maxsize=128)
def statements(passage: str) -> tuple[Statement, ...]:
    """The sentences of a passage, taken apart; the last passages are kept, as judges ask for them repeatedly."""
    return tuple(map(Statement, sentences(passage)))


class Evidence:
    """Passages taken apart once, to look up any number of claims in them."""

    def __init__(self, passages: Sequence[str], question: str = "") -> None:
        self._passages = passages
        self._statements = [statement for passage in passages for statement in statements(passage)]
        self._question = Statement(question)

    @cached_property
    def _around(self) -> Surroundings:
        numbers: dict[str, float | None] = {}
        units: dict[str, set[str]] = {}
        for statement in self._statements:
            numbers |= {word.term: word.value for word in statement.numbers}
            for number, beside in statement.units.items():
                units.setdefault(number, set()).update(beside or {""})
        terms = frozenset().union(*(statement.terms for statement in self._statements))
        return Surroundings(terms, numbers, units, self._question.terms)

    @cached_property
    def _neighbours(self) -> frozenset[tuple[str, str]]:
        return frozenset().union(*(statement.neighbours for statement in self._statements))

    @cached_property
    def _windows(self) -> list[Window]:
        return [window for index in range(len(self._passages)) for window in self._windows_of(index)]

    def _windows_of(self, passage: int) -> Iterator[Window]:
        text = self._passages[passage]
        earlier, start, end = None, 0, 0
        for statement in statements(text):
            begin, start = start, text.index(statement.text, end)
            end = start + len(statement.text)
            yield Window(passage, statement.text, (statement,), statement.terms)
            if earlier is not None:
                yield Window(passage, text[begin:end], (earlier, statement), earlier.terms | statement.terms)
            earlier = statement

    def support(self, claim: str) -> Support:
        """Whether the passages say the claim, where, and how fully."""
        said = Statement(claim)
        best = self._best_windows(said)
        against = conflict(said, self._nearest(said, best), self._around)
        score = 0.0 if against else self._cover(said, best)
        return self._verdict(said, best, score, against)

    def settle(self, yes: bool, question: str) -> Support | None:
        """What the passages say to a bare yes or no, or `None` where words cannot tell.

        A yes is supported as far as the passages say what the question asks. A no is supported where they
        contradict it, and unsupported where they say it.
        """
        asked = self.support(question.strip().rstrip("?"))
        claim = f"{'Yes' if yes else 'No'}: {question.strip()}"
        if yes:
            return asked.model_copy(update={"claim": claim})
        statement = Statement(question)
        best = self._best_windows(statement)
        if asked.score == 0.0 and self._nearest(statement, best):
            return _supported(claim, best, asked.reason)
        told = (
            bool(best)
            and len(best[0].sentences) == 1
            and len(statement.terms & best[0].terms) >= TOLD * len(statement.terms)
        )
        return _unsupported(claim, "a passage says what the question asks, the answer denies it") if told else None

    def _best_windows(self, claim: Statement) -> list[Window]:
        """The windows that share most words with the claim, single sentences first."""
        shared = [len(claim.terms & window.terms) for window in self._windows]
        most = max(shared, default=0)
        best = [window for window, count in zip(self._windows, shared, strict=True) if count == most > 0]
        return sorted(best, key=lambda window: len(window.sentences))

    def _nearest(self, claim: Statement, best: Sequence[Window]) -> list[Statement]:
        return [s for window in best for s in window.sentences if _speak_of_the_same(claim, s)]

    def _cover(self, claim: Statement, best: Sequence[Window]) -> float:
        if not best:
            return 0.0
        found = len(claim.terms & self._around.terms) / len(claim.terms)
        pairs = len(claim.neighbours & self._neighbours) / len(claim.neighbours) if claim.neighbours else found
        together = len(claim.terms & best[0].terms) / len(claim.terms)
        return (found + pairs + together) / 3

    def _verdict(self, claim: Statement, best: Sequence[Window], score: float, against: str | None) -> Support:
        missing = [claim.text[w.start : w.end] for w in claim.content if w.term not in self._around.terms]
        found = len(claim.terms & self._around.terms)
        counted = f"{found} of {len(claim.terms)} content words are in the passages"
        if score < SUPPORTED_FROM:
            lacking = (
                f"{counted}; missing: {', '.join(missing[:5])}" if missing else f"{counted}, but not said together"
            )
            return _unsupported(claim.text, against or lacking, score)
        return _supported(claim.text, best, counted, score)


def _supported(claim: str, best: Sequence[Window], reason: str, score: float = 1.0) -> Support:
    passages = list(dict.fromkeys(window.passage for window in best))
    return Support(
        claim=claim, supported=True, passages=passages, quote=best[0].text, reason=reason, score=round(score, 4)
    )


def _unsupported(claim: str, reason: str, score: float = 0.0) -> Support:
    return Support(claim=claim, supported=False, passages=[], quote="", reason=reason, score=round(score, 4))


def _speak_of_the_same(claim: Statement, sentence: Statement) -> bool:
    return len(claim.terms & sentence.terms) >= SAME_SUBJECT * len(claim.terms)
