"""RAG judged claim by claim: every score is computed from verdicts that name their passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel

from langchain_llm_judge.config import DEFAULT_THRESHOLD
from langchain_llm_judge.errors import ConfigError, InputError, JudgeReplyError, shown
from langchain_llm_judge.judges.base import Ask, Flow, Judge, Retrieve, Run, Together
from langchain_llm_judge.judges.inputs import as_fields, optional_text, question_and_answer
from langchain_llm_judge.judges.rag_offline import verdicts_by_engine
from langchain_llm_judge.judges.rag_replies import PARTS, PartReader, Parts, Question, RAGReply
from langchain_llm_judge.judges.rag_verdicts import (
    ClaimVerdict,
    PassageVerdict,
    RAGEvaluation,
    average_precision,
    supported_share,
)
from langchain_llm_judge.models.offline import OfflineEngine
from langchain_llm_judge.models.resolve import resolve_model
from langchain_llm_judge.models.structured import JudgeModel, Reply
from langchain_llm_judge.prompts import FilledPrompt, load_prompt
from langchain_llm_judge.results import Usage
from langchain_llm_judge.retrieval import as_documents, as_provider
from langchain_llm_judge.safety.fence import fence, fence_all, neutralize, nonce_for
from langchain_llm_judge.safety.injection import scan_parts
from langchain_llm_judge.trace.values import clean

MAX_CONTEXT_TOKENS = 32_000
_BYTES_PER_TOKEN = 3
"""A careful estimate for any script; exact counts need the model's own tokenizer."""


@dataclass(frozen=True)
class RAGCase:
    """One answer to judge, with the passages it is judged against."""

    question: str
    answer: str
    reference: str | None
    contexts: list[str]

    @property
    def shown(self) -> dict[int, str]:
        """The passages that are not blank, by their index in the whole list."""
        return {index: text for index, text in enumerate(self.contexts) if text.strip()}

    def parts(self) -> dict[str, str | None]:
        """Everything the data controls, by name."""
        passages = {f"contexts[{index}]": text for index, text in self.shown.items()}
        return {"question": self.question, "answer": self.answer, "reference": self.reference, **passages}


