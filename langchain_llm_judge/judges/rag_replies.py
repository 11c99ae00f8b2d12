"""Reading a RAG judge's reply part by part.

A part that cannot be read never spoils the others and never becomes a number: it is asked for once
more, and then left without a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from langchain_llm_judge.errors import shown
from langchain_llm_judge.judges.rag_verdicts import ClaimVerdict, PassageVerdict
from langchain_llm_judge.models.replies import Index, Level5, Reason, ReplyFault, ReplySchema, YesNo, one_per_id
from langchain_llm_judge.safety.fence import neutralize

PARTS = ("claims", "passages", "reference_claims", "answer_relevance")


class Unreadable(NamedTuple):
    """Why a part of a reply cannot be read."""

    why: str


def _or_unreadable(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        return Unreadable(f"{place}: {fault['msg']}, got {shown(fault['input'])}".removeprefix(": "))


def _words(claim: str) -> str:
    if not claim.strip():
        raise ValueError("expected a claim in words")
    return claim


class ClaimReply(ReplySchema):
    """One claim as the judge answers it."""

    claim: Annotated[str, AfterValidator(_words)]
    supported: YesNo
    passages: list[Index] = []
    quote: Reason = ""
    reason: Reason = ""

    @model_validator(mode="before")
    @classmethod
    def _no_passages_may_be_null(cls, data: Any) -> Any:
        return {**data, "passages": data.get("passages") or []} if isinstance(data, Mapping) else data


class PassageReply(ReplySchema):
    """One passage as the judge answers it."""

    index: Index
    relevant: YesNo
    reason: Reason = ""


class RelevanceReply(ReplySchema):
    """How directly the answer addresses the question."""

    level: Level5
    reason: Reason = ""


class RAGReply(ReplySchema):
    """A judge's reply to one RAG prompt; a part that cannot be read is `Unreadable`."""

    claims: Annotated[list[ClaimReply], WrapValidator(_or_unreadable)]
    passages: Annotated[list[PassageReply], WrapValidator(_or_unreadable)]
    reference_claims: Annotated[list[ClaimReply], WrapValidator(_or_unreadable)]
    answer_relevance: Annotated[RelevanceReply, WrapValidator(_or_unreadable)]

    @model_validator(mode="before")
    @classmethod
    def _missing_parts_are_unreadable(cls, data: Any) -> Any:
        return {**dict.fromkeys(PARTS), **data} if isinstance(data, Mapping) else data


@dataclass(frozen=True)
class Question:
    """What one call asked, as far as its reply must fit."""

    texts: Mapping[int, str]
    """The passages that were shown, by index, whole."""
    parts: frozenset[str] = frozenset(PARTS)
    """The parts that count; others are not read, and no fault when they are missing."""
    claims: Sequence[str] | None = None
    """Claims an earlier call listed; `None` when this call lists them."""
    reference_claims: Sequence[str] | None = None


@dataclass(frozen=True)
class Parts:
    """What could be read of the replies to one call; `None` for a part that could not, or was not asked for."""

    claims: list[ClaimVerdict] | None = None
    passages: list[PassageVerdict] | None = None
    reference_claims: list[ClaimVerdict] | None = None
    answer_relevance: RelevanceReply | None = None
    faults: Mapping[str, str] = field(default_factory=dict)
    """Part → what is wrong with it; also for claims that were read but whose quote is not in its passage."""

    @property
    def empty(self) -> bool:
        """Whether nothing at all could be read."""
        return all(getattr(self, part) is None for part in PARTS)

    def improved_by(self, later: Parts) -> Parts:
        """The later reading, with the earlier one's parts where the later has none."""
        kept = {part: getattr(self, part) for part in PARTS if getattr(later, part) is None}
        return replace(later, **kept)


