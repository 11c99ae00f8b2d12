"""Messages become steps: the one place where this is decided.

What counts:

- One message of the model gives its reasoning, its text and its calls, in this order. Text beside calls is a thought,
  also before a call that the provider ran itself; text without calls is a message, and the last one of the run is the
  final answer, which is not repeated as a step.
- Results follow the calls of their message in the order of the calls; `pairing` says which call a result answers. What
  answers none stays as a step, with a warning.
- Arguments are what the model asked for; a call that is no JSON object keeps its raw text and is malformed.
- A result is an error when its status says so, or when the framework wrote it about a failed structured answer. A text
  that merely reads like an error is not one.
- No steps: system messages, what a library wrote in the user's name, hand-backs of a supervisor, the pseudo call
  through which a structured answer was given (it is the answer).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from typing import Any

from langchain_core.messages import AIMessage

from langchain_llm_judge.results import Usage
from langchain_llm_judge.trace.blocks import (
    CallBlock,
    Part,
    Reasoning,
    ServerCall,
    ServerResult,
    calls_of,
    content_text,
    last_server_part,
    parts_of,
)
from langchain_llm_judge.trace.dialogue import as_messages, is_user
from langchain_llm_judge.trace.endings import Ending, cut_off_reason, limit_reason
from langchain_llm_judge.trace.pairing import OpenCalls, Waiting
from langchain_llm_judge.trace.said import AnyMessage, Said
from langchain_llm_judge.trace.schema import Message, Step, Thought, ToolCall, ToolResult
from langchain_llm_judge.trace.structured import Attempts, says_the_same, structured_names
from langchain_llm_judge.trace.values import text_of
from langchain_llm_judge.trace.wire import ROLES, read_args

__all__ = ["Assembled", "Entry", "as_messages", "assemble"]


@dataclass(slots=True)
class Entry:
    """A message and what is known about how it came to be."""

    message: AnyMessage
    agent: str | None = None
    """Path of agent names; `None` takes the message's own name."""
    node: str | None = None
    started_at: datetime | None = None
    duration_ms: float | None = None
    error_type: str | None = None
    """Class name of the exception behind a result."""
    is_unparsed: bool = False
    """True for a text of the model that could not be read as its next action: a thought in error."""
    by_code: bool = False
    """True for a call that code made without asking the model: how the run ended does not hang on it."""


@dataclass(slots=True)
class Assembled:
    """What a list of messages says about a run."""

    steps: list[Step]
    final_answer: str | None
    ending: Ending
    """How the run ended, as far as messages tell."""
    contexts: list[str]
    """Texts of the documents that came back as artifacts of tools."""
    usage: Usage | None
    """Tokens of the model's messages; `None` when not one message says."""
    warnings: list[str]
    last_text: tuple[int, Message] | None
    """The model's last text as a step, and its place among the steps, where it was taken for the answer."""
    structured_tools: frozenset[str] = frozenset()
    """Names of the pseudo tools that were called to give a structured answer."""

    def with_answer(self, answer: str | None) -> Assembled:
        """The same with another answer; the model's own last text becomes a step again, unless it says the same."""
        steps = self.steps
        if self.last_text is not None and not says_the_same(answer, self.last_text[1].content):
            place, step = self.last_text
            steps = [*steps[:place], step, *steps[place:]]
        return replace(self, steps=steps, final_answer=answer, last_text=None)


def assemble(
    entries: Iterable[Entry],
    *,
    structured_tools: Collection[str] = (),
    direct_tools: Collection[str] = (),
    answer: str | None = None,
    structured_response: Any = None,
    ended: bool = False,
    final: bool = True,
) -> Assembled:
    """Make the steps of one trace of messages in order, without the question at their beginning.

    A message of the user among them begins a new turn and is a message step of the agent `user`.

    Args:
        entries: The messages.
        structured_tools: Names of pseudo tools through which a structured answer is given. Those that LangChain
            answers with its default text are told without.
        direct_tools: Names of tools whose result is the answer (`return_direct`).
        answer: The final answer where it is known from elsewhere, such as a key of the state. The model's last text is
            then a message, unless it says the same.
        structured_response: The value of that name in the state, the answer of a run that came to its end.
        ended: `True` when it is known that the run ended by itself: results at its end are then its answer.
        final: `False` for a run that did not come to its end: its last text is then a message, not an answer.
    """
    entries = list(entries)
    names = {*structured_tools, *structured_names((entry.message for entry in entries), structured_response)}
    assembler = _Assembler(names, direct_tools)
    for entry in entries:
        assembler.add(entry)
    assembled = assembler.finish(ended=ended)
    if not final:
        return assembled.with_answer(None)
    if answer is None and structured_response is not None and assembled.ending.status == "finished":
        answer = text_of(structured_response)
    return assembled if answer is None else assembled.with_answer(answer)


