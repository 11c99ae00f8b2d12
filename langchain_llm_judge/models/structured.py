"""Asking a judge model for a verdict of a given form.

Native structured output first; where model or provider refuses it, plain JSON by prompt, remembered for the model.
What comes back is read strictly (`parsing`). A reply that gives no verdict is asked for once more, with the
fault shown; then it is a `JudgeReplyError` with the raw text, never a made-up verdict.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any, Generic, Literal, NamedTuple, NoReturn, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, RunnableSequence
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
from langchain_llm_judge.models.attempts import (
    Attempt,
    CallPolicy,
    InThread,
    Pause,
    Steps,
    adrive,
    causes,
    detail_of,
    drive,
    is_connection,
    is_refusal_of_the_form,
    is_retryable,
    is_timeout,
    retry_after,
    status_of,
)
from langchain_llm_judge.models.catalog import cost_usd
from langchain_llm_judge.models.parsing import raw_text, read_reply
from langchain_llm_judge.models.replies import ReplyFault, fault_of
from langchain_llm_judge.prompts import FilledPrompt
from langchain_llm_judge.results import JUDGE_TAG, Usage

T = TypeVar("T")

Path = Literal["native", "json", "text"]
"""How the form was asked for: `native`, the provider's structured output; `json`, by prompt; `text`, not at all."""

_TAGS = [JUDGE_TAG, "nostream"]
"""`nostream` keeps a judge that runs inside a LangGraph run out of the messages it streams."""

_FORM = "Reply with one JSON object and nothing else. It has to fit this JSON Schema:\n{schema}"
_AGAIN = "That reply gives no verdict: {fault}\nReply again, for the same material. {form}"
_SHOWN_AGAIN = 4000
_SECRET = re.compile("key|token|secret|password|credential", re.IGNORECASE)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A verdict, with what it took to get it."""

    value: T
    usage: Usage
    attempts: int
    """Requests sent, failed ones among them."""
    path: Path
    raw: str
    """The reply as it came: text, or the arguments of its tool call as JSON."""
    prompt_version: str
    logprobs: Any = None
    """Log-probabilities of the reply's tokens as the model gave them; `None` where it gives none."""


class _Way(NamedTuple):
    """What a model is asked with; narrowed by what it turns out to refuse."""

    structured: bool = True
    temperature: bool = True

    def without(self, error: BaseException, *, sends_temperature: bool) -> _Way | None:
        """The next way to try after the form of a request was refused; `None` when nothing is left to leave out."""
        temperature = self.temperature and sends_temperature
        names_it = temperature and detail_of(error, "param") == "temperature"
        if self.structured and not names_it:
            return self._replace(structured=False)
        return self._replace(temperature=False) if temperature else None


