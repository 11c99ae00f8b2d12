"""Reading the record of a run: which messages belong to it, in which order.

Node outputs come first, since they are what the run went on with:

- What nodes of graphs wrote is collected by message id (by object where there is none). A message seen again under
  its id replaces the first in place; removals delete nothing. What the first node of a graph was given is history.
- A message stands where the model gave it, else where its node ended. Nodes that ran at once follow one another in the
  order in which the graph applies them, not in the order of their ends.
- A model's answer that its node did not write: if the node wrote another answer it was a discarded attempt, unless its
  calls ran; if the node wrote none, the text went into other state and is a message. Calls that middleware makes for
  itself are left out.
- Tool runs fill gaps only: a failure or result that no message tells of, and calls that code made without a model.
- What lies below a tool run belongs to that call.
- Attempts that were repeated (a retried node, a run interrupted and resumed) count once, as they ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_llm_judge.trace.calls import Call, CallBook, asks_for
from langchain_llm_judge.trace.dialogue import is_user
from langchain_llm_judge.trace.executor_runs import (
    INVALID_TOOL,
    Asked,
    Event,
    Finished,
    Unparsed,
    executor_events,
    is_executor,
)
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.nodes import states_in
from langchain_llm_judge.trace.places import STEPS, Item, Node, Scope
from langchain_llm_judge.trace.tree import (
    CUT_OFF,
    INTERRUPTS,
    first_nodes,
    graphs_in,
    is_resumed,
    kept_attempts,
    resume_values,
)
from langchain_llm_judge.trace.values import text_of
from langchain_llm_judge.trace.written import Key, Keyed, WrittenMessages, likeness


@dataclass(slots=True)
class Reading:
    """What reading found, before it becomes steps."""

    items: list[Item]
    calls: list[Call]
    """Every call, in the order in which they were found."""
    structured_tools: set[str]
    """Names of pseudo tools through which structured answers were given."""
    given: list[BaseMessage]
    """The messages that the outermost graph began with, the question among them."""


def read(roots: Sequence[Run], above: str | None = None) -> Reading:
    """The messages of a run.

    Args:
        roots: Its root runs: several where it was interrupted and resumed.
        above: Path of the agent whose tool the run is inside of.
    """
    reader = _Reader(roots)
    items = [item for root in roots for item in reader.visit_root(root, above)]
    return Reading(list(_without_inner_answers(items)), reader.book.calls, reader.structured_tools, reader.given)


class _Reader:
    def __init__(self, roots: Sequence[Run]) -> None:
        runs = [run for root in roots for run in root.outer()]
        self.book = CallBook()
        self.structured_tools: set[str] = set()
        self.given: list[BaseMessage] = []
        self._messages = WrittenMessages(runs)
        self._known: dict[Key, Item] = {}
        self._without_id: dict[tuple[str, ...], list[Item]] = {}
        self._made_up: dict[int, Item] = {}
        self._prompts: set[Key] = set()
        self._last_execution = {name: run for run in runs if run.is_node and (name := run.execution)}
        self._resumed_with = {text_of(value) for root in roots for value in resume_values(root)}

    # Going down

    def visit_root(self, root: Run, above: str | None) -> list[Item]:
        scope = Scope(above)
        if root.is_node:
            given = self._messages.of(root.inputs)
            scope = Scope(above, history=(frozenset(key for key, _ in given),))
            self._note_question(given)
        if root.kind == "chain" and not root.children:
            return self._merged([], self._after_given(root, self._messages.of(root.outputs)), scope, root)
        told_before = self._told_before(root) if is_resumed(root) else []
        return [*told_before, *self._visit(root, scope)]

    def _visit(self, run: Run, scope: Scope) -> list[Item]:
        if run.kind == "llm":
            return self._visit_model(run, scope)
        if run.kind == "tool":
            return self._visit_tool(run, scope)
        if run.kind == "retriever" or self._is_given_up(run):
            return []
        if not (run.is_node or run.is_graph) and is_executor(run):
            return [item for event in executor_events(run) for item in self._in_executor(event, scope)]
        return self._visit_chain(run, self._enter(run, scope))

    def _visit_chain(self, run: Run, scope: Scope) -> list[Item]:
        before = self._cached_before(run, scope) if run.is_graph and scope.node is None else []
        items = [*before, *(item for child in kept_attempts(run) for item in self._visit(child, scope))]
        if run.is_graph:
            # A cached node has no run of its own: what it wrote is only in the graph's output.
            items = self._merged(items, self._repeated_in(run, scope), scope, run)
        if run.is_node and scope.node is not None:
            items = self._merged(items, scope.node.written, scope, run)
        return items

    def _enter(self, run: Run, scope: Scope) -> Scope:
        if run.is_graph:
            given = list(dict(pair for node in first_nodes(run) for pair in self._messages.of(node.inputs)).items())
            if scope.node is None:
                self._note_question(given)
            self._prompts |= {key for key, message in given if isinstance(message, HumanMessage)}
            known_before = frozenset(key for key, _ in given if key not in self._known)
            scope = Scope(_agent(run, scope.agent), scope.node, (*scope.history, known_before))
        if run.is_node:
            is_repeated = run.error_type in INTERRUPTS and self._is_run_again(run)
            written = scope.new_among(self._messages.by(run))
            structured = len(written) > 1 and _gives_structured_answer(run.outputs)
            scope = Scope(scope.agent, Node(run, written, is_repeated, structured), scope.history)
        return scope

    def _is_given_up(self, run: Run) -> bool:
        """Whether a node failed and was run again."""
        failed = not run.ended or (run.error is not None and run.error_type not in CUT_OFF)
        return failed and self._is_run_again(run)

    def _is_run_again(self, node: Run) -> bool:
        return self._last_execution.get(node.execution or "", node) is not node

    # Messages

    def _note_question(self, given: list[Keyed]) -> None:
        if not self.given and any(is_user(message) for _, message in given):
            self.given = [self._messages.last_form(key, message) for key, message in given]

    def _told_before(self, root: Run) -> list[Item]:
        """Messages of this turn that a resumed run was given and that no run we know wrote."""
        graph = next(graphs_in(root))
        first = first_nodes(graph)
        for node in graph.outer():
            given = self._messages.of(node.inputs) if node.is_node else []
            asked = [index for index, (_, message) in enumerate(given) if is_user(message)]
            if asked:
                self._note_question(given)
                since = given[asked[-1] + 1 :]
                rest = since if node in first else [pair for pair in since if pair[0] not in self._messages]
                return self._merged([], rest, Scope(), root)
        return []

    def _cached_before(self, graph: Run, scope: Scope) -> list[Item]:
        """What cached nodes wrote before the first node ran."""
        begun_with = self._messages.of(first_nodes(graph)[0].inputs)
        return self._merged([], self._after_given(graph, begun_with), scope, graph)

    def _after_given(self, run: Run, messages: list[Keyed]) -> list[Keyed]:
        """The messages that follow what the caller gave; none where they do not begin with it."""
        given = self._messages.of(run.inputs)
        if not given:
            return [] if run.is_graph else messages
        asked = [place for place, (_, message) in enumerate(messages) if _is_alike(message, given[-1][1])]
        return messages[asked[-1] + 1 :] if asked else []

    def _merged(self, items: list[Item], written: Sequence[Keyed], scope: Scope, run: Run) -> list[Item]:
        """The items of a node's inner runs with what it wrote itself, in the order in which it wrote them."""
        here = {id(item) for item in items}
        after: dict[int, list[Item]] = {}
        leading: list[Item] = []
        following, first = leading, None
        for key, message in written:
            item = self._find(key, message)
            if item is None:
                new = self._add(key, message, run, scope)
                following += [new] if new is not None else []
            elif id(item) in here:
                first = first or item
                following = after.setdefault(id(item), [])
        result: list[Item] = []
        for item in items:
            result += [*leading, item] if item is first else [item]
            result += after.get(id(item), ())
        return result if first is not None else [*result, *leading]

    def _repeated_in(self, graph: Run, scope: Scope) -> list[Keyed]:
        """The messages a graph ended with. Copies of messages without an id are told by what they say."""
        ended_with = [pair for pair in self._messages.of(graph.outputs) if isinstance(pair[1], STEPS)]
        messages = scope.new_among(ended_with)
        left = {like: list(items) for like, items in self._without_id.items()}
        for key, message in messages if left else ():
            alike = left.get(likeness(message), []) if message.id is None else []
            if self._known.get(key) in alike:
                alike.remove(self._known[key])
            elif alike and key not in self._known:
                self._known[key] = alike.pop(0)
        return messages

    def _find(self, key: Key, message: BaseMessage) -> Item | None:
        item = self._known.get(key)
        if item is None and message.id is not None and self._without_id:
            alike = self._without_id.get(likeness(message))
            if alike:
                item = self._known[key] = alike.pop(0)
        return item

    def _add(self, key: Key, message: BaseMessage, run: Run, scope: Scope) -> Item | None:
        """A new item, with its calls; `None` for what is no part of the run's doing."""
        message = self._messages.last_form(key, message)
        if not isinstance(message, STEPS) and not self._is_said_by_user(key, message):
            return None
        item = self._known[key] = scope.item(message, run)
        if message.id is None:
            self._without_id.setdefault(likeness(message), []).append(item)
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                self.book.add(call["name"], call["args"], call["id"])
        if scope.node is not None and scope.node.gives_structured_answer:
            self._mark_answer(item, scope.node)
        return item

    def _is_said_by_user(self, key: Key, message: BaseMessage) -> bool:
        """Whether a node wrote what a user said, other than the value it was resumed with."""
        return is_user(message) and key not in self._prompts and text_of(message.content) not in self._resumed_with

    def _mark_answer(self, item: Item, node: Node) -> None:
        """Tell a structured answer's pseudo call, which its node answers itself, from calls of tools."""
        calls = getattr(item.message, "tool_calls", ())
        pseudo = {call["name"] for call in calls if node.result_of(call["id"]) is not None}
        self.structured_tools |= pseudo
        item.answers = bool(pseudo) or isinstance(item.message, ToolMessage)

    # Executors

    def _in_executor(self, event: Event, scope: Scope) -> list[Item]:
        if isinstance(event, Finished):
            return self._visit_model(event.run, scope)
        if isinstance(event, Unparsed):
            return [replace(scope.item(AIMessage(event.text), event.run), is_unparsed=True)]
        if isinstance(event, Asked):
            calls = getattr(event.message, "tool_calls", ())
            for call in calls:
                self.book.add(call["name"], call["args"], call["id"])
            return [scope.item(event.message, event.run)]
        call = self.book.waiting_for(event.action.tool, getattr(event.action, "tool_call_id", None))
        call.runs.append(event.run)
        message = call.result()
        if message is not None and event.run.name == INVALID_TOOL:
            message = message.model_copy(update={"status": "error"})
        return [scope.item(message, event.run)] if message is not None else []

    # Models

    def _visit_model(self, run: Run, scope: Scope) -> list[Item]:
        if run.outputs is None or run.error is not None or "lc_internal_call" in run.metadata:
            return []
        answer = AIMessage(run.outputs) if isinstance(run.outputs, str) else run.outputs
        for key, message in self._messages.read(answer)[:1]:
            if key in self._known or self._is_thrown_away(key, message, scope.node):
                return []
            if run.is_structured and key not in self._messages:
                message = _as_text(message)
            item = self._add(key, message, run, scope)
            return [] if item is None else [item]
        return []

    def _is_thrown_away(self, key: Key, message: BaseMessage, node: Node | None) -> bool:
        if key in self._messages or node is None:
            return False
        return node.is_repeated or (node.answers and not _has_run(message, node.run))

    # Tools

    def _visit_tool(self, run: Run, scope: Scope) -> list[Item]:
        node = scope.node
        if node is not None and node.is_repeated and node.result_of(run.tool_call_id) is None:
            self._note_attempt(run)
            return []
        items = self._call_in_node(run, scope)
        call = self.book.answered_by(run)
        if call is None:
            call = self.book.add(str(run.name), run.inputs, run.tool_call_id)
            items.append(replace(scope.item(call.as_message(), run), by_code=True))
        call.runs.append(run)
        written = node.result_of(call.id) if node is not None else None
        if written is None:
            return [*items, *self._gap_filled(call, run, scope)]
        if written[0] in self._known:
            self._known[written[0]].run = run
            return items
        result = self._add(*written, run, scope)
        return [*items, result] if result else items

    def _note_attempt(self, run: Run) -> None:
        """A tool run that is repeated: an agent inside may go on from it."""
        call = self.book.answered_by(run) if run.tool_call_id is not None else None
        if call is not None:
            call.runs.append(run)

    def _call_in_node(self, run: Run, scope: Scope) -> list[Item]:
        """The message with the call, where the code of this node made it and writes it only at the end."""
        if scope.node is None or self.book.answered_by(run) is not None:
            return []
        for key, message in scope.node.written:
            if key not in self._known and asks_for(message, run):
                item = self._add(key, message, scope.node.run, scope)
                return [item] if item else []
        return []

    def _gap_filled(self, call: Call, run: Run, scope: Scope) -> list[Item]:
        """A result that only the tool run tells, in place of one that an earlier attempt at the call gave."""
        message = call.result()
        if message is None:
            return []
        earlier = self._made_up.get(id(call))
        if earlier is not None:
            earlier.message, earlier.run = message, run
            return []
        item = self._made_up[id(call)] = scope.item(message, run)
        return [item]


