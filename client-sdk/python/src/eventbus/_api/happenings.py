"""Events that a client reports to its application."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .._wire.records import Limits


class State(Enum):
    """State of a client; CLOSED is the end."""

    NEW = "NEW"
    #: The first connection is being made.
    CONNECTING = "CONNECTING"
    #: Welcomed by a bus.
    CONNECTED = "CONNECTED"
    #: The connection was lost and another one is being made; publishing fills the buffer.
    RECONNECTING = "RECONNECTING"
    #: Closing: buffered events are sent and handled, nothing new is accepted.
    DRAINING = "DRAINING"
    CLOSED = "CLOSED"


MOVES: dict[State, frozenset[State]] = {
    State.NEW: frozenset({State.CONNECTING, State.CLOSED}),
    State.CONNECTING: frozenset({State.CONNECTED, State.CLOSED}),
    State.CONNECTED: frozenset({State.RECONNECTING, State.DRAINING, State.CLOSED}),
    State.RECONNECTING: frozenset({State.CONNECTED, State.DRAINING, State.CLOSED}),
    State.DRAINING: frozenset({State.CLOSED}),
    State.CLOSED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class Connection:
    """Connection of a client."""

    url: str
    bus: str
    session: str
    #: Number of the client as a publisher.
    producer: int
    limits: Limits
    #: Expiry of the token, in microseconds since the epoch; 0 for none.
    expires_at: int = 0


@dataclass(frozen=True, slots=True)
class Disconnected:
    """A connection has ended."""

    #: WebSocket close code; 1006 without a Close frame.
    code: int
    reason: str
    #: True if the client tries again; if not, it is closed now.
    will_reconnect: bool


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """A try to reconnect is planned."""

    #: 1 for the first after a connection.
    attempt: int
    url: str
    #: Seconds until the try.
    delay: float


@dataclass(frozen=True, slots=True)
class BusChanged:
    """The client has moved to another bus, because its bus asked it to; nothing was lost, doubled or put out of order."""

    before: Connection
    now: Connection


@dataclass(frozen=True, slots=True)
class BusChangeFailed:
    """The bus asked this client to move, and that was not possible. It stays; nothing was lost."""

    url: str
    why: str


@dataclass(frozen=True, slots=True)
class ProducerChanged:
    """The bus no longer knew this client: its numbers start again at 1, and unconfirmed events may arrive twice."""

    before: int
    now: int


class GapReason(Enum):
    """Reason why events are missing."""

    #: Lost with a connection or a bus, or refused by the bus.
    LOST = "LOST"
    #: The queue for this client at the bus was full and its policy was ``DROP_OLDEST``.
    QUEUE_FULL = "QUEUE_FULL"
    #: Later events of the same keys took their places at the bus.
    CONFLATED = "CONFLATED"
    #: The subscription's own buffer in this client was full (``buffer_bytes``), and its policy was ``DROP_OLDEST``,
    #: ``DISCONNECT``, or ``CONFLATE`` with too many keys.
    BUFFER_FULL = "BUFFER_FULL"
    #: Later events of the same keys took their places in the subscription's own buffer in this client.
    BUFFER_CONFLATED = "BUFFER_CONFLATED"


@dataclass(frozen=True, slots=True)
class Gap:
    """Events that were published but not delivered: a gap in the numbers of one producer and topic."""

    topic: str
    producer: int
    #: Sequence of the first missing event.
    first: int
    #: Sequence of the last missing event.
    last: int
    reason: GapReason

    @property
    def count(self) -> int:
        """Returns the number of missing events, at least 1."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Interruption:
    """A time during which a subscription was not in force: its connection was lost, and the bus has confirmed it again.

    Events of that time may be missing, and so may those that were under way when the connection was lost: for members
    of groups, too, and of topics without an earlier event. Known missing numbers are also reported as a ``Gap``.
    """

    filter: str
    #: Group of the subscription; None for none.
    group: str | None
    #: Time at which the loss was detected, in microseconds since 1970-01-01T00:00Z, by this machine's clock.
    start: int
    #: Time at which the bus had confirmed the subscription again, in microseconds since 1970-01-01T00:00Z, by this
    #: machine's clock.
    end: int


class DropCause(Enum):
    """Reason why published events are lost, or may be."""

    #: The connection ended after the events were sent, and no call waited for a confirmation. The outcome is open.
    CONNECTION_LOST = "CONNECTION_LOST"
    #: The client has connected to a bus that accepts only smaller events. They are lost.
    TOO_BIG = "TOO_BIG"
    #: The client was closed before the events were sent. They are lost.
    CLOSED = "CLOSED"


@dataclass(frozen=True, slots=True)
class Dropped:
    """Events that this client published with ``send`` are lost or may be."""

    events: int
    cause: DropCause


@dataclass(frozen=True, slots=True)
class Counters:
    """Figures of a client since it was made."""

    #: Events accepted for sending.
    published: int
    #: Events confirmed by the bus.
    confirmed: int
    #: Events that were sent again after a reconnect.
    resent: int
    #: Events that ``send`` or ``publish`` did not accept, because the outbound buffer was full.
    dropped_full: int
    #: Events without confirmation that were under way when a connection ended.
    indeterminate: int
    #: WebSocket messages with events.
    messages_sent: int
    #: Events received, without duplicates, counted once for all subscriptions.
    received: int
    #: Events received again and dropped.
    duplicates: int
    #: Events reported as gaps.
    missing: int
    #: Exceptions raised by handlers.
    handler_failures: int
    #: Connections made after the first.
    reconnects: int
    #: Moves to another bus that the bus had requested.
    bus_changes: int
    #: Remembered topics that this client has published to.
    published_topics: int
    #: Bytes in the outbound buffer now: not yet sent, or sent and unconfirmed.
    buffered_bytes: int
    #: Bytes received and not handled yet.
    queued_bytes: int
    #: Interruptions of subscriptions.
    interruptions: int


@dataclass(frozen=True, slots=True)
class SubscriptionCounters:
    """Figures of a subscription since it was made."""

    #: Events received, without duplicates.
    received: int
    #: Events received again and dropped.
    duplicates: int
    #: Events reported as gaps.
    missing: int
    #: Number of interruptions.
    interruptions: int
