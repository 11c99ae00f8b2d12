"""BM25: how well each of a few texts answers to a query, by its words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

_K1 = 1.2
_B = 0.75


class BM25:
    """Okapi BM25 over a small collection.

    `score = Σ idf(t) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / mean length))` with `k1 = 1.2`, `b = 0.75` and
    `idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))`.

    References:
        Robertson and Zaragoza (2009), The Probabilistic Relevance Framework: BM25 and Beyond.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(terms) for terms in texts]
        self._lengths = [len(terms) for terms in texts]
        self._mean_length = sum(self._lengths) / max(len(texts), 1) or 1.0
        self._holders = Counter(term for counts in self._counts for term in counts)

    def idf(self, term: str) -> float:
        """Weight of a term: the fewer texts hold it, the more; always above 0."""
        holders = self._holders[term]
        return math.log(1 + (len(self._counts) - holders + 0.5) / (holders + 0.5))

    def scores(self, query: Sequence[str]) -> list[float]:
        """One score a text, from 0 (no common term), in the order of the texts."""
        return [self._score(index, dict.fromkeys(query)) for index in range(len(self._counts))]

    def ceiling(self, query: Sequence[str]) -> float:
        """What no text's score exceeds: all terms of the query, in any number."""
        return sum(self.idf(term) * (_K1 + 1) for term in dict.fromkeys(query))

    def _score(self, index: int, terms: dict[str, None]) -> float:
        norm = _K1 * (1 - _B + _B * self._lengths[index] / self._mean_length)
        counts = self._counts[index]
        return sum(self.idf(t) * counts[t] * (_K1 + 1) / (counts[t] + norm) for t in terms if counts[t])
