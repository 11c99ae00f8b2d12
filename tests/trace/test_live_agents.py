"""Live runs of several agents, graphs in graphs, and what middleware, caches and executors make of a run."""

from __future__ import annotations

import operator
import time
from typing import Annotated, Any, TypedDict

import pytest
from agents import PARIS, PARIS_STEPS, QUESTION, THREAD, ai, get_weather, scripted, told
from langchain.agents import create_agent
from langchain.agents.middleware import (
    LLMToolEmulator,
    PIIMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    after_model,
    before_model,
    wrap_model_call,
)
from langchain_classic.agents import AgentExecutor, BaseSingleActionAgent, create_react_agent, create_tool_calling_agent
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph, add_messages
from langgraph.types import CachePolicy, Send
from langgraph_swarm import create_handoff_tool, create_swarm
from live_runs import BOOM, boom, node_graph, record

from langchain_llm_judge import AgentTrace, TraceRecorder, to_trace


def expert(*replies: Any, name: str = "expert", tools: Any = (get_weather,)) -> Any:
    return create_agent(scripted(*replies), list(tools), name=name)


# Several agents


def test_a_swarm_hands_over():
    alice = expert(ai("", ("transfer_to_bob", {}, "a1")), name="alice", tools=[create_handoff_tool(agent_name="bob")])
    bob = expert(ai("", PARIS), "Bob: 21C", name="bob")
    swarm = create_swarm([alice, bob], default_active_agent="alice").compile(checkpointer=InMemorySaver())
    trace = record(swarm, config=THREAD)
    assert told(trace) == ["transfer_to_bob()", "-> Successfully transferred to bob", *PARIS_STEPS]
    assert [step.agent for step in trace.steps] == ["alice", "alice", "bob", "bob"]
    assert (trace.final_answer, trace.status) == ("Bob: 21C", "finished")


class Report(TypedDict):
    topic: str
    report: str


def test_an_agent_under_other_state():
    researcher = expert(ai("", PARIS), "Paris is 21C")

    def research(state: Any) -> Any:
        return {
            "report": researcher.invoke({"messages": [("user", f"Research {state['topic']}")]})["messages"][-1].text
        }

    trace = record(node_graph(Report, research=research), {"topic": "Paris"}, task_key="topic", answer_key="report")
    assert (trace.task, told(trace), trace.final_answer) == ("Paris", PARIS_STEPS, "Paris is 21C")


class Findings(TypedDict):
    question: str
    cities: list
    findings: Annotated[list, operator.add]
    messages: Annotated[list, add_messages]


def test_branches_that_run_at_once_follow_one_another_and_do_not_mix():
    def by_city(messages: list[BaseMessage]) -> BaseMessage:
        city = str(messages[0].content)
        return ai(f"{city} done") if len(messages) > 1 else ai("", ("get_weather", {"city": city}, "c1"))

    worker = expert(by_city, name="worker")

    def work(state: Any) -> Any:
        time.sleep(0.1 if state["city"] == "Paris" else 0)
        return {"messages": worker.invoke({"messages": [("user", state["city"])]})["messages"][-1:]}

    graph = StateGraph(Findings)
    graph.add_node("work", work)
    graph.add_conditional_edges(START, lambda state: [Send("work", {"city": c}) for c in state["cities"]], ["work"])
    trace = record(graph.compile(), {"messages": [("user", "Compare")], "cities": ["Paris", "Rome"]})
    rome = ["get_weather(city='Rome')", "-> Rome: 21C"]
    assert told(trace) == [*PARIS_STEPS, "message of worker: Paris done", *rome]
    assert (trace.task, trace.final_answer) == ("Compare", "Rome done")


def test_an_agent_in_a_tool_that_fails_is_told_on_both_levels():
    inner = expert(ai("trying", BOOM), tools=[boom])

    @tool
    def ask(question: str) -> str:
        """Ask."""
        return inner.invoke({"messages": [("user", question)]})["messages"][-1].text

    trace = record(create_agent(scripted(ai("", ("ask", {"question": "Why?"}, "c1"))), [ask]))
    assert told(trace) == ["ask(question='Why?')", "-> error: RuntimeError('kaput')"]
    inside = trace.calls()[0].subtrace
    assert told(inside) == ["thought of expert: trying", "boom(x=1)", "-> error: RuntimeError('kaput')"]
    assert (inside.task, inside.status) == ("Why?", "failed")


