"""Workers, which share the events of a durable subscription, with a fake bus and clock."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import Driver, FakeWaiter, Socket, Work, change_bus, drained, problem, stored

from eventbus import (
    BusChanged,
    BusChangeFailed,
    BusCode,
    Closed,
    ConnectionLost,
    Error,
    Refused,
    TimedOut,
    Truncated,
    TruncatedReason,
    WorkerCounters,
)
from eventbus._durable.fed_consumer import ITEM_OVERHEAD
from eventbus._durable.settlement import MAX_SENT
from eventbus._wire.durable_frames import Consume, ConsumeMode, ConsumeStart, Feed, Settle, SettleOutcome
from eventbus._wire.durable_frames import Truncated as TruncatedFrame
from eventbus._wire.records import Barrier, Credit, Unsubscribe

DONE, RETRY, REJECT = SettleOutcome.DONE, SettleOutcome.RETRY, SettleOutcome.REJECT
RELEASE, EXTEND = SettleOutcome.RELEASE, SettleOutcome.EXTEND


def connected() -> tuple[Driver, Socket]:
    d = Driver()
    s = d.connect(durable=True)
    s.take()
    return d, s


def settled(s: Socket) -> list[tuple[int, int, str, int]]:
    """Takes the settlements: first and last position, outcome, and number of the delivery."""
    return [(f.first, f.up_to, f.outcome.name, f.attempt) for f in s.take(Settle)]


def granted(s: Socket) -> list[tuple[int, int]]:
    return [(frame.limit, frame.received) for frame in s.take(Credit) if frame.consumer]


def counted(work: Work, **counts: int) -> None:
    """Checks the counters; those that are not given are 0."""
    zero = dict.fromkeys(("received", "done", "retried", "rejected", "late", "failed", "buffered_bytes"), 0)
    assert work.state.counters() == WorkerCounters(**{**zero, **counts})


# ---- Settling


def test_the_bus_is_told_what_the_worker_wants() -> None:
    d, s = connected()
    work = d.work(max_unsettled=50, ack_timeout=60_000, max_attempts=5)
    first = ConsumeStart.FIRST
    assert s.take() == [
        Consume(
            work.id, "a.>", "shop", "billing", ConsumeMode.SHARED, first, 0, 1 << 16, 0, first, 0, 50, 60_000, 5
        )
    ]  # fmt: skip
    assert not work.ready.done()
    d.say(s, work.confirm())
    assert work.ready.done()
    assert work.ready.error is None


def test_neighbours_with_one_outcome_are_settled_together() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b", b"c", b"d"), work.feed(5, b"e"))
    a, b, c, e5, e = work.take()
    assert [x.event.text() for x in (a, b, c, e5, e)] == ["a", "b", "c", "d", "e"]
    for each in (b, e, a, e5):
        work.settle(each)
    work.settle(c, RETRY)
    assert settled(s) == []
    d.advance(0.003)
    # That of another feed stands alone.
    assert settled(s) == [(1, 2, "DONE", 1), (3, 3, "RETRY", 1), (4, 4, "DONE", 1), (5, 5, "DONE", 1)]
    d.advance(1)
    assert settled(s) == []
    counted(work, received=5, done=4, retried=1)


def test_holes_between_the_events_of_a_feed_are_settled_with_them() -> None:
    d, s = connected()
    work = d.working(s)
    raw = stored(3, b"x") + stored(8, b"y", b"z", topic="b")
    d.say(s, Feed(work.id, 3, 9, 12, raw, 2).frame())
    for each in work.take():
        work.settle(each)
    d.advance(1)
    assert settled(s) == [(3, 9, "DONE", 2)]


def test_events_before_the_first_position_of_a_feed_are_skipped() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, Feed(work.id, 3, 4, 4, stored(1, b"a", b"b", b"c", b"d"), 1).frame())
    assert [x.event.position for x in work.take()] == [3, 4]


def test_the_first_settlement_counts() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b", b"c", b"d"))
    a, b, c, e = work.take()
    work.settle(a, REJECT, reason="bad")
    work.settle(b, RETRY, delay_millis=1500)
    work.settle(c, RELEASE)
    work.settle(e)
    for each in (a, b, c, e):
        work.settle(each)
        work.settle(each, REJECT)
    d.advance(5)
    work.extend(a)
    d.advance(1)
    assert s.take(Settle) == [
        Settle(work.id, 1, False, 0, 1, REJECT, 1, -1, "bad"),
        Settle(work.id, 2, False, 0, 2, RETRY, 1, 1500, ""),
        Settle(work.id, 3, False, 0, 3, RELEASE, 1, -1, ""),
        Settle(work.id, 4, False, 0, 4, DONE, 1, -1, ""),
    ]
    counted(work, received=4, done=1, retried=1, rejected=1)


def test_settlements_that_differ_are_not_joined() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b", b"c", b"d"))
    a, b, c, e = work.take()
    work.settle(a, REJECT, reason="x")
    work.settle(b, REJECT, reason="y")
    work.settle(c, RETRY, delay_millis=1)
    work.settle(e, RETRY, delay_millis=2)
    d.advance(1)
    assert [(f.first, f.reason, f.delay_millis) for f in s.take(Settle)] == [
        (1, "x", -1),
        (2, "y", -1),
        (3, "", 1),
        (4, "", 2),
    ]


@pytest.mark.parametrize(
    ("reason", "kept"),
    [("x" * 255 + "é", "x" * 255), ("é" * 400, "é" * 128), ("\ud800x", "?x"), ("x" * 256, "x" * 256)],
)
def test_reasons_are_cut_at_a_character(reason: str, kept: str) -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a"))
    work.settle(work.take()[0], REJECT, reason=reason)
    d.advance(1)
    assert [f.reason for f in s.take(Settle)] == [kept]


# ---- Settlements with an answer


def test_a_confirmed_settlement_is_sent_at_once_and_answered() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b"))
    a, _ = work.take()
    answer = work.confirmed(a)
    assert s.take(Settle) == [Settle(work.id, 1, True, 0, 1, DONE, 1, -1, "")]
    d.say(s, work.stored(2))
    assert not answer.done()
    d.say(s, work.stored(1))
    assert (answer.done(), answer.error) == (True, None)
    assert work.state.counters().done == 1
    assert d.of(Error) == []


def test_a_refused_settlement_is_told_apart_from_others() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b", b"c", b"d"))
    a, b, c, e = work.take()
    answers = [work.confirmed(each) for each in (a, b, c)]
    assert len(s.take(Settle)) == 3
    d.say(s, problem(BusCode.UNKNOWN_SUBSCRIPTION, Settle.CODE, work.id))
    answers.append(work.confirmed(e))
    assert settled(s) == []
    d.say(s, work.stored(1), work.stored(3))
    assert [x.done() for x in answers] == [True, True, True, False]
    assert isinstance(answers[1].error, Refused)
    assert answers[1].error.bus_code is BusCode.UNKNOWN_SUBSCRIPTION
    assert (answers[0].error, answers[2].error) == (None, None)
    # Sent when it is clear which one was refused.
    assert settled(s) == [(4, 4, "DONE", 1)]
    d.say(s, work.stored(4))
    assert answers[3].done()
    assert d.of(Error) == []


def test_a_bus_answers_a_limited_number_of_settlements_at_a_time() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, *[b"x"] * (MAX_SENT + 2)))
    answers = [work.confirmed(each) for each in work.take()]
    assert [f.up_to for f in s.take(Settle)] == list(range(1, MAX_SENT + 1))
    d.say(s, work.stored(60))
    assert [f.up_to for f in s.take(Settle)] == [MAX_SENT + 1]
    for position in range(1, MAX_SENT + 3):
        d.say(s, work.stored(position))
    assert all(answer.done() and answer.error is None for answer in answers)


def test_a_refusal_that_no_call_waits_for_is_told() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, problem(BusCode.UNKNOWN_SUBSCRIPTION, Settle.CODE, work.id))
    assert d.of(Error) == []
    d.say(s, problem(BusCode.LIMIT_EXCEEDED, Settle.CODE, work.id))
    assert [e.bus_code for e in d.of(Refused)] == [BusCode.LIMIT_EXCEEDED]


# ---- Credit and time


def test_what_is_not_settled_takes_its_room() -> None:
    d, s = connected()
    work = d.working(s, buffer_bytes=8192)
    fed = work.feed(1, b"a", b"x" * 3000)
    d.say(s, fed)
    size = len(fed) + ITEM_OVERHEAD
    a, b = work.take()
    work.settle(b)
    counted(work, received=2, buffered_bytes=size)
    assert d.machine.counters().queued_bytes == size
    assert granted(s) == []
    work.settle(a)
    assert work.state.queued_bytes == 0
    assert granted(s) == [(len(fed) + 8192, len(fed))]


def test_what_is_here_keeps_its_room_over_the_next_connection() -> None:
    d, s = connected()
    work = d.working(s, buffer_bytes=8192)
    fed = work.feed(1, b"x" * 5000)
    d.say(s, fed)
    [a] = work.take()
    d.end(s)
    s = d.reconnect(durable=True)
    assert [f.limit for f in s.take(Consume)] == [8192 - len(fed) - ITEM_OVERHEAD]
    d.say(s, work.confirm())
    assert granted(s) == []
    work.settle(a)
    assert granted(s) == [(8192, 0)]


def test_what_waits_for_long_goes_back() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b", b"c"), work.feed(4, b"d", attempt=2))
    a = work.state.take(d.now)
    assert a is not None
    d.advance(3.9)
    d.say(s, work.feed(5, b"e"))
    assert settled(s) == []
    d.advance(0.1)
    assert settled(s) == [(2, 3, "RELEASE", 1), (4, 4, "RELEASE", 2)]
    d.advance(0.2)
    assert [x.event.text() for x in work.take()] == ["e"]
    assert work.state.received == 2
    d.say(s, work.feed(9, b"z"))
    d.advance(4.2)
    assert settled(s) == []
    d.advance(1.9)
    assert settled(s) == [(9, 9, "RELEASE", 1)]


def test_the_application_gets_the_whole_ack_timeout() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b"))
    a = work.state.take(d.now)
    assert a is not None
    d.advance(1.1)
    [b] = work.take()
    assert settled(s) == [(2, 2, "EXTEND", 1)]
    assert b.extended_at == d.now


def test_an_extension_is_sent_if_it_matters() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a"))
    [a] = work.take()
    d.advance(0.9)
    work.extend(a)
    d.advance(0.1)
    assert settled(s) == []
    work.extend(a)
    work.extend(a)
    d.advance(0.003)
    assert settled(s) == [(1, 1, "EXTEND", 1)]
    work.settle(a)
    d.advance(2)
    work.extend(a)
    d.advance(1)
    assert settled(s) == [(1, 1, "DONE", 1)]
    counted(work, received=1, done=1)


def test_what_is_never_settled_does_not_take_room_for_ever() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a"))
    [a] = work.take()
    d.advance(10)
    work.extend(a)
    d.advance(15)
    assert work.state.queued_bytes > 0
    d.advance(3)
    assert work.state.queued_bytes == 0
    # No timer is left that looks at nothing.
    assert not work.state._looks
    s.take()
    work.settle(a)
    d.advance(1)
    assert settled(s) == [(1, 1, "DONE", 1)]


# ---- Lost connections


def test_what_a_lost_connection_has_brought_is_void() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b"), work.feed(3, b"c"))
    a = work.state.take(d.now)
    assert a is not None
    d.end(s)
    assert work.take() == []
    s = d.reconnect(durable=True)
    [again] = s.take(Consume)
    assert (again.id, again.mode) == (work.id, ConsumeMode.SHARED)
    d.say(s, work.confirm(), work.feed(2, b"b again", attempt=2))
    work.settle(a)
    [b] = work.take()
    assert (b.event.text(), b.feed.attempt) == ("b again", 2)
    work.settle(b)
    d.advance(1)
    assert settled(s) == [(2, 2, "DONE", 2)]
    counted(work, received=2, done=1, late=1)


def test_what_was_not_sent_is_late_too() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b", b"c", b"d", b"e", b"f", b"g"))
    a, b, c, e, x, y, z = work.take()
    asked = work.confirmed(a)
    work.settle(b)
    work.settle(c, RELEASE)
    d.advance(2)
    s.take()
    work.settle(e, RETRY)
    work.settle(z, RELEASE)
    work.extend(x)
    d.end(s)
    assert isinstance(asked.error, ConnectionLost)
    assert isinstance(work.confirmed(x).error, ConnectionLost)
    work.settle(y, REJECT)
    counted(work, received=7, done=2, late=3)
    s = d.reconnect(durable=True)
    d.say(s, work.confirm())
    d.advance(1)
    assert settled(s) == []


def test_a_connection_that_is_given_up_is_lost_at_once() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a"))
    [a] = work.take()
    s.link.over = True
    work.settle(a)
    d.advance(1)
    counted(work, received=1, late=1)


@pytest.mark.parametrize(("code", "retryable"), [(BusCode.REPLACED, True), (BusCode.UNAVAILABLE, True)])
def test_a_worker_that_the_bus_has_ended_asks_again(code: BusCode, retryable: bool) -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b"))
    a = work.state.take(d.now)
    assert a is not None
    s.take()
    d.say(s, problem(code, Consume.CODE, work.id, retryable=retryable))
    work.settle(a)
    assert work.take() == []
    d.advance(0.99)
    assert s.take() == []
    d.advance(0.01)
    assert [f.id for f in s.take(Consume)] == [work.id]
    d.say(s, work.confirm(), work.feed(1, b"a again", attempt=2))
    [again] = work.take()
    work.settle(again)
    d.advance(1)
    assert settled(s) == [(1, 1, "DONE", 2)]
    counted(work, received=2, done=1, late=1)
    assert d.of(Error) == []


def test_a_worker_that_the_bus_has_ended_while_it_ends_has_ended() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a"))
    work.take()
    work.stop()
    d.say(s, problem(BusCode.REPLACED, Consume.CODE, work.id, retryable=True))
    assert work.state.ended
    assert work.state.failure is None
    d.say(s, problem(BusCode.UNKNOWN_SUBSCRIPTION, Unsubscribe.CODE, work.id))
    assert d.of(Error) == []


def test_a_feed_without_an_accepted_consume_does_not_count() -> None:
    d, s = connected()
    work = d.work()
    d.say(s, work.feed(1, b"a"))
    assert work.take() == []
    d.say(s, work.confirm(creation=79), work.feed(2, b"b"))
    [b] = work.take()
    work.settle(b)
    d.advance(1)
    assert [(f.first, f.creation) for f in s.take(Settle)] == [(2, 79)]


def test_a_journal_that_was_created_again_is_told() -> None:
    d, s = connected()
    work = d.work()
    d.say(s, work.confirm(creation=79), work.feed(5, b"a"))
    work.settle(work.take()[0])
    d.end(s)
    s = d.reconnect(durable=True)
    [again] = s.take(Consume)
    assert (again.creation, again.other_start, again.other_first) == (79, ConsumeStart.FIRST, 0)
    d.say(s, work.confirm(creation=80))
    assert d.of(Truncated) == [Truncated("a.>", 6, 6, TruncatedReason.DELETED)]
    d.say(s, work.feed(1, b"x"))
    work.settle(work.take()[0])
    d.advance(1)
    assert [(f.first, f.creation) for f in s.take(Settle)] == [(1, 80)]


def test_what_does_not_come_is_told() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, TruncatedFrame(work.id, 3, 9, TruncatedReason.PURGED).frame())
    assert d.of(Truncated) == [Truncated("a.>", 3, 9, TruncatedReason.PURGED)]
    # Earlier positions, too: they come in no order.
    d.say(s, TruncatedFrame(work.id, 1, 2, TruncatedReason.PURGED).frame())
    assert len(d.of(Truncated)) == 2
    d.advance(1)
    assert settled(s) == []


def test_a_malformed_feed_ends_the_connection() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, Feed(work.id, 1, 2, 2, stored(1, b"x")[:-3], 1).frame())
    assert s.closed is not None
    assert s.closed[0] == 1007
    assert work.take() == []


@pytest.mark.parametrize("code", [BusCode.UNSUPPORTED, BusCode.DUPLICATE_SUBSCRIPTION])
def test_a_refused_worker_has_ended(code: BusCode) -> None:
    d, s = connected()
    work = d.work()
    d.say(s, problem(code, Consume.CODE, work.id))
    assert isinstance(work.ready.error, Refused)
    assert work.state.ended


# ---- The end


def test_the_end_gives_back_what_waits_and_settles_the_rest() -> None:
    d, s = connected()
    work = d.working(s, buffer_bytes=4096)
    d.say(s, work.feed(1, b"a", b"b" * 3000))
    a = work.state.take(d.now)
    assert a is not None
    s.take()
    ended = FakeWaiter()
    work.state.drained.append(ended)
    work.stop()
    assert s.take() == [Settle(work.id, 2, False, 0, 2, RELEASE, 1, -1, ""), Unsubscribe(work.id)]
    d.say(s, work.feed(3, b"c"))
    assert settled(s) == [(3, 3, "RELEASE", 1)]
    work.settle(a)
    d.advance(1)
    assert s.take() == [Settle(work.id, 1, False, 0, 1, DONE, 1, -1, "")]
    assert not ended.done()
    d.say(s, drained(work.id))
    assert ended.done()
    d.say(s, work.feed(4, b"late"))
    d.advance(1)
    assert s.take() == []
    counted(work, received=1, done=1)


@pytest.mark.parametrize("gives_back", [True, False])
def test_the_end_gives_back_what_was_taken_where_nobody_settles_it(gives_back: bool) -> None:
    d, s = connected()
    work = d.working(s, gives_back_taken=gives_back)
    d.say(s, work.feed(1, b"a", b"b", b"c", b"d"), work.feed(5, b"e"))
    a, b, c, e, x = work.take()
    work.settle(b)
    work.stop()
    assert settled(s) == (
        [(1, 1, "RELEASE", 1), (2, 2, "DONE", 1), (3, 4, "RELEASE", 1), (5, 5, "RELEASE", 1)]
        if gives_back
        else [(2, 2, "DONE", 1)]
    )
    work.settle(a)
    d.advance(1)
    assert settled(s) == ([] if gives_back else [(1, 1, "DONE", 1)])
    assert [each.settled for each in (c, e, x)] == [gives_back] * 3
    assert work.state.counters().late == 0


def test_what_comes_after_the_end_was_asked_for_goes_back() -> None:
    d, s = connected()
    work = d.work()
    work.stop()
    assert [type(f) for f in s.take()] == [Consume, Unsubscribe]
    d.say(s, work.confirm(), work.feed(1, b"a"))
    assert settled(s) == [(1, 1, "RELEASE", 1)]
    assert work.take() == []


def test_the_end_waits_for_what_the_application_has_in_hand() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a"))
    [a] = work.take()
    work.stop()
    d.advance(7)
    work.extend(a)
    d.advance(7)
    work.extend(a)
    d.advance(7)
    assert not s.aborted
    work.settle(a)
    d.advance(15)
    # Now the bus owes the answer.
    assert s.aborted
    assert any("the worker of billing" in str(e) for e in d.of(TimedOut))
    assert work.state.ended


def test_the_end_without_a_connection_is_at_once() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a"))
    [a] = work.take()
    d.end(s)
    work.stop()
    assert work.state.ended
    work.settle(a)
    counted(work, received=1, late=1)
    s = d.reconnect(durable=True)
    d.advance(1)
    assert s.take(Consume, Settle) == []


def test_the_end_of_the_client_ends_workers() -> None:
    d, s = connected()
    work = d.working(s)
    d.say(s, work.feed(1, b"a", b"b"))
    a = work.state.take(d.now)
    assert a is not None
    answer = work.confirmed(a)
    d.end(s, 4500, "no token")
    assert work.state.ended
    assert isinstance(work.state.failure, Closed)
    assert isinstance(answer.error, ConnectionLost)
    assert work.take() == []
    assert work.state.queued_bytes == 0


# ---- Client moves


def moving(**settings: Any) -> tuple[Driver, Socket, Socket, Work]:
    """Returns a client whose worker has taken 1 of 3, and that was asked to move."""
    d, old = connected()
    work = d.working(old, **settings)
    d.say(old, work.feed(1, b"a", b"b", b"c"))
    old.take()
    d.say(old, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, durable=True, bus="bus-2")
    return d, old, new, work


def leave(d: Driver, old: Socket, new: Socket, work: Work) -> None:
    d.say(new, work.confirm())
    [barrier] = old.take(Barrier)
    d.say(old, barrier.frame())


def test_in_a_move_each_bus_is_told_what_it_has_given() -> None:
    d, old, new, work = moving()
    # The order of events is no concern of workers: nothing waits for the new bus.
    d.hold_pongs = True
    a = work.state.take(d.now)
    assert a is not None
    assert [f.mode for f in new.take(Consume)] == [ConsumeMode.SHARED]
    assert settled(old) == []
    leave(d, old, new, work)
    assert old.take() == [Settle(work.id, 3, False, 0, 2, RELEASE, 1, -1, ""), Unsubscribe(work.id)]
    d.say(old, work.feed(5, b"e", attempt=3))
    assert settled(old) == [(5, 5, "RELEASE", 3)]
    # Events of the new bus are taken meanwhile.
    d.say(new, work.feed(6, b"f"))
    [f] = work.take()
    work.settle(a)
    work.settle(f)
    d.advance(0.1)
    assert (settled(old), settled(new)) == ([(1, 1, "DONE", 1)], [(6, 6, "DONE", 1)])
    assert d.of(BusChanged) == []
    d.say(old, drained(work.id))
    assert len(d.of(BusChanged)) == 1
    assert old.closed is not None
    d.say(new, work.feed(7, b"g"))
    [g] = work.take()
    work.settle(g)
    d.advance(0.1)
    assert settled(new) == [(7, 7, "DONE", 1)]
    counted(work, received=3, done=3)
    assert d.of(Error) == []


def test_a_bus_that_the_client_does_not_move_to_gets_its_events_back() -> None:
    d, old, new, work = moving()
    a = work.state.take(d.now)
    assert a is not None
    new.take()
    d.say(new, work.confirm(), work.feed(6, b"f"))
    assert settled(new) == []
    # The old bus does not answer the barrier.
    d.advance(22.5)
    assert new.take(Settle, Unsubscribe)[-2:] == [
        Settle(work.id, 6, False, 0, 6, RELEASE, 1, -1, ""),
        Unsubscribe(work.id),
    ]
    d.say(new, work.feed(8, b"late"))
    assert settled(new) == [(8, 8, "RELEASE", 1)]
    d.say(new, drained(work.id))
    assert len(d.of(BusChangeFailed)) == 1
    old.take()
    d.say(old, work.feed(7, b"g"))
    [g] = work.take()
    work.settle(g)
    work.settle(a)
    d.advance(0.1)
    assert settled(old) == [(1, 1, "DONE", 1), (7, 7, "DONE", 1)]


def test_a_worker_that_comes_back_consumes_again() -> None:
    d, old, new, work = moving()
    a = work.state.take(d.now)
    assert a is not None
    leave(d, old, new, work)
    old.take()
    d.end(new)
    d.say(old, drained(work.id))
    assert len(d.of(BusChangeFailed)) == 1
    assert [f.id for f in old.take(Consume)] == [work.id]
    d.say(old, work.confirm(), work.feed(2, b"b"))
    [b] = work.take()
    work.settle(b)
    # Its time was over before: the bus has ended the worker.
    work.settle(a)
    d.advance(1)
    assert settled(old) == [(2, 2, "DONE", 1)]
    counted(work, received=2, done=1, late=1)


def test_a_worker_that_ends_in_a_move_ends_at_the_new_bus() -> None:
    d, old, new, work = moving()
    leave(d, old, new, work)
    work.stop()
    d.say(new, work.feed(6, b"f"))
    assert settled(new) == [(6, 6, "RELEASE", 1)]
    new.take()
    d.say(old, drained(work.id))
    assert new.take(Unsubscribe) == [Unsubscribe(work.id)]
    d.say(new, drained(work.id))
    assert work.state.ended
