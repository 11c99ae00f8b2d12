"""Is the answer supported by its passages? Claim by claim, without a key on the embedded engine.

python examples/rag_claims.py [--model openai/gpt-4o-mini]
"""

import argparse

from langchain_llm_judge import RAGJudge

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="offline", help="a judge model; offline reads words, not meaning")
judge = RAGJudge(parser.parse_args().model)

result = judge.invoke(
    {
        "question": "What is the range of the Aurora 3?",
        "contexts": ["The Aurora 3 has a range of up to 80 km.", "Showroom hours: 10-18."],
        "answer": "The Aurora 3 has a range of up to 80 km. It comes with a free helmet.",
        "reference": "Up to 80 km.",
    }
)

for claim in result.claims:
    print("supported  " if claim.supported else "unsupported", claim.claim, f"({claim.reason})")
print("faithfulness", result.faithfulness, "| context precision", result.context_precision)
print("context recall", result.context_recall, "| answer relevance", result.answer_relevance)