@pytest.mark.parametrize("ids", [("c1", "c2"), ("c1", "c1")])
def test_parallel_calls_of_one_tool_keep_their_own_agents(ids: tuple[str, str]):
    def answer(messages: list[BaseMessage]) -> BaseMessage:
        return ai(f"about {messages[0].content}") if len(messages) > 1 else ai("", PARIS)

    inner = expert(answer)

    @tool
    def ask(about: str) -> str:
        """Ask."""
        time.sleep(0.1 if about == "first" else 0)
        return inner.invoke({"messages": [("user", about)]})["messages"][-1].text

    calls = ai("", ("ask", {"about": "first"}, ids[0]), ("ask", {"about": "second"}, ids[1]))
    trace = record(create_agent(scripted(calls, "done"), [ask]))
    assert [call.subtrace.final_answer for call in trace.calls()] == ["about first", "about second"]
    assert told(trace)[2:] == ["-> about first", "-> about second"]


def test_a_lone_model_call_in_a_tool_is_no_agent():
    @tool
    def translate(text: str) -> str:
        """Translate."""
        return scripted(f"le {text}").invoke(text).text

    trace = record(create_agent(scripted(ai("", ("translate", {"text": "chat"}, "c1")), "done"), [translate]))
    assert (told(trace)[1], trace.calls()[0].subtrace) == ("-> le chat", None)


def test_what_one_agent_asks_another_is_no_word_of_the_user():
    helper = expert(ai("", PARIS), "21C")

    def node(state: Any) -> Any:
        return {"messages": helper.invoke({"messages": [("user", "Do look it up")]})["messages"]}

    trace = record(node_graph(MessagesState, node=node))
    assert (trace.task, told(trace), trace.final_answer) == ("Q?", PARIS_STEPS, "21C")


def test_what_a_node_says_in_the_users_name_is_a_message_of_the_user():
    graph = node_graph(
        MessagesState,
        say=lambda state: {"messages": [ai("first"), HumanMessage("Sure?")]},
        again=lambda state: {"messages": [ai("second")]},
    )
    trace = record(graph)
    assert (told(trace), trace.final_answer) == (["message: first", "message of user: Sure?"], "second")


def test_the_question_of_a_chain_of_agents_is_the_first():
    def ask(question: str) -> Any:
        return RunnableLambda(lambda _: {"messages": [("user", question)]})

    chain = ask("first?") | expert("one") | ask("second?") | expert("two")
    trace = record(chain, {"number": 1, "other": 2})
    assert (trace.task, told(trace), trace.final_answer) == ("first?", ["message of expert: one"], "two")


def test_a_list_that_the_run_goes_on_to_extend():
    @entrypoint()
    def agent(messages: list) -> list:
        messages.append(scripted(ai("hm", PARIS)).invoke(messages))
        messages.append(get_weather.invoke(messages[-1].tool_calls[0]))
        messages.append(AIMessage("21C"))
        return messages

    trace = record(agent, [HumanMessage("Q?")])
    assert (trace.task, told(trace), trace.final_answer) == ("Q?", ["thought: hm", *PARIS_STEPS], "21C")


def test_history_that_was_given_is_no_step():
    before = [HumanMessage("Rome?"), ai("", ("get_weather", {"city": "Rome"}, "c1")), AIMessage("Rome is 21C")]
    trace = record(expert(ai("", PARIS), "Paris is 21C"), {"messages": [*before, HumanMessage("And Paris?")]})
    assert (trace.task, told(trace), trace.final_answer) == ("And Paris?", PARIS_STEPS, "Paris is 21C")


# Functional API


