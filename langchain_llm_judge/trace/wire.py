"""Messages as dicts, in every form they are stored or sent in.

Read are OpenAI's chat form and the items of its Responses API, Anthropic's tool results inside a user's message, and
the three JSON forms of LangChain's own messages. Arguments that are no JSON object make an invalid call, not an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_llm_judge.errors import TraceError, shown
from langchain_llm_judge.trace.said import Role, Said
from langchain_llm_judge.trace.values import plain, text_of

ROLES: dict[str, Role] = {
    "human": "human", "user": "human", "HumanMessage": "human", "HumanMessageChunk": "human",
    "ai": "ai", "assistant": "ai", "model": "ai", "AIMessage": "ai", "AIMessageChunk": "ai",
    "tool": "tool", "ToolMessage": "tool", "ToolMessageChunk": "tool",
    "function": "function", "FunctionMessage": "function",
    "system": "system", "developer": "system", "SystemMessage": "system", "SystemMessageChunk": "system",
    "remove": "remove", "RemoveMessage": "remove",
}  # fmt: skip
"""Names that providers and LangChain use, and what they mean."""

_ITEMS = {
    "function_call": {"name", "arguments"},
    "function_call_output": {"call_id", "output"},
    "reasoning": {"summary"},
}
"""Items of OpenAI's Responses API that are no messages by themselves, and the keys they must have."""

_BODY = ("content", "tool_calls", "function_call")
_COUNTS = ("input_tokens", "output_tokens", "total_tokens")
_DECODER = json.JSONDecoder(strict=False)


def plain_role(item: dict[Any, Any]) -> Role | None:
    """The role of the most common dicts, which are one message each; `None` for all others."""
    role = item.get("role")
    if role in ("user", "assistant", "tool") and not isinstance(item.get("content"), list):
        return ROLES[role]
    return None


def role_of(item: Mapping[Any, Any]) -> str | None:
    """The role a dict names, whatever form it has; `None` when it is no message."""
    role = item.get("role")
    if isinstance(role, str):
        return ROLES.get(role, "other") if any(key in item for key in _BODY) else None
    if item.get("lc") == 1 and isinstance(item.get("kwargs"), Mapping) and isinstance(item.get("id"), list | tuple):
        return ROLES.get(str(item["id"][-1])) if item["id"] else None
    kind = item.get("type")
    if not isinstance(kind, str):
        return None
    if kind in _ITEMS:
        return kind if _ITEMS[kind] <= item.keys() else None
    has_body = "content" in item or isinstance(item.get("data"), Mapping) or kind == "remove"
    return ROLES.get(kind) if has_body else None


def from_dict(item: Mapping[Any, Any], role: str) -> Iterator[Said]:
    """The messages a dict of that role stands for: one, or more where a user's message carries tool results."""
    if item.get("lc") == 1 and "kwargs" in item:
        item = item["kwargs"]
    elif "content" not in item and isinstance(item.get("data"), Mapping):
        item = item["data"]
    if role in _ITEMS:
        yield _from_response_item(role, item)
    elif role == "human" and isinstance(item.get("content"), list):
        yield from _split_tool_results(item)
    else:
        yield make(role, item)


def read_args(args: object) -> dict[str, Any] | str:
    """Arguments as an object; the text as it came when it is no JSON object. Nothing and blank text are `{}`."""
    if isinstance(args, str):
        return _read_text(args)
    if args is None:
        return {}
    if isinstance(args, Mapping):
        keys_are_text = all(isinstance(key, str) for key in args)
        return dict(args) if keys_are_text else dict(plain(args))
    return text_of(args)


def _read_text(args: str) -> dict[str, Any] | str:
    if not args.strip():
        return {}
    try:
        value = _DECODER.decode(args)
    except (ValueError, RecursionError):
        return args
    return value if isinstance(value, dict) else args


def _from_response_item(kind: str, item: Mapping[Any, Any]) -> Said:
    if kind == "function_call_output":
        return make("tool", {"content": item["output"], "tool_call_id": item["call_id"]})
    if kind == "reasoning":
        return Said("ai", "", additional_kwargs={"reasoning": plain(item)})
    call = {"id": item.get("call_id") or item.get("id"), "name": item["name"], "args": item["arguments"]}
    return make("ai", {"content": "", "tool_calls": [call]})


