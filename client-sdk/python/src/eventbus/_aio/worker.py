"""Workers, which share the events of a durable subscription, as applications see them."""

from __future__ import annotations

import asyncio
import inspect
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from .._api.checks import check_range
from .._api.durable import WorkerCounters
from .._api.errors import TimedOut
from .._durable.work_feed import OpenDelivery
from .._durable.worker_state import WorkerState
from .._wire.durable_frames import SettleOutcome
from .._wire.events import Event
from .consumer import Consumer, ConsumerClient
from .subscription import is_cancelled

#: Maximum of the delay of a retry, in seconds.
MAX_DELAY = 604_800
#: Timeout for the answer to a settlement, in seconds.
ANSWER_TIMEOUT = 10.0


def check_delay(delay: float | None) -> None:
    """Raises ValueError for a delay out of range."""
    if delay is not None:
        check_range("delay", delay, 0, MAX_DELAY, "s")


def check_reason(reason: str) -> None:
    """Raises TypeError for what is no text."""
    if not isinstance(reason, str):
        raise TypeError(f"reason: {reason!r} (expected: text)")


class WorkDelivery:
    """Delivery of an event to a worker, which is settled once: the first of ``done``, ``done_confirmed``, ``retry``,
    ``reject`` and ``release`` counts, and later ones do nothing.

    A settlement may be lost with the connection, or come after the ack timeout: the event then comes again, to some worker.
    ``WorkerCounters.late`` counts settlements for which the connection is gone.
    """

    __slots__ = ("_answer", "_core", "_loop", "_open")

    def __init__(self, core: WorkerState, opened: OpenDelivery, loop: asyncio.AbstractEventLoop) -> None:
        self._core = core
        self._open = opened
        self._loop = loop
        # Answer to the settlement; None without a request for it.
        self._answer: asyncio.Future[None] | None = None

    @property
    def event(self) -> Event:
        """Returns the event."""
        return self._open.event

    @property
    def attempt(self) -> int:
        """Returns the number of this delivery of the event, 1 for the first one."""
        return self._open.feed.attempt

    @property
    def settled(self) -> bool:
        """Returns whether the event is settled."""
        return self._open.settled

    def __repr__(self) -> str:
        return f"WorkDelivery({self.event!r}, attempt={self.attempt}, settled={self.settled})"

    def done(self) -> None:
        """Settles the event: it is handled, and does not come again."""
        self._core.settle_event(self._open, SettleOutcome.DONE)

    async def done_confirmed(self) -> None:
        """Settles the event as ``done``, and returns when that is stored: then it never comes again.

        Raises Refused if the bus has given the event to another worker; ConnectionLost or TimedOut (after 10 s) if the
        outcome is not known; RuntimeError if the event was settled otherwise. Cancelling only stops the wait.
        """
        if self._answer is None:
            if self.settled:
                raise RuntimeError(
                    f"the event at position {self.event.position} is settled already (expected: not yet)"
                )
            self._answer = self._ask()
        await asyncio.shield(self._answer)

    def _ask(self) -> asyncio.Future[None]:
        answer: asyncio.Future[None] = self._loop.create_future()

        def late() -> None:
            if not answer.done():
                what = f"that the event at position {self.event.position} is settled: it may come again"
                answer.set_exception(TimedOut(f"the bus did not confirm within {ANSWER_TIMEOUT:g} s {what}"))

        timer = self._loop.call_later(ANSWER_TIMEOUT, late)

        def end(_: object) -> None:
            timer.cancel()
            # The caller may have gone: then nobody misses the exception.
            answer.exception()

        answer.add_done_callback(end)
        self._core.settle_event_confirmed(self._open, answer)
        return answer

    def retry(self, delay: float | None = None) -> None:
        """Has the event come again, after ``delay`` seconds, 0 to 7 days; by default after 1 s, 5 s, 30 s, and then 2 min.
        Raises ValueError."""
        check_delay(delay)
        millis = -1 if delay is None else math.ceil(delay * 1000)
        self._core.settle_event(self._open, SettleOutcome.RETRY, millis)

    def reject(self, reason: str) -> None:
        """Makes the event a dead letter, which comes to no worker. ``reason`` is for people; at most 256 bytes of UTF-8 are
        kept. Raises TypeError."""
        check_reason(reason)
        self._core.settle_event(self._open, SettleOutcome.REJECT, reason=reason)

    def release(self) -> None:
        """Gives the event back: another worker gets it at once, and this delivery does not count."""
        self._core.settle_event(self._open, SettleOutcome.RELEASE)

    def extend(self) -> None:
        """Begins the ack timeout again. Does nothing within an eighth of the ack timeout of the last time, or if the event is
        settled."""
        self._core.extend(self._open, self._loop.time())


WorkHandler = Callable[[Event, WorkDelivery], object]


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """A handler of a worker raised an exception: the event comes again, to some worker, unless it was settled before."""

    worker: Worker
    event: Event
    attempt: int
    error: BaseException


