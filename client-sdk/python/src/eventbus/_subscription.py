"""What an application holds of a subscription: takes the events that the core has queued for it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from . import _dispatch
from ._errors import Closed, Error, TimedOut
from ._events import Event
from ._happenings import SubscriptionCounters
from ._options import check_range
from ._wire import Malformed

if TYPE_CHECKING:
    from ._aio import EventBus

T = TypeVar("T")
Handler = Callable[[Event], object]


@dataclass(frozen=True, slots=True)
class HandlerFailed:
    """A handler raised an exception; the subscription goes on with the next event."""

    subscription: Subscription
    event: Event
    error: Exception


class Subscription:
    """Events that a filter selects. One reader: ``async for``, ``batches`` or a handler.

    ``await`` it, or enter it with ``async with``, to know that it is in force: from then on every event is delivered that a bus
    takes from a publisher. An event counts as handled when the next one is asked for, or when its handler has returned.
    """

    def __init__(self, client: EventBus, core: _dispatch.Subscription, handler: Handler | None) -> None:
        self._client = client
        self._core = core
        self._batch: list[Event] = []
        self._next = 0
        self._done: list[Any] = []
        self._waiting: asyncio.Future[None] | None = None
        self._reading = False
        self._stopped = False
        self._busy = False
        self._task: asyncio.Task[None] | None = None
        if handler is not None:
            # The task must not keep alive what nobody else holds, nor end with it: the client holds both.
            self._task = client._loop.create_task(self._handle(handler), name=f"eventbus handler {core.filter}")
            client._handlers.add(self)

    # ---- What it is

    @property
    def filter(self) -> str:
        """The filter."""
        return self._core.filter

    @property
    def group(self) -> str | None:
        """The group whose members share the events; None for none."""
        return self._core.group

    def counters(self) -> SubscriptionCounters:
        """What it has got so far."""
        return SubscriptionCounters(self._core.received, self._core.duplicates, self._core.missing)

    def __repr__(self) -> str:
        return f"Subscription(filter={self.filter!r}, group={self.group!r}, overflow={self._core.overflow.name})"

    # ---- Its life

    def __await__(self) -> Generator[Any, None, Self]:
        return self._ready().__await__()

    async def _ready(self) -> Self:
        """Waits until it is in force. Raises Refused, Closed, TimedOut."""
        if self._core.ended:
            raise self._end_error()
        if not self._core.confirmed:
            ready: asyncio.Future[None] = self._client._loop.create_future()
            self._core.ready.append(ready)
            await within(ready, self._client._options.confirm_timeout, "the confirmation of a subscription")
        return self

    async def __aenter__(self) -> Self:
        return await self._ready()

    async def __aexit__(self, *exc: object) -> None:
        await self.unsubscribe()

    async def unsubscribe(self) -> None:
        """Ends it: drops what was not taken, and returns when nothing more comes. Ending it again does nothing.

        A handler that is at work finishes with its event. Must not be awaited in the subscription's own handler.
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
        """The application takes no more."""
        if not self._stopped:
            self._stopped = True
            self._batch = []
            self._next = 0
            self._finish_batch()
            self._client._machine.dispatcher.drop_queue(self._core)
            self._client._machine.handled()
            self._wake()

    def __del__(self) -> None:
        # What is not taken would use up the credit of the whole client.
        client = getattr(self, "_client", None)
        if client is not None and self._task is None and not self._stopped and not self._core.ended:
            client._forget(self._core)

    def _end_error(self) -> Error:
        failure = self._core.failure
        return failure.with_traceback(None) if failure is not None else Closed("the subscription is ended")

    # ---- Taking events

    def _wake(self) -> None:
        waiting = self._waiting
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _finish_batch(self) -> None:
        """What was taken is handled."""
        if self._done:
            done, self._done = self._done, []
            self.finish(done)

    def finish(self, taken: list[Any]) -> None:
        """What ``take_unhandled`` gave is handled."""
        for cursor in taken:
            self._client._machine.dispatcher.handled(cursor)
        self._client._machine.handled()

    async def take_unhandled(self, most: int) -> tuple[list[Event], list[Any]]:
        """For the synchronous face: takes events that count until ``finish``; none at the end."""
        batch = await self._take(most)
        done, self._done = self._done, []
        return batch, done

    async def _take(self, most: int) -> list[Event]:
        """Waits for events and decodes some; an empty list at the end."""
        self._finish_batch()
        queue = self._core.queue
        if queue:
            # A consumer that never waits must not keep the loop from reading, writing and timers.
            await asyncio.sleep(0)
        while True:
            while not queue:
                if self._stopped or self._core.ended:
                    if self._core.failure is not None and not self._stopped:
                        raise self._end_error()
                    return []
                self._waiting = self._client._loop.create_future()
                try:
                    await self._waiting
                finally:
                    self._waiting = None
            batch: list[Event] = []
            while queue and len(batch) < most:
                if not self._decode(queue[0], batch, most - len(batch)):
                    break
                self._done.append(queue.popleft())
            if batch:
                return batch
            self._finish_batch()

    def _decode(self, cursor: Any, into: list[Event], most: int) -> bool:
        try:
            return bool(cursor.take(into, most))
        except Malformed as e:
            self._client._machine.malformed(cursor.delivery.link, e)
            return True

    def __aiter__(self) -> Self:
        self._read_once()
        return self

    def _read_once(self) -> None:
        if self._task is not None:
            raise RuntimeError("iterated, but it has a handler (expected: one reader)")
        if self._reading:
            raise RuntimeError("iterated already (expected: one reader)")

    async def __anext__(self) -> Event:
        at = self._next
        batch = self._batch
        if at < len(batch):
            self._next = at + 1
            return batch[at]
        if self._reading:
            raise RuntimeError("iterated already (expected: one reader)")
        self._reading = True
        try:
            batch = self._batch = await self._take(1000)
        finally:
            self._reading = False
        self._next = 1
        if not batch:
            self._next = 0
            raise StopAsyncIteration
        return batch[0]

    async def batches(self, most: int = 1000) -> AsyncIterator[list[Event]]:
        """Iterates over what has come, at most so many events at a time: the fastest way to take many.

        A batch counts as handled when the next one is asked for.
        """
        check_range("most", most, 1, 1 << 30, "events", whole=True)
        self._read_once()
        self._reading = True
        try:
            while batch := await self._take(most):
                yield batch
        finally:
            self._reading = False

    async def _handle(self, handler: Handler) -> None:
        client = self._client
        while True:
            try:
                batch = await self._take(256)
            except Error:
                return  # ready, or on_problem, has told
            if not batch:
                return
            self._busy = True
            try:
                for event in batch:
                    if self._stopped:
                        return
                    try:
                        result = handler(event)
                        if result is not None and inspect.isawaitable(result):
                            await result
                    except Exception as e:
                        client._machine.handler_failures += 1
                        client._notices.tell(HandlerFailed(self, event, e))
            finally:
                self._busy = False


async def within(future: asyncio.Future[T], timeout: float, what: str) -> T:
    """Waits for an answer, for so many seconds at most."""
    loop = future.get_loop()

    def late() -> None:
        if not future.done():
            future.set_exception(TimedOut(f"{what} did not come within {timeout:g} s"))

    timer = loop.call_later(timeout, late)
    try:
        return await future
    finally:
        timer.cancel()
