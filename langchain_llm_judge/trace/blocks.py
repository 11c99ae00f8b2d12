"""The content of a message, taken apart: reasoning, text, calls that the provider ran itself.

Providers write content in blocks of their own. LangChain translates them (`content_blocks`) once it knows the provider;
where a message does not name one, the kinds of its blocks do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage
from langchain_core.messages.block_translators import get_translator

from langchain_llm_judge.trace.said import Said
from langchain_llm_judge.trace.values import plain, text_of
from langchain_llm_judge.trace.wire import read_args, text_or_none


@dataclass(slots=True)
class Reasoning:
    """What the model thought, where the provider shows it."""

    text: str


@dataclass(slots=True)
class Text:
    """What the model said."""

    text: str


@dataclass(slots=True)
class Label(Text):
    """What stands for a block that is no text; it takes a line of its own."""


@dataclass(slots=True)
class CallBlock:
    """A call that is only in the content; messages made by LangChain list it under `tool_calls` as well."""

    name: str
    args: Any
    id: str | None


@dataclass(slots=True)
class ServerCall:
    """A call that the provider ran itself."""

    name: str
    id: str | None
    args: Any = field(default_factory=dict)


@dataclass(slots=True)
class ServerResult:
    """What the provider's own tool gave the model; empty where the provider does not show it."""

    call_id: str | None
    content: str
    is_error: bool = False


Part: TypeAlias = Reasoning | Text | CallBlock | ServerCall | ServerResult

_MEDIA = {
    "image": "image", "image_url": "image", "input_image": "image", "audio": "audio", "input_audio": "audio",
    "video": "video", "file": "file", "input_file": "file", "document": "file", "media": "media",
}  # fmt: skip
_CALLS = {"tool_call", "tool_use", "tool_call_chunk", "function_call", "invalid_tool_call", "input_json_delta"}
_SHOWN_BLOCK = 500


def parts_of(message: AIMessage | Said) -> list[Part]:
    """The parts of a model's message in order; texts that follow one another are one.

    Blank texts and encrypted reasoning are left out. Pictures, sounds and files become a label such as
    `[image: https://…]`; a block of unknown kind its JSON, cut at 500 characters.
    """
    content = message.content
    if isinstance(content, str) and not message.additional_kwargs:
        return [Text(text_of(content))] if content.strip() else []
    parts: list[Part] = []
    if isinstance(content, str):
        parts.append(Text(text_of(content)))
    elif all(_is_text(block) for block in content):
        parts.append(Text(content_text(content)))
    else:
        parts.extend(_from_blocks(message.model_message() if isinstance(message, Said) else message))
    said_beside = message.additional_kwargs
    if said_beside:
        if not any(isinstance(part, Reasoning) for part in parts):
            parts[:0] = [Reasoning(text) for text in _reasoning_beside(said_beside)]
        if isinstance(said_beside.get("refusal"), str):
            parts.append(Text(said_beside["refusal"]))
    return list(_joined(parts))


def calls_of(message: AIMessage | Said, parts: list[Part]) -> list[dict[str, Any]]:
    """Fields of the calls of a message.

    In the order they were asked, where it is known: LangChain's messages list the malformed ones apart.
    """
    if isinstance(message, Said) and message.calls:
        return [_fields(call) for call in message.calls]
    calls = [] if isinstance(message, Said) else _listed(message)
    if calls:
        return calls
    calls = [_read_call(part.name, part.args, part.id) for part in parts if isinstance(part, CallBlock)]
    old_form = message.additional_kwargs.get("function_call") if not calls else None
    if isinstance(old_form, dict):
        calls.append(_read_call(text_of(old_form.get("name") or ""), old_form.get("arguments"), None))
    return calls


def _listed(message: AIMessage) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = [
        {"name": call["name"], "args": call["args"], "id": call["id"]} for call in message.tool_calls
    ]
    calls += [
        {"name": call["name"] or "", "args": call["args"] or "", "id": call["id"], "malformed": True}
        for call in message.invalid_tool_calls
    ]
    return calls


def _fields(call: Mapping[str, Any]) -> dict[str, Any]:
    is_malformed = call["type"] != "tool_call"
    return {"name": call["name"], "args": call["args"], "id": call["id"], "malformed": is_malformed}


def _read_call(name: str, args: object, call_id: str | None) -> dict[str, Any]:
    args = read_args(args)
    return {"name": name, "args": args, "id": call_id, "malformed": isinstance(args, str)}


def last_server_part(parts: list[Part]) -> int:
    """How many parts there are up to the last that the provider's own tools wrote."""
    return max((index for index, part in enumerate(parts, 1) if isinstance(part, ServerCall | ServerResult)), default=0)


def content_text(content: object) -> str:
    """The text of a message's content: text blocks joined as they are, other blocks on lines of their own.

    Pictures, sounds and files become a label, everything else its JSON. A value that is no message content (a
    number, a dict) becomes text as `text_of` says.
    """
    if not isinstance(content, list):
        return text_of(content)
    return _run_together(Text(_text_in(block)) if _is_text(block) else Label(_label(block)) for block in content)


def _run_together(parts: Iterable[Text]) -> str:
    text = ""
    after_label = False
    for part in parts:
        is_label = isinstance(part, Label)
        apart = text and part.text and (is_label or after_label) and not text.endswith("\n")
        text += f"\n{part.text}" if apart else part.text
        after_label = is_label
    return text


def _is_text(block: object) -> bool:
    return isinstance(block, str) or (
        isinstance(block, dict) and isinstance(block.get("text"), str) and str(block.get("type")) not in _MEDIA
    )