def _split_tool_results(item: Mapping[Any, Any]) -> Iterator[Said]:
    """A user's message of the Anthropic form may carry tool results."""
    said = []
    for block in item["content"]:
        if isinstance(block, Mapping) and block.get("type") == "tool_result":
            status = "error" if block.get("is_error") else "success"
            yield make("tool", {**block, "tool_call_id": block.get("tool_use_id"), "status": status})
        else:
            said.append(block)
    if said or not item["content"]:
        yield make("human", {**item, "content": said})


def make(role: str, item: Mapping[Any, Any]) -> Said:
    """One message of a role that `ROLES` means; an unknown role is an agent of that name."""
    said = Said("ai", _content(item.get("content")), text_or_none(item.get("id")), text_or_none(item.get("name")))
    for key in ("additional_kwargs", "response_metadata"):
        if isinstance(item.get(key), Mapping):
            setattr(said, key, dict(item[key]))
    if role == "ai":
        _read_model_message(said, item)
    elif role == "tool":
        said.tool_call_id = text_or_none(item.get("tool_call_id"))
        said.status = "error" if item.get("status") == "error" else "success"
        said.artifact = item.get("artifact")
    if role in ROLES:
        said.type = ROLES[role]
    else:
        said.name = said.name or text_or_none(item.get("role"))
    return said


def _read_model_message(said: Said, item: Mapping[Any, Any]) -> None:
    beside = dict(said.additional_kwargs)
    asked = item.get("tool_calls") or beside.pop("tool_calls", None) or ()
    old_form = item.get("function_call") or beside.pop("function_call", None)
    calls = [_call(call) for call in _listed(asked, "tool_calls")]
    if not calls and isinstance(old_form, Mapping):
        calls = [_call({"function": old_form})]
    invalid = item.get("invalid_tool_calls") or ()
    said.calls = [*calls, *(_invalid_call(call) for call in _listed(invalid, "invalid_tool_calls"))]
    for key in ("reasoning_content", "reasoning", "refusal"):
        if item.get(key):
            beside.setdefault(key, plain(item[key]))
    said.additional_kwargs = beside
    usage = item.get("usage_metadata")
    if isinstance(usage, Mapping) and all(type(usage.get(name)) is int for name in _COUNTS):
        said.usage_metadata = {name: usage[name] for name in _COUNTS}


def _listed(calls: object, key: str) -> Sequence[Mapping[Any, Any]]:
    if isinstance(calls, list | tuple) and all(isinstance(call, Mapping) for call in calls):
        return calls
    raise TraceError(
        f"{key} of a message is {shown(calls)}; give a list of calls such as "
        "{'id': 'c1', 'function': {'name': 'f', 'arguments': '{}'}}",
        source="message",
        seen=calls,
    )


def _call(call: Mapping[Any, Any]) -> dict[str, Any]:
    """A call of any form; `args` is a text when it is no JSON object."""
    inner = call.get("function") or call.get("custom") or call
    inner = inner if isinstance(inner, Mapping) else {}
    if call.get("type") == "custom":
        args: dict[str, Any] | str = {"__arg1": _raw(inner.get("input"))}
    else:
        args = read_args(inner["arguments"] if "arguments" in inner else inner.get("args"))
    kind = "tool_call" if isinstance(args, dict) else "invalid_tool_call"
    named = {"name": text_of(inner.get("name") or ""), "args": args, "id": text_or_none(call.get("id")), "type": kind}
    return named if kind == "tool_call" else {**named, "error": None}


def _invalid_call(call: Mapping[Any, Any]) -> dict[str, Any]:
    """A call that LangChain found invalid, as it stored it."""
    error = text_or_none(call.get("error"))
    return {**_call(call), "type": "invalid_tool_call", "args": _raw(call.get("args")), "error": error}


def _raw(args: object) -> str:
    return "" if args is None else text_of(args)


def _content(content: object) -> Any:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return [block if isinstance(block, str) else _block(block) for block in content]
    return text_of(content)


def _block(block: object) -> Any:
    return plain(block) if isinstance(block, Mapping) else text_of(block)


def text_or_none(value: object) -> str | None:
    """An id or a name as text, where there is one."""
    return value if value is None or isinstance(value, str) else text_of(value)
