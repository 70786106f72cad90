"""Moves to another bus: the steps of docs/protocol.md#client-moves, and failures of each."""

from __future__ import annotations

import pytest
from fakes import (
    Driver,
    PublishSeen,
    Socket,
    change_bus,
    confirm_publish,
    confirm_subscribe,
    drained,
    gap,
    numbered,
    problem,
)

from eventbus import BusChanged, BusChangeFailed, BusCode, Disconnected, Gap, GapReason, Limits, Refused, State
from eventbus._connection.bus_move import OVERTAKE_TIMEOUT, BusMove
from eventbus._connection.move_table import TABLE, MoveEvent, Phase
from eventbus._inbound.subscription_state import SubscriptionState
from eventbus._wire.codec import MAX_LONG
from eventbus._wire.records import Barrier, ChangeBusFailed, Credit, Hello, Subscribe, Unsubscribe


class Move:
    """A move of a client with subscriptions, driven step by step."""

    def __init__(self, *filters: str, group: str | None = None) -> None:
        self.d = d = Driver()
        self.old = d.connect()
        self.subs = [d.subscribed(self.old, f) for f in filters]
        if group is not None:
            self.subs.append(d.subscribed(self.old, ">", group))
        self.old.take()
        d.say(self.old, change_bus("ws://two/bus"))
        self.new = d.sockets[-1]

    @property
    def sub(self) -> SubscriptionState:
        return self.subs[0]

    def welcome(self) -> None:
        self.d.welcome(self.new, bus="bus-2", session="s2")

    def confirm(self) -> None:
        self.d.say(self.new, *(confirm_subscribe(s.id) for s in self.subs))

    def to_flushing(self) -> Barrier:
        self.welcome()
        self.confirm()
        barrier: Barrier = self.old.take(Barrier)[-1]
        return barrier

    def to_leaving(self) -> None:
        self.d.say(self.old, self.to_flushing().frame())

    def drain(self) -> None:
        self.d.say(self.old, drained(*(s.id for s in self.subs)))

    def assert_moved(self) -> None:
        d = self.d
        assert d.machine.moves.move is None
        assert d.machine.current is self.new.link
        assert self.old.closed == (1000, "the client goes on at another bus") or self.old.link.over
        assert [(c.before.bus, c.now.bus) for c in d.of(BusChanged)] == [("bus-1", "bus-2")]
        assert d.machine.counters().bus_changes == 1

    def assert_stayed(self, why: str) -> None:
        d = self.d
        assert d.machine.moves.move is None
        assert d.machine.current is self.old.link
        assert d.machine.sender.link is self.old.link
        assert self.new.link.over
        [failed] = d.of(BusChangeFailed)
        assert why in failed.why
        [told] = self.old.take(ChangeBusFailed)
        assert told.token == "move"
        assert why in told.message
        # The client publishes at its old bus, and receives events there.
        d.publish("p", b"x")
        assert len(self.old.take(PublishSeen)) == 1


def test_a_move_takes_the_steps_of_the_protocol_page() -> None:
    m = Move("a", "b.*")
    d = m.d
    waiter = d.publish("p", b"1")
    d.open(m.new, "t")
    [hello] = m.new.take(Hello)
    assert (hello.resume, hello.change, hello.token, hello.previous) == ("secret", "move", "t", None)
    # 2: subscribe there; deliveries of the new connection wait.
    m.welcome()
    assert [(f.id, f.filter) for f in m.new.take()] == [(s.id, s.filter) for s in m.subs]
    d.say(m.new, confirm_subscribe(m.subs[0].id), numbered("a", 5, 2, 3))
    assert m.old.take(Barrier) == []
    d.say(m.old, numbered("a", 5, 1, 2))
    # 3: when everything is confirmed, stop publishing, and send a barrier; only now the first credit.
    d.say(m.new, confirm_subscribe(m.subs[1].id))
    assert m.new.take() == [Credit(0, 4 << 20, m.new.link.credit.received)]
    [barrier] = m.old.take(Barrier)
    late = d.publish("p", b"2")
    assert m.old.take(PublishSeen)[-1].sequence == 1
    d.say(m.old, confirm_publish("p", 1), barrier.frame())
    assert waiter.result.sequence == 1
    # 4: unsubscribe there, publish here; numbers continue.
    assert m.old.take() == [Unsubscribe(s.id) for s in m.subs]
    [published] = m.new.take(PublishSeen)
    assert (published.sequence, published.payloads) == (2, [b"2"])
    d.say(m.old, numbered("a", 5, 3, 3), drained(m.subs[0].id))
    assert d.numbers(m.sub) == [1, 2, 3]
    assert d.machine.moves.move is not None
    d.say(m.new, numbered("a", 5, 4, 4))
    # 5 and 6.
    d.say(m.old, drained(m.subs[1].id))
    m.assert_moved()
    assert m.old.closed == (1000, "the client goes on at another bus")
    d.say(m.new, numbered("a", 5, 5, 5), confirm_publish("p", 2))
    assert d.numbers(m.sub) == [4, 5]
    assert late.result.sequence == 2
    assert d.of(Gap) == []
    assert not any(s.ended for s in m.subs)
    # Over the next connection everything is requested again, with the resume.
    d.end(m.new)
    s = d.reconnect()
    hello, *rest = s.take(Hello, Subscribe)
    assert (hello.resume, hello.previous) == ("secret", "s2")
    assert [f.filter for f in rest] == ["a", "b.*"]