def _is_text_block(block: object) -> bool:
    return not isinstance(block, str) and _is_text(block)


def _text_in(block: Any) -> str:
    return text_of(block if isinstance(block, str) else block["text"])


def _label(block: Any) -> str:
    """What stands for a block that is no text."""
    if not isinstance(block, Mapping):
        return text_of(block)
    kind = str(block.get("type"))
    if kind == "refusal" and isinstance(block.get("refusal"), str):
        return text_of(block["refusal"])
    if kind == "json" and "json" in block:
        return text_of(block["json"])
    resource = block.get("resource")
    if isinstance(resource, Mapping) and isinstance(resource.get("text"), str):
        return text_of(resource["text"])
    if kind in _MEDIA:
        return _media_label(_MEDIA[kind], block)
    return text_of(block)


def _media_label(noun: str, block: Mapping[str, Any]) -> str:
    """`[image: https://…]`, `[audio: audio/wav]`; never the data."""
    sources = [block, block.get("source"), block.get("image_url"), block.get("file")]
    facts = [source for source in sources if isinstance(source, Mapping)]
    for source in facts:
        inner = source.get("data")
        if source.get("type") == "text" and isinstance(inner, str):
            return text_of(inner)
    for key in ("url", "filename", "title", "file_id", "mime_type", "media_type"):
        for source in facts:
            value = source.get(key)
            if isinstance(value, str) and not value.startswith("data:"):
                return f"[{noun}: {text_of(value)}]"
    return f"[{noun}]"


def _from_blocks(message: AIMessage) -> Iterator[Part]:
    listed_apart = bool(message.tool_calls or message.invalid_tool_calls)
    for block in _standard_blocks(message):
        if block.get("type") == "non_standard" and isinstance(block.get("value"), Mapping):
            block = block["value"]
        kind = str(block.get("type"))
        if kind in _CALLS:
            if not listed_apart:
                yield CallBlock(text_of(block.get("name") or ""), _call_args(block), text_or_none(block.get("id")))
        else:
            yield from _part(kind, block)


def _standard_blocks(message: AIMessage) -> list[Any]:
    """LangChain's own blocks, from a copy that names the provider where the message does not."""
    about = message.response_metadata
    provider = about.get("model_provider")
    if not isinstance(provider, str) or get_translator(provider) is None:
        provider = _provider_of(message.content)
    # A copy of the content as well: LangChain's translators have lifted keys off the blocks they were given.
    copy = message.model_copy(
        update={"response_metadata": {**about, "model_provider": provider}, "content": plain(message.content)}
    )
    try:
        return list(copy.content_blocks)
    except Exception:  # a block no translator of LangChain's expects
        return [block if isinstance(block, dict) else {"type": "text", "text": block} for block in message.content]


def _provider_of(content: str | list[Any]) -> str | None:
    for block in content:
        kind = str(block.get("type")) if isinstance(block, dict) else ""
        if kind in {"thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use"}:
            return "anthropic"
        if kind == "reasoning_content":
            return "bedrock_converse"
        if kind in {"executable_code", "code_execution_result"}:
            return "google_genai"
        if "summary" in block if kind == "reasoning" else kind.endswith("_call") and kind not in _CALLS | _SERVER:
            return "openai"
    return None


_SERVER = {"server_tool_call"}


def _part(kind: str, block: Mapping[str, Any]) -> Iterator[Part]:
    if kind in {"reasoning", "thinking"}:
        yield from (Reasoning(text) for text in _reasoning_in(block))
    elif kind in {"server_tool_call", "server_tool_call_chunk"}:
        extras = block.get("extras")
        name = (extras.get("tool_name") if isinstance(extras, Mapping) else None) or block.get("name") or ""
        yield ServerCall(text_of(name), text_or_none(block.get("id")), block.get("args", {}))
    elif kind == "server_tool_result":
        call_id = text_or_none(block.get("tool_call_id"))
        yield ServerResult(call_id, _output(block.get("output")), block.get("status") == "error")
    elif kind != "redacted_thinking":
        yield Text(_text_in(block)) if _is_text(block) else Label(_label(block)[:_SHOWN_BLOCK])


def _output(output: Any) -> str:
    """What a provider's tool gave: its text, or the JSON of anything else; nothing where it is not shown."""
    if output is None:
        return ""
    is_texts = isinstance(output, list) and bool(output) and all(map(_is_text_block, output))
    return content_text(output) if is_texts else text_of(output)


def _reasoning_in(block: Mapping[str, Any]) -> list[str]:
    for key in ("reasoning", "thinking", "text"):
        value = block.get(key)
        if value:
            return [content_text(value)]
    lists = [block[key] for key in ("summary", "content") if isinstance(block.get(key), list)]
    return [content_text([entry]) for entries in lists for entry in entries]


def _reasoning_beside(kwargs: Mapping[str, Any]) -> list[str]:
    """Reasoning that a provider's integration put beside the content."""
    said = kwargs.get("reasoning_content") or kwargs.get("reasoning")
    if isinstance(said, Mapping):
        return _reasoning_in(said)
    return [text_of(said)] if isinstance(said, str) else []


def _call_args(block: Mapping[str, Any]) -> Any:
    return next((block[key] for key in ("args", "input", "arguments") if block.get(key) is not None), {})


def _joined(parts: list[Part]) -> Iterator[Part]:
    """Neighbouring texts as one, blank ones left out."""
    for is_text, group in groupby(parts, key=lambda part: isinstance(part, Text)):
        if not is_text:
            yield from (part for part in group if not isinstance(part, Reasoning) or part.text.strip())
            continue
        text = _run_together(part for part in group if isinstance(part, Text))
        if text.strip():
            yield Text(text)
