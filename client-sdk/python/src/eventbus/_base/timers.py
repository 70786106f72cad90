"""Timers of the core, without a clock."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

#: Minimum of cancelled timers that are removed together.
MIN_CANCELLED = 64


class Timer:
    """A scheduled task; ``cancel`` withdraws it."""

    __slots__ = ("_timers", "at", "task")

    def __init__(self, at: float, task: Callable[[float], None] | None, timers: Timers) -> None:
        self.at = at
        self.task = task
        self._timers = timers

    def cancel(self) -> None:
        if self.task is not None:
            self.task = None
            self._timers.cancelled()


class Timers:
    """Timers in the order of their times; those of one time run in the order of their creation."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Timer]] = []
        self._number = count()
        self._cancelled = 0

    def at(self, when: float, task: Callable[[float], None]) -> Timer:
        """Schedules a task, which is called with the time at which it runs."""
        timer = Timer(when, task, self)
        heapq.heappush(self._heap, (when, next(self._number), timer))
        return timer

    def wake_at(self) -> float | None:
        """Returns the time of the next timer; None for none."""
        while self._heap and self._heap[0][2].task is None:
            heapq.heappop(self._heap)
            self._cancelled -= 1
        return self._heap[0][0] if self._heap else None

    def run(self, now: float) -> None:
        """Runs due tasks."""
        while (when := self.wake_at()) is not None and when <= now:
            timer = heapq.heappop(self._heap)[2]
            task, timer.task = timer.task, None
            if task is not None:
                task(now)

    def cancelled(self) -> None:
        """Counts a cancelled timer; removes all cancelled ones when they are half of all."""
        self._cancelled += 1
        if self._cancelled >= MIN_CANCELLED and self._cancelled * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].task is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0

    def clear(self) -> None:
        """Removes all timers."""
        for _, _, timer in self._heap:
            timer.task = None
        self._heap.clear()
        self._cancelled = 0


def void(_: object) -> None:
    """Ignores the result of a task."""
