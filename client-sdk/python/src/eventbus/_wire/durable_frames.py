"""Frames of durable topics. docs/protocol.md#durable-topics has the rules; ``records`` writes and reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from .call_frames import BYTES
from .call_frames import RECORDS as OTHER_RECORDS
from .codec import Reader, frames, text, varint
from .events import Delivery, DeliveryReader
from .records import BOOLEAN, DELIVER, INT, LONG, POSITION, STRING, TOPIC, Kind, Record, enum_kind, record_field

MAX_JOURNAL_BYTES = 128
MAX_REASON_BYTES = 256


class ConsumeMode(IntEnum):
    """Sharing of the events between the consumers of one durable subscription."""

    UNKNOWN = 0
    #: One consumer gets all of them; others stand by.
    EXCLUSIVE = 1
    #: Each consumer gets some of them.
    SHARED = 2
    #: Each consumer gets those of some keys, one of a key at a time.
    KEY_SHARED = 3


class SettleOutcome(IntEnum):
    """Outcome of events that a consumer of a shared subscription has got."""

    UNKNOWN = 0
    #: They are handled, and do not come again.
    DONE = 1
    #: They come again, later.
    RETRY = 2
    #: They do not come again, and are kept as dead.
    REJECT = 3
    #: They go to another consumer at once; this delivery does not count.
    RELEASE = 4
    #: They stay with the consumer: its time for them begins again.
    EXTEND = 5


class ConsumeStart(IntEnum):
    """First event for a consumer."""

    UNKNOWN = 0
    #: The first event that the journal has.
    FIRST = 1
    #: The first event from now on.
    NEW = 2
    #: The last event of each topic, and then every event from now on.
    LATEST_VALUES = 3
    #: The event at a position.
    POSITION = 4
    #: The first event that was stored at a time or later.
    TIME = 5


class TruncatedReason(IntEnum):
    """Reason why a consumer does not get the events of a range."""

    UNKNOWN = 0
    #: The journal has removed its oldest events.
    RETENTION = 1
    #: An operator has removed them.
    PURGED = 2
    #: Their time to live is over.
    EXPIRED = 3
    #: Their copies on all disks are damaged.
    DAMAGED = 4
    #: Their journal was deleted, and one was created again under its name: events that follow have the positions of the
    #: new one, where the consumer begins at its start.
    DELETED = 5


def _check(r: Reader, name: str, at: int, value: int, least: int) -> int:
    if value < least:
        raise r.malformed(name, at, value, f"at least {least}")
    return value


def _first(r: Reader, name: str) -> int:
    at = r.pos
    return _check(r, name, at, r.long(name), 1)


def _at_least(least: int) -> Kind:
    def read(r: Reader, name: str) -> int:
        at = r.pos
        return _check(r, name, at, INT.read(r, name), least)

    return Kind(INT.write, read)


FIRST_POSITION = Kind(POSITION.write, _first)
COUNT, DELAY = _at_least(0), _at_least(-1)
REASON_TEXT = Kind(STRING.write, lambda r, name: r.string(name, MAX_REASON_BYTES))
NAME = Kind(STRING.write, lambda r, name: r.string(name, MAX_JOURNAL_BYTES))
MODE, START = enum_kind(ConsumeMode, True), enum_kind(ConsumeStart, True)
REASON, OUTCOME = enum_kind(TruncatedReason, True), enum_kind(SettleOutcome, True)


@dataclass(frozen=True)
class Consume(Record):
    """016: the connection consumes the events of durable topics."""

    CODE = 16
    id: int = record_field("id", LONG)
    filter: str = record_field("filter", TOPIC)
    #: Empty for the only journal that has topics of the filter.
    journal: str = record_field("journal", NAME)
    #: The durable subscription; empty for none.
    name: str = record_field("name", NAME)
    mode: ConsumeMode = record_field("mode", MODE)
    start: ConsumeStart = record_field("start", START)
    #: Of the start POSITION a position, of TIME microseconds since the epoch; else 0.
    first: int = record_field("from", POSITION)
    #: Bytes of Feed frames.
    limit: int = record_field("limit", POSITION)
    #: Creation of the journal that was read; 0 for none.
    creation: int = record_field("creation", POSITION, 0)
    #: Start in another creation.
    other_start: ConsumeStart = record_field("otherStart", START, ConsumeStart.UNKNOWN)
    other_first: int = record_field("otherFrom", POSITION, 0)
    #: Of SHARED: events that are not settled at most; 0 for the bus's number.
    max_events: int = record_field("maxEvents", COUNT, 0)
    #: Of SHARED; 0 for the bus's.
    ack_timeout_millis: int = record_field("ackTimeoutMillis", COUNT, 0)
    #: Of SHARED; 0 for the bus's.
    max_attempts: int = record_field("maxAttempts", COUNT, 0)


@dataclass(frozen=True)
class Feed(Record):
    """017: events for a consumer, and the range of positions that the frame covers."""

    CODE = 17
    id: int = record_field("id", LONG)
    first: int = record_field("from", FIRST_POSITION)
    #: The last position that the frame covers, ``first`` - 1 for none.
    last: int = record_field("to", POSITION)
    #: The last position of the journal.
    head: int = record_field("head", POSITION)
    frames: bytes = record_field("frames", BYTES)
    #: Of SHARED: number of this delivery of each event; else 0.
    attempt: int = record_field("attempt", COUNT, 0)

    @classmethod
    def read(cls, r: Reader) -> Feed:
        """Reads the fields, and checks that the range ends at or before the head."""
        at = r.pos
        feed = super().read(r)
        _check(r, "Feed.to", at, feed.last, feed.first - 1)
        _check(r, "Feed.head", at, feed.head, feed.last)
        return feed


@dataclass(frozen=True)
class Settle(Record):
    """018: every event up to a position is handled; of a shared subscription, what becomes of some events."""

    CODE = 18
    id: int = record_field("id", LONG)
    up_to: int = record_field("upTo", FIRST_POSITION)
    confirm: bool = record_field("confirm", BOOLEAN)
    #: Creation of the journal whose events are settled; 0 for any.
    creation: int = record_field("creation", POSITION, 0)
    #: Of SHARED: the first position; else 0.
    first: int = record_field("from", POSITION, 0)
    outcome: SettleOutcome = record_field("outcome", OUTCOME, SettleOutcome.DONE)
    #: Of SHARED: that of the Feed; else 0.
    attempt: int = record_field("attempt", COUNT, 0)
    #: Of RETRY; -1 for the bus's.
    delay_millis: int = record_field("delayMillis", DELAY, -1)
    #: Of RETRY and REJECT.
    reason: str = record_field("reason", REASON_TEXT, "")

    @classmethod
    def read(cls, r: Reader) -> Settle:
        """Reads the fields, and checks that the range does not end before it begins."""
        at = r.pos
        settle = super().read(r)
        _check(r, "Settle.upTo", at, settle.up_to, settle.first)
        return settle


@dataclass(frozen=True)
class Ask(Record):
    """034: a question about a journal."""

    CODE = 34
    id: int = record_field("id", LONG)
    journal: str = record_field("journal", NAME)
    topic: str = record_field("topic", TOPIC)
    name: str = record_field("name", NAME)
    time: int = record_field("time", POSITION)


@dataclass(frozen=True)
class Told(Record):
    """035: the answer to Ask."""

    CODE = 35
    id: int = record_field("id", LONG)
    journal: str = record_field("journal", NAME)
    first: int = record_field("first", LONG)
    last: int = record_field("last", LONG)
    topic_last: int = record_field("topicLast", LONG)
    at_time: int = record_field("atTime", LONG)
    settled: int = record_field("settled", LONG)


@dataclass(frozen=True)
class Truncated(Record):
    """037: events for a consumer that do not come."""

    CODE = 37
    id: int = record_field("id", LONG)
    first: int = record_field("from", FIRST_POSITION)
    last: int = record_field("to", POSITION)
    reason: TruncatedReason = record_field("reason", REASON)

    @classmethod
    def read(cls, r: Reader) -> Truncated:
        """Reads the fields, and checks that the range does not end before it begins."""
        at = r.pos
        truncated = super().read(r)
        _check(r, "Truncated.to", at, truncated.last, truncated.first)
        return truncated


def deliveries(reader: DeliveryReader, data: bytes) -> Iterator[Delivery]:
    """Reads each ``Deliver`` of the frames of a ``Feed``; skips unknown frames. Raises Malformed."""
    for code, _, start, end in frames(data):
        if code == DELIVER:
            yield reader.read(data, start, end)


def publish_tail(expect: int, delay_millis: int, ttl_millis: int, producer: str | None, number: int) -> bytes:
    """Writes the fields of a ``Publish`` that only durable topics have, behind the zero that ends the events."""
    name = b"\0" if producer is None else b"\2" + text(producer)
    return varint(expect) + varint(delay_millis) + varint(ttl_millis) + name + varint(number)


#: All records, except those of published events.
RECORDS: dict[int, type[Record]] = {
    **OTHER_RECORDS,
    **{record.CODE: record for record in (Consume, Feed, Settle, Ask, Told, Truncated)},
}