def test_events_of_groups_arrive_in_order_over_both_connections() -> None:
    m = Move("a", group="g")
    plain, member = m.subs
    d = m.d
    m.welcome()
    d.say(m.old, numbered("a", 5, 1, 1, groups=(member.id,)))
    assert d.numbers(plain) == []  # a topic with a group waits, also what comes over the old connection
    d.say(m.new, numbered("a", 5, 2, 2, groups=(member.id,)))
    m.confirm()
    d.say(m.new, numbered("a", 5, 4, 4, groups=(member.id,)), numbered("a", 5, 3, 3))
    [barrier] = m.old.take(Barrier)
    d.say(m.old, barrier.frame(), numbered("a", 5, 2, 2), numbered("a", 5, 3, 3, groups=(member.id,)))
    m.drain()
    m.assert_moved()
    assert d.numbers(plain) == [1, 2, 3, 4]
    assert d.numbers(member) == [1, 2, 3, 4]
    assert d.of(Gap) == []
    assert d.machine.dispatcher.bytes == 0


def test_a_move_waits_for_unread_events_of_groups_at_the_new_bus() -> None:
    m = leaving_with_a_pong_to_come()
    d, [member] = m.d, m.subs
    # Sent before the old bus was done, read after that.
    d.say(m.new, numbered("a", 5, 3, 3, groups=(member.id,)))
    assert d.numbers(member) == []
    d.machine.heard(m.new.link, d.now, True)
    d.pump()
    m.assert_moved()
    assert d.numbers(member) == [2, 3, 4]
    # A later Pong is only a sign of life.
    d.machine.heard(m.new.link, d.now, True)


@pytest.mark.parametrize("what", ["silent", "old lost", "new lost"])
def test_a_new_bus_without_a_pong_stalls_nothing(what: str) -> None:
    m = leaving_with_a_pong_to_come()
    d, [member] = m.d, m.subs
    if what == "silent":
        d.advance(OVERTAKE_TIMEOUT)
        m.assert_moved()
    elif what == "old lost":
        d.end(m.old)
        m.assert_moved()
    else:
        d.end(m.new)
        assert d.machine.current is m.old.link
    assert d.numbers(member) == [2, 4]
    assert d.machine.moves.move is None


def leaving_with_a_pong_to_come() -> Move:
    """Returns a move whose old bus has drained; of a group it had 2 and 4, and the new one 3."""
    m = Move(group="g")
    d, [member] = m.d, m.subs
    m.to_leaving()
    d.hold_pongs = True
    d.say(m.old, numbered("a", 5, 2, 2, groups=(member.id,)), numbered("a", 5, 4, 4, groups=(member.id,)))
    m.drain()
    assert m.new.pings == 1
    assert d.numbers(member) == []
    return m


def test_a_client_without_subscriptions_moves() -> None:
    m = Move()
    d = m.d
    m.to_leaving()
    m.assert_moved()
    d.publish("p", b"1")
    assert len(m.new.take(PublishSeen)) == 1


