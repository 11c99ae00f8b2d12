"""How fast runs become traces and are checked, and what a trace weighs.

Processor time of this process on one core, the best of several rounds: other programs on the machine change wall time,
not this. `to_trace` is given LangChain's messages, and the same conversation as OpenAI-style dicts beside
`langchain_core.messages.convert_to_messages` on that very list.

    python benchmarks/trace.py [--rounds 5] [--only to_trace]

Every part is a function in `PARTS` that gives rows of (what, figure, bound); a new part needs no more than that.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from checks import speed_of_checks
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, convert_to_messages
from langchain_core.tools import tool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from langchain_llm_judge import TraceRecorder, to_trace
from langchain_llm_judge.testing import ScriptedJudgeModel

Row: TypeAlias = tuple[str, str, str]
SIZES = (1_000, 10_000, 100_000)
LARGEST = SIZES[-1]


def conversation(steps: int) -> list[BaseMessage]:
    """A run of about that many steps: a thought, a call and a result, over and over, then an answer."""
    messages: list[BaseMessage] = [HumanMessage("What is the weather on each of these days?")]
    for number in range(steps // 3):
        call = {
            "name": "get_weather",
            "args": {"city": "Paris", "day": number},
            "id": f"c{number}",
            "type": "tool_call",
        }
        messages.append(AIMessage("Let me check the next day.", tool_calls=[call]))
        messages.append(
            ToolMessage(f"Paris, day {number}: 21C and sunny", tool_call_id=f"c{number}", name="get_weather")
        )
    return [*messages, AIMessage("It is sunny on all of them.")]


def as_dicts(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    """The same conversation as it is sent to an OpenAI-style API."""
    return [_as_dict(message) for message in messages]


def _as_dict(message: BaseMessage) -> dict[str, Any]:
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
            }
            for call in message.tool_calls
        ]
        return {"role": "assistant", "content": message.content, "tool_calls": calls}
    return {"role": "user" if message.type == "human" else "assistant", "content": message.content}


def best(work: Callable[[], object], rounds: int) -> float:
    """Least processor seconds of one round."""
    taken = []
    for _ in range(rounds):
        gc.collect()
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def weight(work: Callable[[], object]) -> int:
    """Bytes that what `work` returns holds."""
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    made = work()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del made
    return after - before


def conversion(rounds: int) -> Iterator[Row]:
    """`to_trace` from messages: speed, growth, beside `convert_to_messages`, memory."""
    per_step: dict[int, float] = {}
    for size in SIZES:
        messages = conversation(size)
        steps = len(to_trace(messages).steps)
        per_step[size] = best(lambda messages=messages: to_trace(messages), rounds) / steps
        yield f"to_trace, {size:,} steps", f"{1 / per_step[size]:,.0f} steps/s", "at least 50,000"
    yield "to_trace, time a step at 100,000 over 1,000", f"{per_step[LARGEST] / per_step[SIZES[0]]:.2f}", "1 is linear"
    dicts = as_dicts(conversation(30_000))
    steps = len(to_trace(dicts).steps)
    ours = best(lambda: to_trace(dicts), rounds)
    core = best(lambda: convert_to_messages(dicts), rounds)
    objects = per_step[SIZES[1]] * steps
    yield "to_trace from dicts", f"{steps / ours:,.0f} steps/s", ""
    yield "  over convert_to_messages on that list", f"{ours / core:.2f}", ""
    yield "to_trace from messages over convert_to_messages", f"{objects / core:.2f}", ""
    messages = conversation(LARGEST)
    bytes_a_step = weight(lambda: to_trace(messages)) / LARGEST
    yield f"memory of a trace of {LARGEST:,} steps", f"{bytes_a_step:,.0f} bytes/step", "under 1,024"


def checking(rounds: int) -> Iterator[Row]:
    """`run_checks` on a run of five tools with nested schemas: speed, growth, beside `convert_to_messages`."""
    speeds = [speed_of_checks(size, rounds) for size in (10_000, 100_000)]
    for speed in speeds:
        yield f"run_checks, {speed.steps:,} steps", f"{speed.rate:,.0f} steps/s", "at least 50,000"
        yield "  over convert_to_messages on that run", f"{speed.seconds / speed.converting:.2f}", ""
    growth = speeds[0].rate / speeds[1].rate
    yield "run_checks, time a step at 100,000 over 10,000", f"{growth:.2f}", "1 is linear"


def recording(rounds: int) -> Iterator[Row]:
    """A `TraceRecorder` on a scripted agent of 20 tool calls, in turn with the bare agent and LangChain's collector."""
    agent = scripted_agent(20)
    handlers: dict[str, Callable[[], list[Any]]] = {
        "bare": list,
        "TraceRecorder": lambda: [TraceRecorder()],
        "RunCollectorCallbackHandler": lambda: [RunCollectorCallbackHandler()],
    }
    taken: dict[str, list[float]] = {name: [] for name in handlers}
    for _ in range(40 * rounds):
        for name in random.sample(list(handlers), len(handlers)):
            config: Any = {"callbacks": handlers[name]()}
            started = time.process_time()
            agent.invoke({"messages": [("user", "Look everywhere.")]}, config)
            taken[name].append(time.process_time() - started)
    yield "agent of 20 tool calls, median", f"{statistics.median(taken['bare']) * 1000:.1f} ms", ""
    for name in list(handlers)[1:]:
        # Each run beside the bare one of its round: what else the machine does then falls on both.
        more = statistics.median(with_it / bare for with_it, bare in zip(taken[name], taken["bare"], strict=True)) - 1
        yield f"  {name} adds", f"{more:.1%}", "at most 15%" if name == "TraceRecorder" else "for comparison"


def scripted_agent(calls: int) -> Any:
    """A LangGraph agent whose model asks for a tool that often and then answers."""

    @tool
    def look(place: int) -> str:
        """Look somewhere."""
        return f"nothing at {place}"

    def reply(messages: list[BaseMessage]) -> BaseMessage:
        place = len(messages) // 2
        if place == calls:
            return AIMessage("Nothing anywhere.")
        call = {"name": "look", "args": {"place": place}, "id": f"c{place}", "type": "tool_call"}
        return AIMessage(f"Looking at {place}.", tool_calls=[call])

    return create_agent(ScriptedJudgeModel([reply]), [look])


PARTS: dict[str, Callable[[int], Iterator[Row]]] = {
    "to_trace": conversion,
    "checks": checking,
    "recorder": recording,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=PARTS, default=None)
    given = parser.parse_args()
    for name, part in PARTS.items():
        if given.only in (None, name):
            for what, figure, bound in part(given.rounds):
                print(f"{what:<50}{figure:>22}   {bound}")


if __name__ == "__main__":
    main()