class Worker(Consumer[WorkerState]):
    """Consumer that shares the events of a durable subscription with others. It outlives lost connections. Events are taken by
    a handler, or with ``async for`` and ``get``, also in several tasks.

    ``await`` it, or enter it with ``async with``, to know that the bus has accepted it.

    A handler's event is done when the handler returns, and comes again after an exception. What is taken otherwise is
    settled by the methods of its :class:`WorkDelivery` alone; what is not settled at the end of the worker goes to another
    one.
    """

    def __init__(
        self, client: ConsumerClient, core: WorkerState, handler: WorkHandler | None, concurrency: int
    ) -> None:
        super().__init__(client, core, handler is not None)
        self._handler = handler
        self._concurrency = concurrency
        self._tasks: set[asyncio.Task[None]] = set()
        if handler is not None:
            # The client keeps the worker alive, even if nothing else does.
            client._consuming.add(self)

    # ---- State

    @property
    def name(self) -> str:
        """Returns the name of the durable subscription."""
        return self._core.settings.name

    def counters(self) -> WorkerCounters:
        """Returns figures since the beginning."""
        return self._core.counters()

    def __repr__(self) -> str:
        return f"Worker(name={self.name!r}, filter={self.filter!r})"

    # ---- Life

    async def unsubscribe(self) -> None:
        """Ends the worker: what waits here goes to other workers, handlers finish the events that they have, and the bus is
        told. What was taken without a handler and is not settled goes to other workers, too. A second call waits for the
        same end.

        Awaited in its own handler, it returns at once, and the worker ends with the handler.
        """
        self._stop()
        if asyncio.current_task() in self._tasks:
            return
        await self._end()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _running(self) -> list[asyncio.Task[None]]:
        return list(self._tasks)

    def _wake(self) -> None:
        super()._wake()
        if self._handler is not None:
            if self._core.has_work and len(self._tasks) < self._concurrency:
                task = self._client._loop.create_task(
                    self._work(self._handler), name=f"eventbus worker {self._core.settings.name}"
                )
                self._tasks.add(task)
                task.add_done_callback(self._on_task_end)
            self._forget_if_idle()

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        # For events that came while it ended.
        self._wake()

    def _forget_if_idle(self) -> None:
        if self._core.ended and not self._tasks:
            self._client._consuming.discard(self)

    # ---- Taking events

    def _take(self) -> WorkDelivery | None:
        client = self._client
        taken = self._core.take(client._loop.time())
        if taken is None:
            return None
        client._machine.consumers.received += 1
        return WorkDelivery(self._core, taken, client._loop)

    async def _one(self, timeout: float | None) -> WorkDelivery | None:
        if self._handler is not None:
            raise RuntimeError("iterated, but it has a handler (expected: one of them)")
        core, loop = self._core, self._client._loop
        # A worker that never waits does not starve reading, writing and timers.
        await asyncio.sleep(0)
        until = None if timeout is None else loop.time() + timeout
        while not core.stopping and not core.ended:
            delivery = self._take()
            if delivery is not None:
                return delivery
            await self._wait(until, lambda: TimedOut(f"no event of {self.filter} within {timeout:g} s"))
        if core.failure is not None and not core.stopping:
            raise self._end_error()
        return None

    async def get(self, timeout: float | None = None) -> WorkDelivery:
        """Returns the next event; waits at most ``timeout`` seconds, None without limit, 0 not at all.

        Raises TimedOut, after which it can be called again; Closed, or the reason of its end, at the end. Cancelling it
        loses no event.
        """
        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        delivery = await self._one(timeout)
        if delivery is None:
            raise self._end_error()
        return delivery

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WorkDelivery:
        delivery = await self._one(None)
        if delivery is None:
            raise StopAsyncIteration
        return delivery

    # ---- The handler

    async def _work(self, handler: WorkHandler) -> None:
        """Handles events until none waits."""
        while (delivery := self._take()) is not None:
            # Another task, if more wait.
            self._wake()
            await self._call(handler, delivery)
            # Handlers that never wait do not starve reading, writing and timers.
            await asyncio.sleep(0)
        self._core.flush()

    async def _call(self, handler: WorkHandler, delivery: WorkDelivery) -> None:
        try:
            result = handler(delivery.event, delivery)
            if result is not None and inspect.isawaitable(result):
                await result
        except asyncio.CancelledError as e:
            # Either of something that the handler has awaited, or of this task: at the end of the client, or by anybody.
            if not self._core.ended:
                self._fail(delivery, e)
            if is_cancelled():
                raise
        except Exception as e:
            self._fail(delivery, e)
        else:
            delivery.done()

    def _fail(self, delivery: WorkDelivery, error: BaseException) -> None:
        reason = "".join(traceback.format_exception_only(error)).strip()
        self._core.settle_event(delivery._open, SettleOutcome.RETRY, reason=reason)
        self._core.failed += 1
        self._client._machine.handler_failures += 1
        self._client._tell(WorkFailed(self, delivery.event, delivery.attempt, error))
