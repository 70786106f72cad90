"""Requests to services, as docs/protocol.md#callers requires, with a fake bus and clock."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import Driver, FakeWaiter, PublishSeen, Socket, change_bus, confirm_subscribe, drained

from eventbus import (
    BusLost,
    CallFailed,
    Cancelled,
    Closed,
    DeadlineExceeded,
    Execution,
    IllegalTopic,
    MemberLost,
    NoMember,
    NotServed,
    Overloaded,
    Priority,
    Reconnect,
    Rejected,
    Response,
    Retry,
    TooBig,
)
from eventbus._api.call_options import CallOptions
from eventbus._calls.call import CALL_TRANSITIONS, Call, RequestState
from eventbus._wire.call_frames import Cancel, EventParts, Failure, FailureCode, Reply, Request
from eventbus._wire.records import Barrier, ChangeBusFailed, Limits

NOW = Reconnect(initial_delay=0.001, max_delay=0.001)


class Asked:
    """A request of a test."""

    def __init__(self, d: Driver, service: str = "orders", payload: bytes = b"x", **options: Any) -> None:
        self.d = d
        self.waiter = FakeWaiter()
        event = d.machine.outbox.encode_for_call(payload, None, None, 1)
        self.call: Call = d.machine.calls.request(service, event, 0, CallOptions(**options), self.waiter, d.now)
        d.pump()

    @property
    def error(self) -> CallFailed:
        assert isinstance(self.waiter.error, CallFailed)
        return self.waiter.error


def sent(socket: Socket) -> list[Request]:
    return socket.take(Request)


def reply(call: int, payload: bytes = b"y", member: int = 5) -> bytes:
    return Reply(call, member, 120, 850, 7, EventParts(3, "k", {"a": "b"}, payload)).frame()


def failure(call: int, code: FailureCode, executed: Execution = Execution.NO, after: int = 0, **rest: Any) -> bytes:
    return Failure(call, code, "because", executed, after, **rest).frame()


def test_a_request_gets_its_answer() -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d, payload=b"what", method="get", timeout=2, wait_for=1, priority=Priority.HIGH, member=12)
    [request] = sent(s)
    assert (request.call, request.service, request.method, request.member) == (1, "orders", "get", 12)
    assert (request.timeout_millis, request.wait_millis, request.attempt) == (2000, 1000, 0)
    assert (request.priority, request.idempotent) == (Priority.HIGH, False)
    assert request.event == EventParts(1, None, {}, b"what")
    d.say(s, reply(1, b"that"))
    got: Response = a.waiter.result
    assert (got.payload, got.text(), got.member, got.event.key, got.event.headers) == (
        b"that",
        "that",
        5,
        "k",
        {"a": "b"},
    )
    assert (got.queued, got.handled, got.event.schema) == (0.00012, 0.00085, 7)
    assert d.machine.calls.used == 0
    # A second answer finds nothing.
    d.say(s, reply(1, b"again"))
    assert a.waiter.result is got


def test_answers_come_in_any_order_and_each_number_is_used_once() -> None:
    d = Driver()
    s = d.connect()
    first, second = Asked(d), Asked(d)
    assert [r.call for r in sent(s)] == [1, 2]
    d.say(s, reply(2, b"b"), reply(1, b"a"))
    assert (first.waiter.result.payload, second.waiter.result.payload) == (b"a", b"b")


FAILURES = [
    (FailureCode.NO_MEMBER, NoMember, "NO_MEMBER", True),
    (FailureCode.TIMEOUT, DeadlineExceeded, "TIMEOUT", True),
    (FailureCode.CANCELLED, Cancelled, "CANCELLED", True),
    (FailureCode.OVERLOADED, Overloaded, "OVERLOADED", True),
    (FailureCode.MEMBER_LOST, MemberLost, "MEMBER_LOST", True),
    (FailureCode.FORBIDDEN, NotServed, "FORBIDDEN", False),
    (FailureCode.TOO_BIG, NotServed, "TOO_BIG", False),
    (FailureCode.UNSUPPORTED, NotServed, "UNSUPPORTED", False),
    (FailureCode.INTERNAL, NotServed, "INTERNAL", True),
    (FailureCode.REFUSED, Rejected, "REFUSED", True),
    (FailureCode.UNKNOWN_METHOD, Rejected, "UNKNOWN_METHOD", False),
    (FailureCode.FAILED, Rejected, "FAILED", True),
]


@pytest.mark.parametrize(("code", "kind", "word", "retryable"), FAILURES)
def test_failures_become_exceptions(code: FailureCode, kind: type[CallFailed], word: str, retryable: bool) -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d, retry=False)
    d.say(s, failure(1, code, Execution.NO, 250, type="t", details=b"\0d"))
    assert type(a.error) is kind
    assert (a.error.code, a.error.executed, a.error.retryable) == (word, Execution.NO, retryable)
    named = kind in (NoMember, DeadlineExceeded, Cancelled, Overloaded, MemberLost)
    assert str(a.error) == ("orders: " if named else "") + "because (executed: NO)"
    if isinstance(a.error, Rejected):
        assert (a.error.type, a.error.details, a.error.retry_after) == ("t", b"\0d", 0.25)
    b = Asked(d)
    d.say(s, failure(2, code, Execution.UNKNOWN))
    assert (b.error.executed, b.error.retryable) == (Execution.UNKNOWN, False)


def test_a_cancellation_is_sent_to_the_bus() -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d)
    sent(s)
    d.machine.calls.cancel(a.call, "no longer needed")
    d.pump()
    assert s.take(Cancel) == [Cancel(1)]
    assert (a.error.code, a.error.executed) == ("CANCELLED", Execution.UNKNOWN)
    d.machine.calls.cancel(a.call, "again")
    d.say(s, reply(1))
    assert s.take(Cancel) == []
    assert d.machine.calls.used == 0


def test_without_a_connection_requests_wait_in_order_until_their_timeout() -> None:
    d = Driver(reconnect=NOW)
    s = d.connect()
    d.end(s)
    late, a, gone, b = Asked(d, timeout=0.5), Asked(d, timeout=2), Asked(d), Asked(d, payload=b"b")
    d.machine.calls.cancel(gone.call, "not needed")
    assert gone.error.executed is Execution.NO
    s = d.next_try()
    d.advance(1)
    assert (late.error.code, late.error.executed, late.error.retryable) == ("TIMEOUT", Execution.NO, True)
    assert "the request was not sent in time" in str(late.error)
    assert isinstance(late.error, TimeoutError)
    d.welcome(s)
    first, second = sent(s)
    # The rest of the timeout.
    assert (first.call, second.call, second.event.payload) == (2, 4, b"b")
    assert 500 < first.timeout_millis <= 1000
    d.say(s, reply(2), reply(4))
    assert a.waiter.result is not None
    assert b.waiter.result is not None


def test_a_timed_out_request_is_not_sent_though_its_timer_is_late() -> None:
    d = Driver()
    s = d.connect()
    d.hold_writes = True
    late = Asked(d, timeout=1)
    assert d.machine.outgoing(s.link, d.now + 1) is None
    d.advance(1)
    assert late.error.executed is Execution.NO


def test_the_timeout_of_the_client_is_a_little_later_than_that_of_the_bus() -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d, timeout=1)
    d.advance(1.04)
    assert not a.waiter.done()
    d.advance(0.02)
    assert (a.error.code, a.error.executed, a.error.retryable) == ("TIMEOUT", Execution.UNKNOWN, False)
    # A late answer is ignored.
    d.say(s, reply(1))
    assert d.machine.wake_at() is not None


def test_requests_are_bounded_in_bytes_as_long_as_they_may_be_sent_again() -> None:
    d = Driver(call_buffer_bytes=4096, reconnect=NOW)
    s = d.connect()
    d.hold_writes = True
    first = Asked(d, payload=b"x" * 3000, retry=False)
    with pytest.raises(Overloaded, match="call_buffer_bytes") as caught:
        Asked(d, payload=b"x" * 1000)
    assert (caught.value.executed, caught.value.retryable) == (Execution.NO, True)
    assert d.machine.calls.used < 4096
    d.hold_writes = False
    d.pump()
    # Sent, and not to be sent again: no longer counted. A request that may be refused unexecuted still is.
    assert d.machine.calls.used == 0
    again = Asked(d, payload=b"x" * 3000)
    assert d.machine.calls.used > 3000
    d.say(s, reply(1), reply(2))
    assert d.machine.calls.used == 0
    assert first.waiter.done()
    assert again.waiter.done()


def test_a_possibly_executed_request_is_not_sent_again() -> None:
    d = Driver(reconnect=NOW)
    s = d.connect()
    a = Asked(d)
    sent(s)
    d.end(s)
    assert isinstance(a.error, BusLost)
    assert (a.error.code, a.error.executed, a.error.retryable) == ("BUS_LOST", Execution.UNKNOWN, False)
    b = Asked(d, payload=b"b")
    s = d.reconnect()
    assert [r.event.payload for r in sent(s)] == [b"b"]
    d.say(s, reply(2))
    assert b.waiter.done()


def test_an_idempotent_request_is_sent_again_as_the_same() -> None:
    d = Driver(reconnect=NOW)
    s = d.connect()
    a = Asked(d, idempotent=True, timeout=5)
    sent(s)
    d.end(s)
    s = d.reconnect()
    [request] = sent(s)
    assert (request.call, request.attempt, request.idempotent) == (1, 1, True)
    # The bus knows only this try.
    d.say(s, failure(1, FailureCode.FORBIDDEN, Execution.NO))
    assert a.error.executed is Execution.UNKNOWN


def test_retryable_failures_are_retried_after_a_pause() -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d, idempotent=True)
    d.say(s, failure(1, FailureCode.OVERLOADED, after=200))
    assert len(sent(s)) == 1
    d.advance(0.24)
    assert sent(s) == []
    d.advance(0.02)
    assert [r.attempt for r in sent(s)] == [1]
    d.say(s, failure(1, FailureCode.MEMBER_LOST, Execution.UNKNOWN))
    d.advance(0.11)
    assert [r.attempt for r in sent(s)] == [2]
    d.say(s, failure(1, FailureCode.NO_MEMBER))
    assert (a.error.code, a.error.executed) == ("NO_MEMBER", Execution.UNKNOWN)
    # No pause beyond the timeout.
    b = Asked(d, idempotent=True, timeout=0.1)
    d.say(s, failure(2, FailureCode.OVERLOADED, after=100))
    assert b.error.code == "OVERLOADED"
    c = Asked(d, idempotent=True, retry=False)
    d.say(s, failure(3, FailureCode.OVERLOADED))
    assert c.error.code == "OVERLOADED"
    # Not idempotent, but not executed either.
    e = Asked(d, retry=Retry(attempts=2))
    sent(s)
    d.say(s, failure(4, FailureCode.REFUSED))
    d.advance(0.1)
    assert len(sent(s)) == 1
    d.say(s, failure(4, FailureCode.REFUSED))
    assert e.error.code == "REFUSED"


def test_a_pause_ends_with_its_call() -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d, idempotent=True)
    d.say(s, failure(1, FailureCode.OVERLOADED))
    d.machine.calls.cancel(a.call, "no")
    d.advance(1)
    assert len(sent(s)) == 1
    assert a.error.code == "CANCELLED"


def test_a_bus_without_services() -> None:
    d = Driver(reconnect=NOW)
    s = d.connect(calls=0, services=0)
    with pytest.raises(NotServed, match="bus-1 has no services") as caught:
        Asked(d)
    assert (caught.value.code, caught.value.executed) == ("UNSUPPORTED", Execution.NO)
    d.end(s)
    s = d.reconnect()
    a = Asked(d)
    assert len(sent(s)) == 1
    d.say(s, reply(1))
    assert a.waiter.done()
    # A request that waits for a bus with services.
    waits = Asked(d, idempotent=True)
    d.end(s)
    s = d.next_try()
    d.welcome(s, calls=0, services=0)
    assert (waits.error.code, waits.error.executed) == ("UNSUPPORTED", Execution.UNKNOWN)


def test_a_request_too_big_for_a_bus_fails() -> None:
    d = Driver(reconnect=NOW)
    s = d.connect()
    d.end(s)
    a = Asked(d, payload=b"x" * 100_000)
    s = d.next_try()
    d.welcome(s, limits=Limits(1 << 20, 65_536, 64, 16_384, 10, 1 << 20))
    assert (a.error.code, a.error.executed) == ("TOO_BIG", Execution.NO)


def test_wrong_arguments_of_a_request_are_refused() -> None:
    d = Driver()
    d.connect()
    for name in ("", "a..b", "a.*", ">", "$SYS", "x" * 241, "a b"):
        with pytest.raises(IllegalTopic, match="service"):
            Asked(d, name)
    Asked(d, "x" * 240)
    with pytest.raises(TooBig, match="payload"):
        Asked(d, payload=b"x" * ((1 << 20) + 1))
    wrongs: tuple[dict[str, Any], ...] = (
        {"timeout": 0}, {"timeout": 601}, {"wait_for": -1}, {"method": "m" * 256}, {"member": 1 << 63}, {"member": True},
    )  # fmt: skip
    for wrong in wrongs:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            CallOptions(**wrong)
    with pytest.raises(TypeError, match="retry"):
        CallOptions(retry=3)  # type: ignore[arg-type]
    CallOptions(timeout=600, method="m" * 255)
    policies: tuple[dict[str, Any], ...] = (
        {"attempts": 0}, {"initial_delay": 0}, {"max_delay": 0.01}, {"multiplier": 0.5}, {"jitter": 2},
    )  # fmt: skip
    for broken in policies:
        with pytest.raises(ValueError, match=next(iter(broken))):
            Retry(**broken)
    assert Retry(jitter=0.5).delay(3, 1.0) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="expected: REFUSED"):
        Rejected("NOPE", "x", Execution.NO)


def test_requests_and_events_alternate() -> None:
    d = Driver(batch_bytes=1024)
    s = d.connect()
    d.hold_writes = True
    for _ in range(4):
        Asked(d, payload=b"r" * 900)
        d.machine.outbox.add("a", b"e" * 900)
    s.take()
    d.hold_writes = False
    d.pump()
    assert [type(f) for f in s.take()] == [Request, PublishSeen] * 4


def test_a_move_sends_new_requests_to_the_new_bus_and_ends_others_at_the_old_one() -> None:
    d = Driver()
    old = d.connect()
    a, b = Asked(d), Asked(d, idempotent=True, timeout=100)
    lost = Asked(d, timeout=100)
    old.take()
    d.say(old, change_bus("ws://two/bus", deadline=10_000))
    new = d.sockets[-1]
    d.welcome(new, bus="bus-2")
    # Until the old bus has delivered everything, requests are sent there.
    held = Asked(d)
    [barrier] = old.take(Barrier)
    assert old.link.open_calls == 4
    d.say(old, barrier.frame(), reply(held.call.number))
    c = Asked(d)
    assert [r.call for r in sent(new)] == [5]
    assert not old.closed
    d.say(old, reply(1))
    assert a.waiter.result is not None
    d.advance(9.99)
    assert lost.waiter.error is None
    assert not old.closed
    d.advance(0.02)
    # The rest is lost with the old connection, at the deadline of the move.
    assert isinstance(lost.error, BusLost)
    assert old.closed == (1000, "the client goes on at another bus")
    assert [(r.call, r.attempt) for r in sent(new)] == [(2, 1)]
    d.say(new, reply(2), reply(5))
    assert b.waiter.result is not None
    assert c.waiter.result is not None
    assert d.machine.left == set()


def test_a_slow_move_leaves_its_calls_the_whole_deadline() -> None:
    d = Driver()
    old = d.connect()
    sub = d.subscribed(old, "a")
    a = Asked(d, timeout=100)
    d.say(old, change_bus("ws://two/bus", deadline=10_000))
    new = d.sockets[-1]
    d.welcome(new, bus="bus-2")
    d.say(new, confirm_subscribe(sub.id))
    d.advance(6)
    d.say(old, old.take(Barrier)[-1].frame())
    d.advance(5)
    d.say(old, drained(sub.id))
    # The deadline of the bus begins again with the barrier and the frames behind it.
    d.advance(4.99)
    assert a.waiter.error is None
    assert not old.closed
    d.advance(0.02)
    assert isinstance(a.error, BusLost)


def test_a_left_connection_is_closed_after_its_last_call() -> None:
    d = Driver()
    old = d.connect()
    a = Asked(d)
    d.say(old, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, bus="bus-2")
    d.say(old, old.take(Barrier)[-1].frame())
    assert not old.closed
    d.say(old, failure(1, FailureCode.NO_MEMBER))
    assert a.error.code == "NO_MEMBER"
    assert old.closed == (1000, "the client goes on at another bus")


def test_a_client_that_comes_back_sends_requests_to_the_old_bus() -> None:
    d = Driver()
    old = d.connect()
    sub = d.subscribed(old, "a")
    d.say(old, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, bus="bus-2", calls=0, services=0)
    d.say(new, confirm_subscribe(sub.id))
    d.say(old, old.take(Barrier)[-1].frame())
    with pytest.raises(NotServed):
        Asked(d)
    d.end(new)
    d.say(old, drained(sub.id))
    a = Asked(d)
    d.say(old, reply(1))
    assert a.waiter.result is not None


def test_a_client_that_stays_sends_requests_to_its_bus() -> None:
    d = Driver()
    old = d.connect()
    d.say(old, change_bus("ws://two/bus"))
    d.welcome(d.sockets[-1], bus="bus-2", producer=78)
    assert len(old.take(ChangeBusFailed)) == 1
    a = Asked(d)
    d.say(old, reply(1))
    assert a.waiter.result is not None


def test_the_end_of_the_client_fails_its_requests() -> None:
    d = Driver()
    d.connect()
    a, b = Asked(d), Asked(d, idempotent=True)
    d.machine.close(d.now)
    d.pump()
    for asked in (a, b):
        assert asked.error.executed is Execution.UNKNOWN
        assert "the client is closed" in str(asked.error)
    with pytest.raises(Closed):
        Asked(d)
    assert d.machine.calls.used == 0


def test_draining_waits_for_answers() -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d)
    waiter = FakeWaiter()
    d.machine.drain(d.now)
    d.machine.calls.drain(waiter, lambda: Closed("the client is closed"))
    assert not waiter.done()
    with pytest.raises(Closed):
        Asked(d)
    d.say(s, reply(1))
    assert a.waiter.result is not None
    assert waiter.done()


def test_a_malformed_answer_ends_the_connection() -> None:
    d = Driver(reconnect=NOW)
    s = d.connect()
    a = Asked(d)
    d.say(s, bytes.fromhex("301402000100000000000278"))
    assert s.closed is not None
    assert s.closed[0] == 1007
    assert isinstance(a.error, BusLost)


def test_the_table_of_states() -> None:
    assert set(CALL_TRANSITIONS) == set(RequestState)
    assert CALL_TRANSITIONS[RequestState.DONE] == frozenset()
    call = Call(1, "a", CallOptions(), b"", 0, 1.0, FakeWaiter())
    call.become(RequestState.DONE)
    with pytest.raises(RuntimeError, match="DONE -> SENT"):
        call.become(RequestState.SENT)
