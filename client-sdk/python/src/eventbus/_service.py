"""What an application holds of a service that it serves, and what its handlers get."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ._call_events import Answer, CallEvent, parts_of
from ._call_failures import handler_failed, rejection
from ._call_frames import Failure, FailureCode
from ._checks import check_range
from ._errors import Closed, Rejected, TooBig
from ._payload import Payload
from ._received_request import ReceivedRequest
from ._service_core import ServiceCore, ServiceCounters, ServiceOptions
from ._subscription import within

if TYPE_CHECKING:
    from ._calling import Calling


class Invocation:
    """A request as the member sees it that is to answer it. Any thread may use it."""

    def __init__(self, received: ReceivedRequest, loop: asyncio.AbstractEventLoop) -> None:
        self._received = received
        self._loop = loop

    @property
    def event(self) -> CallEvent:
        """What the caller sends."""
        return self._received.event

    @property
    def service(self) -> str:
        """The service that is called."""
        return self._received.service.name

    @property
    def method(self) -> str:
        """What the service is to do; empty for none."""
        return self._received.method

    @property
    def caller(self) -> int:
        """Who calls: a producer number."""
        return self._received.key[0]

    @property
    def request(self) -> int:
        """Which of the caller's requests this is: with ``caller`` the same when it comes again."""
        return self._received.key[1]

    @property
    def identity(self) -> str:
        """The name that the caller has proved to its bus; empty without ``identify``, or if it has none."""
        return self._received.identity

    @property
    def attempt(self) -> int:
        """How often the request was sent or given to a member before."""
        return self._received.attempt

    @property
    def remaining(self) -> float:
        """Seconds that the caller still waits; 0 after that."""
        return max(0.0, self._received.deadline - self._loop.time())

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more. The handler may stop; its place is free when it has ended."""
        return self._received.cancelled

    def on_cancel(self, task: Callable[[], object]) -> None:
        """Has a task run when nobody waits for the answer any more, at once if that is so already, never after the
        answer.

        It runs in the loop's thread, and must not block.
        """
        self._loop.call_soon_threadsafe(self._add, task)

    def _add(self, task: Callable[[], object]) -> None:
        received = self._received
        if received.cancelled and not received.answered:
            task()
        elif not received.answered:
            # Not in the middle of what the core does.
            received.on_cancel.append(functools.partial(self._loop.call_soon, task))

    def __repr__(self) -> str:
        return f"Invocation(service={self.service!r}, method={self.method!r}, caller={self.caller}, request={self.request})"


#: What a handler answers.
Result = Payload | Answer
RequestHandler = Callable[[Invocation], Result | Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """The handler of a service raised what is no ``Rejected``, or answered what cannot be sent; the caller is told so."""

    service: Service
    invocation: Invocation
    error: BaseException


class Service:
    """A service that this client is a member of; it outlives lost connections.

    ``await`` it, or enter it with ``async with``, to know that it is in force: from then on requests from anywhere reach it.
    """

    def __init__(self, client: Calling, name: str, options: ServiceOptions, handler: RequestHandler) -> None:
        self._client = client
        self._handler = handler
        self._tasks: set[asyncio.Task[None]] = set()
        self._core = ServiceCore(client._machine.registry.next_id(), name, options, self._start)

    @property
    def name(self) -> str:
        """The name."""
        return self._core.name

    def counters(self) -> ServiceCounters:
        """What has happened to it so far."""
        return self._core.counters()

    def __repr__(self) -> str:
        return f"Service(name={self.name!r}, concurrency={self._core.options.concurrency})"

    # ---- Its life

    def __await__(self) -> Generator[Any, None, Self]:
        return self._ready().__await__()

    async def _ready(self) -> Self:
        """Waits until it is in force. Raises Refused, Closed, TimedOut; it is ended then, as where this is cancelled."""
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
                # Nobody may hold it, and whoever tries again would be refused.
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
        """Takes no more requests until ``resume``; those that are here already are answered."""
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
        """Ends it: takes no more requests, and answers those that are here, for ``timeout`` seconds at most.

        Returns whether all are answered; handlers that are at work still learn that nobody waits (``Invocation.cancelled``).
        Must not be awaited in the service's own handler.
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
        """Waits until nothing more comes and what came is answered."""
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
        """The core begins with a request."""
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
                # Its client has ended: there is nobody to answer.
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
        # Not its text: that may hold what is not the caller's to know.
        return handler_failed(FailureCode.FAILED, f"the member's handler failed with {type(error).__name__}")

    def _tell(self, invocation: Invocation, error: BaseException) -> None:
        self._client._machine.handler_failures += 1
        self._client._notices.tell(RequestFailed(self, invocation, error))