class _Assembler:
    def __init__(self, structured_tools: Collection[str], direct_tools: Collection[str]) -> None:
        self._structured_tools = frozenset(structured_tools)
        self._direct_tools = frozenset(direct_tools)
        self._steps: list[Step] = []
        self._warnings: list[str] = []
        self._contexts: list[str] = []
        self._tokens = _Tokens()
        self._groups = 0
        self._results: list[Entry] = []
        self._dropped: set[int] = set()
        self._answer: Message | None = None
        self._begin_turn()

    def _begin_turn(self) -> None:
        self._open = OpenCalls()
        self._attempts = Attempts(self._structured_tools)
        self._last: AIMessage | Said | None = None
        self._last_calls: list[Waiting] = []
        self._last_results: list[ToolResult] = []
        self._said_before, self._answer = self._answer, None

    def add(self, entry: Entry) -> None:
        message = entry.message
        role = ROLES.get(message.type)
        if role == "tool" or role == "function":
            self._results.append(entry)
            return
        if self._results:
            self._settle()
        if isinstance(message, AIMessage) or (isinstance(message, Said) and role == "ai"):
            self._add_model_message(entry, message)
        elif is_user(message):
            self._keep_structured_answer()
            self._begin_turn()
            self._steps.append(Message(content=content_text(message.content), agent="user", node=entry.node))

    # The model's side

    def _add_model_message(self, entry: Entry, message: AIMessage | Said) -> None:
        if message.response_metadata.get("__is_handoff_back"):
            return
        self._keep_structured_answer()
        self._tokens.add(message)
        agent = entry.agent or message.name
        about: dict[str, Any] = {
            "agent": agent,
            "node": entry.node,
            "started_at": entry.started_at,
            "duration_ms": entry.duration_ms,
        }
        if entry.is_unparsed:
            self._steps.append(Thought(content=content_text(message.content), is_error=True, **about))
            return
        parts = parts_of(message)
        calls = calls_of(message, parts)
        if calls or last_server_part(parts):
            self._groups += 1
        if entry.by_code:
            for call in calls:
                self._add_call(ToolCall(**call, group=self._groups, **about), by_code=True)
            return
        self._last, self._last_calls, self._last_results, self._answer = message, [], [], None
        said_until = len(parts) if calls else last_server_part(parts)
        for index, part in enumerate(parts):
            self._add_part(part, about, is_thought=index < said_until)
        for call in calls:
            self._add_call(ToolCall(**call, group=self._groups, **about))

    def _add_part(self, part: Part, about: dict[str, Any], *, is_thought: bool) -> None:
        if isinstance(part, ServerCall):
            args = read_args(part.args)
            call = ToolCall(
                name=part.name,
                args=args,
                id=part.id,
                server_side=True,
                malformed=isinstance(args, str),
                group=self._groups,
                **about,
            )
            self._add_call(call)
        elif isinstance(part, ServerResult):
            self._steps.append(_server_result(part, self._open.claim(part.call_id or ""), about))
        elif isinstance(part, Reasoning) or is_thought:
            if not isinstance(part, CallBlock):
                self._steps.append(Thought(content=part.text, **about))
        elif not isinstance(part, CallBlock):
            self._answer = Message(content=part.text, **about)
            self._steps.append(self._answer)

    def _add_call(self, call: ToolCall, *, by_code: bool = False) -> None:
        waiting = self._open.add(call, len(self._steps))
        self._steps.append(call)
        if not (call.server_side or by_code):
            self._last_calls.append(waiting)

    # The tools' side

    def _settle(self) -> None:
        """Join the results that came in a row to their calls, and put them in the order of the calls."""
        entries, self._results = self._results, []
        wanted: dict[str, list[Entry]] = {}
        for entry in entries:
            wanted.setdefault(_call_id(entry.message), []).append(entry)
        placed: list[tuple[float, ToolResult]] = []
        for call_id, same in wanted.items():
            pool = self._open.pool(call_id, len(same))
            for entry in same:
                if not entry.message.response_metadata.get("__is_handoff_back"):
                    placed.append(self._joined(entry, call_id, pool))
        if len(placed) > 1:
            placed.sort(key=lambda item: item[0])
        self._last_results.extend(result for _, result in placed)
        self._steps.extend(result for _, result in placed)

    def _joined(self, entry: Entry, call_id: str, pool: list[Waiting]) -> tuple[float, ToolResult]:
        message = entry.message
        waiting = self._open.take(pool, message.name)
        if waiting is None and not call_id and message.name:
            waiting = self._open.claim_by_name(message.name)
        result = _result(entry, waiting)
        artifact = getattr(message, "artifact", None)
        if artifact is not None:
            self._contexts.extend(documents_in(artifact))
        if waiting is None:
            self._warnings.append(f"the result {call_id!r} of {message.name!r} joins no waiting call of its turn")
            return inf, result
        if self._attempts.note(waiting.call, result):
            self._structured_tools |= {waiting.call.name}
        return waiting.order, result

    # The end

    def _keep_structured_answer(self) -> None:
        """An answer in a schema after which the conversation went on stays as a message."""
        answer = self._structured_answer(asked_again=True)
        if answer is not None:
            self._answer = Message(content=answer)
            self._steps.append(self._answer)

    def _structured_answer(self, *, asked_again: bool) -> str | None:
        """The answer that was given in a schema; its pseudo call and result are no steps."""
        accepted = self._attempts.accepted(asked_again=asked_again)
        self._dropped.update(id(step) for pair in accepted for step in pair)
        return text_of(accepted[-1][0].args) if accepted else None

    def finish(self, *, ended: bool) -> Assembled:
        if self._results:
            self._settle()
        structured = self._structured_answer(asked_again=False)
        answer, ending = self._ending(structured, ended)
        last_text = None
        if answer is not None and self._answer is not None and structured is None:
            last_text = (_place(self._steps, self._answer, self._dropped), self._answer)
            self._dropped.add(id(self._answer))
        steps = [step for step in self._steps if id(step) not in self._dropped] if self._dropped else self._steps
        return Assembled(
            steps,
            answer,
            ending,
            self._contexts,
            self._tokens.usage(),
            self._warnings,
            last_text,
            self._structured_tools,
        )

    def _ending(self, structured: str | None, ended: bool) -> tuple[str | None, Ending]:
        if structured is not None:
            return structured, Ending("finished")
        if self._last is None:
            self._answer = self._said_before
            said = self._answer.content if self._answer else None
            return said, Ending("unknown", "no message of the agent follows the user's last message")
        dangling = [item.call.name for item in self._last_calls if not item.answered]
        if dangling:
            names = ", ".join(repr(name) for name in dangling)
            return None, Ending("incomplete", f"ended on a call that never ran: {names}")
        if self._last_calls:
            return self._ending_on_results(ended)
        answer = self._answer.content if self._answer else None
        limit = limit_reason(answer)
        if limit:
            return answer, Ending("step_limit", limit)
        return answer, Ending("finished", cut_off_reason(self._last))

    def _ending_on_results(self, ended: bool) -> tuple[str | None, Ending]:
        results = [result for result in self._last_results if id(result) not in self._dropped]
        if results and (ended or all(result.name in self._direct_tools for result in results)):
            return "\n\n".join(result.content for result in results), Ending("finished")
        names = ", ".join(sorted({repr(result.name) for result in results}))
        return None, Ending("unknown", f"ends on the result of {names}, after which no message of the model came")


