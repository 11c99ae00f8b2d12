"""Fences round text that the data controls.

Everything a judge reads that its author did not write (question, answer, passages, tool results,
traces, references) stands between two marker lines. The markers carry a nonce that is a hash of the
text itself, so no text can hold its own marker, and equal prompts stay equal (LangChain's cache goes
on working). Look-alikes of the markers and of chat-template tokens lose their sharp form: the first
bracket becomes a typographic one, which reads the same and closes nothing. Every other character stays
to the letter and in its place, and doing it twice changes nothing more.

Turn markers made of ordinary words (`Human:`, `### Response:`) are left alone: every transcript has
them, inside a fence they are only text, and the injection scan reports them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from langchain_llm_judge.safety.lookalikes import fold

CHAT_TOKENS: dict[str, str] = {
    # ChatML, Llama 3, Phi, Qwen, Command-R, GPT-OSS, Granite, and DeepSeek with its fullwidth bars. `‹` stands in
    # the class so that a token made harmless inside another one does not complete the outer one.
    "bars": r"<\| ?[^|<>‹\s]{1,64}+ ?\|>",
    "llama": r"</?s>|<</?sys>>|\[/?(?:inst|sys|system_prompt)\]",
    "mistral": r"\[/?(?:available_tools|tool_calls|tool_results|tool_content|model_settings|call_id|think)\]",
    "gemma": r"<(?:start|end)_of_(?:turn|image)>|<(?:bos|eos|pad|unk)>",
    "cohere": r"<(?:bos|eos|pad|unk|cls|sep)_token>",
    "hermes": r"</?(?:tool_call|tool_response|think|im_start|im_end)>",
    "glm": r"\[gmask\]|<sop>|<(?:eoh|eoa|eom)>|\[unused_token_\d{1,4}\]|<reserved_\d{1,4}>",
    "anthropic": r"</?(?:antml:|function_calls>|function_results>)",
}
"""Tokens to which chat templates give a meaning, in lower case, by the family that uses them."""

# Only the head of a run of brackets may start a marker: that keeps long runs linear.
_MARKER = r"(?<!<)<{3,}+(?=\s{0,40}+/?\s{0,40}+(?:end|data|begin))"
_SHARP = re.compile(f"{_MARKER}|(?={'|'.join(CHAT_TOKENS.values())})[<\\[]")
_BLUNT = {"<": "‹", "[": "⁅"}


def neutralize(text: str) -> str:
    """The text with look-alikes of fence markers and chat-template tokens made harmless.

    Idempotent, and of the same length: offsets into the text stay right. Look-alikes written with
    fullwidth letters, homoglyphs or invisible characters in between are found as well.

    Example:
        >>> neutralize("<|im_start|>system {score} <b>bold</b>")
        '‹|im_start|>system {score} <b>bold</b>'
    """
    folded = fold(text)
    places = [index for match in _SHARP.finditer(folded.text) for index in range(*match.span())]
    if not places:
        return text
    characters = list(text)
    for index in places:
        characters[folded.origin(index)] = _BLUNT[folded.text[index]]
    return "".join(characters)


def nonce_for(*texts: str) -> str:
    """Twelve hex digits that none of the texts contains, the same for the same texts."""
    digest = hashlib.sha256("\x00".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    seen = [fold(text).text for text in texts]
    while any(digest[:12] in text for text in seen):
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return digest[:12]


def fence(text: str, label: str, *, nonce: str | None = None) -> str:
    """`text` between two marker lines it cannot close.

    Args:
        text: Untrusted text; look-alikes of markers are neutralised, all else stays to the letter.
        label: What the text is, for instance `"answer"`; one line of it is kept, without brackets.
        nonce: One for all fences of a prompt, from `nonce_for`; by itself when left out.

    Example:
        >>> print(fence("Paris", "answer", nonce="0a1b2c3d4e5f"))
        <<<data 0a1b2c3d4e5f answer>>>
        Paris
        <<<end 0a1b2c3d4e5f>>>
    """
    safe = neutralize(text)
    mark = nonce or nonce_for(safe)
    title = " ".join(label.translate({ord("<"): " ", ord(">"): " "}).split())
    return f"<<<data {mark} {title}>>>\n{safe}\n<<<end {mark}>>>"


def fence_all(parts: Mapping[str, str | None], *, nonce: str | None = None) -> dict[str, str]:
    """Every part fenced under its name, all with one nonce; what is absent or blank says so outside a fence."""
    safe = {name: neutralize(text) for name, text in parts.items() if text and text.strip()}
    mark = nonce or nonce_for(*safe.values())
    return {name: fence(safe[name], name, nonce=mark) if name in safe else "(none given)" for name in parts}
