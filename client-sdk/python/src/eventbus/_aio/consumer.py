"""What all consumers of durable topics have on asyncio."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from typing import Any, Generic, Protocol, Self, TypeVar

from .._api.errors import Closed, Error
from .._api.options import Options
from .._connection.machine import Machine
from .._durable.fed_consumer import FedConsumer
from .subscription import within

C = TypeVar("C", bound=FedConsumer)


class ConsumerClient(Protocol):
    """Client of a consumer, as the consumer sees it."""

    _options: Options
    _loop: asyncio.AbstractEventLoop
    _machine: Machine
    #: Consumers with handlers that run, or may.
    _consuming: set[Consumer[Any]]
    #: End of the client; None while it is open.
    _closing: asyncio.Future[bool] | None

    def _tell(self, happening: object, /) -> None:
        """Reports a happening to the listeners of the application."""
        ...

    def _forget_consumer(self, core: FedConsumer) -> None:
        """Ends a consumer that is garbage, in any thread."""
        ...


class Consumer(ABC, Generic[C]):
    """See the module."""

    def __init__(self, client: ConsumerClient, core: C, is_handled: bool) -> None:
        self._client = client
        self._core = core
        self._is_handled = is_handled
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def filter(self) -> str:
        """Returns the filter."""
        return self._core.settings.filter

    @abstractmethod
    def _running(self) -> list[asyncio.Task[None]]:
        """Returns the tasks of its handlers."""

    # ---- Life

    def __await__(self) -> Generator[Any, None, Self]:
        return self._ready().__await__()

    async def _ready(self) -> Self:
        """Waits until the bus has accepted the consumer. Ends it on cancellation, and before it raises Refused, Closed or
        TimedOut."""
        core, registry = self._core, self._client._machine.registry
        if core.ended:
            raise self._end_error()
        if not core.confirmed:
            ready: asyncio.Future[None] = self._client._loop.create_future()
            core.ready.append(ready)
            registry.settle_if_unserved(core)
            try:
                await within(ready, self._client._options.confirm_timeout, "the confirmation of a consumer")
            except BaseException:
                # The caller may not have it, and another try would be behind it.
                self._stop()
                raise
        return self

    async def __aenter__(self) -> Self:
        return await self._ready()

    async def __aexit__(self, *exc: object) -> None:
        await self.unsubscribe()

    @abstractmethod
    async def unsubscribe(self) -> None:
        """Ends the consumer."""

    def _stop(self) -> None:
        """Takes no more, and tells the bus."""
        self._core.stop()
        self._client._machine.registry.unsubscribe(self._core, self._client._loop.time())

    async def _end(self) -> None:
        """Tells the bus, and waits for its answer."""
        core = self._core
        if not core.ended:
            drained: asyncio.Future[None] = self._client._loop.create_future()
            core.drained.append(drained)
            self._client._machine.registry.unsubscribe(core, self._client._loop.time())
            await drained

    def __del__(self) -> None:
        # Other consumers of its name would wait for what it has.
        client = getattr(self, "_client", None)
        if client is not None and not self._is_handled and not self._core.ended and not self._core.ending:
            client._forget_consumer(self._core)

    def _end_error(self) -> Error:
        failure = self._core.failure
        return failure.with_traceback(None) if failure is not None else Closed("the consumer is ended")

    # ---- Waiting

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    async def _wait(self, until: float | None, late: Callable[[], Error] | None) -> None:
        """Waits until something has arrived, or until a time."""
        loop = self._client._loop
        waiting: asyncio.Future[None] = loop.create_future()
        self._waiting.add(waiting)

        def end() -> None:
            if not waiting.done():
                if late is None:
                    waiting.set_result(None)
                else:
                    waiting.set_exception(late())

        timer = None if until is None else loop.call_at(until, end)
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)
            if timer is not None:
                timer.cancel()
