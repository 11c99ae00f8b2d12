"""Any DeepEval metric as a step of a chain, on a LangChain chat model of your own.

python examples/deepeval_metric.py                      # scripted judge, no key
python examples/deepeval_metric.py --model openai/gpt-4o-mini
"""

from __future__ import annotations

import argparse
from functools import partial

from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from langchain_llm_judge import DeepEvalJudge, ScriptedJudgeModel

CONTEXTS = ["The Aurora 3 has a range of up to 80 km."]
REPLIES = [  # what the steps of DeepEval's metric ask for, one after the other
    {"truths": ["The Aurora 3 has a range of up to 80 km."]},
    {"claims": ["The Aurora 3 goes 80 km.", "It comes with a free helmet."]},
    {"verdicts": [{"verdict": "yes"}, {"verdict": "no", "reason": "no passage speaks of a helmet"}]},
    {"reason": "One of two claims is in the context; the helmet is not."},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a real judge model; scripted when left out")
    model = parser.parse_args().model or ScriptedJudgeModel(REPLIES)

    from deepeval.metrics import FaithfulnessMetric  # once our package has switched its telemetry off

    app = RunnablePassthrough.assign(
        answer=RunnableLambda(lambda _: "The Aurora 3 goes 80 km. It comes with a free helmet."),
        contexts=RunnableLambda(lambda _: CONTEXTS),
    )
    chain = app | DeepEvalJudge(partial(FaithfulnessMetric, threshold=0.8), model=model)
    result = chain.invoke({"question": "How far does the Aurora 3 go?"})
    print(f"{result.metric}: {result.score:.2f}, passed: {result.passed}\n{result.reason}")


if __name__ == "__main__":
    main()
