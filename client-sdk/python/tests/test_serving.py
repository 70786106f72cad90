"""Services of a client, as docs/protocol.md#members requires, with a fake bus and clock."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import (
    Driver,
    FakeWaiter,
    Socket,
    change_bus,
    confirm_subscribe,
    drained,
    numbered,
    problem,
)
from test_calls import NOW, Asked

from eventbus import BusChanged, BusChangeFailed, BusCode, Closed, Error, Execution, Refused, TimedOut
from eventbus._api.service_options import ServiceOptions
from eventbus._calls.failures import handler_failed, not_begun
from eventbus._calls.service_state import REQUEST_OVERHEAD, ReceivedRequest, ServiceState
from eventbus._wire.call_frames import (
    Cancel,
    Capacity,
    EventParts,
    Failure,
    FailureCode,
    Invoke,
    Register,
    Reply,
    Unregister,
)
from eventbus._wire.records import Barrier, Confirm, Drained, Subscribe, Unsubscribe

ANSWER = b"\0\0\0\2y"  # an encoded event


class Member:
    """A service of a client, whose handlers the test ends."""

    def __init__(self, d: Driver, name: str = "orders", **options: Any) -> None:
        self.d = d
        self.begun: list[ReceivedRequest] = []
        self.ready = FakeWaiter()
        self.core = ServiceState(d.machine.registry.next_id(), name, ServiceOptions(**options), self.begun.append)
        self.core.ready.append(self.ready)
        d.machine.registry.begin(self.core, d.now)
        d.pump()

    @property
    def id(self) -> int:
        return self.core.id

    def confirm(self, socket: Socket) -> Member:
        self.d.say(socket, confirm_register(self.id))
        return self

    def ask(self, socket: Socket, call: int, request: int = 0, **fields: Any) -> None:
        self.d.say(socket, self.invoke(call, request, **fields))

    def invoke(self, call: int, request: int = 0, **fields: Any) -> bytes:
        payload = fields.pop("payload", b"x")
        values: dict[str, Any] = {
            "timeout_millis": 1000,
            "attempt": 0,
            "identity": "",
            "method": "m",
            "kind": 0,
            **fields,
        }
        return Invoke(
            call=call, service=self.id, caller=9, request=request or -call, received_at=1, schema=3,
            event=EventParts(1, None, {}, payload), **values,
        ).frame()  # fmt: skip

    def answer(self, received: ReceivedRequest) -> None:
        self.d.machine.services.done(received, (ANSWER, 0), self.d.now)
        self.d.pump()

    def fail(self, received: ReceivedRequest, failure: Failure) -> None:
        self.d.machine.services.done(received, failure, self.d.now)
        self.d.pump()


def confirm_register(id: int) -> bytes:
    return Confirm(Register.CODE, id).frame()


def ended(id: int) -> bytes:
    return Confirm(Unregister.CODE, id).frame() + Drained(id).frame()


def member(**options: Any) -> tuple[Driver, Socket, Member]:
    d = Driver(reconnect=NOW)
    s = d.connect()
    m = Member(d, **options)
    assert m.id in [f.id for f in s.take(Register)]
    return d, s, m.confirm(s)


def failures(socket: Socket) -> list[tuple[int, str, str]]:
    return [(f.call, f.code.name, f.executed.name) for f in socket.take(Failure)]


def test_a_service_is_registered_and_answers() -> None:
    d = Driver()
    s = d.connect()
    m = Member(d, concurrency=3, identify=True, version="2.1", metadata={"zone": "eu"})
    assert s.take(Register) == [Register(m.id, "orders", 3, True, "2.1", {"zone": "eu"})]
    assert not m.ready.done()
    # A call can overtake the confirmation.
    m.ask(s, -5, 7, attempt=1, identity="alice", method="get", payload=b"what")
    m.confirm(s)
    assert m.ready.done()
    [r] = m.begun
    assert (r.key, r.method, r.identity, r.attempt, r.event.payload, r.event.schema) == (
        (9, 7),
        "get",
        "alice",
        1,
        b"what",
        3,
    )
    d.advance(0.25)
    m.answer(r)
    [reply] = s.take(Reply)
    assert (reply.call, reply.member, reply.event.payload) == (-5, 0, b"y")
    assert reply.handled_micros == pytest.approx(250_000, abs=2)
    assert (m.core.counters().received, m.core.counters().answered, m.core.counters().running) == (1, 1, 0)


def test_no_more_handlers_run_than_the_concurrency() -> None:
    d, s, m = member(concurrency=2)
    d.say(s, *(m.invoke(-n) for n in range(1, 5)))
    assert [r.key[1] for r in m.begun] == [1, 2]
    assert (m.core.counters().running, m.core.counters().waiting) == (2, 2)
    assert m.core.counters().waiting_bytes == 2 * (1 + REQUEST_OVERHEAD)
    m.fail(m.begun[0], handler_failed(FailureCode.FAILED, "x" * 5000))
    assert [r.key[1] for r in m.begun] == [1, 2, 3]
    [failed] = s.take(Failure)
    assert (failed.call, failed.code, failed.executed, len(failed.message)) == (
        -1,
        FailureCode.FAILED,
        Execution.YES,
        1024,
    )
    m.answer(m.begun[2])
    m.answer(m.begun[1])
    m.answer(m.begun[3])
    assert [r.call for r in s.take(Reply)] == [-3, -2, -4]
    assert m.core.is_idle()
    assert s.link.open_calls == 0


def test_timed_out_requests_are_not_started() -> None:
    d, s, m = member(concurrency=1)
    d.say(s, m.invoke(-1), m.invoke(-2, timeout_millis=100), m.invoke(-3, timeout_millis=900))
    d.advance(0.2)
    m.answer(m.begun[0])
    assert failures(s) == [(-2, "TIMEOUT", "NO")]
    assert m.begun[1].key[1] == 3
    assert m.core.counters().expired == 1


def test_waiting_requests_are_bounded_in_bytes() -> None:
    most = 2 * (600 + REQUEST_OVERHEAD)
    d, s, m = member(concurrency=1, buffer_bytes=most)
    for n in range(1, 4):
        m.ask(s, -n, payload=b"x" * 600)
    assert failures(s) == []
    m.ask(s, -4, payload=b"")
    assert failures(s) == [(-4, "OVERLOADED", "NO")]
    assert m.core.counters().refused == 1
    # A single request may be as big as a message.
    d, s, m = member(concurrency=1, buffer_bytes=1024)
    m.ask(s, -1)
    m.ask(s, -2, payload=b"x" * 5000)
    m.ask(s, -3, payload=b"")
    assert failures(s) == [(-3, "OVERLOADED", "NO")]
    # A handler that was ended with its client releases its slot.
    d.machine.services.dropped(m.begun[0])
    assert m.core.counters().running == 0


def answer_too_much(d: Driver, s: Socket, m: Member) -> None:
    """Answers a request with so much that handlers pause, over a connection that sends nothing."""
    d.hold_writes = True
    m.ask(s, -1)
    big = b"\0\0\0" + bytes.fromhex("80808005") + b"x" * (5 << 20)
    d.machine.services.done(m.begun[0], (big, 0), d.now)


def test_unsent_answers_pause_the_handlers() -> None:
    d, s, m = member(concurrency=4)
    answer_too_much(d, s, m)
    assert d.machine.services.answer_bytes > 4 << 20
    m.ask(s, -2)
    assert len(m.begun) == 1
    # Also of a service that has ended meanwhile.
    d.machine.registry.unsubscribe(m.core, d.now)
    d.say(s, ended(m.id))
    d.hold_writes = False
    d.pump()
    assert len(m.begun) == 2
    assert d.machine.services.answer_bytes == 0


def test_answers_lost_with_a_connection_pause_no_handler() -> None:
    d, s, m = member(concurrency=4)
    answer_too_much(d, s, m)
    m.ask(s, -2)
    d.end(s)
    assert d.machine.services.answer_bytes == 0
    assert m.core.is_idle()
    d.hold_writes = False
    s = d.reconnect()
    m.ask(s, -1)
    assert len(m.begun) == 2


def test_a_repeated_request_is_not_executed_again() -> None:
    _d, s, m = member(remember_replies=2)
    m.ask(s, -1, 7)
    m.ask(s, -2, 7, attempt=1)
    [r] = m.begun
    m.answer(r)
    assert [reply.call for reply in s.take(Reply)] == [-1, -2]
    m.ask(s, -3, 7, attempt=2)
    assert [reply.call for reply in s.take(Reply)] == [-3]
    assert (len(m.begun), m.core.counters().repeated) == (1, 2)
    for n in (8, 9):
        m.ask(s, -n, n)
        m.answer(m.begun[-1])
    # Forgotten: two are kept.
    m.ask(s, -10, 7)
    assert len(m.begun) == 4
    assert m.core.reply_bytes <= 2 * (len(ANSWER) + 256)


def test_remembered_replies_are_bounded_in_bytes() -> None:
    _d, s, m = member(remember_replies=1000, buffer_bytes=1024)
    for n in range(1, 9):
        m.ask(s, -n)
        m.answer(m.begun[-1])
    assert len(m.core.replies) == 1024 // (len(ANSWER) + 256)
    assert m.core.reply_bytes == len(m.core.replies) * (len(ANSWER) + 256)


def test_cancelled_requests_are_not_started() -> None:
    d, s, m = member(concurrency=1)
    told: list[str] = []
    d.say(s, m.invoke(-1), m.invoke(-2))
    m.begun[0].on_cancel.append(lambda: told.append("stop"))
    d.say(s, Cancel(-2).frame())
    assert failures(s) == [(-2, "CANCELLED", "NO")]
    d.say(s, Cancel(-1).frame(), Cancel(-1).frame(), Cancel(-99).frame())
    assert told == ["stop"]
    assert m.begun[0].cancelled
    # Its slot is free when it is answered all the same.
    m.answer(m.begun[0])
    assert [r.call for r in s.take(Reply)] == [-1]
    assert m.core.counters().cancelled == 2


def test_a_handler_continues_while_a_second_caller_waits() -> None:
    d, s, m = member()
    d.say(s, m.invoke(-1, 7), m.invoke(-2, 7), Cancel(-1).frame())
    assert not m.begun[0].cancelled
    d.say(s, Cancel(-2).frame())
    assert m.begun[0].cancelled
    # The same request is a new one now.
    m.ask(s, -3, 7)
    assert len(m.begun) == 2


def test_unsupported_calls_are_refused() -> None:
    d, s, m = member()
    m.ask(s, -1, kind=1)
    m.ask(s, -2, kind=77)
    assert failures(s) == [(-1, "UNSUPPORTED", "NO"), (-2, "UNSUPPORTED", "NO")]
    sub = d.subscribed(s, "a")
    for id in (99, sub.id):
        invoke = Invoke(-3, id, "", 0, 1, 9, 1, 0, "", 1, 0, EventParts(1, None, {}, b""))
        d.say(s, invoke.frame())
        assert failures(s) == [(-3, "REFUSED", "NO")]


def test_a_paused_service_gets_no_requests_until_it_resumes() -> None:
    d, s, m = member(concurrency=3)
    m.core.paused = True
    d.machine.registry.update(m.core, m.core.capacity_frame())
    d.pump()
    assert s.take(Capacity) == [Capacity(m.id, 0)]
    # Requests that are here are answered.
    m.ask(s, -1)
    m.answer(m.begun[0])
    d.end(s)
    s = d.reconnect()
    assert s.take(Register)[0].concurrency == 0
    m.core.paused = False
    d.machine.registry.update(m.core, m.core.capacity_frame())
    d.pump()
    assert s.take(Capacity) == [Capacity(m.id, 3)]
    d.say(s, problem(BusCode.UNKNOWN_SUBSCRIPTION, Capacity.CODE, m.id))
    assert s.link.refusal is None
    assert len(d.of(Refused)) == 1


def test_a_service_is_registered_on_a_new_connection_and_old_calls_are_not_answered_there() -> None:
    d, s, m = member(concurrency=1)
    d.say(s, m.invoke(-1), m.invoke(-2))
    d.end(s)
    s = d.reconnect()
    assert [f.id for f in s.take(Register)] == [m.id]
    m.answer(m.begun[0])
    # All waiters of the second one are gone, too.
    assert len(m.begun) == 1
    assert s.take(Reply, Failure) == []
    assert m.core.counters().cancelled == 1
    m.confirm(s)
    m.ask(s, -1)
    m.answer(m.begun[1])
    assert [r.call for r in s.take(Reply)] == [-1]


def test_a_request_over_two_connections_is_answered_over_those_that_wait() -> None:
    d, s, m = member()
    m.ask(s, -1, 7)
    d.end(s)
    s = d.reconnect()
    m.ask(s, -8, 7, attempt=1)
    m.answer(m.begun[0])
    assert len(m.begun) == 1
    assert [r.call for r in s.take(Reply)] == [-8]


def test_a_service_ends_after_its_last_answer() -> None:
    d, s, m = member()
    m.ask(s, -1)
    idle = FakeWaiter()
    d.machine.registry.unsubscribe(m.core, d.now)
    d.pump()
    assert s.take(Unregister) == [Unregister(m.id)]
    m.ask(s, -2)
    d.say(s, ended(m.id))
    assert m.core.ended
    d.machine.services.when_idle(m.core, idle)
    m.answer(m.begun[0])
    assert not idle.done()
    m.answer(m.begun[1])
    assert idle.done()
    assert [r.call for r in s.take(Reply)] == [-1, -2]
    m.ask(s, -3)
    assert failures(s) == [(-3, "REFUSED", "NO")]
    waiter = FakeWaiter()
    d.machine.services.when_idle(m.core, waiter)
    assert waiter.done()


def test_abandoned_requests_are_cancelled() -> None:
    d, s, m = member(concurrency=1)
    d.say(s, m.invoke(-1), m.invoke(-2))
    d.machine.services.abandon(m.core)
    d.pump()
    assert failures(s) == [(-2, "REFUSED", "NO")]
    assert m.begun[0].cancelled
    m.answer(m.begun[0])
    assert [r.call for r in s.take(Reply)] == [-1]


def test_a_member_whose_permission_ends_is_reported() -> None:
    d, s, m = member()
    d.say(s, problem(BusCode.FORBIDDEN, Register.CODE, m.id), Drained(m.id).frame())
    assert m.core.ended
    assert isinstance(m.core.failure, Refused)
    assert [e.bus_code for e in d.of(Refused)] == [BusCode.FORBIDDEN]


def test_a_service_that_is_refused_or_not_answered() -> None:
    d = Driver(reconnect=NOW)
    s = d.connect()
    m = Member(d)
    d.say(s, problem(BusCode.DUPLICATE_SUBSCRIPTION, Register.CODE, m.id))
    assert isinstance(m.ready.error, Refused)
    assert d.of(Error) == []
    late = Member(d)
    d.advance(10)
    assert isinstance(late.ready.error, TimedOut)
    assert "the service orders" in str(late.ready.error)
    s = d.reconnect()
    assert [f.id for f in s.take(Register)] == [late.id]


def test_services_are_registered_only_at_buses_with_services() -> None:
    d = Driver(reconnect=NOW)
    s = d.connect(calls=0, services=0)
    m = Member(d)
    assert isinstance(m.ready.error, Refused)
    assert m.ready.error.bus_code is BusCode.UNSUPPORTED
    assert s.take(Register) == []
    again = FakeWaiter()
    m.core.ready.append(again)
    d.machine.registry.settle_if_unserved(m.core)
    assert isinstance(again.error, Refused)
    d.machine.registry.update(m.core, m.core.capacity_frame())
    d.pump()
    assert s.take(Capacity) == []
    d.end(s)
    s = d.reconnect()
    assert [f.id for f in s.take(Register)] == [m.id]
    d.end(s)
    s = d.next_try()
    d.welcome(s, services=0)
    d.machine.registry.unsubscribe(m.core, d.now)
    assert m.core.ended


# ---- Move to another bus


def moving(group: bool = False, **options: Any) -> tuple[Driver, Socket, Socket, Member]:
    d, old, m = member(**options)
    if group:
        d.subscribed(old, "a", "g")
    d.say(old, change_bus("ws://two/bus"))
    return d, old, d.sockets[-1], m


def test_a_service_moves_without_losing_a_call() -> None:
    d, old, new, m = moving(concurrency=4)
    m.ask(old, -1)
    d.welcome(new, bus="bus-2", session="s2")
    assert [f.id for f in new.take(Register)] == [m.id]
    assert old.take(Barrier) == []
    m.confirm(new)
    # A member at both buses: calls come from both.
    m.ask(new, -1)
    m.ask(old, -2)
    assert len(m.begun) == 2  # the same caller and request as -1 came twice
    [barrier] = old.take(Barrier)
    d.say(old, barrier.frame())
    assert old.take(Unregister) == [Unregister(m.id)]
    m.ask(old, -3)
    d.say(old, ended(m.id))
    assert len(d.of(BusChanged)) == 1
    assert not old.closed
    m.ask(new, -4)
    for r in m.begun:
        m.answer(r)
    assert [r.call for r in old.take(Reply)] == [-1, -2, -3]
    assert [r.call for r in new.take(Reply)] == [-1, -4]
    assert old.closed == (1000, "the client goes on at another bus")
    assert new.take(Unregister) == []


def test_a_handler_longer_than_the_move_does_not_keep_the_old_connection() -> None:
    d, old, new, m = moving()
    m.ask(old, -1)
    d.welcome(new, bus="bus-2")
    m.confirm(new)
    d.say(old, old.take(Barrier)[-1].frame(), ended(m.id))
    assert not old.closed
    # Frames there other than calls no longer count.
    d.say(old, numbered("a", 5, 1, 1), Cancel(-1).frame())
    assert m.begun[0].cancelled
    assert d.machine.counters().received == 0
    d.advance(29.99)
    assert not old.closed
    d.advance(0.02)
    assert old.closed
    m.answer(m.begun[0])
    assert old.take(Reply) == new.take(Reply) == []


def test_a_new_bus_that_refuses_a_service_is_left_in_order() -> None:
    d, _old, new, m = moving()
    other = Member(d, "others")
    d.welcome(new, bus="bus-2")
    both = {m.id, other.id}
    assert {f.id for f in new.take(Register)} == both
    m.confirm(new)
    m.ask(new, -1)
    d.say(new, problem(BusCode.FORBIDDEN, Register.CODE, other.id))
    # The bus has given this client a call that no other member has.
    assert [f.id for f in new.take(Unregister)] == [m.id]
    d.say(new, ended(m.id))
    assert len(d.of(BusChangeFailed)) == 1
    assert not new.closed
    m.answer(m.begun[0])
    assert [r.call for r in new.take(Reply)] == [-1]
    assert new.closed == (1000, "the client stays at its bus")
    assert d.machine.registry.all.keys() >= both


def test_a_bus_without_services_is_no_destination() -> None:
    d, old, new, m = moving()
    d.welcome(new, bus="bus-2", services=0)
    [failed] = d.of(BusChangeFailed)
    assert "it has no services" in failed.why
    m.ask(old, -1)
    assert len(m.begun) == 1


def test_a_service_ends_and_another_begins_while_the_client_moves() -> None:
    d, old, new, m = moving()
    d.welcome(new, bus="bus-2")
    m.confirm(new)
    late = Member(d, "late")
    d.machine.registry.unsubscribe(m.core, d.now)
    d.say(old, old.take(Barrier)[-1].frame(), ended(m.id))
    assert [f.id for f in new.take(Unregister)] == [m.id]
    assert [f.id for f in new.take(Register)][-1] == late.id
    d.say(new, ended(m.id), confirm_register(late.id))
    assert m.core.ended
    assert late.ready.done()


def test_services_and_groups_move_together() -> None:
    d, old, new, m = moving(group=True)
    d.welcome(new, bus="bus-2")
    [subscribe] = new.take(Subscribe)
    d.say(new, confirm_subscribe(subscribe.id))
    m.confirm(new)
    d.say(old, old.take(Barrier)[-1].frame())
    assert len(old.take(Unsubscribe)) == 1
    d.say(old, ended(m.id))
    assert d.of(BusChanged) == []
    d.say(old, drained(subscribe.id))
    assert len(d.of(BusChanged)) == 1


def test_a_service_comes_back_when_the_new_bus_is_lost_after_leaving() -> None:
    d, old, new, m = moving()
    d.welcome(new, bus="bus-2")
    m.confirm(new)
    d.say(old, old.take(Barrier)[-1].frame())
    a = Asked(d)
    d.end(new)
    assert a.waiter.done()
    d.say(old, ended(m.id))
    assert [f.id for f in old.take(Register)] == [m.id]
    b = Asked(d)
    assert not b.waiter.done()
    assert old.link.open_calls == 1


def test_the_end_of_a_client_closes_left_connections() -> None:
    d, old, new, m = moving()
    m.ask(old, -1)
    d.welcome(new, bus="bus-2")
    m.confirm(new)
    d.say(old, old.take(Barrier)[-1].frame(), ended(m.id))
    d.machine.close(d.now)
    d.pump()
    assert old.closed == (1000, "the client is closed")
    assert new.closed == (1000, "the client is closed")
    assert m.begun[0].cancelled
    with pytest.raises(Closed):
        Member(d)


def test_options_of_a_service_are_checked() -> None:
    wrongs: tuple[tuple[str, dict[str, Any]], ...] = (
        ("concurrency", {"concurrency": 0}), ("concurrency", {"concurrency": 65_537}), ("version", {"version": "v" * 256}),
        ("metadata", {"metadata": {"a": "b" * 256}}), ("metadata", {"metadata": {str(i): "" for i in range(65)}}),
        ("metadata", {"metadata": {str(i): "x" * 250 for i in range(17)}}), ("remember_replies", {"remember_replies": -1}),
        ("buffer_bytes", {"buffer_bytes": 1023}),
    )  # fmt: skip
    for name, wrong in wrongs:
        with pytest.raises(ValueError, match=name):
            ServiceOptions(**wrong)
    ServiceOptions(concurrency=65_536, version="v" * 255, metadata={str(i): "" for i in range(64)}, buffer_bytes=1024)
    assert not_begun(FailureCode.REFUSED, "ü" * 1000).message == "ü" * 512
