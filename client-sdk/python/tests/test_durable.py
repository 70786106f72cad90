"""Consumers of durable topics, with a fake bus and clock."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes import Consumer, Driver, Socket, change_bus, drained, problem, stored

from eventbus import (
    BusChanged,
    BusChangeFailed,
    BusCode,
    Closed,
    Disconnected,
    Error,
    Refused,
    Start,
    TimedOut,
    Truncated,
    TruncatedReason,
)
from eventbus._durable.fed_consumer import ITEM_OVERHEAD
from eventbus._wire.codec import frame
from eventbus._wire.durable_frames import Consume, ConsumeMode, ConsumeStart, Feed, Settle
from eventbus._wire.records import Barrier, Credit, Subscribe, Unsubscribe

WINDOW = 1 << 16


def connected(**fields: Any) -> tuple[Driver, Socket]:
    d = Driver()
    s = d.connect(durable=True, **fields)
    s.take()
    return d, s


def settled(s: Socket) -> list[int]:
    return [frame.up_to for frame in s.take(Settle)]


def granted(s: Socket) -> list[tuple[int, int]]:
    return [(frame.limit, frame.received) for frame in s.take(Credit) if frame.consumer]


# ---- Consuming


def test_a_durable_subscription_is_consumed_and_settled() -> None:
    d, s = connected()
    billing = d.consume()
    assert s.take() == [
        Consume(
            billing.id,
            "a.>",
            "shop",
            "billing",
            ConsumeMode.EXCLUSIVE,
            ConsumeStart.FIRST,
            0,
            WINDOW,
            0,
            ConsumeStart.FIRST,
        )
    ]
    assert not billing.ready.done()
    d.say(s, billing.confirm(), billing.feed(1, 0))
    assert billing.ready.done()
    assert billing.ready.error is None
    d.say(s, billing.feed(1, 5, stored(1, b"x", b"y"), stored(4, b"z", topic="b"), head=9))
    assert billing.take() == [(1, b"x"), (2, b"y"), (4, b"z")]
    assert (billing.state.handled, billing.state.lag()) == (0, 9)
    assert settled(s) == []
    billing.state.handle(1)
    d.pump()
    # The first settlement is sent at once, the next one after a moment: with what it covers.
    assert settled(s) == [1]
    billing.state.handle(2)
    billing.handle()
    assert settled(s) == []
    assert (billing.state.handled, billing.state.lag()) == (5, 4)
    d.advance(0.099)
    assert settled(s) == []
    d.advance(0.001)
    assert settled(s) == [5]
    d.advance(10)
    assert settled(s) == []
    assert d.machine.counters().queued_bytes == 0


def test_positions_without_events_are_settled_too() -> None:
    d, s = connected()
    billing = d.consume()
    d.say(s, billing.confirm(), billing.feed(1, 0), billing.feed(1, 7))
    assert (settled(s), billing.state.handled) == ([7], 7)
    d.say(s, billing.feed(8, 10, stored(9, b"x")))
    d.say(s, billing.feed(11, 20))
    d.advance(1)
    assert (settled(s), billing.state.handled) == ([], 7)  # they are behind an event
    assert billing.take() == [(9, b"x")]
    d.say(s, billing.feed(21, 30))
    d.advance(1)
    assert settled(s) == []
    billing.handle()
    assert settled(s) == [30]


def test_where_a_consumer_begins_nothing_is_settled() -> None:
    d, s = connected()
    billing = d.consume()
    d.say(s, billing.confirm(), billing.feed(41, 40))
    d.advance(1)
    assert (settled(s), billing.state.handled, billing.state.lag()) == ([], 40, 0)


def test_a_replay_settles_nothing() -> None:
    d, s = connected()
    replay = d.consuming(s, name="", start=Start.position(3))
    [consume] = s.take(Consume)
    assert (consume.name, consume.start, consume.first) == ("", ConsumeStart.POSITION, 3)
    d.say(s, replay.feed(3, 2), replay.feed(3, 4, stored(3, b"x", b"y")))
    assert replay.everything() == [(3, b"x"), (4, b"y")]
    d.advance(1)
    replay.stop()
    assert s.take(Settle, Unsubscribe) == [Unsubscribe(replay.id)]


def test_starts_are_sent_as_they_are() -> None:
    d, s = connected()
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    starts = [Start.FIRST, Start.NEW, Start.LATEST_VALUES, Start.position(7), Start.time(noon), Start.time(5)]
    for start in starts:
        d.consume(start=start)
    assert [(f.start.name, f.first) for f in s.take(Consume)] == [
        ("FIRST", 0),
        ("NEW", 0),
        ("LATEST_VALUES", 0),
        ("POSITION", 7),
        ("TIME", 1_767_268_800_000_000),
        ("TIME", 5),
    ]
    with pytest.raises(ValueError, match="expected: with a time zone"):
        Start.time(datetime(2026, 1, 1))
    for wrong in (-1, True, 1 << 63):
        with pytest.raises(ValueError, match="expected:"):
            Start.position(wrong)


def test_other_frames_in_a_feed_are_skipped() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 2, frame(77, b"abc"), stored(1, b"x"), frame(300, b""), stored(2, b"y")))
    assert billing.everything() == [(1, b"x"), (2, b"y")]


def test_many_events_are_taken_in_parts() -> None:
    d, s = connected()
    billing = d.consuming(s)
    payloads = [b"%d" % n for n in range(1, 201)]
    d.say(s, billing.feed(1, 200, stored(1, *payloads[:150]), stored(151, *payloads[150:])))
    assert [len(part) for part in iter(lambda: billing.take() if not billing.handle() else [], [])] == [64, 64, 64, 8]  # type: ignore[func-returns-value]
    assert billing.state.handled == 200


@pytest.mark.parametrize(
    "broken",
    [
        stored(2, b"x")[:-3],
        stored(2, b"x", b"y", b"z"),
        stored(3, b"x") + stored(2, b"y"),
        stored(0, b"x", sequence=1),
        stored(2, b"x").replace(b"\x02x", b"\x08x"),
    ],
    ids=["cut", "beyond the range", "out of order", "no position", "a wrong length"],
)
def test_a_malformed_feed_ends_the_connection_and_nothing_of_it_counts(broken: bytes) -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 1, stored(1, b"a")), billing.feed(2, 3, broken))
    assert s.closed is not None
    assert s.closed[0] == 1007
    assert (billing.state.covered, billing.state.received) == (1, 0)


def test_what_does_not_come_is_told_in_order_and_at_once() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 1, stored(1, b"x")), billing.truncated(2, 9), billing.feed(10, 10, stored(10, b"y")))
    first = Truncated("a.>", 2, 9, TruncatedReason.RETENTION)
    assert d.of(Truncated) == [first]
    assert billing.take() == [(1, b"x")]
    billing.handle()
    assert settled(s) == [1]
    assert billing.take() == [first]
    assert billing.take() == [first]  # until it is handled
    billing.handle()
    assert billing.everything() == [(10, b"y")]
    d.advance(1)
    assert settled(s) == [10]


def test_what_does_not_come_is_told_once() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.truncated(1, 5))
    d.end(s)
    s = d.reconnect(durable=True)
    d.say(s, billing.confirm(), billing.truncated(1, 4), billing.truncated(5, 9))
    assert [(t.first, t.last) for t in d.of(Truncated)] == [(1, 5), (6, 9)]
    assert [(t.first, t.last) for t in billing.everything()] == [(1, 5), (6, 9)]


def test_reasons_of_later_versions_are_unknown() -> None:
    d, s = connected()
    billing = d.consuming(s)
    raw = billing.truncated(1, 3)
    d.say(s, raw[:-1] + b"\x54")
    assert [t.reason for t in d.of(Truncated)] == [TruncatedReason.UNKNOWN]


def test_feeds_of_other_consumers_are_dropped() -> None:
    d, s = connected()
    d.say(s, Feed(99, 1, 1, 1, stored(1, b"x")).frame(), frame(37, b"\x99\x01\x02\x02\x02"))
    assert s.closed is None
    assert d.happened == d.of(type(d.machine.connection))


# ---- Credit


def test_credit_is_granted_for_what_is_handled() -> None:
    d, s = connected()
    billing = d.consuming(s, buffer_bytes=8192)
    fed = billing.feed(1, 1, stored(1, b"x" * 3000))
    d.say(s, fed)
    d.say(s, billing.feed(2, 2, stored(2, b"x" * 3000)))
    assert granted(s) == []  # nothing is handled
    received = 2 * len(fed)
    assert len(billing.take()) == 1
    assert granted(s) == []
    billing.handle()
    assert granted(s) == []  # less than half
    billing.everything()
    assert granted(s) == [(received + 8192, received)]
    assert billing.state.queued_bytes == 0


def test_what_waits_is_not_granted_again_over_the_next_connection() -> None:
    d, s = connected()
    replay = d.consuming(s, name="", buffer_bytes=8192)
    s.take()
    first = replay.feed(1, 1, stored(1, b"x" * 7000))
    d.say(s, first)
    for _ in range(5):
        d.end(s)
        s = d.reconnect(durable=True)
        [consume] = s.take(Consume)
        assert (consume.first, consume.limit) == (2, 8192 - len(first) - ITEM_OVERHEAD)
        d.say(s, replay.confirm())
        assert granted(s) == []
    assert len(replay.everything()) == 1
    assert granted(s) == [(8192, 0)]


def test_a_slow_application_makes_no_memory_grow() -> None:
    d, s = connected()
    billing = d.consuming(s, buffer_bytes=8192)
    limit = position = sent = 0
    [consume] = s.take(Consume)
    limit = consume.limit
    most = 0
    for _ in range(300):
        # The bus sends as much as it may, in small frames.
        while sent < limit:
            position += 1
            fed = billing.feed(position, position, stored(position, b"y" * 50))
            sent += len(fed)
            d.say(s, fed)
        for _ in range(3):
            billing.take()
            billing.handle()
        limit = max([limit, *(new for new, _ in granted(s))])
        assert sent - limit < 300
        most = max(most, billing.state.queued_bytes)
    assert position > 500
    # The window, in frames of 100 bytes that take ITEM_OVERHEAD more.
    assert most < 8192 * (1 + ITEM_OVERHEAD / 100)


def test_feeds_without_events_wait_for_nothing_and_take_no_memory() -> None:
    d, s = connected()
    billing = d.consuming(s, buffer_bytes=1 << 20)
    d.say(s, billing.feed(1, 1, stored(1, b"x")))
    before = billing.state.queued_bytes
    tracemalloc.start()
    for n in range(2, 5000):
        d.say(s, billing.feed(n, n, head=5000))
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert billing.state.queued_bytes == before
    assert grown < 200_000
    assert billing.everything() == [(1, b"x")]
    assert billing.state.handled == 4999
    assert granted(s) == []


def test_feeds_do_not_count_in_the_credit_of_deliveries() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 1, stored(1, b"x" * 1000)))
    assert s.link.credit.received == 0
    assert not s.link.paused


# ---- Lost connections


def test_a_durable_subscription_goes_on_after_a_lost_connection() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 4, stored(1, b"a", b"b", b"c", b"d")))
    assert len(billing.take()) == 4
    billing.state.handle(2)
    d.end(s)
    s = d.reconnect(durable=True)
    [consume] = s.take(Consume)
    assert (consume.name, consume.start, consume.journal) == ("billing", ConsumeStart.FIRST, "shop")
    # Nothing was settled: all of it comes again, and more.
    d.say(s, billing.confirm(), billing.feed(1, 3, stored(1, b"a", b"b", b"c")))
    d.say(s, billing.feed(4, 6, stored(4, b"d", b"e", b"f")))
    assert settled(s) == [2]  # over the new connection
    billing.handle()
    assert billing.everything() == [(5, b"e"), (6, b"f")]
    d.advance(1)
    assert settled(s) == [6]
    assert billing.state.counters().duplicates == d.machine.counters().duplicates == 4
    assert billing.state.queued_bytes == 0


def test_what_was_settled_is_settled_again_after_a_lost_connection() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 2, stored(1, b"a", b"b")))
    billing.everything()
    assert settled(s) == [2]
    d.end(s)
    s = d.reconnect(durable=True)
    d.say(s, billing.confirm())
    d.advance(1)
    assert settled(s) == []  # it stands by
    d.say(s, billing.feed(1, 0))
    assert settled(s) == [2]


def test_nothing_of_a_deleted_journal_counts_in_the_one_that_was_created_again() -> None:
    d, s = connected()
    billing = d.consume()
    d.say(s, billing.confirm(creation=79), billing.feed(1, 2, stored(1, b"a", b"b")))
    d.say(s, billing.feed(3, 5, stored(3, b"c")))
    assert billing.take() == [(1, b"a"), (2, b"b")]
    billing.state.handle(1)
    s = d.reconnect(durable=True)
    [consume] = s.take(Consume)
    assert (consume.creation, consume.other_start, consume.other_first) == (79, ConsumeStart.FIRST, 0)
    d.say(s, billing.confirm(creation=80), billing.feed(1, 2, stored(1, b"x", b"y")))
    assert d.of(Truncated) == [Truncated("a.>", 2, 5, TruncatedReason.DELETED)]
    assert billing.reader.is_stale
    assert (billing.state.handled, settled(s)) == (0, [])
    billing.reader.drop()
    assert billing.everything() == [Truncated("a.>", 2, 5, TruncatedReason.DELETED), (1, b"x"), (2, b"y")]
    d.advance(1)
    assert s.take(Settle) == [Settle(billing.id, 2, False, 80)]
    assert billing.state.queued_bytes == 0
    # A bus that tells no creation changes nothing.
    s = d.reconnect(durable=True)
    assert [c.creation for c in s.take(Consume)] == [80]
    d.say(s, billing.confirm(), billing.feed(3, 3, stored(3, b"z")))
    assert billing.everything() == [(3, b"z")]
    assert len(d.of(Truncated)) == 1


def test_a_bus_that_still_has_the_deleted_journal_feeds_nothing_more() -> None:
    d, s = connected()
    replay = d.consume(name="", start=Start.position(1))
    d.say(s, replay.confirm(creation=79), replay.feed(1, 1, stored(1, b"a")))
    assert replay.everything() == [(1, b"a")]
    d.say(s, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, durable=True, bus="bus-2")
    [consume] = new.take(Consume)
    assert (consume.first, consume.creation, consume.other_start, consume.other_first) == (
        2,
        79,
        ConsumeStart.POSITION,
        1,
    )
    d.say(new, replay.confirm(creation=80))
    d.say(s, replay.feed(2, 2, stored(2, b"b")), replay.truncated(3, 4))
    d.say(new, replay.feed(1, 1, stored(1, b"x")))
    assert replay.everything() == [Truncated("a.>", 2, 2, TruncatedReason.DELETED), (1, b"x")]


def test_a_replay_goes_on_behind_what_it_has_got() -> None:
    d, s = connected()
    replay = d.consume(name="", start=Start.LATEST_VALUES)
    d.say(s, replay.confirm("found"), replay.feed(1, 4, stored(3, b"a", b"b")))
    s.take()
    d.end(s)
    s = d.reconnect(durable=True)
    [consume] = s.take(Consume)
    assert (consume.start, consume.first, consume.journal) == (ConsumeStart.POSITION, 5, "found")
    d.say(s, replay.confirm(), replay.feed(5, 5, stored(5, b"c")))
    assert replay.everything() == [(3, b"a"), (4, b"b"), (5, b"c")]


def test_a_consumer_that_begins_without_a_connection_begins_with_the_next_one() -> None:
    d, s = connected()
    d.end(s)
    billing = d.consume()
    s = d.reconnect(durable=True)
    assert [f.id for f in s.take(Consume)] == [billing.id]


def test_what_another_consumer_has_settled_meanwhile_is_dropped() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 1, stored(1, b"a")), billing.feed(2, 3, stored(2, b"b", b"c")))
    assert billing.take() == [(1, b"a")]
    d.end(s)
    s = d.reconnect(durable=True)
    d.say(s, billing.confirm())
    # It stood by until another one, which has come to 7, had ended.
    d.say(s, billing.feed(8, 7), billing.feed(8, 8, stored(8, b"h")))
    billing.handle()
    assert billing.everything() == [(8, b"h")]
    d.advance(1)
    assert settled(s) == [7, 8]
    assert billing.state.queued_bytes == 0


def test_a_consumer_that_stands_by_takes_over() -> None:
    d, s = connected()
    standby = d.consuming(s)
    assert standby.ready.done()
    d.advance(15)
    assert s.closed is None  # the bus owes no answer
    d.say(s, standby.feed(5, 4), standby.feed(5, 5, stored(5, b"e")))
    assert standby.everything() == [(5, b"e")]
    assert settled(s) == [5]


@pytest.mark.parametrize(("code", "retryable"), [(BusCode.REPLACED, False), (BusCode.UNAVAILABLE, True)])
def test_a_consumer_that_the_bus_has_ended_asks_again(code: BusCode, retryable: bool) -> None:
    d, s = connected()
    billing = d.consuming(s, buffer_bytes=8192)
    d.say(s, billing.feed(1, 2, stored(1, b"a" * 5000, b"b")))
    billing.everything()
    assert len(granted(s)) == 1
    s.take()
    d.say(s, problem(code, Consume.CODE, billing.id, retryable=retryable))
    d.advance(0.99)
    assert s.take(Consume) == []
    d.advance(0.01)
    assert [f.id for f in s.take(Consume)] == [billing.id]
    fed = billing.feed(1, 3, stored(1, b"a" * 5000, b"b", b"c"))
    d.say(s, billing.confirm(), fed)
    # What was settled before may not have counted, and the limit counts from the new Consume.
    assert settled(s) == [2]
    assert billing.everything() == [(3, b"c")]
    assert granted(s) == [(len(fed) + 8192, len(fed))]
    assert d.of(Error) == []


def test_a_consumer_that_asks_again_does_so_once_for_each_connection() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, problem(BusCode.REPLACED, Consume.CODE, billing.id))
    d.end(s)
    s = d.reconnect(durable=True)
    d.advance(5)
    assert [f.id for f in s.take(Consume)] == [billing.id]


def test_an_unanswered_retry_is_noticed() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.end(s)
    s = d.reconnect(durable=True)
    d.say(s, problem(BusCode.UNAVAILABLE, Consume.CODE, billing.id, retryable=True))
    d.advance(1)
    d.say(s, problem(BusCode.UNAVAILABLE, Consume.CODE, billing.id, retryable=True))
    d.advance(0.5)
    assert not s.aborted
    d.advance(15)
    assert s.aborted
    assert any("the durable subscription billing" in str(e) for e in d.of(TimedOut))


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        (BusCode.NO_JOURNAL, False),
        (BusCode.STORE_FULL, True),
        (BusCode.UNAVAILABLE, True),
        (BusCode.DUPLICATE_SUBSCRIPTION, False),
    ],
)
def test_a_refused_consumer_has_ended(code: BusCode, retryable: bool) -> None:
    d, s = connected()
    billing = d.consume()
    d.say(s, problem(code, Consume.CODE, billing.id, retryable=retryable))
    assert isinstance(billing.ready.error, Refused)
    assert (billing.ready.error.bus_code, billing.ready.error.retryable) == (code, retryable)
    assert billing.state.ended
    assert d.of(Error) == []
    # Nobody waits for the answer.
    other = d.consume(name="other")
    other.ready.cancelled = True
    d.say(s, problem(code, Consume.CODE, other.id, retryable=retryable))
    [told] = d.of(Refused)
    assert "the durable subscription other is ended" in str(told)


def test_a_consumer_waits_for_a_bus_with_durable_topics() -> None:
    d = Driver()
    s = d.connect()
    refused = d.consume()
    assert s.take(Consume) == []
    d.machine.registry.settle_if_unserved(refused.state)
    assert isinstance(refused.ready.error, Refused)
    assert refused.ready.error.bus_code is BusCode.UNSUPPORTED
    assert "bus-1 has no durable topics" in str(refused.ready.error)
    [told] = d.of(Refused)
    assert "the durable subscription billing waits for another bus" in str(told)
    d.end(s)
    s = d.reconnect(durable=True)
    assert [f.id for f in s.take(Consume)] == [refused.id]
    d.say(s, refused.confirm(), refused.feed(1, 1, stored(1, b"x")))
    assert refused.everything() == [(1, b"x")]


def test_a_bus_that_does_not_know_consumers_after_all_keeps_its_client() -> None:
    d, s = connected()
    billing = d.consume()
    unknown = problem(BusCode.UNKNOWN_TYPE, Consume.CODE)
    d.say(s, unknown)
    assert isinstance(billing.ready.error, Refused)
    assert billing.ready.error.bus_code is BusCode.UNKNOWN_TYPE
    assert d.of(Error) == []
    d.consume(name="other").ready.cancelled = True
    d.say(s, unknown)
    assert len(d.of(Refused)) == 1
    d.advance(15)
    assert not s.aborted
    d.end(s)
    s = d.reconnect(durable=True)
    assert len(s.take(Consume)) == 2


def test_settlements_and_credit_that_come_too_late_are_no_problem() -> None:
    d, s = connected()
    d.say(
        s, problem(BusCode.UNKNOWN_SUBSCRIPTION, Settle.CODE, 1), problem(BusCode.UNKNOWN_SUBSCRIPTION, Credit.CODE, 1)
    )
    assert d.of(Error) == []
    assert not s.link.credit.refused
    d.say(s, problem(BusCode.LIMIT_EXCEEDED, Settle.CODE, 1))
    assert [e.bus_code for e in d.of(Refused)] == [BusCode.LIMIT_EXCEEDED]
    assert s.link.refusal is None


# ---- The end


def test_unsubscribing_settles_what_was_handled() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 1, stored(1, b"a")), billing.feed(2, 3, stored(2, b"b", b"c")))
    assert billing.take() == [(1, b"a")]
    billing.handle()
    assert billing.take() == [(2, b"b"), (3, b"c")]
    billing.state.handle(2)
    s.take()
    billing.stop()
    assert s.take() == [Settle(billing.id, 2, False), Unsubscribe(billing.id)]
    # What comes until the end is dropped, and settled by nobody.
    d.say(s, billing.feed(4, 4, stored(4, b"d")), billing.feed(5, 9))
    d.advance(1)
    assert s.take() == []
    # What the application was at is settled until the end.
    billing.state.handle(3)
    d.advance(1)
    assert settled(s) == [3]
    d.say(s, drained(billing.id))
    assert billing.state.ended
    billing.state.handle(9)
    billing.handle()
    d.advance(1)
    assert settled(s) == []


def test_what_comes_after_the_stop_is_not_settled_with_what_was_taken() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 1, stored(1, b"a")))
    assert billing.take() == [(1, b"a")]
    billing.state.stop()
    d.say(s, billing.feed(2, 2, stored(2, b"b")), billing.feed(3, 9))
    billing.handle()
    d.advance(1)
    assert settled(s) == [1]


def test_closing_settles_what_was_handled() -> None:
    d, s = connected()
    billing = d.consuming(s)
    d.say(s, billing.feed(1, 1, stored(1, b"a")))
    billing.everything()
    assert settled(s) == [1]
    d.say(s, billing.feed(2, 2, stored(2, b"b")))
    billing.everything()
    billing.state.stop()
    d.machine.drain(d.now)
    d.pump()
    assert s.take(Settle, Unsubscribe) == [Settle(billing.id, 2, False), Unsubscribe(billing.id)]


def test_the_end_of_the_client_ends_consumers() -> None:
    d, s = connected()
    billing = d.consuming(
        s,
    )
    d.say(s, billing.feed(1, 1, stored(1, b"a")))
    d.end(s, 4500, "no token")
    assert billing.state.ended
    assert isinstance(billing.state.failure, Closed)
    assert billing.take() == []
    assert billing.state.queued_bytes == 0


# ---- Client moves


def moving(**settings: Any) -> tuple[Driver, Socket, Socket, Consumer]:
    """Returns a client that has consumed to 2 of 3, and was asked to move."""
    d, old = connected()
    consumer = d.consuming(old, **settings)
    d.say(old, consumer.feed(1, 3, stored(1, b"a", b"b", b"c")))
    consumer.take()
    consumer.state.handle(1)
    d.pump()
    old.take()
    d.say(old, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, durable=True, bus="bus-2")
    return d, old, new, consumer


def leave(d: Driver, old: Socket, new: Socket, consumer: Consumer) -> None:
    d.say(new, consumer.confirm())
    [barrier] = old.take(Barrier)
    d.say(old, barrier.frame())


def test_a_move_loses_and_doubles_nothing() -> None:
    d, old, new, billing = moving()
    [consume] = new.take(Consume)
    assert (consume.name, consume.limit) == ("billing", WINDOW - billing.state.queued_bytes)
    # It stands by at the new bus, and goes on at the old one.
    billing.state.handle(2)
    leave(d, old, new, billing)
    d.advance(0.2)
    assert old.take(Settle, Unsubscribe) == [Settle(billing.id, 2, False), Unsubscribe(billing.id)]
    d.say(old, billing.feed(4, 4, stored(4, b"d")), drained(billing.id))
    assert len(d.of(BusChanged)) == 1
    d.say(new, billing.feed(3, 5, stored(3, b"c", b"d", b"e")))
    assert settled(new) == [2]
    billing.handle()
    assert billing.everything() == [(4, b"d"), (5, b"e")]
    d.advance(1)
    assert settled(new) == [5]
    assert settled(old) == []
    assert d.of(Error) == []


def test_a_replay_moves_without_a_name() -> None:
    d, old, new, replay = moving(name="")
    [consume] = new.take(Consume)
    assert (consume.start, consume.first) == (ConsumeStart.POSITION, 4)
    # Both feed for a while.
    d.say(new, replay.confirm(), replay.feed(4, 5, stored(4, b"d", b"e")))
    d.say(old, replay.feed(4, 4, stored(4, b"d")), replay.feed(5, 6, stored(5, b"e", b"f")))
    leave(d, old, new, replay)
    assert old.take(Settle, Unsubscribe) == [Unsubscribe(replay.id)]
    d.say(old, drained(replay.id))
    d.say(new, replay.feed(6, 7, stored(6, b"f", b"g")))
    replay.handle()
    assert replay.everything() == [(4, b"d"), (5, b"e"), (6, b"f"), (7, b"g")]


def test_a_late_frame_of_the_old_bus_settles_nothing_that_waits() -> None:
    d, old = connected()
    billing = d.consuming(old)
    d.say(old, billing.feed(1, 100, stored(1, *[b"x"] * 100)))
    assert len(billing.everything()) == 100
    d.say(old, billing.feed(101, 500, stored(101, *[b"x"] * 400)))
    d.say(old, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, durable=True, bus="bus-2")
    # Both feed for a while.
    d.say(new, billing.confirm(), billing.feed(101, 200, stored(101, *[b"x"] * 100)))
    d.say(old, billing.feed(501, 600, stored(501, *[b"x"] * 100)))
    assert billing.state.handled == 100
    assert [position for position, _ in billing.everything()] == list(range(101, 601))
    assert billing.state.queued_bytes == 0


def test_a_refusal_at_the_new_bus_keeps_the_client() -> None:
    d, old, new, billing = moving()
    d.say(new, problem(BusCode.NO_JOURNAL, Consume.CODE, billing.id))
    assert len(d.of(BusChangeFailed)) == 1
    assert not billing.state.ended
    d.say(old, billing.feed(4, 4, stored(4, b"d")))
    billing.handle()
    assert billing.everything() == [(4, b"d")]
    d.advance(1)
    assert settled(old) == [4]


def test_a_client_that_comes_back_consumes_again() -> None:
    d, old, new, billing = moving()
    leave(d, old, new, billing)
    old.take()
    d.end(new)
    d.say(old, drained(billing.id))
    assert len(d.of(BusChangeFailed)) == 1
    assert [f.id for f in old.take(Consume)] == [billing.id]
    d.say(old, billing.confirm(), billing.feed(2, 4, stored(2, b"b", b"c", b"d")))
    billing.handle()
    assert billing.everything() == [(4, b"d")]
    d.advance(1)
    assert settled(old)[-1] == 4


def test_a_consumer_that_waits_for_durable_topics_does_not_hinder_a_move() -> None:
    d = Driver()
    old = d.connect()
    waiting = d.consume()
    d.say(old, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, bus="bus-2")
    [barrier] = old.take(Barrier)
    d.say(old, barrier.frame())
    assert len(d.of(BusChanged)) == 1
    assert new.take(Consume) == []
    assert not waiting.state.ended


def test_a_consumer_that_begins_in_a_move_begins_at_its_end() -> None:
    d, old, new, billing = moving()
    other = d.consume(name="other")
    leave(d, old, new, billing)
    new.take()
    d.say(old, drained(billing.id))
    assert [f.id for f in new.take(Consume, Subscribe)] == [other.id]
    d.say(new, other.confirm(), other.feed(1, 1, stored(1, b"x")))
    assert other.everything() == [(1, b"x")]
    assert d.of(Disconnected) == []
