"""The same client without ``await``, for threads.

::

    with eventbus.sync.connect("ws://localhost:8080/bus") as bus:
        bus.publish("a.b", b"..", timeout=5)
        for event in bus.subscribe("a.>").events(timeout=5):
            ...

One daemon thread runs the event loop of all clients of the process. Any thread may call a client; one at a time may iterate over
a subscription. Events are handled in the thread that iterates, listeners are called in the loop's thread and must not block.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import TimeoutError as _TimeoutError
from typing import Any, Self, TypeVar

from . import _aio, _connect, _subscription
from ._errors import Closed, Error, TimedOut
from ._events import Event
from ._happenings import Connection, Counters, State, SubscriptionCounters
from ._listeners import Listeners
from ._options import check_range
from ._outbox import Published
from ._payload import Codec, as_payload
from ._publish_frame import HEAD, OVERHEAD
from ._wire import Overflow

__all__ = ["EventBus", "Subscription", "connect"]

T = TypeVar("T")


class _Portal:
    """The thread with the event loop; after a fork there is none in the child."""

    def __init__(self) -> None:
        self.is_lost = False
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="eventbus", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def check(self) -> None:
        if self.is_lost:
            raise Closed("this client was made before a fork (expected: connect after the fork)")
        if threading.current_thread() is self._thread:
            raise RuntimeError("called in the client's own thread, which would wait for itself (expected: another one)")

    def call(self, work: Coroutine[Any, Any, T], timeout: float | None = None, what: str = "") -> T:
        """Runs a coroutine in the loop and waits for it, for so many seconds at most."""
        try:
            self.check()
            if timeout is not None:
                check_range("timeout", timeout, 0, 3600, "s")
        except BaseException:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(timeout)
        except _TimeoutError:
            if future.done():  # its own
                raise
            future.cancel()
            raise TimedOut(f"{what} did not end within {timeout:g} s; the outcome is open") from None
        except BaseException:
            future.cancel()
            raise


_lock = threading.Lock()
_portal: _Portal | None = None


def _the_portal() -> _Portal:
    global _portal
    with _lock:
        if _portal is None:
            _portal = _Portal()
        return _portal


def _after_fork() -> None:
    global _portal, _lock
    _lock = threading.Lock()
    if _portal is not None:
        _portal.is_lost = True
        _portal = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def connect(url: Any, **options: Any) -> EventBus:
    """Connects; the parameters and errors of :func:`eventbus.connect`. Use it with ``with``, or call ``close``.

    A ``token`` function may block: it is called in a thread of its own.
    """
    portal = _the_portal()
    token = options.get("token")
    if callable(token):
        options["token"] = functools.partial(_ask, token)
    connecting = _connect.connect(url, **options)
    return EventBus(portal, portal.call(connecting._connect()))


async def _ask(token: Callable[[], Any]) -> Any:
    """The loop is that of all clients of the process: nothing may block it."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)

    def run() -> None:
        try:
            result, error = token(), None
        except Exception as e:
            result, error = None, e
        loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="eventbus token", daemon=True).start()
    found = await answer
    return await found if inspect.isawaitable(found) else found


class Subscription:
    """Events that a filter selects: ``events``, or ``batches``, which is faster. Ends with ``with`` or ``unsubscribe``."""

    def __init__(self, portal: _Portal, inner: _subscription.Subscription) -> None:
        self._portal = portal
        self._inner = inner
        self._arrived: queue.SimpleQueue[tuple[list[Event], list[Any], Error | None]] = queue.SimpleQueue()
        self._taken: list[Any] = []
        self._ended = False
        # What waits here is bounded by the client's receive_bytes: it counts until it is handled.
        self._feeder = asyncio.run_coroutine_threadsafe(_feed(inner, self._arrived), portal.loop)

    @property
    def filter(self) -> str:
        """The filter."""
        return self._inner.filter

    @property
    def group(self) -> str | None:
        """The group whose members share the events; None for none."""
        return self._inner.group

    def counters(self) -> SubscriptionCounters:
        """What it has got so far."""
        return self._inner.counters()

    def batches(self, timeout: float | None = None) -> Iterator[list[Event]]:
        """Iterates over what has come, at most 1,000 events at a time; a batch is handled when the next one is asked for.

        ``timeout``: seconds to wait for one, None for ever. Raises TimedOut, after which it can be iterated over again.
        """
        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        while not self._ended:
            self._portal.check()
            self._handled()
            try:
                batch, self._taken, error = self._arrived.get(timeout=timeout)
            except queue.Empty:
                raise TimedOut(f"no event of {self.filter} within {timeout:g} s") from None
            if not batch:
                self._ended = True
                if error is not None:
                    raise error
                return
            yield batch

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """Iterates over events; as ``batches``."""
        for batch in self.batches(timeout):
            yield from batch

    __iter__ = events

    def _handled(self) -> None:
        taken, self._taken = self._taken, []
        if taken:
            self._portal.loop.call_soon_threadsafe(self._inner.finish, taken)

    def unsubscribe(self, timeout: float | None = 10.0) -> None:
        """Ends it: drops what was not taken, and returns when nothing more comes. Ending it again does nothing."""
        self._handled()
        self._portal.call(self._inner.unsubscribe(), timeout, "unsubscribe")
        while True:
            try:
                _, cursors, _ = self._arrived.get_nowait()
            except queue.Empty:
                break
            self._portal.loop.call_soon_threadsafe(self._inner.finish, cursors)
        self._arrived.put(([], [], None))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.unsubscribe()

    def __del__(self) -> None:
        feeder = getattr(self, "_feeder", None)
        if feeder is not None and not feeder.done() and not self._portal.is_lost:
            feeder.cancel()