def test_tasks_that_run_at_once_come_in_the_order_of_their_calls():
    @task
    def write(part: str) -> str:
        time.sleep(0.1 if part == "A" else 0)
        return scripted(f"text {part}").invoke(part).text

    @entrypoint()
    def report(topic: str) -> str:
        parts = [write(part) for part in "AB"]
        return " ".join(part.result() for part in parts)

    trace = record(report, "my topic")
    assert (told(trace), trace.task, trace.final_answer) == (
        ["message: text A", "message: text B"],
        "my topic",
        "text A text B",
    )


def test_a_task_that_calls_an_agent():
    agent = expert(ai("", PARIS), "21C")

    @task
    def research(question: str) -> str:
        return agent.invoke({"messages": [("user", question)]})["messages"][-1].text

    @entrypoint()
    def flow(question: str) -> dict:
        return {"answer": research(question).result()}

    trace = record(flow, "Q?")
    assert (told(trace), trace.task, trace.final_answer) == (PARIS_STEPS, "Q?", "21C")


# Middleware


def test_what_was_summarised_stays():
    summary = SummarizationMiddleware(model=scripted("SUMMARY"), trigger=("messages", 3), keep=("messages", 1))
    agent = create_agent(scripted(ai("", PARIS), ai("", PARIS), "done"), [get_weather], middleware=[summary])
    trace = record(agent)
    assert (trace.task, told(trace), trace.final_answer) == ("Q?", PARIS_STEPS * 2, "done")


def test_what_was_redacted_is_redacted_in_the_trace():
    redact = PIIMiddleware(
        "email", strategy="redact", apply_to_input=True, apply_to_output=True, apply_to_tool_results=True
    )
    agent = create_agent(scripted(ai("me@x.com?", PARIS), "sent to you@x.com"), [get_weather], middleware=[redact])
    trace = record(agent, {"messages": [("user", "I am me@x.com")]})
    assert "x.com" not in trace.to_json()
    assert trace.task == "I am [REDACTED_EMAIL]"


def test_what_a_later_node_replaced_is_replaced():
    @after_model(can_jump_to=["end"])
    def guard(state: Any, runtime: Any) -> Any:
        last = state["messages"][-1]
        return {"messages": [AIMessage("No.", id=last.id)], "jump_to": "end"} if last.tool_calls else None

    trace = record(create_agent(scripted(ai("bad idea", PARIS)), [get_weather], middleware=[guard]))
    assert (told(trace), trace.final_answer, trace.status) == ([], "No.", "finished")


def test_an_answer_that_was_asked_for_again_is_no_step():
    @wrap_model_call
    def again(request: Any, handler: Any) -> Any:
        handler(request)
        return handler(request)

    trace = record(create_agent(scripted(ai("", BOOM), ai("good"), ""), [get_weather, boom], middleware=[again]))
    assert (told(trace), trace.final_answer) == ([], "good")


def test_a_model_that_middleware_asks_for_itself_before_the_agent_is_no_step():
    @before_model
    def look_up(state: Any, runtime: Any) -> None:
        scripted("aside").invoke("?", {"metadata": {"lc_internal_call": "token"}})

    trace = record(create_agent(scripted("ok"), [], middleware=[look_up]))
    assert (told(trace), trace.final_answer, trace.usage) == ([], "ok", None)


def test_models_that_middleware_asks_for_itself_are_no_steps():
    emulator = LLMToolEmulator(model=scripted("emulated"))
    trace = record(create_agent(scripted(ai("", PARIS), "ok"), [get_weather], middleware=[emulator]))
    assert told(trace) == [PARIS_STEPS[0], "-> emulated"]
    assert [spec.name for spec in trace.tools] == ["get_weather"]


def test_tools_of_middleware_are_offered():
    trace = record(create_agent(scripted("ok"), [get_weather], middleware=[TodoListMiddleware()]))
    assert {spec.name for spec in trace.tools} == {"write_todos", "get_weather"}


