"""Judges as evaluators in the habit of LangSmith and openevals: called with inputs, outputs and reference outputs.

    python examples/langsmith_evaluators.py [--model openai/gpt-4o-mini]

With LangSmith: client.evaluate(target, data="my-dataset", evaluators=[grade, checks])
"""

import argparse

from langchain_llm_judge import AgentJudge, GradingJudge, ScriptedJudgeModel, feedback

parser = argparse.ArgumentParser()
parser.add_argument("--model", help="a judge model; without one the verdict is scripted")
scripted = ScriptedJudgeModel([{"criteria": [{"name": "Quality", "level": 4, "reason": "right, a bit long"}]}])
grade = GradingJudge(parser.parse_args().model or scripted)
checks = AgentJudge(grade=False)

for score in grade(
    inputs={"question": "What is the capital of France?"},
    outputs={"answer": "It is Paris, which lies on the Seine."},
    reference_outputs={"answer": "Paris"},
):
    print(score["key"], score["score"], score["comment"])

run = {
    "task": "Weather in Paris?",
    "tools": ["get_weather"],
    "steps": [{"type": "tool_call", "name": "get_wether", "args": {"city": "Paris"}}],
}
print(checks(outputs=run)[0]["comment"])

print(feedback(checks.invoke(run))[0]["score"])
