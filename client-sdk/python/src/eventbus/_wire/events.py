"""Events on the wire: writes ``Publish`` and reads ``Deliver``, the only frequent frames.

A delivery's head is read when it arrives, its events when the application takes them. Nearly every event has no key
and no headers: a regular expression matches its time, both zeros and its length in one step. All others take a slow
path.
"""

from __future__ import annotations

import json as _json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from .codec import MAX_SEQUENCE, MAX_TOPIC_BYTES, Malformed, Reader, text, text_map, varint

#: Maximum of groups in a delivery; a bus sends fewer.
MAX_GROUPS = 10_000
#: A time, a null key, no headers, and the length of the payload.
_PLAIN = re.compile(rb"[\x80-\xff]{0,9}[\x00-\x7f]\x00\x00([\x80-\xff]{0,3}[\x00-\x7f])")
#: Fields between the producer's number and the events, and the head of a block with its size.
_HEAD = re.compile(
    rb"([\x80-\xff]{0,8}[\x00-\x7f])([\x80-\xff]{0,8}[\x00-\x7f])([\x80-\xff]{0,8}[\x00-\x7f])([\x80-\xff]{0,8}[\x00-\x7f])"
    rb"([\x80-\xff]{0,3}[\x00-\x7f])([\x80-\xff]{0,4}[\x00-\x7f])"
)
#: Minimum of events that are decoded together; fewer are decoded one by one.
MIN_RUN = 16
#: Last byte of a number.
_LAST_BYTE = re.compile(rb"[\x00-\x7f]")
_PRODUCER = re.compile(rb"[\x80-\xff]{0,9}[\x00-\x7f]")
#: Offset of a topic that is not durable, -1.
_NO_OFFSET = b"\1"
#: Minimum bytes of an event: time, key, headers and payload take one each.
_MIN_EVENT = 4
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _unsigned(raw: bytes) -> int:
    n = shift = 0
    for b in raw:
        n |= (b & 0x7F) << shift
        shift += 7
    return n


def _signed(raw: bytes) -> int:
    n = _unsigned(raw)
    return (n >> 1) ^ -(n & 1)


class _Lengths(dict[bytes, int]):
    """Decoded lengths by their bytes; bounded, because a bus may send any length."""

    def __missing__(self, raw: bytes) -> int:
        n = _signed(raw)
        if len(self) < 4096:
            self[raw] = n
        return n


_LENGTHS = _Lengths()


class Delivery:
    """A ``Deliver`` frame: topic, producer, and the bytes of its events."""

    __slots__ = (
        "blocks", "cost", "count", "data", "end", "first", "groups", "link", "offset", "origin_producer", "origin_sequence",
        "producer", "raw_received_at", "raw_schema", "sequence", "shares", "skip", "start", "topic",
    )  # fmt: skip

    data: bytes
    topic: str
    producer: int
    sequence: int
    #: Position of the first event of a durable topic; -1 for others.
    offset: int
    #: Publisher of the events of a durable topic, and its number of the first one.
    origin_producer: int
    origin_sequence: int
    #: Number of the first event for the application.
    first: int
    count: int
    #: Start of the events, without the heads of blocks.
    start: int
    end: int
    groups: tuple[int, ...]
    #: Number of duplicates at the beginning.
    skip: int
    #: Bytes of the frame, which count against the credit until all subscriptions have handled it.
    cost: int
    shares: int
    #: Number of these that are subscriptions under BLOCK.
    blocks: int
    #: Its connection, to be closed if an event turns out to be malformed.
    link: Any
    raw_schema: bytes
    raw_received_at: bytes

    @property
    def schema(self) -> int:
        return _signed(self.raw_schema)

    @property
    def received_at(self) -> int:
        return _signed(self.raw_received_at)

    def last_position(self) -> int:
        """Returns the position of the last event, where the topic is durable."""
        return self.offset + self.count - 1

    def behind(self, events: int) -> Delivery:
        """Returns a copy that begins with a later event; its bytes and count are to be set."""
        part = self.copy()
        part.sequence += events
        part.first += events
        if part.offset > 0:
            part.offset += events
        return part

    def copy(self) -> Delivery:
        """Returns a copy for other subscriptions, which may skip another part of it."""
        again = Delivery()
        for name in Delivery.__slots__:
            setattr(again, name, getattr(self, name))
        again.shares = again.blocks = again.skip = 0
        return again


