"""What one evaluation costs in CPU time: our RelevancyAgent beside DeepEval's own GEval on the same prompt.

Run: python benchmarks/judges.py [--rounds 15] [--evaluations 20]

Both ask a local HTTP server, in a process of its own, that answers at once; so what is measured is the work on
this side: of the judge, of the client library, and of reading the reply. Blocks of evaluations alternate, so
that a busy machine slows both. CPU time is `time.process_time`: all threads of this process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import time
import warnings
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any

CASE = {
    "question": "What is the capital of France?",
    "answer": "The capital of France is Paris, a city known for the Eiffel Tower.",
}
REPLY = {"reason": "The answer names the city that was asked for.", "score": 9}
MODEL, KEY = "gpt-4o-mini", "sk-none"
Evaluation = Callable[[], Awaitable[Any]]


class Provider(BaseHTTPRequestHandler):
    """Speaks as much of the OpenAI chat API as both sides need."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message: dict[str, Any] = {"role": "assistant", "content": json.dumps(REPLY)}
        if asked.get("tools"):
            name = asked["tools"][0]["function"]["name"]
            call = {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(REPLY)}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        usage = {"prompt_tokens": 500, "completion_tokens": 20, "total_tokens": 520}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": asked["model"], "choices": [choice]}
        data = json.dumps({**body, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def serve(port: Connection) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    port.send(server.server_address[1])
    server.serve_forever()


def evaluations(url: str) -> dict[str, Evaluation]:
    """The rows of the table; the first is what the others are compared with."""
    os.environ.update(JUDGE_API_BASE=url, OPENAI_API_KEY=KEY)
    from langchain_openai import ChatOpenAI

    from langchain_llm_judge import RelevancyAgent
    from langchain_llm_judge.models.structured import JudgeModel

    chat = ChatOpenAI(model=MODEL, base_url=url, api_key=KEY)
    by_litellm = RelevancyAgent(provider="openai", model=MODEL)
    by_openai = RelevancyAgent(model=chat)
    by_prompt = RelevancyAgent(model=JudgeModel(lambda _: chat, MODEL, structured=False))  # as DeepEval asks
    return {
        **theirs(url),
        "RelevancyAgent, litellm": lambda: by_litellm.ainvoke(CASE),
        "RelevancyAgent, ChatOpenAI": lambda: by_openai.ainvoke(CASE),
        "RelevancyAgent, ChatOpenAI, JSON by prompt": lambda: by_prompt.ainvoke(CASE),
        **clients_alone(url, chat),
    }


def theirs(url: str) -> dict[str, Evaluation]:
    """DeepEval's own judge with our steps, rubric and prompt."""
    from langchain_llm_judge.models.deepeval import Rate
    from langchain_llm_judge.prompts import load_prompt

    rate = Rate(None, "Relevancy", load_prompt("relevancy").fill(**CASE), CASE["question"], CASE["answer"])

    from deepeval.models import LiteLLMModel
    from deepeval.test_case import LLMTestCase

    metric = rate.metric(LiteLLMModel(f"openai/{MODEL}", api_key=KEY, base_url=url))
    case = LLMTestCase(input=CASE["question"], actual_output=CASE["answer"])
    return {
        "DeepEval GEval, LiteLLMModel": lambda: metric.a_measure(case),
        "DeepEval GEval, LiteLLMModel, no progress bar": lambda: metric.a_measure(case, _show_indicator=False),
    }


def clients_alone(url: str, chat: Any) -> dict[str, Evaluation]:
    """The same request without any judge: what is left for the rows above is the judge's own work."""
    import litellm

    from langchain_llm_judge.models.deepeval import ScoreReply
    from langchain_llm_judge.prompts import load_prompt

    prompt = load_prompt("relevancy").fill(**CASE)
    messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    form = chat.with_structured_output(ScoreReply)
    return {
        "litellm.acompletion alone": lambda: litellm.acompletion(
            model=f"openai/{MODEL}", messages=messages, api_key=KEY, api_base=url
        ),
        "ChatOpenAI alone": lambda: chat.ainvoke(messages),
        "ChatOpenAI with structured output alone": lambda: form.ainvoke(messages),
    }


async def measured(rows: dict[str, Evaluation], rounds: int, count: int) -> dict[str, list[float]]:
    """CPU milliseconds of one evaluation, by row, a value a round."""
    times: dict[str, list[float]] = {name: [] for name in rows}
    for number in range(rounds + 1):
        for name, evaluate in rows.items():
            started = time.process_time()
            for _ in range(count):
                await evaluate()
            if number:  # the first round warms up
                times[name].append((time.process_time() - started) / count * 1000)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--evaluations", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,), daemon=True)
    server.start()
    rows = evaluations(f"http://127.0.0.1:{here.recv()}/v1")
    times = asyncio.run(measured(rows, options.rounds, options.evaluations))
    base = statistics.median(next(iter(times.values())))
    print(f"{'CPU time of one evaluation':48} {'median':>9} {'min':>9} {'of first':>9}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:48} {median:6.2f} ms {min(values):6.2f} ms {median / base:8.0%}")
    server.terminate()


if __name__ == "__main__":
    main()
