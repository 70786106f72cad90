"""The half of a client on asyncio that consumes durable topics."""

from __future__ import annotations

import asyncio
import math
import weakref
from typing import Any, TypeVar

from .._api.checks import check_range
from .._api.durable import Start
from .._api.errors import IllegalTopic
from .._api.options import Options
from .._connection.machine import Machine
from .._durable.consumer_state import ConsumerState
from .._durable.fed_consumer import ConsumerSettings, FedConsumer
from .._durable.worker_state import WorkerSettings, WorkerState
from .._wire.durable_frames import MAX_JOURNAL_BYTES
from .._wire.topics import filter_problem, topic_problem
from .consumer import Consumer
from .durable import DurableSubscription, TruncatedListener
from .subscription import Handler
from .worker import Worker, WorkHandler

C = TypeVar("C", bound=Consumer[Any])

#: Minimum and maximum of ``buffer_bytes``.
MIN_BUFFER, MAX_BUFFER = 4096, 1 << 30
#: Maximum of ``concurrency``.
MAX_CONCURRENCY = 1000


class Consuming:
    """See the module; subclasses set the declared attributes."""

    _options: Options
    _loop: asyncio.AbstractEventLoop
    _machine: Machine
    #: Consumers with handlers that run, or may.
    _consuming: set[Consumer[Any]]
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
        _check_named(name)
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
        _check(name, filter, start, journal, buffer_bytes)
        machine = self._machine
        machine.sender.check_open()
        settings = ConsumerSettings(name=name, filter=filter, journal=journal, start=start, buffer_bytes=buffer_bytes)
        core = ConsumerState(machine.registry.next_id(), machine, settings)
        return self._begin(DurableSubscription(self, core, handler, on_truncated))

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
    ) -> Worker:
        """Shares the stored events of a durable subscription with its other workers, in any client: each event is given to
        one of them, until one has settled it. Await the result, or use ``async with``, to know that the bus has accepted
        it.

        ``name``, ``filter``, ``start`` and ``journal``: as of :meth:`durable`, without ``Start.LATEST_VALUES``.
        ``handler`` is called with each event and its :class:`WorkDelivery`, in no order that can be relied on; an awaitable
        that it returns is awaited. The event is done when it returns, unless the delivery was settled otherwise. After an
        exception, which ``on_worker_error`` reports, it comes again, to some worker, after a pause that the bus chooses.
        Without a handler the worker is iterated over, and settles nothing by itself. ``concurrency``: handlers at once, 1
        to 1,000. ``max_unsettled``: events that this worker may have and has not settled, 1 to 1,024; fewer spread the
        events better. ``ack_timeout``: seconds, 1 to 43,200, after which an event that is not settled goes to another
        worker; they begin when the application gets it, and an event that waits in this client for half of them goes back
        to the bus. ``max_attempts``: deliveries of an event that may fail, 1 to 1,000; then it is a dead letter.
        ``buffer_bytes``: maximum of bytes of events that are not settled, 4,096 to 1 GiB; the rest waits in the journal.

        A worker without a handler ends when it is garbage. Raises IllegalTopic, ValueError, Closed.
        """
        _check_named(name)
        _check(name, filter, start, journal, buffer_bytes)
        check_range("concurrency", concurrency, 1, MAX_CONCURRENCY, "handlers", whole=True)
        check_range("max_unsettled", max_unsettled, 1, 1024, "events", whole=True)
        check_range("ack_timeout", ack_timeout, 1, 43_200, "s")
        check_range("max_attempts", max_attempts, 1, 1000, "deliveries", whole=True)
        machine = self._machine
        machine.sender.check_open()
        settings = WorkerSettings(
            name=name, filter=filter, journal=journal, start=start, buffer_bytes=buffer_bytes, max_unsettled=max_unsettled,
            ack_timeout=math.ceil(ack_timeout * 1000), max_attempts=max_attempts, gives_back_taken=handler is None,
        )  # fmt: skip
        core = WorkerState(machine.registry.next_id(), machine, settings)
        return self._begin(Worker(self, core, handler, concurrency))

    def _begin(self, consumer: C) -> C:
        core = consumer._core
        reference = weakref.ref(consumer)

        def wake() -> None:
            found = reference()
            if found is not None:
                found._wake()

        core.wake = wake
        self._machine.registry.begin(core, self._loop.time())
        return consumer

    def _forget_consumer(self, core: FedConsumer) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._forget_consumer_now, core)

    def _forget_consumer_now(self, core: FedConsumer) -> None:
        core.stop()
        self._machine.registry.unsubscribe(core, self._loop.time())

    async def _stop_consuming(self, until: float) -> bool:
        """Stops all consumers; returns whether their handlers have finished the events that they had, and the bus was
        told, by then."""
        tasks = [t for c in self._consuming for t in c._running() if t is not asyncio.current_task()]
        for registration in list(self._machine.registry.all.values()):
            if isinstance(registration, FedConsumer):
                registration.stop()
                if isinstance(registration, WorkerState):
                    # Else the bus would give again what goes back.
                    self._machine.registry.unsubscribe(registration, self._loop.time())
        left = until - self._loop.time()
        if not tasks or left <= 0:
            return not tasks
        _, pending = await asyncio.wait(tasks, timeout=left)
        return not pending

    def _workers_of_this_task(self) -> set[FedConsumer]:
        """Returns the workers whose handler is this task."""
        return {c._core for c in self._consuming if isinstance(c, Worker) and asyncio.current_task() in c._running()}


def _check_named(name: str) -> None:
    if not name:
        raise IllegalTopic("name of the durable subscription: empty (expected: a name)")


def _check(name: str, filter: str, start: Start, journal: str, buffer_bytes: int) -> None:
    problem = filter_problem(filter)
    if problem is not None:
        raise IllegalTopic(problem)
    _check_name("durable subscription", name)
    _check_name("journal", journal)
    if not isinstance(start, Start):
        raise TypeError(f"start: {start!r} (expected: a Start)")
    check_range("buffer_bytes", buffer_bytes, MIN_BUFFER, MAX_BUFFER, "bytes", whole=True)


def _check_name(what: str, name: str) -> None:
    if not name:
        return
    problem = topic_problem(name)
    if problem is None and (n := len(name.encode())) > MAX_JOURNAL_BYTES:
        problem = f"{n} bytes (expected: at most {MAX_JOURNAL_BYTES})"
    if problem is not None:
        raise IllegalTopic(f"name of the {what}: {problem}")
