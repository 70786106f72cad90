"""Connections, publishing and subscriptions of the core, with a fake bus and clock."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import (
    LIMITS,
    Driver,
    FakeWaiter,
    PublishSeen,
    confirm_publish,
    confirm_subscribe,
    deliver,
    drained,
    gap,
    numbered,
    plain_event,
    problem,
    stored,
)

from eventbus import (
    BufferFull,
    BusCode,
    Closed,
    Connection,
    ConnectionLost,
    Disconnected,
    DropCause,
    Dropped,
    Error,
    Gap,
    GapReason,
    NotConnected,
    Overflow,
    ProducerChanged,
    Published,
    Reconnect,
    Reconnecting,
    Refused,
    State,
    TimedOut,
    TooBig,
)
from eventbus._wire.codec import frame, text, varint
from eventbus._wire.records import Barrier, Credit, Echo, Hello, Limits, Subscribe, Unsubscribe, Welcome, WireGapReason

# ---- Connecting


def test_hello_then_credit_subscriptions_and_events() -> None:
    d = Driver(name="board", user="alice", token="t", attributes={"a": "b"})
    s = d.start()
    assert d.machine.state is State.CONNECTING
    sub = d.subscribe("a.>")
    d.open(s, token="t")
    assert s.take() == [Hello("board", "test/1", "t", None, {"a": "b"}, None, "alice", None)]
    waiter = d.publish("a.b", b"x")
    assert s.take() == []  # nothing before Welcome: without a resume its number is not known
    d.welcome(s)
    kinds = [type(f) for f in s.take()]
    assert kinds == [Credit, Subscribe, PublishSeen]
    assert d.first.result is None
    assert d.first.done()
    assert d.machine.state is State.CONNECTED
    assert d.of(Connection)[0].producer == 77
    d.say(s, confirm_subscribe(sub.id), confirm_publish("a.b", 1))
    assert sub.ready == []
    assert sub.confirmed
    assert waiter.result == Published("a.b", 77, 1)


def test_the_token_and_the_resume_are_not_shown() -> None:
    d = Driver(token="hush")
    s = d.connect()
    assert "hush" not in repr(d.machine.options)
    assert "hush" not in repr(Hello("a", "b", "hush", "hush"))
    assert "secret" not in repr(s.link.welcome)


def test_the_first_connection_tries_each_address_once() -> None:
    d = Driver(urls=("ws://one/bus", "ws://two/bus"), connect_timeout=10)
    s = d.start()
    assert (s.link.url, s.timeout) == ("ws://one/bus", 5)
    d.end(s, error=NotConnected("refused"))
    s = d.sockets[-1]
    assert s.link.url == "ws://two/bus"
    d.advance(10)
    assert isinstance(d.first.error, TimedOut)
    assert d.machine.state is State.CLOSED
    assert s.aborted
    assert d.machine.wake_at() is None


def test_a_refusal_of_the_first_connection_is_final() -> None:
    d = Driver(urls=("ws://one/bus", "ws://two/bus"))
    s = d.start()
    d.open(s)
    d.say(s, problem(BusCode.UNAUTHENTICATED))
    d.end(s, 4500, "no token")
    assert isinstance(d.first.error, Refused)
    assert d.first.error.bus_code is BusCode.UNAUTHENTICATED
    assert len(d.sockets) == 1


def test_a_first_frame_that_is_not_welcome_is_refused() -> None:
    d = Driver()
    s = d.start()
    d.open(s)
    d.say(s, Barrier(1).frame())
    assert isinstance(d.first.error, Refused)
    assert d.first.error.bus_code is BusCode.PROTOCOL_VIOLATION


def test_all_addresses_and_named_peers_are_tried_in_turn() -> None:
    d = Driver(urls=("ws://one/bus",), reconnect=Reconnect(initial_delay=0.1, jitter=0.5))
    bad = ("http://x/bus", "ws://u:p@h/bus", "ws://two/bus", "nonsense", "ws://one/bus", "ws://h:0/bus", "ws://h/b#f")
    s = d.connect(others=bad)
    d.random = 0.5
    d.end(s)
    tried = []
    for _ in range(3):
        d.next_try()
        tried.append(d.sockets[-1].link.url)
        d.end(d.sockets[-1], error=NotConnected("no"))
    assert tried == ["ws://two/bus", "ws://one/bus", "ws://two/bus"]
    delays = [r.delay for r in d.of(Reconnecting)]
    assert delays == pytest.approx([0.075, 0.15, 0.3, 0.6])
    assert [r.attempt for r in d.of(Reconnecting)] == [1, 2, 3, 4]


def test_a_client_with_tls_is_not_led_to_plain_addresses() -> None:
    d = Driver(urls=("wss://one/bus",))
    s = d.connect(others=("ws://two/bus", "wss://three/bus"))
    d.end(s)
    tried = []
    for _ in range(3):
        d.next_try()
        tried.append(d.sockets[-1].link.url)
        d.end(d.sockets[-1])
    assert tried == ["wss://three/bus", "wss://one/bus", "wss://three/bus"]


@pytest.mark.parametrize("code", [1001, 1006, 1011, 4000, 4001, 4002, 4003, 4004, 4444, 3000])
def test_close_codes_that_allow_a_reconnect(code: int) -> None:
    d = Driver()
    d.end(d.connect(), code, "why")
    assert d.of(Disconnected) == [Disconnected(code, "why", True)]
    assert d.machine.state is State.RECONNECTING


@pytest.mark.parametrize("code", [1000, 1002, 1003, 1007, 1009, 4500, 4501, 4502, 4503, 4999])
def test_close_codes_that_end_the_client(code: int) -> None:
    d = Driver()
    d.end(d.connect(), code, "why")
    assert d.of(Disconnected) == [Disconnected(code, "why", False)]
    assert d.machine.state is State.CLOSED
    with pytest.raises(Closed):
        d.machine.outbox.add("a.b", b"")


def test_a_token_function_is_called_once_more_for_the_first_connection() -> None:
    d = Driver(token=lambda: "t")
    s = d.start()
    for _ in range(2):
        s = d.sockets[-1]
        d.open(s, "t")
        d.say(s, problem(BusCode.UNAUTHENTICATED))
        d.end(s, 4500, "")
    assert len(d.sockets) == 2
    assert isinstance(d.first.error, Refused)


def test_the_client_reconnects_as_the_same_user_after_an_expiry() -> None:
    d = Driver(user="alice", token=lambda: "t")
    s = d.connect()
    d.say(s, problem(BusCode.UNAUTHENTICATED))
    d.end(s, 4004, "expired")
    assert d.of(Disconnected) == [Disconnected(4004, "expired", True)]
    d.advance(1)
    d.open(d.sockets[-1], "new")
    [hello] = d.sockets[-1].take(Hello)
    assert (hello.user, hello.token, hello.resume, hello.previous) == ("alice", "new", "secret", "s")
    # The same token is refused, and then the client ends.
    for _ in range(2):
        d.end(d.sockets[-1], 4500, "wrong")
        d.advance(1)
    assert d.machine.state is State.CLOSED


def test_a_user_has_a_name_and_a_password() -> None:
    with pytest.raises(ValueError, match=r"user: without token \(expected: token is the password of the user\)"):
        Driver(user="alice")
    for user in ("", "x" * 256):
        with pytest.raises(ValueError, match=r"user: '.*' \(expected: 1..255 bytes of UTF-8\)"):
            Driver(user=user, token="t")


def test_a_token_function_is_called_once_more() -> None:
    d = Driver(token=lambda: "t")
    d.end(d.connect(), 4500, "")
    assert d.machine.state is State.RECONNECTING
    d.advance(1)
    d.open(d.sockets[-1], "t")
    d.end(d.sockets[-1], 4500, "")
    assert d.machine.state is State.CLOSED


def test_back_off_restarts_after_a_lasting_connection() -> None:
    d = Driver(reconnect=Reconnect(jitter=0))
    s = d.connect()
    d.end(s)
    s = d.reconnect()
    d.advance(1)
    d.end(s)
    s = d.reconnect()
    d.advance(5)
    d.end(s)
    assert [r.attempt for r in d.of(Reconnecting)] == [1, 2, 1]


def test_after_five_tries_the_application_is_told_once() -> None:
    d = Driver()
    d.end(d.connect())
    for _ in range(8):
        d.next_try()
        d.end(d.sockets[-1], error=NotConnected("nobody there"))
    assert len(d.of(NotConnected)) == 1
    assert "nobody there" in str(d.of(NotConnected)[0])


def test_max_attempts_bounds_the_tries() -> None:
    d = Driver(reconnect=Reconnect(max_attempts=2))
    d.end(d.connect())
    for _ in range(2):
        d.next_try()
        d.end(d.sockets[-1])
    assert d.machine.state is State.CLOSED


def test_retry_after_is_honoured() -> None:
    d = Driver()
    d.end(d.connect())
    d.advance(1)
    d.machine.closed(d.sockets[-1].link, 1006, "", NotConnected("503"), d.now, retry_after=7)
    d.pump()
    assert d.of(Reconnecting)[-1].delay == 7


def test_a_silent_connection_is_probed_and_then_given_up() -> None:
    d = Driver(silence_timeout=40)
    s = d.connect()
    d.advance(19.9)
    assert s.pings == 0
    d.advance(0.2)
    assert s.pings == 1
    d.machine.heard(s.link, d.now)
    d.advance(20.1)
    assert s.pings == 2
    d.advance(19.8)
    assert not s.aborted
    d.advance(0.2)
    assert s.aborted
    assert d.machine.state is State.RECONNECTING
    assert "nothing heard" in d.of(Disconnected)[0].reason


def test_a_late_timer_probes_again_first() -> None:
    d = Driver(silence_timeout=40)
    s = d.connect()
    d.advance(20)
    d.now += 100  # the loop stood still
    d.pump()
    assert s.pings == 2
    assert not s.aborted


def test_close_sends_1000_and_leaves_no_timer() -> None:
    d = Driver()
    s = d.connect()
    d.machine.close(d.now)
    d.pump()
    assert s.closed == (1000, "the client is closed")
    assert d.machine.wake_at() is None
    assert d.of(Disconnected) == [Disconnected(1000, "the client is closed", False)]


# ---- Publishing


def test_events_are_numbered_by_topic_and_collected_while_a_message_is_under_way() -> None:
    d = Driver()
    s = d.connect()
    d.hold_writes = True
    for i in range(3):
        for topic in ("a", "b"):
            assert d.machine.outbox.add(topic, b"%d" % i)
    d.hold_writes = False
    d.pump()
    assert s.take(PublishSeen) == [
        PublishSeen("a", 1, 0, False, [b"0", b"1", b"2"]),
        PublishSeen("b", 1, 0, False, [b"0", b"1", b"2"]),
    ]
    assert d.machine.outbox.add("a", b"3", schema=5)
    d.pump()
    assert s.take(PublishSeen) == [PublishSeen("a", 4, 5, False, [b"3"])]
    assert d.machine.outbox.used == 0
    assert d.machine.counters().messages_sent == 2


def test_events_of_send_and_of_publish_share_no_frame() -> None:
    d = Driver()
    s = d.connect()
    d.hold_writes = True
    d.machine.outbox.add("a", b"1")
    d.publish("a", b"2")
    d.publish("a", b"3")
    d.machine.outbox.add("a", b"4")
    d.hold_writes = False
    d.pump()
    seen = s.take(PublishSeen)
    assert [(p.sequence, p.confirm, len(p.payloads)) for p in seen] == [(1, False, 1), (2, True, 2), (4, False, 1)]


def test_unconfirmed_events_are_sent_again_with_their_numbers_before_anything_new() -> None:
    d = Driver()
    s = d.connect()
    first, second = d.publish("a", b"1"), d.publish("a", b"2")
    other = d.publish("b", b"x")
    d.say(s, confirm_publish("a", 1))
    assert first.result == Published("a", 77, 1)
    d.end(s)
    third = d.publish("a", b"3")
    s = d.reconnect()
    hello = s.take(Hello)[0]
    assert (hello.resume, hello.previous) == ("secret", "s")
    seen = s.take(PublishSeen)
    assert [(p.topic, p.sequence, p.payloads) for p in seen] == [("a", 2, [b"2"]), ("b", 1, [b"x"]), ("a", 3, [b"3"])]
    d.say(s, confirm_publish("a", 2), confirm_publish("b", 1), confirm_publish("a", 3))
    assert [w.result.sequence for w in (second, other, third)] == [2, 1, 3]
    counters = d.machine.counters()
    assert (counters.resent, counters.confirmed, counters.reconnects, counters.buffered_bytes) == (2, 4, 1, 0)


def test_losing_the_connection_twice_changes_no_order() -> None:
    d = Driver()
    s = d.connect()
    waiters = [d.publish("a", b"%d" % i) for i in range(5)]
    for _ in range(2):
        d.end(s)
        s = d.reconnect()
    assert [p.sequence for p in s.take(PublishSeen)] == [1, 2, 3, 4, 5]
    d.say(s, confirm_publish("a", 5))
    assert [w.result.sequence for w in waiters] == [1, 2, 3, 4, 5]


def test_a_new_producer_number_restarts_the_numbers() -> None:
    d = Driver()
    s = d.connect()
    d.publish("a", b"1")
    d.say(s, confirm_publish("a", 1))
    late = [d.publish("a", b"2"), d.publish("a", b"3")]
    d.end(s)
    d.publish("a", b"4")
    s = d.reconnect(producer=99)
    assert [(p.sequence, p.payloads) for p in s.take(PublishSeen)] == [(1, [b"2"]), (2, [b"3"]), (3, [b"4"])]
    d.say(s, confirm_publish("a", 3))
    assert [w.result for w in late] == [Published("a", 99, 1), Published("a", 99, 2)]
    assert d.of(ProducerChanged) == [ProducerChanged(77, 99)]


def test_events_of_send_are_not_sent_again_and_are_reported() -> None:
    d = Driver()
    s = d.connect()
    d.machine.outbox.add("a", b"1")
    d.pump()
    d.end(s)
    assert d.of(Dropped) == [Dropped(1, DropCause.CONNECTION_LOST)]
    d.machine.outbox.add("a", b"2")  # not sent: waits for the next connection
    s = d.reconnect()
    assert [p.sequence for p in s.take(PublishSeen)] == [2]
    assert d.machine.counters().indeterminate == 1


def test_events_sent_after_an_answered_barrier_may_be_lost() -> None:
    d = Driver()
    s = d.connect()
    d.machine.outbox.add("a", b"1")
    d.machine.sender.flush(FakeWaiter(), 30, d.now)
    d.pump()
    [barrier] = s.take(Barrier)
    d.machine.outbox.add("a", b"2")
    d.pump()
    d.say(s, barrier.frame())
    d.end(s)
    assert d.of(Dropped) == [Dropped(1, DropCause.CONNECTION_LOST)]


def test_a_barrier_or_a_confirmation_settles_earlier_events() -> None:
    d = Driver()
    s = d.connect()
    d.machine.outbox.add("a", b"1")
    d.publish("a", b"2")
    d.say(s, confirm_publish("a", 2))
    d.machine.outbox.add("a", b"3")
    waiter = FakeWaiter()
    d.machine.sender.flush(waiter, 30, d.now)
    d.pump()
    [barrier] = s.take(Barrier)
    d.say(s, barrier.frame())
    assert waiter.done()
    d.end(s)
    assert d.of(Dropped) == []


def test_events_without_a_waiter_are_confirmed_now_and_then() -> None:
    d = Driver()
    s = d.connect()
    for _ in range(20):
        d.machine.outbox.add("a", b"x" * 30_000)
        d.pump()
    marks = [p for p in s.take(PublishSeen) if p.confirm]
    assert len(marks) == 2
    d.say(s, confirm_publish("a", marks[0].last))
    d.end(s)
    assert d.of(Dropped) == [Dropped(20 - marks[0].last, DropCause.CONNECTION_LOST)]
    assert [p.sequence for p in d.reconnect().take(PublishSeen)] == []


def test_a_refused_frame_fails_its_waiters() -> None:
    d = Driver()
    s = d.connect()
    waiter, after = d.publish("a", b"1"), d.publish("a", b"2")
    d.say(s, problem(BusCode.TOO_BIG, 1, 1, "a"), confirm_publish("a", 2))
    assert isinstance(waiter.error, Refused)
    assert waiter.error.bus_code is BusCode.TOO_BIG
    assert after.result == Published("a", 77, 2)
    assert d.machine.outbox.used == 0
    d.say(s, problem(BusCode.TOO_BIG, 1, 9, "a"))
    assert len(d.of(Refused)) == 1  # nothing waits for that one


def test_confirmations_time_out() -> None:
    d = Driver(confirm_timeout=30)
    s = d.connect()
    waiter = d.publish("a", b"1")
    d.advance(29.9)
    assert not waiter.done()
    d.advance(0.2)
    assert isinstance(waiter.error, TimedOut)
    assert d.machine.outbox.used == 0
    d.end(s)
    assert d.reconnect().take(PublishSeen) == []


def test_unsent_events_are_withdrawn_in_time_and_leave_no_gap() -> None:
    d = Driver(confirm_timeout=16, reconnect=Reconnect(max_delay=100, initial_delay=17, jitter=0))
    d.end(d.connect())
    early = [d.publish("a", b"1"), d.publish("a", b"2"), d.publish("b", b"1")]
    assert d.machine.outbox.add("a", b"sent")
    d.advance(2)
    late = [d.publish("a", b"3"), d.publish("a", b"4")]
    used = d.machine.outbox.used
    assert d.machine.outbox.unsettled() == 6
    d.advance(14)
    for waiter in early:
        assert isinstance(waiter.error, TimedOut)
        assert "withdrawn" in str(waiter.error)
    assert d.machine.outbox.used < used
    # The first of two events in a frame.
    assert "withdrawn" in str(d.machine.outbox.give_up(late[0], 1.0))
    s = d.next_try()
    d.welcome(s)
    assert [(p.topic, p.sequence, p.payloads) for p in s.take(PublishSeen)] == [("a", 1, [b"sent"]), ("a", 2, [b"4"])]
    d.say(s, confirm_publish("a", 2))
    assert late[1].result.sequence == 2
    assert d.publish("a", b"5")
    assert [p.sequence for p in s.take(PublishSeen)] == [3]
    assert d.machine.outbox.used == len(b"5") + 16 + 64
    assert d.machine.counters().published == 3


def test_a_sent_event_is_sent_again_though_its_time_has_passed() -> None:
    d = Driver(confirm_timeout=5, reconnect=Reconnect(max_delay=100, initial_delay=50, jitter=0))
    first = d.connect()
    waiter = d.publish("a", b"1")
    d.end(first)
    d.advance(6)
    assert "outcome is open" in str(waiter.error)
    s = d.reconnect()
    assert [p.sequence for p in s.take(PublishSeen)] == [1]  # its number is used


def test_the_buffer_is_bounded_in_bytes() -> None:
    d = Driver(outbound_bytes=4096)
    d.end(d.connect())
    taken = 0
    while d.machine.outbox.add("a", b"x" * 100):
        taken += 1
    assert 15 < taken < 30
    assert d.machine.counters().buffered_bytes <= 4096
    with pytest.raises(TooBig, match="outbound_bytes"):
        d.machine.outbox.add("a", b"x" * 5000)
    room = FakeWaiter()
    d.machine.sender.when_room(room)
    assert not room.done()
    s = d.reconnect()
    assert room.done()
    assert sum(len(p.payloads) for p in s.take(PublishSeen)) == taken


def test_sizes_are_checked_before_sending() -> None:
    d = Driver()
    d.connect(limits=Limits(100, 4096, 1, 10, 10, 10))
    add = d.machine.outbox.add
    assert add("a", b"x" * 100, key="k" * 1000, headers={"a": "b" * 9})
    cases: list[tuple[dict[str, Any], str]] = [
        ({"payload": b"x" * 101}, "payload: 101"),
        ({"payload": b"", "key": "ü" * 2049}, "key: 4098"),
        ({"payload": b"", "headers": {"a": "", "b": ""}}, "headers: 2"),
        ({"payload": b"", "headers": {"a": "b" * 10}}, "headers: 11 bytes"),
        ({"payload": b"", "key": "k" * 3600}, "event: "),
    ]
    for wrong, what in cases:
        with pytest.raises(TooBig, match=what):
            add("a", **wrong)
    assert d.machine.outbox.published == 1


def test_a_bus_with_smaller_limits_gets_smaller_frames() -> None:
    d = Driver()
    s = d.connect()
    d.end(s)
    good = [d.publish("a", b"x" * 60) for _ in range(30)]
    big = d.publish("a", b"x" * 300)
    after = d.publish("a", b"y")
    d.machine.outbox.add("a", b"z" * 300)
    s = d.reconnect(limits=Limits(100, 1000, 64, 16_384, 10, 10))
    seen = s.take(PublishSeen)
    assert sum(len(p.payloads) for p in seen) == 31
    assert len(seen) > 2
    assert isinstance(big.error, TooBig)
    assert seen[-1].sequence == 32
    assert d.of(Dropped) == [Dropped(1, DropCause.TOO_BIG)]
    d.say(s, *(confirm_publish("a", p.last) for p in seen))
    assert all(w.result is not None for w in (*good, after))
    assert d.machine.outbox.used == 0
    assert d.machine.outbox.expires_at() is None


@pytest.mark.parametrize(
    "topic", ["", "a..b", "a.", ".a", "a b", "a.*", ">", "$SYS.x", "a\n", "x" * 256, ".".join("a" * 17), "\ud800"]
)
def test_illegal_topics_are_refused(topic: str) -> None:
    d = Driver()
    d.connect()
    with pytest.raises(Error, match=r"expected: "):
        d.machine.outbox.add(topic, b"")


def test_quiet_topics_are_forgotten_but_not_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eventbus._outbound.outbox.MAX_TOPICS", 10)
    d = Driver()
    s = d.connect()
    for _ in range(2):
        for i in range(25):
            d.machine.outbox.add(f"t.{i}", b"")
            d.pump()
    assert d.machine.counters().published_topics <= 10
    seen = s.take(PublishSeen)
    assert sorted((p.topic, p.sequence) for p in seen) == sorted((f"t.{i}", n) for i in range(25) for n in (1, 2))


def test_closing_a_client_tells_all_waiters() -> None:
    d = Driver()
    d.connect()
    sent = d.publish("a", b"1")
    flush = FakeWaiter()
    d.machine.sender.flush(flush, 30, d.now)
    d.hold_writes = True
    unsent = d.publish("a", b"2")
    d.machine.outbox.add("a", b"3")
    d.machine.close(d.now)
    d.pump()
    assert isinstance(sent.error, ConnectionLost)
    assert isinstance(unsent.error, Closed)
    assert isinstance(flush.error, Closed)
    assert d.of(Dropped)[-1] == Dropped(1, DropCause.CLOSED)


def test_a_barrier_is_sent_again_after_a_retryable_refusal() -> None:
    d = Driver()
    s = d.connect()
    waiter = FakeWaiter()
    d.machine.sender.flush(waiter, 30, d.now)
    d.pump()
    [barrier] = s.take(Barrier)
    d.say(s, problem(BusCode.OVERLOADED, Barrier.CODE, barrier.id, retryable=True))
    assert s.take(Barrier) == []
    d.advance(0.2)
    assert s.take(Barrier) == [barrier]
    d.end(s)
    s = d.reconnect()
    assert s.take(Barrier) == [barrier]
    d.advance(31)
    assert isinstance(waiter.error, TimedOut)


# ---- Subscribing


def test_events_are_delivered_by_filter_and_group() -> None:
    d = Driver()
    s = d.connect()
    plain, star, grouped = d.subscribed(s, "a.b"), d.subscribed(s, "a.*"), d.subscribed(s, "a.>", "g")
    d.say(s, numbered("a.b", 5, 1, 2), numbered("a.c", 5, 1, 1), numbered("a.b", 5, 3, 3, groups=(grouped.id,)))
    assert d.numbers(plain) == [1, 2, 3]
    assert [(e.topic, e.sequence) for e in d.taken(star)] == [("a.b", 1), ("a.b", 2), ("a.c", 1), ("a.b", 3)]
    assert d.numbers(grouped) == [3]
    assert d.machine.counters().received == 4
    assert d.machine.dispatcher.bytes == 0


def test_duplicates_are_dropped_and_gaps_reported_across_connections() -> None:
    d = Driver()
    s = d.connect()
    sub = d.subscribed(s, ">")
    d.say(s, numbered("a", 5, 4, 6), numbered("a", 5, 5, 8), numbered("a", 5, 1, 3))
    assert d.numbers(sub) == [4, 5, 6, 7, 8]
    d.end(s)
    s = d.reconnect()
    assert [f.filter for f in s.take(Subscribe)] == [">"]
    d.say(s, numbered("a", 5, 8, 8), numbered("a", 5, 11, 11), numbered("a", 6, 50, 50))
    assert d.numbers(sub) == [11, 50]
    assert d.of(Gap) == [Gap("a", 5, 9, 10, GapReason.LOST)]
    counters = d.machine.counters()
    assert (counters.received, counters.duplicates, counters.missing) == (7, 6, 2)


def test_a_gap_frame_names_the_reason_of_the_gap_behind_it() -> None:
    d = Driver()
    s = d.connect()
    sub = d.subscribed(s, ">")
    d.say(s, numbered("a", 5, 1, 1), gap("a", 5, 2, 3), numbered("a", 5, 5, 5))
    d.say(s, gap("a", 5, 2, 6, WireGapReason.CONFLATED), numbered("a", 5, 8, 8), gap("a", 5, 9, 8))
    assert d.of(Gap) == [
        Gap("a", 5, 2, 3, GapReason.QUEUE_FULL),
        Gap("a", 5, 4, 4, GapReason.LOST),
        Gap("a", 5, 5, 6, GapReason.CONFLATED),
        Gap("a", 5, 7, 7, GapReason.LOST),
    ]
    assert d.numbers(sub) == [1, 5, 8]


def test_an_unknown_reason_counts_as_a_loss() -> None:
    d = Driver()
    s = d.connect()
    d.subscribed(s, ">")
    d.say(s, frame(10, text("a") + varint(5) + varint(1) + varint(2) + varint(9)))
    assert d.of(Gap) == [Gap("a", 5, 1, 2, GapReason.LOST)]


def test_members_of_groups_get_no_gaps() -> None:
    d = Driver()
    s = d.connect()
    sub = d.subscribed(s, ">", "g")
    for first, last in ((1, 1), (5, 6), (3, 3), (5, 6), (9, 9)):
        d.say(s, numbered("a", 5, first, last, groups=(sub.id,)))
    assert d.numbers(sub) == [1, 5, 6, 3, 9]
    assert d.of(Gap) == []


def test_frames_of_a_durable_topic_for_groups_are_for_them_alone() -> None:
    d = Driver()
    s = d.connect()
    plain, member = d.subscribed(s, ">"), d.subscribed(s, ">", "g")
    # Those for the group come from another bus, before and after the frames for the subscription without a group.
    d.say(s, stored(1, b"1"), stored(3, b"3", groups=(member.id,)), stored(2, b"2", b"3"))
    d.say(s, stored(2, b"2", groups=(member.id,)))
    # The numbers of the publisher.
    assert d.numbers(plain) == [101, 102, 103]
    assert d.numbers(member) == [103, 102]
    assert d.of(Gap) == []
    assert d.machine.counters().duplicates == 0


def test_the_least_recently_used_pairs_are_forgotten() -> None:
    d = Driver(tracked_producers=3)
    s = d.connect()
    sub = d.subscribed(s, ">")
    for producer in (1, 2, 3, 4, 2, 5):  # 4 takes the place of 1, and 5 that of 3: 2 was used meanwhile
        d.say(s, numbered("a", producer, 1, 1))
    assert {producer for _, producer in d.machine.dispatcher._pairs} == {2, 4, 5}
    d.say(s, numbered("a", 2, 1, 1), numbered("a", 3, 1, 1))
    assert [e.producer for e in d.taken(sub)] == [1, 2, 3, 4, 5, 3]


def test_a_refused_subscription_ends() -> None:
    d = Driver()
    s = d.connect()
    sub = d.subscribe("$SYS.>")
    [waiter] = sub.ready
    d.say(s, problem(BusCode.FORBIDDEN, Subscribe.CODE, sub.id))
    assert isinstance(waiter, FakeWaiter)
    assert isinstance(waiter.error, Refused)
    assert sub.ended
    assert isinstance(sub.failure, Refused)
    d.end(s)
    assert d.reconnect().take(Subscribe) == []
    # Later, without a waiter, it is reported.
    s = d.sockets[-1]
    sub = d.subscribed(s, "a")
    d.say(s, problem(BusCode.FORBIDDEN, Subscribe.CODE, sub.id))
    assert len(d.of(Refused)) == 1


def test_the_loss_of_block_is_reported() -> None:
    d = Driver()
    s = d.connect()
    sub = d.subscribed(s, "a")
    d.say(s, problem(BusCode.SLOW_CONSUMER, Subscribe.CODE, 0))
    assert d.of(Refused)[0].bus_code is BusCode.SLOW_CONSUMER
    assert not sub.ended


def test_unsubscribing_ends_with_drained_and_earlier_events_are_delivered() -> None:
    d = Driver()
    s = d.connect()
    sub = d.subscribed(s, "a")
    d.machine.registry.unsubscribe(sub, d.now)
    d.pump()
    assert s.take(Unsubscribe) == [Unsubscribe(sub.id)]
    d.say(s, numbered("a", 5, 1, 1))
    assert not sub.ended
    d.say(s, drained(sub.id))
    assert sub.ended
    assert d.numbers(sub) == [1]


def test_an_unanswered_subscription_closes_the_connection() -> None:
    d = Driver()
    s = d.connect()
    sub = d.subscribe("a")
    [waiter] = sub.ready
    d.advance(9.9)
    assert not waiter.done()
    d.advance(0.2)
    assert isinstance(waiter, FakeWaiter)
    assert isinstance(waiter.error, TimedOut)
    assert s.aborted
    s = d.reconnect()
    assert [f.filter for f in s.take(Subscribe)] == ["a"]


def test_unsubscribing_without_a_connection_ends_at_once() -> None:
    d = Driver()
    s = d.connect()
    ending, other = d.subscribed(s, "a"), d.subscribed(s, "b")
    d.machine.registry.unsubscribe(ending, d.now)
    d.pump()
    d.end(s)
    assert ending.ended
    d.machine.registry.unsubscribe(other, d.now)
    assert other.ended
    assert d.reconnect().take(Subscribe) == []


# ---- Credit


def test_credit_is_granted_as_events_are_handled() -> None:
    d = Driver(receive_bytes=100_000)
    s = d.connect()
    assert s.take(Credit) == [Credit(0, 100_000, 0)]
    sub = d.subscribed(s, "a")
    raw = deliver("a", 5, 1, [b"x" * 1000] * 40)
    d.say(s, raw)
    assert s.take(Credit) == []
    d.say(s, deliver("a", 5, 41, [b"x" * 1000] * 40))
    assert s.take(Credit) == []  # nothing is handled: a fifth is free, and for so little it is not told
    assert d.machine.counters().queued_bytes == s.link.credit.received
    d.taken(sub)
    received = s.link.credit.received
    assert s.take(Credit) == [Credit(0, received + 100_000, received)]


def test_each_frame_counts_once_for_all_subscriptions() -> None:
    d = Driver(receive_bytes=100_000)
    s = d.connect()
    first, second = d.subscribed(s, "a"), d.subscribed(s, "*")
    raw = numbered("a", 5, 1, 10)
    d.say(s, raw)
    assert d.machine.dispatcher.bytes == len(raw)
    d.taken(first)
    assert d.machine.dispatcher.bytes == len(raw)
    d.taken(second)
    assert d.machine.dispatcher.bytes == 0


def test_a_new_connection_is_granted_the_free_room() -> None:
    d = Driver(receive_bytes=100_000)
    s = d.connect()
    d.subscribed(s, "a")
    raw = deliver("a", 5, 1, [b"x" * 1000] * 60)
    d.say(s, raw)
    d.end(s)
    s = d.reconnect()
    assert s.take(Credit) == [Credit(0, 100_000 - len(raw), 0)]


def test_a_bus_without_credit_is_not_read_while_there_is_no_room() -> None:
    d = Driver(receive_bytes=100_000)
    s = d.connect()
    sub = d.subscribed(s, "a")
    d.say(s, problem(BusCode.UNKNOWN_TYPE, Credit.CODE))
    assert d.of(Refused) == []
    d.say(s, deliver("a", 5, 1, [b"x" * 1000] * 101))
    assert s.link.paused
    d.advance(100)  # time in which nothing is read does not count
    assert not s.aborted
    d.taken(sub)
    assert not s.link.paused
    assert len(s.take(Credit)) == 1  # the first one


def test_a_bus_within_its_credit_is_always_read() -> None:
    d = Driver(receive_bytes=100_000)
    s = d.connect()
    d.subscribed(s, "a")
    d.say(s, deliver("a", 5, 1, [b"x" * 1000] * 97))
    d.say(s, deliver("a", 5, 98, [b"x" * 5000]))  # one frame may pass the limit
    assert not s.link.paused
    d.say(s, deliver("a", 5, 99, [b"x"]))  # this one not
    assert s.link.paused


# ---- Frames that are not expected


def test_unknown_frames_and_answers_are_skipped() -> None:
    d = Driver()
    s = d.connect()
    d.say(s, frame(99, b"whatever"), Echo(3).frame(), confirm_publish("never", 9), drained(99), Barrier(99).frame())
    d.say(s, confirm_subscribe(99), problem(BusCode.UNKNOWN_TYPE, Echo.CODE))
    assert d.machine.state is State.CONNECTED
    assert d.of(Error) == []


def test_a_malformed_frame_ends_the_connection() -> None:
    d = Driver()
    s = d.connect()
    sub = d.subscribed(s, "a")
    d.say(s, numbered("a", 5, 1, 1), frame(9, b"\x02"), numbered("a", 5, 2, 2))
    assert s.closed is not None
    assert s.closed[0] == 1007
    assert "Confirm.about" in s.closed[1]
    assert d.machine.state is State.CLOSED
    assert isinstance(d.machine.end_reason, Refused)
    assert d.numbers(sub) == [1]  # what came before it is good


def test_a_welcome_with_too_large_messages_is_reported() -> None:
    d = Driver()
    d.connect(limits=Limits(1 << 20, 1 << 30, 64, 16_384, 10, 10))
    assert len(d.of(Refused)) == 1


def test_close_while_reconnecting() -> None:
    d = Driver()
    d.end(d.connect())
    d.machine.close(d.now)
    d.pump()
    assert d.machine.state is State.CLOSED
    d.advance(100)
    assert len(d.sockets) == 1


def test_errors_have_one_word_for_each_kind() -> None:
    kinds = {c.code: c for c in Error.__subclasses__()}
    assert set(kinds) == {
        "ILLEGAL_TOPIC", "TOO_BIG", "BUFFER_FULL", "NOT_CONNECTED", "CONNECTION_LOST", "REFUSED", "TIMED_OUT", "CLOSED",
        "UNREADABLE_PAYLOAD", "CALL_FAILED", "HELD_BACK", "NO_TOKEN",
    }  # fmt: skip
    assert issubclass(TimedOut, TimeoutError)
    assert f"{BusCode.FORBIDDEN} {BusCode.FORBIDDEN!s:>10}" == "FORBIDDEN  FORBIDDEN"
    assert BufferFull("").retryable
    assert not Closed("").retryable
    assert str(Refused(BusCode.FORBIDDEN, "no", False)) == "FORBIDDEN: no"
    for kind in kinds.values():
        assert kind.__doc__


def test_options_are_checked() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"urls": ()}, "url: none"),
        ({"urls": ("http://x",)}, "expected: ws://"),
        ({"name": ""}, "name: ''"),
        ({"connect_timeout": 0}, "connect_timeout: 0"),
        ({"receive_bytes": 1.5}, "receive_bytes: 1.5"),
        ({"receive_bytes": True}, "receive_bytes: True"),
        ({"when_full": "drop"}, "when_full"),
        ({"attributes": {"a": "b" * 1024}}, "attributes"),
    ]
    for options, what in wrong:
        with pytest.raises(ValueError, match=what):
            Driver(**options)
    with pytest.raises(ValueError, match="jitter: 2"):
        Reconnect(jitter=2)


def test_overflow_is_sent_as_requested() -> None:
    d = Driver()
    s = d.connect()
    d.subscribe("a", overflow=Overflow.CONFLATE)
    assert s.take(Subscribe)[0].overflow is Overflow.CONFLATE


def test_events_have_the_bytes_of_the_protocol_page() -> None:
    d = Driver()
    s = d.connect()
    d.hold_writes = True
    for n in (0, 1, 63, 64, 1023, 1024, 8191, 8192, 70_000):
        d.machine.outbox.add("a", b"x" * n)
    d.hold_writes = False
    d.pump()
    assert [len(x) for p in s.take(PublishSeen) for x in p.payloads] == [0, 1, 63, 64, 1023, 1024, 8191, 8192, 70_000]
    out = d.machine.outbox
    out.add("b", b"x")
    assert out._queue[-1].encode() == plain_event(b"x", out._nanos() // 1000)


def test_a_second_welcome_is_skipped() -> None:
    d = Driver()
    s = d.connect()
    d.say(s, Welcome("x", "x", 1, "x", LIMITS).frame())
    assert d.machine.connection is not None
    assert d.machine.connection.producer == 77


def test_events_that_nobody_takes_do_not_stall_the_end() -> None:
    d = Driver(receive_bytes=10_000)
    s = d.connect()
    sub = d.subscribed(s, "a")
    d.say(s, deliver("a", 5, 1, [b"x" * 5000]), deliver("a", 5, 2, [b"x" * 6000]))
    s.take()
    d.machine.dispatcher.drop_queue(sub)
    d.machine.registry.unsubscribe(sub, d.now)
    d.machine.handled()
    d.pump()
    assert [type(f) for f in s.take()] == [Unsubscribe, Credit]
    d.say(s, deliver("a", 5, 3, [b"x" * 6000]))
    assert d.machine.counters().queued_bytes == 0
    assert len(s.take(Credit)) == 1


def test_unlimited_credit_is_granted_at_the_end() -> None:
    d = Driver(receive_bytes=10_000)
    s = d.connect()
    sub = d.subscribed(s, "a")
    d.say(s, deliver("a", 5, 1, [b"x" * 10_000]))
    s.take()
    d.machine.drain(d.now)
    d.pump()
    assert s.take() == [Unsubscribe(sub.id), Credit(0, (1 << 63) - 1, s.link.credit.received)]
