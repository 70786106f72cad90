"""One request to a service: waits, is sent, is perhaps sent again, and has its outcome. Without I/O and without a clock.

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
from ._call_frames import MAX_NAME_BYTES, CallKind, CallScope, Execution, Priority, Request
from ._checks import check_range
from ._link import Link
from ._timers import Timer
from ._waiters import Waiter

#: What a request takes in memory beside its bytes.
OVERHEAD = 256
#: So much longer the answer of the bus is waited for, which says whether it was executed. Seconds.
VERDICT = 0.05
MAX = 600.0


@dataclass(frozen=True, kw_only=True)
class Retry(Backoff):
    """When a request that failed is sent again by itself, within its time-out.

    Only failures that are ``retryable`` are. The pause before repetition n is ``min(max_delay, initial_delay * multiplier **
    (n - 1))`` seconds, less a random part of up to ``jitter``, and never shorter than what the bus or the member asks for.
    """

    MAX = MAX

    #: How often it is sent in all, 1 to 1000.
    attempts: int = 3
    #: Seconds before the first repetition, 0.001 to 600.
    initial_delay: float = 0.05
    #: Seconds at most, ``initial_delay`` to 600.
    max_delay: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("attempts", self.attempts, 1, 1000, "tries", whole=True)


_ONCE, _STANDARD = Retry(attempts=1), Retry()
#: Of what was not executed, and may be worth another try at a time that the bus or the member names: until the time is over.
_NOT_EXECUTED = Retry(attempts=1000)


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """How a request is made; ``EventBus.request`` documents each."""

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
        """When it is sent again after a failure."""
        if self.retry:
            return self.retry
        if self.retry is False:
            return _ONCE
        if executed is Execution.NO and retry_after > 0:
            return _NOT_EXECUTED
        return _STANDARD if self.idempotent else _ONCE


class CallState(Enum):
    """How far a request is."""

    #: For a connection, or for its turn there: no bus has it.
    WAITING = auto()
    #: A connection has taken it.
    SENT = auto()
    #: It failed, and is sent again after a pause.
    PAUSING = auto()
    #: It has its outcome.
    DONE = auto()


CALL_MOVES: dict[CallState, frozenset[CallState]] = {
    CallState.WAITING: frozenset({CallState.SENT, CallState.DONE}),
    CallState.SENT: frozenset({CallState.PAUSING, CallState.WAITING, CallState.DONE}),
    CallState.PAUSING: frozenset({CallState.WAITING, CallState.DONE}),
    CallState.DONE: frozenset(),
}


class Call:
    """See the module. ``body`` is the event, encoded; ``waiter`` hears of the outcome."""

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
        #: Empty when it will not be sent again.
        self.body = body
        self.schema = schema
        self.deadline = deadline
        self.waiter = waiter
        #: Bytes that it counts for in the budget of requests.
        self.charged = self.cost(body)
        self.state = CallState.WAITING
        #: The connection that it is sent over.
        self.link: Link | None = None
        self.attempt = 0
        self.repetitions = 0
        #: Once a connection or a member with it was lost.
        self.perhaps_executed = False
        self.pause: Timer | None = None

    @staticmethod
    def cost(body: bytes) -> int:
        """What a request takes in memory."""
        return len(body) + OVERHEAD

    def become(self, state: CallState) -> None:
        """The only writer of the state; a call belongs to a link as long as it is SENT."""
        if state not in CALL_MOVES[self.state]:
            raise RuntimeError(f"call: {self.state.name} -> {state.name} (not in the table)")
        if self.link is not None:
            del self.link.requests[self.number]
            self.link = None
        self.state = state

    def send(self, link: Link, now: float) -> bytes:
        """Makes the frame; it counts as sent from then on."""
        options = self.options
        left = max(1, int((self.deadline - now) * 1000))
        request = Request(
            self.number, self.service, options.method, CallKind.REPLY, CallScope.ONE, options.priority, left,
            min(int(options.wait_for * 1000), left), options.idempotent, self.attempt, options.member, self.schema, self.body,
        )  # fmt: skip
        self.become(CallState.SENT)
        self.link = link
        link.requests[self.number] = self
        return request.frame()

    def may_be_sent_again(self) -> bool:
        """Whether its event is still needed once it is sent."""
        return self.options.idempotent or self.options.retry is None or self.options.policy().attempts > 1

    def due(self) -> float:
        """When it has to be looked at."""
        return self.deadline + VERDICT if self.state is CallState.SENT else self.deadline

    def executed(self) -> Execution:
        """What is known while there is no answer."""
        return Execution.UNKNOWN if self.state is CallState.SENT or self.perhaps_executed else Execution.NO

    def is_safe(self, executed: Execution) -> bool:
        """Whether it may be sent again as far as its execution goes."""
        return executed is Execution.NO or (executed is Execution.UNKNOWN and self.options.idempotent)
