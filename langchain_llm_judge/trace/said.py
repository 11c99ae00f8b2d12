"""A message that was read from a dict.

It holds what LangChain's message classes hold, and becomes one of them where one is asked for. Making one costs more
than all the rest of reading a message, and one that only becomes steps need not be made. It also keeps the order of
calls, of which LangChain lists the malformed ones apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

Role: TypeAlias = Literal["human", "ai", "tool", "function", "system", "remove"]


@dataclass(slots=True)
class Said:
    """One message; the names of its fields are LangChain's."""

    type: Role
    content: str | list[str | dict[str, Any]]
    id: str | None = None
    name: str | None = None
    additional_kwargs: dict[str, Any] = field(default_factory=dict)
    response_metadata: dict[str, Any] = field(default_factory=dict)
    calls: Sequence[Mapping[str, Any]] = ()
    """The calls in the order they were asked; `args` is a text where it is no JSON object."""
    usage_metadata: Mapping[str, int] | None = None
    tool_call_id: str | None = None
    status: Literal["success", "error"] = "success"
    artifact: Any = None

    def message(self) -> BaseMessage:
        """The same as a message of LangChain."""
        if self.type == "ai":
            return self.model_message()
        if self.type == "remove":
            return RemoveMessage(id=self.id or "")
        if self.type == "tool":
            return ToolMessage(
                **self._about(),
                name=self.name,
                tool_call_id=self.tool_call_id or "",
                status=self.status,
                artifact=self.artifact,
            )
        if self.type == "function":
            return FunctionMessage(**self._about(), name=self.name or "")
        return (HumanMessage if self.type == "human" else SystemMessage)(**self._about(), name=self.name)

    def model_message(self) -> AIMessage:
        """A message of the model as LangChain's."""
        fields = self._about()
        if self.usage_metadata:
            fields["usage_metadata"] = dict(self.usage_metadata)
        return AIMessage(
            name=self.name,
            tool_calls=[dict(call) for call in self.calls if call["type"] == "tool_call"],
            invalid_tool_calls=[dict(call) for call in self.calls if call["type"] != "tool_call"],
            **fields,
        )

    def _about(self) -> dict[str, Any]:
        return {
            "content": self.content,
            "id": self.id,
            "additional_kwargs": dict(self.additional_kwargs),
            "response_metadata": dict(self.response_metadata),
        }


AnyMessage: TypeAlias = BaseMessage | Said
