"""The embedded engine, `model="offline"`: what words alone can settle, without any model.

It opens no connection and loads no weights, and the same input always gives the same verdicts. It reads
words, not meaning: it finds what the passages do not say and values that differ, and it takes a
paraphrase in other words for unsupported. It is made for English; other languages are compared word by
word (scripts without spaces character by character), without stems or negation.

Measured by `benchmarks/offline.py` on public labelled data, AUROC of the mean score of an answer's claims: 0.99 on
MTRAG (118 answers), 0.95 on BEGIN (216), 0.97 on HaluEval-QA (263). The share of supported claims ranks more
coarsely: 0.95, 0.88 and 0.85. The right passage of five came first in 96 % of 420 sets made of ClapNQ.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from langchain_llm_judge.errors import UnsupportedByEngineError
from langchain_llm_judge.models.bm25 import BM25
from langchain_llm_judge.models.evidence import SUPPORTED_FROM, Evidence, Support, statements
from langchain_llm_judge.models.sentences import YES_NO, claims, is_refusal, sentences
from langchain_llm_judge.models.statements import Statement
from langchain_llm_judge.results import Result

__all__ = ["SUPPORTED_FROM", "AnswerRelevance", "GroundedAccuracy", "OfflineEngine", "PassageRelevance", "Support"]

RELEVANT_FROM = 0.5
"""Share of the question's content words a passage must have to count as relevant."""

SHORT = 4
"""Words up to which an answer may well say none of the question's (`Paris`)."""

Level = Literal[1, 2, 3, 4, 5]
"""How directly an answer addresses the question, from 1 (not at all) to 5 (directly and fully)."""


class PassageRelevance(Result):
    """The engine's verdict on one passage."""

    index: int
    """Place of the passage, from 0."""
    relevant: bool
    reason: str
    score: float
    """BM25 as a share of the highest a passage could reach, from 0 to 1; for ranking."""


class AnswerRelevance(Result):
    """How directly an answer addresses the question."""

    level: Level
    reason: str

    @property
    def score(self) -> float:
        """`(level - 1) / 4`, from 0 to 1."""
        return (self.level - 1) / 4


class GroundedAccuracy(Result):
    """How right an answer is by the passages."""

    relevancy: float
    """From 0 to 1, by the level of relevance."""
    factual: float | None
    """Mean score of the answer's claims, from 0 to 1; `None` when it claims nothing."""
    relevancy_reason: str
    factual_reason: str
    claims: list[Support]


