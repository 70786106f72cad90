"""State of a connection, and its credit. Without I/O or a clock."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from .._api.errors import Error
from .._wire.records import Credit, Welcome

#: Maximum bytes of a message from a bus.
MAX_MESSAGE = 64 << 20


class CreditGate:
    """Credit of the bus on one connection: decides when to grant more, and how much."""

    def __init__(self, window: int) -> None:
        self._window = window
        #: Limit granted last: the bus begins a delivery while fewer bytes were delivered; -1 for none.
        self.limit = -1
        self.received = 0
        self._last_began = 0
        #: Set if the bus does not know credit.
        self.refused = False

    def count(self, frame_bytes: int) -> None:
        """Counts a delivery."""
        self._last_began = self.received
        self.received += frame_bytes

    def next(self, room: int) -> int | None:
        """Returns the limit to grant for so many bytes of room; None for none.

        A new limit is granted when half of the room is used, and not for less than a quarter of the window.
        """
        if self.refused or room < self._window // 4 or self.limit - self.received > room // 2:
            return None
        return self.received + room

    def grant(self, limit: int) -> bytes | None:
        """Records a limit and returns its frame; None if it would change nothing."""
        if self.refused or limit <= self.limit:
            return None
        self.limit = limit
        return Credit(0, limit, self.received).frame()

    def is_beyond(self) -> bool:
        """Returns whether the bus sends without regard to the limit: it does not know credit, or has not received a later
        limit."""
        return self.refused or self.limit < 0 or (self.received > 0 and self._last_began >= self.limit)


@dataclass(eq=False)
class BusLink:
    """A connection, or a try to connect."""

    url: str
    credit: CreditGate
    #: Token of a move, for the Hello; None outside of a move.
    move_token: str | None = None
    #: Set while its deliveries are held, because the client is still at another bus.
    standby: bool = False
    welcome: Welcome | None = None
    #: Frames to be sent before events.
    control: deque[bytes] = field(default_factory=deque)
    #: Number of requests sent or received over it that have no answer.
    open_calls: int = 0
    #: Answers to received requests that wait to be sent.
    answers: deque[bytes] = field(default_factory=deque)
    #: Reason why the client has left it: only calls that are under way still count. None before that.
    left: str | None = None
    #: Set when its confirmations and refusals come too late to count.
    abandoned: bool = False
    #: Set when it is closed, or about to be.
    over: bool = False
    opened: bool = False
    #: Set while it waits for the application's token.
    asks_token: bool = False
    #: Set after a malformed frame: nothing more of it is read.
    broken: bool = False
    #: Set while the driver must not read.
    paused: bool = False
    #: Time of the last receipt, in seconds of the clock.
    heard_at: float = 0.0
    #: Time of the last probe, in seconds of the clock; None for none.
    pinged_at: float | None = None
    #: Reason of the close that follows.
    refusal: Error | None = None

    def grant(self, limit: int) -> None:
        """Grants the bus credit."""
        frame = self.credit.grant(limit)
        if frame is not None:
            self.control.append(frame)
