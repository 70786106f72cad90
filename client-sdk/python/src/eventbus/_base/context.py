"""State that the parts of a client share: its connections, timers, and output for its driver. Without I/O or a clock."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from .._api.errors import Error, closed
from .._api.happenings import MOVES, Connection, State
from .._api.options import Options
from .bus_link import BusLink, CreditGate
from .commands import Abort, Close, Command, Open, Ping
from .timers import Timers, void

LOG = logging.getLogger("eventbus")


class ClientContext:
    """See the module. ``random`` returns numbers from 0 to 1, ``nanos`` nanoseconds since 1970."""

    def __init__(self, options: Options, random: Callable[[], float], nanos: Callable[[], int]) -> None:
        self.options = options
        self.random = random
        self.nanos = nanos
        self.state = State.NEW
        self.connection: Connection | None = None
        #: Connection of the client, or try to make one.
        self.current: BusLink | None = None
        #: Connections that the client has left and that are still open.
        self.left: set[BusLink] = set()
        self.timers = Timers()
        self.commands: deque[Command] = deque()
        self.happenings: list[object] = []
        #: Called when there is output without an input.
        self.wake: Callable[[], None] = lambda: None
        #: Reason of the end of the client.
        self.end_reason: Error | None = None

    def become(self, state: State) -> None:
        """Changes the state; nothing else does."""
        if state not in MOVES[self.state]:
            raise RuntimeError(f"state: {self.state.name} -> {state.name} (not in the table)")
        LOG.debug("%s: %s -> %s", self.options.name, self.state.name, state.name)
        self.state = state

    def closed_error(self) -> Error:
        """Returns the error of calls to a closed client."""
        return closed("the client is closed", self.end_reason)

    def soon(self, task: Callable[[float], Any]) -> None:
        """Runs a task after the current input was handled."""
        self.timers.at(0.0, lambda now: void(task(now)))
        self.wake()

    # ---- Connections

    def open_link(self, url: str, now: float, move_token: str | None = None, timeout: float | None = None) -> BusLink:
        """Begins to connect."""
        link = BusLink(
            url, CreditGate(self.options.receive_bytes), move_token, standby=move_token is not None, heard_at=now
        )
        self.commands.append(Open(link, self.options.connect_timeout if timeout is None else timeout))
        return link

    def abort(self, link: BusLink) -> None:
        """Ends a connection at once."""
        if not link.over:
            link.over = link.abandoned = True
            self.commands.append(Abort(link))

    def close_link(self, link: BusLink, code: int, reason: str) -> None:
        """Ends a connection in good order."""
        if link.welcome is None:
            self.abort(link)
        elif not link.over:
            link.over = True
            self.commands.append(Close(link, code, reason))

    def fence(self, link: BusLink) -> None:
        """Sends a Ping whose Pong comes behind all that the bus has sent; ``heard`` is called with it."""
        self.commands.append(Ping(link, behind=True))

    def leave(self, link: BusLink, reason: str, until: float) -> None:
        """Leaves a connection: closes it when no call is left there, at ``until`` at the latest."""
        link.abandoned = True
        if link.over or link.welcome is None:
            self.close_link(link, 1000, reason)
            return
        link.left = reason
        link.standby = link.paused = False
        self.left.add(link)
        self.timers.at(until, lambda _: self.close_link(link, 1000, reason))
        self.close_if_quiet(link)

    def close_if_quiet(self, link: BusLink) -> None:
        """Closes a left connection once its last call has ended."""
        if link.left is not None and not link.open_calls:
            self.close_link(link, 1000, link.left)
            self.wake()
