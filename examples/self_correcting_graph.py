"""A graph that judges its own draft and writes again until the verdict passes.

python examples/self_correcting_graph.py [--model openai/gpt-4o-mini]
"""

import argparse
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

from langchain_llm_judge import GradingJudge, ScriptedJudgeModel, judge_node, route_on_verdict


def grade(level, reason):
    return {"criteria": [{"name": "Quality", "level": level, "reason": reason}]}


parser = argparse.ArgumentParser()
parser.add_argument("--model", help="a judge model; without one the verdicts are scripted")
judge = GradingJudge(
    parser.parse_args().model or ScriptedJudgeModel([grade(1, "it names no capital"), grade(5, "right and short")])
)


class State(TypedDict, total=False):
    question: str
    answer: str
    evaluations: dict[str, Any]


def write(state):
    reason = state["evaluations"]["GradingJudge"].reason if "evaluations" in state else None
    print("writing again, because:" if reason else "writing", reason or "")
    return {"answer": "Paris is the capital of France." if reason else "France is a country."}


graph = StateGraph(State)
graph.add_node("write", write)
graph.add_node("judge", judge_node(judge))
graph.add_edge(START, "write")
graph.add_edge("write", "judge")
graph.add_conditional_edges("judge", route_on_verdict(pass_to=END, fail_to="write"))

state = graph.compile().invoke({"question": "What is the capital of France?"}, {"recursion_limit": 10})
print("answer:", state["answer"], "| score:", state["evaluations"]["GradingJudge"].score)
