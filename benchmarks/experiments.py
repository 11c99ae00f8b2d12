"""A store of 100,000 rows: how long listing, summary and agreement of two runs take, and how much memory.

python benchmarks/experiments.py [--rows 100000] [--store URL]
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from langchain_llm_judge import ExperimentStore, judge_agreement
from langchain_llm_judge.experiments.codec import to_json
from langchain_llm_judge.experiments.schema import evaluations, measures, rows


def fill(store: ExperimentStore, name: str, count: int, seed: int) -> None:
    """A run of `count` rows, written in bulk in the form that `write` gives them."""
    rng = random.Random(seed)
    run = store.begin(name, [(str(number), "c") for number in range(count)], {"relevancy": ("f", {})}, 1)
    inputs = to_json({"question": "What is the range of the Aurora 3?", "answer": "Up to 80 km."})
    known = {"run_id": run.id, "repeat": 0, "content": "c", "inputs": inputs, "created_at": "2026-01-01"}
    first = seed * count + 1
    scores = [rng.randint(0, 10) / 10 for _ in range(count)]
    metadata = {"relevancy": 0.5, "factual": None, "judge": "scripted", "threshold": 0.5}
    with store._writing() as connection:
        connection.execute(
            insert(rows), [{"id": first + number, "key": str(number), **known} for number in range(count)]
        )
        connection.execute(
            insert(evaluations),
            [
                {
                    "id": first + number,
                    "row_id": first + number,
                    "judge": "relevancy",
                    "fingerprint": "f",
                    "label": "pass" if score >= 0.5 else "fail",
                    "score": score,
                    "result": to_json({"status": "PASS", "score": score, "reason": "r", "metadata": metadata}),
                    "created_at": "2026-01-01",
                }
                for number, score in enumerate(scores)
            ],
        )
        connection.execute(
            insert(measures),
            [
                {"evaluation_id": first + number, "metric": "relevancy", "score": score}
                for number, score in enumerate(scores)
            ],
        )


def seconds(work: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU time, medians of three."""
    wall, cpu = [], []
    for _ in range(3):
        began, used = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - used)
    return statistics.median(wall), statistics.median(cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--store")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = ExperimentStore(arguments.store or f"sqlite:///{Path(folder) / 'runs.db'}")
        for seed, name in enumerate(("a", "b")):
            fill(store, name, arguments.rows, seed)
        print(f"two runs of {arguments.rows:,} rows each in {store!r}".replace(folder, "…"))
        measured = {
            "listing the runs": lambda: store.runs(),
            "summary of a run": lambda: store.run("a").summary(),
            "agreement of both": lambda: judge_agreement(store, "a", "b"),
        }
        for name, work in measured.items():
            wall, cpu = seconds(work)
            print(f"{name:20} {wall:6.2f} s, {cpu:.2f} s of CPU")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{'peak memory':20} {peak:6.0f} MB, filling the store and the imports included")
        store.close()


if __name__ == "__main__":
    main()