async def _feed(
    inner: _subscription.Subscription, into: queue.SimpleQueue[tuple[list[Event], list[Any], Error | None]]
) -> None:
    while True:
        try:
            batch, cursors = await inner.take_unhandled(1000)
        except Error as e:
            into.put(([], [], e))
            return
        into.put((batch, cursors, None))
        if not batch:
            return


class EventBus(Listeners):
    """A client of an event bus; :func:`connect` makes one. Any thread may call it."""

    def __init__(self, portal: _Portal, inner: _aio.EventBus) -> None:
        self._portal = portal
        self._inner = inner
        self._outbox = inner._outbox
        self._lock = threading.Lock()
        self._sends: deque[tuple[Any, ...]] = deque()
        self._send_bytes = 0
        self._scheduled = False

    def publish(
        self,
        topic: str,
        payload: Any,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        published_at: int | None = None,
        schema: int = 0,
        codec: Codec | None = None,
        timeout: float | None = None,
    ) -> Published:
        """As :meth:`eventbus.EventBus.publish`; ``timeout`` in seconds, by default ``confirm_timeout`` decides."""

        async def work() -> Published:
            while self._sends:
                await self._inner.room()
                self._hand_over()
            return await self._inner.publish(
                topic, payload, key=key, headers=headers, published_at=published_at, schema=schema, codec=codec
            )

        return self._portal.call(work(), timeout, "publish")

    def send(
        self,
        topic: str,
        payload: Any,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        published_at: int | None = None,
        schema: int = 0,
        codec: Codec | None = None,
    ) -> bool:
        """As :meth:`eventbus.EventBus.send`: never blocks, False where the buffer is full. The loop's thread encodes the event.

        A key or headers over a limit are told to ``on_problem``.
        """
        raw, schema = as_payload(payload, schema, codec)
        if self._portal.is_lost:
            self._portal.check()
        self._outbox.check(topic, len(raw))
        cost = len(raw) + len(key or "") + HEAD + OVERHEAD
        with self._lock:
            if self._outbox.used + self._send_bytes + cost > self._outbox.bound:
                self._outbox.dropped_full += 1
                return False
            self._send_bytes += cost
            self._sends.append((cost, topic, raw, key, headers, published_at, schema))
            if self._scheduled:
                return True
            self._scheduled = True
        self._portal.loop.call_soon_threadsafe(self._hand_over)
        return True

    def _hand_over(self) -> None:
        """In the loop: gives what was sent to the client, in its order."""
        with self._lock:
            self._scheduled = False
        while self._sends:
            cost, topic, *event = self._sends[0]
            try:
                taken = self._outbox.add(topic, *event)
            except Exception as e:
                self._inner._notices.tell(e if isinstance(e, Error) else Closed(f"not sent: {e}"))
                taken = True
            if not taken:
                waiter: asyncio.Future[None] = self._inner._loop.create_future()
                waiter.add_done_callback(self._on_room)
                self._inner._machine.when_room(waiter)
                break
            self._sends.popleft()
            with self._lock:
                self._send_bytes -= cost
        self._inner._driver.wake()

    def _on_room(self, waiter: asyncio.Future[None]) -> None:
        if waiter.exception() is None:
            self._hand_over()

    def room(self, timeout: float | None = None) -> None:
        """Waits until half of the outbound buffer is free. Raises TimedOut, Closed."""
        self._portal.call(self._inner.room(), timeout, "room")

    def flush(self, timeout: float = 30.0) -> None:
        """Waits until everything published before has reached every bus concerned. Raises TimedOut, Refused, Closed."""

        async def work() -> None:
            while self._sends:
                await self._inner.room()
                self._hand_over()
            await self._inner.flush(timeout)

        self._portal.call(work())

    def subscribe(
        self,
        filter: str,
        *,
        group: str | None = None,
        overflow: Overflow = Overflow.BLOCK,
        timeout: float | None = None,
    ) -> Subscription:
        """As :meth:`eventbus.EventBus.subscribe`, without handlers; returns when the subscription is in force."""

        async def work() -> _subscription.Subscription:
            return await self._inner.subscribe(filter, group=group, overflow=overflow)

        return Subscription(self._portal, self._portal.call(work(), timeout, "subscribe"))

    @property
    def state(self) -> State:
        """Where it is in its life."""
        return self._inner.state

    @property
    def connection(self) -> Connection | None:
        """What it is connected to; None for nothing now."""
        return self._inner.connection

    def counters(self) -> Counters:
        """What it has done so far."""
        return self._inner.counters()

    def close(self, timeout: float | None = None) -> bool:
        """As :meth:`eventbus.EventBus.close`. Events that were not iterated over yet can still be taken."""

        async def work() -> bool:
            self._hand_over()
            return await self._inner.close(timeout)

        return self._portal.call(work())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"eventbus.sync.{self._inner!r}"

    def _on(self, kind: type, listener: Callable[[Any], object]) -> Callable[[], None]:
        return self._inner._on(kind, listener)
