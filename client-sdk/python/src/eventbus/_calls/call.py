"""A request to a service: waits, is sent, once or more often, and has its outcome. Without I/O or a clock.

::

    WAITING --> SENT --> DONE
       ^         |
       |         v
       '----- PAUSING      (from SENT also back to WAITING, and from each state to DONE)
"""

from __future__ import annotations

from enum import Enum, auto

from .._api.call_options import CallOptions
from .._base.bus_link import BusLink
from .._base.timers import Timer
from .._base.waiters import Waiter
from .._wire.call_frames import CallKind, CallScope, Execution, Request

#: Bytes of memory that a request takes beside its event.
OVERHEAD = 256
#: Additional wait after the timeout for the answer of the bus, which says whether the request was executed, in
#: seconds.
VERDICT_TIMEOUT = 0.05


class RequestState(Enum):
    """State of a request."""

    #: No bus has it: it waits for a connection or for its turn.
    WAITING = auto()
    #: Written to a connection.
    SENT = auto()
    #: Failed, and sent again after a pause.
    PAUSING = auto()
    #: Has its outcome.
    DONE = auto()


CALL_TRANSITIONS: dict[RequestState, frozenset[RequestState]] = {
    RequestState.WAITING: frozenset({RequestState.SENT, RequestState.DONE}),
    RequestState.SENT: frozenset({RequestState.PAUSING, RequestState.WAITING, RequestState.DONE}),
    RequestState.PAUSING: frozenset({RequestState.WAITING, RequestState.DONE}),
    RequestState.DONE: frozenset(),
}


class Call:
    """See the module. ``body`` is the encoded event; ``waiter`` gets the outcome."""

    __slots__ = (
        "attempt",
        "body",
        "charged",
        "deadline",
        "link",
        "maybe_executed",
        "number",
        "options",
        "pause",
        "repetitions",
        "schema",
        "service",
        "state",
        "waiter",
    )  # fmt: skip

    def __init__(
        self, number: int, service: str, options: CallOptions, body: bytes, schema: int, deadline: float, waiter: Waiter
    ) -> None:
        self.number = number
        self.service = service
        self.options = options
        #: Empty once the request will not be sent again.
        self.body = body
        self.schema = schema
        self.deadline = deadline
        self.waiter = waiter
        #: Bytes in the budget of requests.
        self.charged = self.cost(body)
        self.state = RequestState.WAITING
        #: Connection that it was sent over.
        self.link: BusLink | None = None
        self.attempt = 0
        self.repetitions = 0
        #: Set once a connection or a member that had the request was lost.
        self.maybe_executed = False
        self.pause: Timer | None = None

    @staticmethod
    def cost(body: bytes) -> int:
        """Returns the bytes of memory of a request."""
        return len(body) + OVERHEAD

    def become(self, state: RequestState) -> None:
        """Changes the state; nothing else does. A call belongs to a link while it is SENT."""
        if state not in CALL_TRANSITIONS[self.state]:
            raise RuntimeError(f"call: {self.state.name} -> {state.name} (not in the table)")
        if self.link is not None:
            self.link.open_calls -= 1
            self.link = None
        self.state = state

    def send(self, link: BusLink, now: float) -> bytes:
        """Returns the frame; the request counts as sent from then on."""
        options = self.options
        left = max(1, int((self.deadline - now) * 1000))
        request = Request(
            self.number, self.service, options.method, CallKind.REPLY, CallScope.ONE, options.priority, left,
            min(int(options.wait_for * 1000), left), options.idempotent, self.attempt, options.member, self.schema, self.body,
        )  # fmt: skip
        self.become(RequestState.SENT)
        self.link = link
        link.open_calls += 1
        return request.frame()

    def is_retryable(self) -> bool:
        """Returns whether its event must be kept for another try."""
        return self.options.idempotent or self.options.retry is None or self.options.policy().attempts > 1

    def due(self) -> float:
        """Returns the time of its next check."""
        return self.deadline + VERDICT_TIMEOUT if self.state is RequestState.SENT else self.deadline

    def executed(self) -> Execution:
        """Returns whether a member may have begun with it, while there is no answer."""
        return Execution.UNKNOWN if self.state is RequestState.SENT or self.maybe_executed else Execution.NO

    def is_safe(self, executed: Execution) -> bool:
        """Returns whether it may be sent again, as far as its execution is concerned."""
        return executed is Execution.NO or (executed is Execution.UNKNOWN and self.options.idempotent)
