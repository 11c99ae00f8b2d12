"""What every check speaks: codes, findings, the report, and what the caller expects.

What counts, unless a check says otherwise:

- Every attempt counts as a call, also one that failed, never ran or waits for approval.
- A malformed call counts as an attempt, but is reported as `malformed_call` only: its name and its
  arguments are not looked at, and nobody waits for its result.
- Sub-traces (agents run inside a tool) are checked like the run itself; their findings carry the names of
  the tools that lead to them in `path`, and `step` is then a position in the sub-trace.
- What the source does not tell is `not_applicable`, never passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal, get_args

from langchain_llm_judge.errors import shown
from langchain_llm_judge.results import Feedback, Result

Code = Literal[
    "unknown_tool",
    "missing_argument",
    "unexpected_argument",
    "invalid_argument",
    "malformed_call",
    "failed_result",
    "repeated_call",
    "step_budget",
    "expected_tool_unused",
    "forbidden_tool",
    "missing_final_answer",
    "unanswered_call",
    "orphan_result",
]
"""What a check can find.

`unknown_tool`: a call of a tool that was not offered; `missing_argument`: a required argument is not given;
`unexpected_argument`: an argument the tool does not name; `invalid_argument`: type or value against the JSON
Schema; `malformed_call`: arguments that are no JSON object; `failed_result`: a result that is an error, or
reads like one; `repeated_call`: same tool and same arguments too often; `step_budget`: more calls than allowed;
`expected_tool_unused`: a tool that should have been called was not; `forbidden_tool`: one that should not was;
`missing_final_answer`: the run ended without an answer; `unanswered_call`: a call without a result;
`orphan_result`: a result without a call.
"""

CODES: tuple[Code, ...] = get_args(Code)

Severity = Literal["error", "warning"]
"""`error`: the check fails and the report does not pass; `warning`: worth a look."""

CheckStatus = Literal["passed", "failed", "not_applicable"]
"""`passed`: no error finding (there may be warnings); `failed`: at least one; `not_applicable`: cannot be told."""


class Finding(Result):
    """One thing that is wrong, and where."""

    code: Code
    severity: Severity = "error"
    message: str
    """A sentence: what was seen, and what is accepted."""
    step: int | None = None
    """Position in the `steps` of its trace, from 0; `None` where nothing happened that should have."""
    tool: str | None = None
    """The tool it is about; `None` where it is about the whole run."""
    path: tuple[str, ...] = ()
    """Names of the tools that lead down to the sub-trace; empty for the run itself."""


class CheckResult(Result):
    """How one check came out."""

    status: CheckStatus
    why: str
    """Why it could not be applied, or what was found, and what had to be left open."""


class CheckReport(Result):
    """All checks of one run."""

    passed: bool
    """False when there is an error finding; warnings do not count."""
    findings: list[Finding]
    """In order of the run: its own first, then those of each sub-trace."""
    results: dict[Code, CheckResult]
    """One entry for every code."""

    def feedback(self) -> list[Feedback]:
        """One score `checks` (True or False); findings and the result of each code are in its metadata."""
        return [
            Feedback(
                key="checks",
                score=self.passed,
                comment=self._summary(),
                metadata={
                    "findings": [finding.model_dump(mode="json") for finding in self.findings],
                    "results": {code: result.model_dump(mode="json") for code, result in self.results.items()},
                },
            )
        ]

    def _summary(self) -> str:
        if not self.findings:
            return "nothing found"
        told = "; ".join(f"{finding.code}: {finding.message}" for finding in self.findings[:3])
        return f"{tally(self.findings)}: {told}" + ("; …" if len(self.findings) > 3 else "")


@dataclass(frozen=True, slots=True)
class Rules:
    """What the caller expects of a run."""

    expected_tools: tuple[str, ...] = ()
    forbidden_tools: frozenset[str] = frozenset()
    max_steps: int | None = None
    max_repeats: int = 1


def tally(findings: Iterable[Finding]) -> str:
    """How many errors and warnings, in words."""
    severities = [finding.severity for finding in findings]
    counts = [(severities.count("error"), "error"), (severities.count("warning"), "warning")]
    return ", ".join(f"{count} {word}{'s' if count > 1 else ''}" for count, word in counts if count)


def listed(names: Iterable[str | int], *, limit: int = 10) -> str:
    """Names or numbers for a sentence, cut after `limit`."""
    given = list(names)
    text = ", ".join(shown(name, 60) for name in given[:limit])
    return text + (f" and {len(given) - limit} more" if len(given) > limit else "") if given else "none"


@lru_cache(maxsize=1024)
def near(name: str, names: frozenset[str]) -> str | None:
    """The name that was probably meant: equal but for case and punctuation, or a letter or two away."""
    folded = {_folded(other): other for other in sorted(names)}
    # Comparing is quadratic in length, so names longer than any real tool's are cut.
    hits = get_close_matches(_folded(name)[:80], [key[:80] for key in folded], n=1, cutoff=0.8)
    return next((other for key, other in folded.items() if key[:80] == hits[0]), None) if hits else None


def hint(name: str, names: Iterable[str]) -> str:
    """`; did you mean 'Web_Search'?` where a near name exists, else nothing."""
    meant = near(name, frozenset(names))
    return f"; did you mean {shown(meant, 60)}?" if meant is not None else ""


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold()) or name
