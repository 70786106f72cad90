"""Consumers of durable topics: where they begin, what they are told, and their figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from .._wire.codec import MAX_LONG
from .._wire.durable_frames import ConsumeStart, TruncatedReason
from .checks import check_range

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Start:
    """First event for a consumer: ``FIRST``, ``NEW``, ``LATEST_VALUES``, ``Start.position(n)`` or ``Start.time(t)``."""

    #: The oldest event that the journal has.
    FIRST: ClassVar[Start]
    #: The first event that is stored from then on.
    NEW: ClassVar[Start]
    #: The last event of each topic, in the order of their positions, and then every event: only for journals that keep
    #: no more than that.
    LATEST_VALUES: ClassVar[Start]

    kind: ConsumeStart
    #: A position, or microseconds since 1970; else 0.
    value: int = 0

    @classmethod
    def position(cls, position: int) -> Start:
        """Returns the start at a position; retention may have removed its event, then at the next one. Raises
        ValueError."""
        check_range("position", position, 0, MAX_LONG, "", whole=True)
        return cls(ConsumeStart.POSITION, position)

    @classmethod
    def time(cls, time: datetime | int) -> Start:
        """Returns the start at the first event that was stored at a time or later, by the clock of the bus; some that are
        a little older may come first.

        ``time``: with a time zone, or in microseconds since 1970. Raises ValueError.
        """
        if isinstance(time, datetime):
            if time.tzinfo is None:
                raise ValueError(f"time: {time!r} (expected: with a time zone)")
            time = (time - _EPOCH) // timedelta(microseconds=1)
        check_range("time", time, 0, MAX_LONG, "microseconds since 1970", whole=True)
        return cls(ConsumeStart.TIME, time)


Start.FIRST = Start(ConsumeStart.FIRST)
Start.NEW = Start(ConsumeStart.NEW)
Start.LATEST_VALUES = Start(ConsumeStart.LATEST_VALUES)


@dataclass(frozen=True, slots=True)
class Truncated:
    """Events of durable topics that a consumer does not get."""

    #: Filter of the consumer.
    filter: str
    #: First position.
    first: int
    #: Last position; not every position up to it need have an event for the consumer.
    last: int
    reason: TruncatedReason


@dataclass(frozen=True, slots=True)
class DurableCounters:
    """Figures of a consumer of durable topics since it was made."""

    #: Events that were handled.
    received: int
    #: Events that came again and were dropped.
    duplicates: int
    #: Exceptions of its handler.
    failed: int
    #: Bytes that are received and not handled now.
    buffered_bytes: int


@dataclass(frozen=True, slots=True)
class WorkerCounters:
    """Figures of a worker since it was made."""

    #: Events that the application has got.
    received: int
    #: Events that were settled as done.
    done: int
    #: Events that were settled to come again.
    retried: int
    #: Events that were made dead letters.
    rejected: int
    #: Settlements that were dropped, because the connection of their event was gone.
    late: int
    #: Exceptions of its handler.
    failed: int
    #: Bytes of events that are not settled now.
    buffered_bytes: int
