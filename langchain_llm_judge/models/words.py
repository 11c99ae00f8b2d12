"""Words as the embedded engine compares them: stems, numbers with their unit, names, negation.

Two texts say the same word when its *term* is equal: lower case, accents off, common English endings
off; numbers by value, so `1,000`, `1000` and `one thousand` are one term. Scripts without spaces are
compared character by character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from langchain_llm_judge.models.lexicon import (
    FUNCTION_WORDS,
    IRREGULAR,
    MONTHS,
    ORDINALS,
    SCALES,
    SPELLED,
    SYMBOLS,
    TAILS,
)

Kind = Literal["word", "number", "function"]
"""`word`: carries content; `number`: compared by value; `function`: says little by itself (the, of, was)."""


class Word(NamedTuple):
    """One word of a text."""

    term: str
    """What is compared; a number's is `#` and its value."""
    kind: Kind
    capital: bool
    """Starts with a capital letter."""
    value: float | None
    """Of a number."""
    spelled: bool
    """A number written in letters (`twenty`), or an ordinal: often just a turn of phrase (`two of them`)."""
    start: int
    """Place of its first character in the text."""
    end: int

    @property
    def is_content(self) -> bool:
        return self.kind != "function"


_SHORT = {month[:3]: month for month in MONTHS} | {"sept": "september"}
_SAME = {**_SHORT, **IRREGULAR, "usa": "us", "pct": "percent", "percentage": "percent"}
_KEPT = frozenset(MONTHS) | set(SCALES)
_VOWELS = frozenset("aeiouy")

_SPACELESS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTER = rf"[^\W\d_{_SPACELESS}]"
_WORD = re.compile(
    rf"(?P<negated>\b[A-Za-z]+n['’]t\b)|(?P<dotted>\b(?:[A-Za-z]\.){{2,}})"
    rf"|(?P<word>{_LETTER}(?:[^\W_{_SPACELESS}]|[\u0300-\u036f])*)|(?P<sign>[{_SPACELESS}])|(?P<scale>°\s?[CF]\b)|(?P<symbol>[%$€£¥°])"
    r"|(?P<iso>\b\d{4}-\d\d-\d\d(?!\d))"
    rf"|(?P<number>(?P<digits>\d+(?:[.,]\d+)*)(?P<tail>(?:st|nd|rd|th|s|[kKmMbB]|mn|bn|tn)(?!{_LETTER}|\d))?)"
)


