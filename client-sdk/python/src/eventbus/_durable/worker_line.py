"""A worker at the bus of one connection. Without I/O or a clock."""

from __future__ import annotations

from collections.abc import Callable

from .._api.errors import ConnectionLost, Error
from .._base.bus_link import BusLink
from .._base.waiters import Waiter, fail, succeed
from .._wire.durable_frames import SettleOutcome
from .feed_credit import FeedCredit
from .settlement import SettleAnswers, Settlement, joined


class WorkCounts:
    """Settlements of a worker by their outcomes."""

    def __init__(self) -> None:
        self.sent = dict.fromkeys(SettleOutcome, 0)
        #: Settlements that were dropped, because the connection of their event was gone.
        self.late = 0


class WorkerLine:
    """Credit of a worker, and settlements of what came over a connection, from the bus's answer to ``Consume`` on."""

    def __init__(self, link: BusLink, consumer: int, credit: FeedCredit, creation: int, counts: WorkCounts) -> None:
        self.link = link
        self.credit = credit
        #: Set when all that still comes is given back.
        self.leaving = False
        self._consumer = consumer
        self._creation = creation
        self._counts = counts
        self._waiting: list[Settlement] = []
        self._answers = SettleAnswers()
        self._lost = False

    @property
    def is_lost(self) -> bool:
        """Returns whether nothing that came over it can be settled any more."""
        return self._lost or self.link.over

    def lose(self) -> None:
        """Records that nothing that came over it can be settled any more."""
        self._lost = True
        lateness = (SettleOutcome.DONE, SettleOutcome.RETRY, SettleOutcome.REJECT)
        self._counts.late += sum(each.events for each in self._waiting if each.outcome in lateness)
        self._waiting.clear()
        for waiter in self._answers.end():
            fail(waiter, _unknown())

    def grant(self, room: int) -> None:
        """Raises the limit as far as there is room."""
        if not self.leaving and not self.is_lost and (frame := self.credit.next(room)) is not None:
            self.link.control.append(frame)

    # ---- Settlements

    def settle(self, settlement: Settlement) -> None:
        """Settles events with the next ``flush``, or counts that it is too late."""
        if self.is_lost:
            self._counts.late += 1
        else:
            self._waiting.append(settlement)

    def settle_confirmed(self, settlement: Settlement, waiter: Waiter) -> None:
        """Settles an event with an answer, as soon as the bus takes it."""
        if self.is_lost:
            self._counts.late += 1
            fail(waiter, _unknown())
        else:
            self._answers.add(settlement, waiter)
            self.flush()

    def tell(self, settlement: Settlement) -> None:
        """Adds what is not missed if it comes too late: more time for an event, or events that are given back."""
        if not self.is_lost:
            self._waiting.append(settlement)

    def stored(self, position: int) -> None:
        """Handles that a settlement is stored."""
        waiter = self._answers.stored(position)
        if waiter is not None:
            succeed(waiter, None)
            self._answered()

    def refused(self, error: Callable[[], Error]) -> bool:
        """Handles that a settlement is refused; returns False if none waits for an answer."""
        is_awaited = self._answers.refuse(error)
        if is_awaited:
            self._answered()
        return is_awaited

    def _answered(self) -> None:
        for waiter, error in self._answers.refused():
            fail(waiter, error)
        self.flush()

    def flush(self) -> None:
        """Sends the settlements that wait."""
        waiting, self._waiting = self._waiting, []
        for settlement in joined(waiting):
            self._send(settlement, False)
        while (confirmed := self._answers.next()) is not None:
            self._send(confirmed, True)

    def _send(self, settlement: Settlement, confirm: bool) -> None:
        self._counts.sent[settlement.outcome] += settlement.events
        self.link.control.append(settlement.frame(self._consumer, confirm, self._creation))


def _unknown() -> Error:
    return ConnectionLost(
        "the connection that brought the event has ended: it is not known whether it is settled (expected: it may come "
        "again)"
    )
