"""Handles requests of a bus to move: begins moves and handles their outcome. Without I/O or a clock."""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING

from ._bus_link import BusLink
from ._bus_move import BusMove
from ._bus_urls import usable
from ._happenings import BusChanged, BusChangeFailed, State
from ._wire import ChangeBus, ChangeBusFailed

if TYPE_CHECKING:
    from ._machine import Machine

LOG = logging.getLogger("eventbus")

MAX_MOVES_PER_MINUTE = 8
#: Maximum of characters of the reason why this client stays.
MAX_REASON_CHARS = 500


class Moves:
    """See the module. ``machine`` is the client."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        #: Connections that the client has left and that are still open.
        self.left: set[BusLink] = set()
        self._moves: deque[float] = deque()

    def requested(self, link: BusLink, request: ChangeBus, now: float) -> None:
        """Handles the request of a bus to move."""
        machine = self._machine
        move = machine.move
        if move is not None and link is move.new:
            move.next = request, now
            return
        if link is not machine.current or machine.connection is None or machine.state is not State.CONNECTED:
            return
        if move is not None:
            self.refuse(link, request.token, "a move is under way already")
            return
        urls = usable(link.url, request.urls)
        while self._moves and now - self._moves[0] >= 60:
            self._moves.popleft()
        if not urls:
            self.refuse(link, request.token, "none of the addresses can be used")
        elif len(self._moves) >= MAX_MOVES_PER_MINUTE:
            why = f"this client was moved {MAX_MOVES_PER_MINUTE} times within a minute already"
            self.refuse(link, request.token, why)
        else:
            self._moves.append(now)
            LOG.debug("%s: moving to %s (%s)", machine.options.name, urls, request.reason.name)
            machine.move = BusMove(machine, request, urls, link, now)

    @staticmethod
    def refuse(link: BusLink, token: str, why: str) -> None:
        """Tells the bus that the client stays."""
        link.control.append(ChangeBusFailed(token, why[:MAX_REASON_CHARS]).frame())

    def moved(
        self, move: BusMove, served: dict[int, bytes], unconfirmed: set[int], ending: set[int], now: float
    ) -> None:
        """Makes the new connection the client's; ``served``: registrations requested there, with the frames that end
        them.

        ``unconfirmed``: those that the new bus has not confirmed, if the old one was lost first.
        """
        machine = self._machine
        old, link, before = machine.current, move.new, machine.connection
        assert link is not None and link.welcome is not None and before is not None
        machine.move = None
        machine.connector.old_end = None
        machine.current = link
        link.standby = False
        machine.connector.connected(link, link.welcome, now)
        machine.bus_changes += 1
        for id in ending:
            # Left before the old bus could confirm their end.
            machine.registry.end(id)
        for id in sorted(served.keys() - machine.registry.all.keys()):
            link.control.append(served[id])
        machine.registry.send_waiting(link)
        for id in served:
            if id in unconfirmed:
                machine.registry.expect_answer(id, now)
            else:
                machine.registry.confirmed(id)
        machine.update_credit(link, now)
        if old is not None:
            self.leave(old, "the client goes on at another bus", move.until)
        assert machine.connection is not None
        machine.happenings.append(BusChanged(before, machine.connection))
        if move.next is not None:
            self.requested(link, move.next[0], move.next[1])

    def leave(self, link: BusLink, reason: str, until: float) -> None:
        """Leaves a connection: closes it when no call is left there, at ``until`` at the latest."""
        machine = self._machine
        link.abandoned = True
        if link.over or link.welcome is None:
            machine.close_link(link, 1000, reason)
            return
        link.left = reason
        link.standby = link.paused = False
        self.left.add(link)
        machine.timers.at(until, lambda _: machine.close_link(link, 1000, reason))
        self.close_if_quiet(link)

    def close_if_quiet(self, link: BusLink) -> None:
        """Closes a left connection once its last call has ended."""
        if link.left is not None and not link.requests and not link.invoked:
            self._machine.close_link(link, 1000, link.left)
            self._machine.wake()

    def stayed(self, move: BusMove) -> None:
        """Handles a failed move: the client stays."""
        machine = self._machine
        machine.move = None
        if not move.old.over:
            self.refuse(move.old, move.token, move.why)
        LOG.debug("%s: does not move to %s: %s", machine.options.name, move.url, move.why)
        machine.happenings.append(BusChangeFailed(move.url, move.why))

    def lost_both(self, why: str, now: float) -> None:
        """Handles the loss of both connections: the old one has ended, or is given up."""
        machine = self._machine
        machine.move = None
        link, end = machine.current, machine.connector.old_end
        if link is None:
            return
        machine.abort(link)
        code, reason, error = end or (1006, f"left, and the connection that was to follow is lost: {why}", None)
        machine.connector.ended(link, code, reason, error, now, 0.0)
