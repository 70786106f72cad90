"""Reads the buffer of a subscription, in order, for both variants of the client. To be used in the reading thread."""

from __future__ import annotations

from collections.abc import Callable

from .._api.happenings import Gap, Interruption
from .._wire.codec import Malformed
from .._wire.events import Event, EventCursor
from .buffer import Buffer, Item, Mark

#: Maximum of events that an iteration decodes at once.
MAX_EVENTS = 1000


class EventReader:
    """See the module. ``malformed`` is called for malformed deliveries."""

    def __init__(self, buffer: Buffer, malformed: Callable[[EventCursor, Malformed], None]) -> None:
        self._buffer = buffer
        self._malformed = malformed
        #: Decoded events, and the number of them that the application has.
        self.batch: list[Event] = []
        self.next = 0
        self._cursor: EventCursor | None = None
        self._mark: Mark | None = None
        # Items that the application has and has not handled.
        self._taken: list[Item] = []

    def __bool__(self) -> bool:
        """Returns whether there is something to be read."""
        return self._cursor is not None or self._mark is not None or bool(self._buffer)

    def rest(self, max_events: int) -> list[Event]:
        """Takes the rest of the decoded events."""
        at, self.next = self.next, min(len(self.batch), self.next + max_events)
        return self.batch[at : self.next]

    def read(self, max_events: int) -> list[Event] | Gap | Interruption | None:
        """Decodes events up to the next mark, or takes a mark; None if nothing waits. Earlier ones have to be handled."""
        mark, self._mark = self._mark, None
        if mark is not None:
            return mark.what
        events: list[Event] = []
        while len(events) < max_events:
            cursor = self._cursor
            if cursor is None:
                item = self._buffer.take()
                if item is None:
                    break
                if isinstance(item, Mark):
                    self._taken.append(item)
                    if not events:
                        return item.what
                    self._mark = item
                    break
                cursor = self._cursor = item
            if self._is_read(cursor, events, max_events - len(events)):
                self._taken.append(cursor)
                self._cursor = None
        return events or None

    def _is_read(self, cursor: EventCursor, into: list[Event], max_events: int) -> bool:
        try:
            return cursor.take(into, max_events)
        except Malformed as e:
            self._malformed(cursor, e)
            return True

    def take_handled(self) -> list[Item]:
        """Takes the items that the application has handled: all that it got before."""
        taken, self._taken = self._taken, []
        return taken

    def drop(self) -> list[Item]:
        """Drops everything, because the application takes no more; returns its unhandled items."""
        taken = self.take_handled()
        if self._cursor is not None:
            taken.append(self._cursor)
        self._cursor = self._mark = None
        self.batch, self.next = [], 0
        return taken
