"""A subscription without ``await``."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterator
from typing import Any, Self

from . import _subscription
from ._errors import Error, TimedOut
from ._events import Event
from ._happenings import SubscriptionCounters
from ._options import check_range
from ._portal import Portal


class Subscription:
    """Events that a filter selects: ``events``, or ``batches``, which is faster. Ends with ``with`` or ``unsubscribe``."""

    def __init__(self, portal: Portal, inner: _subscription.Subscription) -> None:
        self._portal = portal
        self._inner = inner
        self._arrived: queue.SimpleQueue[tuple[list[Event], list[Any], Error | None]] = queue.SimpleQueue()
        self._taken: list[Any] = []
        self._ended = False
        # What waits here is bounded by the client's receive_bytes: it counts until it is handled.
        self._feeder = asyncio.run_coroutine_threadsafe(_feed(inner, self._arrived), portal.loop)

    @property
    def filter(self) -> str:
        """The filter."""
        return self._inner.filter

    @property
    def group(self) -> str | None:
        """The group whose members share the events; None for none."""
        return self._inner.group

    def counters(self) -> SubscriptionCounters:
        """What it has got so far."""
        return self._inner.counters()

    def batches(self, timeout: float | None = None) -> Iterator[list[Event]]:
        """Iterates over what has come, at most 1,000 events at a time; a batch is handled when the next one is asked for.

        ``timeout``: seconds to wait for one, None for ever. Raises TimedOut, after which it can be iterated over again.
        """
        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        while not self._ended:
            self._portal.check()
            self._handled()
            try:
                batch, self._taken, error = self._arrived.get(timeout=timeout)
            except queue.Empty:
                raise TimedOut(f"no event of {self.filter} within {timeout:g} s") from None
            if not batch:
                self._ended = True
                if error is not None:
                    raise error
                return
            yield batch

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """Iterates over events; as ``batches``."""
        for batch in self.batches(timeout):
            yield from batch

    __iter__ = events

    def _handled(self) -> None:
        taken, self._taken = self._taken, []
        if taken:
            self._portal.loop.call_soon_threadsafe(self._inner.finish, taken)

    def unsubscribe(self, timeout: float | None = 10.0) -> None:
        """Ends it: drops what was not taken, and returns when nothing more comes. Ending it again does nothing."""
        self._handled()
        self._portal.call(self._inner.unsubscribe(), timeout, "unsubscribe")
        while True:
            try:
                _, cursors, _ = self._arrived.get_nowait()
            except queue.Empty:
                break
            self._portal.loop.call_soon_threadsafe(self._inner.finish, cursors)
        self._arrived.put(([], [], None))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.unsubscribe()

    def __del__(self) -> None:
        feeder = getattr(self, "_feeder", None)
        if feeder is not None and not feeder.done() and not self._portal.is_lost:
            feeder.cancel()


async def _feed(
    inner: _subscription.Subscription, into: queue.SimpleQueue[tuple[list[Event], list[Any], Error | None]]
) -> None:
    while True:
        try:
            batch, cursors = await inner.take_unhandled(1000)
        except Error as e:
            into.put(([], [], e))
            return
        into.put((batch, cursors, None))
        if not batch:
            return
