"""Selects the next message of a connection. Part of the core: without I/O or a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._bus_link import BusLink

if TYPE_CHECKING:
    from ._machine import Machine


class Outgoing:
    """Control frames come first, then calls and events, alternately. ``machine`` is the client."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        # Set if the last message had calls: events come first now.
        self._calls_went = False

    def take(self, link: BusLink, now: float) -> bytes | None:
        """Takes the next message; None for none."""
        machine = self._machine
        if link.control:
            # Hello is sent alone: a bus accepts little before it has answered.
            room = machine.options.batch_bytes
            if link.welcome is not None:
                room = min(room, link.welcome.limits.message_bytes)
            out = [link.control.popleft()]
            room -= len(out[0])
            while link.control and len(link.control[0]) <= room:
                out.append(link.control.popleft())
                room -= len(out[-1])
            return b"".join(out)
        sends = link is machine.sending and not link.over
        waits = sends and (machine.move_barrier is not None or machine.outbox.has_work())
        if not (self._calls_went and waits):
            calls = self._calls(link, sends and not link.broken, now)
            if calls:
                self._calls_went = True
                return b"".join(calls)
        if not sends:
            return None
        self._calls_went = False
        if machine.move_barrier is not None:
            barrier, machine.move_barrier = machine.move_barrier, None
            return barrier
        return machine.outbox.next_message()

    def _calls(self, link: BusLink, sends: bool, now: float) -> list[bytes]:
        """Takes answers, which belong to a connection, and requests, which are sent where events are sent."""
        machine = self._machine
        out: list[bytes] = []
        if link.answers or (sends and machine.calls.has_work()):
            assert link.welcome is not None
            room = min(machine.options.batch_bytes, link.welcome.limits.message_bytes)
            room = machine.services.take(link, room, out, now)
            if sends and not link.answers:
                machine.calls.take(link, room, out, now)
        return out
