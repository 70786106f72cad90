"""A feed of a shared durable subscription: the events that wait, and those that the application has. Without I/O or a
clock."""

from __future__ import annotations

from collections.abc import Iterator

from .._wire.durable_frames import Feed, SettleOutcome, deliveries
from .._wire.events import DeliveryReader, Event, EventCursor
from .settlement import Settlement
from .worker_line import WorkerLine

#: Maximum of events that are decoded at once.
MAX_RUN = 64
#: Number behind that of each event of a feed.
LAST = 1 << 62


class OpenDelivery:
    """A delivery of an event to the application."""

    __slots__ = ("event", "extended_at", "feed", "index", "settled")

    def __init__(self, feed: WorkFeed, index: int, event: Event, now: float) -> None:
        self.feed = feed
        #: Number of the event in its feed.
        self.index = index
        self.event = event
        #: Time at which its ack timeout began, in seconds of the clock.
        self.extended_at = now
        self.settled = False

    def settlement(self, outcome: SettleOutcome, delay_millis: int = -1, reason: str = "") -> Settlement:
        """Returns a settlement of this event alone."""
        position = self.event.position
        return Settlement(
            self.feed.number,
            self.index,
            self.index,
            position,
            position,
            self.feed.attempt,
            outcome,
            delay_millis,
            reason,
        )


class WorkFeed:
    """See the module. ``number`` is that of the feed in this client, which ascends; ``size``: bytes that it takes of the
    buffer."""

    def __init__(self, line: WorkerLine, number: int, feed: Feed, size: int, now: float) -> None:
        self.line = line
        self.number = number
        self.attempt = feed.attempt
        self.bytes = size
        #: Time of its receipt, in seconds of the clock.
        self.arrived_at = now
        #: Time at which the last ack timeout of an event of it began.
        self.extended_at = now
        #: Events that the application has not settled.
        self.open: set[OpenDelivery] = set()
        self._last = feed.last
        self._taken = 0
        self._events = _read(feed)
        self._next = next(self._events, None)

    @property
    def has_events(self) -> bool:
        """Returns whether an event of it waits."""
        return self._next is not None

    def take(self, now: float) -> OpenDelivery:
        """Takes the event that waits next."""
        event = self._next
        assert event is not None
        self._next = next(self._events, None)
        self._taken += 1
        self.extended_at = now
        delivery = OpenDelivery(self, self._taken, event, now)
        self.open.add(delivery)
        return delivery

    def drop(self) -> Settlement:
        """Drops the events that wait; returns what gives them back."""
        event = self._next
        assert event is not None
        self._next = None
        self._events = iter(())
        return Settlement(
            self.number, self._taken + 1, LAST, event.position, self._last, self.attempt, SettleOutcome.RELEASE, -1, ""
        )


def _read(feed: Feed) -> Iterator[Event]:
    """Reads the events of a feed that was checked, from its first position on."""
    for delivery in deliveries(DeliveryReader(1000), feed.frames):
        delivery.skip = max(0, feed.first - delivery.offset)
        if delivery.skip < delivery.count:
            cursor, is_read = EventCursor(delivery), False
            while not is_read:
                run: list[Event] = []
                is_read = cursor.take(run, MAX_RUN)
                yield from run
