"""Services without ``await``, whose handlers run in threads."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from .._aio.service import Invocation
from .._aio.service import Service as AioService
from .._api.service_options import ServiceCounters
from .portal import Portal
from .threads import Threads

#: Maximum of threads of a service.
MAX_THREADS = 1024


class Service:
    """A service that this client is a member of; it outlives lost connections. Ends with ``with`` or ``close``.

    Up to ``concurrency`` threads call the handler; each is started when it is first needed.
    """

    def __init__(self, portal: Portal, inner: AioService, threads: Threads) -> None:
        self._portal = portal
        self._inner = inner
        self._threads = threads

    @property
    def name(self) -> str:
        """Returns the name."""
        return self._inner.name

    def counters(self) -> ServiceCounters:
        """Returns figures since the beginning."""
        return self._inner.counters()

    def pause(self) -> None:
        """Takes no more requests until ``resume``; those that are here are answered."""
        self._portal.check()
        self._portal.loop.call_soon_threadsafe(self._inner.pause)

    def resume(self) -> None:
        """Takes requests again."""
        self._portal.check()
        self._portal.loop.call_soon_threadsafe(self._inner.resume)

    def close(self, timeout: float = 10.0) -> bool:
        """Ends the service, as :meth:`eventbus.Service.close`. Must not be called in the service's own handler."""
        try:
            return self._portal.call(self._inner.close(timeout))
        finally:
            self._threads.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(0 if kind is not None and issubclass(kind, KeyboardInterrupt) else 10.0)

    def __repr__(self) -> str:
        return f"eventbus.sync.{self._inner!r}"


def in_threads(handler: Callable[[Invocation], Any], threads: Threads) -> Callable[[Invocation], Any]:
    """Returns a handler for asyncio that runs a blocking one in threads."""

    async def handle(invocation: Invocation) -> Any:
        return await threads.run(handler, invocation)

    return handle