class OfflineEngine:
    """Verdicts on grounded answers, read off the words.

    Keeps no state: one object serves any number of threads.

    Example:
        >>> engine = OfflineEngine()
        >>> verdict = engine.support("Refunds take 30 days.", ["Refunds take 20 days."])
        >>> verdict.supported, verdict.reason
        (False, "no passage has the number '30'")
    """

    label = "offline"
    """How results name this judge."""

    def identity(self) -> dict[str, str]:
        """What decides the verdicts, as `JudgeModel.identity` gives it for chat models."""
        return {"model": self.label}

    def claims(self, text: str) -> list[str]:
        """What a text claims, one sentence each; `[]` for a refusal, a question, or a bare yes or no."""
        return claims(text)

    def support(self, claim: str, passages: Sequence[str], question: str = "") -> Support:
        """Whether the passages say one claim.

        Args:
            claim: One sentence, as `claims` gives them.
            passages: The sources, in rank order; blank ones say nothing.
            question: What was asked; numbers and names that the asker brought in need no source.
        """
        return Evidence(passages, question).support(claim)

    def check(self, text: str, passages: Sequence[str], question: str = "") -> list[Support]:
        """Whether the passages say what a text claims: `support` for each of its `claims`.

        A bare yes or no is checked against what the question asks.

        Returns:
            One verdict a claim, in order; `[]` when the text claims nothing that words can settle.
        """
        return list(_checked(text, tuple(passages), question))

    def relevant(self, question: str, passages: Sequence[str]) -> list[PassageRelevance]:
        """Which passages speak of what is asked, by BM25 over words and neighbouring words.

        Returns:
            One verdict a passage, in the given order; `[]` for a question without content words.
        """
        asked = Statement(question).terms
        if not asked:
            return []
        ranking = BM25([_words_and_pairs(passage) for passage in passages])
        query = _words_and_pairs(question)
        best = ranking.ceiling(query)
        scores = ranking.scores(query)
        return [self._relevance(i, asked, passage, scores[i] / best) for i, passage in enumerate(passages)]

    def _relevance(self, index: int, asked: frozenset[str], passage: str, score: float) -> PassageRelevance:
        terms = frozenset().union(*(statement.terms for statement in statements(passage)))
        shared = len(asked & terms)
        return PassageRelevance(
            index=index,
            relevant=shared >= RELEVANT_FROM * len(asked),
            reason=f"{shared} of the question's {len(asked)} content words are in the passage",
            score=round(score, 4),
        )

    def answer_relevance(self, question: str, answer: str, passages: Sequence[str] = ()) -> AnswerRelevance:
        """How directly the answer addresses the question.

        The level follows from the share of the question's content words that come back in the answer, or
        in the answer and the place in the passages it was taken from. An answer of the asked kind (a number
        for `how many`, a name for `who`) rises by a level. A refusal has level 1.
        """
        said = Statement(answer)
        verdicts = self.check(answer, passages, question)
        if not said.words or (not verdicts and any(map(is_refusal, sentences(answer)))):
            return AnswerRelevance(level=1, reason="the answer does not answer")
        asked = Statement(question).terms
        known = said.terms.union(*(Statement(verdict.quote).terms for verdict in verdicts))
        shared = len(asked & known)
        fits = _is_of_the_asked_kind(question, said)
        level = _level(shared / len(asked) if asked else 1.0, fits)
        if level < 4 and len(said.words) <= SHORT and (fits or not passages):
            known_kind = "of the asked kind" if fits else "without a source; words cannot tell"
            return AnswerRelevance(level=4 if fits else 3, reason=f"a short answer {known_kind}")
        reason = f"{shared} of the question's {len(asked)} content words come back in the answer or its source"
        return AnswerRelevance(level=level, reason=f"{reason}{'; of the kind that is asked for' if fits else ''}")

    def grounded_accuracy(self, question: str, answer: str, passages: Sequence[str]) -> GroundedAccuracy:
        """How right the answer is when the passages are the source of truth."""
        relevance = self.answer_relevance(question, answer, passages)
        verdicts = self.check(answer, passages, question)
        wrong = next((verdict for verdict in verdicts if not verdict.supported), None)
        supported = sum(verdict.supported for verdict in verdicts)
        reason = (
            f"{supported} of {len(verdicts)} claims are in the passages" if verdicts else "the answer claims nothing"
        )
        return GroundedAccuracy(
            relevancy=relevance.score,
            factual=sum(v.score for v in verdicts) / len(verdicts) if verdicts else None,
            relevancy_reason=relevance.reason,
            factual_reason=f"{reason}; {wrong.claim!r}: {wrong.reason}" if wrong else reason,
            claims=verdicts,
        )

    def refuse(self, task: str) -> UnsupportedByEngineError:
        """The error for what needs a model, for instance `"grading by criteria"`."""
        return UnsupportedByEngineError(
            f"the embedded engine (model='offline') cannot do {task}; it judges grounded answers (rag, accuracy with "
            f"rag). Give a chat model, for instance model='anthropic/claude-haiku-4-5-20251001'"
        )


@lru_cache(maxsize=16)
def _checked(text: str, passages: tuple[str, ...], question: str) -> tuple[Support, ...]:
    """The verdicts of `check`; the last ones are kept, as several measures of one answer ask for them."""
    evidence = Evidence(passages, question)
    found = tuple(evidence.support(claim) for claim in claims(text))
    answer = text.strip().rstrip(".!").lower()
    if found or not question.strip() or YES_NO.fullmatch(answer) is None:
        return found
    settled = Evidence(passages).settle(answer in _YES, question)
    return (settled,) if settled else ()


_YES = frozenset({"yes", "yeah", "yep", "true", "correct", "sure"})
_POLAR = frozenset(
    {"is", "are", "was", "were", "do", "does", "did", "can", "could", "will", "would", "has", "have", "had"}
)


def _words_and_pairs(text: str) -> list[str]:
    """Its content words, and all pairs of neighbouring words of a sentence (`nice for`, `for what`)."""
    parts = statements(text)
    pairs = [f"{a.term} {b.term}" for statement in parts for a, b in pairwise(statement.words)]
    return [word.term for statement in parts for word in statement.content] + pairs


def _is_of_the_asked_kind(question: str, answer: Statement) -> bool:
    """Whether an answer has what the question word asks for: a number, a date, a name, a yes or no."""
    asked = question.lower().split()
    if "when" in asked or {"how", "many"} <= set(asked) or {"how", "much"} <= set(asked) or "year" in asked:
        return bool(answer.numbers)
    if not asked:
        return False
    if asked[0] in _POLAR:
        return answer.words[0].term in {"yes", "no"} if answer.words else False
    return asked[0] in {"who", "where", "which", "whose"} and any(w.capital for w in answer.content)


def _level(share: float, fits: bool) -> Level:
    level = 1 + sum(share >= least for least in (0.01, 0.25, 0.5, 0.75)) + fits
    levels: tuple[Level, ...] = (1, 2, 3, 4, 5)
    return levels[min(level, 5) - 1]
