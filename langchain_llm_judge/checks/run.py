"""All checks of a run, in one report.

Each check looks at the run and at every sub-trace by itself; those in `whole` look at all of them together. A check
that cannot be applied to a sub-trace says so in its `why`; it is `not_applicable` when it applies nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from langchain_llm_judge.checks import arguments, calls, whole
from langchain_llm_judge.checks.base import CODES, CheckReport, CheckResult, CheckStatus, Code, Finding, Rules, tally
from langchain_llm_judge.checks.levels import Level, as_trace, levels_of
from langchain_llm_judge.errors import ConfigError, shown
from langchain_llm_judge.trace.schema import AgentTrace

Applies = Callable[[Level, Rules], str | None]
"""Why a check cannot be applied to a level; `None` when it can."""


@dataclass(frozen=True, slots=True)
class Check:
    """A rule, the codes it speaks for, and when it cannot be applied."""

    codes: tuple[Code, ...]
    find: Callable[[Level, Rules], Iterable[Finding]]
    unfit: Applies | None = None
    about_calls: bool = True
    """Says nothing where the source does not tell which tools were called."""
    of_whole_run: bool = False
    """Looks at the run with its sub-traces at once."""
    notes: Callable[[Level], list[str]] | None = None
    """What it had to leave open."""

    def why_not(self, level: Level, rules: Rules) -> str | None:
        """Why it cannot be applied here; `None` when it can."""
        blind = level.blind if self.about_calls else None
        return blind or (self.unfit(level, rules) if self.unfit else None)


CHECKS = (
    Check(("unknown_tool",), calls.unknown_tools, calls.tools_unknown),
    Check(
        ("missing_argument", "unexpected_argument", "invalid_argument"),
        arguments.bad_arguments,
        arguments.no_schema,
        notes=arguments.left_open,
    ),
    Check(("malformed_call",), calls.malformed_calls),
    Check(("failed_result",), calls.failed_results, calls.without_outputs),
    Check(("repeated_call",), calls.repeated_calls),
    Check(("step_budget",), whole.over_budget, whole.no_budget, of_whole_run=True),
    Check(("expected_tool_unused",), whole.unused_tools, whole.nothing_expected, of_whole_run=True),
    Check(("forbidden_tool",), calls.forbidden_tools, calls.nothing_forbidden),
    Check(("missing_final_answer",), whole.missing_answers, whole.no_answer_due, about_calls=False),
    Check(("unanswered_call",), calls.unanswered_calls, calls.answers_not_due),
    Check(("orphan_result",), calls.orphan_results),
)


def run_checks(
    trace: Any,
    *,
    expected_tools: Iterable[str] = (),
    forbidden_tools: Iterable[str] = (),
    max_steps: int | None = None,
    max_repeats: int = 1,
) -> CheckReport:
    """What can be said about an agent run without a model.

    What each check counts is stated at the head of its module: `checks.calls`, `checks.arguments`, `checks.whole`.

    Args:
        trace: An `AgentTrace`, or anything `to_trace` takes.
        expected_tools: Tools that must be called at least once; a name given twice, twice.
        forbidden_tools: Tools that must not be called.
        max_steps: How many tool calls may be attempted, those of sub-traces included; `None`: any number.
        max_repeats: How many times one tool may be called with the same arguments.

    Returns:
        A report with every finding and one result for every code. It passes unless a finding is an error.

    Raises:
        ConfigError: An option is not usable.
        TraceError: `trace` is not convertible.

    Example:
        >>> trace = AgentTrace(task="Weather?", tools=["weather"], steps=[], final_answer="Sunny.")
        >>> run_checks(trace, expected_tools=["weather"]).findings[0].message
        "expected tool 'weather' was not called; called are none"
    """
    return _report(as_trace(trace), _rules(expected_tools, forbidden_tools, max_steps, max_repeats))


class AgentChecks(Runnable[Any, CheckReport]):
    """The checks as a step of a chain: `agent | to_trace | AgentChecks(max_steps=5)`.

    Input: an `AgentTrace`, or anything `to_trace` takes. Needs no model. The arguments are those of `run_checks`.

    Raises:
        ConfigError: An option is not usable.
    """

    def __init__(
        self,
        *,
        expected_tools: Iterable[str] = (),
        forbidden_tools: Iterable[str] = (),
        max_steps: int | None = None,
        max_repeats: int = 1,
    ) -> None:
        self._rules = _rules(expected_tools, forbidden_tools, max_steps, max_repeats)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> CheckReport:
        """The report of one run."""
        return self._call_with_config(self._checked, input, config, run_type="chain")

    def _checked(self, source: Any) -> CheckReport:
        return _report(as_trace(source), self._rules)


def _rules(expected: Iterable[str], forbidden: Iterable[str], max_steps: int | None, max_repeats: int) -> Rules:
    rules = Rules(
        expected_tools=_tool_names("expected_tools", expected),
        forbidden_tools=frozenset(_tool_names("forbidden_tools", forbidden)),
        max_steps=None if max_steps is None else _whole_number("max_steps", max_steps, least=0),
        max_repeats=_whole_number("max_repeats", max_repeats, least=1),
    )
    both = sorted(rules.forbidden_tools & set(rules.expected_tools))
    if both:
        raise ConfigError(f"{shown(both[0])} is in expected_tools and in forbidden_tools; keep it in one of them")
    return rules


def _tool_names(option: str, names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise ConfigError(f"{option}={shown(names)} is not a list; give tool names such as ['search']")
    given = tuple(names)
    for name in given:
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"{option} holds {shown(name)}; give tool names such as 'search'")
    return given


def _whole_number(option: str, value: object, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{option}={shown(value)} is not usable; give a whole number from {least} on")
    return value


def _report(trace: AgentTrace, rules: Rules) -> CheckReport:
    levels = levels_of(trace)
    findings: list[Finding] = []
    results: dict[Code, CheckResult] = {}
    for check in CHECKS:
        outcome = _apply(check, levels[:1] if check.of_whole_run else levels, rules)
        findings += outcome.findings
        results |= {code: outcome.result(code) for code in check.codes}
    return CheckReport(
        passed=all(finding.severity != "error" for finding in findings),
        findings=_in_order(findings, levels),
        results={code: results[code] for code in CODES},
    )


def _apply(check: Check, levels: list[Level], rules: Rules) -> _Outcome:
    outcome = _Outcome()
    for level in levels:
        why_not = check.why_not(level, rules)
        if why_not is not None:
            outcome.left_out.append((level.path, why_not))
        else:
            outcome.applied = True
            outcome.findings += check.find(level, rules)
            outcome.notes += check.notes(level) if check.notes else []
    return outcome


@dataclass(slots=True)
class _Outcome:
    """What one check gave over all levels."""

    applied: bool = False
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: list[tuple[tuple[str, ...], str]] = field(default_factory=list)

    def result(self, code: Code) -> CheckResult:
        if not self.applied:
            return _settled("not_applicable", "; ".join(dict.fromkeys(why for _, why in self.left_out)))
        own = [finding for finding in self.findings if finding.code == code]
        skipped = [f"not told for {'/'.join(path) or 'the run itself'}: {why}" for path, why in self.left_out]
        why = "; ".join(dict.fromkeys([tally(own) or "nothing found", *self.notes, *skipped]))
        failed = any(finding.severity == "error" for finding in own)
        return _settled("failed" if failed else "passed", why)


@lru_cache(maxsize=256)
def _settled(status: CheckStatus, why: str) -> CheckResult:
    # Most reports say the same of most codes; results are frozen, so that they can share these.
    return CheckResult(status=status, why=why)


def _in_order(findings: list[Finding], levels: list[Level]) -> list[Finding]:
    order = {path: position for position, path in reversed(list(enumerate(level.path for level in levels)))}
    last = max((len(level.trace.steps) for level in levels), default=0)
    return sorted(findings, key=lambda finding: (order[finding.path], last if finding.step is None else finding.step))
