"""Sentences of plain and Markdown text, and which of them claim something.

Sentences are slices of the text, so a quote can be looked up where it came from. A claim is a sentence
cleaned of Markdown. No claims are: refusals ("the documents do not say"), questions, lead-ins that end
in a colon, offers of help, and a bare yes or no.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from langchain_llm_judge.models.words import words


def _listed(text: str) -> list[str]:
    return text.split()


_CODE = re.compile(r"^```.*?(?:^```[^\S\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_STOP = re.compile(
    r"""(?P<break>\n\s*)|(?P<wide>[。！？]["”』」）]*)"""
    r"""|(?P<mark>[.!?…]{1,9}+["”’»')\]*_]{0,9}+)(?=(?P<gap>\s+)|$|(?<=[^\W\d_]{2}[.!?)"])(?=[A-Z][a-z]))"""
)
_ABBREVIATIONS = frozenset(
    _listed(
        "mr mrs ms dr prof st jr sr vs etc eg ie e.g i.e cf vol fig inc ltd co corp dept est approx ca al gen gov "
        "sen rep capt col lt sgt rev hon jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k u.n d.c a.m p.m "
        "ph.d m.d b.a"
    )
)
_LIST_ITEM = re.compile(r"(?:[-*•+–]|\d{1,3}[.)]|[a-zA-Z][.)]|#{1,6}|>|\|)\s")
_LEAD = re.compile(r"^(?:\s*(?:[-*•+–>]|\d{1,3}[.)]|#{1,6}|\|)(?=\s))*\s*")
_WORD_BEFORE = re.compile(r"[\w.]{1,12}$")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, each a slice of it; code blocks stay whole."""
    found = []
    start = 0
    for block in _CODE.finditer(text):
        found += [*_sentences_of_prose(text[start : block.start()]), block.group()]
        start = block.end()
    return [*found, *_sentences_of_prose(text[start:])]


def _sentences_of_prose(text: str) -> Iterator[str]:
    start = 0
    for match in _STOP.finditer(text):
        if _parts(text, match, start):
            yield from _not_blank(text[start : match.end()])
            start = match.end()
    yield from _not_blank(text[start:])


def _not_blank(piece: str) -> Iterator[str]:
    bare = piece.strip()
    if bare and any(map(str.isalnum, bare)):
        yield bare


def _parts(text: str, match: re.Match[str], start: int) -> bool:
    """Whether a sentence ends at this full stop or line break."""
    following = text[match.end() : match.end() + 8]
    if match["break"]:
        wrapped = following[:1].islower() and text[max(start, match.start() - 1) : match.start()] not in ".!?:;"
        return not wrapped or match["break"].count("\n") > 1 or _LIST_ITEM.match(following) is not None
    if match["wide"] or match["mark"][0] != ".":
        return True
    if following.lstrip()[:1].islower():
        return False
    before = _WORD_BEFORE.search(text, max(start, match.start() - 12), match.start())
    return before is None or not _abbreviates(before.group(), following, opens=_is_blank(text, start, before.start()))


def _is_blank(text: str, start: int, end: int) -> bool:
    return end - start < 9 and not text[start:end].strip()


def _abbreviates(word: str, following: str, *, opens: bool) -> bool:
    """Whether a full stop behind `word` ends an abbreviation, an initial or a list number, not a sentence."""
    if word.lower() == "no":
        return following.strip()[:1].isdigit()
    enumerates = opens and (word.isdigit() or len(word) == 1)
    return enumerates or word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


_CITATION = re.compile(r"\s?(?:\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,9}\]|【[^】\n]{1,40}】)")
_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,2000}\)")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=[\w.,;:!?)])[*_](?!\w)|`")
YES_NO = re.compile(r"(?:yes|no|yeah|yep|nope|true|false|correct|sure)[.!]*", re.IGNORECASE)

_SOURCE = (
    r"(?:contexts?|passages?|documents?|texts?|excerpts?|sources?|articles?|search results?|knowledge base|materials?"
    r"|information)"
)
_NOTHING = r"(?:information|info|details?|data|answer|knowledge|mention|indication|context|evidence|specifics)"
_SAYS = (
    r"(?:contain|mention|provide|include|specify|say|state|give|indicate|address|answer|discuss|offer|explain|have"
    r"|cover|describe|list)"
)
_DO_NOT = r"(?:do not|does not|don['’]t|doesn['’]t|did not|didn['’]t)"
_CANNOT = r"(?:cannot|can['’]t|can not|could not|couldn['’]t|am unable to|['’]m unable to|am not able to|are unable to)"
_REFUSALS = re.compile(
    "|".join(
        (
            rf"\b(?:i|we) {_DO_NOT} (?:currently |actually |really )?(?:know|understand|see|find)\b",
            rf"\b(?:i|we) {_DO_NOT} have (?:(?:\S+ ){{0,4}}{_NOTHING}|(?:\S+ ){{0,2}}access to)",
            rf"\b(?:i|we) ?{_CANNOT} (?:\S+ )?"
            r"(?:answer|find|provide|determine|help|assist|say|tell|confirm|locate|verify)",
            r"\b(?:i am|i['’]m|we are) (?:sorry|afraid|not sure|unsure|unable)\b",
            r"^(?:sorry|apologies|my apologies|as an ai)\b",
            rf"\b(?:(?:the|these|this|any)(?: (?:provided|given|retrieved|available|supplied|above|following))?"
            rf"|provided|given|retrieved) {_SOURCE}(?: provided| given| above)? {_DO_NOT} (?:\S+ ){{0,2}}{_SAYS}",
            rf"\b(?:there is|there['’]s|there are|contains?|provides?|i have|found) (?:no|not enough|insufficient)"
            rf"(?: \S+){{0,3}} {_NOTHING}",
            rf"^(?:no|not enough|insufficient) (?:\S+ ){{0,2}}{_NOTHING}",
            r"\bnot (?:\S+ )?(?:mentioned|specified|provided|stated|given|found|discussed|available|included|covered"
            rf"|addressed|clear) (?:in|by|from|within) (?:the|these|this|your|my)(?: \S+)? {_SOURCE}",
            r"\b(?:cannot|can['’]t|can not) be (?:answered|determined)\b|\bunanswerable\b",
            r"\bno (?:lo )?(?:sé|tengo (?:suficiente )?información)|\bje ne (?:sais pas|dispose pas|peux pas répondre)",
            r"\bich (?:weiß (?:es )?nicht|habe keine informationen)|\bnão (?:sei|tenho informaç)",
            r"\bnon (?:lo )?so\b|\bnon ho informazioni|\bik weet het niet",
            r"не знаю|нет информации|我不知道|没有(?:相关)?信息|[无無]法回答|[わ分]かりません|情報がありません|모르겠",
        )
    ),
    re.IGNORECASE,
)
# What every refusal has, to save the long pattern on other sentences.
_DENIES = re.compile(
    r"not |n['’]t |no |sorry|apolog|as an ai|afraid|unsure|unable|insufficient|unanswerable|ich |je ne|[^\x00-\x7f]",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"^(?:let me know|feel free|i hope|hope (?:this|that)|please let me|is there anything|would you like"
    r"|here (?:is|are)|here['’]s|if you (?:have|need) (?:any )?(?:more|other|further|additional)|you['’]re welcome"
    r"|(?:hi|hello|thanks|thank you|great question|good question)\b)",
    re.IGNORECASE,
)


def claims(answer: str) -> list[str]:
    """The sentences of an answer that claim something, cleaned of Markdown; `[]` for a refusal."""
    cleaned = (sentence if sentence.startswith("```") else clean(sentence) for sentence in sentences(answer))
    return [sentence for sentence in cleaned if _claims_something(sentence)]


def clean(sentence: str) -> str:
    """A sentence without list marks, emphasis, citations and link targets."""
    bare = _LINK.sub(r"\1", _CITATION.sub("", sentence[_lead(sentence) :]))
    return _EMPHASIS.sub("", bare).strip(" |")


def _lead(sentence: str) -> int:
    lead = _LEAD.match(sentence)
    return lead.end() if lead else 0


def is_refusal(sentence: str) -> bool:
    """Whether a sentence says that it cannot say."""
    return _DENIES.search(sentence) is not None and _REFUSALS.search(sentence) is not None


def _claims_something(sentence: str) -> bool:
    bare = sentence.rstrip("\"'”’)")
    return (
        not bare.endswith((":", "?", "？", "："))
        and YES_NO.fullmatch(bare) is None
        and _TALK.match(bare) is None
        and not is_refusal(bare)
        and any(word.is_content for word in words(bare))
    )
