"""Which made defects in tool calls the checks find without a model.

Run: python benchmarks/argument_defects.py PATH/toolargs_bfcl_mutated.jsonl

One JSON object a line with `call` (`name`, `arguments`), `tools` (OpenAI's format), `messages`, and `defect` (null for
a right call), made from BFCL (bfcl-eval, Apache-2.0). Each row becomes a trace of one call; a row counts as found when
a check has an error finding other than `unanswered_call`, which every row has as no tool was run.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from langchain_llm_judge import AgentTrace, ToolCall, ToolSpec, run_checks


def codes_found(row: dict[str, Any]) -> set[str]:
    """Codes of the error findings of one row."""
    tools = [ToolSpec(**tool["function"]) for tool in row["tools"]]
    call = ToolCall(name=row["call"]["name"], args=row["call"]["arguments"])
    trace = AgentTrace(task=row["messages"][-1]["content"], tools=tools, tools_known=True, steps=[call])
    return {finding.code for finding in run_checks(trace).findings if finding.severity == "error"} - {"unanswered_call"}


def main() -> None:
    """Count and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("rows", type=Path)
    rows = [json.loads(line) for line in options.parse_args().rows.read_text(encoding="utf-8").splitlines()]
    found: dict[str, list[set[str]]] = defaultdict(list)
    for row in rows:
        found[row["defect"] or "(right call)"].append(codes_found(row))
    print(f"{'defect':>22} {'rows':>6} {'found':>6}   by")
    for defect, sets in sorted(found.items()):
        codes = Counter(code for codes in sets for code in codes)
        told = ", ".join(f"{code} {count}" for code, count in codes.most_common())
        print(f"{defect:>22} {len(sets):>6} {sum(map(bool, sets)):>6}   {told}")


if __name__ == "__main__":
    main()
