"""A handler on a RAG chain: every run is judged in the background, the chain is not changed.

python examples/handler_on_rag_chain.py [--model openai/gpt-4o-mini]
"""

import argparse

from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough

from langchain_llm_judge import JudgeCallbackHandler, RAGJudge
from langchain_llm_judge.retrieval import as_documents

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="offline", help="a judge model; offline reads words, not meaning")
judge = RAGJudge(parser.parse_args().model)


class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return as_documents(["Refunds are paid within 20 days.", "The shop is closed on Sundays."])


chain = (
    {"context": Shelf(), "question": RunnablePassthrough()}
    | ChatPromptTemplate.from_template("Answer by this: {context}\n\n{question}")
    | FakeListChatModel(responses=["Refunds are paid within 20 days.", "Refunds are paid within 90 days."])
    | StrOutputParser()
)

with JudgeCallbackHandler(judge) as handler:
    for question in ("When are refunds paid?", "How long do refunds take?"):
        print("answer:", chain.invoke(question, {"callbacks": [handler]}))

for run in handler.results:
    print("passed:" if run.passed else "failed:", run.evaluations["RAGJudge"].unsupported_claims or "all is supported")