@dataclass
class _Memory:
    """What is learnt about a model, shared by all calls. Only hints: losing a race costs one request."""

    way: _Way
    chats: dict[float | None, Any] = field(default_factory=dict)
    forms: dict[tuple[bool, type[BaseModel]], Runnable[Any, Any]] = field(default_factory=dict)
    """The model bound to a reply schema; working the schema out costs more than all the rest of an evaluation."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class JudgeModel:
    """A chat model and the policy to reach it. Safe in any number of threads, tasks and event loops.

    Args:
        build: Makes the chat model for a temperature; called once, on first use.
        label: What results call the model; never holds a key.
        policy: Time-outs and retries.
        temperature: What is sent, where we made the model; `None` sends none.
        parameters: What else decides the model's verdicts.
        listed_as: What litellm's list of models may call it.
        secrets: Texts that must not show up in any message.
        structured: `False` for a model that is known to have no native structured output.
    """

    def __init__(
        self,
        build: Callable[[float | None], Any],
        label: str,
        *,
        policy: CallPolicy | None = None,
        temperature: float | None = None,
        parameters: Mapping[str, Any] | None = None,
        listed_as: Iterable[str] = (),
        secrets: Iterable[str] = (),
        structured: bool = True,
    ) -> None:
        self._build = build
        self.label = label
        self.policy = policy or CallPolicy()
        self.temperature = temperature
        self._parameters = dict(parameters or {})
        self._listed_as = tuple(listed_as)
        self._secrets = tuple(secrets)
        self._memory = _Memory(_Way(structured=structured))
        self._fresh = False

    @classmethod
    def of(cls, chat: Any, policy: CallPolicy | None = None) -> JudgeModel:
        """A user's chat model, taken as it is: nothing is sent that it was not set up with."""
        name = next((str(getattr(chat, key)) for key in ("model_name", "model") if getattr(chat, key, None)), "")
        kind = type(chat).__name__
        return cls(
            lambda _: chat,
            f"{kind}/{name}" if name else kind,
            policy=policy,
            parameters=_parameters_of(chat),
            listed_as=[name],
        )

    @property
    def chat(self) -> BaseChatModel:
        """The LangChain chat model; made on first use."""
        return self._chat_for(self._memory.way)

    def _chat_for(self, way: _Way) -> BaseChatModel:
        sent = self.temperature if way.temperature else None
        with self._memory.lock:
            if sent not in self._memory.chats:
                self._memory.chats[sent] = self._build(sent)
            chat: BaseChatModel = self._memory.chats[sent]
        return chat.model_copy(update={"cache": False}) if self._fresh and isinstance(chat, BaseChatModel) else chat

    def ask(
        self,
        prompt: FilledPrompt,
        schema: type[BaseModel],
        config: RunnableConfig | None = None,
        read: Callable[[Any], T] = lambda reply: reply,
    ) -> Reply[T]:
        """Ask for a verdict.

        Args:
            prompt: What to ask; its user part holds the judged material.
            schema: The form of the reply, best a `ReplySchema`.
            config: Of the judge's run, so that the model's run becomes its child.
            read: From the reply to the judge's value; raises `ReplyFault` or `JudgeReplyError` for verdicts
                that are missing, extra or off the menu, which are then asked for once more.

        Raises:
            JudgeReplyError: Two replies gave no verdict.
            JudgeTimeoutError: No reply in time.
            ModelCallError: The model could not be reached, or refused.
        """
        return drive(_Question(self, prompt, schema, config, read).steps())

    async def aask(
        self,
        prompt: FilledPrompt,
        schema: type[BaseModel],
        config: RunnableConfig | None = None,
        read: Callable[[Any], T] = lambda reply: reply,
    ) -> Reply[T]:
        """`ask` without blocking the event loop."""
        return await adrive(_Question(self, prompt, schema, config, read).steps())

    def say(self, prompt: FilledPrompt, config: RunnableConfig | None = None) -> Reply[str]:
        """Ask for plain text, which is taken as it comes; raises as `ask` does, apart from `JudgeReplyError`."""
        return drive(_PlainQuestion(self, prompt, config).steps())

    async def asay(self, prompt: FilledPrompt, config: RunnableConfig | None = None) -> Reply[str]:
        """`say` without blocking the event loop."""
        return await adrive(_PlainQuestion(self, prompt, config).steps())

    def uncached(self) -> JudgeModel:
        """The same model with LangChain's cache off, for repeated measurement."""
        twin = object.__new__(JudgeModel)
        twin.__dict__.update(self.__dict__, _fresh=True)
        return twin

    def identity(self) -> dict[str, Any]:
        """What decides this model's verdicts, as JSON values; never a key."""
        return {"model": self.label, "temperature": self.temperature, **self._parameters}

    def without_secrets(self, text: str) -> str:
        """The text with every key of this model blotted out."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def __repr__(self) -> str:
        return f"JudgeModel({self.label!r})"


@dataclass
class _Spent:
    """What one question has taken so far."""

    started: float = field(default_factory=time.monotonic)
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.started

    def add(self, model: JudgeModel, message: BaseMessage) -> None:
        """Count a reply; one that came from LangChain's cache cost nothing."""
        tokens: Mapping[str, Any] = getattr(message, "usage_metadata", None) or {}
        if tokens.get("total_cost") == 0:
            return
        names = [str(message.response_metadata.get("model_name") or ""), *model._listed_as]
        self.usage += Usage(
            calls=1,
            input_tokens=tokens.get("input_tokens"),
            output_tokens=tokens.get("output_tokens"),
            cost_usd=cost_usd(names, tokens),
        )