def test_a_cached_node_has_no_run_and_still_wrote():
    policy = CachePolicy(key_func=lambda *args, **kwargs: b"key")
    graph = node_graph(
        MessagesState,
        of_node={"cache_policy": policy},
        of_graph={"cache": InMemoryCache()},
        one=lambda state: {"messages": [ai("cached")]},
    )
    outer = node_graph(MessagesState, graph=graph, end=lambda state: {"messages": [ai("bye")]})
    for _ in range(2):
        trace = record(outer)
        assert (told(trace), trace.final_answer) == (["message: cached"], "bye")
        trace = record(graph)
        assert (told(trace), trace.final_answer) == ([], "cached")


def test_cached_nodes_before_and_after_those_that_ran():
    once = {"cache_policy": CachePolicy(key_func=lambda *args, **kwargs: b"key")}
    graph = StateGraph(MessagesState)
    graph.add_node("first", lambda state: {"messages": [ai("first")]}, **once)
    graph.add_node("second", lambda state: {"messages": [ai("second")]})
    graph.add_node("third", lambda state: {"messages": [ai("third")]}, **once)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", "third")
    cached = graph.compile(cache=InMemoryCache())
    for _ in range(2):
        trace = record(cached)
        assert (told(trace), trace.final_answer) == (["message: first", "message: second"], "third")


# Retrieval


class Found(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page_content=f"about {query}"), Document(page_content="more")]


class Rag(TypedDict):
    question: str
    context: list
    answer: str


@pytest.mark.parametrize("retrieve", [Found().invoke, lambda query: [Document(f"about {query}"), Document("more")]])
def test_documents_of_a_node_are_contexts(retrieve: Any):
    graph = node_graph(
        Rag,
        retrieve=lambda state: {"context": retrieve(state["question"])},
        write=lambda state: {"answer": scripted("It is so.").invoke(str(state["context"])).text},
    )
    trace = record(graph, {"question": "x"})
    assert trace.contexts == ["about x", "more"]
    assert (trace.task, told(trace), trace.final_answer) == ("x", [], "It is so.")


def test_a_chain_with_a_retriever():
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    chain = {"context": Found(), "question": RunnablePassthrough()} | prompt | scripted("So.") | StrOutputParser()
    trace = record(chain, "x")
    assert (trace.task, trace.contexts, told(trace), trace.final_answer) == ("x", ["about x", "more"], [], "So.")


# AgentExecutor

TOOL_PROMPT = ChatPromptTemplate.from_messages([("human", "{input}"), ("placeholder", "{agent_scratchpad}")])
TEXT_PROMPT = PromptTemplate.from_template("{tools} {tool_names} {input} {agent_scratchpad}")


@tool
def look(query: str) -> str:
    """Look."""
    return f"seen {query}"


def executor(*replies: Any, tools: Any = (get_weather,), **options: Any) -> AgentExecutor:
    agent = create_tool_calling_agent(scripted(*replies), list(tools), TOOL_PROMPT)
    return AgentExecutor(agent=agent, tools=list(tools), return_intermediate_steps=True, **options)


def text_executor(*replies: Any, **options: Any) -> AgentExecutor:
    agent = create_react_agent(scripted(*replies), [look], TEXT_PROMPT)
    return AgentExecutor(agent=agent, tools=[look], return_intermediate_steps=True, **options)


LOOK = ai("I should look.\nAction: look\nAction Input: paris")


