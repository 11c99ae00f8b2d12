import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_llm_judge.models.sentences import claims, clean, sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. J. Smith of the U.S. Army left.", ["Dr. J. Smith of the U.S. Army left."]),
        ("It costs 4.28 dollars, e.g. in Rome. Yes.", ["It costs 4.28 dollars, e.g. in Rome.", "Yes."]),
        ("No. 5 is alive. He said no. Then he left.", ["No. 5 is alive.", "He said no.", "Then he left."]),
        ('He said "Stop." She left.', ['He said "Stop."', "She left."]),
        ("It was fine.Then it rained.", ["It was fine.", "Then it rained."]),
        ("a line that is\nwrapped here.", ["a line that is\nwrapped here."]),
        ("Title\n\nFirst paragraph", ["Title", "First paragraph"]),
        ("- one item\n- another\n1. third\n2. fourth", ["- one item", "- another", "1. third", "2. fourth"]),
        ("東京は首都です。人口は多い。", ["東京は首都です。", "人口は多い。"]),
        ("Run:\n```py\nx = 1. A\n```\nDone.", ["Run:", "```py\nx = 1. A\n```", "Done."]),
        ("", []),
        (" \n *** \n", []),
    ],
)
def test_sentences(text: str, found: list[str]):
    assert sentences(text) == found


@given(st.text(max_size=200) | st.text(alphabet="aB. \n!?1-*`|\"')", max_size=80))
def test_sentences_are_slices_in_order_and_lose_no_letter(text: str):
    place = 0
    for sentence in sentences(text):
        place = text.index(sentence, place) + len(sentence)
    assert [c for s in sentences(text) for c in s if c.isalnum()] == [c for c in text if c.isalnum()]


def test_markdown_is_cleaned():
    assert clean("1. **Payment** (35%): see [the site](https://a.b/c) [1][2, 3].") == "Payment (35%): see the site."
    assert clean("> - `x_y` stays, _this_ too") == "x_y stays, this too"


@pytest.mark.parametrize(
    "refusal",
    [
        "I don't know.", "I do not have specific information about that.", "Sorry, I can't help with that.",
        "The provided documents do not contain information on the price.", "The context doesn't mention it.",
        "There is no information about refunds in the context.", "Unfortunately, I do not have that information.",
        "I'm sorry, but I cannot answer this question.", "This is not mentioned in the provided passages.",
        "Not enough information.", "It cannot be determined from the text.", "As an AI, I have no opinion.",
        "No tengo información sobre eso.", "Je ne sais pas.", "Ich weiß es nicht.", "Не знаю.", "我不知道。",
        "Would you like to know more?", "Yes.", "no", "", "Here are the steps:",
        "I hope this helps!", "Hello!", "...", "👍",
    ],
)  # fmt: skip
def test_what_claims_nothing(refusal: str):
    assert claims(refusal) == []


@pytest.mark.parametrize(
    "claim",
    [
        "Paris", "1892", "We do not offer refunds after 30 days.", "The policy does not cover water damage.",
        "You cannot return opened items.", "No refunds are given.", "Nobody knows where he went.", "It is free.",
        "東京は首都です。", "Das Paket wiegt 2 kg.",
    ],
)  # fmt: skip
def test_what_claims_something(claim: str):
    assert claims(claim) == [claim]


def test_claims_of_a_long_answer():
    answer = """Sure, here are the facts:

1. **Refunds** take 20 days [1].
2. Shipping is free.

The documents do not mention returns. Is there anything else?"""
    assert claims(answer) == ["Refunds take 20 days.", "Shipping is free."]


@pytest.mark.parametrize(
    "piece", [".", "A. ", "a. ", "\n", "\n- ", "```", "I do not have ", "the documents do not ", "[1]", "**", "1. "]
)
def test_half_a_megabyte_takes_linear_time(piece: str):
    started = time.process_time()
    claims(piece * (500_000 // len(piece)))
    assert time.process_time() - started < 6
