"""The client on asyncio and websockets: drives the core, and is what applications call."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import random
import ssl as _ssl
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as _ws_connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from . import _dispatch
from ._dispatch import Gap
from ._errors import BufferFull, Closed, Error, IllegalTopic, NotConnected, Refused, TimedOut
from ._events import Event
from ._happenings import (
    BusChanged,
    BusChangeFailed,
    Connection,
    Counters,
    Disconnected,
    Dropped,
    ProducerChanged,
    Reconnecting,
    State,
    SubscriptionCounters,
)  # fmt: skip
from ._link import Link
from ._machine import MOST_GROUP_BYTES, MOST_MESSAGE, AskToken, Close, Command, Machine, Open, Ping
from ._options import Options, Reconnect, Token, WhenFull, check_range, check_token, urls_of
from ._outbox import Published
from ._topics import filter_problem
from ._version import AGENT
from ._wire import SUBPROTOCOL, BusCode, Malformed, Overflow

LOG = logging.getLogger("eventbus")

#: How long the bus may take to answer a Close.
CLOSE_ANSWER = 2.0
T = TypeVar("T")
Handler = Callable[[Event], object]
Payload = bytes | bytearray | memoryview | str


class Codec(Protocol):
    """Turns values into payloads; :class:`eventbus.avro.AvroCodec` is one."""

    #: CRC-64-AVRO fingerprint of the writer schema, signed; 0 for none.
    fingerprint: int

    def encode(self, value: Any, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class HandlerFailed:
    """A handler raised an exception; the subscription goes on with the next event."""

    subscription: Subscription
    event: Event
    error: Exception


_clients: weakref.WeakSet[EventBus] = weakref.WeakSet()


def _after_fork() -> None:
    for client in list(_clients):
        client._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Dial(_ws_connect):
    """A redirect could lead a token to a stranger."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class _Wire:
    """The tasks of one connection: one that connects and reads, one that writes."""

    def __init__(self, client: EventBus, link: Link, timeout: float) -> None:
        self.link = link
        self._client = client
        self._timeout = timeout
        self._ws: ClientConnection | None = None
        self._idle: asyncio.Future[None] | None = None
        self._resumed: asyncio.Future[None] | None = None
        self._closing: tuple[int, str] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._closer: asyncio.Task[None] | None = None
        self._reader = client._loop.create_task(self._run(), name=f"eventbus reader {link.url}")

    async def _run(self) -> None:
        client, link = self._client, self.link
        code, reason, retry_after = 1006, "", 0.0
        error: Error | None = None
        try:
            try:
                token = await client._token()
            except Exception as e:
                error = NotConnected(f"the token function failed: {type(e).__name__}")
                error.__cause__ = e
                reason = str(error)
                return
            options = client._options
            secure = link.url.startswith("wss:")
            try:
                ws = self._ws = await _Dial(
                    link.url,
                    subprotocols=[Subprotocol(SUBPROTOCOL)],
                    compression=None,
                    max_size=MOST_MESSAGE,
                    open_timeout=self._timeout,
                    close_timeout=CLOSE_ANSWER,
                    ping_interval=None,
                    user_agent_header=AGENT,
                    proxy=options.proxy,
                    ssl=options.ssl if secure else None,
                )
            except InvalidStatus as e:
                error, retry_after = _refused_upgrade(link.url, e)
                reason = str(error)
                return
            except (OSError, WebSocketException, TimeoutError, ValueError) as e:
                error = NotConnected(f"no connection to {link.url}: {e or type(e).__name__}")
                error.__cause__ = e
                reason = str(e) or type(e).__name__
                return
            if link.over:
                return
            if ws.subprotocol != SUBPROTOCOL:
                told = f"{link.url} speaks {ws.subprotocol or 'no sub-protocol'} (expected: {SUBPROTOCOL})"
                error, reason = Refused(BusCode.UNSUPPORTED, told, False), told
                return
            client._machine.opened(link, token, client._loop.time())
            self._writer = client._loop.create_task(self._write(ws), name=f"eventbus writer {link.url}")
            code, reason = await self._read(ws)
        finally:
            await self._finish(code, reason, error, retry_after)

    async def _read(self, ws: ClientConnection) -> tuple[int, str]:
        client, link = self._client, self.link
        machine, now, recv = client._machine, client._loop.time, ws.recv
        try:
            while True:
                message = await recv()
                if not isinstance(message, bytes):
                    self.close(1003, "a text message")
                    continue
                machine.receive(link, message, now())
                client._pump()
                if link.paused:
                    await self._pause()
        except ConnectionClosed as e:
            frame = e.rcvd or (e.sent if self._closing else None)
            return (frame.code, frame.reason) if frame is not None else (1006, str(e.__cause__ or ""))

    async def _pause(self) -> None:
        """Until the application has taken what came; the bus is held back by TCP."""
        while self.link.paused and not self.link.over:
            self._resumed = self._client._loop.create_future()
            await self._resumed
        self._client._machine.heard(self.link, self._client._loop.time())

    async def _write(self, ws: ClientConnection) -> None:
        link, machine, client = self.link, self._client._machine, self._client
        try:
            while True:
                message = machine.outgoing(link)
                if message is not None:
                    await ws.send(message)
                    machine.sent(link)
                    if machine.wake_at() is not client._timer_at:
                        client._wake()
                elif self._closing is not None:
                    return
                else:
                    self._idle = client._loop.create_future()
                    await self._idle
        except ConnectionClosed:
            pass  # the reader tells

    def wake(self) -> None:
        """There may be something to do."""
        for waiting in (self._idle, self._resumed if not self.link.paused or self.link.over else None):
            if waiting is not None and not waiting.done():
                waiting.set_result(None)

    def ping(self, behind: bool) -> None:
        if self._ws is not None:
            self._client._spawn(self._ping(self._ws, behind))

    async def _ping(self, ws: ClientConnection, behind: bool) -> None:
        client = self._client
        try:
            await (await ws.ping())
        except ConnectionClosed:
            return
        # The library wakes the reader for the messages before the Pong first, and that takes them without a pause.
        client._machine.heard(self.link, client._loop.time(), behind)
        if behind:
            client._pump()

    def close(self, code: int, reason: str) -> None:
        """Sends what is there, then Close; ends the connection within 2 s."""
        if self._closing is None:
            self._closing = code, reason
            self._closer = self._client._loop.create_task(self._close(code, reason), name="eventbus closer")

    async def _close(self, code: int, reason: str) -> None:
        self.wake()
        if self._writer is not None:
            await asyncio.wait([self._writer], timeout=CLOSE_ANSWER)
        if self._ws is not None:
            await self._ws.close(code, reason)
        else:
            self._reader.cancel()

    def abort(self) -> None:
        """Ends the connection, or the try to make one, at once."""
        if self._ws is not None:
            self._ws.transport.abort()
            self.wake()
        else:
            self._reader.cancel()

    async def _finish(self, code: int, reason: str, error: Error | None, retry_after: float) -> None:
        client, link = self._client, self.link
        if self._writer is not None:
            self._writer.cancel()
        client._wires.pop(link, None)
        client._machine.closed(link, code, reason, error, client._loop.time(), retry_after)
        client._pump()
        if self._ws is not None:
            self._ws.transport.abort()

    async def join(self) -> None:
        """Waits until all tasks have ended."""
        tasks = [t for t in (self._reader, self._writer, self._closer) if t is not None]
        await asyncio.wait(tasks)


