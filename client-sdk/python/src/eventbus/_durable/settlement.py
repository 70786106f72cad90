"""Settlements of events of a shared durable subscription. Without I/O or a clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from .._api.errors import Error
from .._base.waiters import Waiter
from .._wire.durable_frames import MAX_REASON_BYTES, Settle, SettleOutcome

#: Maximum of settlements with an answer that are under way; a bus allows 256.
MAX_SENT = 128


@dataclass(frozen=True, slots=True)
class Settlement:
    """Neighbours of one feed with the same outcome."""

    #: Number of the feed in this client.
    feed: int
    #: Numbers of the first and the last one in the feed.
    first: int
    last: int
    #: Their positions.
    start: int
    end: int
    #: Number of the delivery.
    attempt: int
    outcome: SettleOutcome
    #: Of RETRY; -1 for that of the bus.
    delay_millis: int
    reason: str

    @property
    def events(self) -> int:
        """Returns the number of its events, if it is not of those that waited."""
        return self.last - self.first + 1

    def join(self, behind: Settlement) -> Settlement | None:
        """Returns this with the one that follows it; None if they differ or are no neighbours."""
        if (self.feed, self.last + 1) != (behind.feed, behind.first) or self._what() != behind._what():
            return None
        return replace(behind, first=self.first, start=self.start)

    def _what(self) -> tuple[SettleOutcome, int, str]:
        return self.outcome, self.delay_millis, self.reason

    def frame(self, consumer: int, confirm: bool, creation: int) -> bytes:
        """Returns its frame."""
        return Settle(
            consumer,
            self.end,
            confirm,
            creation,
            self.start,
            self.outcome,
            self.attempt,
            self.delay_millis,
            self.reason,
        ).frame()


def joined(settlements: Iterable[Settlement]) -> list[Settlement]:
    """Joins neighbours, in the order of feeds and events."""
    found: list[Settlement] = []
    for each in sorted(settlements, key=lambda s: (s.feed, s.first)):
        both = found[-1].join(each) if found else None
        if both is None:
            found.append(each)
        else:
            found[-1] = both
    return found


def cut(reason: str) -> str:
    """Cuts a reason to the bytes that a frame may have, at a character."""
    return reason[:MAX_REASON_BYTES].encode(errors="replace")[:MAX_REASON_BYTES].decode(errors="ignore")


class SettleAnswers:
    """Settlements over one connection whose answer the application waits for.

    A refusal does not say which settlement it is for. But each has one answer: when as many are refused as have no other
    answer, those are the refused ones. Until then no others are sent.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Settlement, Waiter]] = deque()
        # By their positions.
        self._sent: dict[int, Waiter] = {}
        self._refusals: list[Callable[[], Error]] = []

    def add(self, settlement: Settlement, waiter: Waiter) -> None:
        """Adds a settlement of one event."""
        self._waiting.append((settlement, waiter))

    def next(self) -> Settlement | None:
        """Takes the next settlement that may be sent now; None for none."""
        if not self._waiting or self._refusals or len(self._sent) == MAX_SENT:
            return None
        settlement, waiter = self._waiting[0]
        if settlement.end in self._sent:
            return None
        self._waiting.popleft()
        self._sent[settlement.end] = waiter
        return settlement

    def stored(self, position: int) -> Waiter | None:
        """Takes the waiter for a settlement that is stored; None for none."""
        return self._sent.pop(position, None)

    def refuse(self, error: Callable[[], Error]) -> bool:
        """Records a refusal; returns False if no settlement waits for an answer."""
        if not self._sent:
            return False
        self._refusals.append(error)
        return True

    def refused(self) -> list[tuple[Waiter, Error]]:
        """Takes the waiters for what is refused, as soon as it is known which."""
        if len(self._sent) > len(self._refusals):
            return []
        found = [(waiter, error()) for waiter, error in zip(self._sent.values(), self._refusals, strict=False)]
        self._sent.clear()
        self._refusals.clear()
        return found

    def end(self) -> list[Waiter]:
        """Takes all waiters, because no answers come any more."""
        found = [*self._sent.values(), *(waiter for _, waiter in self._waiting)]
        self._sent.clear()
        self._waiting.clear()
        self._refusals.clear()
        return found