class Event:
    """A received event. Immutable; keeps its whole WebSocket message in memory.

    Any thread may read it.
    """

    __slots__ = ("_at", "_d", "_end", "_start", "sequence")

    #: Number of the event among those of its topic and producer, from 1.
    sequence: int

    def __init__(self, delivery: Delivery, sequence: int, start: int, at: int, end: int) -> None:
        self._d = delivery
        self.sequence = sequence
        self._start = start
        self._at = at
        self._end = end

    @property
    def topic(self) -> str:
        """Returns the topic."""
        return self._d.topic

    @property
    def producer(self) -> int:
        """Returns the publisher's number, unique in the cluster."""
        d = self._d
        return d.producer if d.offset < 1 else d.origin_producer

    @property
    def position(self) -> int:
        """Returns the event's position in its journal, from 1; 0 if the topic is not durable."""
        d = self._d
        return 0 if d.offset < 1 else d.offset + self.sequence - d.first

    @property
    def schema(self) -> int:
        """Returns the CRC-64-AVRO fingerprint of the payload's writer schema, signed; 0 for none."""
        return self._d.schema

    @property
    def payload(self) -> bytes:
        """Returns the payload: a copy, made at each call."""
        return self._d.data[self._at : self._end]

    def text(self) -> str:
        """Decodes the payload as UTF-8. Raises UnicodeDecodeError."""
        return self._d.data[self._at : self._end].decode()

    def json(self) -> Any:
        """Decodes the payload as JSON. Raises ValueError."""
        return _json.loads(self._d.data[self._at : self._end])

    @property
    def key(self) -> str | None:
        """Returns the key for ``CONFLATE``; None for none."""
        return self._head()[0]

    @property
    def headers(self) -> dict[str, str]:
        """Returns the headers: a new dict at each call."""
        return self._head()[1]

    def _head(self) -> tuple[str | None, dict[str, str]]:
        r = Reader(self._d.data, self._start, self._end)
        r.long("Event.publishedAt")
        return r.optional("Event.key"), r.text_map("Event.headers")

    @property
    def published_at(self) -> int:
        """Returns the time of publishing in microseconds since 1970-01-01T00:00Z, by the publisher's clock."""
        return Reader(self._d.data, self._start, self._end).long("Event.publishedAt")

    @property
    def received_at(self) -> int:
        """Returns the time of receipt in microseconds since 1970-01-01T00:00Z, by the clock of the first bus."""
        return self._d.received_at

    @property
    def published(self) -> datetime:
        """Returns ``published_at`` as a time in UTC. Raises OverflowError beyond the year 9999."""
        return _EPOCH + timedelta(microseconds=self.published_at)

    def __repr__(self) -> str:
        size = self._end - self._at
        return f"Event(topic={self.topic!r}, producer={self.producer}, sequence={self.sequence}, payload={size} bytes)"


def check_event(r: Reader, name: str) -> int:
    """Skips one event and returns the start of its payload. Raises Malformed."""
    r.long(f"{name}.publishedAt")
    r.optional(f"{name}.key")
    r.text_map(f"{name}.headers")
    n = r.length(f"{name}.payload")
    at = r.pos
    r.pos = at + n
    return at


def _run(data: bytes, start: int, head_size: int, step: int, max_events: int) -> int:
    """Returns the number of events behind this one with its size and its head, except for the two lowest bytes of the
    time.

    Compares one byte of all heads at a time, so that the work is done in C. Events of one size lie at constant
    distances; where the two bytes of a time continue, the rest of the head is equal.
    """
    n = max_events
    for column in (start, start + 1):
        if n < 1 or data[column] < 0x80:
            return 0
        ends = _LAST_BYTE.search(data[column + step : column + step * n + 1 : step])
        if ends is not None:
            n = ends.start()
    for column in range(start + 2, start + head_size):
        if n < 1:
            return 0
        others = data[column + step : column + step * n + 1 : step]
        n -= len(others.lstrip(data[column : column + 1]))
    return n


