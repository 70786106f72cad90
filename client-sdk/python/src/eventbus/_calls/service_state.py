"""States of a service and of the requests that it has received. Without I/O or a clock."""

from __future__ import annotations

from collections.abc import Callable

from .._api.call_event import event_of
from .._api.service_options import ServiceCounters, ServiceOptions
from .._base.bus_link import BusLink
from .._base.registration import Registration
from .._base.waiters import Waiter
from .._wire.call_frames import Capacity, Invoke, Register, Reply, Unregister
from .._wire.records import Welcome

#: Bytes of memory that a request takes beside its event.
REQUEST_OVERHEAD = 512
#: Bytes of memory that a remembered reply takes beside its event.
REPLY_OVERHEAD = 256


class ServiceState(Registration):
    """State of a service, over all connections of its client. ``start`` starts the handler; ``Services.done`` has to follow."""

    is_exclusive = True
    is_service = True

    def __init__(self, id: int, name: str, options: ServiceOptions, start: Callable[[ReceivedRequest], None]) -> None:
        super().__init__(id, f"the service {name}")
        self.name = name
        self.options = options
        self.start = start
        self.paused = False
        self.waiting: dict[tuple[int, int], ReceivedRequest] = {}
        self.known: dict[tuple[int, int], ReceivedRequest] = {}
        self.replies: dict[tuple[int, int], Reply] = {}
        self.reply_bytes = self.waiting_bytes = self.running = 0
        #: Waiters until all requests are answered.
        self.idle: list[Waiter] = []
        self.received = self.answered = self.failed = self.expired = 0
        self.cancelled = self.refused = self.repeated = 0

    def lacks(self, welcome: Welcome) -> str | None:
        return None if welcome.services > 0 else "services"

    def concurrency(self) -> int:
        """Returns the concurrency for the bus: 0 while the service is paused."""
        return 0 if self.paused else self.options.concurrency

    def begin_frame(self) -> bytes:
        o = self.options
        return Register(self.id, self.name, self.concurrency(), o.identify, o.version, o.metadata).frame()

    def end_frame(self) -> bytes:
        return Unregister(self.id).frame()

    def capacity_frame(self) -> bytes:
        """Returns the frame that pauses or resumes the requests of the bus."""
        return Capacity(self.id, self.concurrency()).frame()

    def is_idle(self) -> bool:
        """Returns whether all requests are answered."""
        return not self.running and not self.waiting

    def remember(self, key: tuple[int, int], reply: Reply) -> None:
        """Keeps a reply for a repeated request."""
        most = self.options.remember_replies
        if not most:
            return
        old = self.replies.pop(key, None)
        self.replies[key] = reply
        self.reply_bytes += (
            len(reply.event) + REPLY_OVERHEAD - (len(old.event) + REPLY_OVERHEAD if old is not None else 0)
        )
        while len(self.replies) > most or self.reply_bytes > self.options.buffer_bytes:
            self.reply_bytes -= len(self.replies.pop(next(iter(self.replies))).event) + REPLY_OVERHEAD

    def counters(self) -> ServiceCounters:
        return ServiceCounters(
            self.received, self.answered, self.failed, self.expired, self.cancelled, self.refused, self.repeated,
            self.running, len(self.waiting), self.waiting_bytes,
        )  # fmt: skip


class ReceivedRequest:
    """A received request without an answer. It may have been received more than once, over one connection or several:
    each waits for the answer."""

    __slots__ = (
        "answered", "attempt", "begun", "bytes", "cancelled", "deadline", "event", "gone", "identity", "key", "method",
        "on_cancel", "service", "targets",
    )  # fmt: skip

    def __init__(self, service: ServiceState, link: BusLink, invoke: Invoke, now: float) -> None:
        self.service = service
        #: Caller and request number: the same when it is sent again.
        self.key = (invoke.caller, invoke.request)
        self.event = event_of(invoke.event, invoke.schema)
        self.method = invoke.method
        self.identity = invoke.identity
        self.attempt = invoke.attempt
        self.deadline = now + invoke.timeout_millis / 1000
        self.bytes = len(self.event.payload) + REQUEST_OVERHEAD
        #: Connections that wait for the answer, and their numbers of the call.
        self.targets: list[tuple[BusLink, int]] = [(link, invoke.call)]
        #: Number of these that no longer wait.
        self.gone = 0
        self.cancelled = False
        self.answered = False
        #: Start of the handler, in seconds of the clock.
        self.begun = 0.0
        #: Callbacks for the end of the call at its caller; each is called once.
        self.on_cancel: list[Callable[[], object]] = []

    def cancel(self) -> None:
        """Cancels the request, because nobody waits for the answer any more."""
        self.cancelled = True
        tasks, self.on_cancel = self.on_cancel, []
        for task in tasks:
            task()
