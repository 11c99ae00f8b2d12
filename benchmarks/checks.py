"""Which validator of JSON Schema is fastest, and what a trajectory match costs; and the run that `trace.py` checks.

Run: python benchmarks/checks.py [--rounds 7]

The run is made up: a travel agent with five tools, whose schemas have nested lists, enums and bounds; every call has
other arguments and a result. Time is CPU time of this process (`time.process_time`), so a busy machine costs little.
Validators that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from langchain_core.messages import convert_to_messages

from langchain_llm_judge import AgentTrace, ToolCall, ToolResult, ToolSpec, match_trajectory, run_checks

TEXT = {"type": "string"}
FLIGHT = {"type": "object", "properties": {"number": TEXT, "date": TEXT}, "required": ["number", "date"]}
TOOLS: dict[str, dict[str, Any]] = {
    "get_user": {"type": "object", "properties": {"user": TEXT}, "required": ["user"]},
    "search": {
        "type": "object",
        "properties": {"origin": TEXT, "destination": TEXT, "date": TEXT, "cabin": {"enum": ["economy", "business"]}},
        "required": ["origin", "destination", "date"],
    },
    "book": {
        "type": "object",
        "properties": {
            "user": TEXT,
            "flights": {"type": "array", "items": FLIGHT, "minItems": 1},
            "bags": {"type": "integer", "minimum": 0, "maximum": 9},
            "insurance": {"type": "boolean"},
        },
        "required": ["user", "flights", "bags"],
    },
    "calculate": {"type": "object", "properties": {"expression": TEXT}, "required": ["expression"]},
    "cancel": {"type": "object", "properties": {"reservation": TEXT}, "required": ["reservation"]},
}


def arguments(tool: str, number: int) -> dict[str, Any]:
    """Valid arguments that no other call has."""
    flights = [{"number": f"HAT{number + leg}", "date": "2026-05-20"} for leg in range(2)]
    return {
        "get_user": {"user": f"mia_li_{number}"},
        "search": {"origin": "JFK", "destination": "SEA", "date": f"day {number}", "cabin": "economy"},
        "book": {"user": f"mia_li_{number}", "flights": flights, "bags": 2, "insurance": False},
        "calculate": {"expression": f"{number} * 1.5 + 30"},
        "cancel": {"reservation": f"ZFA{number}"},
    }[tool]


def messages(steps: int) -> list[dict[str, Any]]:
    """A conversation of about so many steps: each call a message, each followed by its result."""
    made: list[dict[str, Any]] = [{"role": "user", "content": "Book me a flight to Seattle."}]
    for number in range(steps // 2):
        tool = list(TOOLS)[number % len(TOOLS)]
        function = {"name": tool, "arguments": json.dumps(arguments(tool, number))}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        made.append({"role": "assistant", "content": "", "tool_calls": [call]})
        made.append(
            {"role": "tool", "tool_call_id": call["id"], "content": json.dumps({"status": "done", "n": number})}
        )
    return [*made, {"role": "assistant", "content": "Booked."}]


def trace(steps: int) -> AgentTrace:
    """The trace of `messages(steps)`."""
    made: list[ToolCall | ToolResult] = []
    for number in range(steps // 2):
        tool = list(TOOLS)[number % len(TOOLS)]
        made.append(ToolCall(id=f"call_{number}", name=tool, args=arguments(tool, number), group=number))
        made.append(ToolResult(call_id=f"call_{number}", content=json.dumps({"status": "done", "n": number})))
    tools = [ToolSpec(name=name, parameters=schema) for name, schema in TOOLS.items()]
    return AgentTrace(task="Book me a flight.", tools=tools, tools_known=True, steps=made, final_answer="Booked.")


def cpu_seconds(work: Callable[[], Any], rounds: int) -> float:
    """Median CPU time of one round."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


class Speed(NamedTuple):
    """How the checks did on a run of one length."""

    steps: int
    seconds: float
    converting: float
    """Seconds of `convert_to_messages` on the same messages."""

    @property
    def rate(self) -> float:
        return self.steps / self.seconds


def speed_of_checks(steps: int, rounds: int) -> Speed:
    """All checks with schemas, over one run."""
    run, said = trace(steps), messages(steps)
    assert run_checks(run, expected_tools=["book"], max_steps=steps).findings == []
    seconds = cpu_seconds(lambda: run_checks(run, expected_tools=["book"], max_steps=steps), rounds)
    return Speed(len(run.steps), seconds, cpu_seconds(lambda: convert_to_messages(said), rounds))


VALIDATORS: dict[str, Callable[[Any, dict[str, Any]], Callable[[Any], Any]]] = {
    "jsonschema_rs": lambda library, schema: library.Draft202012Validator(schema).is_valid,
    "fastjsonschema": lambda library, schema: library.compile(schema),
    "jsonschema": lambda library, schema: library.Draft202012Validator(schema).is_valid,
}


def print_validators(rounds: int) -> None:
    """Time to compile the largest schema and to find one call valid."""
    schema, args = TOOLS["book"], arguments("book", 1)
    print(f"{'validator':>16} {'compile us':>12} {'validate us':>12}")
    for name, prepare in VALIDATORS.items():
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        validate = prepare(library, schema)
        compiling = cpu_seconds(
            lambda prepare=prepare, library=library: [prepare(library, schema) for _ in range(50)], rounds
        )
        validating = cpu_seconds(lambda validate=validate: [validate(args) for _ in range(2_000)], rounds)
        print(f"{name:>16} {compiling / 50 * 1e6:>12.1f} {validating / 2_000 * 1e6:>12.2f}")


def print_matches(rounds: int) -> None:
    """Matching a run of 200 calls with a reference that lacks every tenth and has two swapped."""
    run = trace(400)
    expected = [call for number, call in enumerate(run.calls()) if number % 10]
    expected[50], expected[51] = expected[51], expected[50]
    print(f"\n{'match of 200':>16} {'ms':>8}")
    for mode in ("strict", "unordered", "subset", "superset"):
        seconds = cpu_seconds(lambda mode=mode: match_trajectory(run, expected, mode=mode), rounds)
        print(f"{mode:>16} {seconds * 1e3:>8.1f}")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=7)
    given = options.parse_args()
    print_validators(given.rounds)
    print_matches(given.rounds)


if __name__ == "__main__":
    main()
