"""Messages become steps: order, pairing, thoughts, answers, ends."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from agents import ai, told
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, FunctionMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage

from langchain_llm_judge import to_trace
from langchain_llm_judge.trace.messages import Entry, assemble
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall, ToolResult


def answer(text: Any, call_id: str = "c1", **more: Any) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id, **more)


def steps_of(*messages: Any, **options: Any) -> list[str]:
    return told(to_trace([("user", "q"), *messages], **options))


# F01: content blocks

THINKING = {"type": "thinking", "thinking": "user wants 4", "signature": "s"}
FOUR = {"type": "text", "text": "The answer is 4."}


@pytest.mark.parametrize("content", [[THINKING, FOUR], [FOUR, THINKING]], ids=["text last", "text first"])
def test_f01_reasoning_is_a_thought_and_text_the_answer(content: list):
    trace = to_trace([HumanMessage("2+2?"), AIMessage(content)])
    assert trace.final_answer == "The answer is 4."
    assert told(trace) == ["thought: user wants 4"]


def test_f01_two_texts_and_a_result_in_blocks():
    two = [{"type": "text", "text": "Both are "}, {"type": "text", "text": "21C."}]
    call = ai("", ("f", {}, "c1"))
    trace = to_trace([("user", "q"), call, answer([{"type": "text", "text": "r"}]), AIMessage(two)])
    assert told(trace) == ["f()", "-> r"]
    assert trace.final_answer == "Both are 21C."


SEARCH = {"query": "x"}
FOUND = [{"type": "web_search_result", "url": "u", "title": "t"}]


@pytest.mark.parametrize(
    ("content", "provider", "steps", "said"),
    [
        (
            [
                {"type": "text", "text": "Searching."},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": SEARCH},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": FOUND},
                {"type": "text", "text": "Found "},
                {"type": "text", "text": "it."},
            ],
            "anthropic",
            ["thought: Searching.", "web_search(query='x')", f"-> {json.dumps(FOUND)}"],
            "Found it.",
        ),
        (
            [
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": text} for text in "ab"]},
                {"type": "web_search_call", "id": "w1", "status": "completed", "action": SEARCH},
                {"type": "mcp_call", "id": "m1", "name": "book", "arguments": '{"a": 1}', "output": "ok"},
                {"type": "text", "text": "Done.", "annotations": []},
            ],
            "openai",
            ["thought: a", "thought: b", "web_search(query='x')", "-> ", "book(a=1)", "-> ok"],
            "Done.",
        ),
        (
            [
                {"type": "server_tool_call", "name": "run", "args": {}, "id": "s1"},
                {"type": "server_tool_result", "tool_call_id": "s1", "status": "error", "output": "bad"},
                {"type": "text", "text": "Failed."},
            ],
            None,
            ["run()", "-> error: bad"],
            "Failed.",
        ),
        (
            [
                {"type": "executable_code", "executable_code": {"code": "1+1", "language": "PYTHON"}},
                {"type": "code_execution_result", "code_execution_result": "2", "outcome": 1},
                "It is 2.",
            ],
            "google_genai",
            None,
            "It is 2.",
        ),
    ],
    ids=["anthropic", "openai", "langchain", "google"],
)  # fmt: skip
@pytest.mark.parametrize("provider_named", [True, False])
def test_calls_that_the_provider_ran(content, provider, steps, said, provider_named):
    message = AIMessage(content, response_metadata={"model_provider": provider} if provider_named and provider else {})
    before = copy.deepcopy(message)
    trace = to_trace([("user", "q"), message], tools=["get_weather"])
    assert (trace.final_answer, trace.status) == (said, "finished")
    assert steps is None or told(trace) == steps
    assert trace.calls()
    assert all(call.server_side for call in trace.calls())
    assert {step.call_id for step in trace.steps if isinstance(step, ToolResult)} == {call.id for call in trace.calls()}
    assert message == before


@pytest.mark.parametrize(
    ("message", "steps", "said"),
    [
        (AIMessage("a", additional_kwargs={"reasoning_content": "deep"}), ["thought: deep"], "a"),
        (AIMessage([FOUR], additional_kwargs={"reasoning_content": "deep"}), ["thought: deep"], "The answer is 4."),
        (AIMessage([{"type": "reasoning_content", "reasoning_content": {"text": "deep"}}]), ["thought: deep"], None),
        (AIMessage([{"type": "thinking", "thinking": [{"type": "text", "text": "deep"}]}]), ["thought: deep"], None),
        (AIMessage([THINKING], additional_kwargs={"reasoning_content": "x"}), ["thought: user wants 4"], None),
        (AIMessage([{"type": "redacted_thinking", "data": "zz"}, FOUR]), [], FOUR["text"]),
        (AIMessage("", additional_kwargs={"refusal": "I can't."}), [], "I can't."),
        (AIMessage([{"type": "refusal", "refusal": "I can't."}]), [], "I can't."),
        (AIMessage("<think>a</think>b"), [], "<think>a</think>b"),
        (AIMessage(["a", {"type": "image", "url": "https://x/y.png"}, "b"]), [], "a\n[image: https://x/y.png]\nb"),
        (AIMessage([{"type": "file", "file": {"filename": "a.pdf", "file_data": "data:x"}}]), [], "[file: a.pdf]"),
        (AIMessage([{"type": "stranger", "blob": 1}]), [], '{"type": "stranger", "blob": 1}'),
        (AIMessage(""), [], None),
        (AIMessage("\n"), [], None),
        (AIMessage("lone \ud83d"), [], "lone \ufffd"),
    ],
)  # fmt: skip
def test_every_block_is_carried_or_stands_for_itself(message: AIMessage, steps: list[str], said: str | None):
    trace = to_trace([("user", "q"), message])
    assert (told(trace), trace.final_answer) == (steps, said)


def test_calls_in_content_are_the_calls_of_the_message_and_not_others():
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
    listed = ai([{"type": "text", "text": "t"}, block], ("f", {"a": 1}, "c1"))
    only_in_content = AIMessage([{"type": "text", "text": "t"}, block])
    for message in (listed, only_in_content):
        assert steps_of(message, answer("r")) == ["thought: t", "f(a=1)", "-> r"]


# F02: pairing


def test_f02_results_join_calls_by_id_in_the_order_of_the_calls():
    calls = ai("", ("search", {"q": "a"}, "c1"), ("search", {"q": "b"}, "c2"), ("clock", {}, "c3"), ("ping", {}, None))
    trace = to_trace(
        [("user", "q"), calls, answer("B", "c2"), answer("boom", "c1", status="error"), answer("?", "zz"), ai("done")]
    )
    assert told(trace) == ["search(q='a')", "search(q='b')", "clock()", "ping()", "-> error: boom", "-> B", "-> ?"]
    assert [step.call_id for step in trace.steps if isinstance(step, ToolResult)] == ["c1", "c2", "zz"]
    assert [step.name for step in trace.steps if isinstance(step, ToolResult)] == ["search", "search", None]
    assert trace.warnings == ["the result 'zz' of None joins no waiting call of its turn"]
    assert {call.group for call in trace.calls()} == {1}
    assert (trace.status, trace.final_answer) == ("finished", "done")


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # The same id again: each result goes to its own call.
        (
            [ai("", ("f", {"x": 1}, "c")), answer("1", "c"), ai("", ("f", {"x": 2}, "c")), answer("2", "c")],
            ["f(x=1)", "-> 1", "f(x=2)", "-> 2"],
        ),
        # A call that was never answered does not take the result of a later one.
        (
            [ai("", ("f", {"x": 1}, "c")), ai("", ("f", {"x": 2}, "c")), answer("2", "c")],
            ["f(x=1)", "f(x=2)", "-> 2"],
        ),
        # Two agents at once, by chance with the same id.
        (
            [ai("", ("f", {"x": 1}, "c")), ai("", ("f", {"x": 2}, "c")), answer("1", "c"), answer("2", "c")],
            ["f(x=1)", "f(x=2)", "-> 1", "-> 2"],
        ),
        # Empty ids, results in the order of completion: the name tells.
        (
            [ai("", ("f", {}, ""), ("g", {}, "")), answer("of g", "", name="g"), answer("of f", "", name="f")],
            ["f()", "g()", "-> of f", "-> of g"],
        ),
        (
            [ai("", ("f", {"x": 1}, ""), ("f", {"x": 2}, "")), answer("1", ""), answer("2", "")],
            ["f(x=1)", "f(x=2)", "-> 1", "-> 2"],
        ),
        # A result without an id goes to the call of its name.
        (
            [ai("", ("f", {}, "c1"), ("g", {}, "c2")), FunctionMessage(content="of g", name="g"), answer("of f", "c1")],
            ["f()", "g()", "-> of f", "-> of g"],
        ),
        # A late result stays where it came.
        (
            [ai("", ("f", {}, "c1")), ai("", ("g", {}, "c2")), answer("of g", "c2"), ai("hm"), answer("of f", "c1")],
            ["f()", "g()", "-> of g", "message: hm", "-> of f"],
        ),
        ([ai("", ("f", {}, "c1")), answer("1"), answer("again")], ["f()", "-> 1", "-> again"]),
    ],
)  # fmt: skip
def test_pairing(messages: list, expected: list[str]):
    trace = to_trace([("user", "q"), *messages, ai("end")])
    assert told(trace) == expected
    assert trace.final_answer == "end"


def test_a_result_without_an_id_goes_to_the_newest_call_of_its_name():
    calls = [ai("", ("f", {"x": 1}, "a")), ai("", ("f", {"x": 2}, "b"))]
    trace = to_trace([("user", "q"), *calls, FunctionMessage(content="r", name="f"), ai("end")])
    assert trace.steps[-1].call_id == "b"


def test_joined_results_have_the_id_and_the_name_of_their_call():
    call = ai("", ("f", {}, "c1"), ("g", {}, "c2"), name="bob")
    trace = to_trace([("user", "q"), call, FunctionMessage(content="of g", name="g"), answer("of f")])
    results = [step for step in trace.steps if isinstance(step, ToolResult)]
    assert [(step.call_id, step.name, step.agent) for step in results] == [("c1", "f", "bob"), ("c2", "g", "bob")]
    assert trace.warnings == []


def test_a_second_result_for_a_call_is_told():
    trace = to_trace([("user", "q"), ai("", ("f", {}, "c1")), answer("1"), ai("", ("g", {}, "c2")), answer("2")])
    assert trace.warnings == ["the result 'c1' of None joins no waiting call of its turn"]


# F03: malformed calls

BROKEN = '{"city": "Par'
INVALID = {"name": "get_weather", "args": BROKEN, "id": "c1", "error": "bad"}
FUNCTION = {"name": "get_weather", "arguments": BROKEN}


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", invalid_tool_calls=[{**INVALID, "type": "invalid_tool_call"}]),
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]},
        {"role": "assistant", "content": "", "function_call": FUNCTION},
        AIMessage("", additional_kwargs={"function_call": FUNCTION}),
        {"type": "function_call", "name": "get_weather", "arguments": BROKEN, "call_id": "c1"},
    ],
    ids=["langchain", "openai", "old openai", "old langchain", "responses"],
)  # fmt: skip
def test_f03_malformed_calls_keep_their_raw_text(message: Any):
    trace = to_trace([("user", "w?"), message])
    (call,) = trace.calls()
    assert (call.name, call.args, call.malformed) == ("get_weather", BROKEN, True)
    assert trace.status == "incomplete"
    assert trace.status_reason == "ended on a call that never ran: 'get_weather'"
    assert trace.final_answer is None


def test_calls_of_a_dict_stay_in_the_order_they_were_asked():
    arguments = {"a": BROKEN, "b": "", "c": "[1]", "d": '{"x": 1}'}
    calls = [{"id": name, "function": {"name": name, "arguments": text}} for name, text in arguments.items()]
    trace = to_trace([("user", "q"), {"role": "assistant", "content": None, "tool_calls": calls}])
    assert told(trace) == [f"a({BROKEN!r}) malformed", "b()", "c('[1]') malformed", "d(x=1)"]


# Texts, answers, ends


def test_text_beside_calls_is_a_thought_and_text_without_a_message():
    trace = to_trace([("user", "q"), ai("first"), ai("hm", ("f", {}, "c1")), answer("r"), ai("last")])
    assert told(trace) == ["message: first", "thought: hm", "f()", "-> r"]
    assert trace.final_answer == "last"


def test_what_is_no_step():
    back = {"__is_handoff_back": True}
    trace = to_trace(
        [
            SystemMessage("s"),
            HumanMessage("q"),
            ai("worker", name="w"),
            ai("Transferring back", ("b", {}, "b"), response_metadata=back),
            answer("Back", "b", response_metadata=back),
            HumanMessage("summary", additional_kwargs={"lc_source": "summarization"}),
            RemoveMessage(id="1"),
            ai("end", name="supervisor"),
        ]
    )  # fmt: skip
    assert told(trace) == ["message of w: worker"]
    assert (trace.task, trace.final_answer) == ("q", "end")


@pytest.mark.parametrize(
    ("messages", "status", "said"),
    [
        ([], "unknown", None),
        ([ai("done")], "finished", "done"),
        ([ai("")], "finished", None),
        ([ai("t", ("f", {}, "c1"))], "incomplete", None),
        ([ai("t", ("f", {}, "c1"), ("g", {}, "c2")), answer("r")], "incomplete", None),
        ([ai("t", ("f", {}, "c1")), answer("r")], "unknown", None),
        ([ai("t", ("f", {}, "c1")), ai("never mind")], "finished", "never mind"),
    ],
)
def test_f05_how_a_run_ended(messages: list, status: str, said: str | None):
    trace = to_trace([("user", "q"), *messages])
    assert (trace.status, trace.final_answer) == (status, said)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Sorry, need more steps to process this request.", "step_limit"),
        ("Agent stopped due to max iterations.", "step_limit"),
        ("Agent stopped due to iteration limit or time limit.", "step_limit"),
        ("Model call limits exceeded: run limit (2/2)", "step_limit"),
        ("Model call limits exceeded: thread limit (3/3), run limit (2/2)", "step_limit"),
        ("Tool call limit reached: run limit exceeded (2/1 calls).", "step_limit"),
        (
            "'f' tool call limit reached: thread limit exceeded (3/2 calls) and run limit exceeded (2/1 calls).",
            "step_limit",
        ),
        ("The log says: Sorry, need more steps to process this request. Then it stopped.", "finished"),
        ("Agent stopped due to max iterations. That is what the log says.", "finished"),
    ],
)
def test_f05_an_answer_that_a_limit_gave(text: str, status: str):
    trace = to_trace([("user", "q"), ai(text)])
    assert (trace.status, trace.final_answer) == (status, text)


def test_an_answer_cut_off_by_the_token_limit_is_told():
    trace = to_trace([("user", "q"), ai("The ans", response_metadata={"finish_reason": "length"})])
    assert trace.status == "finished"
    assert trace.status_reason == "the last message was cut off by the model's token limit (finish_reason 'length')"


def test_the_result_of_a_direct_tool_is_the_answer():
    messages = [("user", "q"), ai("", ("f", {}, "c1"), ("g", {}, "c2")), answer("1"), answer("2", "c2")]
    entries = [Entry(message) for message in messages[1:]]
    assert assemble(entries, direct_tools={"f", "g"}).final_answer == "1\n\n2"
    assert assemble(entries, direct_tools={"f"}).final_answer is None
    assert assemble(entries, ended=True).ending.status == "finished"


def test_an_answer_known_from_elsewhere_leaves_the_last_text_a_message():
    entries = [Entry(ai("first")), Entry(ai("hm", ("f", {}, "c1"))), Entry(answer("r")), Entry(ai('{"a": 1}'))]
    other = assemble(entries, answer="other")
    assert [step.type for step in other.steps] == ["message", "thought", "tool_call", "tool_result", "message"]
    assert other.final_answer == "other"
    same = assemble(entries, answer='{ "a":1 }')
    assert [step.type for step in same.steps] == ["message", "thought", "tool_call", "tool_result"]
    unfinished = assemble(entries, final=False)
    assert (unfinished.final_answer, unfinished.steps[-1].content) == (None, '{"a": 1}')


# F04: turns

TWO_TURNS = [
    HumanMessage("first"), ai("", ("ok", {}, "a")), answer("one", "a"), ai("done1"),
    HumanMessage("second"), ai("", ("ok", {}, "a")), answer("two", "a"), ai("done2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("turn", "task", "steps", "said"),
    [
        ("last", "second", ["ok()", "-> two"], "done2"),
        (1, "second", ["ok()", "-> two"], "done2"),
        (0, "first", ["ok()", "-> one"], "done1"),
        ("all", "first", ["ok()", "-> one", "message: done1", "message of user: second", "ok()", "-> two"], "done2"),
    ],
)
def test_f04_turns(turn: Any, task: str, steps: list[str], said: str):
    trace = to_trace(TWO_TURNS, turn=turn)
    assert (trace.task, told(trace), trace.final_answer, trace.warnings) == (task, steps, said, [])


def test_a_result_never_joins_a_call_of_another_turn():
    messages = [("user", "1"), ai("", ("f", {}, "c")), ("user", "2"), answer("late", "c"), ai("end")]
    trace = to_trace(messages, turn="all")
    assert told(trace) == ["f()", "message of user: 2", "-> late"]
    assert len(trace.warnings) == 1


def test_a_conversation_that_ends_on_the_user_keeps_the_last_answer():
    trace = to_trace([("user", "1"), ai("answer"), ("user", "thanks")], turn="all")
    assert (trace.final_answer, told(trace), trace.status) == ("answer", ["message of user: thanks"], "unknown")


# What else messages tell


def test_artifacts_and_contexts():
    documents = [Document("one"), Document("two")]
    call = ai("", ("kb", {}, "c1"), ("t", {}, "c2"))
    trace = to_trace([("user", "q"), call, answer("x", artifact=documents), answer("y", "c2", artifact={"n": {1}})])
    assert trace.contexts == ["one", "two"]
    results = [step for step in trace.steps if isinstance(step, ToolResult)]
    assert results[0].artifact[0]["page_content"] == "one"
    assert results[1].artifact == {"n": [1]}


def test_usage_is_summed_and_unknown_when_a_message_does_not_say():
    said = {"usage_metadata": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}}
    usage = to_trace([("user", "q"), ai("", ("f", {}, "c1"), **said), answer("r"), ai("x", **said)]).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.cost_usd) == (2, 20, 4, None)
    usage = to_trace([("user", "q"), ai("", ("f", {}, "c1"), **said), answer("r"), ai("x")]).usage
    assert (usage.calls, usage.input_tokens) == (2, None)
    assert to_trace([("user", "q"), ai("x")]).usage is None


def test_f06_arguments_equal_the_input_and_are_their_own():
    args = {"ids": ["A", "B"], "opts": {"deep": True}, "n": None, "s": 'it\'s {"x"}'}
    message = ai("", ("f", args, "c1"))
    trace = to_trace([("user", "q"), message])
    assert trace.calls()[0].args == args
    trace.calls()[0].args["opts"]["deep"] = False
    assert message.tool_calls[0]["args"] == args


ids = st.sampled_from(["a", "b", "", None])
names = st.sampled_from(["f", "g"])
made_calls = st.lists(st.tuples(names, st.just({}), ids), max_size=3)
messages = st.one_of(
    st.builds(lambda text, calls: ai(text, *calls), st.sampled_from(["", "t"]), made_calls),
    st.builds(lambda call_id, name: answer("r", call_id or "", name=name), ids, names),
    st.just(HumanMessage("u")),
)


@given(st.lists(messages, max_size=12))
def test_nothing_is_lost_whatever_comes(conversation: list):
    trace = to_trace([HumanMessage("q"), *conversation], turn="all")
    asked = sum(len(message.tool_calls) for message in conversation if isinstance(message, AIMessage))
    answered = sum(isinstance(message, ToolMessage) for message in conversation)
    assert len(trace.calls()) == asked
    results = [step for step in trace.steps if isinstance(step, ToolResult)]
    assert len(results) == answered
    joined = answered - len(trace.warnings)
    assert joined <= asked
    seen = 0
    for step in trace.steps:
        seen += isinstance(step, ToolCall)
        assert not isinstance(step, ToolResult) or trace.warnings or seen
    assert AgentTrace.model_validate_json(trace.to_json()).to_json() == trace.to_json()
