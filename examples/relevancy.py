"""Does an answer stay with its question? One call of DeepEval's GEval, on any chat model.

python examples/relevancy.py                      # scripted judge, no key
python examples/relevancy.py --model openai/gpt-4o-mini
"""

from __future__ import annotations

import argparse

from langchain_llm_judge import RelevancyAgent, ScriptedJudgeModel

QUESTION = "What is the capital of France?"
ANSWERS = [
    "The capital of France is Paris, a city known for the Eiffel Tower.",
    "France is a country in Western Europe with a rich history.",
]
REPLIES = [
    {"score": 10, "reason": "The city that was asked for is named; the rest is helpful context."},
    {"score": 2, "reason": "It speaks of France, but names no capital."},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a real judge model; scripted when left out")
    agent = RelevancyAgent(model=parser.parse_args().model or ScriptedJudgeModel(REPLIES))

    for answer in ANSWERS:
        result = agent.evaluate({"question": QUESTION, "answer": answer})
        print(f"{result['status']} {result['score']:.2f}  {answer}\n    {result['reason']}")


if __name__ == "__main__":
    main()
