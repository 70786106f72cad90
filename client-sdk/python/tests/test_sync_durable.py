"""Consumers of durable topics without await."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fakes import stored
from loopback import Bus, in_thread

from eventbus import Closed, Refused, Start, TimedOut, Truncated
from eventbus._sync import durable
from eventbus._wire.durable_frames import Consume, Settle
from eventbus._wire.records import Unsubscribe
from eventbus.sync import DurableSubscription, connect


@pytest.fixture
def bus() -> Iterator[Bus]:
    with in_thread() as found:
        found.durable = True
        yield found


def wait(bus: Bus, work: Coroutine[Any, Any, None]) -> None:
    asyncio.run_coroutine_threadsafe(work, bus.loop).result(10)


def settled(bus: Bus) -> int:
    return max((f.up_to for f in bus.of(Settle)), default=0)


def test_an_event_is_settled_when_the_next_one_is_requested(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "NOTE_INTERVAL", 0)
    with connect(bus.url, proxy=None) as client:
        with client.durable("billing", "a.>", start=Start.FIRST, timeout=5) as billing:
            assert isinstance(billing, DurableSubscription)
            wait(bus, bus.feed(1, 201, stored(1, *[b"%d" % n for n in range(1, 201)]), head=300))
            got = []
            for event in billing:
                got.append(int(event.text()))
                assert billing.position == event.position - 1
                if event.position == 200:
                    break
            assert got == list(range(1, 201))
            bus.wait(lambda: settled(bus) == 199)
            assert (billing.name, billing.filter) == ("billing", "a.>")
            billing.settle()
            billing.settle()
            assert (billing.position, billing.lag()) == (201, 99)
            assert billing.counters().received == client.counters().received == 200
            with pytest.raises(TimedOut, match=r"no event of a\.> within"):
                billing.get(0.01)
            wait(bus, bus.feed(202, 203, stored(202, b"y", b"z")))
            assert billing.get(5).text() == "y"
            assert billing.get(5).text() == "z"
        assert settled(bus) == 202  # the last one was not handled
        assert [type(f) for f in bus.seen[-2:]] == [Settle, Unsubscribe]
        assert list(billing) == []
        with pytest.raises(Closed):
            billing.get()


def test_a_slow_loop_settles_between_its_events(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "NOTE_INTERVAL", 0)
    with connect(bus.url, proxy=None) as client, client.durable("billing") as billing:
        wait(bus, bus.feed(1, 3, stored(1, b"x", b"y", b"z")))
        for event in billing:
            bus.wait(lambda seen=event.position: settled(bus) == seen - 1)  # type: ignore[misc]
            if event.position == 3:
                break


def test_a_loop_that_was_left_begins_with_the_same_event(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client, client.replay(start=Start.FIRST) as replay:
        wait(bus, bus.feed(1, 3, stored(1, b"x", b"y", b"z")))
        for event in replay.events(5):
            if event.text() == "z":
                break
        assert next(replay.events(5)).text() == "z"
        assert bus.of(Settle) == []
        assert replay.position == 2


def test_a_call_that_was_interrupted_loses_nothing(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client, client.durable("billing") as billing:
        wait(bus, bus.feed(1, 2, stored(1, b"x", b"y")))
        # The loop's thread has read them, but the thread of the application has not got them.
        client._portal.call(billing._read(0, 5))
        assert [billing.get(5).text() for _ in range(2)] == ["x", "y"]
        billing.settle()
        bus.wait(lambda: settled(bus) == 2)


@pytest.mark.parametrize("again", [True, False])
def test_what_another_consumer_has_settled_is_not_handed_over(bus: Bus, again: bool) -> None:
    with connect(bus.url, proxy=None) as client, client.durable("billing") as billing:
        # More than is read at once.
        wait(bus, bus.feed(1, 200, stored(1, *[b"x"] * 200)))
        assert billing.get(5).position == 1
        bus.loop.call_soon_threadsafe(bus.connections[-1].transport.abort)
        bus.wait(lambda: len(bus.of(Consume)) == 2)
        wait(bus, bus.feed(101, 100))
        wait(bus, bus.feed(201, 201, stored(201, b"x")))
        bus.wait(lambda: billing.lag() == 101)
        got = [next(iter(billing)).position if again else billing.get(5).position]
        got += [billing.get(5).position for _ in range(100)]
        assert got == list(range(101, 202))
        billing.settle()
        bus.wait(lambda: settled(bus) == 201)
        # An event that was left does not count.
        assert billing.counters().received == (101 if again else 102)
        assert billing.counters().buffered_bytes == 0


def test_what_does_not_come_is_told_at_its_place(bus: Bus) -> None:
    told: list[Truncated] = []

    def on_truncated(truncated: Truncated) -> None:
        told.append(truncated)
        if len(told) == 1:
            raise LookupError

    with connect(bus.url, proxy=None) as client, client.latest(on_truncated=on_truncated) as latest:
        assert bus.of(Consume)[0].start.name == "LATEST_VALUES"
        wait(bus, bus.feed(1, 1, stored(1, b"x")))
        wait(bus, bus.truncate(2, 4))
        wait(bus, bus.feed(5, 5, stored(5, b"y")))
        assert latest.get(5).text() == "x"
        with pytest.raises(LookupError):
            latest.get(5)
        assert latest.get(5).text() == "y"
        assert [t.first for t in told] == [2, 2]


def test_the_end_of_a_consumer_raises(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        with pytest.raises(Refused, match="not this"):
            client.durable("billing", bus.forbidden)
        billing = client.durable("billing")
        wait(bus, bus.feed(1, 1, stored(1, b"x"), id=2))
        assert billing.get(5).text() == "x"
    assert list(billing) == []
    assert settled(bus) == 0


def test_a_consumer_that_is_garbage_is_ended(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        client.durable("billing")
        bus.wait(lambda: bus.of(Unsubscribe))


def test_a_loop_counts_nothing_of_a_deleted_journal(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "NOTE_INTERVAL", 0)
    with connect(bus.url, proxy=None) as client, client.durable("billing") as billing:
        wait(bus, bus.feed(1, 3, stored(1, b"a", b"b", b"c")))
        assert billing.get(5).text() == "a"
        wait(bus, bus.create_again())
        wait(bus, bus.feed(1, 3, stored(1, b"x", b"y", b"z")))
        bus.wait(lambda: billing.lag() == 3)
        assert billing.position == 0
        assert billing.get(5).text() == "x"
        assert billing.position == 0
        assert billing.get(5).text() == "y"
        assert billing.position == 1
        wait(bus, bus.create_again())
        wait(bus, bus.feed(1, 1, stored(1, b"new")))
        bus.wait(lambda: billing.lag() == 1)
        # A settlement without another event is of the deleted one, too.
        billing.settle()
        assert billing.position == 0
        assert billing.get(5).text() == "new"
        billing.settle()
        bus.wait(lambda: settled(bus) == 1)
        assert billing.position == 1


def test_a_reader_that_waits_begins_in_the_journal_that_was_created_again(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client, client.durable("billing") as billing, ThreadPoolExecutor() as pool:
        wait(bus, bus.feed(1, 3, stored(1, b"a", b"b", b"c")))
        assert [billing.get(5).text() for _ in range(3)] == ["a", "b", "c"]
        waiting = pool.submit(billing.get, 5)
        bus.wait(lambda: settled(bus) == 3)
        wait(bus, bus.create_again())
        wait(bus, bus.feed(1, 1, stored(1, b"x")))
        assert waiting.result(10).text() == "x"
        assert billing.position == 0
