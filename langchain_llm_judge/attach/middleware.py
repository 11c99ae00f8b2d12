"""Judging inside `create_agent`: as LangChain v1 middleware, with a retry that tells the model why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from langchain.agents.middleware.types import AgentMiddleware, AgentState, PrivateStateAttr, hook_config
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.runtime import Runtime

from langchain_llm_judge.attach.judging import Judges, Verdicts, ajudge_all, checked_judges, judge_all
from langchain_llm_judge.errors import ConfigError, VerdictFailedError, shown
from langchain_llm_judge.prompts import load_prompt
from langchain_llm_judge.results import passed, reason_of
from langchain_llm_judge.trace.convert import to_trace
from langchain_llm_judge.trace.schema import AgentTrace

Reaction = Literal["continue", "retry", "end", "raise"]
"""What a failing verdict does.

`continue`: nothing beside being written into the state; `retry`: the reason goes back to the model;
`end`: the run stops where it is; `raise`: `VerdictFailedError`.
"""

Occasion = Literal["answer", "model", "tool"]
"""When judging happens: when the agent is done, after each model call, or after tool results."""

_SOURCE = {"lc_source": "llm_judge"}


class JudgedState(AgentState[Any]):
    """The agent's state with the verdicts."""

    evaluations: NotRequired[dict[str, Any]]
    """Name of the judge → its latest result."""
    judge_retries: NotRequired[Annotated[int, UntrackedValue, PrivateStateAttr]]


class JudgeMiddleware(AgentMiddleware[JudgedState, Any, Any]):
    """Judges an agent from inside, and acts on the verdict.

    Judges see the run so far as a trace of its messages; which tools the agent was offered is not
    known there. The latest verdicts are in the state under `evaluations`. A judge that fails, or has
    no verdict, never makes the agent try again and never changes its answer; with `on_fail="raise"` it raises.

    Args:
        judges: One judge or a list of them; the run fails if any of them fails it.
        on_fail: What a failing verdict does.
        max_retries: With `on_fail="retry"`: how often in one run; then the last answer stays.
        when: What is judged: the final answer, every model call, or every round of tool results.

    Raises:
        ConfigError: No judges, or a setting out of its range.

    Example:
        >>> from langchain_llm_judge import AgentJudge, JudgeMiddleware
        >>> middleware = [JudgeMiddleware(AgentJudge(grade=False), on_fail="retry")]
    """

    state_schema = JudgedState

    def __new__(cls, judges: Judges = (), *, when: Occasion = "answer", **settings: Any) -> JudgeMiddleware:
        """Pick the class that hooks in at the right place: hooks that are not used would still cost a node each."""
        if when not in _PLACES:
            raise ConfigError(f"when={shown(when)} is none of {', '.join(map(repr, _PLACES))}")
        if issubclass(cls, tuple(_PLACES.values())):  # a copy of one that was picked
            return super().__new__(cls)
        if cls is JudgeMiddleware:
            return super().__new__(_PLACES[when])
        return super().__new__(type(cls.__name__, (cls, _PLACES[when]), {}))

    def __init__(
        self, judges: Judges, *, on_fail: Reaction = "continue", max_retries: int = 1, when: Occasion = "answer"
    ) -> None:
        super().__init__()
        if on_fail not in ("continue", "retry", "end", "raise"):
            raise ConfigError(f"on_fail={shown(on_fail)} is none of 'continue', 'retry', 'end', 'raise'")
        if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
            raise ConfigError(f"max_retries={shown(max_retries)} is no whole number from 0; give one such as 1")
        self.judges = checked_judges(judges)
        self.on_fail = on_fail
        self.max_retries = max_retries
        self.when = when

    @property
    def name(self) -> str:
        """Name of the middleware's nodes in the graph."""
        return JudgeMiddleware.__name__

    def _judged(self, state: JudgedState) -> dict[str, Any] | None:
        return self._reaction(state, judge_all(self.judges, _run_so_far(state["messages"])))

    async def _ajudged(self, state: JudgedState) -> dict[str, Any] | None:
        return self._reaction(state, await ajudge_all(self.judges, _run_so_far(state["messages"])))

    def _reaction(self, state: JudgedState, verdicts: Verdicts) -> dict[str, Any]:
        update: dict[str, Any] = {"evaluations": verdicts.evaluations}
        if self.on_fail == "raise" and not verdicts.passed:
            raise _failure(verdicts)
        if verdicts.passed is not False:
            return update
        retries = state.get("judge_retries", 0)
        if self.on_fail == "retry" and retries < self.max_retries:
            return update | {"messages": [_objection(verdicts)], "judge_retries": retries + 1, "jump_to": "model"}
        return update | {"jump_to": "end"} if self.on_fail == "end" else update


class _AfterAnswer(JudgeMiddleware):
    @hook_config(can_jump_to=["model", "end"])
    def after_agent(self, state: JudgedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Judge the run when the agent is done."""
        return self._judged(state)

    @hook_config(can_jump_to=["model", "end"])
    async def aafter_agent(self, state: JudgedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Judge the run when the agent is done."""
        return await self._ajudged(state)


class _AfterModel(JudgeMiddleware):
    @hook_config(can_jump_to=["model", "end"])
    def after_model(self, state: JudgedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Judge the run after a model call."""
        return self._judged(state)

    @hook_config(can_jump_to=["model", "end"])
    async def aafter_model(self, state: JudgedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Judge the run after a model call."""
        return await self._ajudged(state)


class _AfterTools(JudgeMiddleware):
    @hook_config(can_jump_to=["end"])
    def before_model(self, state: JudgedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Judge the run after tool results, before the model reads them."""
        return self._judged(state) if isinstance(state["messages"][-1], ToolMessage) else None

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: JudgedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Judge the run after tool results, before the model reads them."""
        return await self._ajudged(state) if isinstance(state["messages"][-1], ToolMessage) else None


_PLACES: dict[str, type[JudgeMiddleware]] = {"answer": _AfterAnswer, "model": _AfterModel, "tool": _AfterTools}


def _run_so_far(messages: Sequence[BaseMessage]) -> AgentTrace:
    """The run as a trace; the middleware's own objections are no turns of the user."""
    return to_trace([message for message in messages if not _is_objection(message)])


def _is_objection(message: BaseMessage) -> bool:
    return message.additional_kwargs.get("lc_source") == _SOURCE["lc_source"]


def _objection(verdicts: Verdicts) -> HumanMessage:
    prompt = load_prompt("objection").fill(reason=_reasons(verdicts))
    return HumanMessage(prompt.user, additional_kwargs=dict(_SOURCE))


def _reasons(verdicts: Verdicts) -> str:
    failing = {name: result for name, result in verdicts.evaluations.items() if passed(result) is not True}
    told = [f"{name}: {reason_of(result)}" for name, result in failing.items()]
    return "\n".join([*told, *(f"{name}: {error}" for name, error in verdicts.errors.items())])


def _failure(verdicts: Verdicts) -> VerdictFailedError:
    error = VerdictFailedError(f"the agent's run did not pass; {_reasons(verdicts)}", result=verdicts.evaluations)
    error.__cause__ = next(iter(verdicts.errors.values()), None)
    return error
