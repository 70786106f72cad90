"""Consumers of durable topics as applications see them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from .._api.checks import check_range
from .._api.durable import DurableCounters, Truncated
from .._api.errors import Closed, Error, TimedOut
from .._durable.consumer_state import ConsumerState
from .._durable.feed_reader import FeedReader
from .._wire.events import Event
from .consumer import Consumer, ConsumerClient
from .subscription import Handler, is_cancelled

TruncatedListener = Callable[[Truncated], object]

#: Pauses before an event is handed over again, in seconds; the last one for all further failures.
RETRY_PAUSES = (1.0, 5.0, 30.0, 120.0)


@dataclass(frozen=True, slots=True)
class ConsumerFailed:
    """A handler of a consumer raised an exception; it gets the same event again."""

    subscription: DurableSubscription
    #: Event, or for ``on_truncated`` the events that do not come.
    item: Event | Truncated
    error: BaseException
    #: Seconds until it is handed over again.
    pause: float


class DurableSubscription(Consumer[ConsumerState]):
    """Consumer of durable topics. It outlives lost connections, and gets each event once as long as it runs, in the order of
    positions. One reader: ``async for``, ``get`` or a handler.

    ``await`` it, or enter it with ``async with``, to know that the bus has accepted it. With a name it may stand by then,
    because another consumer has the durable subscription.

    An event counts as handled when its handler returns, or when the next one is requested; with a name the bus is told
    (settled). After an exception of the handler the same event comes again: after 1 s, 5 s, 30 s, and then every 2 min.
    """

    def __init__(
        self,
        client: ConsumerClient,
        core: ConsumerState,
        handler: Handler | None,
        on_truncated: TruncatedListener | None,
    ) -> None:
        super().__init__(client, core, handler is not None)
        self._on_truncated = on_truncated
        self._reader = FeedReader(core)
        # Events that were read, and the number of them that the application has got.
        self._events: list[Event] = []
        self._next = 0
        # The application has it and has not handled it.
        self._item: Event | Truncated | None = None
        # Set to hand the item over again.
        self._again = False
        self._reading = False
        self._task: asyncio.Task[None] | None = None
        if handler is not None:
            # The client keeps the task and the consumer alive, even if nothing else does.
            self._task = client._loop.create_task(
                self._handle(handler), name=f"eventbus handler {core.settings.filter}"
            )
            self._task.add_done_callback(self._on_handler_end)
            client._consuming.add(self)

    # ---- State

    @property
    def name(self) -> str | None:
        """Returns the name under which the bus remembers what is handled; None for none."""
        return self._core.settings.name or None

    @property
    def position(self) -> int:
        """Returns the position up to which every event is handled; 0 before the first."""
        return self._core.handled

    def lag(self) -> int:
        """Returns the number of positions between ``position`` and the end of the journal, as the bus has told it last:
        an upper bound for the events that wait, because not all need be for this consumer."""
        return self._core.lag()

    def counters(self) -> DurableCounters:
        """Returns figures since the beginning."""
        return self._core.counters()

    def __repr__(self) -> str:
        return f"DurableSubscription(name={self.name!r}, filter={self.filter!r}, position={self.position})"

    # ---- Life

    async def unsubscribe(self) -> None:
        """Ends the consumer: a running handler finishes its event, and the bus is told what is handled. What waits here is
        dropped; with a name, the next consumer gets it. A second call waits for the same end.

        Awaited in its own handler, it returns at once, and the consumer ends with the handler.
        """
        self._core.stop()
        if self._task is asyncio.current_task():
            return
        if self._task is not None:
            await asyncio.wait([self._task])
        await self._end()

    def _running(self) -> list[asyncio.Task[None]]:
        return [] if self._task is None else [self._task]

    # ---- Taking events

    def settle(self) -> None:
        """Counts the event that was taken last as handled, without taking another one: for a program that leaves its
        loop."""
        item, self._item, self._again = self._item, None, False
        if self._reader.is_stale:
            # Nothing of it counts in the journal that was created again.
            self._events, self._next = [], 0
            self._reader.drop()
            return
        if item is None:
            return
        if isinstance(item, Event):
            self._core.received += 1
            self._client._machine.consumers.received += 1
        self._leave(item)

    def _leave(self, item: Event | Truncated) -> None:
        """Goes on behind an item, because it is handled."""
        if self._next < len(self._events):
            assert isinstance(item, Event)
            self._core.handle(item.position)
        else:
            self._events, self._next = [], 0
            self._reader.finish()

    async def _next_item(self, timeout: float | None = None) -> Event | Truncated | None:
        """Counts the last item as handled, and waits for the next one; returns None at the end. Cancelling it loses
        nothing."""
        core = self._core
        is_over = core.stopping or core.ended
        if self._again and self._item is not None and not self._reader.is_stale:
            self._again = False
            again, self._item = self._item, None
            if not is_over:
                if not core.has_handled(again):
                    self._item = again
                    return again
                self._leave(again)
        self.settle()
        while True:
            if is_over or self._next == len(self._events):
                found = await self._read(timeout)
                if not isinstance(found, list):
                    self._item = found
                    return found
                self._events, self._next = found, 0
            item = self._events[self._next]
            self._next += 1
            if not core.has_handled(item):
                self._item = item
                return item
            # Another consumer has handled it meanwhile.
            self._leave(item)

    async def _read(self, timeout: float | None) -> list[Event] | Truncated | None:
        """Reads what follows; waits for it."""
        core, loop = self._core, self._client._loop
        # A consumer that never waits does not starve reading, writing and timers.
        await asyncio.sleep(0)
        until = None if timeout is None else loop.time() + timeout
        while True:
            if core.stopping or core.ended:
                if core.failure is not None and not core.stopping:
                    raise self._end_error()
                return None
            found = self._reader.read()
            if found is not None:
                return found
            await self._wait(until, lambda: TimedOut(f"no event of {self.filter} within {timeout:g} s"))

    async def _one(self, timeout: float | None) -> Event | None:
        if self._task is not None:
            raise RuntimeError("iterated, but it has a handler (expected: one reader)")
        if self._reading:
            raise RuntimeError("iterated already (expected: one reader)")
        self._reading = True
        try:
            while isinstance(item := await self._next_item(timeout), Truncated):
                if self._on_truncated is not None:
                    # After an exception it comes again.
                    self._again = True
                    result = self._on_truncated(item)
                    if inspect.isawaitable(result):
                        await result
                    self._again = False
            return item
        finally:
            self._reading = False

    async def get(self, timeout: float | None = None) -> Event:
        """Returns the next event, and counts the one before as handled; waits at most ``timeout`` seconds, None without
        limit, 0 not at all.

        Raises TimedOut, after which it can be called again; Closed, or the reason of its end, at the end; what
        ``on_truncated`` raises, which is called again then. Cancelling it loses no event.
        """
        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        event = await self._one(timeout)
        if event is None:
            raise self._end_error()
        return event

    def __aiter__(self) -> Self:
        """Begins with the event that was taken and not handled, if there is one: that at which a loop was left."""
        self._again = self._item is not None
        return self

    async def __anext__(self) -> Event:
        event = await self._one(None)
        if event is None:
            raise StopAsyncIteration
        return event

    # ---- The handler

    async def _handle(self, handler: Handler) -> None:
        try:
            while (item := await self._next_item()) is not None:
                call = self._on_truncated if isinstance(item, Truncated) else handler
                if call is not None and not await self._call(call, item):
                    self._item = None
                    break
        except Error:
            return  # ready, or on_problem, has told
        if self._core.stopping:
            await self._end()

    async def _call(self, handler: Callable[[Any], object], item: Event | Truncated) -> bool:
        """Calls a handler until it returns, or nobody needs the item; returns False if the consumer was stopped before."""
        failures = 0
        while not self._is_needless(item):
            try:
                result = handler(item)
                if result is not None and inspect.isawaitable(result):
                    await result
                return True
            except asyncio.CancelledError as e:
                # Either of something that the handler has awaited, or of this task.
                if is_cancelled():
                    raise
                error: BaseException = e
            except Exception as e:
                error = e
            pause = RETRY_PAUSES[min(failures, len(RETRY_PAUSES) - 1)]
            failures += 1
            self._core.failed += 1
            self._client._machine.handler_failures += 1
            self._client._tell(ConsumerFailed(self, item, error, pause))
            until = self._client._loop.time() + pause
            while self._client._loop.time() < until and not self._is_needless(item):
                # Also woken by what arrives.
                await self._wait(until, None)
        # Another consumer has handled it: it does not count here.
        self._again = self._core.has_handled(item)
        return self._again or self._reader.is_stale

    def _is_needless(self, item: Event | Truncated) -> bool:
        """Returns whether an item is not to be handed over again."""
        core = self._core
        return core.stopping or core.ended or self._reader.is_stale or core.has_handled(item)

    def _on_handler_end(self, task: asyncio.Task[None]) -> None:
        """Ends the consumer and reports that, because nothing reads it any more."""
        client, core = self._client, self._core
        client._consuming.discard(self)
        if core.stopping or core.ended or client._closing is not None:
            return
        error = None if task.cancelled() else task.exception()
        self._stop()
        closed = Closed(f"{core.what} is ended: its handler was {'cancelled' if error is None else 'ended'}")
        closed.__cause__ = error
        client._tell(closed)
