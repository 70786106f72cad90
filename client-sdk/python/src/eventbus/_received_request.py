"""A received request without an answer, as the core sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._call_events import event_of
from ._call_frames import Invoke

if TYPE_CHECKING:
    from ._bus_link import BusLink
    from ._service_core import ServiceCore

#: Bytes of memory that a request takes beside its event.
OVERHEAD = 512


class ReceivedRequest:
    """See the module. A request may have been received more than once, over one connection or several: each waits for the
    answer."""

    __slots__ = (
        "answered", "attempt", "begun", "bytes", "cancelled", "deadline", "event", "gone", "identity", "key", "method",
        "on_cancel", "service", "targets",
    )  # fmt: skip

    def __init__(self, service: ServiceCore, link: BusLink, invoke: Invoke, now: float) -> None:
        self.service = service
        #: Caller and request number: the same when it is sent again.
        self.key = (invoke.caller, invoke.request)
        self.event = event_of(invoke.event, invoke.schema)
        self.method = invoke.method
        self.identity = invoke.identity
        self.attempt = invoke.attempt
        self.deadline = now + invoke.timeout_millis / 1000
        self.bytes = len(self.event.payload) + OVERHEAD
        #: Connections that wait for the answer, and their numbers of the call.
        self.targets: list[tuple[BusLink, int]] = [(link, invoke.call)]
        #: Number of these that no longer wait.
        self.gone = 0
        self.cancelled = False
        self.answered = False
        #: Start of the handler, in seconds of the clock.
        self.begun = 0.0
        #: Called once, when nobody waits for the answer any more.
        self.on_cancel: list[Callable[[], object]] = []

    def has_target(self) -> bool:
        """Returns whether a connection still waits for the answer."""
        return any(link.invoked.get(call) is self for link, call in self.targets)

    def cancel(self) -> None:
        """Cancels the request, because nobody waits for the answer any more."""
        self.cancelled = True
        tasks, self.on_cancel = self.on_cancel, []
        for task in tasks:
            task()
