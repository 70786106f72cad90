"""One connection, as the core sees it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ._errors import Error
from ._wire import Credit, Welcome

if TYPE_CHECKING:
    from ._call import Call
    from ._received_request import ReceivedRequest

#: The library takes no larger message of a bus.
MAX_MESSAGE = 64 << 20


class CreditGate:
    """How much the bus may deliver over one connection: decides when more is granted, and how much."""

    def __init__(self, window: int) -> None:
        self._window = window
        #: The bus begins a delivery while those that came have fewer bytes than this; -1 until it was told.
        self.limit = -1
        self.received = 0
        self._last_began = 0
        #: The bus does not know of credit.
        self.refused = False

    def count(self, frame_bytes: int) -> None:
        """A delivery has come."""
        self._last_began = self.received
        self.received += frame_bytes

    def next(self, room: int) -> int | None:
        """The limit to tell for so many bytes of room; None for none.

        A new one is told when half of what there is room for is used, and not for less than a quarter of the window.
        """
        if self.refused or room < self._window // 4 or self.limit - self.received > room // 2:
            return None
        return self.received + room

    def grant(self, limit: int) -> bytes | None:
        """Takes note of a limit and makes its frame; None where it would change nothing."""
        if self.refused or limit <= self.limit:
            return None
        self.limit = limit
        return Credit(0, limit, self.received).frame()

    def is_beyond(self) -> bool:
        """Whether the bus sends without regard to the limit: it does not know of it, or could not be told a later one."""
        return self.refused or self.limit < 0 or (self.received > 0 and self._last_began >= self.limit)


@dataclass(eq=False)
class BusLink:
    """A connection, or a try to make one."""

    url: str
    credit: CreditGate
    #: Of a change of bus: goes into Hello.
    move_token: str | None = None
    #: Its deliveries are held: the client is at another bus still.
    standby: bool = False
    welcome: Welcome | None = None
    #: Frames that go before events.
    control: deque[bytes] = field(default_factory=deque)
    #: The requests that were sent over it and have no answer.
    requests: dict[int, Call] = field(default_factory=dict)
    #: The calls that it has brought and that are not answered.
    invoked: dict[int, ReceivedRequest] = field(default_factory=dict)
    #: Answers to these that wait to be sent.
    answers: deque[bytes] = field(default_factory=deque)
    #: Why the client has left it: calls may still end there, and nothing else of it counts. None where it has not.
    left: str | None = None
    #: What it still brings is too late to settle anything.
    abandoned: bool = False
    #: Closed, or told to close.
    over: bool = False
    opened: bool = False
    #: It waits for the application's token.
    asks_token: bool = False
    #: It brought what is no frame: nothing more of it is read.
    broken: bool = False
    #: The driver must not read for a while.
    paused: bool = False
    #: Seconds of the clock at which something was heard last.
    heard_at: float = 0.0
    #: Seconds of the clock at which it was asked whether it is there; None where it need not be.
    pinged_at: float | None = None
    #: Why the bus is about to close.
    refusal: Error | None = None
