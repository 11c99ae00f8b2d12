"""The log-probabilities of a score, in the form by which `GEval` weights it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

_SCALE = frozenset(str(score) for score in range(11))
_SCORE = re.compile(r'"score"\s*:\s*"?(\d+)')


def score_weights(score: int, logprobs: Any) -> Any:
    """The token that is the score, with the scores that might have stood in its place; `None` where unknown."""
    tokens = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    token = _score_token(score, tokens) if tokens else None
    if token is None:
        return None
    others = [
        SimpleNamespace(token=other["token"].strip(), logprob=other["logprob"])
        for other in token.get("top_logprobs") or []
        if other["token"].strip() in _SCALE
    ]
    return SimpleNamespace(content=[SimpleNamespace(token=str(score), top_logprobs=others)]) if others else None


def _score_token(score: int, tokens: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The one token that stands where the reply gives its score; `None` where that is not one token."""
    places = [place for place in _SCORE.finditer("".join(token["token"] for token in tokens)) if int(place[1]) == score]
    if len(places) != 1:
        return None
    at = 0
    for token in tokens:
        if at <= places[0].start(1) < at + len(token["token"]):
            return token if token["token"].strip() == str(score) else None
        at += len(token["token"])
    return None
