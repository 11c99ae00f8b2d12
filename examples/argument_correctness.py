"""Were the arguments of a LangGraph agent's tool calls right? What the schema settles costs no judge call.

python examples/argument_correctness.py                      # scripted judge, no key
python examples/argument_correctness.py --model openai/gpt-4o-mini
"""

from __future__ import annotations

import argparse

from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from langchain_llm_judge import ArgumentCorrectnessJudge, ScriptedJudgeModel, to_trace


def find_user(name: str) -> dict[str, int]:
    """Find the id of a user."""
    return {"id": 7}


def get_orders(user_id: int) -> str:
    """List the orders of a user."""
    return f"no orders of user {user_id}"


CALLS = [("find_user", {"name": "Ada"}), ("get_orders", {"user_id": 1}), ("get_orders", {"user_id": "all"})]
AGENT_MODEL = ScriptedJudgeModel(
    [AIMessage("", tool_calls=[{"name": n, "args": a, "id": n + str(i)}]) for i, (n, a) in enumerate(CALLS)] + ["None."]
)
NO = {"call": 1, "correct": "no", "reason": "find_user gave the id 7, not 1"}
VERDICTS = {"verdicts": [{"call": 0, "correct": "yes", "reason": "Ada was asked for"}, NO]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a real judge model; scripted when left out")
    judge = ArgumentCorrectnessJudge(model=parser.parse_args().model or ScriptedJudgeModel([VERDICTS]))

    graph = create_agent(AGENT_MODEL, [find_user, get_orders])
    result = judge.invoke(to_trace(graph.invoke({"messages": [("user", "What did Ada order?")]}), tools=graph))
    for verdict in result.verdicts:
        print(f"{verdict.tool}: {'right' if verdict.correct else 'wrong'}, by {verdict.decided_by}; {verdict.reason}")
    print(f"score {result.score:.2f}, passed: {result.passed}")


if __name__ == "__main__":
    main()
