"""Text as a reader sees it: look-alike characters folded, invisible ones gone, offsets kept.

Whoever wants to slip a marker or an instruction past a pattern writes it in fullwidth letters, in
Cyrillic, in mathematical bold, or with invisible characters in between. Patterns therefore run over
the folded text, and what they find is reported at its place in the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that take no room: controls, joiners, direction marks, fillers, variation selectors, tags."""

_HOMOGLYPHS = dict(
    zip(
        "аеорсухіјѕԁһӏԛԝвкмнтгАВЕКМНОРСТУХІЈЅԚԜαβεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧɑɡıⅼ∣❘ǀ｜",
        "aeopcyxijsdhlqwbkmhtrABEKMHOPCTYXIJSQWaβeiκvoptuxABEZHIKMNOPTYXagil||||",
        strict=True,
    )
)
"""Cyrillic and Greek letters (and bars) that are drawn like a Latin one, with that one."""

_ANGLES = "＜﹤ᐸ˂❮❰〈⟨《⟪«≪⋘"
"""Opening angle brackets of other scripts. Not `‹`: that is the harmless form `fence.neutralize` gives."""

_COMPATIBILITY_BLOCKS: Sequence[range] = (
    range(0x2000, 0x2190),
    range(0x2460, 0x2500),
    range(0xFF00, 0xFFEF),
    range(0x1D400, 0x1D800),
    range(0x1F110, 0x1F18A),
)
"""Where Unicode keeps letters in another dress: superscripts, letter-like, circled, fullwidth, mathematical."""


class Folded(NamedTuple):
    """A text as it looks, and where each of its characters comes from."""

    text: str
    removed_at: Sequence[int]
    """For every invisible character left out, in order, the index in `text` of the character behind it."""

    def origin(self, index: int) -> int:
        """Index in the original text of the character at `index` of the folded one."""
        return index + bisect_right(self.removed_at, index)


def fold(text: str) -> Folded:
    """The text in lower case with look-alikes folded and invisible characters left out; in linear time."""
    same_length = text.lower() if text.isascii() else text.translate(_folding())
    gaps = [match.start() for match in INVISIBLE.finditer(same_length)]
    if not gaps:
        return Folded(same_length, ())
    return Folded(INVISIBLE.sub("", same_length), [gap - earlier for earlier, gap in enumerate(gaps)])


@cache
def _folding() -> dict[int, str]:
    dressed = {code: unicodedata.normalize("NFKC", chr(code)) for block in _COMPATIBILITY_BLOCKS for code in block}
    table = {ord(glyph): latin for glyph, latin in _HOMOGLYPHS.items()}
    table |= {ord(angle): "<" for angle in _ANGLES}
    table |= {code: plain for code, plain in dressed.items() if len(plain) == 1 and code not in table}
    cased: Iterable[int] = (*range(0x500), *range(0x10A0, 0x1100), *range(0x1E00, 0x2000), *table)
    return {code: _lower(table.get(code, chr(code))) for code in cased}


def _lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character