def test_gaps_of_the_new_connection_are_reported_at_the_end() -> None:
    m = Move("a")
    d = m.d
    m.welcome()
    d.say(m.old, numbered("a", 5, 1, 1))
    d.say(m.new, gap("a", 5, 1, 3), numbered("a", 5, 4, 4))
    m.confirm()
    d.say(m.old, m.old.take(Barrier)[0].frame())
    d.say(m.old, numbered("a", 5, 2, 2))
    assert d.of(Gap) == []
    m.drain()
    assert d.of(Gap) == [Gap("a", 5, 3, 3, GapReason.QUEUE_FULL)]
    assert d.numbers(m.sub) == [1, 2, 4]


def test_a_bus_with_another_producer_number_is_no_destination() -> None:
    m = Move("a")
    m.d.welcome(m.new, producer=78)
    m.assert_stayed("it knows this client as 78")


def test_a_bus_with_smaller_limits_is_no_destination() -> None:
    m = Move("a")
    m.d.welcome(m.new, limits=Limits(100, 1000, 1, 1, 1, 1))
    m.assert_stayed("takes smaller events")


def test_addresses_are_tried_in_turn_and_checked() -> None:
    d = Driver()
    s = d.connect()
    d.say(s, change_bus("http://no", "ws://two/bus", "ws://three/bus"))
    assert d.sockets[-1].link.url == "ws://two/bus"
    d.end(d.sockets[-1])
    assert d.sockets[-1].link.url == "ws://three/bus"
    d.end(d.sockets[-1], 1006, "nobody there")
    [failed] = d.of(BusChangeFailed)
    assert failed.url == "ws://three/bus"
    assert s.take(ChangeBusFailed)[0].message == "1006 nobody there"
    d.say(s, change_bus("http://no"))
    assert s.take(ChangeBusFailed)[0].message == "none of the addresses can be used"


def test_a_refused_token_leaves_the_client_at_its_bus() -> None:
    m = Move("a")
    m.d.open(m.new)
    m.d.say(m.new, problem(BusCode.UNAUTHENTICATED))
    m.d.end(m.new, 4500, "no")
    m.assert_stayed("UNAUTHENTICATED")
    assert m.d.of(Refused) == []


def test_a_refused_subscription_undoes_the_move() -> None:
    m = Move("a")
    m.welcome()
    m.d.say(m.new, problem(BusCode.LIMIT_EXCEEDED, Subscribe.CODE, m.sub.id))
    m.assert_stayed("it refuses a subscription")
    m.d.say(m.old, numbered("a", 5, 1, 1))
    assert m.d.numbers(m.sub) == [1]


def test_undoing_a_move_delivers_events_of_groups_at_the_new_bus() -> None:
    m = Move("a", group="g")
    plain, member = m.subs
    d = m.d
    m.to_flushing()
    d.say(m.new, numbered("a", 5, 1, 1, groups=(member.id,)), numbered("b", 5, 1, 1))
    d.advance(22.6)
    assert m.new.take(Credit)[-1].limit == MAX_LONG
    assert m.new.take(Unsubscribe) == [Unsubscribe(s.id) for s in m.subs]
    d.say(m.old, numbered("a", 5, 2, 2))
    d.say(m.new, numbered("a", 5, 3, 3, groups=(member.id,)), drained(plain.id))
    assert d.machine.moves.move is not None
    d.say(m.new, drained(member.id))
    m.assert_stayed("not done in time")
    assert d.numbers(member) == [1, 3]
    assert d.numbers(plain) == [2]


def test_a_new_bus_that_does_not_drain_is_given_up() -> None:
    m = Move("a", group="g")
    m.to_flushing()
    m.d.advance(22.6)
    assert m.d.machine.moves.move is not None
    m.d.advance(2.1)
    m.assert_stayed("not done in time")


@pytest.mark.parametrize("step", ["connecting", "subscribing", "flushing"])
def test_a_move_that_is_late_is_undone(step: str) -> None:
    m = Move("a")
    if step != "connecting":
        m.welcome()
    if step == "flushing":
        m.confirm()
    m.d.advance(9.9 if step == "connecting" else 22.6)
    if step == "connecting":
        m.d.advance(13)
    m.assert_stayed("no answer within 10 s" if step == "connecting" else "not done in time")


