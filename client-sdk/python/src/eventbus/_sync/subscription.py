"""Subscriptions without ``await``."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from .._aio.subscription import Subscription as AioSubscription
from .._api.checks import check_range
from .._api.errors import TimedOut
from .._api.happenings import Gap, Interruption, SubscriptionCounters
from .._inbound.buffer import Item
from .._inbound.event_reader import MAX_EVENTS, EventReader
from .._wire.codec import Malformed
from .._wire.events import Event, EventCursor
from .portal import Portal

LOG = logging.getLogger("eventbus")


class Subscription:
    """Events that a filter selects: ``events``, ``get``, or ``batches``, the fastest. Ends with ``with`` or
    ``unsubscribe``."""

    def __init__(
        self,
        portal: Portal,
        inner: AioSubscription,
        on_gap: Callable[[Gap], object] | None,
        on_interruption: Callable[[Interruption], object] | None,
    ) -> None:
        """Must be called in the loop's thread."""
        self._portal = portal
        self._inner = inner
        self._core = inner._core
        self._on_gap = on_gap
        self._on_interruption = on_interruption
        buffer = self._core.buffer
        buffer.wants_gaps, buffer.wants_interruptions = on_gap is not None, on_interruption is not None
        self._dispatcher, self._machine = inner._client._machine.dispatcher, inner._client._machine
        machine, loop = self._machine, portal.loop

        def malformed(cursor: EventCursor, error: Malformed) -> None:
            loop.call_soon_threadsafe(machine.malformed, cursor.delivery.link, error)

        self._reader = EventReader(buffer, malformed)
        # The reading thread decodes the events, too.
        self._arrived = threading.Event()
        self._core.wake = self._arrived.set

    @property
    def filter(self) -> str:
        """Returns the filter."""
        return self._inner.filter

    @property
    def group(self) -> str | None:
        """Returns the group whose members share the events; None for none."""
        return self._inner.group

    def counters(self) -> SubscriptionCounters:
        """Returns figures since the beginning."""
        return self._inner.counters()

    def __repr__(self) -> str:
        return f"eventbus.sync.{self._inner!r}"

    # ---- Taking events

    def get(self, timeout: float | None = None) -> Event:
        """Returns the next event; waits at most ``timeout`` seconds, None without limit, 0 not at all.

        Raises TimedOut, after which it can be called again; Closed, or the reason of its end, at the end.
        """
        _check_timeout(timeout)
        event = self._one(timeout)
        if event is None:
            raise self._inner._end_error()
        return event

    def events(self, timeout: float | None = None) -> Events:
        """Iterates over events. ``timeout``: seconds to wait for one, None without limit.

        Raises TimedOut, which does not end the iteration. Leaving the iteration loses nothing: it can be continued.
        """
        _check_timeout(timeout)
        return Events(self, timeout)

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def batches(self, *, most: int = MAX_EVENTS, timeout: float | None = None) -> Batches:
        """Iterates over batches of received events, at most ``most`` each, without waiting for more: the fastest way.

        A batch counts as handled when the next one is requested. ``timeout`` as for ``events``.
        """
        check_range("most", most, 1, 1 << 30, "events", whole=True)
        _check_timeout(timeout)
        return Batches(self, most, timeout)

    def _one(self, timeout: float | None) -> Event | None:
        found = self._reader.rest(1)
        if not found:
            self._reader.batch, self._reader.next = self._take(MAX_EVENTS, timeout), 0
            found = self._reader.rest(1)
        return found[0] if found else None

    def _batch(self, most: int, timeout: float | None) -> list[Event]:
        return self._reader.rest(most) or self._take(most, timeout)

    def _take(self, most: int, timeout: float | None) -> list[Event]:
        """Waits for events and decodes some; returns an empty list at the end."""
        self._portal.check()
        self._finish(self._reader.take_handled())
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            found = self._reader.read(most)
            if isinstance(found, list):
                return found
            if found is not None:
                self._tell(found)
                continue
            self._finish(self._reader.take_handled())
            self._arrived.clear()
            if self._reader:
                continue
            if self._inner._stopped or self._core.ended:
                if self._core.failure is not None and not self._inner._stopped:
                    raise self._inner._end_error()
                return []
            left = None if until is None else max(0.0, until - time.monotonic())
            if not self._arrived.wait(left):
                raise TimedOut(f"no event of {self.filter} within {timeout:g} s")

    def _tell(self, what: Gap | Interruption) -> None:
        listener: Callable[[Any], object] | None = self._on_gap if isinstance(what, Gap) else self._on_interruption
        if listener is not None:
            try:
                listener(what)
            except Exception:
                LOG.exception("%r: a listener failed at %r", self, what)

    def _finish(self, taken: list[Item]) -> None:
        """Records that the taken events are handled."""
        if taken:
            self._portal.loop.call_soon_threadsafe(self._handled, taken)

    def _handled(self, taken: list[Item]) -> None:
        self._dispatcher.handled(taken, self._core)
        self._machine.handled()

    # ---- End

    def unsubscribe(self, timeout: float | None = 10.0) -> None:
        """Ends the subscription: drops waiting events, and returns when nothing more comes. A second call does
        nothing."""

        async def work() -> None:
            self._handled(self._reader.drop())
            await self._inner.unsubscribe()

        self._portal.call(work(), timeout, "unsubscribe")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.unsubscribe()

    def __del__(self) -> None:
        # Ends the inner subscription, unless that was ended before.
        reader = getattr(self, "_reader", None)
        if reader is not None and not self._portal.is_lost and not self._portal.loop.is_closed():
            self._finish(reader.drop())


class Events:
    """Result of :meth:`Subscription.events`."""

    def __init__(self, subscription: Subscription, timeout: float | None) -> None:
        self._subscription = subscription
        self._timeout = timeout

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        reader = self._subscription._reader
        at = reader.next
        if at < len(reader.batch):
            reader.next = at + 1
            return reader.batch[at]
        event = self._subscription._one(self._timeout)
        if event is None:
            raise StopIteration
        return event


class Batches:
    """Result of :meth:`Subscription.batches`."""

    def __init__(self, subscription: Subscription, most: int, timeout: float | None) -> None:
        self._subscription = subscription
        self._most = most
        self._timeout = timeout

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> list[Event]:
        batch = self._subscription._batch(self._most, self._timeout)
        if not batch:
            raise StopIteration
        return batch


def _check_timeout(timeout: float | None) -> None:
    if timeout is not None:
        check_range("timeout", timeout, 0, 3600, "s")
