"""A LangGraph agent, recorded as it runs, checked without a model and graded by one.

python examples/langgraph_agent.py                      # scripted judge, no key
python examples/langgraph_agent.py --model openai/gpt-4o-mini
"""

from __future__ import annotations

import argparse

from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from langchain_llm_judge import AgentJudge, ScriptedJudgeModel, TraceRecorder


def get_weather(city: str) -> str:
    """Say what the weather is like in a city."""
    return f"{city}: rain, 9 degrees"


CALL = {"name": "get_weather", "args": {"city": "Paris"}, "id": "1"}
AGENT_MODEL = ScriptedJudgeModel([AIMessage("", tool_calls=[CALL]), "It is sunny in Paris."])
VERDICTS = [
    {"name": "Task Completion", "level": 1, "reason": "the tool said rain, the answer says sun"},
    {"name": "Tool Selection", "level": 5, "reason": "the one tool that can tell was called"},
    {"name": "Step Efficiency", "level": 5, "reason": "one call was enough"},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a real judge model; scripted when left out")
    model = parser.parse_args().model or ScriptedJudgeModel([{"criteria": VERDICTS}])

    recorder = TraceRecorder()
    graph = create_agent(AGENT_MODEL, [get_weather])
    graph.invoke({"messages": [("user", "Do I need an umbrella in Paris?")]}, {"callbacks": [recorder]})

    evaluation = AgentJudge(model).invoke(recorder.trace)
    print("checks:", "passed" if evaluation.checks.passed else evaluation.checks.findings)
    for name, grade in evaluation.grade.criteria.items():
        print(f"{name}: {grade.score:.2f}, {grade.reason}")
    print(f"score: {evaluation.grade.score:.2f}")


if __name__ == "__main__":
    main()
