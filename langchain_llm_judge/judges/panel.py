"""Several judges on one case: the majority's verdict, a tie as a tie, every vote kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import SerializeAsAny

from langchain_llm_judge.errors import ConfigError, LLMJudgeError, shown
from langchain_llm_judge.judges.base import Flow, Judge, Together, identity_of
from langchain_llm_judge.results import Feedback, Result, Usage, label_of, score_of, usage_of


class PanelVerdict(Result):
    """What the majority of a panel says."""

    verdict: str | None
    """`A`, `B` or `tie` for comparisons, `pass` or `fail` for all others; `tie` where no verdict leads.
    `None` when no member gave one."""
    passed: bool | None
    """`None` for comparisons, ties and panels without a verdict."""
    score: float | None
    """Mean of the members' scores, from 0 to 1; `None` where no member gives one."""
    votes: dict[str, int]
    """Members by verdict; those without one are in `verdicts` or `errors` only."""
    verdicts: dict[str, SerializeAsAny[Any]]
    """Name of the member → its result."""
    errors: dict[str, str]
    """Name of the member → why it gave none."""
    usage: Usage

    @property
    def winner(self) -> str | None:
        """The verdict of a panel that compares; `None` for all others, and without a vote."""
        return None if set(self.votes) <= {"pass", "fail"} else self.verdict

    def feedback(self) -> list[Feedback]:
        """One entry: the mean score, or the share of votes for the verdict where there are no scores."""
        told = ", ".join(f"{count} {verdict}" for verdict, count in self.votes.items()) or "no votes"
        metadata = {"votes": self.votes, "errors": self.errors, "verdict": self.verdict}
        return [Feedback(key="panel", score=self.score, comment=f"{self.verdict}: {told}", metadata=metadata)]


class Answer(NamedTuple):
    """What one member gave: a result, or why there is none."""

    result: Any = None
    error: LLMJudgeError | None = None


@dataclass(frozen=True)
class Vote:
    """One member's judging as an effect; its value is an `Answer`."""

    judge: Runnable[Any, Any]
    case: Any

    def perform(self, config: RunnableConfig) -> Answer:
        """Let the member judge."""
        try:
            return Answer(self.judge.invoke(self.case, config))
        except LLMJudgeError as error:
            return Answer(error=error)

    async def aperform(self, config: RunnableConfig) -> Answer:
        """Let the member judge without blocking."""
        try:
            return Answer(await self.judge.ainvoke(self.case, config))
        except LLMJudgeError as error:
            return Answer(error=error)


class Panel(Judge[PanelVerdict]):
    """The verdict of several judges by majority; where no verdict leads, a tie.

    A member that fails or has no verdict is not counted, and is kept with its reason. Members should
    differ in model: the same model asked twice mostly agrees with itself.

    Args:
        judges: At least two judges that take the same input.
        name: What the panel is called in results and stores.

    Raises:
        ConfigError: Fewer than two judges.

    References:
        Verga et al. (2024), Replacing Judges with Juries.
    """

    def __init__(self, judges: Sequence[Runnable[Any, Any]], *, name: str | None = None) -> None:
        super().__init__(name=name)
        if len(judges) < 2:
            raise ConfigError(f"a panel needs at least 2 judges, got {len(judges)}: {shown(list(judges))}")
        self.members = named_apart(judges)

    def _judge(self, case: Any) -> Flow[PanelVerdict]:
        given: list[Answer] = yield Together([Vote(judge, case) for judge in self.members.values()])
        answers = dict(zip(self.members, given, strict=True))
        return _counted(
            {name: answer.result for name, answer in answers.items() if answer.error is None},
            {name: str(answer.error) for name, answer in answers.items() if answer.error is not None},
        )

    def uncached(self) -> Panel:
        """The same panel with LangChain's cache off, for repeated measurement."""
        fresh = [judge.uncached() if isinstance(judge, Judge) else judge for judge in self.members.values()]
        return Panel(fresh, name=self.name)

    def _settings(self) -> dict[str, Any]:
        return {"members": [identity_of(judge, name) for name, judge in self.members.items()]}


def named_apart(judges: Sequence[Runnable[Any, Any]]) -> dict[str, Runnable[Any, Any]]:
    """The judges by name; a name that is taken gets a number: `GradingJudge`, `GradingJudge_2`."""
    named: dict[str, Runnable[Any, Any]] = {}
    for judge in judges:
        name = judge.get_name()
        numbered = (f"{name}_{number}" for number in count(2))
        named[name if name not in named else next(one for one in numbered if one not in named)] = judge
    return named


def _counted(verdicts: Mapping[str, Any], errors: dict[str, str]) -> PanelVerdict:
    votes = Counter(vote for vote in map(label_of, verdicts.values()) if vote is not None)
    verdict = _leading(votes)
    scores = [score for score in map(score_of, verdicts.values()) if score is not None]
    return PanelVerdict(
        verdict=verdict,
        passed={"pass": True, "fail": False}.get(verdict or ""),
        score=sum(scores) / len(scores) if scores else None,
        votes=dict(votes),
        verdicts=dict(verdicts),
        errors=errors,
        usage=Usage.total(usage_of(verdict) for verdict in verdicts.values()),
    )


def _leading(votes: Counter[str]) -> str | None:
    leaders = votes.most_common(2)
    if not leaders:
        return None
    return "tie" if len(leaders) == 2 and leaders[0][1] == leaders[1][1] else leaders[0][0]