def _refused_upgrade(url: str, e: InvalidStatus) -> tuple[Error, float]:
    """protocol.md#connecting: which answers are worth another try."""
    status = e.response.status_code
    text = (e.response.body or b"")[:300].decode("utf-8", "replace").strip()
    told = f"{url} answered {status}{': ' + text if text else ''}"
    if status >= 500:
        after = e.response.headers.get("Retry-After", "")
        return NotConnected(told), float(after) if after.isascii() and after.isdigit() else 0.0
    code = {403: BusCode.FORBIDDEN, 401: BusCode.UNAUTHENTICATED}.get(status, BusCode.UNSUPPORTED)
    return Refused(code, told, False), 0.0


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
            await _within(ready, self._client._options.confirm_timeout, "the confirmation of a subscription")
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
            self._client._machine.unsubscribe(core, self._client._loop.time())
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
                        client._tell(HandlerFailed(self, event, e))
            finally:
                self._busy = False


async def _within(future: asyncio.Future[T], timeout: float, what: str) -> T:
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


class Listeners:
    """What a client tells by itself. Each method returns the way out."""

    def on_connected(self, listener: Callable[[Connection], object]) -> Callable[[], None]:
        """Hears of each connection that a bus has welcomed."""
        return self._on(Connection, listener)

    def on_disconnected(self, listener: Callable[[Disconnected], object]) -> Callable[[], None]:
        """Hears of each connection that has ended."""
        return self._on(Disconnected, listener)

    def on_reconnecting(self, listener: Callable[[Reconnecting], object]) -> Callable[[], None]:
        """Hears of each planned try to reconnect."""
        return self._on(Reconnecting, listener)

    def on_bus_changed(self, listener: Callable[[BusChanged], object]) -> Callable[[], None]:
        """Hears when the client has gone on at another bus."""
        return self._on(BusChanged, listener)

    def on_bus_change_failed(self, listener: Callable[[BusChangeFailed], object]) -> Callable[[], None]:
        """Hears when the client should have gone to another bus and could not."""
        return self._on(BusChangeFailed, listener)

    def on_producer_changed(self, listener: Callable[[ProducerChanged], object]) -> Callable[[], None]:
        """Hears when the bus did not know this client any more."""
        return self._on(ProducerChanged, listener)

    def on_gap(self, listener: Callable[[Gap], object]) -> Callable[[], None]:
        """Hears of events that are missing, once for each: as soon as it is known, so that handlers may be at earlier ones."""
        return self._on(Gap, listener)

    def on_dropped(self, listener: Callable[[Dropped], object]) -> Callable[[], None]:
        """Hears of events published with ``send`` that are lost or may be."""
        return self._on(Dropped, listener)

    def on_problem(self, listener: Callable[[Error], object]) -> Callable[[], None]:
        """Hears what went wrong where no call waits for it. Without a listener it is logged."""
        return self._on(Error, listener)

    def on_handler_error(self, listener: Callable[[HandlerFailed], object]) -> Callable[[], None]:
        """Hears what handlers raise. Without a listener it is logged."""
        return self._on(HandlerFailed, listener)

    def _on(self, kind: type, listener: Callable[[Any], object]) -> Callable[[], None]:
        raise NotImplementedError