def words(text: str) -> list[Word]:
    """The words of a text in order, numbers read by value; in linear time."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        if match.lastgroup == "word":
            found.append(Word._make((*_reading(match.group()), *match.span())))
        else:
            found += _READERS[match.lastgroup or ""](match)
    return _joined_numbers(found)


class _Reading(NamedTuple):
    """What a word is wherever it stands: all but its place."""

    term: str
    kind: Kind
    capital: bool = False
    value: float | None = None
    spelled: bool = False

    def at(self, match: re.Match[str]) -> Word:
        return Word._make((*self, *match.span()))


@lru_cache(maxsize=65536)
def _reading(said: str) -> _Reading:
    lower, capital = said.lower(), said[0].isupper()
    value = SPELLED.get(lower, ORDINALS.get(lower))
    if lower == "one":
        return _Reading("one", "function", capital, 1.0, spelled=True)
    if value is not None:
        return _Reading(f"#{value}", "number", capital, float(value), spelled=True)
    says_little = (lower in FUNCTION_WORDS and said not in {"US", "May"}) or (len(lower) == 1 and lower.isascii())
    return _Reading(term_of(lower), "function" if says_little else "word", capital)


def _sign(match: re.Match[str]) -> list[Word]:
    return [_reading(match.group()).at(match)]


def _dotted(match: re.Match[str]) -> list[Word]:
    return [_reading(match.group().replace(".", "")).at(match)]


def _negated(match: re.Match[str]) -> list[Word]:
    return [_Reading("not", "function").at(match)]


def _symbol(match: re.Match[str]) -> list[Word]:
    return [_Reading(SYMBOLS[match.group()], "word").at(match)]


def _scale(match: re.Match[str]) -> list[Word]:
    scale = "celsius" if match.group().endswith("C") else "fahrenheit"
    return [_Reading(term_of("degree"), "word").at(match), _Reading(scale, "word").at(match)]


def _number(match: re.Match[str]) -> list[Word]:
    tail, before = match["tail"] or "", match.string[max(match.start() - 2, 0) : match.start()].strip()
    value = _value(match["digits"])
    # A lone `5m` may be metres and `5b` a house number; after a currency, or in capitals, they multiply.
    if value is not None and (tail in {"k", "K", "M", "B", "mn", "bn", "tn"} or (tail and before[-1:] in {*"$€£¥"})):
        value *= TAILS.get(tail.lower(), 1)
    term = f"#{match['digits']}" if value is None else f"#{value:.12g}"
    return [_Reading(term, "number", value=value, spelled=tail in {"st", "nd", "rd", "th"}).at(match)]


def _value(digits: str) -> float | None:
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        return float(digits.replace(",", ""))
    plain = digits.replace(",", ".")
    return float(plain) if plain.count(".") <= 1 else None


def _iso_date(match: re.Match[str]) -> list[Word]:
    year, month, day = map(int, match.group().split("-"))
    named = [_Reading(MONTHS[month - 1], "word", capital=True)] if 1 <= month <= 12 else []
    readings = [_Reading(f"#{day}", "number", value=float(day)), *named]
    return [reading.at(match) for reading in (*readings, _Reading(f"#{year}", "number", value=float(year)))]


_READERS: Mapping[str, Callable[[re.Match[str]], list[Word]]] = {
    "dotted": _dotted,
    "negated": _negated,
    "sign": _sign,
    "scale": _scale,
    "symbol": _symbol,
    "iso": _iso_date,
    "number": _number,
}


def _joined_numbers(parts: list[Word]) -> list[Word]:
    """Number words that stand together as one number: `twenty-five`, `2.1 million`, `two hundred thousand`."""
    joined: list[Word] = []
    for word in parts:
        one = _joined(joined[-1], word) if joined and joined[-1].value is not None else None
        if one is None:
            joined.append(word)
        else:
            joined[-1] = one
    return joined


def _joined(number: Word, following: Word) -> Word | None:
    if number.value is None or following.start - number.end > 1:
        return None
    value = None
    if following.term in SCALES:
        value = number.value * SCALES[following.term]
    elif number.spelled and following.spelled and following.value and number.value % 10 == 0 and number.value >= 20:
        value = number.value + following.value if following.value < 10 else None
    return (
        number._replace(term=f"#{value:.12g}", kind="number", end=following.end, value=value)
        if value is not None
        else None
    )


@lru_cache(maxsize=65536)
def term_of(lower: str) -> str:
    """The term of a word in lower case: accents and common English endings off."""
    plain = lower if lower.isascii() else _without_accents(lower)
    plain = _SAME.get(plain, plain)
    return plain if plain in _KEPT else _stem(_singular(plain))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and len(word) > 3 and word[-2] not in "sui" else word


def _stem(word: str) -> str:
    for ending in ("ingly", "edly", "ing", "ed", "ly"):
        stem = word[: -len(ending)]
        if word.endswith(ending) and len(stem) >= 3 and not word.endswith("eed") and not _VOWELS.isdisjoint(stem):
            doubled = stem[-1] == stem[-2] and stem[-1] not in "lsz"
            word = stem[:-1] if doubled else stem
            break
    word = f"{word[:-1]}i" if word.endswith("y") and len(word) > 3 else word
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _without_accents(lower: str) -> str:
    # Only the marks of Latin, Greek and Cyrillic: elsewhere they tell letters apart.
    bare = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", lower))
    return unicodedata.normalize("NFC", bare)
