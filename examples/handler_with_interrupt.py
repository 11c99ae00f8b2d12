"""A handler on a LangGraph agent that waits for a person: judged once, when it was resumed and came to its end.

python examples/handler_with_interrupt.py [--model openai/gpt-4o-mini]
"""

import argparse

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from langchain_llm_judge import AgentJudge, JudgeCallbackHandler, ScriptedJudgeModel

parser = argparse.ArgumentParser()
parser.add_argument("--model", help="a judge model; without one the run is checked, not graded")
model = parser.parse_args().model


def send_mail(to: str) -> str:
    """Send a mail, once a person has agreed."""
    return f"sent to {to}" if interrupt(f"Send to {to}?") == "yes" else "refused"


call = {"name": "send_mail", "args": {"to": "bob"}, "id": "c1", "type": "tool_call"}
script = ScriptedJudgeModel([AIMessage("", tool_calls=[call]), AIMessage("The mail is sent.")])
agent = create_agent(script, [send_mail], checkpointer=InMemorySaver())

handler = JudgeCallbackHandler(AgentJudge(model, grade=model is not None))
config = {"configurable": {"thread_id": "1"}, "callbacks": [handler]}

agent.invoke({"messages": [("user", "Mail bob")]}, config)
handler.flush()
print("first stop: ", handler.results[0].status, "- verdicts:", handler.results[0].evaluations)

agent.invoke(Command(resume="yes"), config)
handler.flush()
run = handler.results[0]
print("whole run:  ", run.status, "- passed:", run.passed)
print("tool result:", [step.content for step in run.trace.steps if step.type == "tool_result"])
