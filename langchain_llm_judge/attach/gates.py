"""Acting on a verdict: let a value through or not, write it into a graph's state, choose the next node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from langchain_llm_judge.attach.judging import Verdicts, ajudge_all, checked_judges, judge_all
from langchain_llm_judge.errors import ConfigError, LLMJudgeError, VerdictFailedError, shown
from langchain_llm_judge.results import all_passed, passed, reason_of

OnFail = Literal["raise", "fallback"]
"""`raise`: `VerdictFailedError`; `fallback`: the given value, or what the given Runnable makes of the input."""


class Gate(Runnable[Any, Any]):
    """Lets a value through that the judge passes; see `gate`."""

    def __init__(self, judge: Runnable[Any, Any], on_fail: OnFail, fallback: Any) -> None:
        self.judge = judge
        self.on_fail = on_fail
        self.fallback = fallback
        self.name = f"gate_{judge.get_name()}"

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """The input, or what stands in for it."""
        return self._call_with_config(self._pass, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """The input, or what stands in for it, without blocking the event loop."""
        return await self._acall_with_config(self._apass, input, config, **kwargs)

    def _pass(self, value: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig) -> Any:
        try:
            verdict = self.judge.invoke(value, config)
        except LLMJudgeError as error:
            return self._instead(value, config, self._refusal(None, error))
        if passed(verdict):
            return value
        return self._instead(value, config, self._refusal(verdict, None))

    async def _apass(self, value: Any, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig) -> Any:
        try:
            verdict = await self.judge.ainvoke(value, config)
        except LLMJudgeError as error:
            refusal = self._refusal(None, error)
        else:
            if passed(verdict):
                return value
            refusal = self._refusal(verdict, None)
        if isinstance(self.fallback, Runnable) and self.on_fail == "fallback":
            return await self.fallback.ainvoke(value, config)
        return self._instead(value, config, refusal)

    def _refusal(self, verdict: Any, cause: LLMJudgeError | None) -> VerdictFailedError:
        told = f"has no verdict: {cause}" if cause else f"did not pass it: {reason_of(verdict)}"
        refusal = VerdictFailedError(f"the value was held back; {self.judge.get_name()} {told}", result=verdict)
        refusal.__cause__ = cause
        return refusal

    def _instead(self, value: Any, config: RunnableConfig, refusal: VerdictFailedError) -> Any:
        if self.on_fail == "raise":
            raise refusal
        return self.fallback.invoke(value, config) if isinstance(self.fallback, Runnable) else self.fallback


def gate(judge: Runnable[Any, Any], *, on_fail: OnFail = "raise", fallback: Any = None) -> Runnable[Any, Any]:
    """A Runnable that lets a value through where the judge passes it.

    The value is held back until the verdict is there, also in streams. No verdict is not a pass: a
    judge that fails or finds nothing to judge holds the value back too.

    Args:
        judge: Any judge whose input the value is.
        on_fail: What happens to a value that does not pass.
        fallback: With `on_fail="fallback"`: a value, or a Runnable that is given the held-back one.

    Raises:
        ConfigError: `judge` is no judge, or `on_fail` is neither of the two.
        VerdictFailedError: When invoked, with `on_fail="raise"`; `.result` holds the verdict, if any.
    """
    if on_fail not in ("raise", "fallback"):
        raise ConfigError(f"on_fail={shown(on_fail)} is neither 'raise' nor 'fallback'")
    only, *others = checked_judges(judge).values()
    if others:
        raise ConfigError(f"a gate has one judge, got {1 + len(others)}: {shown(judge)}; give Panel([…]) for several")
    return Gate(only, on_fail, fallback)


def judge_node(judge: Any, key: str = "evaluations") -> Runnable[Any, dict[str, Any]]:
    """A node for a `StateGraph` that judges the state and writes the verdicts into it.

    The judge reads the state as its input: `question`/`answer` keys, or `messages`. The node returns
    `{key: {judge name: result}}`; a judge that fails writes its error's text under its name, which counts as
    no verdict. The graph's state needs a channel `key`.

    Args:
        judge: One judge or a list of them.
        key: Where the verdicts go.
    """
    judges = checked_judges(judge)

    def node(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return {key: _written(judge_all(judges, state, config))}

    async def anode(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return {key: _written(await ajudge_all(judges, state, config))}

    return RunnableLambda(node, anode, name="judge")


def _written(verdicts: Verdicts) -> dict[str, Any]:
    return {**verdicts.evaluations, **{name: str(error) for name, error in verdicts.errors.items()}}


def route_on_verdict(pass_to: str, fail_to: str, key: str = "evaluations") -> Callable[[Any], str]:
    """A router for `add_conditional_edges`: to `pass_to` where every verdict in the state passes.

    Args:
        pass_to: Next node after a pass.
        fail_to: Next node after a failure, and where there is no verdict.
        key: Where `judge_node` wrote the verdicts.
    """

    def route(state: Any) -> str:
        verdicts = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
        return pass_to if all_passed((verdicts or {}).values()) else fail_to

    return route