class RAGJudge(Judge[RAGEvaluation]):
    """Is the answer supported by the passages that were retrieved, and were they the right ones?

    The judge rules on every claim, passage and reference claim; the scores are computed here. World
    knowledge is no support. Passes where faithfulness reaches `threshold`. Cost: one model call a
    case, more where the passages exceed `max_context_tokens`; none with `model="offline"`.

    Input: `{"question", "contexts", "answer", "reference"?}`, or a trace, whose retrieved passages are taken.

    Args:
        model: A chat model or its name, or `"offline"` for the embedded engine; see the README's table.
        provider: litellm's name of the provider, where `model` is its bare model name.
        rag: A retriever that gives the passages where the input has no `contexts`.
        config_path: Ini file with the provider's key.
        threshold: Lowest passing faithfulness, from 0 to 1.
        max_context_tokens: Passages beyond it go into further calls; estimated as UTF-8 bytes / 3.
        temperature: From 0 to 2; `JUDGE_TEMPERATURE` by default.

    Raises:
        ConfigError: A setting is not usable, or the model needs a key and none was found.

    References:
        Prompt `rag`. Claims and passages after Es et al. (2024), RAGAS; average precision as in
        Manning, Raghavan, Schütze (2008), Introduction to Information Retrieval, 8.4.

    Example:
        >>> from langchain_llm_judge import RAGJudge
        >>> result = RAGJudge("offline").invoke({
        ...     "question": "How far does the Aurora 3 go?",
        ...     "contexts": ["The Aurora 3 has a range of up to 80 km."],
        ...     "answer": "The Aurora 3 has a range of up to 80 km. It comes with a free helmet.",
        ... })
        >>> result.faithfulness, result.unsupported_claims
        (0.5, ['It comes with a free helmet.'])
    """

    def __init__(
        self,
        model: BaseChatModel | str | Any | None = None,
        provider: str | None = None,
        *,
        rag: Any | None = None,
        config_path: str | Path | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        max_context_tokens: int = MAX_CONTEXT_TOKENS,
        temperature: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(threshold=threshold, name=name)
        if isinstance(max_context_tokens, bool) or max_context_tokens < 1:
            raise ConfigError(f"max_context_tokens={shown(max_context_tokens)} is below 1; give a number such as 32000")
        self.max_context_tokens = max_context_tokens
        self.rag = None if rag is None else as_provider(rag)
        self._model = resolve_model(model, provider, config_path=config_path, temperature=temperature)

    def _judge(self, case: Any) -> Flow[RAGEvaluation]:
        fields = as_fields(case)
        question, answer = question_and_answer(fields)
        reference = optional_text(fields, "reference")
        contexts = yield from self._contexts(fields, question)
        rag_case = RAGCase(question, answer, reference, contexts)
        if not rag_case.shown:
            return self._evaluation(rag_case, Parts(), Usage(), ["no_context"], None)
        if isinstance(self._model, OfflineEngine):
            parts = verdicts_by_engine(self._model, question, answer, reference, rag_case.shown)
            return self._evaluation(rag_case, parts, Usage(), [], None)
        return (yield from self._asked(self._model, rag_case))

    def _contexts(self, fields: Mapping[str, Any], question: str) -> Flow[list[str]]:
        if "contexts" in fields or "context" in fields:
            documents = as_documents(fields.get("contexts", fields.get("context")))
        elif self.rag is not None:
            documents = yield Retrieve(self.rag, question)
        else:
            raise InputError(
                "field 'contexts' is missing and the judge has no retriever; give contexts, or RAGJudge(rag=…); "
                f"found {', '.join(map(repr, fields))}",
                field="contexts",
                found=list(fields),
            )
        return [clean(document.page_content) for document in documents]

    def _asked(self, model: JudgeModel, case: RAGCase) -> Flow[RAGEvaluation]:
        """The first call lists the claims; where the passages need more calls, those rule on the same claims."""
        first, *others = chunks(case.shown, self.max_context_tokens * _BYTES_PER_TOKEN)
        readings = [(yield from _reading(model, case, first, None))]
        listed = readings[0].parts
        readings += yield Together([Run(partial(_reading, model, case, chunk, listed)) for chunk in others])
        return self._evaluation(
            case,
            _merged([reading.parts for reading in readings]),
            Usage.total(reading.usage for reading in readings),
            ["contexts_split"] if others else [],
            load_prompt("rag").version,
        )

    def _evaluation(
        self, case: RAGCase, parts: Parts, usage: Usage, notes: Sequence[str], prompt_version: str | None
    ) -> RAGEvaluation:
        claims, passages, reference_claims = parts.claims or [], parts.passages or [], parts.reference_claims or []
        faithfulness = supported_share(claims)
        return RAGEvaluation(
            faithfulness=faithfulness,
            unsupported_claims=[claim.claim for claim in claims if not claim.supported],
            context_precision=(
                None if parts.passages is None else average_precision([passage.relevant for passage in passages])
            ),
            context_recall=supported_share(reference_claims),
            answer_relevance=None if parts.answer_relevance is None else (parts.answer_relevance.level - 1) / 4,
            answer_relevance_reason=parts.answer_relevance.reason if parts.answer_relevance else None,
            claims=claims,
            passages=passages,
            reference_claims=reference_claims,
            contexts=case.contexts,
            injection=scan_parts(case.parts()),
            notes=[*notes, *([] if "no_context" in notes else _notes(case, parts))],
            passed=None if faithfulness is None else faithfulness >= self.threshold,
            threshold=self.threshold,
            judge=self._model.label,
            usage=usage,
            prompt_version=prompt_version,
        )

    def _settings(self) -> dict[str, Any]:
        return {
            **self._model.identity(),
            "prompt": [load_prompt(name).version for name in ("rag", "rag_more")],
            "max_context_tokens": self.max_context_tokens,
        }


class _Reading(NamedTuple):
    """What one call gave and spent."""

    parts: Parts
    usage: Usage


def _reading(model: JudgeModel, case: RAGCase, chunk: Mapping[int, str], listed: Parts | None) -> Flow[_Reading]:
    """One call about some of the passages; a part that stays unreadable is missing, not wrong."""
    question = Question(
        texts={index: case.contexts[index] for index in chunk},
        parts=_asked_parts(case, listed),
        claims=_texts(listed.claims) if listed else None,
        reference_claims=_texts(listed.reference_claims) if listed else None,
    )
    reader = PartReader(question)
    try:
        reply: Reply[Parts] = yield Ask(model, _prompt(case, chunk, question), RAGReply, reader)
    except JudgeReplyError as error:
        if reader.best is None or reader.best.empty:
            raise
        return _Reading(reader.best, error.usage)
    return _Reading(reply.value, reply.usage)


def _asked_parts(case: RAGCase, listed: Parts | None) -> frozenset[str]:
    """What a call rules on: the first one on all there is, a later one on passages and on the claims listed."""
    if listed is None:
        return frozenset(PARTS) if case.reference else frozenset(PARTS) - {"reference_claims"}
    return frozenset({"passages"} | {part for part in ("claims", "reference_claims") if getattr(listed, part)})


def _texts(claims: Sequence[ClaimVerdict] | None) -> list[str]:
    return [claim.claim for claim in claims or []]


def _prompt(case: RAGCase, chunk: Mapping[int, str], question: Question) -> FilledPrompt:
    """The first call lists the claims of answer and reference; later ones are given them."""
    parts: dict[str, str | None] = {"question": case.question}
    if question.claims is None:
        name = "rag"
        parts |= {"answer": case.answer, "reference": case.reference}
    else:
        name = "rag_more"
        parts |= {"claims": "\n".join(question.claims), "reference_claims": "\n".join(question.reference_claims or [])}
    nonce = nonce_for(*(neutralize(text) for text in [*parts.values(), *chunk.values()] if text))
    passages = "\n".join(fence(text, f"passage {index}", nonce=nonce) for index, text in chunk.items())
    return load_prompt(name).fill(**fence_all(parts, nonce=nonce), passages=passages)


def chunks(texts: Mapping[int, str], size: int) -> list[dict[int, str]]:
    """The passages in as few groups of at most `size` bytes as their order allows.

    A passage above `size` is cut into pieces that stand in groups of their own, under its index.
    """
    groups: list[dict[int, str]] = [{}]
    for index, text in texts.items():
        for piece in _pieces(text, size):
            full = sum(len(other.encode()) for other in groups[-1].values()) + len(piece.encode()) > size
            if groups[-1] and (full or index in groups[-1]):
                groups.append({})
            groups[-1][index] = piece
    return groups


def _pieces(text: str, size: int) -> Iterator[str]:
    """The text in pieces of at most `size` bytes, cut at white space where there is some."""
    data = text.encode()
    while len(data) > size:
        head = data[:size].decode(errors="ignore") or text[:1]
        cut = max(head.rfind(" "), head.rfind("\n")) + 1 or len(head)
        yield text[:cut]
        text = text[cut:]
        data = text.encode()
    yield text


def _merged(readings: Sequence[Parts]) -> Parts:
    """Several calls about different passages as one: a claim is supported if any passage supports it."""
    return Parts(
        claims=_merged_claims([reading.claims for reading in readings]),
        passages=_merged_passages([reading.passages for reading in readings]),
        reference_claims=_merged_claims([reading.reference_claims for reading in readings]),
        answer_relevance=readings[0].answer_relevance,
    )


def _merged_claims(readings: Sequence[list[ClaimVerdict] | None]) -> list[ClaimVerdict] | None:
    """Claim by claim; `None` if any call's is: the support might stand in the passages it was about."""
    if not readings[0]:
        return readings[0]  # nothing was listed, so later calls had nothing to rule on
    known = [reading for reading in readings if reading is not None]
    if len(known) < len(readings):
        return None
    return [_merged_claim(verdicts) for verdicts in zip(*known, strict=True)]


def _merged_claim(verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    # A quote that was found outweighs support whose quote is not there.
    best = max(verdicts, key=lambda verdict: (verdict.supported, verdict.quote_found is True))
    cited = {index for verdict in verdicts if verdict.supported == best.supported for index in verdict.passages}
    return best.model_copy(update={"passages": sorted(cited)})


def _merged_passages(readings: Sequence[list[PassageVerdict] | None]) -> list[PassageVerdict] | None:
    """One verdict for each passage, in rank order; one cut into pieces is relevant if a piece is."""
    merged: dict[int, PassageVerdict] = {}
    for reading in readings:
        if reading is None:
            return None
        for verdict in reading:
            earlier = merged.get(verdict.index)
            if earlier is None or not earlier.relevant:
                merged[verdict.index] = verdict
    return [merged[index] for index in sorted(merged)]


def _notes(case: RAGCase, parts: Parts) -> list[str]:
    """Codes for what the scores leave out."""
    verdicts = [*(parts.claims or []), *(parts.reference_claims or [])]
    codes = {
        "no_claims": parts.claims == [],
        "no_reference": case.reference is None,
        "no_reference_claims": case.reference is not None and parts.reference_claims == [],
        "quote_not_found": any(verdict.quote_found is False for verdict in verdicts),
        "blank_passages": len(case.shown) < len(case.contexts),
        **{f"unreadable_{part}": getattr(parts, part) is None for part in PARTS if part in _asked_parts(case, None)},
    }
    return [code for code, holds in codes.items() if holds]
