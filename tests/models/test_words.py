import time

import pytest

from langchain_llm_judge.models.words import words


def terms(text: str) -> list[str]:
    return [word.term for word in words(text) if word.is_content]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000", "1000"), ("1000", "one thousand"), ("$2.1 million", "$2.1M"), ("$2.1m", "$2,100,000"),
        ("twenty-five", "25"),
        ("two hundred thousand", "200,000"), ("20%", "20 percent"), ("15th", "15"), ("1950s", "1950"),
        ("2013-05-09", "9 May 2013"),
        ("Sept", "September"), ("companies", "company"), ("running", "runs"), ("grew", "growing"), ("Renée", "Renee"),
        ("Rene\u0301e", "Renée"), ("U.S.", "US"), ("USA", "US"), ("creates", "created"), ("20 °C", "20 °C"),
        ("fell", "fallen"),
        ("two million", "2,000,000"), ("5k", "5000"), ("3,5", "3.5"),
    ],
)  # fmt: skip
def test_the_same_word_in_other_clothes(one: str, other: str):
    assert sorted(terms(one)) == sorted(terms(other))


@pytest.mark.parametrize(
    ("one", "other"), [("20", "30"), ("May", "June"), ("1.2.3", "1.2.4"), ("speed", "spend"), ("$", "€")]
)
def test_different_words_stay_different(one: str, other: str):
    assert terms(one) != terms(other)


def test_places_point_at_the_text():
    text = "Prices in the U.S. rose 4.5% to $2.1 million; isn't it?"
    assert [text[w.start : w.end] for w in words(text) if w.is_content] == [
        "Prices", "U.S.", "rose", "4.5", "%", "$", "2.1 million",
    ]  # fmt: skip


def test_small_words_are_no_content():
    assert terms("It is not one of the very few that were there") == ["few"] or terms("It is of the") == []
    assert terms("May I come with us?") == terms("May come")
    assert terms("He moved to the US in May") == ["mov", "us", "may"]


def test_scripts_without_spaces_are_read_character_by_character():
    assert terms("東京です") == ["東", "京", "で", "す"]


@pytest.mark.parametrize("piece", ["a", "1", "1,", "a.", "n't", "é", "東", "-", "2013-05-09", "one ", "hundred "])
def test_one_megabyte_takes_linear_time(piece: str):
    started = time.process_time()
    words(piece * (500_000 // len(piece)))
    assert time.process_time() - started < 5
