"""The half of a client on asyncio that consumes durable topics."""

from __future__ import annotations

import asyncio
import weakref

from .._api.checks import check_range
from .._api.durable import Start
from .._api.errors import IllegalTopic
from .._api.options import Options
from .._connection.machine import Machine
from .._durable.consumer_state import ConsumerSettings, ConsumerState
from .._wire.durable_frames import MAX_JOURNAL_BYTES
from .._wire.topics import filter_problem, topic_problem
from .durable import DurableSubscription, TruncatedListener
from .subscription import Handler

#: Minimum and maximum of ``buffer_bytes``.
MIN_BUFFER, MAX_BUFFER = 4096, 1 << 30


class Consuming:
    """See the module; subclasses set the declared attributes."""

    _options: Options
    _loop: asyncio.AbstractEventLoop
    _machine: Machine
    #: Consumers with a handler that runs.
    _consuming: set[DurableSubscription]
    #: End of the client; None while it is open.
    _closing: asyncio.Future[bool] | None

    def _tell(self, happening: object, /) -> None:
        """Reports a happening to the listeners of the application."""
        raise NotImplementedError

    def durable(
        self,
        name: str,
        filter: str = ">",
        *,
        start: Start = Start.NEW,
        handler: Handler | None = None,
        on_truncated: TruncatedListener | None = None,
        journal: str = "",
        buffer_bytes: int = 1 << 20,
    ) -> DurableSubscription:
        """Consumes stored events under a name: the bus remembers what is handled, and the next consumer goes on there.
        Await the result, or use ``async with``, to know that the bus has accepted it.

        ``name``: unique in its journal. Of several consumers of one name, in any client, one gets the events; the others
        stand by. ``filter``: by default all topics of the journal. ``start``: the first event, of no meaning for a
        durable subscription that exists. ``handler`` is called with each event, in the order of positions; an awaitable
        that it returns is awaited. The event is settled when it returns. After an exception, which ``on_consumer_error``
        reports, the same event comes again: after 1 s, 5 s, 30 s, and then every 2 min. ``on_truncated`` is called with
        each Truncated at its place among the events, and like the handler again after an exception. ``journal``: its
        name, not needed where a single journal has topics of the filter. ``buffer_bytes``: maximum of bytes that wait in
        this client, 4,096 to 1 GiB; the rest waits in the journal, and holds up nobody.

        Events that were handled shortly before a client ended without ``unsubscribe`` or ``close`` come again. A consumer
        without a handler ends when it is garbage. Raises IllegalTopic, ValueError, Closed.
        """
        if not name:
            raise IllegalTopic("name of the durable subscription: empty (expected: a name)")
        return self._consume(name, filter, start, handler, on_truncated, journal, buffer_bytes)

    def replay(
        self,
        filter: str = ">",
        *,
        start: Start,
        handler: Handler | None = None,
        on_truncated: TruncatedListener | None = None,
        journal: str = "",
        buffer_bytes: int = 1 << 20,
    ) -> DurableSubscription:
        """Consumes stored events without a name: begins where ``start`` says, goes on with what is stored later, and the
        bus remembers nothing. Parameters and errors as of :meth:`durable`."""
        return self._consume("", filter, start, handler, on_truncated, journal, buffer_bytes)

    def latest(
        self,
        filter: str = ">",
        *,
        handler: Handler | None = None,
        on_truncated: TruncatedListener | None = None,
        journal: str = "",
        buffer_bytes: int = 1 << 20,
    ) -> DurableSubscription:
        """Consumes the latest value of each topic, and then every change: only for a journal that keeps the latest values.
        Parameters and errors as of :meth:`durable`."""
        return self._consume("", filter, Start.LATEST_VALUES, handler, on_truncated, journal, buffer_bytes)

    def _consume(
        self,
        name: str,
        filter: str,
        start: Start,
        handler: Handler | None,
        on_truncated: TruncatedListener | None,
        journal: str,
        buffer_bytes: int,
    ) -> DurableSubscription:
        problem = filter_problem(filter)
        if problem is not None:
            raise IllegalTopic(problem)
        _check_name("durable subscription", name)
        _check_name("journal", journal)
        if not isinstance(start, Start):
            raise TypeError(f"start: {start!r} (expected: a Start)")
        check_range("buffer_bytes", buffer_bytes, MIN_BUFFER, MAX_BUFFER, "bytes", whole=True)
        machine = self._machine
        machine.sender.check_open()
        settings = ConsumerSettings(name=name, filter=filter, journal=journal, start=start, buffer_bytes=buffer_bytes)
        core = ConsumerState(machine.registry.next_id(), machine, settings)
        subscription = DurableSubscription(self, core, handler, on_truncated)
        reference = weakref.ref(subscription)

        def wake() -> None:
            found = reference()
            if found is not None:
                found._wake()

        core.wake = wake
        machine.registry.begin(core, self._loop.time())
        return subscription

    def _forget_consumer(self, core: ConsumerState) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._forget_consumer_now, core)

    def _forget_consumer_now(self, core: ConsumerState) -> None:
        core.stop()
        self._machine.registry.unsubscribe(core, self._loop.time())

    async def _stop_consuming(self, until: float) -> bool:
        """Stops all consumers; returns whether their handlers have finished the events that they had, and the bus was
        told, by then."""
        consumers = [s for s in self._consuming if s._task is not None and s._task is not asyncio.current_task()]
        for registration in list(self._machine.registry.all.values()):
            if isinstance(registration, ConsumerState):
                registration.stop()
        left = until - self._loop.time()
        if not consumers or left <= 0:
            return not consumers
        _, pending = await asyncio.wait([s._task for s in consumers if s._task is not None], timeout=left)
        return not pending


def _check_name(what: str, name: str) -> None:
    if not name:
        return
    problem = topic_problem(name)
    if problem is None and (n := len(name.encode())) > MAX_JOURNAL_BYTES:
        problem = f"{n} bytes (expected: at most {MAX_JOURNAL_BYTES})"
    if problem is not None:
        raise IllegalTopic(f"name of the {what}: {problem}")
