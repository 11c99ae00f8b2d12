"""Runs that stopped on the way, and the runs that go on with them."""

from __future__ import annotations

from collections import OrderedDict

from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.outcome import stop_of
from langchain_llm_judge.trace.tree import is_resumed

KEPT = 500
"""How many stopped runs wait for their other half; beyond that the oldest is no longer joined."""


class StoppedRuns:
    """Stopped runs by thread: interrupted ones, and those that failed and may be taken up again.

    Not thread-safe by itself.
    """

    def __init__(self, limit: int = KEPT) -> None:
        self._limit = limit
        self._roots: OrderedDict[str, list[Run]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._roots)

    def join(self, root: Run) -> list[Run]:
        """The whole run that a root run ends: itself, after those it goes on with."""
        thread = root.thread_id
        if thread is None:
            return [root]
        before = self._roots.get(thread, [])
        resumed = is_resumed(root)
        if before and (resumed or before[0].name == root.name):
            del self._roots[thread]
        roots = [*before, root] if resumed else [root]
        if stop_of(root) is not None:
            self._keep(thread, roots)
        return roots

    def _keep(self, thread: str, roots: list[Run]) -> None:
        self._roots[thread] = roots
        while len(self._roots) > self._limit:
            self._roots.popitem(last=False)
