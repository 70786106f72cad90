"""Hands events of other threads to the loop's thread, and closes the clients that a program leaves open."""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
import warnings
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from .._aio.client import EventBus
from .._api.errors import Closed, Error, TimedOut
from .._api.happenings import State
from .._api.payload import check_head
from .._outbound.publish_frame import HEAD, OVERHEAD
from .portal import Portal

LOG = logging.getLogger("eventbus")

#: Clients that are not closed: a program may end with them open, and has still sent events.
_open: set[Sending] = set()
#: Seconds beyond its timeout that a client may take to end when the program ends.
GRACE = 5.0


class Sending:
    """See the module. ``inner`` is the client on asyncio."""

    def __init__(self, portal: Portal, inner: EventBus) -> None:
        self.portal = portal
        self.inner = inner
        self._outbox = inner._outbox
        self._lock = threading.Lock()
        self._events: deque[tuple[Any, ...]] = deque()
        self._scheduled = False
        #: Bytes of events that are not handed over.
        self.bytes = 0
        _open.add(self)

    def forget(self) -> None:
        """Forgets the client, which is closed."""
        _open.discard(self)

    def send(
        self,
        topic: str,
        payload: bytes,
        key: str | None,
        headers: Mapping[str, str] | None,
        published_at: int | None,
        schema: int,
    ) -> bool:
        """Adds an event, in any thread; returns False if there is no room."""
        self._outbox.check(topic, len(payload))
        check_head(key, headers, published_at)
        cost = len(payload) + HEAD + OVERHEAD
        if key is not None:
            cost += len(key.encode())
        if headers:
            cost += sum(len(text.encode()) for item in headers.items() for text in item)
        with self._lock:
            if self._outbox.used + self.bytes + cost > self._outbox.bound:
                self._outbox.dropped_full += 1
                return False
            self.bytes += cost
            self._events.append((cost, topic, payload, key, headers, published_at, schema))
            if self._scheduled:
                return True
            self._scheduled = True
        self.portal.loop.call_soon_threadsafe(self.hand_over)
        return True

    def hand_over(self) -> None:
        """Passes the events to the client, in order; called in the loop."""
        with self._lock:
            self._scheduled = False
        while self._events:
            cost, topic, *event = self._events[0]
            try:
                taken = self._outbox.add(topic, *event)
            except Exception as e:
                self.inner._notices.tell(e if isinstance(e, Error) else Closed(f"not sent: {e}"))
                taken = True
            if not taken:
                waiter: asyncio.Future[None] = self.inner._loop.create_future()
                waiter.add_done_callback(self._on_room)
                self.inner._machine.sender.when_room(waiter)
                break
            self._events.popleft()
            with self._lock:
                self.bytes -= cost
        self.inner._driver.wake()

    def _on_room(self, waiter: asyncio.Future[None]) -> None:
        if waiter.exception() is None:
            self.hand_over()

    async def empty(self, timeout: float, what: str) -> float:
        """Waits until all events are handed over; called in the loop. Returns the rest of the timeout. Raises
        TimedOut."""
        if not self._events:
            return timeout
        loop = self.inner._loop
        until = loop.time() + timeout
        try:
            async with asyncio.timeout_at(until):
                while self._events:
                    await self.inner.room()
                    self.hand_over()
        except TimeoutError as e:
            if isinstance(e, Error):
                raise
            raise TimedOut(f"{what} did not end within {timeout:g} s: the buffer is full, nothing was done") from None
        return max(0.0, until - loop.time())

    async def close(self, timeout: float | None) -> bool:
        """Ends the client; called in the loop."""
        seconds = self.inner._options.close_timeout if timeout is None else timeout
        if self._events and self.inner.state is not State.CLOSED:
            try:
                seconds = await self.empty(seconds, "close")
            except (TimedOut, Closed):
                seconds = 0.0
        drained = await self.inner.close(seconds)
        left = len(self._events)
        self._events.clear()
        self.bytes = 0
        if left:
            LOG.error(
                "%r: %d events that were sent were lost: there was no room for them until it was closed",
                self.inner,
                left,
            )
        return drained and not left


def _at_exit() -> None:
    """Closes the clients that the program has left open, so that their events arrive or are reported."""
    ending: list[tuple[Sending, Future[bool]]] = []
    for sending in list(_open):
        _open.discard(sending)
        if sending.portal.is_lost or sending.inner.state is State.CLOSED:
            continue
        warnings.warn(f"{sending.inner!r} was not closed (expected: with, or close)", ResourceWarning, stacklevel=1)
        ending.append((sending, sending.portal.begin(sending.close(None))))
    for sending, end in ending:
        try:
            if not end.result(sending.inner._options.close_timeout + GRACE):
                LOG.error("%r: the program has ended, and not all that it sent was confirmed", sending.inner)
        except Exception:
            LOG.exception("%r: could not be closed when the program ended", sending.inner)


atexit.register(_at_exit)
