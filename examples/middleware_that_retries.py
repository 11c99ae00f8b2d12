"""Middleware in an agent: a failed verdict goes back to the model with its reason, at most once a run.

python examples/middleware_that_retries.py [--model openai/gpt-4o-mini]
"""

import argparse

from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from langchain_llm_judge import GradingJudge, JudgeMiddleware, ScriptedJudgeModel


def grade(level, reason):
    return {"criteria": [{"name": "Quality", "level": level, "reason": reason}]}


parser = argparse.ArgumentParser()
parser.add_argument("--model", help="a judge model; without one the verdicts are scripted")
judge = GradingJudge(
    parser.parse_args().model or ScriptedJudgeModel([grade(1, "no temperature is given"), grade(5, "complete")])
)

agent = create_agent(
    ScriptedJudgeModel([AIMessage("It is nice."), AIMessage("It is sunny, 21C.")]),
    middleware=[JudgeMiddleware(judge, on_fail="retry", max_retries=1)],
)
state = agent.invoke({"messages": [("user", "What is the weather in Paris?")]})

for message in state["messages"]:
    print(f"{message.type:6}", message.text.replace("\n", " "))
print("verdict:", state["evaluations"]["GradingJudge"].reason)
