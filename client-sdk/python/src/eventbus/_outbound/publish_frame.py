"""Outbound events of one topic. They are kept as they were given, and encoded together when they are sent.

Nearly every event has no key, no headers and the time of the call. Encoding such events one by one would be most of
the cost of publishing; for a whole frame it is a few passes over lists: the high bytes of the times are equal for 8
ms, the low ones come from a table, and payloads are not touched.
"""

from __future__ import annotations

from collections import deque

from .._base.waiters import Waiter
from .._wire.codec import blob, varint

#: Maximum bytes of a time, a null key, no headers and a length.
HEAD = 16
#: Bytes of memory that an event takes beside its own.
OVERHEAD = 64
#: Value in place of a time: the event is encoded already.
ENCODED = -(1 << 63)
#: Nanoseconds for which all but the lowest 14 bits of zig-zag encoded microseconds, which are 13 of the time, are
#: constant.
_SAME = (1 << 13) * 1000
_LOW = [bytes((m << 1 & 0x7F | 0x80, m >> 6 | 0x80)) for m in range(1 << 13)]


class Topic:
    """A topic that this client publishes to."""

    __slots__ = ("name", "next", "unconfirmed", "wire")

    def __init__(self, name: str, first: int) -> None:
        self.name = name
        self.wire = blob(name.encode())
        #: First number of the next frame, once the open one is sealed.
        self.next = first
        self.unconfirmed: deque[Frame] = deque()


class Frame:
    """Events of one topic, or a barrier, to be sent."""

    __slots__ = (
        "barrier", "confirm", "count", "created", "data", "first", "marker", "payloads", "plain_before", "resend", "schema",
        "sent", "settled", "size", "tail", "times", "topic", "waiters",
    )  # fmt: skip

    def __init__(self, topic: Topic, schema: int, confirm: bool, created: float) -> None:
        self.topic = topic
        self.schema = schema
        self.confirm = confirm
        self.created = created
        self.first = topic.next
        #: Number of events; 0 while it takes more.
        self.count = 0
        #: Upper bound of the bytes of the events.
        self.size = 0
        self.payloads: list[bytes] = []
        #: Times of the payloads in nanoseconds since 1970, or ENCODED.
        self.times: list[int] = []
        #: Encoded events, while they are sent and not settled.
        self.data = b""
        self.waiters: list[Waiter] = []
        #: Fields that only durable topics have; its event is alone then.
        self.tail = b""
        self.barrier: bytes | None = None
        self.marker = False
        self.resend = False
        self.sent = False
        self.settled = False
        # Number of events without confirmation that were sent up to here.
        self.plain_before = 0

    @property
    def cost(self) -> int:
        """Returns the bytes of memory."""
        return self.size + OVERHEAD * self.count

    def last(self) -> int:
        """Returns the number of the last event."""
        return self.first + self.count - 1

    def wire_size(self) -> int:
        """Returns an upper bound of the bytes of the frame."""
        return len(self.barrier) if self.barrier is not None else self.size + len(self.topic.wire) + len(self.tail) + 48

    def encode(self) -> bytes:
        """Encodes the events, once."""
        if self.times:
            self.data = encode(self.times, self.payloads)
            self.times, self.payloads = [], []
        return self.data

    def forget(self) -> None:
        """Drops the events, which are not needed any more."""
        self.data = b""
        self.times, self.payloads = [], []


def encode(times: list[int], payloads: list[bytes]) -> bytes:
    """Encodes events without key and headers, and copies those whose time is ENCODED."""
    high = min(times) // _SAME
    if high <= 0 or high != max(times) // _SAME:
        return b"".join([_encode(t, p) for t, p in zip(times, payloads, strict=True)])
    head = _high_bytes(high)
    sizes = set(map(len, payloads))
    out = [b""] * (3 * len(times))
    out[0::3] = [_LOW[t // 1000 & 0x1FFF] for t in times]
    if len(sizes) == 1:
        out[1::3] = [head + varint(sizes.pop())] * len(times)
    else:
        heads = {n: head + varint(n) for n in sizes}
        out[1::3] = [heads[len(p)] for p in payloads]
    out[2::3] = payloads
    return b"".join(out)


def _encode(time: int, payload: bytes) -> bytes:
    if time == ENCODED:
        return payload
    return b"".join([varint(time // 1000), b"\0\0", varint(len(payload)), payload])


def _high_bytes(high: int) -> bytes:
    """Returns the bytes behind the two lowest bytes of a time, with the null key and no headers."""
    # Undoes zig-zag: returns the number whose zig-zag encoding has these bits.
    return varint(high >> 1 if not high & 1 else ~(high >> 1)) + b"\0\0"
