"""Text from runs and judges, made fit for a line on a screen."""

from __future__ import annotations

import re

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that steer terminals, turn the reading direction, or exist in no encoding."""


def visible(text: str) -> str:
    r"""The text with characters that steer a terminal written as escapes; line feeds and tabs stay.

    The escapes are those of JSON, so a JSON document stays the same document.

    Example:
        >>> visible("\x1b[2Jgone")
        '\\u001b[2Jgone'
    """
    return _STEERING.sub(lambda match: f"\\u{ord(match.group()):04x}", text.replace("\r\n", "\n"))


def cut(text: str, limit: int) -> str:
    """The text in about `limit` characters: what is too long loses its middle and says how much.

    Example:
        >>> cut("a" * 50 + "z" * 50, 20)
        'aaaaaaaaaa [80 characters] zzzzzzzzzz'
    """
    if len(text) <= limit + len(" [99 characters] "):
        return text
    kept = limit // 2
    return f"{text[:kept]} [{len(text) - 2 * kept:,} characters] {text[-kept:]}"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    Example:
        >>> counted(1, "step"), counted(2, "step")
        ('1 step', '2 steps')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
