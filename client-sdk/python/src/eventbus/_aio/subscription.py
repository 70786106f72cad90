"""Subscriptions as applications see them: they take the events that the core has queued."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from .._api.checks import check_range
from .._api.errors import Closed, Error, TimedOut
from .._api.happenings import Gap, Interruption, SubscriptionCounters
from .._api.options import Options
from .._connection.machine import Machine
from .._inbound.buffer import Item
from .._inbound.event_reader import MAX_EVENTS, EventReader
from .._inbound.subscription_state import SubscriptionState
from .._wire.codec import Malformed
from .._wire.events import Event, EventCursor

LOG = logging.getLogger("eventbus")

T = TypeVar("T")
#: Function for each event; an awaitable result is awaited.
Handler = Callable[[Event], object]
GapListener = Callable[[Gap], object]
InterruptionListener = Callable[[Interruption], object]


@dataclass(frozen=True, slots=True)
class HandlerFailed:
    """A handler raised an exception; the subscription continues with the next event."""

    subscription: Subscription
    event: Event
    error: BaseException


class SubscriptionClient(Protocol):
    """Client of a subscription, as the subscription sees it."""

    _options: Options
    _loop: asyncio.AbstractEventLoop
    _machine: Machine
    #: Subscriptions with a handler that runs.
    _handlers: set[Subscription]
    #: End of the client; None while it is open.
    _closing: asyncio.Future[bool] | None

    def _tell(self, happening: object, /) -> None:
        """Reports a happening to the listeners of the application."""
        ...

    def _forget(self, core: SubscriptionState, taken: list[Item]) -> None:
        """Ends a subscription that is garbage, in any thread; ``taken`` are its unhandled items."""
        ...


class Subscription:
    """Events that a filter selects. One reader: ``async for``, ``batches``, ``get`` or a handler.

    ``await`` it, or enter it with ``async with``, to know that it is in force: from then on, as long as the connection lasts,
    every event is delivered that a bus takes from a publisher. After a lost connection ``on_interruption`` reports
    the time without it. An event counts as handled when the next one is requested, or when its handler has returned.
    """

    def __init__(
        self,
        client: SubscriptionClient,
        core: SubscriptionState,
        handler: Handler | None,
        on_gap: GapListener | None,
        on_interruption: InterruptionListener | None,
    ) -> None:
        self._client = client
        self._core = core
        self._on_gap = on_gap
        self._on_interruption = on_interruption
        core.buffer.wants_gaps = on_gap is not None
        core.buffer.wants_interruptions = on_interruption is not None
        machine = client._machine

        def malformed(cursor: EventCursor, error: Malformed) -> None:
            machine.malformed(cursor.delivery.link, error)

        self._reader = EventReader(core.buffer, malformed)
        self._waiting: asyncio.Future[None] | None = None
        self._reading = False
        self._stopped = False
        self._task: asyncio.Task[None] | None = None
        if handler is not None:
            # The client keeps the task and the subscription alive, even if nothing else does.
            self._task = client._loop.create_task(self._handle(handler), name=f"eventbus handler {core.filter}")
            self._task.add_done_callback(self._on_handler_end)
            client._handlers.add(self)

    # ---- State

    @property
    def filter(self) -> str:
        """Returns the filter."""
        return self._core.filter

    @property
    def group(self) -> str | None:
        """Returns the group whose members share the events; None for none."""
        return self._core.group

    def counters(self) -> SubscriptionCounters:
        """Returns figures since the beginning."""
        core = self._core
        return SubscriptionCounters(core.received, core.duplicates, core.missing, core.interruptions)

    def __repr__(self) -> str:
        return f"Subscription(filter={self.filter!r}, group={self.group!r}, overflow={self._core.overflow.name})"

    # ---- Life

    def __await__(self) -> Generator[Any, None, Self]:
        return self._ready().__await__()

    async def _ready(self) -> Self:
        """Waits until the subscription is in force. Ends it on cancellation, and before it raises Refused, Closed or
        TimedOut."""
        if self._core.ended:
            raise self._end_error()
        if not self._core.confirmed:
            ready: asyncio.Future[None] = self._client._loop.create_future()
            self._core.ready.append(ready)
            try:
                await within(ready, self._client._options.confirm_timeout, "the confirmation of a subscription")
            except BaseException:
                # The caller may not have it, and another try would get each event twice.
                self._stop()
                self._client._machine.registry.unsubscribe(self._core, self._client._loop.time())
                raise
        return self

    async def __aenter__(self) -> Self:
        return await self._ready()

    async def __aexit__(self, *exc: object) -> None:
        await self.unsubscribe()

    async def unsubscribe(self) -> None:
        """Ends the subscription: drops waiting events, and returns when nothing more comes. A second call does nothing.

        A running handler finishes its event. Must not be awaited in the subscription's own handler.
        """
        self._stop()
        core = self._core
        if not core.ended:
            drained: asyncio.Future[None] = self._client._loop.create_future()
            core.drained.append(drained)
            self._client._machine.registry.unsubscribe(core, self._client._loop.time())
            await drained
        if self._task is not None and self._task is not asyncio.current_task():
            await asyncio.wait([self._task])

    def _stop(self) -> None:
        """Drops waiting events, because the application takes no more."""
        if not self._stopped:
            self._stopped = True
            self._client._machine.dispatcher.handled(self._reader.drop(), self._core)
            self._client._machine.dispatcher.drop_queue(self._core)
            self._client._machine.handled()
            self._wake()

    def __del__(self) -> None:
        # Waiting events would use up the credit of the whole client.
        client = getattr(self, "_client", None)
        if client is not None and self._task is None and not self._stopped and not self._core.ended:
            client._forget(self._core, self._reader.drop())

    def _end_error(self) -> Error:
        failure = self._core.failure
        return failure.with_traceback(None) if failure is not None else Closed("the subscription is ended")

    # ---- Taking events

    def _wake(self) -> None:
        waiting = self._waiting
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _finish(self) -> None:
        """Records that the taken events are handled."""
        taken = self._reader.take_handled()
        if taken:
            self._client._machine.dispatcher.handled(taken, self._core)
            self._client._machine.handled()

    async def _take(self, most: int, timeout: float | None = None) -> list[Event]:
        """Waits for events and decodes some; returns an empty list at the end. Raises TimedOut; cancelling it loses
        nothing."""
        self._finish()
        reader, loop = self._reader, self._client._loop
        if reader:
            # Yields, so that a consumer that never waits does not starve reading, writing and timers.
            await asyncio.sleep(0)
        until = None if timeout is None else loop.time() + timeout
        while True:
            found = reader.read(most)
            if isinstance(found, list):
                return found
            if found is not None:
                await self._tell(found)
                continue
            self._finish()
            if self._stopped or self._core.ended:
                if self._core.failure is not None and not self._stopped:
                    raise self._end_error()
                return []
            await self._arrival(until, timeout)

    async def _arrival(self, until: float | None, timeout: float | None) -> None:
        loop = self._client._loop
        waiting = self._waiting = loop.create_future()

        def late() -> None:
            if not waiting.done():
                waiting.set_exception(TimedOut(f"no event of {self.filter} within {timeout:g} s"))

        timer = None if until is None else loop.call_at(until, late)
        try:
            await waiting
        finally:
            self._waiting = None
            if timer is not None:
                timer.cancel()

    async def _tell(self, what: Gap | Interruption) -> None:
        listener: Callable[[Any], object] | None = self._on_gap if isinstance(what, Gap) else self._on_interruption
        if listener is None:
            return
        try:
            result = listener(what)
            if inspect.isawaitable(result):
                await result
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            LOG.exception("%r: a listener failed at %r", self, what)
        except Exception:
            LOG.exception("%r: a listener failed at %r", self, what)

    def _read_once(self) -> None:
        if self._task is not None:
            raise RuntimeError("iterated, but it has a handler (expected: one reader)")
        if self._reading:
            raise RuntimeError("iterated already (expected: one reader)")

    async def get(self, timeout: float | None = None) -> Event:
        """Returns the next event; waits at most ``timeout`` seconds, None without limit, 0 not at all.

        Raises TimedOut, after which it can be called again; Closed, or the reason of its end, at the end. Cancelling
        it, also by a timeout of asyncio, loses no event.
        """
        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        event = await self._one(timeout)
        if event is None:
            raise self._end_error()
        return event

    def __aiter__(self) -> Self:
        self._read_once()
        return self

    async def __anext__(self) -> Event:
        reader = self._reader
        at = reader.next
        if at < len(reader.batch):
            reader.next = at + 1
            return reader.batch[at]
        event = await self._one(None)
        if event is None:
            raise StopAsyncIteration
        return event

    async def _one(self, timeout: float | None) -> Event | None:
        found = self._reader.rest(1)
        if found:
            return found[0]
        self._read_once()
        self._reading = True
        try:
            self._reader.batch, self._reader.next = await self._take(MAX_EVENTS, timeout), 0
        finally:
            self._reading = False
        found = self._reader.rest(1)
        return found[0] if found else None

    def batches(self, *, most: int = MAX_EVENTS, timeout: float | None = None) -> Batches:
        """Iterates over batches of received events, at most ``most`` each, without waiting for more: the fastest way.

        A batch counts as handled when the next one is requested. ``timeout``: seconds to wait for one, None without
        limit; TimedOut, like cancelling, does not end the iteration.
        """
        check_range("most", most, 1, 1 << 30, "events", whole=True)
        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        return Batches(self, most, timeout)

    async def _batch(self, most: int, timeout: float | None) -> list[Event]:
        rest = self._reader.rest(most)
        if rest:
            return rest
        self._read_once()
        self._reading = True
        try:
            return await self._take(most, timeout)
        finally:
            self._reading = False

    async def _handle(self, handler: Handler) -> None:
        while True:
            try:
                batch = await self._take(256)
            except Error:
                return  # ready, or on_problem, has told
            if not batch:
                return
            for event in batch:
                if self._stopped:
                    return
                try:
                    result = handler(event)
                    if result is not None and inspect.isawaitable(result):
                        await result
                except asyncio.CancelledError as e:
                    # Either of something that the handler has awaited, or of this task.
                    if is_cancelled():
                        raise
                    self._fail(event, e)
                except Exception as e:
                    self._fail(event, e)

    def _fail(self, event: Event, error: BaseException) -> None:
        self._client._machine.handler_failures += 1
        self._client._tell(HandlerFailed(self, event, error))

    def _on_handler_end(self, task: asyncio.Task[None]) -> None:
        """Ends the subscription and reports that, because nothing reads it any more and it would stall the others."""
        client = self._client
        client._handlers.discard(self)
        if self._stopped or self._core.ended or client._closing is not None:
            return
        error = None if task.cancelled() else task.exception()
        self._stop()
        client._machine.registry.unsubscribe(self._core, client._loop.time())
        closed = Closed(f"{self._core.what} is ended: its handler was {'cancelled' if error is None else 'ended'}")
        closed.__cause__ = error
        client._tell(closed)


class Batches:
    """Result of :meth:`Subscription.batches`: iterate over it with ``async for``."""

    def __init__(self, subscription: Subscription, most: int, timeout: float | None) -> None:
        self._subscription = subscription
        self._most = most
        self._timeout = timeout

    def __aiter__(self) -> Self:
        self._subscription._read_once()
        return self

    async def __anext__(self) -> list[Event]:
        batch = await self._subscription._batch(self._most, self._timeout)
        if not batch:
            raise StopAsyncIteration
        return batch


def is_cancelled() -> bool:
    """Returns whether the running task was cancelled; a CancelledError may also come from something that it has
    awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def within(future: asyncio.Future[T], timeout: float, what: str) -> T:
    """Waits for an answer, at most ``timeout`` seconds."""
    loop = future.get_loop()

    def late() -> None:
        if not future.done():
            future.set_exception(TimedOut(f"{what} did not come within {timeout:g} s"))

    timer = loop.call_later(timeout, late)
    try:
        return await future
    finally:
        timer.cancel()
