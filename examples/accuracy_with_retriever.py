"""Is an answer right by the documents? Any retriever grounds the judge; an answer that goes beyond them fails.

python examples/accuracy_with_retriever.py                  # the embedded engine: no model, no key
python examples/accuracy_with_retriever.py --model openai/gpt-4o-mini
"""

from __future__ import annotations

import argparse

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from langchain_llm_judge import AccuracyAgent, RAGProvider

TEXTS = ["Jane Smith founded Aurora in 2010.", "The Aurora 3 has a range of up to 80 km.", "Showroom hours: 10-18."]
CASES = [
    {"question": "Who founded Aurora?", "answer": "Jane Smith founded Aurora in 2010."},
    {"question": "Who founded Aurora?", "answer": "Aurora was founded by Elon Musk in 2003."},
]


class ByWords(BaseRetriever):
    """Any LangChain retriever will do; this one counts shared words."""

    def _get_relevant_documents(self, query: str, **_: object) -> list[Document]:
        words = set(query.lower().split())
        ranked = sorted(TEXTS, key=lambda text: -len(words & set(text.lower().split())))
        return [Document(page_content=text) for text in ranked]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="offline", help="a real judge model; the embedded engine when left out")
    agent = AccuracyAgent(model=parser.parse_args().model, rag=RAGProvider(ByWords(), k=2))

    for case in CASES:
        result = agent.evaluate(case)
        print(f"{result['status']} {result['score']:.2f}  {case['answer']}\n    {result['reason']}")


if __name__ == "__main__":
    main()
