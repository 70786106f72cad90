"""The half of a client on asyncio that calls services and serves them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Unpack, overload

from .._api.answers import Response
from .._api.call_options import CallOptions, Retry
from .._api.errors import IllegalTopic
from .._api.options import Options
from .._api.payload import Codec, EventOptions, Payload, as_payload
from .._api.service_options import ServiceOptions
from .._connection.machine import Machine
from .._outbound.outbox import Outbox
from .._wire.call_frames import Priority
from .._wire.topics import service_problem
from .service import RequestHandler, Service

T = TypeVar("T")


class RequestOptions(EventOptions, total=False):
    """Options of a request; ``EventBus.request`` documents each."""

    method: str
    timeout: float
    wait_for: float
    idempotent: bool
    priority: Priority
    member: int
    retry: Retry | Literal[False] | None


class Calling:
    """See the module; subclasses set the declared attributes."""

    _options: Options

    def _tell(self, happening: object, /) -> None:
        """Reports a happening to the listeners of the application."""
        raise NotImplementedError

    _loop: asyncio.AbstractEventLoop
    _machine: Machine
    _outbox: Outbox
    #: Tasks of handlers of services.
    _invocations: set[asyncio.Task[None]]

    @overload
    async def request(
        self, service: str, payload: Payload = b"", *, codec: None = None, **options: Unpack[RequestOptions]
    ) -> Response: ...

    @overload
    async def request(
        self, service: str, payload: T, *, codec: Codec[T], **options: Unpack[RequestOptions]
    ) -> Response: ...

    async def request(
        self,
        service: str,
        payload: Any = b"",
        *,
        method: str = "",
        timeout: float = 30.0,
        wait_for: float = 0.0,
        idempotent: bool = False,
        priority: Priority = Priority.NORMAL,
        member: int = 0,
        retry: Retry | Literal[False] | None = None,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        published_at: int | None = None,
        schema: int = 0,
        codec: Codec[Any] | None = None,
    ) -> Response:
        """Sends a request to a service, of which a member answers. Cancelling the task cancels the request.

        ``service``: a name like a topic, at most 240 bytes. ``method``: of the service, at most 255 bytes.
        ``timeout``: seconds to wait for the answer, 0.001 to 600; after it the request is not sent, and no handler
        starts with it. Without a connection it waits in the client. ``wait_for``: seconds of the timeout during which
        the bus waits for a member of a service without one. ``idempotent``: whether the request may be executed more
        than once. Only then do the bus and this client send it again after it may have been executed; otherwise it is
        never executed twice. ``priority``: among waiting requests. ``member``: number of the only member to ask, from
        an earlier answer. ``retry``: retry policy of failures, False for none. By default a refused request that was
        not executed and has a retry-after time is sent again until ``timeout``; after other failures an idempotent
        request is tried three times in all, another one once. An idempotent request whose connection was lost is sent
        again in any case. ``payload``, ``key``, ``headers``, ``published_at``, ``schema``, ``codec``: as of
        ``publish``.

        Raises CallFailed, whose ``executed`` says whether a member has begun with the request, IllegalTopic, TooBig,
        Closed.
        """
        options = CallOptions(
            method=method, timeout=timeout, wait_for=wait_for, idempotent=idempotent, priority=Priority(priority),
            member=member, retry=retry,
        )  # fmt: skip
        raw, schema = as_payload(payload, schema, codec)
        event = self._outbox.encode_for_call(raw, key, headers, published_at)
        waiter: asyncio.Future[Response] = self._loop.create_future()
        call = self._machine.calls.request(service, event, schema, options, waiter, self._loop.time())
        try:
            return await waiter
        except asyncio.CancelledError:
            self._machine.calls.cancel(call, f"the caller has cancelled the request to {service}")
            raise

    def serve(
        self,
        service: str,
        handler: RequestHandler,
        *,
        concurrency: int = 16,
        identify: bool = False,
        version: str = "",
        metadata: Mapping[str, str] | None = None,
        remember_replies: int = 0,
        buffer_bytes: int = 16 << 20,
    ) -> Service:
        """Becomes a member of a service. Await the result, or use ``async with``, to know that it is in force.

        ``handler`` is called with each request, an ``Invocation``; its result, awaited if it is awaitable, is the
        answer: bytes, text, or an ``Answer``. To refuse, it raises ``Rejected``, which reaches the caller as it is.
        Of any other exception the caller learns only the class, and ``on_request_error`` reports it. ``concurrency``:
        maximum of requests that it works on at once; the bus sends a few more ahead, which wait in this client.
        ``identify``: whether ``Invocation.identity`` names the caller. ``version`` of the software, ``metadata``:
        for people and their tools. ``remember_replies``: number of last replies that are kept, so that a repeated
        request gets the same reply instead of being executed again. A request repeated while it is worked on gets
        that reply in any case. ``buffer_bytes``: maximum of bytes of requests that wait for the handler, and as much
        again of kept replies.

        Raises IllegalTopic, ValueError, Closed.
        """
        problem = service_problem(service)
        if problem is not None:
            raise IllegalTopic(problem)
        options = ServiceOptions(
            concurrency=concurrency, identify=identify, version=version, metadata=dict(metadata or {}),
            remember_replies=remember_replies, buffer_bytes=buffer_bytes,
        )  # fmt: skip
        self._machine.sender.check_open()
        served = Service(self, service, options, handler)
        self._machine.registry.begin(served._core, self._loop.time())
        return served
