"""Selects the next message of a connection. Part of the core: without I/O or a clock."""

from __future__ import annotations

from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._calls.pending_calls import PendingCalls
from .._calls.services import Services
from .._outbound.sender import Sender


class Outgoing:
    """Control frames come first, then calls and events, alternately."""

    def __init__(self, context: ClientContext, sender: Sender, calls: PendingCalls, services: Services) -> None:
        self._options = context.options
        self._sender = sender
        self._calls = calls
        self._services = services
        # Set if the last message had calls: events come first now.
        self._calls_went = False

    def take(self, link: BusLink, now: float) -> bytes | None:
        """Takes the next message; None for none."""
        sender = self._sender
        if link.control:
            # Hello is sent alone: a bus accepts little before it has answered.
            room = self._options.batch_bytes
            if link.welcome is not None:
                room = min(room, link.welcome.limits.message_bytes)
            out = [link.control.popleft()]
            room -= len(out[0])
            while link.control and len(link.control[0]) <= room:
                out.append(link.control.popleft())
                room -= len(out[-1])
            return b"".join(out)
        sends = link is sender.link and not link.over
        waits = sends and (sender.move_barrier is not None or sender.outbox.has_work())
        if not (self._calls_went and waits):
            calls = self._take_calls(link, sends and not link.broken, now)
            if calls:
                self._calls_went = True
                return b"".join(calls)
        if not sends:
            return None
        self._calls_went = False
        if sender.move_barrier is not None:
            barrier, sender.move_barrier = sender.move_barrier, None
            return barrier
        return sender.outbox.next_message()

    def _take_calls(self, link: BusLink, sends: bool, now: float) -> list[bytes]:
        """Takes answers, which belong to a connection, and requests, which are sent where events are sent."""
        out: list[bytes] = []
        if link.answers or (sends and self._calls.has_work()):
            assert link.welcome is not None
            room = min(self._options.batch_bytes, link.welcome.limits.message_bytes)
            room = self._services.take(link, room, out, now)
            if sends and not link.answers:
                self._calls.take(link, room, out, now)
        return out
