"""Which call a result answers.

By id, within one turn. Ids may repeat or be missing: a result goes to the newest message that still waits for one of
its id, there to a call of its own name, else to the first. Several results of one id that came together go to as many
messages as it takes, in order. A result without an id goes to the newest waiting call of its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from langchain_llm_judge.trace.schema import ToolCall


@dataclass(slots=True, eq=False)
class Waiting:
    """A call, and whether a result has joined it."""

    call: ToolCall
    order: int
    """Its place among the steps."""
    answered: bool = False


class OpenCalls:
    """The calls of a turn that no result has joined yet."""

    def __init__(self) -> None:
        self._by_id: dict[str, list[Waiting]] = {}

    def add(self, call: ToolCall, order: int) -> Waiting:
        """A call that waits from now on."""
        waiting = Waiting(call, order)
        self._by_id.setdefault(call.id or "", []).append(waiting)
        return waiting

    def pool(self, call_id: str, count: int) -> list[Waiting]:
        """The waiting calls of the newest messages that can take `count` results of this id, oldest first."""
        waiting = self._by_id.get(call_id, [])
        start = len(waiting)
        while start and len(waiting) - start < count:
            group = waiting[start - 1].call.group
            while start and waiting[start - 1].call.group == group:
                start -= 1
        return waiting[start:]

    def take(self, pool: list[Waiting], name: str | None) -> Waiting | None:
        """The call of a pool that a result of this name answers; `None` when the pool is empty."""
        if not pool:
            return None
        place = next((index for index, item in enumerate(pool) if item.call.name == name), 0)
        waiting = pool.pop(place)
        self._close(waiting)
        return waiting

    def claim(self, call_id: str) -> Waiting | None:
        """The call that a single result of this id answers."""
        return self.take(self.pool(call_id, 1), None)

    def claim_by_name(self, name: str) -> Waiting | None:
        """The call that a result without an id answers."""
        of_name = [item for items in self._by_id.values() for item in items if item.call.name == name]
        newest = max((item.call.group or 0 for item in of_name), default=0)
        return self.take([item for item in of_name if (item.call.group or 0) == newest], name)

    def _close(self, waiting: Waiting) -> None:
        waiting.answered = True
        same = self._by_id[waiting.call.id or ""]
        # From the end: calls that were never answered pile up at the front.
        place = next(index for index in range(len(same) - 1, -1, -1) if same[index] is waiting)
        del same[place]
