"""How a run ended, read off what frameworks write at its end."""

from __future__ import annotations

import re
from dataclasses import dataclass

from langchain_llm_judge.trace.said import AnyMessage
from langchain_llm_judge.trace.schema import TraceStatus


@dataclass(frozen=True, slots=True)
class Ending:
    """A status and the reason for it in words."""

    status: TraceStatus
    reason: str | None = None


_LIMITS = re.compile(
    r"Sorry, need more steps to process this request\."  # langgraph create_react_agent
    r"|Agent stopped due to (?:max iterations|iteration limit or time limit)\."  # AgentExecutor
    r"|Model call limits exceeded: (?:thread|run) limit \(\d+/\d+\)(?:, run limit \(\d+/\d+\))?"
    r"|(?:'[^\n]*' tool|Tool) call limit reached: (?:thread|run) limit exceeded \(\d+/\d+ calls\)[^\n]*\."
)
"""What LangChain and LangGraph give as the answer of a run that a limit stopped."""

_CUT_OFF = {"length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens"}
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason")


def limit_reason(answer: object) -> str | None:
    """The framework's words when an answer is a limit's and not the agent's; `None` otherwise."""
    return answer if isinstance(answer, str) and _LIMITS.fullmatch(answer.strip()) else None


def cut_off_reason(message: AnyMessage) -> str | None:
    """Why the model's last message is not all it had to say; `None` when it is, or when the provider is silent."""
    about = message.response_metadata
    for key in _REASONS:
        if about.get(key) in _CUT_OFF:
            return f"the last message was cut off by the model's token limit ({key} {about[key]!r})"
    return None
