"""What every judge is: a LangChain Runnable that returns a verdict and keeps no state between calls.

A judge writes its algorithm once, as a generator that yields effects (a question to the model, a
retrieval) and is sent what they gave. Two drivers run it: they differ only in the line that performs an effect.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    BaseCallbackHandler,
    CallbackManagerForChainRun,
)
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from pydantic import BaseModel

from langchain_llm_judge.config import DEFAULT_THRESHOLD, Settings, checked_threshold
from langchain_llm_judge.judges.inputs import example_case
from langchain_llm_judge.models.steps import arun_steps, run_steps
from langchain_llm_judge.models.structured import JudgeModel, Reply
from langchain_llm_judge.prompts import FilledPrompt
from langchain_llm_judge.results import JUDGE_TAG, Feedback, feedback

R = TypeVar("R")
T = TypeVar("T")


class Effect(Protocol):
    """Something the outside world has to do for a judge."""

    def perform(self, config: RunnableConfig) -> Any:
        """Do it, blocking."""

    async def aperform(self, config: RunnableConfig) -> Any:
        """Do it without blocking the event loop."""


Flow: TypeAlias = Generator[Effect, Any, R]
"""A judge's algorithm: yields effects, is sent their values, returns the verdict."""


@dataclass(frozen=True)
class Ask(Generic[T]):
    """A question to the judge model; its value is a `Reply`."""

    model: JudgeModel
    prompt: FilledPrompt
    schema: type[BaseModel]
    read: Callable[[Any], T]
    """From the parsed reply to the judge's value; raises for verdicts that are missing, extra or off the menu."""

    def perform(self, config: RunnableConfig) -> Reply[T]:
        """Ask and wait."""
        return self.model.ask(self.prompt, self.schema, config, self.read)

    async def aperform(self, config: RunnableConfig) -> Reply[T]:
        """Ask without blocking."""
        return await self.model.aask(self.prompt, self.schema, config, self.read)


@dataclass(frozen=True)
class Retrieve:
    """A look-up in a retriever; its value is a list of documents, empty where nothing was found."""

    retriever: Runnable[str, list[Document]]
    query: str

    def perform(self, config: RunnableConfig) -> list[Document]:
        """Look it up and wait."""
        return self.retriever.invoke(self.query, config)

    async def aperform(self, config: RunnableConfig) -> list[Document]:
        """Look it up without blocking."""
        return await self.retriever.ainvoke(self.query, config)


@dataclass(frozen=True)
class Together:
    """Several effects: one after the other when driven sync, at once when driven async.

    Its value is the list of theirs, in order; the first error, in order, is raised when all have ended.
    """

    effects: Sequence[Effect]

    def perform(self, config: RunnableConfig) -> list[Any]:
        """Perform them in order."""
        return [effect.perform(config) for effect in self.effects]

    async def aperform(self, config: RunnableConfig) -> list[Any]:
        """Perform them at once."""
        values = await asyncio.gather(*(effect.aperform(config) for effect in self.effects), return_exceptions=True)
        for value in values:
            if isinstance(value, BaseException):
                raise value
        return values


@dataclass(frozen=True)
class Run(Generic[R]):
    """A whole flow as one effect, so that flows can be part of other flows."""

    flow: Callable[[], Flow[R]]

    def perform(self, config: RunnableConfig) -> R:
        """Drive the flow."""
        return drive(self.flow(), config)

    async def aperform(self, config: RunnableConfig) -> R:
        """Drive the flow without blocking."""
        return await adrive(self.flow(), config)


def drive(flow: Flow[R], config: RunnableConfig) -> R:
    """Run a flow to its verdict."""
    return run_steps(flow, lambda effect: effect.perform(config))


async def adrive(flow: Flow[R], config: RunnableConfig) -> R:
    """Run a flow to its verdict without blocking the event loop."""
    return await arun_steps(flow, lambda effect: effect.aperform(config))


