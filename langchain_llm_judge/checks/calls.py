"""Checks of single calls and their results.

What counts:

- `unknown_tool`: every call of a name that was not offered; the names are compared exactly, a near one is hinted. A
  call that the model's provider ran (web search) needs no tool of ours. Not applicable where the source does not
  tell which tools were offered.
- `malformed_call`: every call whose arguments were no JSON object.
- `failed_result`: every result, also one that belongs to no call. `is_error` is an error. A result that only reads
  like one (see `reads_like_an_error`) is a warning: the framework saw nothing wrong.
- `repeated_call`: calls of one level with the same tool and the same arguments (see `equality`), whoever made
  them and however they ended, one finding a set of equal calls at the first one too many. One more than
  `max_repeats` is a warning, two more an error. A sub-trace counts by itself.
- `forbidden_tool`: every attempt, malformed ones too.
- `unanswered_call`: every call without a result (see `levels`), but those a provider ran, as it may keep the result
  to itself. Not applicable to runs that were paused, cancelled or abandoned, as their calls may have no result, nor
  to a DeepEval test case without any output.
- `orphan_result`: every result without a call.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from langchain_llm_judge.checks.base import Finding, Rules, Severity, hint, listed
from langchain_llm_judge.checks.equality import value_key
from langchain_llm_judge.checks.levels import Exchange, Level
from langchain_llm_judge.errors import shown

STOPPED = frozenset({"paused", "cancelled", "abandoned"})
"""How a run ends that was not allowed to end by itself."""

# "Error: …", "Error 404", "Error invoking tool", "ValueError('x')", "httpx.ReadTimeout: …", "An error occurred …";
# not "Error rates fell", "Errors: 0", "Error: none", "Error handling in Go".
_ERROR_TEXT = re.compile(
    r"""
    [\s"'`*_\[(<#❌⚠️🚨]*
    (?:
        (?:fatal\s+|internal\s+|unexpected\s+|tool\s+|api\s+)?(?:error|exception)
        (?:
            \s*[\])]?\s*[:!](?!\s*(?:none|null|no|0|0\.0+|false)\W*$)
          | [\])]\s
          | \s*[\])>"'`*]*\s*$
          | \s*\(
          | \s+[-–—]\s
          | \s+(?:code\s*:?\s*)?\d
          | \s+(?:occurred|encountered|raised|while|when|during)\b
          | \s+(?:executing|invoking|calling|running|fetching|reading|writing|opening|parsing|loading|processing
                 |connecting|retrieving|searching|querying|getting|creating|updating|deleting|sending|accessing)\b
        )
      | (?:an?|some)\s+(?:\w+\s+)?(?:error|exception)\s+(?:has\s+|was\s+)?(?:occurred|happened|encountered|raised)\b
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EXCEPTION_TEXT = re.compile(r"\s*(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Timeout)\s*(?:[:(]|$)")
_TRACEBACK = re.compile(r"^[ \t]*Traceback \(most recent call last\)", re.MULTILINE)
_ERROR_KEYS = re.compile(r'"(?:error|errors|exception|isError|is_error|status|success|ok)"')


def unknown_tools(level: Level, _: Rules) -> Iterator[Finding]:
    offered = frozenset(tool.name for tool in level.trace.tools)
    for exchange in level.exchanges:
        call = exchange.call
        if call.name not in offered and not call.malformed and not call.server_side:
            message = f"tool {shown(call.name)} was not offered; offered are {listed(sorted(offered))}"
            yield level.finding("unknown_tool", message + hint(call.name, offered), step=exchange.step, tool=call.name)


def tools_unknown(level: Level, _: Rules) -> str | None:
    return None if level.trace.tools_known else "the source does not tell which tools were offered"


def malformed_calls(level: Level, _: Rules) -> Iterator[Finding]:
    for exchange in level.exchanges:
        call = exchange.call
        if call.malformed:
            message = f"the arguments of {shown(call.name)} are no JSON object: {shown(call.args)}"
            yield level.finding("malformed_call", message, step=exchange.step, tool=call.name)


def failed_results(level: Level, _: Rules) -> Iterator[Finding]:
    callers = {id(exchange.result): exchange.call.name for exchange in level.exchanges if exchange.result is not None}
    for index, result in level.at(level.results):
        if not result.is_error and not reads_like_an_error(result.content):
            continue
        tool = callers.get(id(result), result.name)
        kind = f" with {result.error_type}" if result.error_type else ""
        how = f"failed{kind}" if result.is_error else "gave a result that reads like an error"
        severity: Severity = "error" if result.is_error else "warning"
        message = f"{shown(tool) if tool else 'a tool'} {how}: {shown(result.content)}"
        yield level.finding("failed_result", message, step=index, tool=tool, severity=severity)


