"""The way out: numbers events, puts them into frames, and keeps what is not confirmed. Without I/O and without a clock.

One queue of frames. A topic's last frame takes further events as long as it waits, so that one frame holds what was published
meanwhile; a message is made of as many frames as fit when the network can take one. A frame that asks for confirmation goes
on to ``sent``; when the connection is lost, what is there returns to the front of the queue, in order, with its numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from ._errors import Error, IllegalTopic, TimedOut, TooBig
from ._events import check_event, encode_event, publish_head
from ._topics import topic_problem
from ._wire import Barrier, Limits, Reader, blob, varint

MOST_EVENTS = 65_536
MOST_KEY_BYTES = 4096
#: Besides its bytes an event takes so much in memory.
OVERHEAD = 64
#: Of a message, what is not the event: frame, topic, numbers.
AROUND_EVENT = 512
#: After so many bytes that nobody waits for, the bus is asked how far it has come.
MARK_BYTES = 256 * 1024
MOST_TOPICS = 50_000
MOST_FORGOTTEN = 1_000_000

_LOW = [bytes((n | 0x80,)) for n in range(128)]
_LENGTH = [varint(n) for n in range(1024)]


class Published(NamedTuple):
    """The bus has handed the event to the queues of all subscribers that it had."""

    topic: str
    producer: int
    sequence: int


class Waiter(Protocol):
    """What waits for an answer; the futures of asyncio and of concurrent.futures are some."""

    def done(self) -> bool: ...

    def set_result(self, result: Any, /) -> None: ...

    def set_exception(self, exception: Any, /) -> None: ...


def succeed(waiter: Waiter, result: object) -> None:
    """Answers, unless nothing waits any more."""
    if not waiter.done():
        waiter.set_result(result)


def fail(waiter: Waiter, error: Error) -> None:
    """Answers with an error of its own, unless nothing waits any more."""
    if not waiter.done():
        waiter.set_exception(error)


def _check_topic(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"topic: {type(name).__name__} (expected: str)")
    problem = topic_problem(name)
    if problem is not None:
        raise IllegalTopic(problem)


class Topic:
    """What is known of a topic that is published to."""

    __slots__ = ("name", "next", "open", "unconfirmed", "wire")

    def __init__(self, name: str, first: int) -> None:
        self.name = name
        self.wire = blob(name.encode())
        self.next = first
        self.open: Frame | None = None
        self.unconfirmed: deque[Frame] = deque()

    def is_quiet(self) -> bool:
        return self.open is None and not self.unconfirmed


class Frame:
    """Events of one topic, or a barrier, on their way."""

    __slots__ = (
        "barrier", "confirm", "cost", "count", "created", "epoch", "first", "marker", "parts", "plain_before", "resend",
        "schema", "sent", "settled", "size", "topic", "waiters",
    )  # fmt: skip

    def __init__(self, topic: Topic, schema: int, confirm: bool, epoch: int, created: float) -> None:
        self.topic = topic
        self.schema = schema
        self.confirm = confirm
        self.epoch = epoch
        self.created = created
        self.first = topic.next
        self.count = 0
        self.size = 0
        self.cost = 0
        self.parts: list[bytes] = []
        self.waiters: list[Waiter] = []
        self.barrier: bytes | None = None
        self.marker = False
        self.resend = False
        self.sent = False
        self.settled = False
        # How many events without confirmation were sent up to here.
        self.plain_before = 0

    def last(self) -> int:
        return self.first + self.count - 1

    def wire_size(self) -> int:
        """Bytes of the frame, or a few more."""
        return len(self.barrier) if self.barrier is not None else self.size + len(self.topic.wire) + 48


class Outbox:
    """See the module. ``micros`` gives the time in nanoseconds since 1970."""

    def __init__(self, bound: int, batch_bytes: int, confirm_timeout: float, nanos: Callable[[], int]) -> None:
        self.bound = bound
        self.used = 0
        self._most_batch = self._batch = batch_bytes
        self._confirm_timeout = confirm_timeout
        self._nanos = nanos
        self._high = -1
        self._high_bytes = b""
        self._topics: dict[str, Topic] = {}
        self._forgotten: dict[int, int] = {}
        self._floor = 1
        self._epoch = 0
        self._queue: deque[Frame] = deque()
        self._sent: deque[Frame] = deque()
        # Frames that are waited for, in the order of their birth.
        self._born: deque[Frame] = deque()
        self._in_flight_cost = 0
        self._unmarked = 0
        self._plain_sent = 0
        self._plain_known = 0
        self._parting = False
        self._limits = Limits(1 << 20, 4 << 20, 64, 16 * 1024, 10_000, 8 << 20)
        self._most_payload = self._limits.payload_bytes
        self._most_event = 0
        self._set_most_event()
        # Makes what is raised where nothing can be published any more.
        self.closed: Callable[[], Error] | None = None
        self.published = self.confirmed = self.resent = self.dropped_full = self.indeterminate = self.messages = 0

    # ---- Publishing

    def add(
        self,
        topic: str,
        payload: bytes,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        published_at: int | None = None,
        schema: int = 0,
        waiter: Waiter | None = None,
        now: float = 0.0,
    ) -> bool:
        """Takes an event, which gets the next number of its topic.

        Returns False where the buffer is full: nothing is taken then. Raises IllegalTopic, TooBig, and ``closed``.
        """
        state = self._topics.get(topic)
        if state is None or self.closed is not None:
            state = self._new_topic(topic)
        n = len(payload)
        if n > self._most_payload:
            raise TooBig(f"payload: {n} bytes (expected: at most {self._most_payload})")
        parts: tuple[bytes, ...]
        if key is None and not headers and published_at is None and (z := self._nanos() // 500 & -2) >= 1 << 14:
            # Zig-zag encoded microseconds: all but the lowest 14 bits stay the same for 8 ms.
            if z >> 14 != self._high:
                self._high = z >> 14
                self._high_bytes = varint(z >> 15 if not z >> 14 & 1 else ~(z >> 15)) + b"\0\0"
            length = _LENGTH[n] if n < 1024 else varint(n)
            parts = (_LOW[z & 127], _LOW[z >> 7 & 127], self._high_bytes, length, payload)
            size = 2 + len(self._high_bytes) + len(length) + n
        else:
            parts = (self._encode(payload, key, headers, published_at),)
            size = len(parts[0])
        if size > self._most_event:
            raise TooBig(f"event: {size} bytes (expected: at most {self._most_event})")
        cost = size + OVERHEAD
        if self.used + cost > self.bound:
            if cost > self.bound:
                raise TooBig(f"event: {cost} bytes in memory (expected: at most outbound_bytes, {self.bound})")
            return False
        frame = state.open
        if (
            frame is None
            or frame.epoch != self._epoch
            or frame.confirm is (waiter is None)
            or frame.schema != schema
            or frame.size + size > self._batch
            or frame.count == MOST_EVENTS
        ):
            frame = state.open = Frame(state, schema, waiter is not None, self._epoch, now)
            self._queue.append(frame)
            if waiter is not None:
                self._born.append(frame)
        frame.parts += parts
        frame.count += 1
        frame.size += size
        frame.cost += cost
        state.next += 1
        self.used += cost
        self.published += 1
        if waiter is not None:
            frame.waiters.append(waiter)
        return True

    def _encode(
        self, payload: bytes, key: str | None, headers: Mapping[str, str] | None, published_at: int | None
    ) -> bytes:
        if key is not None and (n := len(key.encode())) > MOST_KEY_BYTES:
            raise TooBig(f"key: {n} bytes (expected: at most {MOST_KEY_BYTES})")
        if headers:
            if len(headers) > self._limits.headers:
                raise TooBig(f"headers: {len(headers)} (expected: at most {self._limits.headers})")
            n = sum(len(t.encode()) for kv in headers.items() for t in kv)
            if n > self._limits.header_bytes:
                raise TooBig(f"headers: {n} bytes of names and values (expected: at most {self._limits.header_bytes})")
        at = self._nanos() // 1000 if published_at is None else published_at
        return encode_event(at, key, headers, payload)

    def check(self, topic: str, size: int) -> None:
        """Any thread: raises what ``add`` would for a topic and the size of a payload."""
        if self.closed is not None:
            raise self.closed()
        if topic not in self._topics:
            _check_topic(topic)
        if size > self._most_payload:
            raise TooBig(f"payload: {size} bytes (expected: at most {self._most_payload})")

    def _new_topic(self, name: str) -> Topic:
        if self.closed is not None:
            raise self.closed()
        _check_topic(name)
        return self._topic(name)

    def _topic(self, name: str) -> Topic:
        state = self._topics.get(name)
        if state is None:
            if len(self._topics) >= MOST_TOPICS:
                self._forget_topics()
            # Two topics with one hash share the higher number: a hole that is told, but no number is used twice.
            state = Topic(name, self._forgotten.pop(hash(name), self._floor))
            self._topics[name] = state
        return state

    def _forget_topics(self) -> None:
        """Keeps no more than the number of topics that are quiet."""
        for name, state in list(self._topics.items()):
            if state.is_quiet():
                del self._topics[name]
                known = self._forgotten.get(hash(name), 1)
                self._forgotten[hash(name)] = max(known, state.next)
        if len(self._forgotten) > MOST_FORGOTTEN:
            self._floor = max(self._forgotten.values())
            self._forgotten.clear()

    @property
    def topics(self) -> int:
        """Topics that are remembered."""
        return len(self._topics)

    def has_room(self) -> bool:
        """Whether half of the buffer is free, so that it is worth going on."""
        return self.used <= self.bound // 2

    def add_barrier(self, id: int) -> None:
        """Asks behind everything that was published."""
        self._epoch += 1
        frame = Frame(_NO_TOPIC, 0, False, self._epoch, 0)
        frame.barrier = Barrier(id).frame()
        self._queue.append(frame)

    # ---- Sending

    def has_work(self) -> bool:
        """Whether there is a message to be sent."""
        return bool(self._queue) and not self._parting

    def next_message(self) -> bytes | None:
        """Takes the next message; None for none. ``sent`` has to follow when the network has taken it."""
        queue = self._queue
        if not queue or self._parting:
            return None
        out: list[bytes] = []
        room = self._batch
        while queue and (not out or queue[0].wire_size() <= room):
            frame = queue.popleft()
            room -= frame.wire_size()
            self._put(frame, out)
        self.messages += 1
        return b"".join(out)

    def _put(self, frame: Frame, out: list[bytes]) -> None:
        if frame.barrier is not None:
            out.append(frame.barrier)
            return
        topic = frame.topic
        if topic.open is frame:
            topic.open = None
        if not frame.confirm:
            self._in_flight_cost += frame.cost
            self._plain_sent += frame.count
            self._unmarked += frame.size
            if self._unmarked >= MARK_BYTES:
                frame.confirm = frame.marker = True
        if frame.confirm:
            self._unmarked = 0
            if not frame.marker:
                frame.parts = [b"".join(frame.parts)]
            frame.sent = True
            frame.plain_before = self._plain_sent
            topic.unconfirmed.append(frame)
            self._sent.append(frame)
            if frame.resend:
                self.resent += frame.count
        out.append(publish_head(topic.wire, frame.first, frame.schema, frame.confirm, frame.count, frame.size))
        out += frame.parts
        out.append(b"\0")
        if frame.marker:
            frame.parts = []

    def sent(self) -> None:
        """The network has taken the message."""
        self.used -= self._in_flight_cost
        self._in_flight_cost = 0

    # ---- Answers

    def confirm(self, topic: str, last: int, producer: int) -> None:
        """The bus has taken everything of a topic up to a number."""
        state = self._topics.get(topic)
        if state is None:
            return
        unconfirmed = state.unconfirmed
        while unconfirmed and unconfirmed[0].last() <= last:
            frame = unconfirmed.popleft()
            self._settle(frame)
            if frame.marker:
                continue
            self.confirmed += frame.count
            sequence = frame.first
            for waiter in frame.waiters:
                if not waiter.done():
                    waiter.set_result(Published(topic, producer, sequence))
                sequence += 1
        self._trim()

    def refuse(self, topic: str, first: int, error: Callable[[], Error]) -> bool:
        """The bus has refused a frame; returns whether anything waited for it."""
        state = self._topics.get(topic)
        for frame in state.unconfirmed if state is not None else ():
            if frame.first == first:
                assert state is not None
                state.unconfirmed.remove(frame)
                self._settle(frame)
                self._trim()
                for waiter in frame.waiters:
                    fail(waiter, error())
                return bool(frame.waiters)
        return False

    def _settle(self, frame: Frame) -> None:
        frame.settled = True
        frame.parts = []
        if not frame.marker:
            self.used -= frame.cost
        self._plain_known = max(self._plain_known, frame.plain_before)

    def _trim(self) -> None:
        while self._sent and self._sent[0].settled:
            self._sent.popleft()
        while self._born and self._born[0].settled:
            self._born.popleft()

    def all_known(self) -> None:
        """The bus has said that it has got everything that was sent."""
        self._plain_known = self._plain_sent

    def expires_at(self) -> float | None:
        """When the first confirmation has been waited for long enough; None for never."""
        return self._born[0].created + self._confirm_timeout if self._born else None

    def expire(self, now: float) -> None:
        """Gives up the confirmations that have been waited for long enough. What was not sent yet is sent all the same."""
        while self._born and self._born[0].created + self._confirm_timeout <= now:
            frame = self._born.popleft()
            waiters, frame.waiters = frame.waiters, []
            if frame.sent and not frame.settled:
                frame.topic.unconfirmed.remove(frame)
                self._settle(frame)
            for waiter in waiters:
                fail(waiter, TimedOut(f"no confirmation within {self._confirm_timeout:g} s; the outcome is open"))
            # Later events must not join a frame whose time is over.
            if frame.topic.open is frame:
                frame.topic.open = None
        self._trim()

    # ---- Connections

    def limit(self, limits: Limits) -> int:
        """A bus says what it takes; returns how many events that nothing waits for it does not take, which are dropped."""
        smaller = not self.fits(limits)
        self._limits = limits
        self._most_payload = limits.payload_bytes
        self._batch = min(self._most_batch, limits.message_bytes)
        self._set_most_event()
        return self._recut() if smaller else 0

    def _set_most_event(self) -> None:
        self._most_event = self._limits.message_bytes - AROUND_EVENT

    def fits(self, limits: Limits) -> bool:
        """Whether a bus takes whatever the one before took."""
        mine = self._limits
        return (
            limits.payload_bytes >= mine.payload_bytes
            and limits.message_bytes >= mine.message_bytes
            and limits.headers >= mine.headers
            and limits.header_bytes >= mine.header_bytes
        )

    def _recut(self) -> int:
        """Puts what waits into frames that the bus takes; what is too big by itself fails. The others keep their numbers."""
        self._epoch += 1
        dropped = 0
        waiting, self._queue = self._queue, deque()
        for frame in waiting:
            if frame.barrier is not None:
                self._queue.append(frame)
            else:
                dropped += self._recut_frame(frame)
        return dropped

    def _recut_frame(self, frame: Frame) -> int:
        dropped = 0
        data = b"".join(frame.parts)
        r = Reader(data)
        piece: Frame | None = None
        for i in range(frame.count):
            start = r.pos
            payload_at = check_event(r, "Event")
            event = data[start : r.pos]
            headers = Reader(data, start, r.pos)
            headers.long("")
            headers.optional("")
            names = headers.text_map("")
            waiters = frame.waiters[i : i + 1]
            header_bytes = sum(len(t.encode()) for kv in names.items() for t in kv)
            if (
                r.pos - payload_at > self._most_payload
                or len(event) > self._most_event
                or len(names) > self._limits.headers
                or header_bytes > self._limits.header_bytes
            ):
                piece = None
                self.used -= len(event) + OVERHEAD
                dropped += not frame.confirm
                for waiter in waiters:
                    fail(waiter, TooBig(f"event: {len(event)} bytes for a bus that takes less than the one before"))
                continue
            if piece is None or piece.size + len(event) > self._batch:
                piece = Frame(frame.topic, frame.schema, frame.confirm, self._epoch - 1, frame.created)
                piece.first = frame.first + i
                piece.resend = frame.resend
                self._queue.append(piece)
                if frame.confirm:
                    self._born.append(piece)
            piece.parts.append(event)
            piece.count += 1
            piece.size += len(event)
            piece.cost += len(event) + OVERHEAD
            piece.waiters += waiters
        frame.settled = True
        frame.topic.open = None
        self._born = deque(sorted((f for f in self._born if not f.settled), key=lambda f: f.created))
        return dropped

    def disconnected(self) -> int:
        """The connection is lost: what is not confirmed will be sent again.

        Returns how many events that nothing waits for may or may not have been delivered.
        """
        self._epoch += 1
        self.stay()
        self.sent()
        self._queue = deque(frame for frame in self._queue if frame.barrier is None)
        self._give_back()
        self._unmarked = 0
        unknown = self._plain_sent - self._plain_known
        self._plain_known = self._plain_sent
        self.indeterminate += unknown
        return unknown

    def _give_back(self) -> None:
        while self._sent:
            frame = self._sent.pop()
            frame.topic.unconfirmed.clear()
            if not frame.settled and not frame.marker:
                frame.resend = True
                frame.sent = False
                self._queue.appendleft(frame)

    def resequence(self) -> None:
        """The bus knows this client by a new number: every topic starts again at 1."""
        self._forgotten.clear()
        self._floor = 1
        self._epoch += 1
        for state in self._topics.values():
            state.next = 1
        for frame in self._queue:
            if frame.barrier is None:
                frame.first = frame.topic.next
                frame.topic.next += frame.count

    # ---- A change of bus

    def part(self) -> None:
        """Events wait from now on."""
        self._parting = True

    def stay(self) -> None:
        """Events go out again."""
        self._parting = False

    def moved(self) -> None:
        """The bus has handed on all that it got: events go to another one."""
        self.stay()
        self._epoch += 1
        self.all_known()
        # Nothing, unless the bus has not answered what it should have.
        self._give_back()

    # ---- The end

    def is_empty(self) -> bool:
        """Whether every event is sent and confirmed."""
        return not self._in_flight_cost and not any(f.barrier is None for f in self._queue) and self._all_settled()

    def is_settled(self) -> bool:
        """The same, and the bus has said of what nothing waits for that it has got it."""
        return self._plain_known == self._plain_sent and self.is_empty()

    def _all_settled(self) -> bool:
        self._trim()
        return all(frame.settled or frame.marker for frame in self._sent)

    def abandon(self, lost: Callable[[], Error], unsent: Callable[[], Error]) -> int:
        """Gives up what is left; returns how many events that nothing waits for were not sent."""
        dropped = 0
        for frame in (*self._sent, *self._queue):
            if frame.settled or frame.barrier is not None:
                continue
            if not frame.confirm:
                dropped += frame.count
            for waiter in frame.waiters:
                fail(waiter, lost() if frame.sent or frame.resend else unsent())
        self._queue.clear()
        self._sent.clear()
        self._born.clear()
        self._topics.clear()
        self.used = self._in_flight_cost = 0
        return dropped


_NO_TOPIC = Topic("-", 1)
