"""Workers without ``await``, whose handlers run in threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from .._aio.worker import WorkDelivery as AioWorkDelivery
from .._aio.worker import Worker as AioWorker
from .._aio.worker import WorkHandler as AioWorkHandler
from .._aio.worker import check_delay, check_reason
from .._api.durable import WorkerCounters
from .._wire.events import Event
from .portal import Portal
from .threads import Threads


class WorkDelivery:
    """Delivery of an event to a worker, as :class:`eventbus.WorkDelivery`. Any thread may settle it; of several the first
    counts."""

    __slots__ = ("_inner", "_portal")

    def __init__(self, portal: Portal, inner: AioWorkDelivery) -> None:
        self._portal = portal
        self._inner = inner

    @property
    def event(self) -> Event:
        """Returns the event."""
        return self._inner.event

    @property
    def attempt(self) -> int:
        """Returns the number of this delivery of the event, 1 for the first one."""
        return self._inner.attempt

    def __repr__(self) -> str:
        return f"eventbus.sync.{self._inner!r}"

    def done(self) -> None:
        """Settles the event: it is handled, and does not come again."""
        self._post(self._inner.done)

    def done_confirmed(self) -> None:
        """Settles the event as ``done``, and returns when that is stored; errors as of
        :meth:`eventbus.WorkDelivery.done_confirmed`."""
        self._portal.call(self._inner.done_confirmed())

    def retry(self, delay: float | None = None) -> None:
        """Has the event come again, after ``delay`` seconds, 0 to 7 days; by default after 1 s, 5 s, 30 s, and then 2 min.
        Raises ValueError."""
        check_delay(delay)
        self._post(self._inner.retry, delay)

    def reject(self, reason: str) -> None:
        """Makes the event a dead letter, which comes to no worker. ``reason`` is for people; at most 256 bytes of UTF-8 are
        kept. Raises TypeError."""
        check_reason(reason)
        self._post(self._inner.reject, reason)

    def release(self) -> None:
        """Gives the event back: another worker gets it at once, and this delivery does not count."""
        self._post(self._inner.release)

    def extend(self) -> None:
        """Begins the ack timeout again, as :meth:`eventbus.WorkDelivery.extend`."""
        self._post(self._inner.extend)

    def _post(self, settle: Callable[..., None], *args: Any) -> None:
        if self._portal.is_lost:
            self._portal.check()
        self._portal.loop.call_soon_threadsafe(settle, *args)


WorkHandler = Callable[[Event, WorkDelivery], object]


class Worker:
    """Consumer that shares the events of a durable subscription with others: a handler in threads, or ``for`` and ``get``, also
    in several threads. Ends with ``with`` or ``unsubscribe``.

    What is taken without a handler is settled by the methods of its :class:`WorkDelivery` alone; what is not settled at the
    end of the worker goes to another one.
    """

    def __init__(self, portal: Portal, inner: AioWorker, threads: Threads) -> None:
        self._portal = portal
        self._inner = inner
        self._threads = threads

    @property
    def name(self) -> str:
        """Returns the name of the durable subscription."""
        return self._inner.name

    @property
    def filter(self) -> str:
        """Returns the filter."""
        return self._inner.filter

    def counters(self) -> WorkerCounters:
        """Returns figures since the beginning."""
        return self._inner.counters()

    def __repr__(self) -> str:
        return f"eventbus.sync.{self._inner!r}"

    def get(self, timeout: float | None = None) -> WorkDelivery:
        """Returns the next event; waits at most ``timeout`` seconds, None without limit, 0 not at all.

        Raises TimedOut, after which it can be called again; Closed, or the reason of its end, at the end.
        """
        return WorkDelivery(self._portal, self._portal.call(self._inner.get(timeout)))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> WorkDelivery:
        delivery = self._portal.call(self._inner._one(None))
        if delivery is None:
            raise StopIteration
        return WorkDelivery(self._portal, delivery)

    def unsubscribe(self, timeout: float | None = 10.0) -> None:
        """Ends the worker, as :meth:`eventbus.Worker.unsubscribe`. Must not be called in its own handler."""
        try:
            self._portal.call(self._inner.unsubscribe(), timeout, "unsubscribe")
        finally:
            self._threads.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.unsubscribe()


def in_threads(handler: WorkHandler, threads: Threads, portal: Portal) -> AioWorkHandler:
    """Returns a handler for asyncio that runs a blocking one in threads."""

    def call(delivery: WorkDelivery) -> None:
        handler(delivery.event, delivery)

    async def handle(_: Event, delivery: AioWorkDelivery) -> None:
        await threads.run(call, WorkDelivery(portal, delivery))

    return handle
