"""Publishing to durable topics, and their events in subscriptions, with a fake bus and clock."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes import Driver, FakeWaiter, PublishSeen, confirm_subscribe, problem, stored
from loopback import loopback

import eventbus
import eventbus.sync
from eventbus import BusChangeFailed, BusCode, Published, Refused, TimedOut
from eventbus._api.payload import durable_fields
from eventbus._wire.records import PUBLISH, ChangeBus, ChangeReason, Confirm, Limits

ONLY_AFTER_4 = durable_fields(4, 0, None)


def connected(**fields: Any) -> tuple[Driver, Any]:
    d = Driver()
    return d, d.connect(durable=True, **fields)


def confirm(last: int, position: int, repeated: bool = False) -> bytes:
    return Confirm(PUBLISH, last, "a", -1, position, repeated).frame()


def published(*waiters: FakeWaiter) -> list[tuple[int, int, bool]]:
    return [(w.result.sequence, w.result.position, w.result.repeated) for w in waiters]


def test_each_event_of_a_frame_gets_its_position() -> None:
    d, s = connected()
    d.hold_writes = True
    waiters = [d.publish("a", b"%d" % n) for n in range(3)]
    d.hold_writes = False
    d.pump()
    [frame] = s.take(PublishSeen)
    assert frame.payloads == [b"0", b"1", b"2"]
    d.say(s, confirm(3, 12))
    assert published(*waiters) == [(1, 10, False), (2, 11, False), (3, 12, False)]
    assert waiters[0].result == Published("a", 77, 1, None, 10)


def test_of_a_frame_that_was_stored_before_only_the_last_position_is_known() -> None:
    d, s = connected()
    d.hold_writes = True
    waiters = [d.publish("a", b"%d" % n) for n in range(2)]
    d.hold_writes = False
    d.pump()
    d.say(s, confirm(2, 12, True))
    assert published(*waiters) == [(1, 0, True), (2, 12, True)]
    forgotten = d.publish("a", b"x")
    d.say(s, confirm(3, 0, True))
    assert published(forgotten) == [(3, 0, True)]


def test_a_confirmation_tells_no_position_of_the_frames_before() -> None:
    d, s = connected()
    first = d.publish("a", b"x")
    second = d.publish("a", b"y")
    d.say(s, confirm(2, 12, True))
    assert published(first, second) == [(1, 0, False), (2, 12, True)]


def test_an_event_with_options_is_alone_in_its_frame() -> None:
    d, s = connected()
    d.hold_writes = True
    for n, tail in enumerate((b"", ONLY_AFTER_4, durable_fields(None, 1.5, 60), b"", b"")):
        d.publish("a", b"%d" % n, tail)
    d.hold_writes = False
    d.pump()
    assert [(f.sequence, f.payloads, f.durable) for f in s.take(PublishSeen)] == [
        (1, [b"0"], (0, 0, 0)),
        (2, [b"1"], (5, 0, 0)),
        (3, [b"2"], (0, 1500, 60_000)),
        (4, [b"3", b"4"], (0, 0, 0)),
    ]


def test_options_are_sent_again_after_a_lost_connection() -> None:
    d, s = connected()
    waiter = d.publish("a", b"x", ONLY_AFTER_4)
    d.end(s)
    s = d.reconnect(durable=True)
    assert [(f.sequence, f.durable) for f in s.take(PublishSeen)] == [(1, (5, 0, 0))]
    d.say(s, confirm(1, 5))
    assert published(waiter) == [(1, 5, False)]


def test_options_are_sent_again_under_new_numbers() -> None:
    d, s = connected()
    d.publish("a", b"x")
    d.say(s, confirm(1, 4))
    d.publish("a", b"y", ONLY_AFTER_4)
    d.end(s)
    s = d.reconnect(durable=True, producer=78)
    assert [(f.sequence, f.durable) for f in s.take(PublishSeen)] == [(1, (5, 0, 0))]


def test_an_event_of_a_named_producer_is_alone_in_its_frame_and_sent_again_under_its_name_and_number() -> None:
    d, s = connected()
    d.hold_writes = True
    d.publish("a", b"0")
    named = d.publish("a", b"1", durable_fields(None, 0, None, "outbox", 41))
    d.publish("a", b"2", durable_fields(4, 1, None, "é-1", 1 << 60))
    d.publish("a", b"3")
    d.hold_writes = False
    d.pump()
    seen = [
        (1, [b"0"], (0, 0, 0), None),
        (2, [b"1"], (0, 0, 0), ("outbox", 41)),
        (3, [b"2"], (5, 1000, 0), ("é-1", 1 << 60)),
        (4, [b"3"], (0, 0, 0), None),
    ]
    assert [(f.sequence, f.payloads, f.durable, f.named) for f in s.take(PublishSeen)] == seen
    d.end(s)
    s = d.reconnect(durable=True, producer=78, limits=Limits(1000, 1 << 20, 64, 16_384, 10_000, 8 << 20))
    assert [(f.sequence, f.payloads, f.durable, f.named) for f in s.take(PublishSeen)] == seen
    d.say(s, confirm(2, 5, True))
    assert published(named) == [(2, 5, True)]


def test_a_smaller_bus_gets_the_options_too() -> None:
    d, s = connected()
    waiters = [d.publish("a", b"x", ONLY_AFTER_4), d.publish("a", b"y" * 2000, ONLY_AFTER_4)]
    d.end(s)
    s = d.reconnect(durable=True, limits=Limits(1000, 1 << 20, 64, 16_384, 10_000, 8 << 20))
    assert [(f.sequence, f.payloads, f.durable) for f in s.take(PublishSeen)] == [(1, [b"x"], (5, 0, 0))]
    assert isinstance(waiters[1].error, eventbus.TooBig)


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        (BusCode.SEQUENCE_GAP, False),
        (BusCode.EXPECTATION_FAILED, False),
        (BusCode.STORE_FULL, True),
        (BusCode.UNAVAILABLE, True),
        (BusCode.NO_JOURNAL, False),
    ],
)
def test_a_refusal_is_told_by_its_code(code: BusCode, retryable: bool) -> None:
    d, s = connected()
    waiter = d.publish("a", b"x", ONLY_AFTER_4)
    d.say(s, problem(code, PUBLISH, 1, "a", retryable))
    assert isinstance(waiter.error, Refused)
    assert (waiter.error.bus_code, waiter.error.retryable) == (code, retryable)
    assert d.of(Refused) == []


def test_options_are_refused_where_the_bus_has_no_durable_topics() -> None:
    d = Driver()
    s = d.connect()
    with pytest.raises(Refused, match="no durable topics") as refused:
        d.publish("a", b"x", ONLY_AFTER_4)
    assert refused.value.bus_code is BusCode.UNSUPPORTED
    d.publish("a", b"y")
    assert [(f.sequence, f.payloads) for f in s.take(PublishSeen)] == [(1, [b"y"])]


def test_options_are_not_sent_to_a_bus_without_durable_topics_after_a_reconnect() -> None:
    d, s = connected()
    sent = d.publish("a", b"x", ONLY_AFTER_4)
    d.end(s)
    unsent = d.publish("a", b"y", ONLY_AFTER_4)
    plain = d.publish("a", b"z")
    s = d.reconnect()
    assert [(f.sequence, f.payloads) for f in s.take(PublishSeen)] == [(3, [b"z"])]
    assert [type(w.error) for w in (sent, unsent)] == [Refused, Refused]
    assert not plain.done()
    d.say(s, confirm(3, 0))
    assert published(plain) == [(3, 0, False)]
    assert d.machine.outbox.used == 0


def test_a_client_does_not_move_to_a_bus_without_durable_topics() -> None:
    d, s = connected()
    d.say(s, ChangeBus(("ws://two/bus",), ChangeReason.DRAIN, 30_000, "move", 2).frame())
    d.welcome(d.sockets[-1])
    [failed] = d.of(BusChangeFailed)
    assert "no durable topics" in failed.why


def test_an_unsent_event_with_options_is_withdrawn() -> None:
    d, s = connected()
    d.end(s)
    late = d.publish("a", b"x", ONLY_AFTER_4)
    next_ = d.publish("a", b"y", ONLY_AFTER_4)
    assert isinstance(d.machine.outbox.give_up(late, 1), TimedOut)
    s = d.reconnect(durable=True)
    assert [(f.sequence, f.payloads) for f in s.take(PublishSeen)] == [(1, [b"y"])]
    assert not next_.done()


def test_options_have_bounds() -> None:
    assert durable_fields(None, 0, None) == b""
    for wrong in (
        (-1, 0, None),
        (1 << 63, 0, None),
        (True, 0, None),
        (None, -1, None),
        (None, 0, 0),
        (None, 4e8, None),
    ):
        with pytest.raises(ValueError, match="expected:"):
            durable_fields(*wrong)
    # Rounded up, but not for what is an error of floating-point numbers.
    assert durable_fields(None, 0.0011, 1.1) == durable_fields(None, 0.002, 1.1)
    assert durable_fields(None, 1.1, None) == b"\0" + b"\x98\x11" + b"\0\0\0"
    for name in ("", "a/b", "a b", "é" * 32):
        with pytest.raises(eventbus.IllegalTopic, match=r"^producer: .* \(expected: "):
            durable_fields(None, 0, None, name, 1)
    for number in (None, 0, -1, True, (1 << 63) - 65_537):
        with pytest.raises(ValueError, match=r"^number: .* \(expected: 1\.\."):
            durable_fields(None, 0, None, "outbox", number)
    with pytest.raises(ValueError, match=r"^number: 1 \(expected: only with producer\)"):
        durable_fields(None, 0, None, None, 1)


def test_a_subscription_sees_positions_and_publishers() -> None:
    d, s = connected()
    sub = d.subscribed(s, "a")
    d.say(s, stored(41, b"x", b"y", sequence=5), stored(44, b"z", sequence=7))
    events = d.taken(sub)
    assert [(e.position, e.producer, e.sequence, e.payload) for e in events] == [
        (41, 77, 105, b"x"),
        (42, 77, 106, b"y"),
        (44, 77, 107, b"z"),
    ]
    # Repetitions and gaps are those of the journal's numbers.
    d.say(s, stored(42, b"y", b"z", sequence=6), stored(50, b"!", sequence=10))
    assert [(e.position, e.sequence) for e in d.taken(sub)] == [(50, 110)]
    assert [(g.producer, g.first, g.last) for g in d.of(eventbus.Gap)] == [(900, 8, 9)]


def test_a_conflated_subscription_keeps_the_positions() -> None:
    d, s = connected()
    sub = d.subscribe("a", overflow=eventbus.Overflow.CONFLATE, bound=200)
    d.say(s, confirm_subscribe(sub.id))
    d.say(s, stored(1, *[b"x" * 30] * 10))
    d.say(s, stored(11, b"x", b"y", b"z"))
    d.say(s, stored(14, b"!"))  # the policy is applied with the next message
    assert [(e.position, e.sequence, e.payload) for e in d.taken(sub)] == [(13, 113, b"z"), (14, 114, b"!")]


def test_both_faces_send_the_options() -> None:
    async def test() -> None:
        async with loopback() as bus:
            bus.durable = True
            async with eventbus.connect(bus.url, proxy=None) as client:
                done = await client.publish("a", "x", expected=0, delay=1, ttl=2)
                assert (done.position, done.repeated) == (7, False)
            with await asyncio.to_thread(eventbus.sync.connect, bus.url, proxy=None) as other:
                await asyncio.to_thread(other.publish, "a", "x", expected=7, producer="outbox", number=42)
                await asyncio.to_thread(other.close)
            assert [f.durable for f in bus.of(PublishSeen)] == [(1, 1000, 2000), (8, 0, 0)]
            assert [f.named for f in bus.of(PublishSeen)] == [None, ("outbox", 42)]

    asyncio.run(test())
