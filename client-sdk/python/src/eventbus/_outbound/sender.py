"""Sends the events of a client over one of its connections, and tells publishers when there is room. Without I/O or a
clock."""

from __future__ import annotations

from .._api.happenings import DropCause, Dropped, State
from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._base.timers import Timer
from .._base.waiters import Waiter, fail, succeed
from .barriers import Barriers
from .outbox import Outbox


class Sender:
    """See the module."""

    def __init__(self, context: ClientContext) -> None:
        options = context.options
        self._context = context
        self.outbox = Outbox(options.outbound_bytes, options.batch_bytes, options.confirm_timeout, context.nanos)
        self.flushes = Barriers(self.outbox, context.timers)
        #: Connection over which events are sent.
        self.link: BusLink | None = None
        #: Barrier of a move, sent in place of events.
        self.move_barrier: bytes | None = None
        self._room: list[Waiter] = []
        self._expiry: Timer | None = None

    def check_open(self) -> None:
        """Raises Closed if nothing new is accepted any more."""
        if self.outbox.closed is not None:
            raise self.outbox.closed()

    # ---- Publishers

    def flush(self, waiter: Waiter, timeout: float, now: float) -> None:
        """Sends a barrier, again and again until it is answered or its time has passed."""
        if self._context.state is State.CLOSED:
            fail(waiter, self._context.closed_error())
            return
        self.flushes.send(waiter, timeout, now, self.link is not None)
        self._context.wake()

    def when_room(self, waiter: Waiter) -> None:
        """Tells the waiter when there is room for events again."""
        if self._context.state is State.CLOSED:
            fail(waiter, self._context.closed_error())
        elif self.outbox.has_room():
            succeed(waiter, None)
        else:
            self._room = [w for w in self._room if not w.done()]
            self._room.append(waiter)

    def announce_room(self) -> None:
        """Tells the waiters for room, if there is some."""
        if self._room and self.outbox.has_room():
            waiting, self._room = self._room, []
            for waiter in waiting:
                succeed(waiter, None)

    def expect_confirm(self, now: float) -> None:
        """Schedules the expiry of an event that a call waits for."""
        if self._expiry is None:
            at = self.outbox.expires_at()
            if at is not None:
                self._expiry = self._context.timers.at(max(at, now), self._expire)

    def _expire(self, now: float) -> None:
        self._expiry = None
        self.outbox.expire(now)
        self.expect_confirm(now)
        self.announce_room()

    # ---- Connections

    def sent(self, link: BusLink) -> None:
        """Records that the network has taken the message of ``outgoing``."""
        if link is self.link:
            self.outbox.sent()
            self.announce_room()

    def resume(self, link: BusLink) -> None:
        """Sends events over this connection, unconfirmed ones first."""
        self.outbox.resume()
        self.move_barrier = None
        self.link = link
        self.flushes.send_again()

    def lose(self) -> None:
        """Handles the loss of the connection for sending, while there may be another one."""
        self.link = None
        self.move_barrier = None
        unknown = self.outbox.disconnected()
        self.announce_room()
        if unknown:
            self._context.happenings.append(Dropped(unknown, DropCause.CONNECTION_LOST))

    def close(self) -> None:
        """Fails the waiters for answers and for room, because the client has ended."""
        self.flushes.close(self._context.closed_error)
        for waiter in self._room:
            fail(waiter, self._context.closed_error())
        self._room.clear()
