"""The client on asyncio: what applications call."""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload

from .._api.checks import check_range
from .._api.errors import BufferFull, Closed, IllegalTopic
from .._api.happenings import Connection, Counters, State
from .._api.options import Options
from .._api.payload import Codec, EventOptions, Payload, PublishOptions, as_payload, durable_fields
from .._api.published import Published
from .._connection.registry import MAX_GROUP_BYTES
from .._inbound.buffer import Item
from .._inbound.subscription_state import SubscriptionState
from .._wire.records import Overflow
from .._wire.topics import filter_problem
from .calling import Calling
from .consumer import Consumer
from .consuming import Consuming
from .driver import Driver
from .listeners import Listeners, Notices
from .subscription import GapListener, Handler, InterruptionListener, Subscription

T = TypeVar("T")
LOG = logging.getLogger("eventbus")

#: Minimum of ``buffer_bytes``.
MIN_BUFFER = 4096

_clients: weakref.WeakSet[EventBus] = weakref.WeakSet()


def _after_fork() -> None:
    for client in list(_clients):
        client._forked()


def _forked() -> Closed:
    return Closed("this client was made before a fork (expected: connect after the fork)")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class EventBus(Listeners, Calling, Consuming):
    """A client of an event bus; :func:`connect` makes one. To be used only in the thread of its event loop."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._notices = Notices(options.name)
        self._driver = Driver(options, self._notices.tell)
        self._loop = self._driver.loop
        self._machine = self._driver.machine
        self._notices.is_heard = self._machine.dispatcher.wants
        self._outbox = self._machine.outbox
        self._sender = self._machine.sender
        self._add = self._outbox.add
        self._handlers: set[Subscription] = set()
        self._consuming: set[Consumer[Any]] = set()
        self._invocations: set[asyncio.Task[None]] = set()
        self._blocked: deque[asyncio.Future[None]] = deque()
        self._closing: asyncio.Future[bool] | None = None
        _clients.add(self)

    # ---- Publishing

    @overload
    async def publish(
        self,
        topic: str,
        payload: Payload,
        *,
        codec: None = None,
        timeout: float | None = None,
        **event: Unpack[PublishOptions],
    ) -> Published: ...

    @overload
    async def publish(
        self, topic: str, payload: T, *, codec: Codec[T], timeout: float | None = None, **event: Unpack[PublishOptions]
    ) -> Published: ...

    async def publish(
        self,
        topic: str,
        payload: Any,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        published_at: int | None = None,
        schema: int = 0,
        expected: int | None = None,
        delay: float = 0.0,
        ttl: float | None = None,
        producer: str | None = None,
        number: int | None = None,
        codec: Codec[Any] | None = None,
        timeout: float | None = None,
    ) -> Published:
        """Publishes an event and returns when the bus has put it into the queues of all its subscribers.

        Events of one topic keep the order of the calls. The event gets its number, and goes into the next message,
        when the coroutine first runs. After a lost connection it is sent again with its number, and subscribers get
        it once. Cancelling only stops the wait: the event is still sent, unless it waits for room in the buffer.

        ``payload``: bytes, text (as UTF-8), or with ``codec`` any value that it encodes. ``published_at``: microseconds since
        1970, by default now. ``schema``: fingerprint of the payload's Avro schema.
        ``timeout``: maximum wait in seconds, at most ``confirm_timeout``, which is the default.

        For a durable topic it returns when the event is on the disks of a majority of the journal's buses, and
        ``Published.position`` tells where. ``expected``: position of the topic's last event, or 0 if the topic has to be
        empty; otherwise Refused with EXPECTATION_FAILED. ``delay``: seconds that the event waits before it is
        delivered. ``ttl``: seconds for which it is delivered; None for as long as the journal keeps it. Both are rounded
        up to milliseconds, at most 3,650 days. ``producer`` and ``number``: name of the producer and the event's number;
        an event with these is stored once, whichever client publishes it and whenever. The name has the form of a topic,
        at most 63 bytes, without ``/``. Numbers begin at 1 or more and ascend for each name and topic, best without gaps:
        one that was left out is refused later with SEQUENCE_GAP. With these options the event travels alone in its frame;
        a topic that is not durable is Refused with NO_JOURNAL, and a bus without durable topics with UNSUPPORTED.

        Raises IllegalTopic, TooBig, BufferFull (after ``block_timeout`` seconds, or at once with ``when_full="fail"``),
        Refused, TimedOut (an unsent event is withdrawn; of others the outcome is open, as the text says),
        ConnectionLost, Closed.
        """
        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        raw, schema = as_payload(payload, schema, codec)
        tail = durable_fields(expected, delay, ttl, producer, number)
        loop = self._loop
        begun = loop.time()
        waiter: asyncio.Future[Published] = loop.create_future()
        if self._blocked or not self._add(topic, raw, key, headers, published_at, schema, waiter, begun, tail):
            await self._wait_for_room(
                lambda: self._add(topic, raw, key, headers, published_at, schema, waiter, loop.time(), tail), timeout
            )
        self._sender.expect_confirm(loop.time())
        if not self._driver.woken:
            self._driver.wake()
        if timeout is None:
            return await waiter

        def late() -> None:
            if not waiter.done():
                waiter.set_exception(self._outbox.give_up(waiter, timeout))
                self._sender.announce_room()

        timer = loop.call_at(begun + timeout, late)
        try:
            return await waiter
        finally:
            timer.cancel()

    async def _wait_for_room(self, add: Callable[[], bool], timeout: float | None) -> None:
        """Waits for room; waiting publishes continue in their order."""
        self._sender.check_open()
        wait = self._options.block_timeout if self._options.when_full == "wait" else 0.0
        deadline = self._loop.time() + (wait if timeout is None else min(wait, timeout))
        turn: asyncio.Future[None] = self._loop.create_future()
        self._blocked.append(turn)
        try:
            while True:
                if self._blocked[0] is turn and add():
                    return
                left = deadline - self._loop.time()
                if left <= 0:
                    self._outbox.dropped_full += 1
                    raise BufferFull(
                        f"{self._outbox.used} of {self._outbox.bound} bytes wait to be sent or confirmed (outbound_bytes)"
                    )
                room = turn
                if self._blocked[0] is turn:
                    room = self._loop.create_future()
                    self._sender.when_room(room)
                await asyncio.wait([room], timeout=left)
                if room.done():
                    room.result()
        finally:
            first = self._blocked[0] is turn
            self._blocked.remove(turn)
            if first and self._blocked and not self._blocked[0].done():
                self._blocked[0].set_result(None)

    @overload
    def send(self, topic: str, payload: Payload, *, codec: None = None, **event: Unpack[EventOptions]) -> bool: ...

    @overload
    def send(self, topic: str, payload: T, *, codec: Codec[T], **event: Unpack[EventOptions]) -> bool: ...

    def send(
        self,
        topic: str,
        payload: Any,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        published_at: int | None = None,
        schema: int = 0,
        codec: Codec[Any] | None = None,
    ) -> bool:
        """Publishes an event without a confirmation; never blocks.

        Returns False if the outbound buffer is full and the event was not accepted: await :meth:`room`. Events under
        way may be lost with a connection, which ``on_dropped`` reports. Parameters and errors as of :meth:`publish`.
        """
        if type(payload) is not bytes or codec is not None:
            payload, schema = as_payload(payload, schema, codec)
        if not self._add(topic, payload, key, headers, published_at, schema):
            self._outbox.dropped_full += 1
            return False
        if not self._driver.woken:
            self._driver.wake()
        return True

    async def room(self) -> None:
        """Waits until half of the outbound buffer is free. Raises Closed."""
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._sender.when_room(waiter)
        await waiter

    async def flush(self, timeout: float = 30.0) -> None:
        """Waits until everything published before has reached every bus concerned, at most ``timeout`` seconds.

        Raises TimedOut, Refused, Closed.
        """
        check_range("timeout", timeout, 0, 3600, "s")
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._sender.flush(waiter, timeout, self._loop.time())
        await waiter

    # ---- Subscribing

    def subscribe(
        self,
        filter: str,
        *,
        group: str | None = None,
        overflow: Overflow = Overflow.BLOCK,
        handler: Handler | None = None,
        on_gap: GapListener | None = None,
        on_interruption: InterruptionListener | None = None,
        buffer_bytes: int | None = None,
    ) -> Subscription:
        """Subscribes to the topics that a filter selects. Await the result, or use ``async with``, to know that it is in
        force.

        ``group``: its members share the events, each of which goes to one of them, at most once. ``overflow``: policy
        of the bus when its queue for this client is full, and of this client beyond ``buffer_bytes``. ``handler`` is
        called with each event, in order; an awaitable that it returns is awaited before the next event of this
        subscription. ``on_handler_error`` reports its exceptions. ``on_gap`` is called with each Gap and
        ``on_interruption`` with each Interruption of this subscription, at its place among the events, in the task
        that reads them. An awaitable that it returns is awaited, its exceptions are logged. ``buffer_bytes``: maximum
        of bytes that wait for this subscription in this client, 4,096 or more, by default a quarter of
        ``receive_bytes``. Beyond it DROP_OLDEST and CONFLATE drop here, reported as a Gap, and DISCONNECT ends the
        connection as the bus does. BLOCK ignores it: its waiting events count in ``receive_bytes``.

        It outlives lost connections: events published meanwhile or under way may be missing, which
        ``on_interruption`` reports. A subscription without a handler ends when it is garbage. Raises IllegalTopic,
        ValueError, Closed.
        """
        problem = filter_problem(filter)
        if problem is not None:
            raise IllegalTopic(problem)
        if group is not None and (not group.strip() or len(group.encode()) > MAX_GROUP_BYTES):
            raise ValueError(f"group: {group!r} (expected: 1..{MAX_GROUP_BYTES} bytes of UTF-8, not blank)")
        if buffer_bytes is None:
            buffer_bytes = max(MIN_BUFFER, self._options.receive_bytes // 4)
        check_range("buffer_bytes", buffer_bytes, MIN_BUFFER, 1 << 40, "bytes", whole=True)
        machine = self._machine
        self._sender.check_open()
        core = SubscriptionState(machine.registry.next_id(), filter, group, Overflow(overflow), buffer_bytes)
        subscription = Subscription(self, core, handler, on_gap, on_interruption)
        reference = weakref.ref(subscription)

        def wake() -> None:
            found = reference()
            if found is not None:
                found._wake()

        core.wake = wake
        machine.registry.begin(core, self._loop.time())
        return subscription

    def _forget(self, core: SubscriptionState, taken: list[Item]) -> None:
        """Ends a subscription that is garbage, in any thread; ``taken`` are its unhandled items."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._forget_now, core, taken)

    def _forget_now(self, core: SubscriptionState, taken: list[Item]) -> None:
        self._machine.dispatcher.handled(taken, core)
        self._machine.dispatcher.drop_queue(core)
        self._machine.registry.unsubscribe(core, self._loop.time())
        self._machine.handled()

    def _on(self, kind: type, listener: Callable[[Any], object]) -> Callable[[], None]:
        return self._notices.on(kind, listener)

    def _tell(self, happening: object, /) -> None:
        self._notices.tell(happening)

    # ---- State

    @property
    def state(self) -> State:
        """Returns the state of the client."""
        return self._machine.state

    @property
    def connection(self) -> Connection | None:
        """Returns the current connection; None for none."""
        return self._machine.connection

    def counters(self) -> Counters:
        """Returns figures since the client was made."""
        return self._machine.counters()

    def __repr__(self) -> str:
        return f"EventBus(name={self._options.name!r}, state={self.state.name})"

    # ---- The end

    async def close(self, timeout: float | None = None) -> bool:
        """Ends the client: ends subscriptions and services first, then sends the buffered events and waits for
        confirmations, outcomes of requests, and handlers.

        ``timeout``: maximum wait in seconds, by default ``close_timeout``; 0 for none. Returns whether everything was
        sent, confirmed, answered and handled. No task of the client is left afterwards. A second call waits for the
        same end.
        """
        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        if self._closing is not None:
            return await asyncio.shield(self._closing)
        self._closing = self._loop.create_future()
        drained = False
        try:
            drained = await self._drain(self._options.close_timeout if timeout is None else timeout)
        finally:
            try:
                await self._end()
            finally:
                if not self._closing.done():
                    self._closing.set_result(drained)
        return drained

    async def _drain(self, timeout: float) -> bool:
        machine = self._machine
        if machine.state in (State.CLOSED, State.CONNECTING, State.NEW):
            return machine.state is State.CLOSED and machine.outbox.is_empty()
        until = self._loop.time() + timeout
        # Before anything is ended, because their handlers finish the events that they have.
        consumed = await self._stop_consuming(until)
        handlers = [s for s in self._handlers if s._task is not None and s._task is not asyncio.current_task()]
        handled = {s._core.id for s in handlers}
        for core in machine.dispatcher.subscriptions.values():
            # Received events can still be iterated over; later ones are for handlers only.
            core.dropping = core.id not in handled
        machine.drain(self._loop.time())
        self._driver.pump()
        if timeout > 0:
            try:
                async with asyncio.timeout_at(until):
                    await self._drained(handlers)
                return consumed
            except TimeoutError:
                return False
        return consumed and machine.outbox.is_empty()

    async def _drained(self, handlers: list[Subscription]) -> None:
        machine = self._machine
        waiting: list[asyncio.Future[None]] = []
        own = self._workers_of_this_task()
        for registration in machine.registry.all.values():
            if registration in own:
                # The bus waits for this handler, which waits here.
                continue
            waiting.append(self._loop.create_future())
            registration.drained.append(waiting[-1])
        waiting.append(self._loop.create_future())
        machine.calls.drain(waiting[-1], machine.closed_error)
        for waiter in waiting:
            await waiter
        # The end of a handler may start the next request that waits.
        while invocations := [t for t in self._invocations if t is not asyncio.current_task()]:
            await asyncio.wait(invocations)
        tasks = [s._task for s in handlers if s._task is not None]
        if tasks:
            await asyncio.wait(tasks)
        while not machine.outbox.is_settled() and machine.state is not State.CLOSED:
            await self.flush(3600)

    async def _end(self) -> None:
        self._driver.close()
        tasks = [s._task for s in self._handlers if s._task is not None] + list(self._invocations)
        tasks += [task for consumer in self._consuming for task in consumer._running()]
        tasks = [task for task in tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await self._driver.join(tasks)

    def __del__(self) -> None:
        machine = getattr(self, "_machine", None)
        if machine is None or machine.state in (State.NEW, State.CLOSED):
            return
        warnings.warn(f"{self!r} was not closed (expected: async with, or close)", ResourceWarning, 2, self)
        lost = self._outbox.unsettled()
        if lost:
            LOG.error("%r was not closed: %d events that it has published may be lost", self, lost)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close(0 if kind is not None and issubclass(kind, asyncio.CancelledError) else None)

    def _forked(self) -> None:
        """Closes the client in a child process, whose socket and loop belong to the parent."""
        self._outbox.closed = _forked
        self._machine.calls.drain(None, _forked)
        self._machine.state = State.CLOSED
