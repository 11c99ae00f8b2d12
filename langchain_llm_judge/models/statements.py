"""A sentence taken apart: its content words, its quantities, its names, and what it denies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from langchain_llm_judge.models.lexicon import DENIALS, DETERMINERS, FUNCTION_WORDS, MONTHS, NEGATORS, UNITS
from langchain_llm_judge.models.words import Word, term_of, words

UNIT_NAMES: Mapping[str, str] = {term_of(unit): unit for unit in (*sorted(UNITS), *MONTHS)}
"""Term of a unit → the unit; a month counts as the unit of its days."""

_DENIAL_TERMS = NEGATORS | frozenset(map(term_of, DENIALS))


class Statement:
    """What one sentence says, as far as words tell."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: Sequence[Word] = words(text)
        self.content: Sequence[Word] = [word for word in self.words if word.kind != "function"]
        self.terms = frozenset(word.term for word in self.content)

    def said(self, term: str) -> str:
        """How it says a term, for instance `fell` for `fall`; the term itself where it does not."""
        return next((self.text[word.start : word.end] for word in self.words if word.term == term), term)

    @cached_property
    def all_terms(self) -> frozenset[str]:
        """Terms of its content and function words."""
        return frozenset(word.term for word in self.words)

    @cached_property
    def neighbours(self) -> frozenset[tuple[str, str]]:
        """Pairs of content words with no other content word between them."""
        return frozenset(pairwise(word.term for word in self.content))

    @property
    def numbers(self) -> list[Word]:
        """Its numbers, in order."""
        return [word for word in self.content if word.kind == "number"]

    @cached_property
    def units(self) -> Mapping[str, frozenset[str]]:
        """The units that stand beside each of its numbers: `20 days`, `$ 5`, `June 15`; empty for a bare number."""
        beside: dict[str, frozenset[str]] = {}
        for place, word in enumerate(self.content):
            if word.kind == "number":
                found = {near.term for near in self._beside(place) if near.term in UNIT_NAMES}
                beside[word.term] = beside.get(word.term, frozenset()) | found
        return beside

    def _beside(self, place: int) -> Iterator[Word]:
        """The word directly before a number (`$ 5`, `June 15`), and up to two behind it that nothing parts from it."""
        number = self.content[place]
        before = self.content[place - 1] if place else None
        if before is not None and number.start - before.end <= 1:
            yield before
        end = number.end
        for word in self.content[place + 1 : place + 3]:
            if any(mark in self.text[end : word.start] for mark in ",;:.()"):
                return
            yield word
            end = word.end

    @cached_property
    def denied(self) -> frozenset[str]:
        """Content words that stand right behind a negator (`not refundable`)."""
        return frozenset(self.content[index].term for index in self._denied_places)

    @property
    def may_deny(self) -> bool:
        """Whether it has a negator, or a word that can stand for one (`lack`, `only`)."""
        return not self.all_terms.isdisjoint(_DENIAL_TERMS)

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """Content words that occur somewhere without a negator."""
        denied = self._denied_places
        return frozenset(word.term for index, word in enumerate(self.content) if index not in denied)

    @cached_property
    def _denied_places(self) -> frozenset[int]:
        places: set[int] = set()
        seen = 0
        for place, word in enumerate(self.words):
            seen += word.is_content
            if word.term in NEGATORS and not word.is_content and self._negates(place):
                places.update(self._reached(word, seen))
        return frozenset(places)

    def _negates(self, place: int) -> bool:
        """Whether the negator denies something: not in `not only`, `not sure`, nor as an answer (`No, it is …`)."""
        word = self.words[place]
        behind = [self.text[w.start : w.end].lower() for w in self.words[place + 1 : place + 2]]
        answers = place == 0 and word.term == "no" and (self._pauses(word) or not FUNCTION_WORDS.isdisjoint(behind))
        return not answers and behind not in (["only"], ["just"], ["sure"])

    def _pauses(self, word: Word) -> bool:
        return self.text[word.end : word.end + 1] in {",", ".", "!", ";"}

    def _reached(self, negator: Word, first: int) -> Iterator[int]:
        """The place in `content` right behind a negator, unless a comma, stop or number stands there."""
        if first < len(self.content):
            word = self.content[first]
            between = self.text[negator.end : word.start]
            if word.kind != "number" and not any(mark in between for mark in ",;:.!?"):
                yield first

    @cached_property
    def names(self) -> list[Word]:
        """Words with a capital letter where a sentence does not ask for one; none in a title or heading."""
        inner = [word for word in self.content if word.kind == "word" and word.start > 0]
        capital = [word for word in inner if word.capital]
        if len(capital) == len(inner) > 3:
            return []
        heading = self.text.find(":")
        return [word for word in capital if word.start > heading and self._flows_into(word)]

    def _flows_into(self, word: Word) -> bool:
        before = self.text[max(word.start - 3, 0) : word.start].rstrip()[-1:]
        return before.isalnum() or before in {",", ";", "&", "("}

    @cached_property
    def subject(self) -> Word | None:
        """A capitalised first content word that reads like a name: no command (`Enter a …`), no `Generally, …`."""
        first = self.content[0] if self.content else None
        if first is None or not first.capital or first.kind != "word" or self._pauses(first):
            return None
        behind = next((word for word in self.words if word.start >= first.end), None)
        determined = behind is not None and self.text[behind.start : behind.end].lower() in DETERMINERS
        return None if determined else first
