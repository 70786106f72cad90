"""Events of one topic on their way out. They are kept as they were given, and encoded together when they leave.

Nearly every event has no key, no headers and the time of the call. Encoding such events one by one would take most of what
publishing costs; for a whole frame it is a few passes over lists: the high bytes of the times are the same for 8 ms, the low
ones come from a table, and payloads are not touched.
"""

from __future__ import annotations

from collections import deque

from ._waiters import Waiter
from ._wire import blob, varint

#: A time, a null key, no headers and a length take so many bytes at most.
HEAD = 16
#: Besides its bytes an event takes so much in memory.
OVERHEAD = 64
#: In the place of a time: the event is encoded already.
ENCODED = -(1 << 63)
#: Zig-zag encoded microseconds: all but the lowest 14 bits, which are 13 of the time, stay the same for so many nanoseconds.
_SAME = (1 << 13) * 1000
_LOW = [bytes((m << 1 & 0x7F | 0x80, m >> 6 | 0x80)) for m in range(1 << 13)]


class Topic:
    """What is known of a topic that is published to."""

    __slots__ = ("name", "next", "unconfirmed", "wire")

    def __init__(self, name: str, first: int) -> None:
        self.name = name
        self.wire = blob(name.encode())
        #: The number of the next frame, once the open one takes no more events.
        self.next = first
        self.unconfirmed: deque[Frame] = deque()


class Frame:
    """Events of one topic, or a barrier, on their way."""

    __slots__ = (
        "barrier", "confirm", "count", "created", "data", "first", "marker", "payloads", "plain_before", "resend", "schema",
        "sent", "settled", "size", "times", "topic", "waiters",
    )  # fmt: skip

    def __init__(self, topic: Topic, schema: int, confirm: bool, created: float) -> None:
        self.topic = topic
        self.schema = schema
        self.confirm = confirm
        self.created = created
        self.first = topic.next
        #: How many events; 0 as long as it takes more.
        self.count = 0
        #: Bytes of the events, or a few more.
        self.size = 0
        self.payloads: list[bytes] = []
        #: Nanoseconds since 1970, one for each payload, or ENCODED.
        self.times: list[int] = []
        #: The encoded events, from when they leave until they are settled.
        self.data = b""
        self.waiters: list[Waiter] = []
        self.barrier: bytes | None = None
        self.marker = False
        self.resend = False
        self.sent = False
        self.settled = False
        # How many events without confirmation were sent up to here.
        self.plain_before = 0

    @property
    def cost(self) -> int:
        """Bytes in memory."""
        return self.size + OVERHEAD * self.count

    def last(self) -> int:
        """The number of the last event."""
        return self.first + self.count - 1

    def wire_size(self) -> int:
        """Bytes of the frame, or a few more."""
        return len(self.barrier) if self.barrier is not None else self.size + len(self.topic.wire) + 48

    def encode(self) -> bytes:
        """Encodes the events, once."""
        if self.times:
            self.data = encode(self.times, self.payloads)
            self.times, self.payloads = [], []
        return self.data

    def forget(self) -> None:
        """The events are not needed any more."""
        self.data = b""
        self.times, self.payloads = [], []


def encode(times: list[int], payloads: list[bytes]) -> bytes:
    """Encodes events that have neither key nor headers; where the time is ENCODED, what is encoded already."""
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
    """What follows the two lowest bytes of a time, with the null key and no headers."""
    # Without zig-zag: the number whose zig-zag encoding has these bits.
    return varint(high >> 1 if not high & 1 else ~(high >> 1)) + b"\0\0"
