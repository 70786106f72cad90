"""A slow subscription does not stall the others: its own policy is applied to its own buffer."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from fakes import Driver, Socket, change_bus, confirm_subscribe, deliver
from loopback import Bus
from test_aio import connect, run
from test_losses import micros, shape

from eventbus import (
    BusCode,
    Disconnected,
    Event,
    Gap,
    GapReason,
    HeldBack,
    Interruption,
    Overflow,
    Refused,
    State,
)
from eventbus._inbound.buffer import Buffer
from eventbus._inbound.stalls import REPORT_INTERVAL, STALL_TIME
from eventbus._inbound.subscription_state import SubscriptionState
from eventbus._wire.codec import frame, text, varint
from eventbus._wire.events import encode_event
from eventbus._wire.records import DELIVER

KIB = 1024
WINDOW = 64 * KIB


def client(**options: Any) -> tuple[Driver, Socket]:
    d = Driver(receive_bytes=WINDOW, **options)
    return d, d.connect()


def kib(topic: str, first: int, count: int = 1, producer: int = 5) -> bytes:
    """Returns frames with an event of about a KiB each."""
    return b"".join(deliver(topic, producer, n, [b"%d" % n + b"x" * 1000]) for n in range(first, first + count))


def keyed(topic: str, sequence: int, *keys: str | None) -> bytes:
    """Returns a frame with an event of about 200 bytes for each key."""
    events = [encode_event(1, key, None, b"x" * 200) for key in keys]
    raw = b"".join(events)
    body = [
        text(topic), varint(5), varint(sequence), varint(0), varint(0), varint(-1), varint(-len(events)),
        varint(len(raw)), raw, b"\0\0",
    ]  # fmt: skip
    return frame(DELIVER, b"".join(body))


def assert_nothing_is_kept(d: Driver, *subs: SubscriptionState) -> None:
    assert [s.unhandled for s in subs] == [0] * len(subs)
    assert [s.buffer.bytes for s in subs] == [0] * len(subs)
    assert (d.machine.dispatcher.bytes, d.machine.dispatcher.blocking_bytes) == (0, 0)


def test_drop_oldest_drops_in_its_own_buffer_and_the_others_continue() -> None:
    d, socket = client()
    slow = d.subscribed(socket, "a", overflow=Overflow.DROP_OLDEST, bound=16 * KIB)
    quick = d.subscribed(socket, "b")
    for n in range(1, 201):
        d.say(socket, kib("a", n), kib("b", n))
        assert d.numbers(quick) == [n]
    # The bus may continue, though more was received than the window holds.
    assert socket.link.credit.limit > socket.link.credit.received
    assert slow.buffer.bytes <= 16 * KIB
    kept = d.everything(slow)
    missing = kept[0]
    assert isinstance(missing, Gap)
    assert (missing.first, missing.reason) == (1, GapReason.BUFFER_FULL)
    assert shape(kept[1:]) == list(range(missing.last + 1, 201))
    assert slow.missing == missing.count == d.machine.counters().missing
    assert sum(g.count for g in d.of(Gap)) == missing.count
    assert_nothing_is_kept(d, slow, quick)


def test_a_reader_between_the_messages_loses_nothing_however_big_they_are() -> None:
    d, socket = client()
    sub = d.subscribed(socket, "a", overflow=Overflow.DROP_OLDEST, bound=4 * KIB)
    for n in range(1, 300, 30):
        d.say(socket, kib("a", n, 30))
        assert d.numbers(sub) == list(range(n, n + 30))
    # A frame bigger than the bound waits alone.
    for n in (301, 302):
        d.say(socket, deliver("a", 5, n, [b"x" * 8000]))
    d.say(socket, kib("b", 1))
    assert shape(d.everything(sub)) == [(301, 301), 302]
    assert_nothing_is_kept(d, sub)


def test_an_event_counts_until_all_have_handled_it() -> None:
    d, socket = client()
    slow = d.subscribed(socket, "a", overflow=Overflow.DROP_OLDEST, bound=4 * KIB)
    block = d.subscribed(socket, "*")
    d.say(socket, kib("a", 1, 30))
    d.say(socket, kib("a", 31))
    assert slow.missing > 20
    assert d.machine.dispatcher.blocking_bytes > 31 * 1000
    assert d.numbers(block) == list(range(1, 32))
    d.everything(slow)
    assert_nothing_is_kept(d, slow, block)


def test_marks_keep_their_place_and_each_stream_has_one_gap() -> None:
    d, socket = client()
    slow = d.subscribed(socket, "*", overflow=Overflow.DROP_OLDEST, bound=8 * KIB)
    d.say(socket, kib("a", 1), kib("b", 1), kib("a", 4))
    d.end(socket)
    again = d.reconnect()
    d.say(again, confirm_subscribe(slow.id))
    for n in range(5, 60):
        d.say(again, kib("a", n), kib("b", n))
    found = d.everything(slow)
    [away] = [i for i, item in enumerate(found) if isinstance(item, Interruption)]
    assert shape(found[:away]) == [(1, 1), (1, 1), (2, 3), (4, 4)]
    gaps = [g for g in found[away:] if isinstance(g, Gap)]
    for topic in ("a", "b"):
        own = [(g.first, g.last) for g in gaps if g.topic == topic and g.reason is GapReason.BUFFER_FULL]
        [last] = [e.sequence for e in found if isinstance(e, Event) and e.topic == topic][:1]
        assert own == [(5, last - 1)]
    assert_nothing_is_kept(d, slow)


def test_gaps_of_very_many_streams_become_an_interruption() -> None:
    d, socket = client()
    slow = d.subscribed(socket, "*", overflow=Overflow.DROP_OLDEST, bound=8 * KIB)
    start = micros(d)
    for n in range(200):
        d.say(socket, kib(f"t{n}", 1))
    d.advance(0.5)
    d.say(socket, kib("last", 1, 3))
    found = d.everything(slow)
    whole = found[0]
    assert isinstance(whole, Interruption)
    assert (whole.filter, whole.start) == ("*", start)
    assert [e.topic for e in found if isinstance(e, Event)][-3:] == ["last"] * 3
    assert len([g for g in found if isinstance(g, Gap)]) < 20
    assert slow.missing == sum(g.count for g in d.of(Gap)) == 203 - len([e for e in found if isinstance(e, Event)])
    assert slow.interruptions == len(d.of(Interruption))
    assert_nothing_is_kept(d, slow)


def test_conflate_keeps_the_last_event_of_each_key() -> None:
    d, socket = client()
    slow = d.subscribed(socket, "*", overflow=Overflow.CONFLATE, bound=8 * KIB)
    for n in range(1, 600, 3):
        d.say(socket, keyed("a", n, "k1", "k2", None))
    d.say(socket, keyed("b", 1, "k1"))
    found = d.everything(slow)
    events = [e for e in found if isinstance(e, Event)]
    last: dict[tuple[str, str | None], int] = {(e.topic, e.key): e.sequence for e in events}
    assert last == {("a", "k1"): 598, ("a", "k2"): 599, ("a", None): 600, ("b", "k1"): 1}
    assert [e.payload for e in events] == [b"x" * 200] * len(events)
    gaps = [g for g in found if isinstance(g, Gap)]
    assert {g.reason for g in gaps} == {GapReason.BUFFER_CONFLATED}
    # In order, and every number is an event or in a gap.
    place = 1
    for item in (i for i in found if i.topic == "a"):
        first, end = (item.first, item.last) if isinstance(item, Gap) else (item.sequence, item.sequence)
        assert first == place
        place = end + 1
    assert place == 601
    assert slow.missing == sum(g.count for g in gaps) == sum(g.count for g in d.of(Gap))
    assert_nothing_is_kept(d, slow)


def test_conflate_with_too_many_keys_drops_the_oldest() -> None:
    d, socket = client()
    slow = d.subscribed(socket, "a", overflow=Overflow.CONFLATE, bound=8 * KIB)
    for n in range(1, 200):
        d.say(socket, keyed("a", n, f"k{n}"))
    found = d.everything(slow)
    assert isinstance(found[0], Gap)
    assert (found[0].first, found[0].reason) == (1, GapReason.BUFFER_FULL)
    assert shape(found[1:]) == list(range(found[0].last + 1, 200))
    assert_nothing_is_kept(d, slow)


def test_disconnect_ends_the_connection_as_the_bus_does() -> None:
    d, socket = client()
    slow = d.subscribed(socket, "a", overflow=Overflow.DISCONNECT, bound=8 * KIB)
    other = d.subscribed(socket, "b")
    d.say(socket, kib("a", 1, 11))
    assert not socket.aborted
    d.say(socket, kib("a", 12))
    assert socket.aborted
    [told] = d.of(Disconnected)
    assert (told.code, told.will_reconnect) == (4001, True)
    assert "too slow" in told.reason
    [problem] = d.of(Refused)
    assert problem.bus_code is BusCode.SLOW_CONSUMER
    assert "the subscription of a" in str(problem)
    again = d.reconnect()
    d.say(again, *(confirm_subscribe(s.id) for s in (slow, other)), kib("a", 20))
    found = d.everything(slow)
    assert isinstance(found[0], Gap)
    assert (found[0].first, found[0].reason) == (1, GapReason.BUFFER_FULL)
    assert "interruption" in shape(found)
    assert shape(found)[-1] == 20
    assert shape(d.everything(other)) == ["interruption"]
    assert d.machine.state is State.CONNECTED
    assert_nothing_is_kept(d, slow, other)


def test_only_block_uses_up_credit_and_the_stall_is_reported() -> None:
    d, socket = client()
    drops = d.subscribed(socket, "d", overflow=Overflow.DROP_OLDEST)
    for n in range(2 * WINDOW // KIB):
        d.say(socket, kib("d", n + 1))
    assert socket.link.credit.limit > socket.link.credit.received
    block = d.subscribed(socket, "a")
    while socket.link.credit.received < socket.link.credit.limit:
        d.say(socket, kib("a", block.received + 1))
    d.advance(STALL_TIME - 0.01)
    assert d.of(HeldBack) == []
    d.advance(0.02)
    [told] = d.of(HeldBack)
    assert (told.filter, told.others) == ("a", ("d",))
    assert "'a' has" in str(told)
    assert "holds back 'd'" in str(told)
    d.advance(REPORT_INTERVAL - 0.1)
    assert len(d.of(HeldBack)) == 1
    d.advance(0.2)
    assert len(d.of(HeldBack)) == 2
    d.taken(block)
    d.advance(2 * REPORT_INTERVAL)
    assert len(d.of(HeldBack)) == 2
    d.taken(drops)


def test_a_subscription_that_stalls_no_other_is_not_reported() -> None:
    d, socket = client()
    block = d.subscribed(socket, "a")
    while socket.link.credit.received < socket.link.credit.limit:
        d.say(socket, kib("a", block.received + 1))
    d.advance(3 * REPORT_INTERVAL)
    assert d.of(HeldBack) == []


def test_a_slow_subscription_that_makes_progress_is_not_reported() -> None:
    d, socket = client()
    block = d.subscribed(socket, "a")
    d.subscribed(socket, "b")
    for _ in range(20):
        while socket.link.credit.received < socket.link.credit.limit:
            d.say(socket, kib("a", block.received + 1))
        d.advance(STALL_TIME / 2)
        d.taken(block)
    assert d.of(HeldBack) == []


def test_a_move_with_a_subscription_that_drops() -> None:
    d, socket = client()
    slow = d.subscribed(socket, "a", overflow=Overflow.DROP_OLDEST, bound=8 * KIB)
    d.say(socket, kib("a", 1, 30), change_bus("ws://two/bus"))
    assert d.machine.moves.move is not None
    d.end(d.sockets[-1])
    d.everything(slow)
    assert_nothing_is_kept(d, slow)


def test_a_thread_may_take_while_the_policy_drops() -> None:
    buffer = Buffer("a", None, Overflow.DROP_OLDEST, 8 * KIB)
    d, socket = client()
    sub = d.subscribed(socket, "a", overflow=Overflow.DROP_OLDEST, bound=8 * KIB)
    buffer = sub.buffer
    taken: list[Any] = []
    over = threading.Event()

    def take() -> None:
        while not over.is_set() or len(buffer):
            item = buffer.take()
            if item is not None:
                taken.append(item)

    thread = threading.Thread(target=take)
    thread.start()
    for n in range(1, 2001):
        d.say(socket, kib("a", n))
    over.set()
    thread.join(10)
    d.machine.dispatcher.handled(taken, sub)
    assert_nothing_is_kept(d, sub)


def test_buffer_bytes_sets_the_bound() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus, receive_bytes=1 << 20) as client:
            sub = await client.subscribe("a", overflow=Overflow.DROP_OLDEST)
            assert sub._core.buffer.bound == 1 << 18
            own = client.subscribe("a", buffer_bytes=4096)
            assert own._core.buffer.bound == 4096
            await own.unsubscribe()
            with pytest.raises(ValueError, match="buffer_bytes: 1"):
                client.subscribe("a", buffer_bytes=1)
            quick = await client.subscribe("b", overflow=Overflow.DROP_OLDEST, buffer_bytes=4096)
            got: list[int] = []

            async def read() -> None:
                async for event in quick:
                    got.append(event.sequence)
                    if event.sequence == 2000:
                        return

            reading = asyncio.ensure_future(read())
            await asyncio.sleep(0)
            for n in range(1, 2001, 20):
                await bus.connections[0].send(kib("a", n, 20) + kib("b", n, 20))
            await reading
            assert got == list(range(1, 2001))
            assert sub.counters().missing > 1000

    run(test)
