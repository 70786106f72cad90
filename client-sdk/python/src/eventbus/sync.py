"""The client without ``await``, for threads.

::

    with eventbus.sync.connect("ws://localhost:8080/bus") as bus:
        bus.publish("a.b", b"..", timeout=5)
        for event in bus.subscribe("a.>").events(timeout=5):
            ...

A daemon thread runs the event loop of all clients of the process. Any thread may call a client; one at a time may
iterate over a subscription. Events are handled in the thread that iterates, requests to services in threads of their
own; listeners are called in the loop's thread and must not block.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload

from ._aio.calling import RequestOptions
from ._aio.client import EventBus as AioEventBus
from ._aio.connect import connect as connect_aio
from ._aio.listeners import Listeners
from ._aio.service import Invocation, Result
from ._aio.service import Service as AioService
from ._aio.worker import Worker as AioWorker
from ._api.answers import Response
from ._api.checks import check_range
from ._api.durable import Start, Truncated
from ._api.happenings import Connection, Counters, Gap, Interruption, State
from ._api.options import ConnectOptions
from ._api.payload import Codec, EventOptions, Payload, PublishOptions, as_payload
from ._api.published import Published
from ._sync.durable import DurableSubscription
from ._sync.portal import Portal, the_portal
from ._sync.sending import Sending
from ._sync.service import MAX_THREADS, Service, in_threads
from ._sync.subscription import Subscription
from ._sync.threads import Threads
from ._sync.worker import WorkDelivery, Worker, WorkHandler
from ._sync.worker import in_threads as in_worker_threads
from ._wire.records import Overflow

T = TypeVar("T")

__all__ = ["DurableSubscription", "EventBus", "Service", "Subscription", "WorkDelivery", "Worker", "connect"]


def connect(url: str | Sequence[str], **options: Unpack[ConnectOptions]) -> EventBus:
    """Connects; the parameters and errors of :func:`eventbus.connect`. Use it with ``with``, or call ``close``.

    A ``token`` function may block: it is called in a thread of its own.
    """
    portal = the_portal()
    token = options.get("token")
    if callable(token):
        options["token"] = functools.partial(_ask, token)
    connecting = connect_aio(url, **options)
    return EventBus(portal, portal.call(connecting._connect()))


async def _ask(token: Callable[[], Any]) -> Any:
    """Calls a token function in a thread of its own, because nothing may block the loop of all clients."""
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


class EventBus(Listeners):
    """A client of an event bus; :func:`connect` makes one. Any thread may call it."""

    def __init__(self, portal: Portal, inner: AioEventBus) -> None:
        self._portal = portal
        self._inner = inner
        self._sending = Sending(portal, inner)
        self._threads: list[Threads] = []

    @overload
    def publish(
        self,
        topic: str,
        payload: Payload,
        *,
        codec: None = None,
        timeout: float | None = None,
        **event: Unpack[PublishOptions],
    ) -> Published: ...

    @overload
    def publish(
        self, topic: str, payload: T, *, codec: Codec[T], timeout: float | None = None, **event: Unpack[PublishOptions]
    ) -> Published: ...

    def publish(
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
        """Publishes an event, as :meth:`eventbus.EventBus.publish`, behind the events of earlier ``send`` calls."""
        options = self._inner._options

        async def work() -> Published:
            # Earlier events of ``send`` wait for room, too.
            wait = options.block_timeout + options.confirm_timeout if timeout is None else timeout
            left = await self._sending.empty(wait, "publish")
            return await self._inner.publish(
                topic, payload, key=key, headers=headers, published_at=published_at, schema=schema, codec=codec,
                expected=expected, delay=delay, ttl=ttl, producer=producer, number=number,
                timeout=None if timeout is None else left,
            )  # fmt: skip

        return self._portal.call(work())

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
        """Publishes an event, as :meth:`eventbus.EventBus.send`: never blocks, returns False if the buffer is full. The
        loop's thread encodes the event.

        ``on_problem`` reports a key or headers over a limit.
        """
        raw, schema = as_payload(payload, schema, codec)
        if self._portal.is_lost:
            self._portal.check()
        return self._sending.send(topic, raw, key, headers, published_at, schema)

    def room(self, timeout: float | None = None) -> None:
        """Waits until half of the outbound buffer is free. Raises TimedOut, Closed."""
        self._portal.call(self._inner.room(), timeout, "room")

    def flush(self, timeout: float = 30.0) -> None:
        """Waits until everything published before has reached every bus concerned. Raises TimedOut, Refused, Closed."""

        check_range("timeout", timeout, 0, 3600, "s")

        async def work() -> None:
            await self._inner.flush(await self._sending.empty(timeout, "flush"))

        self._portal.call(work())

    def subscribe(
        self,
        filter: str,
        *,
        group: str | None = None,
        overflow: Overflow = Overflow.BLOCK,
        on_gap: Callable[[Gap], object] | None = None,
        on_interruption: Callable[[Interruption], object] | None = None,
        buffer_bytes: int | None = None,
        timeout: float | None = None,
    ) -> Subscription:
        """Subscribes, as :meth:`eventbus.EventBus.subscribe`, without handlers; returns when the subscription is in
        force.

        ``on_gap`` and ``on_interruption`` are called in the thread that takes the events.
        """

        async def work() -> Subscription:
            inner = self._inner.subscribe(filter, group=group, overflow=overflow, buffer_bytes=buffer_bytes)
            subscription = Subscription(self._portal, inner, on_gap, on_interruption)
            await inner
            return subscription

        return self._portal.call(work(), timeout, "subscribe")

    def durable(
        self,
        name: str,
        filter: str = ">",
        *,
        start: Start = Start.NEW,
        on_truncated: Callable[[Truncated], object] | None = None,
        journal: str = "",
        buffer_bytes: int = 1 << 20,
        timeout: float | None = None,
    ) -> DurableSubscription:
        """Consumes stored events under a name, as :meth:`eventbus.EventBus.durable`, without handlers; returns when the bus
        has accepted the consumer, which may stand by then.

        ``on_truncated`` is called in the thread that takes the events.
        """

        async def work() -> DurableSubscription:
            inner = self._inner.durable(name, filter, start=start, journal=journal, buffer_bytes=buffer_bytes)
            return DurableSubscription(self._portal, await inner, on_truncated)

        return self._portal.call(work(), timeout, "durable")

    def replay(
        self,
        filter: str = ">",
        *,
        start: Start,
        on_truncated: Callable[[Truncated], object] | None = None,
        journal: str = "",
        buffer_bytes: int = 1 << 20,
        timeout: float | None = None,
    ) -> DurableSubscription:
        """Consumes stored events without a name, as :meth:`eventbus.EventBus.replay`; parameters of :meth:`durable`."""

        async def work() -> DurableSubscription:
            inner = self._inner.replay(filter, start=start, journal=journal, buffer_bytes=buffer_bytes)
            return DurableSubscription(self._portal, await inner, on_truncated)

        return self._portal.call(work(), timeout, "replay")

    def latest(
        self,
        filter: str = ">",
        *,
        on_truncated: Callable[[Truncated], object] | None = None,
        journal: str = "",
        buffer_bytes: int = 1 << 20,
        timeout: float | None = None,
    ) -> DurableSubscription:
        """Consumes the latest value of each topic, and then every change, as :meth:`eventbus.EventBus.latest`; parameters
        of :meth:`durable`."""
        return self.replay(
            filter, start=Start.LATEST_VALUES, on_truncated=on_truncated, journal=journal, buffer_bytes=buffer_bytes,
            timeout=timeout,
        )  # fmt: skip

    def work(
        self,
        name: str,
        filter: str = ">",
        *,
        start: Start = Start.NEW,
        handler: WorkHandler | None = None,
        concurrency: int = 1,
        max_unsettled: int = 256,
        ack_timeout: float = 30.0,
        max_attempts: int = 10,
        journal: str = "",
        buffer_bytes: int = 1 << 20,
        timeout: float | None = None,
    ) -> Worker:
        """Shares the stored events of a durable subscription with its other workers, as :meth:`eventbus.EventBus.work`;
        returns when the bus has accepted the worker.

        ``handler`` is called in as many threads as ``concurrency`` says, and may block.
        """
        threads = Threads(f"eventbus {name}")
        self._threads.append(threads)

        async def work() -> AioWorker:
            return await self._inner.work(
                name, filter, start=start, handler=None if handler is None else in_worker_threads(handler, threads, self._portal),
                concurrency=concurrency, max_unsettled=max_unsettled, ack_timeout=ack_timeout, max_attempts=max_attempts,
                journal=journal, buffer_bytes=buffer_bytes,
            )  # fmt: skip

        return Worker(self._portal, self._portal.call(work(), timeout, "work"), threads)

    @overload
    def request(
        self, service: str, payload: Payload = b"", *, codec: None = None, **options: Unpack[RequestOptions]
    ) -> Response: ...

    @overload
    def request(self, service: str, payload: T, *, codec: Codec[T], **options: Unpack[RequestOptions]) -> Response: ...

    def request(
        self, service: str, payload: Any = b"", *, codec: Codec[Any] | None = None, **options: Unpack[RequestOptions]
    ) -> Response:
        """Sends a request, as :meth:`eventbus.EventBus.request`, which documents the options, and waits for the answer;
        :meth:`submit` does not wait."""
        return self._portal.call(self._request(service, payload, codec, options))

    @overload
    def submit(
        self, service: str, payload: Payload = b"", *, codec: None = None, **options: Unpack[RequestOptions]
    ) -> Future[Response]: ...

    @overload
    def submit(
        self, service: str, payload: T, *, codec: Codec[T], **options: Unpack[RequestOptions]
    ) -> Future[Response]: ...

    def submit(
        self, service: str, payload: Any = b"", *, codec: Codec[Any] | None = None, **options: Unpack[RequestOptions]
    ) -> Future[Response]:
        """Sends a request with the parameters of :meth:`request`; cancelling the future cancels the request.

        Callbacks of the future run in the loop's thread, and must not block.
        """
        return self._portal.begin(self._request(service, payload, codec, options))

    def _request(
        self, service: str, payload: Any, codec: Codec[Any] | None, options: RequestOptions
    ) -> Coroutine[Any, Any, Response]:
        request: Callable[..., Coroutine[Any, Any, Response]] = self._inner.request
        return request(service, payload, codec=codec, **options)

    def serve(
        self,
        service: str,
        handler: Callable[[Invocation], Result],
        *,
        concurrency: int = 16,
        identify: bool = False,
        version: str = "",
        metadata: Mapping[str, str] | None = None,
        remember_replies: int = 0,
        buffer_bytes: int = 16 << 20,
        timeout: float | None = None,
    ) -> Service:
        """Becomes a member of a service, as :meth:`eventbus.EventBus.serve`; returns when it is in force.

        ``concurrency``, at most 1,024: the handler is called in as many threads, and may block.
        """
        check_range("concurrency", concurrency, 1, MAX_THREADS, "threads", whole=True)
        threads = Threads(f"eventbus {service}")
        self._threads.append(threads)

        async def work() -> AioService:
            served = self._inner.serve(
                service, in_threads(handler, threads), concurrency=concurrency, identify=identify, version=version,
                metadata=metadata, remember_replies=remember_replies, buffer_bytes=buffer_bytes,
            )  # fmt: skip
            return await served

        return Service(self._portal, self._portal.call(work(), timeout, "serve"), threads)

    @property
    def state(self) -> State:
        """Returns the state of the client."""
        return self._inner.state

    @property
    def connection(self) -> Connection | None:
        """Returns the current connection; None for none."""
        return self._inner.connection

    def counters(self) -> Counters:
        """Returns figures since the client was made."""
        counters = self._inner.counters()
        return replace(counters, buffered_bytes=counters.buffered_bytes + self._sending.bytes)

    def close(self, timeout: float | None = None) -> bool:
        """Ends the client, as :meth:`eventbus.EventBus.close`. Received events can still be iterated over."""

        if timeout is not None:
            check_range("timeout", timeout, 0, 3600, "s")
        try:
            return self._portal.call(self._sending.close(timeout))
        finally:
            self._sending.forget()
            for threads in self._threads:
                threads.close()
            self._threads.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(0 if kind is not None and issubclass(kind, KeyboardInterrupt) else None)

    def __del__(self) -> None:
        # The loop runs until the program ends, because its objects may still be in use.
        sending = getattr(self, "_sending", None)
        if sending is not None and not sending.portal.is_lost and sending.inner.state is not State.CLOSED:
            warnings.warn(f"{self!r} was not closed (expected: with, or close)", ResourceWarning, 2, self)

    def __repr__(self) -> str:
        return f"eventbus.sync.{self._inner!r}"

    def _on(self, kind: type, listener: Callable[[Any], object]) -> Callable[[], None]:
        return self._inner._on(kind, listener)