@pytest.mark.parametrize("flushing", [False, True])
def test_the_client_stays_when_the_new_bus_is_lost_before_the_barrier(flushing: bool) -> None:
    m = Move("a")
    m.welcome()
    if flushing:
        m.confirm()
        m.d.publish("p", b"waits")
    m.d.end(m.new, 1006, "gone")
    if flushing:
        assert len(m.old.take(PublishSeen)) == 1
    m.assert_stayed("gone")
    m.d.say(m.old, numbered("a", 5, 1, 1))
    assert m.d.numbers(m.sub) == [1]


def test_the_client_comes_back_when_the_new_bus_is_lost_after_the_barrier() -> None:
    m = Move("a")
    d = m.d
    m.to_leaving()
    waiter = d.publish("p", b"1")
    assert len(m.new.take(PublishSeen)) == 1
    d.end(m.new)
    d.say(m.old, numbered("a", 5, 1, 1))
    m.old.take()
    m.drain()
    # The client comes back: subscribes again, and sends unconfirmed events again.
    seen = m.old.take()
    assert [type(f) for f in seen] == [Subscribe, ChangeBusFailed, PublishSeen]
    assert seen[2].sequence == 1
    d.say(m.old, confirm_publish("p", 1), confirm_subscribe(m.sub.id), numbered("a", 5, 2, 2))
    assert waiter.result.sequence == 1
    assert d.numbers(m.sub) == [1, 2]
    assert not m.sub.ended
    assert d.machine.state is State.CONNECTED


@pytest.mark.parametrize("step", ["subscribing", "flushing", "leaving"])
def test_the_client_moves_at_once_when_the_old_bus_is_lost(step: str) -> None:
    m = Move("a")
    d = m.d
    waiter = d.publish("p", b"1")
    m.welcome()
    if step != "subscribing":
        m.confirm()
    if step == "leaving":
        d.say(m.old, m.old.take(Barrier)[0].frame())
    d.say(m.new, numbered("a", 5, 1, 1))
    d.end(m.old)
    m.assert_moved()
    assert d.of(Disconnected) == []
    [again] = m.new.take(PublishSeen)
    assert (again.sequence, again.payloads) == (1, [b"1"])
    d.say(m.new, confirm_publish("p", 1), numbered("a", 5, 2, 2))
    assert waiter.result.sequence == 1
    assert d.numbers(m.sub) == [1, 2]


def test_the_client_reconnects_when_both_buses_are_lost() -> None:
    m = Move("a")
    d = m.d
    m.to_leaving()
    d.end(m.new)
    d.end(m.old, 1001, "bye")
    assert d.of(Disconnected) == [Disconnected(1001, "bye", True)]
    s = d.reconnect()
    assert [f.filter for f in s.take(Subscribe)] == ["a"]
    d.say(s, numbered("a", 5, 1, 1))
    assert d.numbers(m.sub) == [1]


def test_the_client_reconnects_when_the_old_bus_is_lost_before_the_new_one_answers() -> None:
    m = Move("a")
    d = m.d
    d.end(m.old, 4000, "ws://two/bus")
    assert m.new.aborted
    assert d.machine.state is State.RECONNECTING
    s = d.reconnect()
    hello = s.take(Hello)[0]
    assert (hello.change, hello.previous) == (None, "s")


def test_a_refused_barrier_is_sent_again_and_publishing_continues_meanwhile() -> None:
    m = Move("a")
    d = m.d
    barrier = m.to_flushing()
    d.publish("p", b"1")
    assert m.old.take(PublishSeen) == []
    d.say(m.old, problem(BusCode.OVERLOADED, Barrier.CODE, barrier.id, retryable=True))
    assert len(m.old.take(PublishSeen)) == 1
    d.advance(0.15)
    [again] = m.old.take(Barrier)
    assert again.id != barrier.id
    d.say(m.old, again.frame())
    m.drain()
    m.assert_moved()


def test_an_old_bus_that_does_not_drain_is_left_in_time() -> None:
    m = Move("a")
    d = m.d
    m.to_leaving()
    d.say(m.new, numbered("a", 5, 1, 1))
    d.advance(31)
    m.assert_moved()
    assert d.numbers(m.sub) == [1]


