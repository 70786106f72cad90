"""A request to a service: waits, is sent, is perhaps sent again, and has its outcome. Without I/O and without a clock.

::

    WAITING --> SENT --> DONE
       ^         |
       |         v
       '----- PAUSING      (from SENT also back to WAITING, and from each state to DONE)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal

from ._backoff import Backoff
from ._bus_link import BusLink
from ._call_frames import MAX_NAME_BYTES, CallKind, CallScope, Execution, Priority, Request
from ._checks import check_range
from ._timers import Timer
from ._waiters import Waiter

#: Bytes of memory that a request takes beside its event.
OVERHEAD = 256
#: Additional wait after the timeout for the answer of the bus, which says whether the request was executed, in
#: seconds.
VERDICT_TIMEOUT = 0.05
MAX = 600.0


@dataclass(frozen=True, kw_only=True)
class Retry(Backoff):
    """Retry policy of failed requests, within their timeout.

    Only ``retryable`` failures are retried. The pause before repetition n is ``min(max_delay, initial_delay *
    multiplier ** (n - 1))`` seconds, minus a random part of up to ``jitter``, plus the retry-after time of the bus or
    the member.
    """

    MAX = MAX

    #: Maximum of tries in all, 1 to 1000.
    attempts: int = 3
    #: Seconds before the first repetition, 0.001 to 600.
    initial_delay: float = 0.05
    #: Maximum of seconds, ``initial_delay`` to 600.
    max_delay: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("attempts", self.attempts, 1, 1000, "tries", whole=True)


_ONCE, _STANDARD = Retry(attempts=1), Retry()
#: Policy of requests that were not executed and have a retry-after time: until the timeout.
_NOT_EXECUTED = Retry(attempts=1000)


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """Options of a request; ``EventBus.request`` documents each."""

    method: str = ""
    timeout: float = 30.0
    wait_for: float = 0.0
    idempotent: bool = False
    priority: Priority = Priority.NORMAL
    member: int = 0
    retry: Retry | Literal[False] | None = None

    def __post_init__(self) -> None:
        check_range("timeout", self.timeout, 0.001, MAX, "s")
        check_range("wait_for", self.wait_for, 0, MAX, "s")
        check_range("member", self.member, -(1 << 63), (1 << 63) - 1, "", whole=True)
        if not isinstance(self.method, str) or len(self.method.encode()) > MAX_NAME_BYTES:
            raise ValueError(f"method: {self.method!r} (expected: at most {MAX_NAME_BYTES} bytes of UTF-8)")
        if self.retry is not None and self.retry is not False and not isinstance(self.retry, Retry):
            raise TypeError(f"retry: {self.retry!r} (expected: a Retry, False or None)")

    def policy(self, executed: Execution = Execution.UNKNOWN, retry_after: float = 0.0) -> Retry:
        """Returns the retry policy after a failure."""
        if self.retry:
            return self.retry
        if self.retry is False:
            return _ONCE
        if executed is Execution.NO and retry_after > 0:
            return _NOT_EXECUTED
        return _STANDARD if self.idempotent else _ONCE


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
        "attempt", "body", "charged", "deadline", "link", "number", "options", "pause", "perhaps_executed", "repetitions",
        "schema", "service", "state", "waiter",
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
        self.perhaps_executed = False
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

    def may_be_sent_again(self) -> bool:
        """Returns whether its event must be kept for another try."""
        return self.options.idempotent or self.options.retry is None or self.options.policy().attempts > 1

    def due(self) -> float:
        """Returns the time of its next check."""
        return self.deadline + VERDICT_TIMEOUT if self.state is RequestState.SENT else self.deadline

    def executed(self) -> Execution:
        """Returns whether a member may have begun with it, while there is no answer."""
        return Execution.UNKNOWN if self.state is RequestState.SENT or self.perhaps_executed else Execution.NO

    def is_safe(self, executed: Execution) -> bool:
        """Returns whether it may be sent again, as far as its execution is concerned."""
        return executed is Execution.NO or (executed is Execution.UNKNOWN and self.options.idempotent)
