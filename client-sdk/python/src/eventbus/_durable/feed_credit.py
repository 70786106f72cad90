"""Credit of a consumer over one connection. Without I/O or a clock."""

from __future__ import annotations

from .._wire.records import Credit


class FeedCredit:
    """Limit that a bus was told for a consumer, and the bytes of ``Feed`` frames that have come since ``Consume``."""

    def __init__(self, consumer: int, limit: int, window: int) -> None:
        self._consumer = consumer
        self._window = window
        self.limit = limit
        self.received = 0
        #: Set once a frame has come.
        self.begun = False

    def next(self, room: int) -> bytes | None:
        """Returns the frame that raises the limit for so many bytes of room; None while that is less than half of the
        window."""
        limit = self.received + room
        if limit - self.limit < self._window // 2:
            return None
        self.limit = limit
        return Credit(0, limit, self.received, self._consumer).frame()
