"""What the tests of this room ask a judge model."""

from __future__ import annotations

from langchain_llm_judge.models.replies import Reason, ReplySchema, Score10
from langchain_llm_judge.prompts import FilledPrompt


class Verdict(ReplySchema):
    score: Score10
    reason: Reason = ""


def prompt(material: str = "Is 20 right?") -> FilledPrompt:
    return FilledPrompt("You are a judge.", material, "test/1+abc")