@dataclass(slots=True)
class _Tokens:
    """Tokens over the model's messages; unknown as soon as one message does not say."""

    calls: int = 0
    told: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, message: AIMessage | Said) -> None:
        self.calls += 1
        usage = message.usage_metadata
        if usage is not None:
            self.told += 1
            self.input_tokens += usage["input_tokens"]
            self.output_tokens += usage["output_tokens"]

    def usage(self) -> Usage | None:
        if not self.told:
            return None
        if self.told < self.calls:
            return Usage(calls=self.calls, input_tokens=None, output_tokens=None, cost_usd=None)
        return Usage(calls=self.calls, input_tokens=self.input_tokens, output_tokens=self.output_tokens, cost_usd=None)


def _place(steps: list[Step], step: Step, dropped: set[int]) -> int:
    """Where a step stands among those that are kept."""
    index = next(index for index in range(len(steps) - 1, -1, -1) if steps[index] is step)
    return index - sum(id(earlier) in dropped for earlier in steps[:index]) if dropped else index


def documents_in(value: object) -> list[str]:
    """The texts of the documents in a value: a document, or a list of nothing but documents."""
    items = value if isinstance(value, list | tuple) else [value]
    texts = [_page(item) for item in items]
    return [text_of(text) for text in texts] if all(isinstance(text, str) for text in texts) else []


def _page(item: Any) -> Any:
    return item.get("page_content") if isinstance(item, Mapping) else getattr(item, "page_content", None)


def _call_id(message: AnyMessage) -> str:
    return getattr(message, "tool_call_id", None) or ""


def _result(entry: Entry, waiting: Waiting | None) -> ToolResult:
    message = entry.message
    call = waiting.call if waiting else None
    return ToolResult(
        call_id=call.id if call else _call_id(message) or None,
        name=message.name or (call.name if call else None),
        content=content_text(message.content),
        is_error=getattr(message, "status", None) == "error",
        error_type=entry.error_type,
        artifact=getattr(message, "artifact", None),
        agent=entry.agent or (call.agent if call else None),
        node=entry.node,
        started_at=entry.started_at,
        duration_ms=entry.duration_ms,
    )


def _server_result(part: ServerResult, waiting: Waiting | None, about: dict[str, Any]) -> ToolResult:
    name = waiting.call.name if waiting else None
    return ToolResult(call_id=part.call_id, name=name, content=part.content, is_error=part.is_error, **about)
