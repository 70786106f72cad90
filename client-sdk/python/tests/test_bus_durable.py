"""Durable topics of a bus of the jar in EVENTBUS_JAR, which is killed and started again; skipped without."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import JAR, Process, free_ports, resume_key

import eventbus
from eventbus import Start
from eventbus.sync import connect as connect_sync

pytestmark = pytest.mark.skipif(not JAR, reason="EVENTBUS_JAR names no bus")

RECONNECT = eventbus.Reconnect(initial_delay=0.02, max_delay=0.2)


def start(directory: Path, port: int = 0) -> Process:
    found = Process(
        directory,
        "admin.enabled=false",
        resume_key(directory),
        f"durable.directory={directory / 'data'}",
        "durable.journals=orders orders.>, jobs jobs.>, prices prices.> keep=latest",
        port=port,
    )
    try:
        found.ready()
    except BaseException:
        found.stop()
        raise
    return found


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    found = start(tmp_path_factory.mktemp("durable"))
    yield found
    found.stop()


async def take(consumer: eventbus.DurableSubscription, up_to: int) -> list[tuple[int, str, str]]:
    """Takes and settles the events up to a position."""
    events: list[tuple[int, str, str]] = []
    while not events or events[-1][0] < up_to:
        event = await consumer.get(120)
        events.append((event.position, event.topic, event.text()))
    consumer.settle()
    return events


def test_every_start(bus: Process) -> None:
    async def main() -> None:
        async with eventbus.connect(bus.url) as client:
            began = time.time()
            first = await client.publish("orders.1", "a", expected=0)
            assert (first.position, first.repeated, first.receivers) == (1, False, None)
            with pytest.raises(eventbus.Refused) as refused:
                await client.publish("orders.1", "x", expected=0)
            assert refused.value.bus_code is eventbus.BusCode.EXPECTATION_FAILED
            assert (await client.publish("orders.1", "b", expected=1)).position == 2
            # In one frame, in the middle of which a replay begins.
            more = await asyncio.gather(*(client.publish("orders.2", text) for text in "cde"))
            assert [p.position for p in more] == [3, 4, 5]
            stored = [(i + 1, "orders.1" if i < 2 else "orders.2", text) for i, text in enumerate("abcde")]

            async def read(start: Start, filter: str = "orders.>") -> list[tuple[int, str, str]]:
                async with client.replay(filter, start=start) as consumer:
                    return await take(consumer, 5)

            assert await read(Start.FIRST) == stored
            assert await read(Start.position(4)) == stored[3:]
            assert await read(Start.position(2), "orders.2") == stored[2:]
            assert await read(Start.time(int((began - 60) * 1e6))) == stored
            async with client.replay("orders.>", start=Start.NEW) as fresh:
                await client.publish("orders.3", "f")
                assert await take(fresh, 6) == [(6, "orders.3", "f")]

    asyncio.run(main())


def test_latest_values(bus: Process) -> None:
    async def main() -> None:
        async with eventbus.connect(bus.url) as client:
            for topic, price in (("prices.a", "1"), ("prices.a", "2"), ("prices.b", "3")):
                await client.publish(topic, price)
            async with client.latest("prices.>") as prices:
                assert await take(prices, 3) == [(2, "prices.a", "2"), (3, "prices.b", "3")]
                await client.publish("prices.a", "4")
                assert await take(prices, 4) == [(4, "prices.a", "4")]

    asyncio.run(main())


def test_workers_share_the_events(bus: Process) -> None:
    async def main() -> None:
        taken: list[tuple[str, str, int]] = []
        settled = asyncio.Event()

        def handler(name: str) -> Callable[[eventbus.Event, eventbus.WorkDelivery], object]:
            async def handle(job: eventbus.Event, delivery: eventbus.WorkDelivery) -> None:
                taken.append((name, job.text(), delivery.attempt))
                if job.text() == "bad":
                    delivery.reject("bad")
                elif job.text() == "again" and delivery.attempt == 1:
                    delivery.retry(0)
                elif job.text() == "fails" and delivery.attempt == 1:
                    raise LookupError("gone")
                else:
                    await delivery.done_confirmed()
                if len(taken) == 106:
                    settled.set()

            return handle

        async with eventbus.connect(bus.url) as one, eventbus.connect(bus.url) as two:
            one.on_worker_error(print)
            two.on_worker_error(print)
            for text in ("bad", "again", "fails", "left", *map(str, range(100))):
                await one.publish("jobs.1", text)
            # This worker takes an event, and ends before the settlement.
            async with eventbus.connect(bus.url) as gone, gone.work("work", "jobs.>", start=Start.FIRST) as worker:
                delivery = await worker.get(120)
                assert (delivery.event.text(), delivery.attempt) == ("bad", 1)
            workers = [
                await client.work("work", "jobs.>", handler=handler(name), concurrency=2, max_unsettled=4)
                for name, client in (("one", one), ("two", two))
            ]
            await settled.wait()
            assert all([await client.close() for client in (one, two)])
            texts = [text for _, text, _ in taken]
            assert sorted(texts) == sorted(["bad", "again", "again", "fails", "fails", "left", *map(str, range(100))])
            # What was given back does not count as a delivery.
            assert {attempt for _, text, attempt in taken if text not in ("again", "fails")} == {1}
            assert {name for name, _, _ in taken} == {"one", "two"}
            counters = [worker.counters() for worker in workers]
            assert [sum(c.done for c in counters), sum(c.retried for c in counters)] == [103, 2]
            assert [(c.late, c.buffered_bytes) for c in counters] == [(0, 0), (0, 0)]
        # Nothing is left for another worker.
        async with eventbus.connect(bus.url) as last, last.work("work", "jobs.>") as worker:
            await last.publish("jobs.1", "new")
            assert (await worker.get(120)).event.text() == "new"

    asyncio.run(asyncio.wait_for(main(), 240))


def test_a_bus_that_was_killed(tmp_path: Path) -> None:
    [port] = free_ports(1)
    running = start(tmp_path, port)
    buses = [running]

    async def main() -> None:
        async def publish(by: eventbus.EventBus, first: int, last: int) -> list[eventbus.Published]:
            return await asyncio.gather(
                *(by.publish("orders.1", str(n), producer="shop-outbox", number=n) for n in range(first, last + 1))
            )

        def stored(first: int, last: int) -> list[tuple[int, str, str]]:
            return [(n, "orders.1", str(n)) for n in range(first, last + 1)]

        handled: list[int] = []
        is_handled, down = asyncio.Event(), asyncio.Event()

        def handle(event: eventbus.Event) -> None:
            handled.append(event.position)
            if event.position == 40:
                is_handled.set()

        async with eventbus.connect(running.url, reconnect=RECONNECT, confirm_timeout=120) as client:
            client.on_disconnected(lambda _: down.set())
            await client.durable("billing", "orders.>", start=Start.FIRST, handler=handle)
            assert [p.position for p in await publish(client, 1, 20)] == list(range(1, 21))
            waiting = asyncio.create_task(publish(client, 21, 40))
            await asyncio.sleep(0)
            await asyncio.to_thread(running.stop)
            await down.wait()
            buses[0] = await asyncio.to_thread(start, tmp_path, port)
            assert [p.position for p in await waiting] == list(range(21, 41))
            await is_handled.wait()
            assert handled == list(range(1, 41))

        # Another program goes on where this one has ended, and publishes again what it cannot know to be stored.
        async with eventbus.connect(buses[0].url) as client, eventbus.connect(buses[0].url) as other:
            again = await publish(client, 1, 41)
            assert [p.repeated for p in again] == [n <= 40 for n in range(1, 42)]
            # Of older events a bus need not know the position any more.
            assert all(p.position == n or (p.position == 0 and n <= 40) for n, p in enumerate(again, 1))
            active = await client.durable("billing", "orders.>")
            assert await take(active, 41) == stored(41, 41)
            standing = await other.durable("billing", "orders.>")
            await publish(client, 42, 42)
            assert await take(active, 42) == stored(42, 42)
            await active.unsubscribe()
            await publish(client, 43, 43)
            assert await take(standing, 43) == stored(43, 43)
            async with other.replay("orders.>", start=Start.FIRST) as everything:
                assert await take(everything, 43) == stored(1, 43)

    try:
        asyncio.run(asyncio.wait_for(main(), 240))
        with connect_sync(buses[0].url) as client:
            assert client.publish("orders.1", "44", expected=43).position == 44
            with client.durable("billing", "orders.>") as billing:
                assert billing.get(120).position == 44
    finally:
        buses[0].stop()
