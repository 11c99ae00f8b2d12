"""From a judge's message to the object it was asked for.

Strict first; only what fails the strict parse is repaired, and a repair may add or remove
punctuation but never a word or a number. What counts as the judge's verdict:

- The arguments of the tool call, where it made one; otherwise its text.
- Objects at the top level only, also the items of a top-level list. Thinking blocks do not count.
- Only objects with at least one field of the schema; others are prose.
- An object that stands in the judged material word for word is a quotation, not a verdict.
- Identical objects are one. Two different ones are ambiguous, and nothing chooses between them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import Any, NamedTuple, TypeVar

import json_repair
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel, ValidationError

from langchain_llm_judge.errors import shown
from langchain_llm_judge.models.replies import ReplyFault, fault_of

S = TypeVar("S", bound=BaseModel)

_MARK = re.compile(r"[{\[]|<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THINKING_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\]]', re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_WORDS = re.compile(r"[^\s{}\[\],:\"'`\\]+")
_LITERALS = {"none": "null"}
_DECLINES = re.compile(
    r"\W*(?:(?:i['’]?m|i am) (?:very |truly )?sorry|sorry|i apologi[sz]e|i (?:can(?:['’]t|not)|won['’]?t)|"
    r"i(?:['’]m| am) (?:unable|not able)|as an ai\b)",
    re.IGNORECASE,
)
_DECODER = json.JSONDecoder()
_MENDS_TRIED = 20


class Candidate(NamedTuple):
    """An object that may be the verdict, with the text it was read from."""

    value: dict[str, Any]
    text: str


def read_reply(message: BaseMessage, schema: type[S], material: str = "") -> S:
    """The one verdict in a judge's message.

    Args:
        message: As the chat model gave it.
        schema: What was asked for.
        material: The text that was judged; objects that stand in it are quotations.

    Raises:
        ReplyFault: The message holds no such verdict, or more than one.
    """
    try:
        value = _verdict(_candidates(message), list(_field_names(schema)), material)
    except ReplyFault as fault:
        raise _by_the_providers_word(message, fault) from None
    _demand_finite(value)
    try:
        return schema.model_validate(value, strict=True)
    except ValidationError as error:
        raise fault_of(error) from None


def raw_text(message: BaseMessage) -> str:
    """What the judge said: its text, and the arguments of its tool calls as JSON."""
    if not isinstance(message, AIMessage):
        return str(message.text)
    calls = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
    calls += [call.get("args") or "" for call in message.invalid_tool_calls]
    refusal = message.additional_kwargs.get("refusal")
    return "\n".join(part for part in (str(message.text), refusal or "", *calls) if part)


def _field_names(schema: type[BaseModel]) -> Iterator[str]:
    for name, field in schema.model_fields.items():
        yield name
        if field.alias:
            yield field.alias


def _candidates(message: BaseMessage) -> list[Candidate]:
    if isinstance(message, AIMessage):
        if message.tool_calls:
            return [Candidate(call["args"], json.dumps(call["args"])) for call in message.tool_calls]
        broken = [call.get("args") or "" for call in message.invalid_tool_calls]
        if broken:
            return [candidate for text in broken for candidate in objects_in(text)]
    return objects_in(str(message.text))


def _verdict(candidates: Iterable[Candidate], names: list[str], material: str) -> dict[str, Any]:
    verdicts = [candidate for candidate in candidates if candidate.value.keys() & set(names)]
    own = [candidate for candidate in verdicts if not _quoted(candidate, material)]
    if not own:
        if verdicts:
            raise ReplyFault("the only object in the reply stands in the judged text; give your own verdict")
        raise ReplyFault(f"no JSON object with the fields {', '.join(names)} found")
    first = own[0].value
    if any(not _same(other.value, first) for other in own[1:]):
        raise ReplyFault(f"{len(own)} different JSON objects found; reply with one", "ambiguous")
    return first


def _same(first: Any, second: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def _quoted(candidate: Candidate, material: str) -> bool:
    """Whether the object stands in the judged text, spacing, escapes and order of fields aside."""
    if not material:
        return False
    haystack = _squeezed(material)
    if _squeezed(candidate.text) in haystack:
        return True
    items = list(candidate.value.items())
    orders = permutations(items) if len(items) <= 3 else [items]
    return any(_squeezed(json.dumps(dict(order), ensure_ascii=False)) in haystack for order in orders)


def _squeezed(text: str) -> str:
    return re.sub(r"[\s\\]+", "", text)


def _demand_finite(value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ReplyFault(f"{value} is no number of any scale", "unreadable" if math.isnan(value) else "out_of_range")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _demand_finite(item)


def _by_the_providers_word(message: BaseMessage, fault: ReplyFault) -> ReplyFault:
    """The fault with a better code, where the provider says why there is no verdict."""
    said = message.response_metadata
    end = str(said.get("finish_reason") or said.get("stop_reason") or said.get("done_reason") or "").lower()
    if end in {"length", "max_tokens", "model_length", "max_output_tokens"}:
        return ReplyFault("the reply was cut off by the token limit; reply with shorter reasons", "truncated")
    declined = end in {"refusal", "content_filter", "safety"} or message.additional_kwargs.get("refusal")
    text = str(message.text)
    if (
        declined
        or _refusal_block(message)
        or (fault.code == "unreadable" and "{" not in text and _DECLINES.match(text))
    ):
        return ReplyFault(f"the judge declined: {shown(raw_text(message))}", "refused")
    return fault if text.strip() or raw_text(message) else ReplyFault("the reply is empty")


def _refusal_block(message: BaseMessage) -> bool:
    blocks = message.content if isinstance(message.content, list) else []
    return any(isinstance(block, dict) and block.get("type") == "refusal" for block in blocks)


def objects_in(text: str) -> list[Candidate]:
    """The JSON objects at the top level of a text, thinking blocks and prose left out.

    Raises:
        ReplyFault: An object is cut off.
    """
    found: list[Candidate] = []
    mends, at = 0, 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark.group() not in "{[":
            if mark.group(1):  # the end of thinking whose begin was in the chat template
                found.clear()
            else:
                at = _after_thinking(text, at)
            continue
        start = mark.start()
        try:
            value, at = _decode(text, start)
        except ValueError:
            end = _end_of_structure(text, start)
            if end is None:
                at = _after_thinking(text, start, cut_off=True)
                continue
            mends, at = mends + 1, end
            if mends > _MENDS_TRIED:
                break
            value = _mended(text[start:end])
        items = value if isinstance(value, list) else [value]
        found += [Candidate(item, text[start:at]) for item in items if isinstance(item, dict)]
    return found


def _after_thinking(text: str, at: int, *, cut_off: bool = False) -> int:
    end = _THINKING_ENDS.search(text, at)
    if end:
        return end.start() if cut_off else end.end()
    if cut_off:
        raise ReplyFault("the JSON object is cut off", "truncated")
    return len(text)


def _decode(text: str, start: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    # The decoder keeps the last of two equal keys; which one the judge meant is not for us to say.
    json.loads(text[start:end], object_pairs_hook=_unambiguous)
    return value, end


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, item in pairs:
        if name in value and not _same(value[name], item):
            raise ReplyFault(f"field {name!r} stands twice with different values; give it once", "ambiguous")
        value[name] = item
    return value


def _end_of_structure(text: str, start: int) -> int | None:
    """Where the bracket at `start` closes, brackets in strings aside; `None` when it does not."""
    depth = 0
    for part in _STRUCTURE.finditer(text, start):
        if part.group() in "{[":
            depth += 1
        elif part.group() in "}]":
            depth -= 1
            if depth == 0:
                return part.end()
        elif part.group() == '"':
            # A quote too many or too few: the strings cannot be told apart any more, so take all of it.
            rest = text[start:].rstrip().removesuffix("```").rstrip()
            return start + len(rest) if rest.endswith(("}", "]")) else None
    return None


def _mended(span: str) -> Any:
    """The value of a span that is not quite JSON, or `None` where only guessing would help."""
    try:
        return json.loads(span, strict=False, object_pairs_hook=_unambiguous)  # raw newlines in strings
    except (ValueError, RecursionError):
        pass
    try:
        value = json_repair.loads(span, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    return value if _word_list(_ESCAPE.sub(_unescaped, span)) == _word_list(_flat(value)) else None


def _unescaped(escape: re.Match[str]) -> str:
    letter = escape[1]
    if len(letter) == 5:
        return chr(int(letter[1:], 16))
    return " " if letter in "nrtbf" else f" {letter}"


def _word_list(text: str) -> list[str]:
    words = [word.casefold() for word in _WORDS.findall(text)]
    return [_LITERALS.get(word, word) for word in words]


def _flat(value: Any) -> str:
    """All names and values of a JSON value in order, as one text."""
    if isinstance(value, dict):
        return " ".join(f"{name} {_flat(item)}" for name, item in value.items())
    if isinstance(value, list):
        return " ".join(map(_flat, value))
    return value if isinstance(value, str) else json.dumps(value)
