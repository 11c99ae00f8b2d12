"""A sentence taken apart: its content words, its quantities, its names, and what it denies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from langchain_llm_judge.models.words import FUNCTION_WORDS, MONTHS, NEGATORS, Word, listed, term_of, words

UNITS = frozenset(
    term_of(unit)
    for unit in listed(
        "minute hour day week month quarter year decade century percent degree celsius fahrenheit kelvin mm "
        "cm meter metre km kilometer kilometre mile foot feet ft inch inches yard acre hectare mg gram kg "
        "kilogram ton tonne lb lbs pound ounce oz ml liter litre gallon barrel dollar euro yen cent rupee "
        "franc usd eur gbp kb mb gb tb byte bit hz khz mhz ghz watt kw mw gw kwh volt amp mph kmh calorie "
        "kcal joule"
    )
) | set(MONTHS)
"""What a number can be a number of; a month counts as the unit of its days."""

_DETERMINERS = frozenset(listed("a an the your my our his her its their this that these those all any each some to"))


class Statement:
    """What one sentence says, as far as words tell."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: Sequence[Word] = words(text)
        self.content: Sequence[Word] = [word for word in self.words if word.is_content]
        self.terms = frozenset(word.term for word in self.content)

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
        for index, word in enumerate(self.content):
            if word.kind == "number":
                near = self.content[max(index - 1, 0) : index + 3]
                beside[word.term] = beside.get(word.term, frozenset()) | UNITS.intersection(n.term for n in near)
        return beside

    @cached_property
    def denied(self) -> frozenset[str]:
        """Content words that stand right behind a negator (`not refundable`)."""
        return frozenset(self.content[index].term for index in self._denied_places)

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
        return not answers and behind not in (["only"], ["sure"])

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
        if len(capital) * 2 > len(inner) and len(inner) > 3:
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
        determined = behind is not None and self.text[behind.start : behind.end].lower() in _DETERMINERS
        return None if determined else first
