"""The questions "has all that I published arrived?" that the bus has not answered.

They are asked again on every new connection, and after a pause where the bus could not answer in time, until what asked waits no
longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ._errors import Error, TimedOut
from ._outbox import Outbox
from ._publish_frame import Frame
from ._timers import Timer, Timers
from ._waiters import Waiter, fail, succeed

#: Seconds after which what the bus could not answer is asked again.
RETRY_DELAY = 0.1


@dataclass
class _Flush:
    waiter: Waiter
    timer: Timer
    pauses: bool = False
    #: As it was asked last.
    barrier: Frame | None = None


class Barriers:
    """See the module."""

    def __init__(self, outbox: Outbox, timers: Timers) -> None:
        self._outbox = outbox
        self._timers = timers
        self._pending: dict[int, _Flush] = {}
        self._next = 1

    def next_id(self) -> int:
        """A number for a barrier."""
        self._next += 1
        return self._next - 1

    def ask(self, waiter: Waiter, timeout: float, now: float, connected: bool) -> None:
        """Asks behind everything that was published; without a connection when there is one."""
        id = self.next_id()

        def late(_: float) -> None:
            if self._pending.pop(id, None) is not None:
                fail(waiter, TimedOut(f"the bus did not answer a flush within {timeout:g} s"))

        flush = _Flush(waiter, self._timers.at(now + timeout, late))
        self._pending[id] = flush
        if connected:
            flush.barrier = self._outbox.add_barrier(id)

    def ask_again(self) -> None:
        """There is another connection; what is sent again is queued already."""
        for id, flush in self._pending.items():
            flush.pauses = False
            flush.barrier = self._outbox.add_barrier(id)

    def echoed(self, id: int) -> None:
        """The bus has answered."""
        flush = self._pending.pop(id, None)
        if flush is not None:
            flush.timer.cancel()
            if flush.barrier is not None:
                self._outbox.known(flush.barrier)
            succeed(flush.waiter, None)

    def refused(
        self, id: int, retryable: bool, error: Callable[[], Error], now: float, connected: Callable[[], bool]
    ) -> bool:
        """The bus could not answer; returns whether this was asked."""
        flush = self._pending.get(id)
        if flush is None:
            # What asked waits no longer.
            return 0 < id < self._next
        if not retryable:
            del self._pending[id]
            flush.timer.cancel()
            fail(flush.waiter, error())
        elif not flush.pauses:
            flush.pauses = True

            def ask_again(_: float) -> None:
                if self._pending.get(id) is flush and flush.pauses and connected():
                    flush.pauses = False
                    flush.barrier = self._outbox.add_barrier(id)

            self._timers.at(now + RETRY_DELAY, ask_again)
        return True

    def close(self, error: Callable[[], Error]) -> None:
        """No answer will come."""
        for flush in self._pending.values():
            fail(flush.waiter, error())
        self._pending.clear()
