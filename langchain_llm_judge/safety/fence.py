"""Fences round text that the data controls.

Everything a judge reads that its author did not write (question, answer, passages, tool results,
traces, references) stands between two marker lines. The markers carry a nonce that is a hash of the
text itself, so no text can hold its own marker, and equal prompts stay equal (LangChain's cache goes
on working). Look-alikes of the markers and of chat-template tokens lose their sharp form: the first bracket becomes
a typographic one, which reads the same and closes nothing. Doing so twice changes nothing more.
"""

from __future__ import annotations

import hashlib
import re

_MARKER_LOOKALIKE = re.compile(r"<<<(?=\s*/?\s*(?:end|begin|data)\b)", re.IGNORECASE)
_CHAT_TOKEN = re.compile(
    r"<(?=\|[\w ]{1,40}\|>|/?s>|\u007c)|\[(?=/?INST\]|/?SYS\])|<(?=</?SYS>>)|<(?=(?:start|end)_of_turn>)", re.IGNORECASE
)


def neutralize(text: str) -> str:
    """The text with look-alikes of fence markers and chat-template tokens made harmless. Idempotent."""
    text = _MARKER_LOOKALIKE.sub("‹‹‹", text)
    return _CHAT_TOKEN.sub(lambda match: "‹" if match.group() == "<" else "⁅", text)


def nonce_for(*texts: str) -> str:
    """Twelve hex digits that none of the texts contains, the same for the same texts."""
    digest = hashlib.sha256("\x00".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    while any(digest[:12] in text for text in texts):
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return digest[:12]


def fence(text: str, label: str, *, nonce: str | None = None) -> str:
    """`text` between two marker lines it cannot close.

    Args:
        text: Untrusted text; look-alikes of markers are neutralised, all else stays to the letter.
        label: What the text is, for instance `"answer"`; given by our code, never by the data.
        nonce: One for all fences of a prompt, from `nonce_for`; by itself when left out.

    Example:
        >>> print(fence("Paris", "answer", nonce="0a1b2c3d4e5f"))
        <<<data 0a1b2c3d4e5f answer>>>
        Paris
        <<<end 0a1b2c3d4e5f>>>
    """
    safe = neutralize(text)
    mark = nonce or nonce_for(safe)
    return f"<<<data {mark} {label}>>>\n{safe}\n<<<end {mark}>>>"
