"""How a rule of the scan is written down: what it looks for, why, and an example.

Patterns run over folded text (lower case, look-alike letters folded, invisible characters gone), so they
are written in lower case. Three habits keep a scan fast and linear: every repetition is bounded, a
pattern starts with plain letters (no word boundary, which also finds text glued to the word before it),
and it is tried only on texts that hold the words it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from langchain_llm_judge.safety.lookalikes import fold

Severity = Literal["low", "medium", "high"]
"""`high`: made to take over a reader; `medium`: rarely innocent; `low`: often innocent, worth a look."""


class Scanned:
    """A folded text under scan, which remembers what words it holds."""

    def __init__(self, folded: str) -> None:
        self.folded = folded
        self._known: dict[str, bool] = {}

    def holds(self, entry: str) -> bool:
        """Whether it holds one of the alternatives of an entry of `Wording.needs`."""
        known = self._known.get(entry)
        if known is None:
            known = self._known[entry] = any(map(self.folded.__contains__, _alternatives(entry)))
        return known


@cache
def _alternatives(entry: str) -> list[str]:
    return as_folded(entry).split("|")


@dataclass(frozen=True)
class Wording:
    """One way to say what a rule looks for."""

    pattern: str
    """Regular expression over folded text."""
    needs: tuple[str, ...] = ()
    """Alternatives, parted by `|`; of each entry the text must hold one before the pattern is tried."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern, its letters folded like the text."""
        return re.compile(as_folded(self.pattern), re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    """One kind of attack and the wordings that give it away."""

    name: str
    severity: Severity
    reason: str
    """What such a text does; completes "this text …"."""
    example: str
    """A text that the rule finds."""
    wordings: tuple[Wording, ...]

    def find(self, scanned: Scanned) -> Iterator[re.Match[str]]:
        """Its places in a text."""
        for wording in self.wordings:
            if all(map(scanned.holds, wording.needs)):
                yield from wording.regex.finditer(scanned.folded)


def as_folded(pattern: str) -> str:
    """A pattern whose letters are folded like the text it runs over; its syntax is ASCII and stays."""
    return "".join(c if c.isascii() else fold(c).text for c in pattern)


IGNORE = (
    r"(?:ignor(?:e|ing|ed)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|neglect|discard|overlook|skip"
    r"|pay no attention to"
    r"|do not (?:follow|obey|adhere to|comply with|consider|use)|don['’]?t (?:follow|obey|adhere to"
    r"|comply with|consider|use)"
    r"|stop following)\b"
)
IGNORE_WORDS = (
    "ignor|disregard|forget|overrid|bypass|neglect|discard|overlook|skip|attention to|do not |don't |don’t |dont "
    "|stop following"
)
WORD = r"(?:[\w'’-]{1,30}[\s,/]{1,3})"
"""One word and the gap behind it."""
ORDERS = (
    r"(?:\w{0,4}structi?ons?|directi(?:ve|on)s?|prompts?|commands?|rules|guidelines?|orders|constraints|restrictions"
    r"|safeguards|guardrails|guidance|programming|training|requests|tasks?)\b"
)
ORDER_WORDS = (
    "struct|directi|prompt|command|rules|guideline|guidance|orders|constraint|restriction|safeguard|guardrail"
    "|programming|training"
    "|requests|task"
)
AI = (
    r"(?:ai|a\.i\.|llm|large language model|language model|chatbot|chatgpt|claude|gemini|copilot|gpt-?\d?\w{0,2}"
    r"|(?:ai|llm|automated|virtual) (?:\w{2,12} )?(?:assistant|agent|judge|grader|evaluator|reviewer|model|systems?"
    r"|software|tools?|screening systems?|analysis software|screening|analysis|crawler|bot))s?"
)
AI_WORDS = "ai|a.i.|llm|language model|chatbot|chatgpt|claude|gemini|copilot|gpt|automated|virtual"
JUDGED = (
    r"(?:answer|response|output|submission|essay|solution|summary|candidate|claim|trace|run|text|passage|work|resume"
    r"|paper|statement|assistant|agent|reply|completion)s?\b"
)
