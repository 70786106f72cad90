"""Reads what was fed to a consumer, in order, for both variants of the client. Without I/O or a clock."""

from __future__ import annotations

from collections.abc import Iterator

from .._api.durable import Truncated
from .._wire.durable_frames import deliveries
from .._wire.events import Delivery, DeliveryReader, Event, EventCursor
from .consumer_state import ConsumerState

#: Maximum of events that are decoded at once.
MAX_RUN = 64


class FeedReader:
    """See the module."""

    def __init__(self, state: ConsumerState) -> None:
        self._state = state
        self._reader = DeliveryReader(1000)
        self._deliveries: Iterator[Delivery] = iter(())
        # Place in the item that the state has handed over; None at its end.
        self._cursor: EventCursor | None = None
        #: As that of the state when the last item was taken.
        self.generation = 0
        # Position of the last event that was read.
        self._last = 0

    def read(self) -> list[Event] | Truncated | None:
        """Reads some events, or events that do not come; None if nothing waits. What was read before has to be
        finished."""
        if self._cursor is None:
            item = self._state.take()
            if item is None:
                return None
            self.generation = self._state.generation
            if item.missing is not None:
                return item.missing
            self._deliveries = deliveries(self._reader, item.frames)
            self._skip(item.known)
        events: list[Event] = []
        while self._cursor is not None and len(events) < MAX_RUN:
            if self._cursor.take(events, MAX_RUN - len(events)):
                self._skip(0)
        if not events:
            # Another consumer has handled all of them meanwhile.
            self._state.done()
            return self.read()
        self._last = events[-1].position
        return events

    def _skip(self, known: int) -> None:
        """Moves to the next delivery with events behind a position; they are in order."""
        # Another consumer may have handled some of them meanwhile.
        known = max(known, self._state.handled)
        for delivery in self._deliveries:
            delivery.skip = max(0, known - delivery.offset + 1)
            if delivery.skip < delivery.count:
                self._cursor = EventCursor(delivery)
                return
        self._cursor = None

    @property
    def is_stale(self) -> bool:
        """Returns whether what was read last is of a journal that was deleted meanwhile."""
        return self.generation != self._state.generation

    def drop(self) -> None:
        """Forgets what is left of such a journal."""
        self._cursor = None
        self.generation = self._state.generation

    def finish(self) -> None:
        """Counts everything that was read as handled."""
        if self._cursor is None:
            self._state.done()
        else:
            self._state.handle(self._last)
