import math

import pytest

from langchain_llm_judge.models.bm25 import BM25


def test_one_term_by_hand():
    # N = 2, n = 1: idf = ln(1 + 1.5/1.5) = ln 2; length 2 of mean 2, tf = 1: 1·2.2/(1 + 1.2·(0.25 + 0.75)) = 1
    assert BM25([["a", "b"], ["c", "d"]]).scores(["a"]) == [pytest.approx(math.log(2)), 0.0]


def test_length_and_repeats_by_hand():
    # lengths 1 and 3, mean 2; both hold the term: idf = ln(1 + 0.5/2.5) = ln 1.2
    # first: 2.2/(1 + 1.2·(0.25 + 0.75·0.5)) = 2.2/1.75; second: tf 2: 4.4/(2 + 1.2·(0.25 + 0.75·1.5)) = 4.4/3.65
    first, second = BM25([["a"], ["a", "a", "b"]]).scores(["a", "a"])
    assert first == pytest.approx(math.log(1.2) * 2.2 / 1.75)
    assert second == pytest.approx(math.log(1.2) * 4.4 / 3.65)


def test_no_score_exceeds_the_ceiling():
    ranking = BM25([["a"] * 50, ["b"]])
    assert max(ranking.scores(["a", "b"])) < ranking.ceiling(["a", "b"])


def test_nothing_in_nothing_out():
    assert BM25([]).scores(["a"]) == []
    assert BM25([[], ["a"]]).scores([]) == [0.0, 0.0]
    assert BM25([[]]).scores(["a"]) == [0.0]
