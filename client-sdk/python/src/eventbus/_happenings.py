"""What a client tells its application by itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ._wire import Limits


class State(Enum):
    """The life of a client; CLOSED is the end."""

    NEW = "NEW"
    #: The first connection is being made.
    CONNECTING = "CONNECTING"
    #: Welcomed by a bus.
    CONNECTED = "CONNECTED"
    #: The connection was lost and another one is being made; publishing fills the buffer.
    RECONNECTING = "RECONNECTING"
    #: Closing: what is buffered is sent and handled, nothing new is taken.
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
    """What a client is connected to."""

    url: str
    bus: str
    session: str
    #: The client's own number as a publisher.
    producer: int
    limits: Limits
    #: Microseconds since the epoch: until when the token holds; 0 for always.
    expires_at: int = 0


@dataclass(frozen=True, slots=True)
class Disconnected:
    """A connection has ended."""

    #: The WebSocket close code; 1006 when there was no Close frame.
    code: int
    reason: str
    #: Whether the client tries again; if not, it is closed now.
    will_reconnect: bool


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """A try to reconnect is planned."""

    #: 1 for the first after a connection.
    attempt: int
    url: str
    #: Seconds until then.
    delay: float


@dataclass(frozen=True, slots=True)
class BusChanged:
    """The client has gone on at another bus, because its bus asked it to; nothing was lost, doubled or put out of
    order."""

    before: Connection
    now: Connection


@dataclass(frozen=True, slots=True)
class BusChangeFailed:
    """The bus asked this client to go on at another one, and that was not possible. It stays; nothing was lost."""

    url: str
    why: str


@dataclass(frozen=True, slots=True)
class ProducerChanged:
    """The bus did not know this client any more: its numbers start again at 1, and what was unconfirmed may come
    twice."""

    before: int
    now: int


class GapReason(Enum):
    """Why events are missing."""

    #: They did not arrive: lost with a connection or a bus, or refused by the bus.
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
    """Events that were published but not delivered: a hole in the numbers of one producer and topic."""

    topic: str
    producer: int
    #: The sequence of the first missing event.
    first: int
    #: The sequence of the last missing event.
    last: int
    reason: GapReason

    @property
    def count(self) -> int:
        """How many are missing, at least 1."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Interruption:
    """A subscription was away: its connection was lost, and the bus has confirmed it again.

    Events of that time may be missing, and so may those that were on their way when the connection was lost: for members of
    groups, too, and of topics that nothing had come of before. What is known by its number is told as a ``Gap`` besides.
    """

    filter: str
    #: The group of the subscription; None for none.
    group: str | None
    #: Microseconds since 1970-01-01T00:00Z, by this machine's clock: when the connection was found lost.
    start: int
    #: Microseconds since 1970-01-01T00:00Z, by this machine's clock: when the bus had confirmed the subscription again.
    end: int


class DropCause(Enum):
    """Why published events are lost, or may be."""

    #: The connection ended after the events were handed to it, and nothing waited for a confirmation. The outcome is open.
    CONNECTION_LOST = "CONNECTION_LOST"
    #: The client has come to a bus that takes smaller events. They are lost.
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
    """What a client has done since it was made."""

    #: Events accepted for sending.
    published: int
    #: Events that the bus confirmed.
    confirmed: int
    #: Events that were sent again after a reconnect.
    resent: int
    #: Events that ``send`` did not take, or ``publish`` gave up, because the outbound buffer was full.
    dropped_full: int
    #: Events without confirmation that were under way when a connection ended.
    indeterminate: int
    #: WebSocket messages with events.
    messages_sent: int
    #: Events received, without repetitions, counted once for all subscriptions.
    received: int
    #: Events received again and dropped.
    duplicates: int
    #: Events told as a gap.
    missing: int
    #: Exceptions raised by handlers.
    handler_failures: int
    #: Connections made after the first.
    reconnects: int
    #: Times that the client went on at another bus because its bus asked it to.
    bus_changes: int
    #: Topics that are remembered because something was published to them.
    published_topics: int
    #: Bytes in the outbound buffer now: not yet sent, or sent and unconfirmed.
    buffered_bytes: int
    #: Bytes received and not handled yet.
    queued_bytes: int
    #: Interruptions told, one for each subscription that was away.
    interruptions: int


@dataclass(frozen=True, slots=True)
class SubscriptionCounters:
    """What a subscription has got since it was made."""

    #: Events, without repetitions.
    received: int
    #: Events received again and dropped.
    duplicates: int
    #: Events told as a gap.
    missing: int
    #: Times that it was away, each told as an interruption.
    interruptions: int
