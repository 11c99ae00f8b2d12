"""A real LangGraph agent with real tools and a scripted model, for the demo; it makes three kinds of mistakes."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, ToolException, tool

from langchain_llm_judge.testing import ScriptedJudgeModel

TASK = "The cup in my order arrived broken. Please refund it. My address is ada@example.com."

PLANTED = {
    "unexpected_argument": "refund_policy is given a country it does not take; LangChain drops it without a word",
    "repeated_call": "the order is looked up twice",
    "failed_result": "the refund fails, and the agent says it is done",
}
"""Code of the finding that each planted mistake must lead to, and what the mistake is."""

_ORDERS = {"ada@example.com": {"order_id": "A-17", "item": "cup", "total": 24.9, "days_since_delivery": 3}}
_REFUNDABLE_DAYS = {"damaged": 30, "changed mind": 14}


@tool
def find_order(email: str) -> dict[str, Any]:
    """Find a customer's last order."""
    return _ORDERS[email]


@tool
def refund_policy(reason: str) -> str:
    """Say within how many days of delivery an order is refunded for a reason."""
    return f"refundable within {_REFUNDABLE_DAYS[reason]} days of delivery"


@tool
def refund(order_id: str, amount: float) -> str:
    """Pay an amount back to the customer."""
    raise ToolException(f"payment service: no answer in 10 s; order {order_id} was not refunded")


refund.handle_tool_error = True  # the model is told, and the run goes on


def refund_agent() -> Any:
    """The agent, as `create_agent` builds it."""
    return create_agent(ScriptedJudgeModel(_script()), [find_order, refund_policy, refund], name="refund_agent")


def _script() -> list[AIMessage]:
    return [
        _calling(find_order, "1", email="ada@example.com"),
        _calling(refund_policy, "2", reason="damaged", country="DE"),
        _calling(find_order, "3", email="ada@example.com"),
        _calling(refund, "4", order_id="A-17", amount=24.9),
        AIMessage("I have refunded 24.90 for your order A-17. Sorry about the cup!"),
    ]


def _calling(called: BaseTool, number: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": called.name, "args": args, "id": f"call_{number}"}])


ANSWERED = {
    "question": "How long do refunds take?",
    "contexts": ["Refunds are paid within 20 days of the return.", "Returns are free of charge in Germany."],
    "answer": "Refunds are paid within 30 days of the return. Returns are free of charge in Germany.",
}
"""An answer with one number that its passages do not have."""