class Judge(Runnable[Any, R]):
    """Base of every judge. A subclass writes `_judge` and, where it has more settings, `_settings`.

    Args:
        threshold: Lowest passing score, from 0 to 1.
        name: What the judge is called in results, traces and stores; its class name by default.

    Raises:
        ConfigError: `threshold` lies outside 0 to 1.
    """

    def __init__(self, *, threshold: float = DEFAULT_THRESHOLD, name: str | None = None) -> None:
        self.threshold = checked_threshold(threshold)
        self.name = name or type(self).__name__
        self._max_concurrency = Settings.from_environment().max_concurrency

    @abstractmethod
    def _judge(self, case: Any) -> Flow[R]:
        """The algorithm: checks the input, yields effects, returns the verdict."""

    def check_input(self, case: Any) -> None:
        """Raise what `invoke` would raise for this input before its first call; nothing is asked.

        Raises:
            InputError: The input is not what this judge judges.
            TraceError: No trace can be made of it.
        """
        flow = self._judge(case)
        with suppress(StopIteration):
            next(flow)
        flow.close()

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> R:
        """Judge one input."""

        def run(case: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig) -> R:
            return drive(self._judge(case, **kwargs), config)

        return self._call_with_config(run, input, _tagged(config), run_type="chain")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> R:
        """Judge one input without blocking the event loop."""

        async def run(case: Any, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig) -> R:
            return await adrive(self._judge(case, **kwargs), config)

        return await self._acall_with_config(run, input, _tagged(config), run_type="chain")

    def batch(self, inputs: list[Any], config: Any = None, **kwargs: Any) -> list[R]:
        """Judge several inputs at once, at most `JUDGE_MAX_CONCURRENCY` where the config says nothing."""
        return super().batch(inputs, self._capped(config), **kwargs)

    async def abatch(self, inputs: list[Any], config: Any = None, **kwargs: Any) -> list[R]:
        """Judge several inputs at once, at most `JUDGE_MAX_CONCURRENCY` where the config says nothing."""
        return await super().abatch(inputs, self._capped(config), **kwargs)

    def _capped(self, config: Any) -> Any:
        if isinstance(config, Sequence):
            return [self._capped(one) for one in config]
        return {"max_concurrency": self._max_concurrency, **(config or {})}

    def __call__(self, *, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **other: Any) -> Any:
        """Judge an example the way LangSmith and openevals call an evaluator.

        Passages may come as `context` or `contexts` beside the example; what else is passed is not read.

        Returns:
            One `Feedback`, or the list of them where the judge gives several scores.
        """
        case = self._example(inputs, outputs, reference_outputs)
        passages = {name: other[name] for name in ("contexts", "context") if other.get(name) is not None}
        scores: list[Feedback] = feedback(self.invoke({**case, **passages} if passages else case))
        return scores[0] if len(scores) == 1 else scores

    def _example(self, inputs: Any, outputs: Any, reference_outputs: Any) -> Any:
        """A LangSmith example as this judge's input."""
        return example_case(inputs, outputs, reference_outputs)

    def as_callback(self, **options: Any) -> BaseCallbackHandler:
        """This judge as a callback handler; takes the options of `JudgeCallbackHandler`."""
        # Through the front door: the handler lives upstairs, and judges must not import it.
        import langchain_llm_judge

        handler: BaseCallbackHandler = langchain_llm_judge.JudgeCallbackHandler([self], **options)
        return handler

    def uncached(self) -> Self:
        """The same judge with LangChain's cache off, for repeated measurement."""
        twin = copy.copy(self)
        for name, part in vars(self).items():
            if hasattr(part, "uncached"):
                setattr(twin, name, part.uncached())
        return twin

    def _settings(self) -> dict[str, Any]:
        """What decides this judge's verdicts beside its class: model, prompts, criteria."""
        return {}

    def identity(self) -> dict[str, Any]:
        """Everything that decides this judge's verdicts, as JSON values; never a key."""
        return {"judge": type(self).__name__, "name": self.name, "threshold": self.threshold, **self._settings()}

    def fingerprint(self) -> str:
        """A hash of `identity`: it changes when a stored verdict may no longer be reused."""
        text = json.dumps(self.identity(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def identity_of(judge: Runnable[Any, Any], name: str) -> dict[str, Any]:
    """What decides the verdicts of any judge: its own identity, or that of every judge it wraps or chains."""
    if isinstance(judge, Judge):
        return judge.identity()
    inside = [one.identity() for one in _judges_in(judge)]
    return {"judge": name, "judges": inside} if inside else {"judge": name}


def _judges_in(part: Any) -> Iterator[Judge[Any]]:
    if isinstance(part, Judge):
        yield part
    elif isinstance(part, Mapping):
        yield from chain.from_iterable(map(_judges_in, part.values()))
    elif isinstance(part, list | tuple):
        yield from chain.from_iterable(map(_judges_in, part))
    elif isinstance(part, Runnable):
        fields = getattr(type(part), "model_fields", {})
        yield from chain.from_iterable(_judges_in(getattr(part, field, None)) for field in fields)


def _tagged(config: RunnableConfig | None) -> RunnableConfig:
    return merge_configs(config, {"tags": [JUDGE_TAG]})
