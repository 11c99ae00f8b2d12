"""Work that must not hold up the run it is about: a bounded queue and a few threads of its own.

Threads of the standard pools are of no use here: they refuse work once the interpreter begins to
shut down, which is when the last verdicts are still to come.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

from langchain_llm_judge.errors import ConfigError, shown

logger = logging.getLogger(__name__)

Job: TypeAlias = Callable[[], None]

WhenFull = Literal["drop", "wait"]
"""What happens to a job when the queue is full: it is dropped and counted, or its giver waits."""

_IDLE_S = 5.0
_AT_EXIT_S = 30.0


class Background:
    """Does jobs in threads of its own, in order of arrival, at most `max_pending` waiting and running.

    Threads start when there is work and end when there has been none for a while.

    Args:
        max_pending: Jobs that may wait or run at once.
        threads: Jobs done at the same time.
        when_full: What happens beyond `max_pending`.

    Raises:
        ConfigError: `when_full` is neither of the two.
    """

    def __init__(self, *, max_pending: int, threads: int, when_full: WhenFull = "drop") -> None:
        if when_full not in get_args(WhenFull):
            raise ConfigError(f"when_full={shown(when_full)} is neither 'drop' nor 'wait'")
        self.dropped = 0
        self._max_pending = max_pending
        self._max_threads = threads
        self._when_full = when_full
        self._jobs: deque[Job] = deque()
        self._running = 0
        self._threads = 0
        self._changed = threading.Condition()
        atexit.register(_flush_if_alive, weakref.ref(self))

    @property
    def pending(self) -> int:
        """Jobs that wait or run."""
        return len(self._jobs) + self._running

    def submit(self, job: Job) -> bool:
        """Have a job done.

        Returns:
            `False` where the queue was full and the job was dropped.
        """
        with self._changed:
            if self.pending >= self._max_pending and self._when_full == "drop":
                self.dropped += 1
                return False
            self._changed.wait_for(lambda: self.pending < self._max_pending)
            self._jobs.append(job)
            if self._threads < min(self._max_threads, self.pending):
                self._threads += 1
                threading.Thread(target=self._work, name="llm-judge", daemon=True).start()
            self._changed.notify_all()
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until nothing waits or runs.

        Args:
            timeout: Seconds to wait at most; `None` waits as long as it takes.

        Returns:
            Whether it is idle now.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self.pending == 0, timeout)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            except Exception:
                logger.exception("a background evaluation failed")
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _next(self) -> Job | None:
        """The next job; `None` when there has been none for a while, and the thread should end."""
        deadline = time.monotonic() + _IDLE_S
        with self._changed:
            while not self._jobs:
                left = deadline - time.monotonic()
                if left <= 0:
                    self._threads -= 1
                    return None
                self._changed.wait(left)
            self._running += 1
            return self._jobs.popleft()


def _flush_if_alive(background: weakref.ref[Background]) -> None:
    alive = background()
    if alive is not None and not alive.flush(_AT_EXIT_S):
        logger.warning("the interpreter ends while evaluations are still running; their verdicts are lost")