def test_a_stalled_application_gets_more_time() -> None:
    d = Driver(receive_bytes=1024)
    s = d.connect()
    sub = d.subscribed(s, "a")
    d.say(s, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, bus="bus-2")
    d.say(new, confirm_subscribe(sub.id))
    d.say(s, s.take(Barrier)[0].frame(), numbered("a", 5, 1, 300))
    for _ in range(4):
        d.advance(15)
        d.machine.heard(s.link, d.now)
        d.machine.heard(new.link, d.now)
    assert d.machine.moves.move is not None
    d.taken(sub)
    d.advance(2)
    assert d.machine.moves.move is None
    assert d.machine.current is new.link


def test_calls_during_a_move_are_sent_at_its_end() -> None:
    m = Move("a", "b")
    d = m.d
    m.welcome()
    late = d.subscribe("c")
    d.machine.registry.unsubscribe(m.subs[1], d.now)
    d.pump()
    assert m.old.take(Subscribe, Unsubscribe) == []
    m.confirm()
    d.say(m.old, m.old.take(Barrier)[0].frame())
    m.drain()
    m.assert_moved()
    assert [(f.filter) for f in m.new.take(Subscribe)][-1] == "c"
    assert m.new.take(Unsubscribe) == [Unsubscribe(m.subs[1].id)]
    d.say(m.new, confirm_subscribe(late.id), drained(m.subs[1].id))
    assert late.confirmed
    assert m.subs[1].ended


def test_calls_during_a_failed_move_are_sent_to_the_old_bus() -> None:
    m = Move("a")
    d = m.d
    m.welcome()
    d.subscribe("c")
    d.end(m.new)
    assert [f.filter for f in m.old.take(Subscribe)] == ["c"]


def test_a_subscription_ending_before_a_move_is_not_moved() -> None:
    d = Driver()
    s = d.connect()
    going, staying = d.subscribed(s, "a"), d.subscribed(s, "b")
    d.machine.registry.unsubscribe(going, d.now)
    d.say(s, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, bus="bus-2")
    assert [f.filter for f in new.take(Subscribe)] == ["b"]
    d.say(new, confirm_subscribe(staying.id))
    d.say(s, s.take(Barrier)[0].frame(), drained(staying.id))
    assert d.machine.moves.move is not None
    d.say(s, drained(going.id))
    assert going.ended
    assert not staying.ended
    assert d.machine.current is new.link


def test_the_next_move_begins_at_the_end_of_this_one() -> None:
    m = Move("a")
    d = m.d
    m.to_leaving()
    d.say(m.new, change_bus("ws://three/bus", token="next"))
    m.drain()
    assert d.sockets[-1].link.url == "ws://three/bus"
    assert d.sockets[-1].link.move_token == "next"


def test_a_second_request_of_the_old_bus_is_refused() -> None:
    m = Move("a")
    m.d.say(m.old, change_bus("ws://three/bus", token="other"))
    [told] = m.old.take(ChangeBusFailed)
    assert told.token == "other"
    assert "under way" in told.message


def test_moves_per_minute_are_bounded() -> None:
    d = Driver()
    s = d.connect()
    for _ in range(8):
        d.say(s, change_bus("ws://two/bus"))
        d.end(d.sockets[-1])
    s.take()
    d.say(s, change_bus("ws://two/bus"))
    assert "8 times" in s.take(ChangeBusFailed)[0].message
    d.advance(61)
    d.machine.heard(s.link, d.now)
    d.say(s, change_bus("ws://two/bus"))
    assert s.take(ChangeBusFailed) == []


def test_close_during_a_move_leaves_nothing() -> None:
    m = Move("a")
    m.to_flushing()
    m.d.machine.close(m.d.now)
    m.d.pump()
    assert m.new.link.over
    assert m.old.closed is not None
    assert m.d.machine.wake_at() is None


def test_a_new_connection_is_watched() -> None:
    m = Move("a")
    m.to_leaving()
    sockets: list[Socket] = [m.new]
    m.drain()
    m.d.advance(41)
    assert sockets[0].pings == 1
    assert m.new.aborted
    assert m.d.machine.state is State.RECONNECTING


def test_the_table_is_complete() -> None:
    for (phase, _), (action, _) in TABLE.items():
        assert phase not in (Phase.MOVED, Phase.OVER)
        assert action is None or callable(getattr(BusMove, "_" + action))
    assert {what for _, what in TABLE} == set(MoveEvent)
    assert {phase for phase, _ in TABLE} | {Phase.MOVED, Phase.OVER} == set(Phase)
