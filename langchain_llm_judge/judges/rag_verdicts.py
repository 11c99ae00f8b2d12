"""What RAG evaluation returns, and the arithmetic from verdicts to scores."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_llm_judge.results import Feedback, Result, Usage
from langchain_llm_judge.safety.injection import InjectionFinding


class ClaimVerdict(Result):
    """One claim of an answer or a reference, checked against the passages."""

    claim: str
    supported: bool
    passages: list[int]
    """Indices of the passages cited, from 0 over the list that was given."""
    quote: str
    """The words that support the claim; empty where it is not supported."""
    quote_found: bool | None
    """Whether the quote stands in a cited passage, white space and case aside; `None` for unsupported claims."""
    reason: str
    score: float | None = None
    """How fully the passages say it, from 0 to 1, where the judge is the embedded engine; else `None`."""


class PassageVerdict(Result):
    """Whether one passage helps to answer the question."""

    index: int
    """From 0 over the list that was given, blank passages counted."""
    relevant: bool
    reason: str
    score: float | None = None
    """How well it matches the question, from 0 to 1, for ranking passages, where the judge is the embedded engine;
    else `None`."""


class RAGEvaluation(Result):
    """An answer judged claim by claim against its passages. Every score is `None` where `notes` says why."""

    faithfulness: float | None
    """Supported claims of the answer / all its claims, from 0 to 1; see `supported_share` for the embedded engine."""
    unsupported_claims: list[str]
    """Claims without support: possible hallucinations."""
    context_precision: float | None
    """Average precision of the relevant passages in rank order, from 0 to 1; 0.0 when none is relevant."""
    context_recall: float | None
    """Covered claims of the reference / all its claims, from 0 to 1."""
    answer_relevance: float | None
    """How directly the answer addresses the question: five levels at 0, .25, .5, .75 and 1."""
    answer_relevance_reason: str | None
    claims: list[ClaimVerdict]
    passages: list[PassageVerdict]
    reference_claims: list[ClaimVerdict]
    contexts: list[str]
    """The passages that were judged, as given; verdicts count their indices in this list."""
    injection: list[InjectionFinding]
    """Findings of the scan in passages, answer, question and reference; they change no score."""
    notes: list[str]
    """Codes: `no_context`, `no_claims`, `no_reference`, `no_reference_claims`, `quote_not_found`,
    `contexts_split`, `blank_passages`, `unreadable_claims`, `unreadable_passages`,
    `unreadable_reference_claims`, `unreadable_answer_relevance`."""
    passed: bool | None
    """Whether `faithfulness` reaches the threshold; `None` where it is `None`."""
    threshold: float
    judge: str
    usage: Usage
    prompt_version: str | None

    def feedback(self) -> list[Feedback]:
        """The four scores; those without a verdict carry the notes."""
        metadata = {"judge": self.judge, "prompt_version": self.prompt_version, "notes": self.notes}
        scores = {
            "faithfulness": (self.faithfulness, share(self.claims)),
            "context_precision": (self.context_precision, share(self.passages)),
            "context_recall": (self.context_recall, share(self.reference_claims)),
            "answer_relevance": (self.answer_relevance, self.answer_relevance_reason),
        }
        ungraded = f"no verdict: {', '.join(self.notes)}"
        return [
            Feedback(key=key, score=score, comment=ungraded if score is None else comment, metadata=metadata)
            for key, (score, comment) in scores.items()
        ]


def share(verdicts: Sequence[ClaimVerdict] | Sequence[PassageVerdict]) -> str:
    """The count behind a score, for instance `2 of 3 claims supported; not: It is free.`"""
    kind = "passages relevant" if verdicts and isinstance(verdicts[0], PassageVerdict) else "claims supported"
    missing = [verdict.claim for verdict in verdicts if isinstance(verdict, ClaimVerdict) and not verdict.supported]
    told = f"{sum(map(_holds, verdicts))} of {len(verdicts)} {kind}{_by_score(verdicts)}"
    return f"{told}; not: {' | '.join(missing)}" if missing else told


def _by_score(verdicts: Sequence[ClaimVerdict] | Sequence[PassageVerdict]) -> str:
    """How the embedded engine's claims count, for the arithmetic in words."""
    scores = [verdict.score for verdict in verdicts if isinstance(verdict, ClaimVerdict) and verdict.score is not None]
    return f", which count {' + '.join(f'{score:.2f}' for score in scores)}" if scores else ""


def supported_share(claims: Sequence[ClaimVerdict]) -> float | None:
    """Supported claims / all claims, from 0 to 1; `None` without claims.

    A claim counts 1 or 0 by its verdict; the embedded engine's claims count by their `score`, which tells how
    fully the passages say them: an answer of one sentence would else be all or nothing.
    """
    counts = [float(claim.supported) if claim.score is None else claim.score for claim in claims]
    return sum(counts) / len(counts) if counts else None


def average_precision(relevant: Sequence[bool]) -> float:
    """(sum over relevant ranks k of relevant-in-first-k / k) / number relevant; 0.0 when none is relevant.

    Example:
        >>> average_precision([True, False, True])
        0.8333333333333333
    """
    ranks = [rank for rank, is_relevant in enumerate(relevant, start=1) if is_relevant]
    if not ranks:
        return 0.0
    return sum(found / rank for found, rank in enumerate(ranks, start=1)) / len(ranks)


def _holds(verdict: ClaimVerdict | PassageVerdict) -> bool:
    return verdict.supported if isinstance(verdict, ClaimVerdict) else verdict.relevant
