"""What importing the package costs, beside LangChain's own core, and how soon `llm-judge --help` answers.

Fresh processes, one kind after the other in turn, medians of the time from start to exit; what Python itself
needs to start is subtracted where it says so.

    python benchmarks/imports.py [--rounds 15]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent

KINDS = {
    "python": ["-c", "pass"],
    "langchain_core.runnables": ["-c", "import langchain_core.runnables"],
    "langchain_llm_judge": ["-c", "import langchain_llm_judge"],
    "llm-judge --help": ["-m", "langchain_llm_judge.cli", "--help"],
}


def seconds(arguments: list[str]) -> float:
    """Wall time of one fresh Python process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL, timeout=60)
    return time.perf_counter() - started


def medians(rounds: int) -> dict[str, float]:
    """Median seconds of every kind, after one round that only warms the caches."""
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(rounds + 1):
        for kind, arguments in KINDS.items():
            times[kind].append(seconds(arguments))
    return {kind: statistics.median(taken[1:]) for kind, taken in times.items()}


def import_ratio(median: dict[str, float]) -> float:
    """Cost of importing the package over that of `langchain_core.runnables`, both without Python's own start."""
    bare = median["python"]
    return (median["langchain_llm_judge"] - bare) / (median["langchain_core.runnables"] - bare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    median = medians(parser.parse_args().rounds)
    for kind, taken in median.items():
        print(f"{kind:<28}{taken * 1000:8.0f} ms")
    print(f"{'import ratio (at most 1.2)':<28}{import_ratio(median):8.2f}")


if __name__ == "__main__":
    main()
