"""Handles requests of a bus to move: begins moves and handles their outcome. Without I/O or a clock."""

from __future__ import annotations

import logging
from collections import deque
from typing import Protocol

from .._api.errors import Error
from .._api.happenings import BusChanged, BusChangeFailed, State
from .._base.bus_link import BusLink
from .._wire.records import ChangeBus, ChangeBusFailed, Welcome
from .bus_move import BusMove
from .bus_urls import usable
from .parts import ClientParts

LOG = logging.getLogger("eventbus")

MAX_MOVES_PER_MINUTE = 8
#: Maximum of characters of the reason why this client stays.
MAX_REASON_CHARS = 500


class ConnectionOwner(Protocol):
    """Owner of the client's connection."""

    def connected(self, link: BusLink, welcome: Welcome, now: float) -> None:
        """Makes a welcomed connection the client's."""
        ...

    def ended(self, link: BusLink, code: int, reason: str, error: Error | None, now: float, retry_after: float) -> None:
        """Handles the end of the client's connection."""
        ...


class Moves:
    """See the module."""

    def __init__(self, parts: ClientParts, owner: ConnectionOwner) -> None:
        self._context = parts.context
        self._parts = parts
        self._owner = owner
        #: Move that is under way; None for none.
        self.move: BusMove | None = None
        #: End of the old connection of a move.
        self.old_end: tuple[int, str, Error | None] | None = None
        #: Number of moves to another bus.
        self.moves = 0
        # Times of the last moves.
        self._times: deque[float] = deque()

    def requested(self, link: BusLink, request: ChangeBus, now: float) -> None:
        """Handles the request of a bus to move."""
        move = self.move
        if move is not None and link is move.new:
            move.next = request, now
            return
        context = self._context
        if link is not context.current or context.connection is None or context.state is not State.CONNECTED:
            return
        if move is not None:
            self.refuse(link, request.token, "a move is under way already")
            return
        urls = usable(link.url, request.urls)
        while self._times and now - self._times[0] >= 60:
            self._times.popleft()
        if not urls:
            self.refuse(link, request.token, "none of the addresses can be used")
        elif len(self._times) >= MAX_MOVES_PER_MINUTE:
            why = f"this client was moved {MAX_MOVES_PER_MINUTE} times within a minute already"
            self.refuse(link, request.token, why)
        else:
            self._times.append(now)
            LOG.debug("%s: moving to %s (%s)", context.options.name, urls, request.reason.name)
            self.move = BusMove(self._parts, self, request, urls, link, now)

    @staticmethod
    def refuse(link: BusLink, token: str, why: str) -> None:
        """Tells the bus that the client stays."""
        link.control.append(ChangeBusFailed(token, why[:MAX_REASON_CHARS]).frame())

    def moved(
        self, move: BusMove, served: dict[int, bytes], unconfirmed: set[int], ending: set[int], now: float
    ) -> None:
        """Makes the new connection the client's."""
        context, registry = self._context, self._parts.registry
        old, link, before = context.current, move.new, context.connection
        assert link is not None and link.welcome is not None and before is not None
        self.move = None
        self.old_end = None
        context.current = link
        link.standby = False
        self._owner.connected(link, link.welcome, now)
        self.moves += 1
        for id in ending:
            # Left before the old bus could confirm their end.
            registry.end(id)
        for id in sorted(served.keys() - registry.all.keys()):
            link.control.append(served[id])
        registry.send_waiting(link)
        for id in served:
            if id in unconfirmed:
                registry.expect_answer(id, now)
            else:
                registry.confirmed(id)
        self._parts.credit.update(link, now)
        if old is not None:
            context.leave(old, "the client goes on at another bus", move.until)
        assert context.connection is not None
        context.happenings.append(BusChanged(before, context.connection))
        if move.next is not None:
            self.requested(link, move.next[0], move.next[1])

    def stayed(self, move: BusMove) -> None:
        """Handles a failed move: the client stays."""
        self.move = None
        if not move.old.over:
            self.refuse(move.old, move.token, move.why)
        LOG.debug("%s: does not move to %s: %s", self._context.options.name, move.url, move.why)
        self._context.happenings.append(BusChangeFailed(move.url, move.why))

    def lost_both(self, why: str, now: float) -> None:
        """Handles the loss of both connections: the old one has ended, or is given up."""
        self.move = None
        link, end = self._context.current, self.old_end
        if link is None:
            return
        self._context.abort(link)
        code, reason, error = end or (1006, f"left, and the connection that was to follow is lost: {why}", None)
        self._owner.ended(link, code, reason, error, now, 0.0)

    def unfit(self, welcome: Welcome) -> str | None:
        """Returns the reason why the client cannot move to a bus; None if it can."""
        connection = self._context.connection
        if connection is not None and welcome.producer != connection.producer:
            # Subscribers could not recognise duplicates.
            return f"it knows this client as {welcome.producer}, not as {connection.producer}"
        if not self._parts.sender.outbox.fits(welcome.limits, welcome.durable):
            return "it takes smaller events or messages than those that may be under way, or has no durable topics"
        if welcome.services == 0 and any(r.is_service for r in self._parts.registry.all.values()):
            return "it has no services"
        return None