class EventBus(Listeners):
    """A client of an event bus; :func:`connect` makes one. For one thread: that of its event loop."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._loop = asyncio.get_running_loop()
        self._machine = Machine(options, AGENT, random.random, time.time_ns)
        self._machine.wake = self._wake
        self._outbox = self._machine.outbox
        self._wires: dict[Link, _Wire] = {}
        self._joining: set[asyncio.Task[Any]] = set()
        self._asking: asyncio.Task[None] | None = None
        self._handlers: set[Subscription] = set()
        self._listeners: dict[type, list[Callable[[Any], object]]] = {}
        self._pumping = False
        self._woken = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: float | None = None
        self._blocked: deque[asyncio.Future[None]] = deque()
        self._closing: asyncio.Future[bool] | None = None
        _clients.add(self)

    # ---- Publishing

    async def publish(
        self,
        topic: str,
        payload: Payload | Any,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        published_at: int | None = None,
        schema: int = 0,
        codec: Codec | None = None,
    ) -> Published:
        """Publishes an event and returns when the bus has handed it to the queues of all subscribers that it has.

        Events of one topic keep the order of the calls. The number is taken, and the event sent with the next message, when
        the coroutine first runs. A connection that is lost meanwhile changes nothing: the event is sent again with its number,
        and subscribers get it once. Cancelling stops the waiting only: the event is still sent.

        ``payload``: bytes, text (as UTF-8), or with ``codec`` any value that it encodes. ``published_at``: microseconds since
        1970, by default now. ``schema``: fingerprint of the payload's Avro schema.

        Raises IllegalTopic, TooBig, BufferFull (after ``block_timeout`` seconds, or at once with ``when_full="fail"``),
        Refused, TimedOut (after ``confirm_timeout``; the outcome is open), ConnectionLost, Closed.
        """
        raw, schema = as_payload(payload, schema, codec)
        loop = self._loop
        waiter: asyncio.Future[Published] = loop.create_future()
        if self._blocked or not self._outbox.add(topic, raw, key, headers, published_at, schema, waiter, loop.time()):
            await self._wait_for_room(
                lambda: self._outbox.add(topic, raw, key, headers, published_at, schema, waiter, loop.time())
            )
        self._machine.expect_confirm(loop.time())
        if not self._woken:
            self._wake()
        return await waiter

    async def _wait_for_room(self, add: Callable[[], bool]) -> None:
        """Publishes that wait go on in their order."""
        self._machine.check_open()
        wait = self._options.block_timeout if self._options.when_full == "wait" else 0.0
        deadline = self._loop.time() + wait
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
                    self._machine.when_room(room)
                await asyncio.wait([room], timeout=left)
                if room.done():
                    room.result()
        finally:
            first = self._blocked[0] is turn
            self._blocked.remove(turn)
            if first and self._blocked and not self._blocked[0].done():
                self._blocked[0].set_result(None)

    def send(
        self,
        topic: str,
        payload: Payload | Any,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        published_at: int | None = None,
        schema: int = 0,
        codec: Codec | None = None,
    ) -> bool:
        """Publishes an event without asking for a confirmation; never blocks.

        Returns False where the outbound buffer is full: nothing was taken; await :meth:`room`. What is under way when a
        connection is lost may be lost with it, which ``on_dropped`` tells. Parameters and errors as of :meth:`publish`.
        """
        if type(payload) is not bytes or codec is not None:
            payload, schema = as_payload(payload, schema, codec)
        if not self._outbox.add(topic, payload, key, headers, published_at, schema):
            self._outbox.dropped_full += 1
            return False
        if not self._woken:
            self._wake()
        return True

    async def room(self) -> None:
        """Waits until half of the outbound buffer is free. Raises Closed."""
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._machine.when_room(waiter)
        await waiter

    async def flush(self, timeout: float = 30.0) -> None:
        """Waits until everything published before has reached every bus concerned; for ``timeout`` seconds at most.

        Raises TimedOut, Refused, Closed.
        """
        check_range("timeout", timeout, 0, 3600, "s")
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._machine.flush(waiter, timeout, self._loop.time())
        await waiter

    # ---- Subscribing

    def subscribe(
        self,
        filter: str,
        *,
        group: str | None = None,
        overflow: Overflow = Overflow.BLOCK,
        handler: Handler | None = None,
    ) -> Subscription:
        """Subscribes to the topics that a filter selects. Await the result, or use ``async with``, to know that it is in force.

        ``group``: its members share the events. ``overflow``: what the bus does when its queue for this client is full.
        ``handler`` is called with each event, in order; what it returns is awaited if it can be, before the next event of this
        subscription. What it raises is told to ``on_handler_error``.

        It outlives lost connections. A subscription without a handler ends when nothing holds it any more. Raises IllegalTopic,
        ValueError, Closed.
        """
        problem = filter_problem(filter)
        if problem is not None:
            raise IllegalTopic(problem)
        if group is not None and (not group.strip() or len(group.encode()) > MOST_GROUP_BYTES):
            raise ValueError(f"group: {group!r} (expected: 1..{MOST_GROUP_BYTES} bytes of UTF-8, not blank)")
        machine = self._machine
        machine.check_open()
        core = _dispatch.Subscription(machine.take_id(), filter, group, Overflow(overflow))
        subscription = Subscription(self, core, handler)
        reference = weakref.ref(subscription)

        def wake() -> None:
            found = reference()
            if found is not None:
                found._wake()

        core.wake = wake
        machine.subscribe(core, self._loop.time())
        return subscription

    def _forget(self, core: _dispatch.Subscription) -> None:
        """Any thread: a subscription is not held any more."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._forget_now, core)

    def _forget_now(self, core: _dispatch.Subscription) -> None:
        self._machine.dispatcher.drop_queue(core)
        self._machine.unsubscribe(core, self._loop.time())
        self._machine.handled()

    # ---- What it tells

    def _on(self, kind: type, listener: Callable[[Any], object]) -> Callable[[], None]:
        listeners = self._listeners.setdefault(kind, [])
        listeners.append(listener)

        def out() -> None:
            if listener in listeners:
                listeners.remove(listener)

        return out

    def _tell(self, happening: object) -> None:
        kind = Error if isinstance(happening, Error) else type(happening)
        listeners = self._listeners.get(kind)
        if not listeners:
            if isinstance(happening, HandlerFailed):
                LOG.error(
                    "%r: a handler failed at %r", happening.subscription, happening.event, exc_info=happening.error
                )
            elif isinstance(happening, (Error, Dropped, Gap, BusChangeFailed, ProducerChanged)):
                LOG.warning("%s: %s", self._options.name, happening)
            return
        for listener in tuple(listeners):
            try:
                listener(happening)
            except Exception:
                LOG.exception("%s: a listener failed at %r", self._options.name, happening)

    # ---- What it is

    @property
    def state(self) -> State:
        """Where it is in its life."""
        return self._machine.state

    @property
    def connection(self) -> Connection | None:
        """What it is connected to; None for nothing now."""
        return self._machine.connection

    def counters(self) -> Counters:
        """What it has done so far."""
        return self._machine.counters()

    def __repr__(self) -> str:
        return f"EventBus(name={self._options.name!r}, state={self.state.name})"

    # ---- The end

    async def close(self, timeout: float | None = None) -> bool:
        """Ends the client: subscriptions first, then what is buffered goes out and is confirmed, and handlers finish.

        ``timeout``: seconds that this may take, by default ``close_timeout``; 0 for at once. Returns whether all was sent,
        confirmed and handled. No task of the client is left afterwards. Closing again waits for the same end.
        """
        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        if self._closing is None:
            self._closing = self._loop.create_future()
            try:
                drained = await self._drain(self._options.close_timeout if timeout is None else timeout)
            finally:
                await self._end()
                if not self._closing.done():
                    self._closing.set_result(False)
            self._closing = self._loop.create_future()
            self._closing.set_result(drained)
        return await asyncio.shield(self._closing)

    async def _drain(self, timeout: float) -> bool:
        machine = self._machine
        if machine.state in (State.CLOSED, State.CONNECTING, State.NEW):
            return machine.state is State.CLOSED and machine.outbox.is_empty()
        handlers = [s for s in self._handlers if s._task is not None and s._task is not asyncio.current_task()]
        handled = {s._core.id for s in handlers}
        for core in machine.dispatcher.subscriptions.values():
            # What has come can still be iterated over; what is still to come is for handlers only.
            core.dropping = core.id not in handled
        machine.drain(self._loop.time())
        self._pump()
        if timeout > 0:
            try:
                async with asyncio.timeout(timeout):
                    await self._drained(handlers)
                return True
            except TimeoutError:
                return False
        return machine.outbox.is_empty()

    async def _drained(self, handlers: list[Subscription]) -> None:
        machine = self._machine
        waiting: list[asyncio.Future[None]] = []
        for core in machine.dispatcher.subscriptions.values():
            waiting.append(self._loop.create_future())
            core.drained.append(waiting[-1])
        for waiter in waiting:
            await waiter
        tasks = [s._task for s in handlers if s._task is not None]
        if tasks:
            await asyncio.wait(tasks)
        while not machine.outbox.is_settled() and machine.state is not State.CLOSED:
            await self.flush(3600)

    async def _end(self) -> None:
        machine = self._machine
        machine.close(self._loop.time())
        self._pump()
        if self._asking is not None:
            self._asking.cancel()
        for subscription in tuple(self._handlers):
            task = subscription._task
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        tasks: list[asyncio.Task[Any]] = [*self._joining]
        tasks += [s._task for s in self._handlers if s._task is not None and s._task is not asyncio.current_task()]
        if tasks:
            await asyncio.wait(tasks)
        if self._timer is not None:
            self._timer.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close(0 if kind is not None and issubclass(kind, asyncio.CancelledError) else None)

    def _forked(self) -> None:
        """In a child process: its socket and its loop are the parent's."""
        self._outbox.closed = lambda: Closed("this client was made before a fork (expected: connect after the fork)")
        self._machine.state = State.CLOSED

    # ---- Driving the core

    async def _token(self) -> str | None:
        token = self._options.token
        if not callable(token):
            return token
        found = token()
        return check_token("what the token function returned", await found if inspect.isawaitable(found) else found)

    def _wake(self) -> None:
        """Something is to be done, at the end of this turn of the loop."""
        if not self._woken:
            self._woken = True
            self._loop.call_soon(self._pump)

    async def _renew(self, round_: int) -> None:
        """Asks for a new token, for as long as a connection may take."""
        machine, patience = self._machine, self._options.connect_timeout
        try:
            async with asyncio.timeout(patience) as scope:
                token = await self._token()
        except Exception as e:
            why = f"gave none within {patience:g} s" if scope.expired() else f"failed: {type(e).__name__}"
            error = (TimedOut if scope.expired() else NotConnected)(f"the token function {why}")
            error.__cause__ = e
            machine.no_token(round_, error, self._loop.time())
        else:
            machine.token(round_, token or "", self._loop.time())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._joining.add(task)
        task.add_done_callback(self._joining.discard)
        return task

    def _pump(self) -> None:
        """Does what the core asks for."""
        self._woken = False
        if self._pumping:
            return
        self._pumping = True
        machine = self._machine
        try:
            at = machine.wake_at()
            if at is not None and at <= self._loop.time():
                machine.tick(self._loop.time())
            while machine.commands:
                self._do(machine.commands.popleft())
            for wire in tuple(self._wires.values()):
                wire.wake()
            if machine.happenings:
                happened = list(machine.happenings)
                machine.happenings.clear()
                for happening in happened:
                    self._tell(happening)
            at = machine.wake_at()
            if at != self._timer_at:
                self._set_timer(at)
        finally:
            self._pumping = False
        if machine.commands or machine.happenings:
            self._wake()

    def _set_timer(self, at: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        self._timer = None if at is None else self._loop.call_at(at, self._on_time)

    def _on_time(self) -> None:
        self._timer_at = None
        self._timer = None
        self._machine.tick(self._loop.time())
        self._pump()

    def _do(self, command: Command) -> None:
        if isinstance(command, Open):
            wire = self._wires[command.link] = _Wire(self, command.link, command.timeout)
            self._spawn(wire.join())
            return
        if isinstance(command, AskToken):
            self._asking = self._spawn(self._renew(command.round))
            return
        found = self._wires.get(command.link)
        if found is None:
            return
        if isinstance(command, Close):
            found.close(command.code, command.reason)
        elif isinstance(command, Ping):
            found.ping(command.behind)
        else:
            found.abort()


def as_payload(payload: Any, schema: int, codec: Codec | None) -> tuple[bytes, int]:
    """Makes bytes of what an application publishes."""
    if codec is not None:
        return codec.encode(payload), codec.fingerprint
    if isinstance(payload, str):
        return payload.encode(), schema
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return bytes(payload), schema
    raise TypeError(f"payload: {type(payload).__name__} (expected: bytes or str, or a codec)")


class Connecting:
    """What :func:`connect` returns: ``await`` it, or enter it with ``async with``, which closes the client at its end."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._client: EventBus | None = None

    def __await__(self) -> Generator[Any, None, EventBus]:
        return self._connect().__await__()

    async def _connect(self) -> EventBus:
        client = self._client = EventBus(self._options)
        return await start(client)

    async def __aenter__(self) -> EventBus:
        return await self._connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.__aexit__(kind, error, trace)


async def start(client: EventBus) -> EventBus:
    """Makes the first connection of a client; leaves nothing behind where that fails."""
    first: asyncio.Future[None] = client._loop.create_future()
    client._machine.start(first, client._loop.time())
    client._pump()
    try:
        await first
    except BaseException:
        await client._end()
        raise
    return client


def connect(
    url: str | Sequence[str],
    *,
    name: str = "python-client",
    user: str | None = None,
    token: Token | None = None,
    attributes: Mapping[str, str] | None = None,
    connect_timeout: float = 10.0,
    confirm_timeout: float = 30.0,
    silence_timeout: float = 40.0,
    close_timeout: float = 10.0,
    reconnect: Reconnect | Literal[False] | None = None,
    outbound_bytes: int = 16 << 20,
    batch_bytes: int = 64 << 10,
    when_full: WhenFull = "wait",
    block_timeout: float = 30.0,
    receive_bytes: int = 4 << 20,
    tracked_producers: int = 100_000,
    ssl: _ssl.SSLContext | None = None,
    proxy: str | Literal[True] | None = True,
) -> Connecting:
    """Connects to a bus: ``async with connect(url) as bus`` or ``bus = await connect(url)``.

    ``url``: ``ws://host:port/bus`` or ``wss://…``; of several each is tried in turn.
    ``name``: for people, shown in the administration of the bus.
    ``user``: for a bus that has users; ``token`` is the password then.
    ``token``: what the client authenticates with, or a function that is asked at each connect and change of bus, and before what
    it gave expires; it may be asynchronous, must not block, and has ``connect_timeout`` seconds.
    ``attributes``: what else to tell the bus about this client.
    ``connect_timeout``: seconds for the first connection, and later for each try.
    ``confirm_timeout``: seconds that ``publish`` and a subscription wait for their confirmation.
    ``silence_timeout``: seconds after which a connection is given up on which nothing comes; it is asked at half of them.
    ``close_timeout``: seconds that ``close`` may drain.
    ``reconnect``: when to connect again; False for never.
    ``outbound_bytes``: bound of what waits to be sent or confirmed. ``batch_bytes``: of one message.
    ``when_full``: whether ``publish`` waits for room, for ``block_timeout`` seconds, or fails.
    ``receive_bytes``: bound of what was received and not handled, for the whole client (Credit).
    ``tracked_producers``: pairs of topic and producer whose last number is remembered.
    ``ssl``: for ``wss``, else the default context. ``proxy``: True for that of the environment, None for none.

    Raises ValueError and TypeError for what is out of range; when awaited NotConnected, TimedOut, Refused.
    """
    if reconnect is None:
        reconnect = Reconnect()
    elif reconnect is False:
        reconnect = Reconnect(max_attempts=0)
    return Connecting(
        Options(
            urls=urls_of(url), name=name, user=user, token=token, attributes=dict(attributes or {}),
            connect_timeout=connect_timeout, confirm_timeout=confirm_timeout, silence_timeout=silence_timeout,
            close_timeout=close_timeout, reconnect=reconnect, outbound_bytes=outbound_bytes, batch_bytes=batch_bytes,
            when_full=when_full, block_timeout=block_timeout, receive_bytes=receive_bytes,
            tracked_producers=tracked_producers, ssl=ssl, proxy=proxy,
        )
    )  # fmt: skip


__all__ = [
    "Awaitable", "Codec", "Connecting", "EventBus", "HandlerFailed", "Subscription", "connect",
]  # fmt: skip
