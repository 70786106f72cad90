"""Dispatches the frames of a bus after Welcome, except events. Part of the core: without I/O and without a clock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from .._api.errors import Error, Refused
from .._base.bus_link import BusLink
from .._wire.call_frames import Cancel, Capacity, Failure, Invoke, Register, Reply, Unregister
from .._wire.codec import Reader
from .._wire.durable_frames import Consume, Settle, Truncated
from .._wire.records import (
    PUBLISH,
    Authenticate,
    Barrier,
    BusCode,
    ChangeBus,
    ChangeBusFailed,
    Confirm,
    Credit,
    Drained,
    Echo,
    GapFrame,
    Problem,
    Subscribe,
    Unsubscribe,
    Welcome,
)
from .connector import Connector
from .parts import ClientParts

LOG = logging.getLogger("eventbus")


class FrameDispatcher:
    """See the module."""

    def __init__(self, parts: ClientParts, connector: Connector) -> None:
        self._context = parts.context
        self._sender = parts.sender
        self._dispatcher = parts.dispatcher
        self._registry = parts.registry
        self._tokens = parts.tokens
        self._calls = parts.calls
        self._services = parts.services
        self._consumers = parts.consumers
        self._connector = connector
        self._moves = connector.moves

    def take(self, link: BusLink, code: int, r: Reader, now: float) -> None:
        """Handles a frame other than a delivery or a feed."""
        if code == Confirm.CODE:
            self._on_confirm(link, Confirm.read(r), now)
        elif code == GapFrame.CODE:
            gap = GapFrame.read(r)
            if link.standby:
                self._dispatcher.hold_gap(gap)
            else:
                self._dispatcher.gap(gap)
        elif code == Problem.CODE:
            self._on_problem(link, Problem.read(r), now)
        elif code == Barrier.CODE:
            self._on_barrier(Barrier.read(r).id, now)
        elif code == Drained.CODE:
            self._on_drained(link, Drained.read(r).id, now)
        elif code == ChangeBus.CODE:
            self._moves.requested(link, ChangeBus.read(r), now)
        elif code == Truncated.CODE:
            self._consumers.truncated(link, Truncated.read(r))
        elif code == Welcome.CODE:
            LOG.warning("%s sent a second Welcome: skipped", link.url)
        else:
            self.take_call(link, code, r, now)

    def take_call(self, link: BusLink, code: int, r: Reader, now: float) -> None:
        """Handles a frame of calls; skips others."""
        if code == Reply.CODE:
            self._calls.reply(link, Reply.read(r))
        elif code == Invoke.CODE:
            self._services.invoked(link, Invoke.read(r), now)
        elif code == Failure.CODE:
            self._calls.failed(link, Failure.read(r), now)
        elif code == Cancel.CODE:
            self._services.cancelled(link, Cancel.read(r).call)
        # protocol.md#evolution: frames of a later version are skipped.

    def _on_confirm(self, link: BusLink, confirm: Confirm, now: float) -> None:
        if link.abandoned:
            return
        if confirm.type_code == PUBLISH:
            self._sender.outbox.confirm(
                confirm.topic,
                confirm.about,
                self._connector.producer,
                confirm.receivers,
                confirm.position,
                confirm.repeated,
            )
            self._sender.announce_room()
        elif confirm.type_code in (Subscribe.CODE, Register.CODE, Consume.CODE):
            if confirm.type_code == Consume.CODE:
                self._consumers.accepted(link, confirm)
            if self._moves.move is not None and link is self._moves.move.new:
                self._moves.move.confirmed(confirm.about, now)
                # Not confirmed to the application: the client may stay at the old bus, which may still refuse.
                if not self._moves.move.is_over:
                    return
            self._registry.confirmed(confirm.about)
        elif confirm.type_code == Settle.CODE:
            self._consumers.settled(link, confirm)
        elif confirm.type_code == Authenticate.CODE:
            self._on_authenticated(link, confirm, now)

    def _on_authenticated(self, link: BusLink, confirm: Confirm, now: float) -> None:
        context = self._context
        if link is context.current and context.connection is not None:
            context.connection = replace(context.connection, expires_at=confirm.about)
            self._tokens.renewed(link, confirm.about, now)

    def _on_problem(self, link: BusLink, problem: Problem, now: float) -> None:
        def error() -> Refused:
            return Refused(problem.code, problem.message, problem.retryable)

        move = self._moves.move
        new = move is not None and link is move.new
        expected = False
        if problem.type_code == PUBLISH:
            expected = self._sender.outbox.refuse(problem.topic, problem.about, error)
            self._sender.announce_room()
        elif problem.type_code == Subscribe.CODE and problem.about == 0:
            pass  # protocol.md#overflow: its subscriptions are DROP_OLDEST from now on
        elif problem.type_code in (Subscribe.CODE, Register.CODE, Consume.CODE) and new and move is not None:
            move.refused(problem.about, error(), now)
            expected = True
        elif problem.type_code in (Subscribe.CODE, Register.CODE, Consume.CODE):
            expected = not link.abandoned and self._refused(link, problem, error, now)
        elif problem.type_code in (Unsubscribe.CODE, Unregister.CODE):
            self._on_drained(link, problem.about, now)
            expected = True
        elif problem.type_code == Barrier.CODE:
            expected = self._barrier_refused(problem, error, now)
        elif problem.type_code == Settle.CODE and self._consumers.settle_refused(link, problem.about, error):
            expected = True
        elif problem.type_code in (Credit.CODE, Settle.CODE) and problem.code is BusCode.UNKNOWN_SUBSCRIPTION:
            # The bus has ended the consumer meanwhile.
            expected = True
        elif problem.type_code == Credit.CODE:
            link.credit.refused = True
            expected = True
        elif problem.type_code == Echo.CODE:
            expected = True
        elif problem.type_code == Authenticate.CODE:
            self._tokens.refused(link, now)
        elif problem.type_code not in (ChangeBusFailed.CODE, Capacity.CODE, Settle.CODE):
            # About the connection: the reason of the Close that follows.
            link.refusal = error()
        if not expected:
            self._context.happenings.append(error())

    def _refused(self, link: BusLink, problem: Problem, error: Callable[[], Refused], now: float) -> bool:
        """Handles the refusal of a subscription, a service or a consumer; returns whether it is known."""
        if problem.type_code == Consume.CODE and problem.code is BusCode.UNKNOWN_TYPE:
            return self._consumers.postpone(error)
        consumer = self._consumers.lost(link, problem) if problem.type_code == Consume.CODE else None
        if consumer is None:
            return self._registry.refused(problem.about, error)
        if consumer.ending:
            self._registry.end(consumer.id)
        else:
            self._registry.begin_again(consumer, link, now)
        return True

    def _on_barrier(self, id: int, now: float) -> None:
        if self._moves.move is None or not self._moves.move.echoed(id, now):
            self._sender.flushes.echoed(id)

    def _barrier_refused(self, problem: Problem, error: Callable[[], Error], now: float) -> bool:
        if self._moves.move is not None and self._moves.move.barrier_refused(problem.about, now):
            return True
        return self._sender.flushes.refused(
            problem.about, problem.retryable, error, now, lambda: self._sender.link is not None
        )

    def _on_drained(self, link: BusLink, id: int, now: float) -> None:
        move = self._moves.move
        if move is not None and link is move.new and link is not self._context.current:
            move.new_drained(id, now)
        elif not link.abandoned and not (move is not None and move.old_drained(id, now)):
            self._registry.end(id)