class _Question(Generic[T]):
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
        self.spent = _Spent()
        self.way = model._memory.way
        self.by_thread = False

    def steps(self) -> Steps[Reply[T]]:
        """Ask, and once more where the reply gives no verdict."""
        messages = _opening(self.prompt)
        message = yield from self._answer(messages)
        try:
            return self._reply(message)
        except (ReplyFault, JudgeReplyError, ValidationError) as error:
            fault = _as_fault(error)
        again = yield from self._answer([*messages, *_ask_again(message, fault, self.schema)])
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
        if not self.model._memory.chats:
            yield InThread(lambda: self.model.chat)  # may import for seconds
        while True:
            sent = messages if self.way.structured else self._with_form(messages)
            try:
                runnable = self._runnable()
                message = yield from self._persistently(runnable, sent)
            except LLMJudgeError:
                raise
            except _NoNativeForm:
                self.way = self.way._replace(structured=False)
            except Exception as error:
                spoken = _said_in(error)
                if spoken is not None:
                    return spoken
                self.way = self._narrower(error)
            else:
                self._remember()
                return message

    def _remember(self) -> None:
        self.model._memory.way = self.way

    def _with_form(self, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        return _with_form(messages, self.schema)

    def _narrower(self, error: Exception) -> _Way:
        if is_refusal_of_the_form(error):
            way = self.way.without(error, sends_temperature=self.model.temperature is not None)
            if way is not None:
                return way
        raise self._call_error(error) from self._shareable(error)

    def _runnable(self) -> Runnable[Any, Any]:
        chat, forms = self.model._chat_for(self.way), self.model._memory.forms
        if not self.way.structured or self.model._fresh:
            return native_form(chat, self.schema) if self.way.structured else chat
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
                message = _as_message(answer)
                spent.add(self.model, message)
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


class _PlainQuestion(_Question[str]):
    """One question to a model without a form for its answer."""

    def __init__(self, model: JudgeModel, prompt: FilledPrompt, config: RunnableConfig | None) -> None:
        super().__init__(model, prompt, BaseModel, config, str)
        self.way = self.way._replace(structured=False)

    def steps(self) -> Steps[Reply[str]]:
        """Ask once."""
        message = yield from self._answer(_opening(self.prompt))
        return self._as_reply(raw_text(message), "text", message)

    def _with_form(self, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        return messages

    def _remember(self) -> None:
        # Not asking for a form says nothing about how the model takes one.
        known = self.model._memory.way
        self.model._memory.way = self.way._replace(structured=known.structured)


class _NoNativeForm(Exception):
    """The model has no native structured output for the schema."""


def native_form(chat: Any, schema: type[BaseModel]) -> Runnable[Any, Any]:
    """The chat model bound to the provider's own form of structured output.

    Only the bound model where the integration builds `model | parser`, as all do; what it says is read by us.
    """
    if isinstance(chat, RunnableBinding):
        raise _NoNativeForm  # with_structured_output would drop what is bound
    try:
        chain = chat.with_structured_output(schema)
        if isinstance(chain, RunnableSequence) and isinstance(chain.first, RunnableBinding):
            return chain.first
    except Exception as error:
        raise _NoNativeForm from error
    try:
        whole: Runnable[Any, Any] = chat.with_structured_output(schema, include_raw=True)
    except TypeError:
        return chain  # type: ignore[no-any-return]
    return whole


def _as_message(answer: Any) -> BaseMessage:
    """What a runnable gave, as the message it was: `include_raw` wraps it, some models parse it themselves."""
    if isinstance(answer, Mapping) and isinstance(answer.get("raw"), BaseMessage):
        answer = answer["raw"]
    if isinstance(answer, BaseMessage):
        return answer
    if isinstance(answer, BaseModel):
        answer = answer.model_dump(mode="json")
    return AIMessage(answer if isinstance(answer, str) else json.dumps(answer, default=str))


def _said_in(error: BaseException) -> BaseMessage | None:
    """The model's words, where an integration raises an error over a reply it could not parse."""
    for cause in causes(error):
        if isinstance(message := getattr(cause, "raw_message", None), BaseMessage):
            return message
        completion = getattr(cause, "completion", None)
        if choices := getattr(completion, "choices", None):
            said = choices[0].message.content or ""
            return AIMessage(said, response_metadata={"finish_reason": choices[0].finish_reason})
        if isinstance(text := getattr(cause, "llm_output", None), str):
            return AIMessage(text)
    return None


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


def _parameters_of(chat: Any) -> dict[str, Any]:
    """The settings a chat model identifies itself by to LangChain's cache, as far as they are plain values."""
    known = getattr(chat, "_identifying_params", None)
    if not isinstance(known, Mapping):
        return {}
    plain = {name: value for name, value in known.items() if isinstance(value, str | int | float | bool)}
    return {name: value for name, value in plain.items() if not _SECRET.search(name)}


def _opening(prompt: FilledPrompt) -> list[BaseMessage]:
    system = [SystemMessage(prompt.system)] if prompt.system.strip() else []
    return [*system, HumanMessage(prompt.user)]


def _with_form(messages: Sequence[BaseMessage], schema: type[BaseModel]) -> list[BaseMessage]:
    """The messages with the form of the reply described in the system message."""
    form = form_of(schema)
    if isinstance(messages[0], SystemMessage):
        return [SystemMessage(f"{messages[0].text}\n\n{form}"), *messages[1:]]
    return [SystemMessage(form), *messages]


@cache
def form_of(schema: type[BaseModel]) -> str:
    """The form of a reply in words and JSON Schema."""
    return _FORM.format(schema=json.dumps(schema.model_json_schema(), separators=(",", ":"), ensure_ascii=False))


def _ask_again(message: BaseMessage, fault: ReplyFault, schema: type[BaseModel]) -> list[BaseMessage]:
    said = raw_text(message)[:_SHOWN_AGAIN] or "(empty reply)"
    return [AIMessage(said), HumanMessage(_AGAIN.format(fault=fault, form=form_of(schema)))]


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
