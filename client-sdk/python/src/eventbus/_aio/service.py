"""Services as applications see them, and the requests that their handlers get."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from .._api.answers import Answer, parts_of
from .._api.call_event import CallEvent
from .._api.checks import check_range
from .._api.errors import Closed, Rejected, TooBig
from .._api.options import Options
from .._api.payload import Payload
from .._api.service_options import ServiceCounters, ServiceOptions
from .._calls.failures import handler_failed, rejection
from .._calls.service_state import ReceivedRequest, ServiceState
from .._connection.machine import Machine
from .._outbound.outbox import Outbox
from .._wire.call_frames import Failure, FailureCode
from .subscription import within


class Invocation:
    """Request for the handler of a service. Any thread may use it."""

    def __init__(self, received: ReceivedRequest, loop: asyncio.AbstractEventLoop) -> None:
        self._received = received
        self._loop = loop

    @property
    def event(self) -> CallEvent:
        """Returns the event of the caller."""
        return self._received.event

    @property
    def service(self) -> str:
        """Returns the name of the service."""
        return self._received.service.name

    @property
    def method(self) -> str:
        """Returns the method; empty for none."""
        return self._received.method

    @property
    def caller(self) -> int:
        """Returns the producer number of the caller."""
        return self._received.key[0]

    @property
    def request(self) -> int:
        """Returns the number of the request: with ``caller`` the same when it is sent again."""
        return self._received.key[1]

    @property
    def identity(self) -> str:
        """Returns the authenticated name of the caller; empty without ``identify``, or if the caller has none."""
        return self._received.identity

    @property
    def attempt(self) -> int:
        """Returns the number of earlier attempts, by the caller or its bus."""
        return self._received.attempt

    @property
    def remaining(self) -> float:
        """Returns the seconds that the caller still waits; 0 after that."""
        return max(0.0, self._received.deadline - self._loop.time())

    @property
    def cancelled(self) -> bool:
        """Returns whether nobody waits for the answer any more. The handler may stop; its place is free when it has
        ended."""
        return self._received.cancelled

    def on_cancel(self, task: Callable[[], object]) -> None:
        """Runs a task when nobody waits for the answer any more: at once if that is so already, never after the answer.

        The task runs in the loop's thread, and must not block.
        """
        self._loop.call_soon_threadsafe(self._add, task)

    def _add(self, task: Callable[[], object]) -> None:
        received = self._received
        if received.cancelled and not received.answered:
            task()
        elif not received.answered:
            # Not inside of a call to the core.
            received.on_cancel.append(functools.partial(self._loop.call_soon, task))

    def __repr__(self) -> str:
        return f"Invocation(service={self.service!r}, method={self.method!r}, caller={self.caller}, request={self.request})"


#: Result of a handler.
Result = Payload | Answer
RequestHandler = Callable[[Invocation], Result | Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """The handler of a service raised an exception other than ``Rejected``, or returned an answer that cannot be sent;
    the caller gets a failure."""

    service: Service
    invocation: Invocation
    error: BaseException


class ServiceClient(Protocol):
    """Client of a service, as the service sees it."""

    _options: Options
    _loop: asyncio.AbstractEventLoop
    _machine: Machine
    _outbox: Outbox
    #: Tasks of handlers of services.
    _invocations: set[asyncio.Task[None]]

    def _tell(self, happening: object, /) -> None:
        """Reports a happening to the listeners of the application."""
        ...


class Service:
    """A service that this client is a member of; it outlives lost connections.

    ``await`` it, or enter it with ``async with``, to know that it is in force: from then on requests from anywhere reach it.
    """

    def __init__(self, client: ServiceClient, name: str, options: ServiceOptions, handler: RequestHandler) -> None:
        self._client = client
        self._handler = handler
        self._tasks: set[asyncio.Task[None]] = set()
        self._core = ServiceState(client._machine.registry.next_id(), name, options, self._start)

    @property
    def name(self) -> str:
        """Returns the name."""
        return self._core.name

    def counters(self) -> ServiceCounters:
        """Returns figures since the beginning."""
        return self._core.counters()

    def __repr__(self) -> str:
        return f"Service(name={self.name!r}, concurrency={self._core.options.concurrency})"

    # ---- Life

    def __await__(self) -> Generator[Any, None, Self]:
        return self._ready().__await__()

    async def _ready(self) -> Self:
        """Waits until the service is in force. Ends it on cancellation, and before it raises Refused, Closed or
        TimedOut."""
        core, client = self._core, self._client
        if core.ended:
            raise core.failure.with_traceback(None) if core.failure is not None else Closed(f"{core.what} is ended")
        if not core.confirmed:
            ready: asyncio.Future[None] = client._loop.create_future()
            core.ready.append(ready)
            client._machine.registry.settle_if_unserved(core)
            try:
                await within(ready, client._options.confirm_timeout, "the confirmation of a service")
            except BaseException:
                # The caller may not have it, and another try would be refused.
                client._machine.registry.unsubscribe(core, client._loop.time())
                client._machine.services.abandon(core)
                raise
        return self

    async def __aenter__(self) -> Self:
        return await self._ready()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close(0 if kind is not None and issubclass(kind, asyncio.CancelledError) else 10.0)

    def pause(self) -> None:
        """Takes no more requests until ``resume``; those that are here are answered."""
        self._set_paused(True)

    def resume(self) -> None:
        """Takes requests again."""
        self._set_paused(False)

    def _set_paused(self, paused: bool) -> None:
        core = self._core
        if core.paused is not paused:
            core.paused = paused
            if not core.ending:
                self._client._machine.registry.update(core, core.capacity_frame())

    async def close(self, timeout: float = 10.0) -> bool:
        """Ends the service: takes no more requests, and answers those that are here, for at most ``timeout`` seconds.

        Returns whether all are answered; handlers still at work are cancelled (``Invocation.cancelled``). Must not be
        awaited in the service's own handler.
        """
        check_range("timeout", timeout, 0, 3600, "s")
        machine, loop, core = self._client._machine, self._client._loop, self._core
        machine.registry.unsubscribe(core, loop.time())
        try:
            async with asyncio.timeout(timeout):
                await self._drained()
        except TimeoutError:
            machine.services.abandon(core)
            return False
        return True

    async def _drained(self) -> None:
        """Waits until no more requests come and all are answered."""
        core, loop = self._core, self._client._loop
        if not core.ended:
            drained: asyncio.Future[None] = loop.create_future()
            core.drained.append(drained)
            await drained
        idle: asyncio.Future[None] = loop.create_future()
        self._client._machine.services.when_idle(core, idle)
        await idle

    # ---- Answering

    def _start(self, received: ReceivedRequest) -> None:
        """Starts the handler for a request of the core."""
        task = self._client._loop.create_task(self._handle(received), name=f"eventbus service {self.name}")
        self._tasks.add(task)
        self._client._invocations.add(task)
        task.add_done_callback(self._end_of)

    def _end_of(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._client._invocations.discard(task)

    async def _handle(self, received: ReceivedRequest) -> None:
        client = self._client
        invocation = Invocation(received, client._loop)
        outcome: tuple[bytes, int] | Failure | None = None
        try:
            outcome = await self._outcome(invocation)
        except asyncio.CancelledError as e:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            outcome = self._failed(invocation, e)
        finally:
            if outcome is None:
                # The client has ended: nobody waits for an answer.
                client._machine.services.dropped(received)
            else:
                client._machine.services.done(received, outcome, client._loop.time())

    async def _outcome(self, invocation: Invocation) -> tuple[bytes, int] | Failure:
        try:
            result = self._handler(invocation)
            if inspect.isawaitable(result):
                result = await result
            payload, key, headers, published_at, schema = parts_of(result)
        except Rejected as e:
            return rejection(e)
        except Exception as e:
            return self._failed(invocation, e)
        try:
            return self._client._outbox.encode_for_call(payload, key, headers, published_at), schema
        except TooBig as e:
            self._tell(invocation, e)
            return handler_failed(FailureCode.TOO_BIG, f"the reply: {e}")
        except Exception as e:
            return self._failed(invocation, e)

    def _failed(self, invocation: Invocation, error: BaseException) -> Failure:
        self._tell(invocation, error)
        # Not its text, which may hold secrets.
        return handler_failed(FailureCode.FAILED, f"the member's handler failed with {type(error).__name__}")

    def _tell(self, invocation: Invocation, error: BaseException) -> None:
        self._client._machine.handler_failures += 1
        self._client._tell(RequestFailed(self, invocation, error))