class EventCursor:
    """Position of a consumer in a delivery."""

    __slots__ = ("delivery", "index", "pos")

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.index = 0
        self.pos = delivery.start
        for _ in range(delivery.skip):
            r = Reader(delivery.data, self.pos, delivery.end)
            check_event(r, "Event")
            self.pos = r.pos
            self.index += 1

    def copy(self) -> EventCursor:
        """Returns a cursor at the same position."""
        again = EventCursor.__new__(EventCursor)
        again.delivery, again.index, again.pos = self.delivery, self.index, self.pos
        return again

    def take(self, into: list[Event], max_events: int) -> bool:
        """Decodes at most ``max_events`` more; returns whether the delivery has none left. Raises Malformed."""
        d = self.delivery
        data, end = d.data, d.end
        pos, index, sequence = self.pos, self.index, d.first
        last = min(d.count, index + max_events)
        match, lengths, append = _PLAIN.match, _LENGTHS, into.append
        before = -1
        try:
            while index < last:
                m = match(data, pos, end)
                if m is not None:
                    at = m.end()
                    size = lengths[m[1]]
                    stop = at + size
                    if at <= stop <= end:
                        append(Event(d, sequence + index, pos, at, stop))
                        start, pos = pos, stop
                        index += 1
                        if size == before and last - index >= MIN_RUN:
                            step, head = stop - start, at - start
                            n = _run(data, start, head, step, min(last - index, (end - pos) // step))
                            for begin in range(pos, pos + step * n, step):
                                append(Event(d, sequence + index, begin, begin + head, begin + step))
                                index += 1
                            pos += step * n
                        before = size
                        continue
                r = Reader(data, pos, end)
                at = check_event(r, "Event")
                append(Event(d, sequence + index, pos, at, r.pos))
                pos = r.pos
                index += 1
        finally:
            self.pos, self.index = pos, index
        if index < d.count:
            return False
        if pos != end:
            raise Malformed("Deliver.events", pos - d.start, "a block whose items end here", "the end of the block")
        return True


class DeliveryReader:
    """Reads ``Deliver`` frames; remembers topics and producers by their bytes. Not thread-safe."""

    __slots__ = ("_heads", "_max_heads")

    def __init__(self, max_heads: int = 10_000) -> None:
        self._heads: dict[bytes, tuple[str, int]] = {}
        self._max_heads = max_heads

    def _head(self, data: bytes, pos: int, end: int) -> tuple[int, tuple[str, int]]:
        """Returns the end of topic and producer, and their values."""
        first = data[pos] if pos < end else 1
        if first < 0x80:
            at = pos + 1 + (first >> 1)
        else:
            second = data[pos + 1] if pos + 1 < end else 0x80
            at = pos + 2 + (((first & 0x7F) | (second << 7)) >> 1)
        m = _PRODUCER.match(data, at, end)
        if m is not None:
            at = m.end()
            found = self._heads.get(data[pos:at])
            if found is not None:
                return at, found
        r = Reader(data, pos, end)
        topic = r.string("Deliver.topic", MAX_TOPIC_BYTES)
        head = topic, r.long("Deliver.producer")
        # Remembers only the canonical encoding: others are legal, and would be kept once each.
        if data[pos : r.pos] == text(topic) + varint(head[1]):
            if len(self._heads) >= self._max_heads:
                self._heads.clear()
            self._heads[data[pos : r.pos]] = head
        return r.pos, head

    def read(self, data: bytes, pos: int, end: int, cost: int = 0) -> Delivery:
        """Reads a body's head and finds its events, without reading those in a single block. Raises Malformed."""
        d = Delivery()
        d.cost = cost
        d.skip = d.shares = d.blocks = 0
        d.data = data
        at, (d.topic, d.producer) = self._head(data, pos, end)
        m = _HEAD.match(data, at, end)
        if m is not None:
            sequence, schema, received, offset, count, size = m.groups()
            d.sequence = d.first = _signed(sequence)
            d.count = -_LENGTHS[count]
            n = _LENGTHS[size]
            d.start = m.end()
            stop = d.start + n
            # A single block, its end mark, and no groups or an empty list of them.
            if d.count > 0 and n >= 0 and d.count * _MIN_EVENT <= n and stop < end and data[stop] == 0:
                d.raw_schema, d.raw_received_at, d.end = schema, received, stop
                rest = data[stop + 1 : end]
                if offset == _NO_OFFSET and rest in (b"", b"\0"):
                    d.groups = ()
                    d.offset, d.origin_producer, d.origin_sequence = -1, 0, 0
                else:
                    _read_tail(d, _signed(offset), Reader(data, stop + 1, end))
                _check_sequence(d, pos)
                return d
        self._read_slowly(d, Reader(data, at, end), pos)
        return d

    @staticmethod
    def _read_slowly(d: Delivery, r: Reader, base: int) -> None:
        r.base = base
        d.sequence = d.first = r.long("Deliver.sequence")
        start = r.pos
        r.long("Deliver.schema")
        d.raw_schema = r.data[start : r.pos]
        start = r.pos
        r.long("Deliver.receivedAt")
        d.raw_received_at = r.data[start : r.pos]
        offset = r.long("Deliver.offset")
        pieces = []
        for _ in r.items("Deliver.events", _MIN_EVENT):
            start = r.pos
            check_event(r, "Deliver.events")
            pieces.append(r.data[start : r.pos])
        _read_tail(d, offset, r)
        d.data = b"".join(pieces)
        d.start, d.end, d.count = 0, len(d.data), len(pieces)
        _check_sequence(d, base)


def _check_sequence(d: Delivery, base: int) -> None:
    if not 1 <= d.sequence <= MAX_SEQUENCE + 1 - d.count:
        raise Malformed("Deliver.sequence", 0, d.sequence, f"1..{MAX_SEQUENCE + 1 - d.count}")


def _read_tail(d: Delivery, offset: int, r: Reader) -> None:
    """Reads the fields behind the events."""
    d.groups = _groups(r)
    d.offset = offset
    d.origin_producer = r.long("Deliver.originProducer") if r.pos < r.end else 0
    d.origin_sequence = r.long("Deliver.originSequence") if r.pos < r.end else 0
    if offset > 0:
        d.first = d.origin_sequence


def _groups(r: Reader) -> tuple[int, ...]:
    if r.pos >= r.end:
        return ()
    found: list[int] = []
    for _ in r.items("Deliver.groups", 1):
        if len(found) == MAX_GROUPS:
            raise r.malformed("Deliver.groups", r.pos, "more groups", f"at most {MAX_GROUPS}")
        found.append(r.long("Deliver.groups"))
    return tuple(found)


# ---- Publish


def encode_event(published_at: int, key: str | None, headers: Mapping[str, str] | None, payload: bytes) -> bytes:
    """Encodes one event of a ``Publish``."""
    key_bytes = b"\0" if key is None else b"\2" + text(key)
    return b"".join([varint(published_at), key_bytes, text_map(headers or {}), varint(len(payload)), payload])


def publish_head(
    topic: bytes, sequence: int, schema: int, confirm: bool, count: int, size: int, tail: int = 0
) -> bytes:
    """Writes type code, length and all fields before the events, which take ``size`` bytes and are followed by a zero
    and by ``tail`` more bytes.

    ``topic`` is the encoded one, with its length.
    """
    flag = b"\1" if confirm else b"\0"
    head = b"".join([topic, varint(sequence), varint(schema), flag, varint(-count), varint(size)])
    return b"".join([b"\2", varint(len(head) + size + 1 + tail), head])
