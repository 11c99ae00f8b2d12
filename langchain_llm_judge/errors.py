"""Every exception this package raises on purpose.

```
LLMJudgeError
├── ConfigError (ValueError)
│   ├── MissingAPIKeyError
│   └── UnknownModelError
├── MissingExtraError (ImportError)
├── InputError (ValueError)
├── TraceError (ValueError)
├── RetrievalError
├── ModelCallError
│   └── JudgeTimeoutError (TimeoutError)
├── JudgeReplyError (ValueError)
├── VerdictFailedError
├── UnsupportedByEngineError
├── DatasetError (ValueError)
├── StoreError
│   └── StoreVersionError
└── InsufficientDataError (ValueError)
```

A message says what failed with the value seen, what would be accepted, and what to do. The same
facts are attributes, so nobody has to read them out of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

ReplyCode = Literal["unreadable", "off_menu", "out_of_range", "wrong_count", "ambiguous", "refused", "truncated"]
"""Why a judge's reply gives no verdict.

`unreadable`: no object of the asked form; `off_menu`: a verdict that was not offered;
`out_of_range`: a number outside the declared scale; `wrong_count`: verdicts missing or too many;
`ambiguous`: two different objects; `refused`: the model declined; `truncated`: cut off by the token limit.
"""

_SHOWN = 200


def shown(value: object, limit: int = _SHOWN) -> str:
    """The `repr` of a value as error messages quote it: cut at `limit` characters, never raising."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__} whose repr fails>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


class LLMJudgeError(Exception):
    """Base of every error of this package."""


class ConfigError(LLMJudgeError, ValueError):
    """A setting, an argument or a configuration file is not usable."""


class MissingAPIKeyError(ConfigError):
    """The chosen provider needs a key and none was found."""

    def __init__(self, message: str, *, provider: str, variable: str, looked_at: Iterable[Path] = ()) -> None:
        super().__init__(message)
        self.provider = provider
        self.variable = variable
        self.looked_at = list(looked_at)


class UnknownModelError(ConfigError):
    """The judge model's name means nothing to LangChain or litellm."""

    def __init__(self, message: str, *, model: str) -> None:
        super().__init__(message)
        self.model = model


class MissingExtraError(LLMJudgeError, ImportError):
    """A feature needs an optional package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs an optional package; install it with: pip install 'langchain-llm-judge[{extra}]'"
        )
        self.feature = feature
        self.extra = extra


class InputError(LLMJudgeError, ValueError):
    """What was given to a judge is not what it judges; raised before any judge call."""

    def __init__(self, message: str, *, field: str | None = None, found: object = None) -> None:
        super().__init__(message)
        self.field = field
        """The field that is missing or wrong, where one can be named."""
        self.found = found
        """What was there instead: the keys of a mapping, or the offending value."""


class TraceError(LLMJudgeError, ValueError):
    """No trace can be made of the given source."""

    def __init__(self, message: str, *, source: str | None = None, seen: object = None) -> None:
        super().__init__(message)
        self.source = source
        """The kind of source, for instance the name of its type."""
        self.seen = seen
        """What was seen in it, for instance a state's keys."""


class RetrievalError(LLMJudgeError):
    """The retriever failed, or found nothing where a grounded verdict was asked for."""

    def __init__(self, message: str, *, query: str) -> None:
        super().__init__(message)
        self.query = query


class ModelCallError(LLMJudgeError):
    """The judge model could not be reached or refused the call."""

    def __init__(self, message: str, *, model: str, attempts: int, elapsed_s: float, retryable: bool = False) -> None:
        super().__init__(message)
        self.model = model
        self.attempts = attempts
        self.elapsed_s = elapsed_s
        self.retryable = retryable
        """Whether the same call may pass later: rate limits, server errors, dropped connections, time-outs."""


class JudgeTimeoutError(ModelCallError, TimeoutError):
    """The judge model gave no reply in time."""


class JudgeReplyError(LLMJudgeError, ValueError):
    """The judge model answered, but no verdict can be read from it, also after one re-ask."""

    def __init__(
        self,
        message: str,
        *,
        raw: str,
        code: ReplyCode = "unreadable",
        prompt_version: str | None = None,
        usage: Any = None,
    ) -> None:
        super().__init__(message)
        self.raw = raw
        """The reply's text as it came."""
        self.code = code
        self.prompt_version = prompt_version
        self.usage = usage
        """`results.Usage` of the calls that were spent, once the judge has given up."""


class VerdictFailedError(LLMJudgeError):
    """A gate did not let a value through."""

    def __init__(self, message: str, *, result: Any) -> None:
        super().__init__(message)
        self.result = result


class UnsupportedByEngineError(LLMJudgeError):
    """The embedded engine (`model="offline"`) cannot answer this; a chat model can."""


class DatasetError(LLMJudgeError, ValueError):
    """A dataset cannot be read, or a row lacks what the judges need."""

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.field = field


class StoreError(LLMJudgeError):
    """The experiment store cannot be opened, read or written."""


class StoreVersionError(StoreError):
    """The store was written by a newer version of this package."""


class InsufficientDataError(LLMJudgeError, ValueError):
    """Fewer cases than the measure needs."""

    def __init__(self, message: str, *, have: int, need: int) -> None:
        super().__init__(message)
        self.have = have
        self.need = need
