"""A consumer at a bus that keeps a journal, with connections that are lost at any moment: nothing is lost or doubled."""

from __future__ import annotations

import random
from typing import Any

from fakes import Driver, stored
from hypothesis import given, settings
from hypothesis import strategies as st

from eventbus import Start
from eventbus._durable.fed_consumer import ITEM_OVERHEAD
from eventbus._wire.durable_frames import Consume, ConsumeStart, Feed, Settle
from eventbus._wire.records import Credit

HEAD = 60
WINDOW = 4096
#: Bytes of the largest frame, which may pass the limit.
MAX_FRAME = 10_000


class Journal:
    """A bus with one journal and one consumer. Odd positions are of other topics; 11 to 20 were removed."""

    def __init__(self, seed: int, name: str) -> None:
        self.random = random.Random(seed)
        self.name = name
        self.driver = Driver()
        self.socket = self.driver.connect(durable=True)
        self.consumer = self.driver.consume(name=name, start=Start.FIRST, buffer_bytes=WINDOW)
        self.settled = 0
        #: First position that was not sent over this connection; 0 before Consume.
        self.next = 0
        self.limit = self.sent = 0
        self.handled: list[Any] = []
        self.taken: list[Any] = []
        self.hear()

    def hear(self) -> None:
        """Reads what the client has sent."""
        for frame in self.socket.take():
            if isinstance(frame, Consume):
                at = frame.first if frame.start is ConsumeStart.POSITION else 1
                self.next = self.settled + 1 if self.name else at
                self.limit, self.sent = frame.limit, 0
                begins = Feed(self.consumer.id, self.next, self.next - 1, HEAD, b"").frame()
                self.sent = len(begins)
                self.say(self.consumer.confirm(), begins)
                self.hear()
            elif isinstance(frame, Credit) and frame.consumer:
                # Less where the frame that was sent last is still under way.
                assert frame.received <= self.sent
                self.limit = max(self.limit, frame.limit)
            elif isinstance(frame, Settle):
                assert self.name
                assert frame.up_to <= self.consumer.state.covered
                done = set(self.handled)
                assert all(p in done for p in events(1, frame.up_to)), "settled before it was handled"
                self.settled = max(self.settled, frame.up_to)

    def say(self, *frames: bytes) -> None:
        self.driver.say(self.socket, *frames)

    def feed(self) -> None:
        """Sends the next frame, if it may."""
        self.hear()
        if self.sent >= self.limit or self.next > HEAD:
            return
        first, last = self.next, min(HEAD, self.next + self.random.randrange(12))
        if 11 <= first <= 20:
            last = 20
            self.say(self.consumer.truncated(first, last))
        else:
            last = 10 if first <= 10 < last else last
            frames = [stored(p, b"%d" % p + bytes(self.random.choice((0, 500, 1500)))) for p in events(first, last)]
            raw = Feed(self.consumer.id, first, last, HEAD, b"".join(frames)).frame()
            self.sent += len(raw)
            assert len(raw) < MAX_FRAME
            self.say(raw)
        self.next = last + 1
        self.hear()

    def take(self) -> None:
        if not self.taken:
            self.taken = [p[0] if isinstance(p, tuple) else p for p in self.consumer.take()]

    def handle(self) -> None:
        """Handles a part of what was taken, or all of it."""
        if not self.taken:
            return
        part = self.random.randint(1, len(self.taken))
        done, self.taken = self.taken[:part], self.taken[part:]
        self.handled += done
        if self.taken:
            self.consumer.state.handle(done[-1])
            self.driver.pump()
        else:
            self.consumer.handle()
        # Otherwise what the client has sent is still under way, and may be lost.
        if self.random.random() < 0.5:
            self.hear()

    def lose(self) -> None:
        self.driver.end(self.socket)
        self.socket = self.driver.reconnect(durable=True)
        self.hear()

    def wait(self) -> None:
        self.driver.advance(0.1)
        if self.random.random() < 0.5:
            self.hear()

    def check(self) -> None:
        state = self.consumer.state
        items = [*state._queue, *([state._taken] if state._taken is not None else [])]
        assert state.queued_bytes == sum(item.bytes for item in items)
        assert state.queued_bytes - ITEM_OVERHEAD * len(items) <= WINDOW + MAX_FRAME


def events(first: int, last: int) -> list[int]:
    return [p for p in range(first, last + 1) if p % 2 == 0 and not 11 <= p <= 20]


OPS = ("feed", "feed", "feed", "take", "handle", "handle", "lose", "wait")


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 1 << 30), st.sampled_from(["billing", ""]), st.lists(st.sampled_from(OPS), max_size=60))
def test_nothing_is_lost_or_doubled(seed: int, name: str, ops: list[str]) -> None:
    j = Journal(seed, name)
    for op in ops:
        getattr(j, op)()
        j.check()
    for _ in range(400):
        for op in ("feed", "take", "handle", "wait"):
            getattr(j, op)()
        j.check()
        if j.consumer.state.handled == HEAD:
            break
    found = [p for p in j.handled if isinstance(p, int)]
    assert found == events(1, HEAD)
    missing = [(t.first, t.last) for t in j.handled if not isinstance(t, int)]
    assert [p for first, last in missing for p in range(first, last + 1)] == list(range(11, 21))
    if name:
        # The last settlement may be lost, too.
        j.lose()
        j.wait()
        j.hear()
        assert j.settled == HEAD
    assert j.consumer.state.queued_bytes == 0
    assert j.consumer.state.lag() == 0
