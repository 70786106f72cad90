"""Dispatches the frames of a bus after Welcome, except events. Part of the core: without I/O and without a clock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ._bus_link import BusLink
from ._call_frames import Cancel, Capacity, Failure, Invoke, Register, Reply, Unregister
from ._errors import Error, Refused
from ._wire import (
    PUBLISH,
    Authenticate,
    Barrier,
    ChangeBus,
    ChangeBusFailed,
    Confirm,
    Credit,
    Drained,
    Echo,
    GapFrame,
    Problem,
    Reader,
    Subscribe,
    Unsubscribe,
    Welcome,
)  # fmt: skip

if TYPE_CHECKING:
    from ._machine import Machine

LOG = logging.getLogger("eventbus")


class FrameDispatcher:
    """See the module. ``machine`` is the client."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def take(self, link: BusLink, code: int, r: Reader, now: float) -> None:
        """Handles a frame other than a delivery."""
        machine = self._machine
        if code == Confirm.CODE:
            self._on_confirm(link, Confirm.read(r), now)
        elif code == GapFrame.CODE:
            gap = GapFrame.read(r)
            if link.standby:
                machine.dispatcher.hold_gap(gap)
            else:
                machine.dispatcher.gap(gap)
        elif code == Problem.CODE:
            self._on_problem(link, Problem.read(r), now)
        elif code == Barrier.CODE:
            self._on_barrier(Barrier.read(r).id, now)
        elif code == Drained.CODE:
            self._on_drained(link, Drained.read(r).id, now)
        elif code == ChangeBus.CODE:
            machine.moves.requested(link, ChangeBus.read(r), now)
        elif code == Welcome.CODE:
            LOG.warning("%s sent a second Welcome: skipped", link.url)
        else:
            self.take_call(link, code, r, now)

    def take_call(self, link: BusLink, code: int, r: Reader, now: float) -> None:
        """Handles a frame of calls; skips others."""
        machine = self._machine
        if code == Reply.CODE:
            machine.calls.reply(link, Reply.read(r))
        elif code == Invoke.CODE:
            machine.services.invoked(link, Invoke.read(r), now)
        elif code == Failure.CODE:
            machine.calls.failed(link, Failure.read(r), now)
        elif code == Cancel.CODE:
            machine.services.cancelled(link, Cancel.read(r).call)
        # protocol.md#evolution: frames of a later version are skipped.

    def _on_confirm(self, link: BusLink, confirm: Confirm, now: float) -> None:
        machine = self._machine
        if link.abandoned:
            return
        if confirm.type_code == PUBLISH:
            machine.outbox.confirm(confirm.topic, confirm.about, machine.connector.producer, confirm.receivers)
            machine.announce_room()
        elif confirm.type_code in (Subscribe.CODE, Register.CODE):
            if machine.move is not None and link is machine.move.new:
                machine.move.confirmed(confirm.about, now)
                # Not confirmed to the application: the client may stay at the old bus, which may still refuse.
                if not machine.move.is_over:
                    return
            machine.registry.confirmed(confirm.about)
        elif confirm.type_code == Authenticate.CODE and link is machine.current and machine.connection is not None:
            machine.connection = replace(machine.connection, expires_at=confirm.about)
            machine.tokens.renewed(link, confirm.about, now)

    def _on_problem(self, link: BusLink, problem: Problem, now: float) -> None:
        machine = self._machine

        def error() -> Refused:
            return Refused(problem.code, problem.message, problem.retryable)

        move = machine.move
        new = move is not None and link is move.new
        expected = False
        if problem.type_code == PUBLISH:
            expected = machine.outbox.refuse(problem.topic, problem.about, error)
            machine.announce_room()
        elif problem.type_code == Subscribe.CODE and problem.about == 0:
            pass  # protocol.md#overflow: its subscriptions are DROP_OLDEST from now on
        elif problem.type_code in (Subscribe.CODE, Register.CODE) and new and move is not None:
            move.refused(problem.about, error(), now)
            expected = True
        elif problem.type_code in (Subscribe.CODE, Register.CODE):
            expected = not link.abandoned and machine.registry.refused(problem.about, error)
        elif problem.type_code in (Unsubscribe.CODE, Unregister.CODE):
            self._on_drained(link, problem.about, now)
            expected = True
        elif problem.type_code == Barrier.CODE:
            expected = self._barrier_refused(problem, error, now)
        elif problem.type_code == Credit.CODE:
            link.credit.refused = True
            expected = True
        elif problem.type_code == Echo.CODE:
            expected = True
        elif problem.type_code == Authenticate.CODE:
            machine.tokens.refused(link, now)
        elif problem.type_code not in (ChangeBusFailed.CODE, Capacity.CODE):
            # About the connection: the reason of the Close that follows.
            link.refusal = error()
        if not expected:
            machine.happenings.append(error())

    def _on_barrier(self, id: int, now: float) -> None:
        machine = self._machine
        if machine.move is None or not machine.move.echoed(id, now):
            machine.flushes.echoed(id)

    def _barrier_refused(self, problem: Problem, error: Callable[[], Error], now: float) -> bool:
        machine = self._machine
        if machine.move is not None and machine.move.barrier_refused(problem.about, now):
            return True
        return machine.flushes.refused(
            problem.about, problem.retryable, error, now, lambda: machine.sending is not None
        )

    def _on_drained(self, link: BusLink, id: int, now: float) -> None:
        machine = self._machine
        move = machine.move
        if move is not None and link is move.new and link is not machine.current:
            move.new_drained(id, now)
        elif not link.abandoned and not (move is not None and move.old_drained(id, now)):
            machine.registry.end(id)
