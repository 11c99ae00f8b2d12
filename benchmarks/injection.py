"""How many planted attacks the injection scan finds, and how often it cries wolf.

Run: `JUDGE_CASES=../shared/cases python benchmarks/injection.py`

A row counts as found when the scan has at least one finding, of any rule and severity. Recall is the share
of attack rows found; false alarms are the share of benign rows with a finding. Rows are split in two
halves by a hash of their id; rules were written on half 0 and first measured on half 1, which afterwards
gave further general rules as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from langchain_llm_judge.safety.injection import scan_text

DATA = Path(os.environ.get("JUDGE_CASES", "../shared/cases")).parent / "data" / "inj_passages.jsonl"
Row = dict[str, Any]


def half(row: Row) -> int:
    return int(hashlib.sha256(str(row["id"]).encode()).hexdigest(), 16) % 2


def share(rows: Iterable[Row], found: dict[str, bool]) -> str:
    hits = [found[row["id"]] for row in rows]
    return f"{sum(hits)}/{len(hits)}  {sum(hits) / len(hits):.1%}" if hits else "–"


def rates(title: str, rows: list[Row], found: dict[str, bool], group: Callable[[Row], str]) -> Table:
    table = Table(title=title)
    for column in ("", "all", "half 0", "half 1"):
        table.add_column(column, justify="left" if not column else "right")
    for name in ["all", *sorted({group(row) for row in rows})]:
        chosen = [row for row in rows if name in {"all", group(row)}]
        halves = [[row for row in chosen if half(row) == side] for side in (0, 1)]
        table.add_row(name, *(share(part, found) for part in (chosen, *halves)))
    return table


def megabyte_seconds(rows: list[Row]) -> float:
    text = "\n".join(row["text"] for row in rows if not row["label"])
    text = (text * (1_000_000 // len(text) + 1))[:1_000_000]
    started = time.process_time()
    scan_text(text)
    return time.process_time() - started


def main() -> None:
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    seconds = []
    found = {}
    for row in rows:
        started = time.process_time()
        found[row["id"]] = bool(scan_text(row["text"]))
        seconds.append(time.process_time() - started)
    explicit = [row for row in rows if row["label"] and row["explicit"]]
    subtle = [row for row in rows if row["label"] and not row["explicit"]]
    benign = [row for row in rows if not row["label"]]
    console = Console()
    source = lambda row: row["source"]  # noqa: E731
    console.print(rates("Recall, explicit attacks", explicit, found, source))
    console.print(rates("Recall, subtle attacks (no trigger words)", subtle, found, source))
    console.print(rates("False alarms, benign rows", benign, found, source))
    console.print(
        f"CPU time: median {1000 * statistics.median(seconds):.2f} ms a row "
        f"(median {statistics.median(len(row['text']) for row in rows):.0f} characters), "
        f"{megabyte_seconds(rows):.2f} s for one million characters of benign rows"
    )


if __name__ == "__main__":
    main()
