"""RAG verdicts of the embedded engine, in the same form as a judge model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_llm_judge.judges.rag_replies import Parts, RelevanceReply
from langchain_llm_judge.judges.rag_verdicts import ClaimVerdict, PassageVerdict
from langchain_llm_judge.models.offline import OfflineEngine, Support


def verdicts_by_engine(
    engine: OfflineEngine, question: str, answer: str, reference: str | None, passages: Mapping[int, str]
) -> Parts:
    """What the engine says of one answer.

    Args:
        engine: The embedded engine.
        question: What was asked.
        answer: The answer to judge.
        reference: The right answer, if there is one.
        passages: The passages by their index in the whole list; none is blank.
    """
    texts, places = list(passages.values()), list(passages)
    relevance = engine.answer_relevance(question, answer, texts)
    relevant = engine.relevant(question, texts)
    return Parts(
        claims=_claims(engine.check(answer, texts, question), places),
        passages=[
            PassageVerdict(
                index=places[verdict.index], relevant=verdict.relevant, reason=verdict.reason, score=verdict.score
            )
            for verdict in relevant
        ]
        or None,
        reference_claims=_claims(engine.check(reference, texts, question), places) if reference else [],
        answer_relevance=RelevanceReply(level=relevance.level, reason=relevance.reason),
    )


def _claims(supports: Sequence[Support], places: Sequence[int]) -> list[ClaimVerdict]:
    return [
        ClaimVerdict(
            claim=support.claim,
            supported=support.supported,
            passages=sorted(places[index] for index in support.passages),
            quote=support.quote,
            quote_found=True if support.supported else None,
            reason=support.reason,
            score=support.score,
        )
        for support in supports
    ]
