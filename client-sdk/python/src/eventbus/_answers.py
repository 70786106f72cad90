"""What a bus sends after Welcome, but for events. Part of the core: without I/O and without a clock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ._call_frames import Cancel, Capacity, Failure, Invoke, Register, Reply, Unregister
from ._errors import Error, Refused
from ._link import Link
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


class Answers:
    """See the module. ``machine`` is the client."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def take(self, link: Link, code: int, r: Reader, now: float) -> None:
        """A frame has come that is no delivery."""
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
            machine.moves.asked(link, ChangeBus.read(r), now)
        elif code == Welcome.CODE:
            LOG.warning("%s sent a second Welcome: skipped", link.url)
        else:
            self.take_call(link, code, r, now)

    def take_call(self, link: Link, code: int, r: Reader, now: float) -> None:
        """The same for frames of calls; others are skipped."""
        machine = self._machine
        if code == Reply.CODE:
            machine.calls.reply(link, Reply.read(r))
        elif code == Invoke.CODE:
            machine.services.invoked(link, Invoke.read(r), now)
        elif code == Failure.CODE:
            machine.calls.failed(link, Failure.read(r), now)
        elif code == Cancel.CODE:
            machine.services.cancelled(link, Cancel.read(r).call)
        # protocol.md#evolution: others are a later version's, and skipped.

    def _on_confirm(self, link: Link, confirm: Confirm, now: float) -> None:
        machine = self._machine
        if link.abandoned:
            return
        if confirm.type_code == PUBLISH:
            machine.outbox.confirm(confirm.topic, confirm.about, machine.connector.producer, confirm.receivers)
            machine.tell_room()
        elif confirm.type_code in (Subscribe.CODE, Register.CODE):
            if machine.change is not None and link is machine.change.new:
                machine.change.confirmed(confirm.about, now)
                # The client may stay where it is, and there it may be refused yet.
                if not machine.change.is_over:
                    return
            machine.registry.confirmed(confirm.about)
        elif confirm.type_code == Authenticate.CODE and link is machine.current and machine.connection is not None:
            machine.connection = replace(machine.connection, expires_at=confirm.about)
            machine.tokens.renewed(link, confirm.about, now)

    def _on_problem(self, link: Link, problem: Problem, now: float) -> None:
        machine = self._machine

        def error() -> Refused:
            return Refused(problem.code, problem.message, problem.retryable)

        change = machine.change
        new = change is not None and link is change.new
        told = False
        if problem.type_code == PUBLISH:
            told = machine.outbox.refuse(problem.topic, problem.about, error)
            machine.tell_room()
        elif problem.type_code == Subscribe.CODE and problem.about == 0:
            pass  # protocol.md#overflow: its subscriptions are DROP_OLDEST from now on
        elif problem.type_code in (Subscribe.CODE, Register.CODE) and new and change is not None:
            change.refused(problem.about, error(), now)
            told = True
        elif problem.type_code in (Subscribe.CODE, Register.CODE):
            told = not link.abandoned and machine.registry.refused(problem.about, error)
        elif problem.type_code in (Unsubscribe.CODE, Unregister.CODE):
            self._on_drained(link, problem.about, now)
            told = True
        elif problem.type_code == Barrier.CODE:
            told = self._barrier_refused(problem, error, now)
        elif problem.type_code == Credit.CODE:
            link.credit.refused = True
            told = True
        elif problem.type_code == Echo.CODE:
            told = True
        elif problem.type_code == Authenticate.CODE:
            machine.tokens.refused(link, now)
        elif problem.type_code not in (ChangeBusFailed.CODE, Capacity.CODE):
            # About the connection: it says why the Close follows.
            link.refusal = error()
        if not told:
            machine.happenings.append(error())

    def _on_barrier(self, id: int, now: float) -> None:
        machine = self._machine
        if machine.change is None or not machine.change.echoed(id, now):
            machine.flushes.echoed(id)

    def _barrier_refused(self, problem: Problem, error: Callable[[], Error], now: float) -> bool:
        machine = self._machine
        if machine.change is not None and machine.change.barrier_refused(problem.about, now):
            return True
        return machine.flushes.refused(
            problem.about, problem.retryable, error, now, lambda: machine.sending is not None
        )

    def _on_drained(self, link: Link, id: int, now: float) -> None:
        machine = self._machine
        change = machine.change
        if change is not None and link is change.new and link is not machine.current:
            change.new_drained(id, now)
        elif not link.abandoned and not (change is not None and change.old_drained(id, now)):
            machine.registry.end(id)
