"""Barriers without an answer of the bus. A barrier asks whether everything published before has arrived.

Each is sent again on every new connection, and after a pause where the bus could not answer in time, until its caller
stops waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .._api.errors import Error, TimedOut
from .._base.timers import Timer, Timers
from .._base.waiters import Waiter, fail, succeed
from .outbox import Outbox
from .publish_frame import Frame

#: Pause before a barrier that the bus could not answer is sent again, in seconds.
RETRY_DELAY = 0.1


@dataclass
class _Flush:
    waiter: Waiter
    timer: Timer
    pauses: bool = False
    #: Barrier as it was sent last.
    barrier: Frame | None = None


class Barriers:
    """See the module."""

    def __init__(self, outbox: Outbox, timers: Timers) -> None:
        self._outbox = outbox
        self._timers = timers
        self._pending: dict[int, _Flush] = {}
        self._next = 1

    def next_id(self) -> int:
        """Returns a number for a barrier."""
        self._next += 1
        return self._next - 1

    def send(self, waiter: Waiter, timeout: float, now: float, connected: bool) -> None:
        """Sends a barrier behind everything that was published; without a connection, over the next one."""
        id = self.next_id()

        def late(_: float) -> None:
            if self._pending.pop(id, None) is not None:
                fail(waiter, TimedOut(f"the bus did not answer a flush within {timeout:g} s"))

        flush = _Flush(waiter, self._timers.at(now + timeout, late))
        self._pending[id] = flush
        if connected:
            flush.barrier = self._outbox.add_barrier(id)

    def send_again(self) -> None:
        """Sends all barriers over a new connection; events to be sent again are queued already."""
        for id, flush in self._pending.items():
            flush.pauses = False
            flush.barrier = self._outbox.add_barrier(id)

    def echoed(self, id: int) -> None:
        """Handles the answer to a barrier."""
        flush = self._pending.pop(id, None)
        if flush is not None:
            flush.timer.cancel()
            if flush.barrier is not None:
                self._outbox.known(flush.barrier)
            succeed(flush.waiter, None)

    def refused(
        self, id: int, retryable: bool, error: Callable[[], Error], now: float, connected: Callable[[], bool]
    ) -> bool:
        """Handles the refusal of a barrier; returns whether it was sent here."""
        flush = self._pending.get(id)
        if flush is None:
            # Its caller no longer waits.
            return 0 < id < self._next
        if not retryable:
            del self._pending[id]
            flush.timer.cancel()
            fail(flush.waiter, error())
        elif not flush.pauses:
            flush.pauses = True

            def send_again(_: float) -> None:
                if self._pending.get(id) is flush and flush.pauses and connected():
                    flush.pauses = False
                    flush.barrier = self._outbox.add_barrier(id)

            self._timers.at(now + RETRY_DELAY, send_again)
        return True

    def close(self, error: Callable[[], Error]) -> None:
        """Fails all barriers, because no answer will come."""
        for flush in self._pending.values():
            fail(flush.waiter, error())
        self._pending.clear()
