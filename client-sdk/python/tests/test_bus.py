"""The client against buses of the jar in EVENTBUS_JAR; skipped without."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import JAR, Process, free_ports, resume_key

import eventbus
from eventbus import BusChanged, Event, Gap, Overflow
from eventbus.sync import connect as connect_sync

pytestmark = pytest.mark.skipif(not JAR, reason="EVENTBUS_JAR names no bus")


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    directory = tmp_path_factory.mktemp("bus")
    found = Process(
        directory,
        "admin.enabled=false",
        resume_key(directory),
        "limits.message-bytes=131072",
        "limits.payload-bytes=65536",
        "limits.queue-bytes=262144",
    )
    try:
        found.ready()
        yield found
    finally:
        found.stop()


def test_services(bus: Process) -> None:
    async def main() -> None:
        go_on = asyncio.Event()

        async def total(invocation: eventbus.Invocation) -> str:
            if invocation.method == "slow":
                await go_on.wait()
            if invocation.method == "refuse":
                raise eventbus.Rejected.refused("not now")
            return f"{invocation.method} {invocation.event.text()} {invocation.caller}"

        async with (
            eventbus.connect(bus.url) as client,
            eventbus.connect(bus.url) as other,
            eventbus.connect(bus.url) as asks,
        ):
            assert asks.connection is not None
            async with (
                client.serve("orders", total, concurrency=4),
                other.serve("orders", total, concurrency=4) as second,
            ):
                async with asyncio.TaskGroup() as group:
                    asked = [group.create_task(asks.request("orders", str(i), method="m")) for i in range(500)]
                assert {t.result().text() for t in asked} == {f"m {i} {asks.connection.producer}" for i in range(500)}
                assert len({t.result().member for t in asked}) == 2
                with pytest.raises(eventbus.Rejected, match="not now") as refused:
                    await asks.request("orders", method="refuse")
                assert refused.value.executed is eventbus.Execution.NO
                with pytest.raises(eventbus.DeadlineExceeded) as late:
                    await asks.request("orders", method="slow", timeout=0.1)
                assert late.value.executed is eventbus.Execution.UNKNOWN
                with pytest.raises(eventbus.TooBig):
                    await asks.request("orders", b"x" * 70_000)
                go_on.set()
                second.pause()
                await asks.request("orders", "x")
            with pytest.raises(eventbus.NoMember):
                await asks.request("orders")

    asyncio.run(main())
    with connect_sync(bus.url) as client, client.serve("sums", lambda i: str(sum(i.event.json()))):
        assert client.request("sums", "[1, 2, 3]").text() == "6"


def test_all_events_arrive_once_and_in_order(bus: Process) -> None:
    async def main() -> None:
        async with eventbus.connect(bus.url) as client, eventbus.connect(bus.url) as other:
            got: dict[str, list[int]] = {"handler": [], "g1": [], "g2": []}
            await client.subscribe("n.*", handler=lambda e: got["handler"].append(int(e.text())))
            await client.subscribe("n.>", group="g", handler=lambda e: got["g1"].append(int(e.text())))
            await other.subscribe("n.>", group="g", handler=lambda e: got["g2"].append(int(e.text())))
            batches = await client.subscribe("n.a")
            for i in range(5000):
                while not other.send("n.a", b"%d" % i):
                    await other.room()
                if i % 100 == 0:
                    await other.publish("n.b", b"%d" % (5000 + i), key="k", headers={"a": "ü"})
            await other.flush()
            count = 0
            async for batch in batches.batches():
                assert [int(e.text()) for e in batch] == list(range(count, count + len(batch)))
                count += len(batch)
                if count == 5000:
                    break
            assert await client.close()
            assert await other.close()
            assert sorted(got["handler"]) == sorted(got["g1"] + got["g2"])
            assert len(got["handler"]) == 5050

    asyncio.run(main())


def test_a_lost_connection(bus: Process) -> None:
    async def main() -> None:
        async with eventbus.connect(bus.url, reconnect=eventbus.Reconnect(initial_delay=0.01)) as client:
            sub = await client.subscribe("l")
            tasks = []
            for i in range(300):
                tasks.append(asyncio.ensure_future(client.publish("l", b"%d" % i)))
                await asyncio.sleep(0)
                if i % 100 == 50:
                    for wire in client._driver._sockets.values():
                        if wire._ws is not None:
                            wire._ws.transport.abort()
            assert [p.sequence for p in await asyncio.gather(*tasks)] == list(range(1, 301))
            assert client.counters().reconnects >= 1
            seen: list[int] = []
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    async for event in sub:
                        seen.append(event.sequence)
            assert seen == sorted(set(seen))

    asyncio.run(main())


def test_the_policy_acts_for_a_stalled_client(bus: Process) -> None:
    async def main() -> None:
        gaps: list[Gap] = []
        async with eventbus.connect(bus.url, receive_bytes=65_536) as slow, eventbus.connect(bus.url) as fast:
            slow.on_gap(gaps.append)
            sub = await slow.subscribe("p", overflow=Overflow.DROP_OLDEST)
            for _ in range(2000):
                await fast.publish("p", b"x" * 1000)
            # Answers are not stalled.
            await slow.flush(5)
            await slow.subscribe("other")
            assert slow.counters().queued_bytes < 65_536 + 70_000
            got = 0
            async for event in sub:
                got += 1
                if event.sequence == 2000:
                    break
            assert got + sum(g.count for g in gaps) == 2000
            assert got < 1000

    asyncio.run(main())


def test_the_synchronous_client_works(bus: Process) -> None:
    with connect_sync(bus.url) as client, client.subscribe("s.>") as sub:
        for i in range(3000):
            while not client.send("s.a", b"%d" % i):
                client.room(5)
        got: list[Event] = []
        for batch in sub.batches(timeout=10):
            got += batch
            if len(got) == 3000:
                break
        assert [int(e.text()) for e in got] == list(range(3000))


def test_draining_a_bus_loses_nothing(tmp_path: Path) -> None:
    first, second, admin = free_ports(3)
    both = f"127.0.0.1:{first},127.0.0.1:{second}"
    common = (
        f"cluster.join={both}",
        "cluster.secret=only-for-this-test-0123456789",
        "cluster.voters=1",
        "cluster.host=127.0.0.1",
    )
    buses = []
    for name, port in (("a", first), ("b", second)):
        directory = tmp_path / name
        directory.mkdir()
        admins = f"admin.port={admin}" if name == "a" else "admin.enabled=false"
        where = (f"bus.name={name}", f"cluster.directory={directory / 'registry'}", f"cluster.port={port}", admins)
        buses.append(Process(directory, *common, *where))
    try:
        for process in buses:
            process.ready()
        asyncio.run(drained(buses[0].url, admin))
    finally:
        for process in buses:
            process.stop()


async def drained(url: str, admin: int) -> None:
    import urllib.request

    def drain() -> None:
        request = urllib.request.Request(f"http://127.0.0.1:{admin}/api/v1/drains/a", method="PUT")
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert answer.status < 300

    moved: list[BusChanged] = []
    plain: list[int] = []
    grouped: list[int] = []
    async with eventbus.connect(url) as publisher, eventbus.connect(url) as subscriber:
        publisher.on_bus_changed(moved.append)
        subscriber.on_bus_changed(moved.append)
        await subscriber.subscribe("d.>", handler=lambda e: plain.append(int(e.text())))
        await subscriber.subscribe("d.>", group="g", handler=lambda e: grouped.append(int(e.text())))
        drain_task: asyncio.Future[None] | None = None
        n = 0
        async with asyncio.timeout(60):
            while len(moved) < 2 or n % 200:
                await publisher.publish("d.x", b"%d" % n)
                n += 1
                if n == 200:
                    drain_task = asyncio.ensure_future(asyncio.to_thread(drain))
            assert drain_task is not None
            await drain_task
            while len(plain) < n or len(grouped) < n:
                await asyncio.sleep(0.01)
        assert plain == list(range(n))
        assert grouped == list(range(n))
        assert [m.now.bus for m in moved] == ["b", "b"]
        assert publisher.counters().bus_changes == subscriber.counters().bus_changes == 1
        assert subscriber.counters().missing == 0