def _agent(graph: Run, above: str | None) -> str | None:
    """The path of a graph's agent; what an agent contains has its name too."""
    name = graph.metadata.get("lc_agent_name")
    if not name or (above is not None and above.rpartition("/")[2] == name):
        return above
    return f"{above}/{name}" if above else str(name)


def _is_alike(message: BaseMessage, other: BaseMessage) -> bool:
    return message.type == other.type and message.content == other.content


def _gives_structured_answer(output: Any) -> bool:
    return any(state.get("structured_response") is not None for state in states_in(output))


def _as_text(message: BaseMessage) -> BaseMessage:
    """A structured answer that code read, as the text it stands for."""
    calls = getattr(message, "tool_calls", None)
    return AIMessage(text_of(calls[0]["args"]), id=message.id) if calls else message


def _has_run(message: BaseMessage, node: Run) -> bool:
    return any(run.kind == "tool" and asks_for(message, run) for run in node.outer())


def _without_inner_answers(items: list[Item]) -> Iterator[Item]:
    """The items without structured answers that the run went on from: code read them, not the user."""
    last = max((index for index, item in enumerate(items) if isinstance(item.message, AIMessage)), default=0)
    for index, item in enumerate(items):
        if not item.answers or index >= last:
            yield item
        elif isinstance(item.message, AIMessage) and item.message.text:
            yield replace(item, message=item.message.model_copy(update={"tool_calls": []}))
