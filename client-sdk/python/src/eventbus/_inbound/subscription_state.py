"""A subscription of a client, over all its connections. Without I/O or a clock."""

from __future__ import annotations

from .._base.registration import Registration
from .._wire.records import Overflow, Subscribe, Unsubscribe
from .._wire.topics import matcher
from .buffer import Buffer


class SubscriptionState(Registration):
    """See the module. ``bound``: maximum of waiting bytes, where its policy allows drops."""

    def __init__(self, id: int, filter: str, group: str | None, overflow: Overflow, bound: int = 1 << 20) -> None:
        super().__init__(id, f"the subscription of {filter}")
        self.is_exclusive = group is not None
        self.filter = filter
        self.group = group
        self.overflow = overflow
        #: Set if waiting events use up the credit of the connection.
        self.blocks = overflow is Overflow.BLOCK
        self.matches = matcher(filter)
        self.is_wild = "*" in filter or ">" in filter
        #: Received items that were not taken.
        self.buffer = Buffer(filter, group, overflow, bound)
        #: Bytes received and not handled.
        self.unhandled = 0
        #: Start of its interruption, in microseconds since 1970; None where it is in force, or never was.
        self.interrupted_at: int | None = None
        #: Set when the application takes no more: further events are dropped, so that they do not stall those behind
        #: them.
        self.dropping = False
        self.received = self.duplicates = self.missing = self.interruptions = 0

    def begin_frame(self) -> bytes:
        return Subscribe(self.id, self.filter, self.group, self.overflow).frame()

    def end_frame(self) -> bytes:
        return Unsubscribe(self.id).frame()