@pytest.mark.parametrize(
    ("built", "steps", "answer", "status"),
    [
        (lambda: executor(ai("hm", PARIS, ("get_weather", {"city": "Rome"}, "c2")), "ok"),
         ["thought: hm", PARIS_STEPS[0], "get_weather(city='Rome')", PARIS_STEPS[1], "-> Rome: 21C"], "ok", "finished"),
        (lambda: executor(ai("", ("nope", {"x": 1}, "c1")), "ok"),
         ["nope(x=1)", "-> error: nope is not a valid tool, try one of [get_weather]."], "ok", "finished"),
        (lambda: executor(ai("", PARIS), max_iterations=2), PARIS_STEPS * 2, "Agent stopped due to max iterations.",
         "step_limit"),
        (lambda: executor("at once"), [], "at once", "finished"),
        (lambda: text_executor(LOOK, ai("I know.\nFinal Answer: 42")),
         ["thought: I should look.", "look('paris')", "-> seen paris"], "42", "finished"),
        (lambda: text_executor(ai("Final Answer: 42")), [], "42", "finished"),
        (lambda: text_executor(ai("no format"), ai("Final Answer: 42"), handle_parsing_errors=True),
         ["thought in error: no format"], "42", "finished"),
        (lambda: text_executor(ai("no format"), ai("Final Answer: 42"), handle_parsing_errors="again"),
         ["thought in error: no format"], "42", "finished"),
        (lambda: text_executor(ai("Try.\nAction: nope\nAction Input: x"), ai("Final Answer: 42")),
         ["thought: Try.", "nope('x')", "-> error: nope is not a valid tool, try one of [look]."], "42", "finished"),
        (lambda: text_executor(LOOK, max_iterations=1),
         ["thought: I should look.", "look('paris')", "-> seen paris"],
         "Agent stopped due to iteration limit or time limit.", "step_limit"),
    ],
)  # fmt: skip
def test_f05_an_executor_tells_the_same_live_and_in_its_result(built: Any, steps: Any, answer: str, status: str):
    trace = record(built(), {"input": "Q?"})
    assert (trace.task, told(trace), trace.final_answer, trace.status) == ("Q?", steps, answer, status)
    afterwards = to_trace(built().invoke({"input": "Q?"}))
    assert (told(afterwards), afterwards.final_answer, afterwards.status) == (steps, answer, status)


class ByHand(BaseSingleActionAgent):
    """An agent that is no chain: code decides."""

    @property
    def input_keys(self) -> list[str]:
        return ["input"]

    def plan(self, intermediate_steps: Any, callbacks: Any = None, **given: Any) -> Any:
        if len(intermediate_steps) == 2:
            return AgentFinish({"output": "42"}, "Final Answer: 42")
        return AgentAction("look", given["input"], "I should look.\nAction: look")

    async def aplan(self, intermediate_steps: Any, callbacks: Any = None, **given: Any) -> Any:
        return self.plan(intermediate_steps, callbacks, **given)


def test_an_executor_whose_agent_is_no_chain():
    recorder = TraceRecorder()
    built = AgentExecutor(agent=ByHand(), tools=[look]).with_config(callbacks=[recorder])
    built.invoke({"input": "Q?"}, {"callbacks": [recorder]})
    assert told(recorder.trace) == ["thought: I should look.", "look('Q?')", "-> seen Q?"] * 2
    assert (recorder.trace.final_answer, len(recorder.traces)) == ("42", 1)


def test_an_executor_whose_tool_raises():
    trace = record(executor(ai("", BOOM), tools=[boom]), {"input": "Q?"})
    assert told(trace) == ["boom(x=1)", "-> error: RuntimeError('kaput')"]
    assert (trace.status, trace.final_answer) == ("failed", None)


def test_an_executor_inside_a_graph():
    inside = executor(ai("", PARIS), "21C")
    graph = node_graph(Rag, node=lambda state: {"answer": inside.invoke({"input": state["question"]})["output"]})
    trace = record(graph, {"question": "Q?"}, answer_key="answer")
    assert (trace.task, told(trace), trace.final_answer) == ("Q?", PARIS_STEPS, "21C")


def test_a_text_agent_offers_its_tools_in_words_only():
    trace: AgentTrace = record(text_executor(ai("Final Answer: 42")), {"input": "Q?"})
    assert (trace.tools, trace.tools_known) == ([], False)


def test_two_turns_of_one_thread_are_two_runs():
    agent = create_agent(
        scripted(ai("", PARIS), "one", ai("", PARIS), "two"), [get_weather], checkpointer=InMemorySaver()
    )
    first, second = record(agent, config=THREAD), record(agent, {"messages": [("user", "Again?")]}, config=THREAD)
    assert [(trace.task, told(trace), trace.final_answer) for trace in (first, second)] == [
        ("Q?", PARIS_STEPS, "one"),
        ("Again?", PARIS_STEPS, "two"),
    ]
    assert QUESTION == {"messages": [("user", "Q?")]}
