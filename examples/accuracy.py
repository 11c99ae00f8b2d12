"""Is an answer right, by the judge's own knowledge? Relevancy counts 40 %, facts 60 %.

python examples/accuracy.py                      # scripted judge, no key
python examples/accuracy.py --model openai/gpt-4o-mini
"""

from __future__ import annotations

import argparse

from langchain_llm_judge import AccuracyAgent, ScriptedJudgeModel

CASES = [
    {"question": "Where is the Eiffel Tower?", "answer": "Paris"},
    {"question": "Where is the Eiffel Tower?", "answer": "It has stood in Lyon since 1889."},
]
REPLIES = [  # relevancy and facts of the first answer, then of the second
    {"score": 10, "reason": "It names the place that was asked for."},
    {"score": 10, "reason": "Paris is right; one word is enough."},
    {"score": 10, "reason": "It names a place."},
    {"score": 1, "reason": "The tower stands in Paris, not in Lyon; the year is right."},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a real judge model; scripted when left out")
    agent = AccuracyAgent(model=parser.parse_args().model or ScriptedJudgeModel(REPLIES))

    for case in CASES:
        result = agent.evaluate(case, on_progress=lambda stage: print(f"  {stage} …"))
        print(f"{result['status']} {result['score']:.2f}  {case['answer']}\n    {result['reason']}")


if __name__ == "__main__":
    main()
