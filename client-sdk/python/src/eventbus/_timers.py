"""Timers of the core: what is to be done when, without a clock."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count


class Timer:
    """One thing to be done; ``cancel`` takes it back."""

    __slots__ = ("at", "task")

    def __init__(self, at: float, task: Callable[[float], None] | None) -> None:
        self.at = at
        self.task = task

    def cancel(self) -> None:
        self.task = None


class Timers:
    """Timers in the order of their times; those of one time run in the order in which they were set."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Timer]] = []
        self._number = count()

    def at(self, when: float, task: Callable[[float], None]) -> Timer:
        """Has a task run with the time at which it runs."""
        timer = Timer(when, task)
        heapq.heappush(self._heap, (when, next(self._number), timer))
        return timer

    def wake_at(self) -> float | None:
        """When the next one is due; None for never."""
        while self._heap and self._heap[0][2].task is None:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run(self, now: float) -> None:
        """Runs what is due."""
        while (when := self.wake_at()) is not None and when <= now:
            task = heapq.heappop(self._heap)[2].task
            if task is not None:
                task(now)

    def clear(self) -> None:
        """Forgets all."""
        self._heap.clear()