class PartReader:
    """Reads the replies to one call: asks once more for what is missing, then keeps what there is."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.best: Parts | None = None

    def __call__(self, reply: RAGReply) -> Parts:
        """The parts of a reply.

        Raises:
            ReplyFault: Something is missing and this is the first reply, or nothing can be read.
        """
        parts = read_parts(reply, self.question)
        first = self.best is None
        self.best = self.best.improved_by(parts) if self.best else parts
        if (first and parts.faults) or self.best.empty:
            told = "; ".join(f"{part}: {fault}" for part, fault in parts.faults.items())
            raise ReplyFault(told, "wrong_count")
        return self.best


def read_parts(reply: RAGReply, question: Question) -> Parts:
    """Every part on its own, with what is wrong with it."""
    faults: dict[str, str] = {}

    def part(name: str, read: Any) -> Any:
        given: object = getattr(reply, name)
        if name not in question.parts:
            return None
        try:
            if isinstance(given, Unreadable):
                raise ReplyFault(given.why)
            return read(given)
        except ReplyFault as fault:
            faults[name] = str(fault)
            return None

    claims = part("claims", lambda given: _claims(given, question, question.claims))
    passages = part("passages", lambda given: _passages(given, question))
    reference_claims = part("reference_claims", lambda given: _claims(given, question, question.reference_claims))
    relevance = part("answer_relevance", lambda given: given)
    for name, verdicts in (("claims", claims), ("reference_claims", reference_claims)):
        unfounded = [verdict for verdict in verdicts or [] if verdict.quote_found is False]
        if unfounded:
            faults[name] = (
                f"the quote {shown(unfounded[0].quote)} for claim {shown(unfounded[0].claim)} does not stand in "
                f"passages {unfounded[0].passages}; copy the words from a passage that is cited"
            )
    return Parts(claims, passages, reference_claims, relevance, faults)


def _claims(given: list[ClaimReply], question: Question, listed: Sequence[str] | None) -> list[ClaimVerdict]:
    verdicts = _distinct([_claim(claim, question) for claim in given])
    return verdicts if listed is None else _matched(verdicts, listed)


def _claim(given: ClaimReply, question: Question) -> ClaimVerdict:
    unknown = [index for index in given.passages if index not in question.texts]
    if unknown:
        raise ReplyFault(f"claim {shown(given.claim)} cites passages {unknown}, shown were {sorted(question.texts)}")
    cited = sorted(set(given.passages))
    return ClaimVerdict(
        claim=given.claim,
        supported=given.supported,
        passages=cited,
        quote=given.quote,
        quote_found=any(quoted(given.quote, question.texts[index]) for index in cited) if given.supported else None,
        reason=given.reason,
    )


def _distinct(verdicts: list[ClaimVerdict]) -> list[ClaimVerdict]:
    """Identical repeats are one; two different verdicts on one claim are a fault."""
    by_claim: dict[str, ClaimVerdict] = {}
    for verdict in verdicts:
        earlier = by_claim.setdefault(folded(verdict.claim), verdict)
        if earlier.supported != verdict.supported:
            raise ReplyFault(f"claim {shown(verdict.claim)} has two different verdicts")
    return list(by_claim.values())


def _matched(verdicts: list[ClaimVerdict], listed: Sequence[str]) -> list[ClaimVerdict]:
    """The verdicts in the order of the listed claims, matched by their words; those reworded by their order."""
    by_claim = {folded(verdict.claim): verdict for verdict in verdicts}
    asked = [folded(claim) for claim in listed]
    reworded = [verdict for claim, verdict in by_claim.items() if claim not in asked]
    if len(reworded) != len({*asked} - {*by_claim}):
        raise ReplyFault(f"{len(verdicts)} verdicts for {len(listed)} claims")
    in_order = iter(reworded)
    for claim in asked:
        if claim not in by_claim:
            by_claim[claim] = next(in_order)
    return [by_claim[folded(claim)].model_copy(update={"claim": claim}) for claim in listed]


def _passages(given: list[PassageReply], question: Question) -> list[PassageVerdict]:
    verdicts = [PassageVerdict(index=one.index, relevant=one.relevant, reason=one.reason) for one in given]
    return one_per_id(verdicts, sorted(question.texts), lambda verdict: verdict.index, "passage")


def folded(text: str) -> str:
    """The text without differences of white space and case."""
    return re.sub(r"\s+", " ", text).strip().casefold()


def quoted(quote: str, passage: str) -> bool:
    """Whether the quote stands in the passage, white space and case aside; an empty quote does not."""
    words = folded(quote)
    # The judge copies from the prompt, where look-alikes of fences have lost their sharp form.
    return bool(words) and (words in folded(passage) or words in folded(neutralize(passage)))
