"""What one evaluation costs in CPU time: our RelevancyAgent beside DeepEval's own GEval on the same prompt.

    python benchmarks/judges.py [--rounds 80] [--evaluations 5]

All ask a local HTTP server, in a process of its own, that answers at once; so what is measured is the work on
this side: of the judge, of the client library, and of reading the reply. Every row is measured with its judge and
with its client library alone, sending the same messages: the difference is the judge's own work, the rest goes to
the client. Blocks of evaluations alternate, so that a busy machine slows all alike. CPU time is
`time.process_time`, all threads of this process.
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
from typing import Any, NamedTuple

CASE = {
    "question": "What is the capital of France?",
    "answer": "The capital of France is Paris, a city known for the Eiffel Tower.",
}
REPLY = {"reason": "The answer names the city that was asked for.", "score": 9}
MODEL, KEY = "gpt-4o-mini", "sk-none"
Evaluation = Callable[[], Awaitable[Any]]


class Row(NamedTuple):
    """A judge, and its client library asked the same without it."""

    name: str
    judge: Evaluation
    client: Evaluation


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


def table_rows(url: str) -> list[Row]:
    """What is compared; all are compared with the first."""
    os.environ.update(JUDGE_API_BASE=url, OPENAI_API_KEY=KEY)
    from langchain_openai import ChatOpenAI

    from langchain_llm_judge import RelevancyAgent
    from langchain_llm_judge.models.deepeval import ScoreReply
    from langchain_llm_judge.models.structured import JudgeModel
    from langchain_llm_judge.prompts import load_prompt

    prompt = load_prompt("relevancy").fill(**CASE)
    messages = [("system", prompt.system), ("user", prompt.user)]
    by_openai = ChatOpenAI(model=MODEL, base_url=url, api_key=KEY)
    native = by_openai.with_structured_output(ScoreReply)
    by_prompt = JudgeModel(lambda _: by_openai, MODEL, structured=False)

    def ours(**settings: Any) -> Evaluation:
        judge = RelevancyAgent(**settings)
        return lambda: judge.ainvoke(CASE)

    return [
        deepevals_own(url, prompt),
        Row("RelevancyAgent, litellm", ours(provider="openai", model=MODEL), litellm_client(url, messages)),
        Row("RelevancyAgent, ChatOpenAI", ours(model=by_openai), lambda: native.ainvoke(messages)),
        Row("RelevancyAgent, ChatOpenAI, JSON by prompt", ours(model=by_prompt), lambda: by_openai.ainvoke(messages)),
    ]


def deepevals_own(url: str, prompt: Any) -> Row:
    """DeepEval's GEval with our steps, rubric and prompt, through its LiteLLMModel, as `a_measure` runs by default."""
    from langchain_llm_judge.models.deepeval import Rate

    rate = Rate(None, "Relevancy", prompt, CASE["question"], CASE["answer"])

    import litellm
    from deepeval.models import LiteLLMModel
    from deepeval.test_case import LLMTestCase

    metric = rate.metric(LiteLLMModel(f"openai/{MODEL}", api_key=KEY, base_url=url))
    case = LLMTestCase(input=CASE["question"], actual_output=CASE["answer"])
    asked = {
        "model": f"openai/{MODEL}",
        "messages": [{"role": "user", "content": f"{prompt.system}\n\n{prompt.user}"}],
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 20,
    }
    return Row(
        "DeepEval GEval, LiteLLMModel",
        lambda: metric.a_measure(case),
        lambda: litellm.acompletion(**asked, api_key=KEY, api_base=url),
    )


def litellm_client(url: str, messages: list[tuple[str, str]]) -> Evaluation:
    from langchain_litellm import ChatLiteLLM

    from langchain_llm_judge.models.deepeval import ScoreReply

    chat = ChatLiteLLM(model=f"openai/{MODEL}", api_key=KEY, api_base=url, temperature=0.0, max_retries=1)
    native = chat.with_structured_output(ScoreReply)
    return lambda: native.ainvoke(messages)


async def measured(rows: list[Row], rounds: int, count: int) -> dict[tuple[str, str], float]:
    """Median CPU milliseconds of one evaluation, by row, with its judge and with its client alone."""
    times: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        for row in rows:
            for side in ("judge", "client"):
                started = time.process_time()
                for _ in range(count):
                    await getattr(row, side)()
                if number:  # the first round warms up
                    taken = (time.process_time() - started) / count * 1000
                    times.setdefault((row.name, side), []).append(taken)
    return {key: statistics.median(values) for key, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--evaluations", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,), daemon=True)
    server.start()
    rows = table_rows(f"http://127.0.0.1:{here.recv()}/v1")
    median = asyncio.run(measured(rows, options.rounds, options.evaluations))
    server.terminate()
    print(f"{'CPU time of one evaluation':44}{'all':>10}{'of first':>10}{'client alone':>14}{'judge itself':>14}")
    first = median[rows[0].name, "judge"]
    for row in rows:
        whole, client = median[row.name, "judge"], median[row.name, "client"]
        print(f"{row.name:44}{whole:7.2f} ms{whole / first:10.0%}{client:11.2f} ms{whole - client:11.2f} ms")


if __name__ == "__main__":
    main()
