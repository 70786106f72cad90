"""Gaps, and interruptions by lost connections, are reported to each subscription at their place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fakes import NANOS, Driver, FakeWaiter, confirm_publish, confirm_subscribe, gap, numbered
from loopback import Bus, in_thread
from test_aio import connect, run
from test_bus_move import Move

from eventbus import Event, Gap, GapReason, Interruption, Published
from eventbus._connection.bus_move import OVERTAKE_TIMEOUT
from eventbus._inbound.subscription_state import SubscriptionState
from eventbus._wire.records import PUBLISH, Confirm
from eventbus.sync import connect as connect_sync


def shape(items: list[Any]) -> list[Any]:
    """Returns events as their numbers, gaps as their ends, interruptions as their name."""
    return [
        item.sequence
        if isinstance(item, Event)
        else (item.first, item.last)
        if isinstance(item, Gap)
        else "interruption"
        for item in items
    ]


def micros(d: Driver) -> int:
    return (NANOS + int(d.now * 1e9)) // 1000


# ---- The core


def test_a_lost_connection_is_an_interruption_of_each_subscription() -> None:
    d = Driver()
    socket = d.connect()
    plain, member = d.subscribed(socket, "a.>"), d.subscribed(socket, "a.>", "g")
    d.subscribe("never.confirmed")
    d.say(socket, numbered("a.1", 5, 1, 1))
    start = micros(d)
    d.end(socket)
    again = d.reconnect()
    # A new topic: no number tells that something is missing.
    d.say(again, numbered("a.2", 5, 7, 7))
    d.advance(0.5)
    d.say(again, confirm_subscribe(plain.id), numbered("a.2", 5, 8, 8))
    told = Interruption("a.>", None, start, micros(d))
    d.advance(0.25)
    d.say(again, confirm_subscribe(member.id))
    assert d.of(Interruption) == [told, Interruption("a.>", "g", start, micros(d))]
    assert shape(d.everything(plain)) == [1, 7, "interruption", 8]
    assert shape(d.everything(member)) == ["interruption"]
    assert (plain.interruptions, member.interruptions) == (1, 1)
    assert d.machine.counters().interruptions == 2


def test_a_connection_that_is_lost_again_before_the_confirmation_is_one_interruption() -> None:
    d = Driver()
    socket = d.connect()
    sub = d.subscribed(socket, "a")
    start = micros(d)
    d.end(socket)
    d.end(d.reconnect())
    again = d.reconnect()
    d.say(again, confirm_subscribe(sub.id))
    assert d.of(Interruption) == [Interruption("a", None, start, micros(d))]
    d.say(again, confirm_subscribe(sub.id))
    assert len(d.of(Interruption)) == 1


def test_a_planned_move_is_no_interruption() -> None:
    m = Move("a")
    m.to_leaving()
    m.drain()
    m.assert_moved()
    assert m.d.of(Interruption) == []


def test_a_move_whose_old_connection_is_lost_is_an_interruption() -> None:
    m = Move("a", "b")
    m.welcome()
    m.d.say(m.new, confirm_subscribe(m.subs[0].id))
    m.d.end(m.old)
    assert [i.filter for i in m.d.of(Interruption)] == ["a"]
    m.d.say(m.new, confirm_subscribe(m.subs[1].id))
    assert [i.filter for i in m.d.of(Interruption)] == ["a", "b"]


def test_an_old_bus_that_does_not_drain_in_time_is_an_interruption() -> None:
    m = Move("a")
    m.to_leaving()
    m.d.advance(31)
    m.assert_moved()
    assert [i.filter for i in m.d.of(Interruption)] == ["a"]


def test_a_move_whose_new_connection_is_lost_after_the_old_one_was_left_is_an_interruption() -> None:
    m = Move("a")
    m.to_leaving()
    start = micros(m.d)
    m.d.end(m.new)
    m.drain()
    assert m.d.of(Interruption) == []
    m.d.say(m.old, confirm_subscribe(m.sub.id))
    assert m.d.of(Interruption) == [Interruption("a", None, start, micros(m.d))]


def test_a_move_that_failed_and_became_a_reconnect_is_an_interruption() -> None:
    m = Move("a")
    m.to_flushing()
    m.d.end(m.new)
    assert m.d.of(Interruption) == []
    m.d.end(m.old)
    again = m.d.reconnect()
    m.d.say(again, confirm_subscribe(m.sub.id))
    assert [i.filter for i in m.d.of(Interruption)] == ["a"]


def test_what_a_lost_new_bus_had_for_a_group_is_an_interruption_of_the_group() -> None:
    m = Move("a", group="g")
    m.to_flushing()
    m.d.end(m.new)
    m.assert_stayed("")
    assert [(i.filter, i.group) for i in m.d.of(Interruption)] == [(">", "g")]
    assert OVERTAKE_TIMEOUT > 0


def test_gaps_are_reported_at_their_place() -> None:
    d = Driver()
    socket = d.connect()
    sub, other = d.subscribed(socket, "a"), d.subscribed(socket, "b")
    d.say(socket, numbered("a", 5, 1, 2), numbered("a", 5, 5, 5), gap("a", 5, 6, 7), numbered("a", 5, 8, 8))
    found = d.everything(sub)
    assert shape(found) == [1, 2, (3, 4), 5, (6, 7), 8]
    assert [g.reason for g in found if isinstance(g, Gap)] == [GapReason.LOST, GapReason.QUEUE_FULL]
    assert d.everything(other) == []
    assert d.machine.dispatcher.bytes == d.machine.dispatcher.blocking_bytes == 0


def test_drops_of_a_group_are_reported_to_its_member() -> None:
    d = Driver()
    socket = d.connect()
    member = d.subscribed(socket, "a", "g")
    d.say(socket, numbered("a", 5, 1, 1, (member.id,)), gap("a", 5, 2, 3), numbered("a", 5, 9, 9, (member.id,)))
    assert shape(d.everything(member)) == [1, (2, 3), 9]
    assert member.missing == 2


def test_marks_without_a_callback_take_no_room() -> None:
    d = Driver()
    socket = d.connect()
    sub = SubscriptionState(d.machine.registry.next_id(), "a", None, 0)  # type: ignore[arg-type]
    sub.ready.append(FakeWaiter())
    d.machine.registry.begin(sub, d.now)
    d.say(socket, confirm_subscribe(sub.id), numbered("a", 5, 1, 1), gap("a", 5, 2, 3))
    assert shape(d.everything(sub)) == [1]
    assert len(d.of(Gap)) == 1


def test_a_confirmation_has_the_number_of_receivers() -> None:
    d = Driver()
    socket = d.connect()
    first, second = d.publish("a", b"1"), d.publish("a", b"2")
    d.say(socket, Confirm(PUBLISH, 1, "a", 3).frame(), confirm_publish("a", 2))
    assert first.result == Published("a", 77, 1, 3)
    assert second.result == Published("a", 77, 2, None)
    third = d.publish("a", b"3")
    d.say(socket, Confirm(PUBLISH, 3, "a", 0).frame())
    assert third.result.receivers == 0


# ---- Both variants of the client


async def lose(bus: Bus) -> None:
    """Cuts the connection with a gap in the numbers of a, and sends more when the client is back."""
    before = len(bus.connections)
    bus.connections[-1].transport.abort()
    await bus.until(lambda: len(bus.connections) > before and bus.subscriptions.get(bus.connections[-1]))
    await bus.connections[-1].send(numbered("a", 5, 4, 5))


WANTED = [1, "interruption", (2, 3), 4, 5]


def test_losses_are_reported_between_calls_of_the_handler_and_callbacks_are_awaited() -> None:
    async def test(bus: Bus) -> None:
        found: list[Any] = []
        wide: list[Any] = []

        async def later(what: Any) -> None:
            await asyncio.sleep(0)
            found.append(what)

        async with connect(bus) as client:
            client.on_gap(wide.append)
            client.on_interruption(wide.append)
            sub = await client.subscribe("a", handler=found.append, on_gap=later, on_interruption=later)
            await bus.connections[0].send(numbered("a", 5, 1, 1))
            await bus.until(lambda: found)
            await lose(bus)
            await bus.until(lambda: len(found) == 5)
            assert shape(found) == WANTED
            assert shape(wide) == ["interruption", (2, 3)]
            assert sub.counters().interruptions == client.counters().interruptions == 1

    run(test)


@pytest.mark.parametrize("way", ["events", "batches", "get"])
def test_losses_are_reported_when_a_reader_passes_their_place(way: str) -> None:
    async def test(bus: Bus) -> None:
        found: list[Any] = []

        def fails(what: Any) -> None:
            found.append(what)
            raise ValueError("is logged")

        async with connect(bus) as client:
            sub = await client.subscribe("a", on_gap=fails, on_interruption=found.append)
            await bus.connections[0].send(numbered("a", 5, 1, 1))
            await bus.until(lambda: sub.counters().received == 1)
            await lose(bus)
            await bus.until(lambda: sub.counters().received == 3)
            assert found == []
            if way == "events":
                async for event in sub:
                    found.append(event)
                    if event.sequence == 5:
                        break
            elif way == "batches":
                async for batch in sub.batches():
                    found += batch
                    if batch[-1].sequence == 5:
                        break
            else:
                found += [await sub.get(5)]
                while found[-1].sequence != 5:
                    found.append(await sub.get(5))
            assert shape(found) == WANTED

    run(test)


@pytest.fixture
def bus() -> Iterator[Bus]:
    with in_thread() as found:
        yield found


@pytest.mark.parametrize("way", ["events", "batches", "get"])
def test_losses_are_reported_in_the_reading_thread_of_the_synchronous_client(bus: Bus, way: str) -> None:
    found: list[Any] = []
    with connect_sync(bus.url, proxy=None) as client:
        sub = client.subscribe("a", on_gap=found.append, on_interruption=found.append)
        asyncio.run_coroutine_threadsafe(bus.connections[0].send(numbered("a", 5, 1, 1)), bus.loop).result(5)
        bus.wait(lambda: sub.counters().received == 1)
        asyncio.run_coroutine_threadsafe(lose(bus), bus.loop).result(10)
        bus.wait(lambda: sub.counters().received == 3)
        assert found == []
        while not found or not isinstance(found[-1], Event) or found[-1].sequence != 5:
            if way == "events":
                found.append(next(sub.events(5)))
            elif way == "batches":
                found += next(sub.batches(timeout=5))
            else:
                found.append(sub.get(5))
        assert shape(found) == WANTED


@pytest.mark.parametrize("listens", [False, True])
def test_losses_are_logged_without_a_listener(caplog: pytest.LogCaptureFixture, listens: bool) -> None:
    async def test(bus: Bus) -> None:
        heard: list[Any] = []
        ways: dict[str, Any] = {"on_gap": heard.append, "on_interruption": heard.append} if listens else {}
        async with connect(bus) as client:
            sub = await client.subscribe("a", **ways)
            await bus.connections[0].send(numbered("a", 5, 1, 1))
            await bus.until(lambda: sub.counters().received == 1)
            await lose(bus)
            await bus.until(lambda: sub.counters().received == 3)

    with caplog.at_level(logging.WARNING, "eventbus"):
        run(test)
    assert ("Interruption(" in caplog.text, "Gap(" in caplog.text) == (not listens, not listens)
