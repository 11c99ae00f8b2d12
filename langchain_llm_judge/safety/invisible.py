"""What a text hides from people: tag characters, long runs of invisible ones, direction overrides.

Single invisible characters are everyday typography (joiners in emoji and Persian, soft hyphens, byte
order marks), so only what no typography asks for is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from langchain_llm_judge.safety.wording import Severity

_TAGS = "\U000e0000-\U000e007f"
_ZERO_WIDTH = "\u200b-\u200f\u2060-\u2064\ufeff\u180e"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"


@dataclass(frozen=True)
class HiddenRule:
    """One way to hide text from people."""

    name: str
    severity: Severity
    reason: str
    example: str
    pattern: str
    """Regular expression over the text as it is."""
    honest: str = r"(?!)"
    """What looks like it and is innocent."""

    def find(self, text: str) -> Iterator[re.Match[str]]:
        """The places that hide something."""
        for match in re.finditer(self.pattern, text):
            if not re.fullmatch(self.honest, match.group()):
                yield match


HIDDEN_RULES: tuple[HiddenRule, ...] = (
    HiddenRule(
        "tag_characters",
        "high",
        "invisible letters that models read and people do not see",
        "Hi\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065",
        f"\U0001f3f4?[{_TAGS}]+",
        # The flag of a region, such as Scotland's, is spelled in tags.
        "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f",
    ),
    HiddenRule(
        "variation_selectors",
        "high",
        "bytes smuggled in variation selectors, of which one letter takes at most one",
        "a\ufe00\ufe01\ufe02\ufe03",
        f"[{_SELECTORS}]{{3,}}",
    ),
    HiddenRule(
        "invisible_run",
        "medium",
        "a row of zero-width characters, long enough to carry a message",
        "a" + "\u200b\u200c" * 8,
        f"[{_ZERO_WIDTH}]{{8,}}",
    ),
    HiddenRule(
        "direction_override",
        "medium",
        "a direction override, which shows letters in another order than they are read",
        "\u202esnoitcurtsni\u202c",
        "[\u202d\u202e][^\u202c\n]{0,200}\u202c?",
    ),
)
"""All rules on what is not seen."""


def hidden_places(text: str) -> Iterator[tuple[HiddenRule, re.Match[str]]]:
    """Every place that hides something, with its rule."""
    if not text.isascii() and _ANY.search(text):
        for rule in HIDDEN_RULES:
            for match in rule.find(text):
                yield rule, match


_ANY = re.compile(f"[{_ZERO_WIDTH}{_SELECTORS}{_TAGS}\u202d\u202e]")
