"""The outbound buffer: numbers events, puts them into frames, and keeps unconfirmed ones. Without I/O and without a
clock.

A single queue of frames. The last frame of a topic takes further events while it waits, so that events published
meanwhile share a frame; a message is made of as many frames as fit when the network can take one. A frame with
confirmation then moves to ``sent``; when the connection is lost, its frames return to the front of the queue, in
order, with their numbers.

A single class, though it is long: adding, sending, confirming and losing events all change the same two queues and
the same sums.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping

from .._api.errors import Error, IllegalTopic, TimedOut, TooBig
from .._api.payload import check_head
from .._api.published import Published
from .._base.waiters import Waiter, fail
from .._wire.call_frames import AROUND_CALL
from .._wire.codec import varint
from .._wire.events import encode_event, publish_head
from .._wire.records import Barrier, Limits
from .._wire.topics import topic_problem
from .batch_splitter import not_durable, split_batch
from .publish_frame import ENCODED, HEAD, OVERHEAD, Frame, Topic

MAX_EVENTS = 65_536
MAX_KEY_BYTES = 4096
#: Maximum bytes of a message around an event: frame, topic, numbers.
AROUND_EVENT = 512
#: Bytes of events without a waiter after which a frame is confirmed.
MARK_BYTES = 256 * 1024
MAX_TOPICS = 50_000
MAX_FORGOTTEN = 1_000_000


def _check_topic(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"topic: {type(name).__name__} (expected: str)")
    problem = topic_problem(name)
    if problem is not None:
        raise IllegalTopic(problem)


class Outbox:
    """See the module. ``nanos`` returns nanoseconds since 1970."""

    def __init__(self, bound: int, batch_bytes: int, confirm_timeout: float, nanos: Callable[[], int]) -> None:
        self.bound = bound
        self.used = 0
        self._max_batch = self._batch = batch_bytes
        self._confirm_timeout = confirm_timeout
        # Maximum age of a frame that takes events: all events of a frame have one timeout.
        self._max_age = confirm_timeout / 16
        self._nanos = nanos
        self._closed: Callable[[], Error] | None = None
        # Frames that take more events, by topic.
        self._open: dict[str, Frame] = {}
        self._topics: dict[str, Topic] = {}
        self._forgotten: dict[int, int] = {}
        self._floor = 1
        self._queue: deque[Frame] = deque()
        self._sent: deque[Frame] = deque()
        # Frames with waiters, in the order of their creation.
        self._born: deque[Frame] = deque()
        self._in_flight_cost = 0
        self._unmarked = 0
        self._plain_sent = 0
        self._plain_known = 0
        self._paused = False
        self._limits = Limits(1 << 20, 4 << 20, 64, 16 * 1024, 10_000, 8 << 20)
        self._durable = False
        self._max_payload = self._limits.payload_bytes
        self._max_event = self._max_plain = self._max_frame = 0
        self._set_bounds()
        self._published = 0
        self.confirmed = self.resent = self.dropped_full = self.indeterminate = self.messages = 0

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
        tail: bytes = b"",
    ) -> bool:
        """Adds an event, which gets the next number of its topic. ``tail``: encoded fields that only durable topics have.

        Returns False if the buffer is full and the event was not accepted. Raises IllegalTopic, TooBig, Refused for a
        ``tail`` where the bus has no durable topics, and ``closed``.
        """
        frame = self._open.get(topic)
        n = len(payload)
        if (
            frame is None
            or key is not None
            or headers
            or published_at is not None
            or tail
            or n > self._max_plain
            or frame.schema != schema
            or frame.confirm is (waiter is None)
            or (waiter is not None and now - frame.created > self._max_age)
        ):
            return self._add(topic, payload, key, headers, published_at, schema, waiter, now, tail)
        size = frame.size + n + HEAD
        used = self.used + n + (HEAD + OVERHEAD)
        if size > self._max_frame or used > self.bound:
            return self._add(topic, payload, key, headers, published_at, schema, waiter, now, tail)
        frame.payloads.append(payload)
        frame.times.append(self._nanos())
        frame.size = size
        self.used = used
        if waiter is not None:
            frame.waiters.append(waiter)
        return True

    def _add(
        self,
        topic: str,
        payload: bytes,
        key: str | None,
        headers: Mapping[str, str] | None,
        published_at: int | None,
        schema: int,
        waiter: Waiter | None,
        now: float,
        tail: bytes,
    ) -> bool:
        """Adds any event other than the next plain one of a frame with room."""
        if self._closed is not None:
            raise self._closed()
        if tail and not self._durable:
            raise not_durable()
        state = self._topics.get(topic)
        if state is None:
            _check_topic(topic)
            state = self._topic(topic)
        n = len(payload)
        if n > self._max_payload:
            raise TooBig(f"payload: {n} bytes (expected: at most {self._max_payload})")
        if key is None and not headers and published_at is None:
            time, part = self._nanos(), payload
            exact = len(varint(time // 1000)) + 2 + len(varint(n)) + n
            size = n + HEAD
        else:
            time, part = ENCODED, self._encode(payload, key, headers, published_at)
            exact = len(part)
            # The minimum bounds the number of events in a frame, too.
            size = max(exact, HEAD)
        if exact > self._max_event:
            raise TooBig(f"event: {exact} bytes (expected: at most {self._max_event})")
        cost = size + OVERHEAD
        if self.used + cost > self.bound:
            if cost > self.bound:
                raise TooBig(f"event: {cost} bytes in memory (expected: at most outbound_bytes, {self.bound})")
            return False
        frame = self._open.get(topic)
        if frame is not None and (
            tail
            or frame.schema != schema
            or frame.confirm is (waiter is None)
            or frame.size + size > self._max_frame
            or (waiter is not None and now - frame.created > self._max_age)
        ):
            self._finish(frame)
            frame = None
        if frame is None:
            frame = self._open[topic] = Frame(state, schema, waiter is not None, now)
            self._queue.append(frame)
            if waiter is not None:
                self._born.append(frame)
        frame.payloads.append(part)
        frame.times.append(time)
        frame.size += size
        self.used += cost
        if waiter is not None:
            frame.waiters.append(waiter)
        if tail:
            frame.tail = tail
            self._finish(frame)
        return True

    def _finish(self, frame: Frame) -> None:
        """Seals a frame, which takes no more events."""
        if self._open.get(frame.topic.name) is frame:
            del self._open[frame.topic.name]
            frame.count = len(frame.times)
            frame.topic.next = frame.first + frame.count
            self._published += frame.count

    def _finish_all(self) -> None:
        for frame in list(self._open.values()):
            self._finish(frame)

    @property
    def published(self) -> int:
        """Returns the number of accepted events. Other threads may see an older value."""
        return self._published + sum(len(frame.times) for frame in list(self._open.values()))

    @property
    def closed(self) -> Callable[[], Error] | None:
        """Returns a function that makes the error of new events; None while events are accepted."""
        return self._closed

    @closed.setter
    def closed(self, error: Callable[[], Error]) -> None:
        self._closed = error
        self._finish_all()

    def _encode(
        self, payload: bytes, key: str | None, headers: Mapping[str, str] | None, published_at: int | None
    ) -> bytes:
        check_head(key, headers, published_at)
        if key is not None and (n := len(key.encode())) > MAX_KEY_BYTES:
            raise TooBig(f"key: {n} bytes (expected: at most {MAX_KEY_BYTES})")
        if headers:
            if len(headers) > self._limits.headers:
                raise TooBig(f"headers: {len(headers)} (expected: at most {self._limits.headers})")
            n = sum(len(t.encode()) for kv in headers.items() for t in kv)
            if n > self._limits.header_bytes:
                raise TooBig(f"headers: {n} bytes of names and values (expected: at most {self._limits.header_bytes})")
        at = self._nanos() // 1000 if published_at is None else published_at
        return encode_event(at, key, headers, payload)

    def encode_for_call(
        self, payload: bytes, key: str | None, headers: Mapping[str, str] | None, published_at: int | None
    ) -> bytes:
        """Encodes the event of a request or an answer, which do not wait here. Raises TooBig."""
        if len(payload) > self._max_payload:
            raise TooBig(f"payload: {len(payload)} bytes (expected: at most {self._max_payload})")
        data = self._encode(payload, key, headers, published_at)
        most = self._limits.message_bytes - AROUND_CALL
        if len(data) > most:
            raise TooBig(f"event: {len(data)} bytes (expected: at most {most})")
        return data

    def check(self, topic: str, size: int) -> None:
        """Raises what ``add`` would for a topic and the size of a payload. Any thread may call it."""
        if self.closed is not None:
            raise self.closed()
        if topic not in self._topics:
            _check_topic(topic)
        if size > self._max_payload:
            raise TooBig(f"payload: {size} bytes (expected: at most {self._max_payload})")

    def _topic(self, name: str) -> Topic:
        state = self._topics.get(name)
        if state is None:
            if len(self._topics) >= MAX_TOPICS:
                self._forget_topics()
            # Two topics with one hash share the higher number: a harmless gap, but no number is used twice.
            state = Topic(name, self._forgotten.pop(hash(name), self._floor))
            self._topics[name] = state
        return state

    def _forget_topics(self) -> None:
        """Keeps only the next number of quiet topics."""
        for name, state in list(self._topics.items()):
            if name not in self._open and not state.unconfirmed:
                del self._topics[name]
                known = self._forgotten.get(hash(name), 1)
                self._forgotten[hash(name)] = max(known, state.next)
        if len(self._forgotten) > MAX_FORGOTTEN:
            self._floor = max(self._forgotten.values())
            self._forgotten.clear()

    @property
    def topics(self) -> int:
        """Returns the number of remembered topics."""
        return len(self._topics)

    def has_room(self) -> bool:
        """Returns whether half of the buffer is free, so that publishing should continue."""
        return self.used <= self.bound // 2

    def add_barrier(self, id: int) -> Frame:
        """Queues a barrier behind everything that was published; returns its frame, for ``known``."""
        self._finish_all()
        frame = Frame(_NO_TOPIC, 0, False, 0)
        frame.barrier = Barrier(id).frame()
        self._queue.append(frame)
        return frame

    # ---- Sending

    def has_work(self) -> bool:
        """Returns whether there is a message to be sent."""
        return bool(self._queue) and not self._paused

    def next_message(self) -> bytes | None:
        """Takes the next message; None for none. ``sent`` has to follow when the network has taken it."""
        queue = self._queue
        if not queue or self._paused:
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
            frame.plain_before = self._plain_sent
            return
        topic = frame.topic
        self._finish(frame)
        data = frame.encode()
        if not frame.confirm:
            self._in_flight_cost += frame.cost
            self._plain_sent += frame.count
            self._unmarked += frame.size
            if self._unmarked >= MARK_BYTES:
                frame.confirm = frame.marker = True
        if frame.confirm:
            self._unmarked = 0
            frame.sent = True
            frame.plain_before = self._plain_sent
            topic.unconfirmed.append(frame)
            self._sent.append(frame)
            if frame.resend:
                self.resent += frame.count
        tail = frame.tail
        head = publish_head(topic.wire, frame.first, frame.schema, frame.confirm, frame.count, len(data), len(tail))
        out += (head, data, b"\0" + tail)
        if frame.marker or not frame.confirm:
            frame.forget()

    def sent(self) -> None:
        """Records that the network has taken the message."""
        self.used -= self._in_flight_cost
        self._in_flight_cost = 0

    # ---- Answers

    def confirm(
        self, topic: str, last: int, producer: int, receivers: int = -1, position: int = 0, repeated: bool = False
    ) -> None:
        """Handles the confirmation of a topic up to a number; the rest is of the frame that ends there, and ``position``
        of its last event."""
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
            sequence, end = frame.first, frame.last()
            told = end == last
            count = receivers if receivers >= 0 and told else None
            for waiter in frame.waiters:
                if not waiter.done():
                    # Of a frame that was stored before, or a part of it, only the last position is known.
                    known = told and position and (sequence == end or not repeated)
                    at = position - (end - sequence) if known else 0
                    waiter.set_result(Published(topic, producer, sequence, count, at, told and repeated))
                sequence += 1
        self._trim()

    def refuse(self, topic: str, first: int, error: Callable[[], Error]) -> bool:
        """Handles the refusal of a frame; returns whether a call waited for it."""
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
        frame.forget()
        if not frame.marker:
            self.used -= frame.cost
        self._plain_known = max(self._plain_known, frame.plain_before)

    def _trim(self) -> None:
        while self._sent and self._sent[0].settled:
            self._sent.popleft()
        while self._born and self._born[0].settled:
            self._born.popleft()

    def known(self, barrier: Frame) -> None:
        """Handles the answer to a barrier: everything sent before it has arrived."""
        self._plain_known = max(self._plain_known, barrier.plain_before)

    def all_known(self) -> None:
        """Records that the bus has received everything that was sent."""
        self._plain_known = self._plain_sent

    def expires_at(self) -> float | None:
        """Returns the time at which the oldest confirmation expires; None for none."""
        return self._born[0].created + self._confirm_timeout if self._born else None

    def expire(self, now: float) -> None:
        """Fails events whose time to be confirmed has passed, and withdraws unsent ones."""
        while self._born and self._born[0].created + self._confirm_timeout <= now:
            frame = self._born[0]
            if self._is_unsent(frame):
                for waiter in self._withdraw(frame, range(len(frame.times))):
                    fail(waiter, self._unsent_error(self._confirm_timeout))
                continue
            self._born.popleft()
            waiters, frame.waiters = frame.waiters, []
            if frame.sent and not frame.settled:
                frame.topic.unconfirmed.remove(frame)
                self._settle(frame)
            for waiter in waiters:
                fail(waiter, TimedOut(f"no confirmation within {self._confirm_timeout:g} s; the outcome is open"))
            # Later events must not join an expired frame.
            self._finish(frame)
        self._trim()

    @staticmethod
    def _unsent_error(timeout: float) -> TimedOut:
        return TimedOut(f"not sent within {timeout:.3g} s: the event is withdrawn, and has not reached the bus")

    def give_up(self, waiter: Waiter, timeout: float) -> TimedOut:
        """Gives up a waiter, and withdraws its event if it is unsent; returns the error for the waiter."""
        for frame in self._born:
            if waiter in frame.waiters:
                if not self._is_unsent(frame):
                    break
                self._withdraw(frame, [frame.waiters.index(waiter)])
                return self._unsent_error(timeout)
        return TimedOut(f"no confirmation within {timeout:.3g} s; the outcome is open")

    @staticmethod
    def _is_unsent(frame: Frame) -> bool:
        """Returns whether no connection has ever taken the frame."""
        return not frame.sent and not frame.resend and not frame.settled

    def _withdraw(self, frame: Frame, which: Iterable[int]) -> list[Waiter]:
        """Removes events from an unsent frame; events behind them in their topic take their numbers."""
        taken = sorted(which, reverse=True)
        waiters: list[Waiter] = []
        for i in taken:
            payload, time = frame.payloads.pop(i), frame.times.pop(i)
            size = max(len(payload), HEAD) if time == ENCODED else len(payload) + HEAD
            frame.size -= size
            self.used -= size + OVERHEAD
            waiters.append(frame.waiters.pop(i))
        if frame.count:
            frame.count -= len(taken)
            frame.topic.next -= len(taken)
            self._published -= len(taken)
            behind = False
            for other in self._queue:
                if behind and other.topic is frame.topic:
                    other.first -= len(taken)
                behind |= other is frame
        if not frame.times:
            if self._open.get(frame.topic.name) is frame:
                del self._open[frame.topic.name]
            self._queue.remove(frame)
            self._born.remove(frame)
        return waiters

    def unsettled(self) -> int:
        """Returns the number of accepted events that are not known to have arrived."""
        waiting = sum(len(f.times) or f.count for f in self._queue if f.barrier is None)
        sent = sum(f.count for f in self._sent if not f.settled and not f.marker)
        return waiting + sent + self._plain_sent - self._plain_known

    # ---- Connections

    def limit(self, limits: Limits, durable: bool = False) -> int:
        """Applies the limits of a bus, and whether it has durable topics; returns the number of events without a waiter
        that are too big for it and dropped."""
        smaller = not self.fits(limits, durable)
        self._limits = limits
        self._durable = durable
        self._max_payload = limits.payload_bytes
        self._batch = min(self._max_batch, limits.message_bytes)
        self._set_bounds()
        return self._split_waiting() if smaller else 0

    def _set_bounds(self) -> None:
        self._max_event = self._limits.message_bytes - AROUND_EVENT
        self._max_plain = min(self._max_payload, self._max_event - HEAD)
        self._max_frame = min(self._batch, MAX_EVENTS * HEAD)

    def fits(self, limits: Limits, durable: bool) -> bool:
        """Returns whether a bus accepts all that the one before accepted."""
        mine = self._limits
        return (
            (durable or not self._durable)
            and limits.payload_bytes >= mine.payload_bytes
            and limits.message_bytes >= mine.message_bytes
            and limits.headers >= mine.headers
            and limits.header_bytes >= mine.header_bytes
        )

    def _split_waiting(self) -> int:
        """Splits waiting frames for the limits of the bus; events that are too big fail. The others keep their
        numbers."""
        self._finish_all()
        dropped = 0
        waiting, self._queue = self._queue, deque()
        for frame in waiting:
            if frame.barrier is not None:
                self._queue.append(frame)
                continue
            pieces, refused = split_batch(frame, self._limits, self._durable, self._max_event, self._max_frame)
            self.used += sum(piece.cost for piece in pieces) - frame.cost
            self._queue.extend(pieces)
            if frame.confirm:
                self._born.extend(pieces)
            dropped += 0 if frame.confirm else refused
            frame.settled = True
        self._born = deque(sorted((f for f in self._born if not f.settled), key=lambda f: f.created))
        return dropped

    def disconnected(self) -> int:
        """Handles the loss of the connection: unconfirmed events will be sent again.

        Returns the number of events without a waiter that may or may not have been delivered.
        """
        self._finish_all()
        self.resume()
        self.sent()
        self._queue = deque(frame for frame in self._queue if frame.barrier is None)
        self._requeue()
        self._unmarked = 0
        unknown = self._plain_sent - self._plain_known
        self._plain_known = self._plain_sent
        self.indeterminate += unknown
        return unknown

    def _requeue(self) -> None:
        while self._sent:
            frame = self._sent.pop()
            frame.topic.unconfirmed.clear()
            if not frame.settled and not frame.marker:
                frame.resend = True
                frame.sent = False
                self._queue.appendleft(frame)

    def resequence(self) -> None:
        """Renumbers all topics from 1, because the bus knows this client by a new producer number."""
        self._forgotten.clear()
        self._floor = 1
        self._finish_all()
        for state in self._topics.values():
            state.next = 1
        for frame in self._queue:
            if frame.barrier is None:
                frame.first = frame.topic.next
                frame.topic.next += frame.count

    # ---- Move to another bus

    def pause(self) -> None:
        """Pauses events."""
        self._paused = True

    def resume(self) -> None:
        """Resumes events."""
        self._paused = False

    def moved(self) -> None:
        """Continues at the new bus: the old one has delivered all events that it received."""
        self.resume()
        self._finish_all()
        self.all_known()
        # Empty, unless the bus owes answers.
        self._requeue()

    # ---- The end

    def is_empty(self) -> bool:
        """Returns whether every event is sent and confirmed."""
        return not self._in_flight_cost and not any(f.barrier is None for f in self._queue) and self._all_settled()

    def is_settled(self) -> bool:
        """Returns whether every event is sent and confirmed, and those without a waiter are known to have arrived."""
        return self._plain_known == self._plain_sent and self.is_empty()

    def _all_settled(self) -> bool:
        self._trim()
        return all(frame.settled or frame.marker for frame in self._sent)

    def abandon(self, lost: Callable[[], Error], unsent: Callable[[], Error]) -> int:
        """Fails all events; returns the number of unsent events without a waiter."""
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
