"""Consumers of durable topics without ``await``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from .._aio.durable import DurableSubscription as AioDurableSubscription
from .._api.checks import check_range
from .._api.durable import DurableCounters, Truncated
from .._wire.events import Event
from .portal import Portal

#: Minimum time between two notes of handled events to the loop's thread, in seconds.
NOTE_INTERVAL = 0.05


class DurableSubscription:
    """Consumer of durable topics: ``events`` or ``get``. Ends with ``with`` or ``unsubscribe``.

    An event counts as handled when the next one is requested. A loop that was left by an exception begins with the same
    event again.
    """

    def __init__(
        self, portal: Portal, inner: AioDurableSubscription, on_truncated: Callable[[Truncated], object] | None
    ) -> None:
        self._portal = portal
        self._inner = inner
        self._core = inner._core
        self._on_truncated = on_truncated
        # Events that were read, the number of that reading, and how many of them the application has got.
        self._events: list[Event] = []
        self._number = 0
        self._next = 0
        # The application has it and has not handled it.
        self._item: Event | Truncated | None = None
        # Set to hand the item over again.
        self._again = False
        self._position = 0
        # Generation of the consumer that the events are of.
        self._generation = 0
        # Handled events that the loop's thread has not counted, and the time of its last note.
        self._uncounted = 0
        self._noted_at = 0.0
        # For the loop's thread: the last reading and its number; None if it is handled.
        self._reading: list[Event] | Truncated | None = None
        self._readings = 0

    @property
    def name(self) -> str | None:
        """Returns the name under which the bus remembers what is handled; None for none."""
        return self._inner.name

    @property
    def filter(self) -> str:
        """Returns the filter."""
        return self._inner.filter

    @property
    def position(self) -> int:
        """Returns the position up to which every event is handled; 0 before the first."""
        return self._inner.position if self._is_stale else max(self._position, self._inner.position)

    def lag(self) -> int:
        """Returns the number of positions between what is handled and the end of the journal, as
        :meth:`eventbus.DurableSubscription.lag`; it follows ``position`` after a moment."""
        return self._inner.lag()

    def counters(self) -> DurableCounters:
        """Returns figures since the beginning."""
        return self._inner.counters()

    def __repr__(self) -> str:
        return f"eventbus.sync.{self._inner!r}"

    # ---- Taking events

    def get(self, timeout: float | None = None) -> Event:
        """Returns the next event, and counts the one before as handled; waits at most ``timeout`` seconds, None without
        limit, 0 not at all.

        Raises TimedOut, after which it can be called again; Closed, or the reason of its end, at the end; what
        ``on_truncated`` raises, which is called again then.
        """
        _check_timeout(timeout)
        event = self._one(timeout)
        if event is None:
            raise self._inner._end_error()
        return event

    def events(self, timeout: float | None = None) -> Events:
        """Iterates over events; begins with the one that was taken and not handled, if there is one. ``timeout``: seconds
        to wait for one, None without limit.

        Raises TimedOut, which does not end the iteration.
        """
        _check_timeout(timeout)
        self._again = self._item is not None
        return Events(self, timeout)

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def settle(self) -> None:
        """Counts the event that was taken last as handled, without taking another one: for a program that leaves its
        loop."""
        self._count()
        self._portal.call(self._note(self._complete()))

    def _one(self, timeout: float | None) -> Event | None:
        while isinstance(item := self._next_item(timeout), Truncated):
            if self._on_truncated is not None:
                # After an exception it comes again.
                self._again = True
                self._on_truncated(item)
                self._again = False
        return item

    @property
    def _is_stale(self) -> bool:
        """Returns whether the events are of a journal that was deleted meanwhile."""
        return self._generation != self._core.generation

    def _next_item(self, timeout: float | None) -> Event | Truncated | None:
        self._portal.check()
        core = self._core
        is_over = core.stopping or core.ended
        if self._is_stale:
            self._item, self._events, self._next, self._position = None, [], 0, 0
        if self._again and self._item is not None:
            self._again = False
            if not is_over and not core.has_handled(self._item):
                return self._item
            self._item = None
        self._count()
        while True:
            if is_over or self._next == len(self._events):
                number, found = self._portal.call(self._read(self._complete(), timeout))
                self._number, self._events, self._next = number, found if isinstance(found, list) else [], 0
                if not isinstance(found, list):
                    self._item = found
                    return found
            elif self._uncounted and time.monotonic() - self._noted_at >= NOTE_INTERVAL:
                self._noted_at = time.monotonic()
                self._portal.loop.call_soon_threadsafe(
                    self._handled, self._position, self._take_uncounted(), self._generation
                )
            item = self._events[self._next]
            self._next += 1
            # Another consumer may have handled it meanwhile.
            if not core.has_handled(item):
                self._item = item
                return item

    def _complete(self) -> int:
        """Returns the number of the reading, if all of it is handled; 0 otherwise."""
        return self._number if self._item is None and self._next == len(self._events) else 0

    def _count(self) -> None:
        """Counts the item as handled."""
        item, self._item, self._again = self._item, None, False
        if isinstance(item, Event):
            self._position = item.position
            self._uncounted += 1

    def _take_uncounted(self) -> int:
        count, self._uncounted = self._uncounted, 0
        return count

    # ---- In the loop's thread

    def _handled(self, position: int, count: int, generation: int) -> None:
        self._core.received += count
        self._inner._client._machine.consumers.received += count
        if generation == self._core.generation:
            self._core.handle(position)

    async def _note(self, number: int) -> None:
        """Records what is handled: the whole reading with this number, or some of its events."""
        self._handled(self._position, self._take_uncounted(), self._generation)
        if self._inner._reader.is_stale:
            self._reading = None
            self._inner._reader.drop()
        elif number == self._readings and self._reading is not None:
            self._reading = None
            self._inner._reader.finish()

    async def _read(self, number: int, timeout: float | None) -> tuple[int, list[Event] | Truncated | None]:
        """Records that the reading with this number is handled, and returns the next one with its number. One that an
        interrupted call has not got is returned again."""
        await self._note(number)
        if self._reading is None or self._core.stopping or self._core.ended:
            self._reading = await self._inner._read(timeout)
            if self._reading is None:
                return 0, None
            if self._generation != self._inner._reader.generation:
                self._generation, self._position = self._inner._reader.generation, 0
            self._readings += 1
        return self._readings, self._reading

    # ---- End

    def unsubscribe(self, timeout: float | None = 10.0) -> None:
        """Ends the consumer: the bus is told what is handled. What waits here is dropped; with a name, the next consumer
        gets it. A second call does nothing."""

        async def work() -> None:
            await self._note(self._complete())
            await self._inner.unsubscribe()

        self._portal.call(work(), timeout, "unsubscribe")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.unsubscribe()


class Events:
    """Result of :meth:`DurableSubscription.events`."""

    def __init__(self, subscription: DurableSubscription, timeout: float | None) -> None:
        self._subscription = subscription
        self._timeout = timeout

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event = self._subscription._one(self._timeout)
        if event is None:
            raise StopIteration
        return event


def _check_timeout(timeout: float | None) -> None:
    if timeout is not None:
        check_range("timeout", timeout, 0, 3600, "s")
