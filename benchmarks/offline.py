"""What the embedded engine reaches on public labelled data.

Run: `JUDGE_CASES=../shared/cases python benchmarks/offline.py`

Figures, each on all rows and on two halves split by a hash of the row's id:

- AUROC of `faithfulness`: the mean over an answer's claims of `Support.score`, which is the engine's
  `RAGEvaluation.faithfulness`.
- AUROC of `share`: supported claims / all claims, by the verdicts alone. An answer of one
  sentence has 0 or 1 here, which is coarse for ranking.
- Both are taken over rows with a label and a verdict. Rows without a verdict (no passages, or an answer that
  claims nothing, such as a refusal or a question) are counted beside them, and not ranked.
- Right passage first: share of rows in which the one relevant passage has the highest
  `PassageRelevance.score`. "given" takes the sets of `ctx_clapnq_mixed.jsonl` as far as their passages are
  in the file (the others are left out, so 2 to 5 passages); "drawn" puts every relevant passage among four
  others drawn with a fixed seed, from other titles.
- Counted as relevant: share with `PassageRelevance.relevant`, of the right passages, and of passages drawn from
  other titles.
- Answer relevance: share of question pairs in which the question's own answer gets a higher level than the
  answer to the next question; ties count half.
- Milliseconds of CPU a row for `check` and, in brackets, for `check`, `relevant` and `answer_relevance`, with
  nothing kept from row to row.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from scipy.stats import mannwhitneyu

from langchain_llm_judge.models import evidence, offline
from langchain_llm_judge.models.offline import OfflineEngine, Support

DATA = Path(os.environ.get("JUDGE_CASES", "../shared/cases")).parent / "data"
ENGINE = OfflineEngine()


class Case(NamedTuple):
    id: str
    question: str
    answer: str
    passages: list[str]
    faithful: bool


class Judged(NamedTuple):
    case: Case
    claims: list[Support]
    check_ms: float
    all_ms: float


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def mtrag() -> list[Case]:
    texts = {row["id"]: row["text"] for row in rows("rag_mtrag_passages")}
    return [
        Case(row["id"], row["question"], row["answer"], [texts[i] for i in row["passage_ids"]], row["faithful"])
        for row in rows("rag_mtrag_human")
        if row["faithful"] is not None
    ]


def begin() -> list[Case]:
    return [
        Case(row["id"], row["message"], row["response"], [row["knowledge"]], row["faithful"])
        for row in rows("rag_begin")
        if row["faithful"] is not None
    ]


def halueval() -> list[Case]:
    return [
        Case(row["id"], row["question"], row[key], [row["context"]], key == "right_answer")
        for row in rows("rag_halueval_qa")
        for key in ("right_answer", "hallucinated_answer")
    ]


def half(id: str) -> int:
    return int(hashlib.sha256(id.encode()).hexdigest(), 16) % 2


def judged(case: Case) -> Judged:
    evidence.statements.cache_clear()
    offline._checked.cache_clear()
    started = time.process_time()
    claims = ENGINE.check(case.answer, case.passages, case.question) if case.passages else []
    checked = time.process_time()
    ENGINE.relevant(case.question, case.passages)
    ENGINE.answer_relevance(case.question, case.answer, case.passages)
    done = time.process_time()
    return Judged(case, claims, 1000 * (checked - started), 1000 * (done - started))


def support(claims: Sequence[Support]) -> float:
    return sum(claim.score for claim in claims) / len(claims)


def share(claims: Sequence[Support]) -> float:
    return sum(claim.supported for claim in claims) / len(claims)


def auroc(results: Sequence[Judged], score: Callable[[Sequence[Support]], float]) -> float:
    right = [score(result.claims) for result in results if result.case.faithful]
    wrong = [score(result.claims) for result in results if not result.case.faithful]
    return float(mannwhitneyu(right, wrong).statistic) / (len(right) * len(wrong))


def in_halves(results: Sequence[Judged], score: Callable[[Sequence[Support]], float]) -> str:
    halves = [[result for result in results if half(result.case.id) == side] for side in (0, 1)]
    return "  ".join(f"{auroc(part, score):.3f}" for part in (results, *halves))


def times(results: Sequence[Judged], summary: Callable[[list[float]], float]) -> str:
    check, every = [result.check_ms for result in results], [result.all_ms for result in results]
    return f"{summary(check):.2f} ({summary(every):.2f})"


def faithfulness_table() -> Table:
    table = Table(title="Faithfulness (AUROC: all, half 0, half 1)")
    for column in ("set", "ranked", "faithful", "no verdict", "faithfulness", "share", "ms a row: median", "largest"):
        table.add_column(column)
    for name, cases in (("MTRAG", mtrag()), ("BEGIN", begin()), ("HaluEval-QA", halueval())):
        results = [judged(case) for case in cases]
        ranked = [result for result in results if result.claims]
        table.add_row(
            name,
            str(len(ranked)),
            str(sum(result.case.faithful for result in ranked)),
            str(len(results) - len(ranked)),
            in_halves(ranked, support),
            in_halves(ranked, share),
            times(results, statistics.median),
            times(results, max),
        )
    return table


def right_first(question: str, passages: Sequence[str], right: int) -> bool:
    scores = [verdict.score for verdict in ENGINE.relevant(question, passages)]
    return bool(scores) and scores[right] == max(scores) and scores.count(max(scores)) == 1


def given_sets() -> list[bool]:
    texts = {row["id"]: row["passage"] for row in rows("ctx_clapnq")}
    found = []
    for row in rows("ctx_clapnq_mixed"):
        here = [
            (texts[i], relevant) for i, relevant in zip(row["passage_from"], row["relevant"], strict=True) if i in texts
        ]
        flags = [relevant for _, relevant in here]
        if True in flags and len(here) > 1:
            found.append(right_first(row["question"], [text for text, _ in here], flags.index(True)))
    return found


def drawn_sets(seed: int) -> list[bool]:
    rng = random.Random(seed)
    every = rows("ctx_clapnq")
    found = []
    for row in every:
        if row["relevant"]:
            others = rng.sample([other["passage"] for other in every if other["title"] != row["title"]], 4)
            place = rng.randrange(5)
            found.append(right_first(row["question"], [*others[:place], row["passage"], *others[place:]], place))
    return found


def drawn_flags(right: bool) -> list[bool]:
    """`relevant` of every right passage, or of four passages from other titles each."""
    rng = random.Random(0)
    every = rows("ctx_clapnq")
    flags = []
    for row in every:
        if row["relevant"]:
            others = rng.sample([other["passage"] for other in every if other["title"] != row["title"]], 4)
            verdicts = ENGINE.relevant(row["question"], [row["passage"]] if right else others)
            flags += [verdict.relevant for verdict in verdicts]
    return flags


def relevance_table() -> Table:
    table = Table(title="Relevance")
    for column in ("figure", "rows", "value"):
        table.add_column(column)
    given = given_sets()
    drawn = [hit for seed in range(5) for hit in drawn_sets(seed)]
    table.add_row("right passage first, given", str(len(given)), f"{statistics.mean(given):.1%}")
    table.add_row("right passage first, drawn (5 seeds)", str(len(drawn)), f"{statistics.mean(drawn):.1%}")
    for wanted in (True, False):
        flags = drawn_flags(wanted)
        name = "right passages" if wanted else "drawn passages"
        table.add_row(f"{name} counted as relevant", str(len(flags)), f"{statistics.mean(flags):.1%}")
    pairs = [(row["question"], row["reference"]) for row in rows("ctx_clapnq_mixed")]
    wins = []
    for index, (question, own) in enumerate(pairs):
        other = pairs[(index + 1) % len(pairs)][1]
        levels = [ENGINE.answer_relevance(question, answer).level for answer in (own, other)]
        wins.append((levels[0] > levels[1]) + 0.5 * (levels[0] == levels[1]))
    table.add_row("own answer more relevant than another's", str(len(wins)), f"{statistics.mean(wins):.1%}")
    return table


def main() -> None:
    console = Console(width=150)
    console.print(faithfulness_table())
    console.print(relevance_table())
    again = [[ENGINE.check(case.answer, case.passages, case.question) for case in begin()] for _ in range(2)]
    console.print(f"Identical on a second run: {again[0] == again[1]}")


if __name__ == "__main__":
    main()
