"""Running something and judging the run, in one call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.utils import AddableDict

from langchain_llm_judge.attach.judging import Judges, Panelists, Verdicts
from langchain_llm_judge.errors import LLMJudgeError
from langchain_llm_judge.trace.live import TraceRecorder
from langchain_llm_judge.trace.schema import AgentTrace
from langchain_llm_judge.trace.tools import tool_specs


@dataclass(frozen=True)
class Judged:
    """What a run gave, and what the judges say of it."""

    output: Any
    trace: AgentTrace | None
    """`None` where no trace could be made."""
    evaluations: dict[str, Any]
    """Name of the judge → its result; empty for a run that waits for a person."""
    errors: dict[str, LLMJudgeError]
    """Name of the judge → why there is no result."""

    @property
    def passed(self) -> bool | None:
        """`False` if any judge fails the run, else `None` if any has no verdict, else `True`."""
        return Verdicts(self.evaluations, self.errors).passed


class InPlace(Runnable[Any, Judged]):
    """Runs a Runnable, records the run, and judges it; see `judge_in_place`."""

    def __init__(self, runnable: Runnable[Any, Any], judges: Judges, *, rag: Any = None, **keys: Any) -> None:
        self.runnable = runnable
        self.name = f"judged_{runnable.get_name()}"
        self._panelists = Panelists(judges, rag)
        self._new_recorder = partial(TraceRecorder, **keys)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Judged:
        """Run and judge."""
        recorder = self._new_recorder()
        output = self.runnable.invoke(input, _recorded(config, recorder), **kwargs)
        trace = self._trace(recorder)
        return _judged(output, trace, self._panelists.judge(trace))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Judged:
        """Run and judge without blocking the event loop."""
        recorder = self._new_recorder()
        output = await self.runnable.ainvoke(input, _recorded(config, recorder), **kwargs)
        trace = self._trace(recorder)
        return _judged(output, trace, await self._panelists.ajudge(trace))

    def _trace(self, recorder: TraceRecorder) -> AgentTrace | None:
        """What was recorded; with the tools of the graph itself where no model call told which were offered."""
        trace = recorder.trace
        if trace is None or trace.tools_known:
            return trace
        tools = tool_specs(self.runnable)
        return trace if tools is None else trace.model_copy(update={"tools": tools, "tools_known": True})


class WithVerdicts(Runnable[Any, dict[str, Any]]):
    """A chain whose output carries its verdicts; see `with_verdicts`."""

    def __init__(self, chain: Runnable[Any, Any], judges: Judges, *, rag: Any = None, **keys: Any) -> None:
        self._in_place = InPlace(chain, judges, rag=rag, **keys)
        self.name = self._in_place.name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Run the chain and add the verdicts to its output."""
        judged = self._in_place.invoke(input, config, **kwargs)
        return {**_as_dict(judged.output), **_verdicts(judged)}

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Run the chain and add the verdicts to its output, without blocking the event loop."""
        judged = await self._in_place.ainvoke(input, config, **kwargs)
        return {**_as_dict(judged.output), **_verdicts(judged)}

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> Iterator[dict[str, Any]]:
        """The chain's own chunks as they come, then the verdicts."""
        recorder = self._in_place._new_recorder()
        for chunk in self._in_place.runnable.stream(input, _recorded(config, recorder), **kwargs):
            yield AddableDict(_as_dict(chunk))
        trace = self._in_place._trace(recorder)
        yield AddableDict(_verdicts(_judged(None, trace, self._in_place._panelists.judge(trace))))

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[dict[str, Any]]:
        """The chain's own chunks as they come, then the verdicts, without blocking the event loop."""
        recorder = self._in_place._new_recorder()
        async for chunk in self._in_place.runnable.astream(input, _recorded(config, recorder), **kwargs):
            yield AddableDict(_as_dict(chunk))
        trace = self._in_place._trace(recorder)
        yield AddableDict(_verdicts(_judged(None, trace, await self._in_place._panelists.ajudge(trace))))


def judge_in_place(
    runnable: Runnable[Any, Any],
    judges: Judges,
    *,
    rag: Any = None,
    messages_key: str | None = None,
    task_key: str | None = None,
    answer_key: str | None = None,
) -> Runnable[Any, Judged]:
    """A Runnable that runs `runnable` and returns its output together with the judges' verdicts.

    An exception of the run leaves as it would without judging. A run that waits for a person is not judged.

    Args:
        runnable: A chain, a graph, an executor; it is not changed.
        judges: One judge or a list of them; every one sees the run's trace.
        rag: A retriever whose passages judges get where the run itself retrieved none.
        messages_key: Key of the messages in the graph's state; found by itself otherwise.
        task_key: Key of the question in the run's input.
        answer_key: Key of the answer in the run's output.

    Example:
        >>> from langchain_core.runnables import RunnableLambda
        >>> from langchain_llm_judge import AgentJudge, judge_in_place
        >>> judged = judge_in_place(RunnableLambda(str.upper), AgentJudge(grade=False)).invoke("hi")
        >>> judged.output, judged.passed
        ('HI', True)
    """
    keys = {"messages_key": messages_key, "task_key": task_key, "answer_key": answer_key}
    return InPlace(runnable, judges, rag=rag, **keys)


def with_verdicts(
    chain: Runnable[Any, Any],
    judges: Judges,
    *,
    rag: Any = None,
    messages_key: str | None = None,
    task_key: str | None = None,
    answer_key: str | None = None,
) -> Runnable[Any, dict[str, Any]]:
    """A Runnable that gives the chain's output with the verdicts under `evaluations`.

    An output that is no dict comes back under `output`. Where a judge failed, `evaluation_errors` says why.
    Streams give the chain's chunks as they come, and the verdicts at the end. Takes the arguments of `judge_in_place`.
    """
    keys = {"messages_key": messages_key, "task_key": task_key, "answer_key": answer_key}
    return WithVerdicts(chain, judges, rag=rag, **keys)


def _recorded(config: RunnableConfig | None, recorder: TraceRecorder) -> RunnableConfig:
    return merge_configs(config, {"callbacks": [recorder]})


def _judged(output: Any, trace: AgentTrace | None, verdicts: Verdicts) -> Judged:
    return Judged(output, trace, verdicts.evaluations, verdicts.errors)


def _as_dict(output: Any) -> Mapping[str, Any]:
    return output if isinstance(output, Mapping) else {"output": output}


def _verdicts(judged: Judged) -> dict[str, Any]:
    errors = {name: str(error) for name, error in judged.errors.items()}
    return {"evaluations": judged.evaluations, **({"evaluation_errors": errors} if errors else {})}
