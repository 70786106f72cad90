"""Subscriptions that come and go leave nothing behind, and cost only the topics that they concern."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import Driver, confirm_subscribe, drained, numbered

from eventbus._base.timers import Timers
from eventbus._inbound import subscription_state
from eventbus._inbound.subscription_state import SubscriptionState


def test_subscriptions_that_come_and_go_leave_no_timers() -> None:
    d = Driver()
    socket = d.connect()
    for _ in range(3000):
        sub = d.subscribed(socket, "a")
        d.machine.registry.unsubscribe(sub, d.now)
        d.pump()
        d.say(socket, drained(sub.id))
    assert len(d.machine.timers._heap) < 200


def test_cancelled_timers_are_removed() -> None:
    timers = Timers()
    ran: list[float] = []
    kept = [timers.at(float(n), ran.append) for n in range(10)]
    for n in range(10_000):
        timers.at(1000.0 + n, ran.append).cancel()
        assert len(timers._heap) < 200
    kept[3].cancel()
    kept[3].cancel()
    timers.run(9.0)
    assert ran == [9.0] * 9
    kept[0].cancel()
    assert timers.wake_at() is None


def test_a_change_is_matched_only_for_its_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    d = Driver()
    socket = d.connect()
    matched: list[str] = []

    def counting(name: str) -> Any:
        def matches(topic: str) -> bool:
            matched.append(name)
            return topic == name or name == ">"

        return matches

    monkeypatch.setattr(subscription_state, "matcher", counting)
    subs = [d.subscribed(socket, f"t{n}") for n in range(200)]
    d.subscribed(socket, ">")
    for n in range(200):
        d.say(socket, numbered(f"t{n}", 5, 1, 1))
    assert len(matched) <= 200 * 3
    matched.clear()
    # A subscription to one topic comes and goes: no other topic is matched again.
    own = d.subscribed(socket, "t7")
    for n in range(200):
        d.say(socket, numbered(f"t{n}", 5, 2, 2))
    assert matched == []
    assert d.numbers(own) == [2]
    d.say(socket, drained(own.id))
    # A subscription with a wildcard: each topic is matched against it.
    wild = d.subscribed(socket, ">")
    for n in range(200):
        d.say(socket, numbered(f"t{n}", 5, 3, 3))
    assert set(matched) == {">"}
    assert len(matched) <= 200 * 2
    assert [d.numbers(s) for s in subs] == [[1, 2, 3]] * 200
    assert len(d.numbers(wild)) == 200


def test_routes_are_right_after_any_changes() -> None:
    d = Driver()
    socket = d.connect()
    filters = ["a.b", "a.*", "a.>", ">", "*.b", "c", "a.c"]
    live: list[SubscriptionState] = []
    number = 0
    for step in range(4000):
        if step % 3 and len(live) > 3:
            gone = live.pop((step * 7) % len(live))
            d.machine.registry.unsubscribe(gone, d.now)
            d.say(socket, drained(gone.id))
        else:
            sub = d.subscribe(filters[(step * 5) % 7], "g" if step % 11 == 0 else None)
            d.say(socket, confirm_subscribe(sub.id))
            live.append(sub)
        if step % 13 == 0:
            number += 1
            wanted = [s for s in live if s.matches("a.b")]
            groups = tuple(s.id for s in wanted if s.group)
            d.say(socket, numbered("a.b", 5, number, number, groups))
            assert [s.id for s in live if [e.topic for e in d.taken(s)] == ["a.b"]] == [s.id for s in wanted]
