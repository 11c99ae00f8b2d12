"""Looking for instructions planted in text that the data controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from langchain_llm_judge.results import Result

Severity = Literal["low", "medium", "high"]


class InjectionFinding(Result):
    """One place in a text that reads like an attack."""

    rule: str
    severity: Severity
    span: tuple[int, int]
    """Character offsets in the text, first and one past the last."""
    excerpt: str
    """The text there, at most 80 characters."""
    where: str | None = None
    """Which text of an evaluation it stands in, such as `contexts[2]`; `None` for a text scanned by itself."""


def scan_text(text: str) -> list[InjectionFinding]:
    """What in this text reads like an attack, in order."""
    return []


def scan_parts(parts: Mapping[str, str | None]) -> list[InjectionFinding]:
    """What in several texts reads like an attack, each finding with the name of its text."""
    return [
        finding.model_copy(update={"where": name})
        for name, text in parts.items()
        if text
        for finding in scan_text(text)
    ]
