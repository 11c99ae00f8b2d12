"""What judging in the background adds to a run: our handler beside LangChain's collector and DeepEval's handler.

A scripted agent with three tool calls runs again and again, in turn bare and with each handler, so
that whatever else the machine does hits all of them alike. Printed are medians and the time added to the
bare run, also as a ratio to the collector's.

    python benchmarks/callbacks.py [--runs 200]
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

os.environ.setdefault("LANGSMITH_TRACING", "false")
os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
os.environ.setdefault("DEEPEVAL_DISABLE_DOTENV", "1")
os.environ.setdefault("CONFIDENT_TRACE_VERBOSE", "NO")
os.environ.setdefault("CONFIDENT_TRACE_FLUSH", "NO")

from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from langchain_llm_judge import AgentJudge, JudgeCallbackHandler, TraceRecorder

ASK = {"messages": [("user", "Weather in three cities?")]}
CITIES = ("Paris", "Rome", "Oslo")


class Scripted(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any):
        return self.bind(tools=[{"name": "get_weather"}])

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        done = sum(message.type == "tool" for message in messages)
        if done == len(CITIES):
            answer = AIMessage("All 21C.")
        else:
            call = {"name": "get_weather", "args": {"city": CITIES[done]}, "id": f"c{done}", "type": "tool_call"}
            answer = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
def get_weather(city: str) -> str:
    """Get the weather of a city."""
    return f"{city}: 21C"


class Empty(BaseCallbackHandler):
    """Listens and does nothing."""


def contenders() -> dict[str, Callable[[], list[Any]]]:
    """Name → what makes the callbacks of one run."""
    checks = AgentJudge(grade=False)
    judging = JudgeCallbackHandler(checks, keep=0)
    sampled_out = JudgeCallbackHandler(checks, keep=0, sample_rate=0)
    known: dict[str, Callable[[], list[Any]]] = {
        "bare": list,
        "empty handler": lambda: [Empty()],
        "RunCollectorCallbackHandler": lambda: [RunCollectorCallbackHandler()],
        "TraceRecorder (trace made in the run)": lambda: [TraceRecorder()],
        "JudgeCallbackHandler, checks in background": lambda: [judging],
        "JudgeCallbackHandler, sample_rate=0": lambda: [sampled_out],
    }
    try:
        from deepeval.integrations.langchain import CallbackHandler

        known["DeepEval CallbackHandler"] = lambda: [CallbackHandler()]
    except Exception as error:
        print(f"DeepEval's handler cannot be loaded: {type(error).__name__}: {error}")
    return known


class Times(NamedTuple):
    """Milliseconds of every run: as its caller sees it, and of the whole process until its judging is done."""

    run: list[float]
    process: list[float]


def measure(agent: Any, makers: dict[str, Callable[[], list[Any]]], runs: int) -> dict[str, Times]:
    """One run of each contender in turn, in another order every time."""
    times = {name: Times([], []) for name in makers}
    order = random.Random(0)
    for _ in range(runs):
        for name in order.sample(list(makers), len(makers)):
            callbacks = makers[name]()
            gc.collect()
            cpu, began = time.process_time(), time.perf_counter()
            agent.invoke(ASK, {"callbacks": callbacks})
            times[name].run.append((time.perf_counter() - began) * 1000)
            for handler in callbacks:
                if isinstance(handler, JudgeCallbackHandler):
                    handler.flush()
            times[name].process.append((time.process_time() - cpu) * 1000)
    return times


def report(times: dict[str, Times]) -> None:
    """Added time on the run's path, and added CPU time with all that happens in the background."""
    bare = {field: statistics.median(getattr(times["bare"], field)) for field in Times._fields}
    collector = {
        field: statistics.median(getattr(times["RunCollectorCallbackHandler"], field)) - bare[field]
        for field in Times._fields
    }
    print(f"{'':44} {'on the run’s path':>25} {'CPU, background included':>27}")
    print(f"{'handler':44} {'ms':>7} {'added':>7} {'ratio':>9} {'ms':>9} {'added':>7} {'ratio':>9}")
    for name, both in times.items():
        cells = []
        for field in Times._fields:
            median = statistics.median(getattr(both, field))
            added = median - bare[field]
            cells.append(f"{median:9.2f} {added:7.2f} {added / collector[field]:9.2f}")
        print(f"{name:42} {' '.join(cells)}")
    print("ratio: added time as a share of the collector's")


def slow_judge(agent: Any) -> None:
    """A judge that takes 2 s: what the run itself sees of it."""
    from langchain_core.runnables import RunnableLambda

    plain, judged = [], []
    for _ in range(3):
        handler = JudgeCallbackHandler(RunnableLambda(lambda _: time.sleep(2)))
        began = time.perf_counter()
        agent.invoke(ASK)
        plain.append(time.perf_counter() - began)
        began = time.perf_counter()
        agent.invoke(ASK, {"callbacks": [handler]})
        judged.append(time.perf_counter() - began)
        handler.flush()
    added = (statistics.median(judged) - statistics.median(plain)) * 1000
    print(f"a judge that takes 2 s adds {added:.1f} ms to the run (median of 3)")


def memory(agent: Any) -> None:
    """Bytes a run, with results kept and with none kept."""
    import tracemalloc

    for keep in (None, 0):
        handler = JudgeCallbackHandler(AgentJudge(grade=False), keep=keep, on_result=lambda _: None)

        def runs(count: int, handler: JudgeCallbackHandler = handler) -> int:
            for _ in range(count):
                agent.invoke(ASK, {"callbacks": [handler]})
            handler.flush()
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        before, after = runs(100), runs(1000)
        tracemalloc.stop()
        print(f"keep={keep}: {(after - before) / 1000:.0f} bytes a run over 1,000 runs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    arguments = parser.parse_args()
    agent = create_agent(Scripted(), [get_weather])
    makers = contenders()
    measure(agent, makers, 10)
    report(measure(agent, makers, arguments.runs))
    slow_judge(agent)
    memory(agent)


if __name__ == "__main__":
    main()
