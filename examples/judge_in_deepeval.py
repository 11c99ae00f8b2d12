"""Our argument judge as a metric of deepeval.evaluate.

python examples/judge_in_deepeval.py                      # scripted judge, no key
python examples/judge_in_deepeval.py --model openai/gpt-4o-mini
"""

from __future__ import annotations

import argparse
import os
import tempfile

from langchain_llm_judge import ArgumentCorrectnessJudge, ScriptedJudgeModel

VERDICTS = [
    {"call": 0, "correct": "yes", "reason": "the year was asked for"},
    {"call": 1, "correct": "no", "reason": "Germany was not asked about"},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a real judge model; scripted when left out")
    model = parser.parse_args().model or ScriptedJudgeModel([{"verdicts": VERDICTS}])
    os.environ.setdefault("DEEPEVAL_CACHE_FOLDER", tempfile.mkdtemp())  # where evaluate keeps its results
    metric = ArgumentCorrectnessJudge(0.7, model).as_deepeval_metric()

    from deepeval import evaluate
    from deepeval.evaluate.configs import DisplayConfig
    from deepeval.test_case import LLMTestCase, ToolCall

    calls = [
        ToolCall(name="web_search", input_parameters={"query": "US tariffs first raised year"}),
        ToolCall(name="fun_fact", input_parameters={"topic": "Germany"}),
    ]
    case = LLMTestCase(input="When did the US first raise tariffs?", actual_output="In 1789.", tools_called=calls)
    quiet = DisplayConfig(show_indicator=False, print_results=False)
    found = evaluate(test_cases=[case], metrics=[metric], display_config=quiet).test_results[0].metrics_data[0]
    print(f"{found.name}: {found.score:.2f}, passed: {found.success}\n{found.reason}")


if __name__ == "__main__":
    main()
