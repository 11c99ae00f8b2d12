"""One question to a judge model, from the first request to the verdict."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from pydantic import BaseModel, ValidationError

from langchain_llm_judge.errors import (
    JudgeReplyError,
    JudgeTimeoutError,
    LLMJudgeError,
    ModelCallError,
    ReplyCode,
    shown,
)
from langchain_llm_judge.models.attempts import Attempt, InThread, Pause, Steps
from langchain_llm_judge.models.failures import (
    causes,
    detail_of,
    is_connection,
    is_refusal_of_the_form,
    is_retryable,
    is_timeout,
    retry_after,
    status_of,
)
from langchain_llm_judge.models.forms import (
    NoNativeForm,
    as_message,
    ask_again,
    native_form,
    opening,
    said_in,
    with_form,
)
from langchain_llm_judge.models.parsing import raw_text, read_reply
from langchain_llm_judge.models.replies import ReplyFault, fault_of
from langchain_llm_judge.models.reply import Path, Reply, Spent
from langchain_llm_judge.prompts import FilledPrompt
from langchain_llm_judge.results import JUDGE_TAG

if TYPE_CHECKING:
    from langchain_llm_judge.models.structured import JudgeModel

T = TypeVar("T")

_TAGS = [JUDGE_TAG, "nostream"]
"""`nostream` keeps a judge that runs inside a LangGraph run out of the messages it streams."""


class Way(NamedTuple):
    """What a model is asked with; narrowed by what it turns out to refuse."""

    structured: bool = True
    temperature: bool = True

    def without(self, error: BaseException, *, sends_temperature: bool) -> Way | None:
        """The next way to try after the form of a request was refused; `None` when nothing is left to leave out."""
        temperature = self.temperature and sends_temperature
        names_it = temperature and detail_of(error, "param") == "temperature"
        if self.structured and not names_it:
            return self._replace(structured=False)
        return self._replace(temperature=False) if temperature else None


@dataclass
class Memory:
    """What is learnt about a model, shared by all calls. Only hints: losing a race costs one request."""

    way: Way
    chats: dict[float | None, Any] = field(default_factory=dict)
    forms: dict[tuple[bool, type[BaseModel]], Runnable[Any, Any]] = field(default_factory=dict)
    """The model bound to a reply schema; working the schema out costs more than all the rest of an evaluation."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class Question(Generic[T]):
    """One question to a model, from the first request to the verdict."""

    def __init__(
        self,
        model: JudgeModel,
        prompt: FilledPrompt,
        schema: type[BaseModel],
        config: RunnableConfig | None,
        read: Callable[[Any], T],
    ) -> None:
        self.model = model
        self.prompt = prompt
        self.schema = schema
        self.config = merge_configs(config, {"tags": _new_tags(config)})
        self.read = read
        self.spent = Spent()
        self.way = model.memory.way
        self.by_thread = False

    def steps(self) -> Steps[Reply[T]]:
        """Ask, and once more where the reply gives no verdict."""
        messages = opening(self.prompt)
        message = yield from self._answer(messages)
        try:
            return self._reply(message)
        except (ReplyFault, JudgeReplyError, ValidationError) as error:
            fault = _as_fault(error)
        if fault.code == "unreadable" and "{" not in raw_text(message):
            # Some servers take the parameters of a form and ignore them.
            self.way = self.way._replace(structured=False)
        again = yield from self._answer([*messages, *ask_again(message, fault, self.schema)])
        try:
            return self._reply(again)
        except (ReplyFault, JudgeReplyError, ValidationError) as error:
            self._give_up(_as_fault(error), raw_text(again))

    def _reply(self, message: BaseMessage) -> Reply[T]:
        value = self.read(read_reply(message, self.schema, self.prompt.judged))
        return self._as_reply(value, "native" if self.way.structured else "json", message)

    def _as_reply(self, value: T, path: Path, message: BaseMessage) -> Reply[T]:
        logprobs = message.response_metadata.get("logprobs")
        spent = self.spent
        return Reply(value, spent.usage, spent.attempts, path, raw_text(message), self.prompt.version, logprobs)

    def _give_up(self, fault: ReplyFault, raw: str) -> NoReturn:
        raise JudgeReplyError(
            f"{self.model.label} on prompt {self.prompt.version}: {self.model.without_secrets(str(fault))}; "
            f"reply kept in .raw ({len(raw)} characters)",
            raw=raw,
            code=fault.code,
            prompt_version=self.prompt.version,
            usage=self.spent.usage,
        )

    def _answer(self, messages: Sequence[BaseMessage]) -> Steps[BaseMessage]:
        """A reply, leaving out what the model refuses to be asked with."""
        if not self.model.memory.chats:
            yield InThread(lambda: self.model.chat)  # may import for seconds
        while True:
            sent = messages if self.way.structured else self._with_form(messages)
            try:
                runnable = self._runnable()
                message = yield from self._persistently(runnable, sent)
            except LLMJudgeError:
                raise
            except NoNativeForm:
                self.way = self.way._replace(structured=False)
            except Exception as error:
                spoken = said_in(error)
                if spoken is not None:
                    return spoken
                self.way = self._narrower(error)
            else:
                self._remember()
                return message

    def _remember(self) -> None:
        self.model.memory.way = self.way

    def _with_form(self, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        return with_form(messages, self.schema)

    def _narrower(self, error: Exception) -> Way:
        if is_refusal_of_the_form(error):
            way = self.way.without(error, sends_temperature=self.model.temperature is not None)
            if way is not None:
                return way
        raise self._call_error(error) from self._shareable(error)

    def _runnable(self) -> Runnable[Any, Any]:
        chat, forms = self.model.chat_for(self.way), self.model.memory.forms
        if not self.way.structured:
            return chat
        key = (self.way.temperature, self.schema)
        if key not in forms:
            forms[key] = native_form(chat, self.schema)
        return forms[key]

    def _persistently(self, runnable: Runnable[Any, Any], messages: Sequence[BaseMessage]) -> Steps[BaseMessage]:
        """A reply after as many attempts as the policy allows."""
        policy, spent = self.model.policy, self.spent
        for attempt in count(1):
            spent.attempts += 1
            left = max(0.001, policy.budget_s - spent.elapsed_s)
            try:
                answer = yield self._attempt(runnable, messages, min(policy.timeout_s, left))
            except Exception as error:
                pause = policy.pause_after(error, attempt, policy.budget_s - spent.elapsed_s)
                if pause is None:
                    raise
                # A connection of another loop's may be at fault; the sync client has its own.
                self.by_thread = self.by_thread or is_connection(error)
                yield Pause(pause)
            else:
                message = as_message(answer)
                spent.add(message, self.model.listed_as)
                return message
        raise AssertionError("unreachable")

    def _attempt(self, runnable: Runnable[Any, Any], messages: Sequence[BaseMessage], timeout: float) -> Attempt:
        return Attempt(
            call=lambda: runnable.invoke(list(messages), self.config),
            acall=lambda: runnable.ainvoke(list(messages), self.config),
            timeout=timeout,
            natively=not self.by_thread and _may_be_awaited(self.model.chat),
        )

    def _shareable(self, error: Exception) -> Exception | None:
        """The cause to chain; none when a server echoed a key into its message."""
        texts = [str(cause) for cause in causes(error)]
        return error if all(self.model.without_secrets(text) == text for text in texts) else None

    def _call_error(self, error: Exception) -> ModelCallError:
        spent, label = self.spent, self.model.label
        took = f"{spent.attempts} attempt{'s' if spent.attempts != 1 else ''} in {spent.elapsed_s:.1f} s"
        if is_timeout(error):
            return JudgeTimeoutError(
                f"judge model {label!r} gave no reply in time after {took}; "
                f"raise JUDGE_TIMEOUT_S ({self.model.policy.timeout_s:g} s an attempt) or lower max_concurrency",
                model=label,
                attempts=spent.attempts,
                elapsed_s=spent.elapsed_s,
                retryable=True,
            )
        status = status_of(error)
        kind = type(error).__name__ if status is None else f"{status} {type(error).__name__}"
        wait = retry_after(error)
        asks = f" (it asks to wait {wait:.0f} s)" if wait else ""
        return ModelCallError(
            f"judge model {label!r} failed with {kind} after {took}{asks}: "
            f"{self.model.without_secrets(shown(str(error)))}",
            model=label,
            attempts=spent.attempts,
            elapsed_s=spent.elapsed_s,
            retryable=is_retryable(error),
        )


class PlainQuestion(Question[str]):
    """One question to a model without a form for its answer."""

    def __init__(self, model: JudgeModel, prompt: FilledPrompt, config: RunnableConfig | None) -> None:
        super().__init__(model, prompt, BaseModel, config, str)
        self.way = self.way._replace(structured=False)

    def steps(self) -> Steps[Reply[str]]:
        """Ask once."""
        message = yield from self._answer(opening(self.prompt))
        return self._as_reply(raw_text(message), "text", message)

    def _with_form(self, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        return messages

    def _remember(self) -> None:
        # Not asking for a form says nothing about how the model takes one.
        known = self.model.memory.way
        self.model.memory.way = self.way._replace(structured=known.structured)


def _may_be_awaited(chat: Any) -> bool:
    """Whether a model's own async method is safe in any event loop.

    A model that keeps an SDK client is not: the client's pooled connections belong to the loop that opened them. After
    an `asyncio.run` they are left to fail the next one, the user's own calls with the same model among them. Its
    sync client has no such ties. Nor is a model whose async method is LangChain's default: that runs the sync one in
    a pool whose threads are waited for when the interpreter ends.
    """
    kind = type(chat)
    if not isinstance(chat, BaseChatModel):
        return False
    own = kind._agenerate is not BaseChatModel._agenerate or kind._astream is not BaseChatModel._astream
    names = {*dir(kind), *kind.model_fields, *kind.__private_attributes__}
    return own and not any("client" in name.lower() for name in names)


def _as_fault(error: ReplyFault | JudgeReplyError | ValidationError) -> ReplyFault:
    if isinstance(error, ReplyFault):
        return error
    if isinstance(error, ValidationError):
        return fault_of(error)
    code: ReplyCode = error.code
    return ReplyFault(str(error), code)


def _new_tags(config: RunnableConfig | None) -> list[str]:
    given = (config or {}).get("tags") or []
    return [tag for tag in _TAGS if tag not in given]
