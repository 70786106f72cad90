"""Workers without await."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
from loopback import Bus, in_thread

from eventbus import Closed, Event, Refused, Start, TimedOut, WorkerCounters
from eventbus._wire.durable_frames import Consume, ConsumeMode, Settle, SettleOutcome
from eventbus._wire.records import Unsubscribe
from eventbus.sync import WorkDelivery, Worker, connect


@pytest.fixture
def bus() -> Iterator[Bus]:
    with in_thread() as found:
        found.durable = True
        yield found


def wait(bus: Bus, work: Coroutine[Any, Any, None]) -> None:
    asyncio.run_coroutine_threadsafe(work, bus.loop).result(10)


def settled(bus: Bus, *outcomes: SettleOutcome) -> list[int]:
    """Returns the positions of settlements, in order; by default of those that are done."""
    wanted = outcomes or (SettleOutcome.DONE,)
    return sorted(p for f in bus.of(Settle) if f.outcome in wanted for p in range(f.first, f.up_to + 1))


def test_what_is_iterated_over_is_settled_by_the_application_alone(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        with client.work("billing", "a.>", start=Start.FIRST, max_unsettled=5, timeout=5) as billing:
            assert isinstance(billing, Worker)
            assert (billing.name, billing.filter) == ("billing", "a.>")
            assert [(f.mode, f.max_events) for f in bus.of(Consume)] == [(ConsumeMode.SHARED, 5)]
            with pytest.raises(TimedOut, match=r"no event of a\.> within 0 s"):
                billing.get(0)
            wait(bus, bus.give(1, b"done", b"nothing", b"retry", b"reject", b"release", b"waits", attempt=2))
            for delivery in billing:
                assert delivery.attempt == 2
                match delivery.event.text():
                    case "done":
                        delivery.done()
                    case "retry":
                        delivery.retry(1.5)
                    case "reject":
                        delivery.reject("bad")
                    case "release":
                        delivery.release()
                        break
                # The first one counts.
                if delivery.event.text() != "nothing":
                    delivery.done()
            bus.wait(lambda: len(bus.of(Settle)) == 4)
            assert [(f.first, f.outcome.name, f.delay_millis, f.reason) for f in bus.of(Settle)] == [
                (1, "DONE", -1, ""),
                (3, "RETRY", 1500, ""),
                (4, "REJECT", -1, "bad"),
                (5, "RELEASE", -1, ""),
            ]
        # The rest goes to another worker at the end.
        assert settled(bus, SettleOutcome.RELEASE) == [2, 5, 6]
        assert list(billing) == []
        with pytest.raises(Closed):
            billing.get()
        assert billing.counters() == WorkerCounters(5, 1, 1, 1, 0, 0, 0)


def test_arguments_are_checked_where_they_are_given(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client, client.work("billing") as billing:
        wait(bus, bus.give(1, b"x"))
        delivery = billing.get(5)
        with pytest.raises(ValueError, match="delay"):
            delivery.retry(-1)
        with pytest.raises(TypeError, match="reason: None"):
            delivery.reject(None)  # type: ignore[arg-type]
        delivery.extend()
        delivery.done()
        bus.wait(lambda: settled(bus) == [1])


def test_a_settlement_with_an_answer(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client, client.work("billing") as billing:
        wait(bus, bus.give(1, b"a", b"b"))
        billing.get(5).done_confirmed()
        assert settled(bus) == [1]
        second = billing.get(5)
        second.done()
        with pytest.raises(RuntimeError, match="position 2 is settled already"):
            second.done_confirmed()


def test_handlers_run_in_threads(bus: Bus) -> None:
    both = threading.Barrier(2)
    threads: set[threading.Thread] = set()

    def handle(event: Event, delivery: WorkDelivery) -> None:
        threads.add(threading.current_thread())
        both.wait(10)
        if event.text() == "c":
            delivery.reject("bad")
        if event.text() == "d":
            raise LookupError("gone")

    with connect(bus.url, proxy=None) as client:
        client.on_worker_error(lambda _: None)
        with client.work("billing", handler=handle, concurrency=2) as billing:
            wait(bus, bus.give(1, b"a", b"b", b"c", b"d"))
            bus.wait(lambda: len(bus.of(Settle)) == 3)
        assert settled(bus) == [1, 2]
        assert [f.reason for f in bus.of(Settle) if f.outcome is SettleOutcome.RETRY] == ["LookupError: gone"]
        assert settled(bus, SettleOutcome.REJECT) == [3]
        assert billing.counters() == WorkerCounters(4, 2, 1, 1, 0, 1, 0)
        assert len(threads) == 2
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()


def test_closing_finishes_the_handlers_and_settles(bus: Bus) -> None:
    begun = threading.Event()

    with connect(bus.url, proxy=None) as client:

        def handle(event: Event, delivery: WorkDelivery) -> None:
            begun.set()
            # It can still publish.
            client.publish("b", event.payload, timeout=5)

        client.work("billing", handler=handle)
        wait(bus, bus.give(1, b"x", b"y"))
        assert begun.wait(10)
        assert client.close()
    assert (settled(bus), settled(bus, SettleOutcome.RELEASE)) == ([1], [2])


def test_the_end_of_a_worker_raises(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        with pytest.raises(Refused, match="not this"):
            client.work("billing", bus.forbidden)
        billing = client.work("billing")
        waiting: list[object] = []
        reader = threading.Thread(target=lambda: waiting.extend(billing))
        reader.start()
        billing.unsubscribe()
        reader.join(10)
        assert not reader.is_alive()
        assert waiting == []


def test_a_worker_that_is_garbage_is_ended(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        client.work("billing")
        bus.wait(lambda: bus.of(Unsubscribe))
