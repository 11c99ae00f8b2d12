"""Checks of a run as a whole.

What counts:

- `step_budget`: a step is an attempted tool call, of the run and of its sub-traces together, as a budget that could
  be dodged by delegating would be none. One finding, at the first call beyond `max_steps`.
- `expected_tool_unused`: a tool is used when it was called anywhere, in the run or in a sub-trace, however the call
  ended (a failure is reported by its own code). A name given twice has to be called twice. Names are compared
  exactly; a near one is hinted. Not applicable where the use of tools is not known.
- `missing_final_answer`: the run and each sub-trace, unless it was paused, cancelled or abandoned, or stopped on a
  call that never ran: that call is then reported already. A blank answer is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from langchain_llm_judge.checks.base import Finding, Rules, hint, listed
from langchain_llm_judge.checks.calls import STOPPED
from langchain_llm_judge.checks.levels import Level, attempts
from langchain_llm_judge.errors import shown


def over_budget(run: Level, rules: Rules) -> Iterator[Finding]:
    allowed = rules.max_steps or 0
    count = sum(1 for _ in attempts(run.trace))
    for path, step, call in islice(attempts(run.trace), allowed, allowed + 1):
        message = f"{count} tool calls were attempted, {allowed} are allowed (max_steps={allowed})"
        yield Finding(code="step_budget", message=message, step=step, tool=call.name, path=path)


def no_budget(_: Level, rules: Rules) -> str | None:
    return "no max_steps was given" if rules.max_steps is None else None


def unused_tools(run: Level, rules: Rules) -> Iterator[Finding]:
    called = Counter(call.name for _, _, call in attempts(run.trace))
    for name, wanted in Counter(rules.expected_tools).items():
        if called[name] < wanted:
            times = f"called {called[name]} of {wanted} times" if wanted > 1 else "not called"
            message = f"expected tool {shown(name)} was {times}; called are {listed(called)}"
            known = called.keys() | {tool.name for tool in run.trace.tools}
            yield run.finding("expected_tool_unused", message + hint(name, known - {name}), tool=name)


def nothing_expected(run: Level, rules: Rules) -> str | None:
    if not rules.expected_tools:
        return "no expected tools were given"
    unknown = next(("/".join(path) for path, trace in run.trace.walk() if not trace.tool_use_known), None)
    if unknown is not None and any(unused_tools(run, rules)):
        return f"the source does not tell which tools {f'the sub-trace of {unknown}' if unknown else 'the run'} called"
    return None


def missing_answers(level: Level, _: Rules) -> Iterator[Finding]:
    trace = level.trace
    if trace.final_answer is None or not trace.final_answer.strip():
        reason = f": {shown(trace.status_reason)}" if trace.status_reason else ""
        yield level.finding("missing_final_answer", f"the run gave no final answer (status {trace.status}{reason})")


def no_answer_due(level: Level, _: Rules) -> str | None:
    status = level.trace.status
    if status in STOPPED:
        return f"the run was {status}, so no answer was due"
    if not level.trace.final_answer and status in ("incomplete", "unknown") and _stopped_on_a_call(level):
        return "the run stopped on a call that never ran, which is reported as such"
    return None


def _stopped_on_a_call(level: Level) -> bool:
    last = level.exchanges[-1] if level.exchanges else None
    if last is None or last.result is not None or last.call.server_side:
        return False
    # A message after the call would be an attempt at an answer.
    return all(step.type != "message" for step in level.trace.steps[last.step :])