def reads_like_an_error(content: str) -> bool:
    """Whether a result that the framework took for a success says that it failed.

    It does when it begins like an error message (`Error: …`, `Error invoking …`, `An error occurred`,
    `ValueError: …`), when a line begins a Python traceback, or when it is a JSON object with something under
    `error`, `errors` or `exception`, with `"status": "error"`, or with `success` or `ok` false. The word error
    elsewhere in a text, an empty error list and `Error: none` do not count.
    """
    head = content.lstrip()[:200].split("\n", 1)[0]
    if _ERROR_TEXT.match(head) or _EXCEPTION_TEXT.match(head):
        return True
    if content.lstrip()[:1] == "{":
        return _error_object(content)
    return "Traceback" in content and _TRACEBACK.search(content) is not None


def _error_object(content: str) -> bool:
    if not _ERROR_KEYS.search(content):
        return False
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return False
    told = any(_says_something(value.get(key)) for key in ("error", "errors", "exception"))
    flagged = value.get("isError") is True or value.get("is_error") is True
    failed = value.get("success") is False or value.get("ok") is False
    return told or flagged or failed or str(value.get("status")).casefold() == "error"


def _says_something(value: object) -> bool:
    # A number under "error" is as often a measure as a code, so it does not count.
    return value is True or (isinstance(value, (str, list, dict)) and bool(value))


def repeated_calls(level: Level, rules: Rules) -> Iterator[Finding]:
    for exchanges in _calls_made_too_often(level, rules.max_repeats):
        call = exchanges[0].call
        message = (
            f"{shown(call.name)} was called {len(exchanges)} times with the same arguments {shown(call.args)}"
            f" (steps {listed([exchange.step for exchange in exchanges])}); max_repeats={rules.max_repeats}"
        )
        yield level.finding(
            "repeated_call",
            message,
            step=exchanges[rules.max_repeats].step,
            tool=call.name,
            severity="error" if len(exchanges) > rules.max_repeats + 1 else "warning",
        )


def _calls_made_too_often(level: Level, max_repeats: int) -> Iterable[list[Exchange]]:
    """The sets of equal calls that are larger than allowed."""
    made = [exchange for exchange in level.exchanges if not exchange.call.malformed]
    keys = [value_key([exchange.call.name, exchange.call.args]) for exchange in made]
    too_often: dict[str, list[Exchange]] = {key: [] for key, count in Counter(keys).items() if count > max_repeats}
    for exchange, key in zip(made, keys, strict=True):
        if key in too_often:
            too_often[key].append(exchange)
    return too_often.values()


def forbidden_tools(level: Level, rules: Rules) -> Iterator[Finding]:
    for exchange in level.exchanges:
        name = exchange.call.name
        if name in rules.forbidden_tools:
            message = f"tool {shown(name)} is forbidden here and was called"
            yield level.finding("forbidden_tool", message, step=exchange.step, tool=name)


def nothing_forbidden(_: Level, rules: Rules) -> str | None:
    return None if rules.forbidden_tools else "no forbidden tools were given"


def unanswered_calls(level: Level, _: Rules) -> Iterator[Finding]:
    for exchange in level.exchanges:
        call = exchange.call
        if exchange.result is None and not call.malformed and not call.server_side:
            message = f"the call of {shown(call.name)} (id {shown(call.id)}) has no result"
            yield level.finding("unanswered_call", message, step=exchange.step, tool=call.name)


def answers_not_due(level: Level, _: Rules) -> str | None:
    if level.trace.status in STOPPED:
        return f"the run was {level.trace.status}, so calls may have no result"
    return without_outputs(level, _)


def without_outputs(level: Level, _: Rules) -> str | None:
    """Why nothing can be said about results: DeepEval test cases may leave every output out."""
    if level.trace.metadata.get("source") == "deepeval" and level.exchanges and not level.results:
        return "the test case gives no outputs of its tools"
    return None


def orphan_results(level: Level, _: Rules) -> Iterator[Finding]:
    for index, result in level.at(level.orphans):
        name = f" of {shown(result.name)}" if result.name else ""
        message = f"the result{name} (call id {shown(result.call_id)}) belongs to no call: {shown(result.content)}"
        yield level.finding("orphan_result", message, step=index, tool=result.name)
