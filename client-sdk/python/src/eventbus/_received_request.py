"""A request that this client is to answer, as the core sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._call_events import event_of
from ._call_frames import Invoke

if TYPE_CHECKING:
    from ._bus_link import BusLink
    from ._service_core import ServiceCore

#: What it takes in memory beside its bytes.
OVERHEAD = 512


class ReceivedRequest:
    """See the module. One request may have come more than once, over one connection or several: each waits for the
    answer."""

    __slots__ = (
        "answered", "attempt", "begun", "bytes", "cancelled", "deadline", "event", "gone", "identity", "key", "method",
        "on_cancel", "service", "targets",
    )  # fmt: skip

    def __init__(self, service: ServiceCore, link: BusLink, invoke: Invoke, now: float) -> None:
        self.service = service
        #: Caller and request: the same when it comes again.
        self.key = (invoke.caller, invoke.request)
        self.event = event_of(invoke.event, invoke.schema)
        self.method = invoke.method
        self.identity = invoke.identity
        self.attempt = invoke.attempt
        self.deadline = now + invoke.timeout_millis / 1000
        self.bytes = len(self.event.payload) + OVERHEAD
        #: Where the answer has to go: connections, and their numbers of the call.
        self.targets: list[tuple[BusLink, int]] = [(link, invoke.call)]
        #: How many of these do not wait any more.
        self.gone = 0
        self.cancelled = False
        self.answered = False
        #: Seconds of the clock at which the handler was begun.
        self.begun = 0.0
        #: Called once when nobody waits for the answer any more.
        self.on_cancel: list[Callable[[], object]] = []

    def has_target(self) -> bool:
        """Whether a connection still waits for the answer."""
        return any(link.invoked.get(call) is self for link, call in self.targets)

    def cancel(self) -> None:
        """Nobody waits for the answer any more."""
        self.cancelled = True
        tasks, self.on_cancel = self.on_cancel, []
        for task in tasks:
            task()
