"""Durable topics of three buses of the jar in EVENTBUS_JAR, of which the one is killed that the client is connected to."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import JAR, Process, free_ports

import eventbus
from eventbus import Start

pytestmark = pytest.mark.skipif(not JAR, reason="EVENTBUS_JAR names no bus")

COUNT = 300


def ask(admin: int, method: str, path: str) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{admin}/api/v1{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def create_journal(admin: int) -> None:
    end = time.monotonic() + 120
    # The first journal needs every bus.
    while sum(bus["state"] == "UP" for bus in json.loads(ask(admin, "GET", "/buses")[1])["items"]) < 3:
        assert time.monotonic() < end
        time.sleep(0.1)
    # While the replicas are not ready, the same is asked for again.
    while (answer := ask(admin, "PUT", "/journals/orders?filters=orders.%3E"))[0] != 200:
        assert answer[0] in (409, 503, 504) and time.monotonic() < end, answer
        time.sleep(0.1)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[list[Process], int]]:
    """Yields the buses, and the administration port of the first one."""
    *links, admin = free_ports(4)
    key = tmp_path / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    found: list[Process] = []
    try:
        for name, link in zip("abc", links, strict=True):
            found.append(
                Process(
                    tmp_path,
                    f"bus.name={name}",
                    f"durable.directory={tmp_path / name}",
                    f"cluster.port={link}",
                    "cluster.host=127.0.0.1",
                    f"cluster.join={','.join(f'127.0.0.1:{each}' for each in links)}",
                    # Buses of a cluster know each other's resumes.
                    f"auth.resume-key-file={key}",
                    "balance.enabled=false",
                    # For the time of the lease the others wait for the consumers of a bus that has ended.
                    "cluster.lease=4s",
                    f"admin.port={admin}" if name == "a" else "admin.enabled=false",
                )
            )
        for process in found:
            process.ready()
        create_journal(admin)
        yield found, admin
    finally:
        for process in found:
            process.stop()


def test_a_client_whose_bus_is_killed_and_that_moves(cluster: tuple[list[Process], int]) -> None:
    buses, admin = cluster

    async def main() -> None:
        handled: list[tuple[int, str]] = []
        read: list[tuple[int, str]] = []
        worked: list[str] = []
        kill, all_handled, all_worked = asyncio.Event(), asyncio.Event(), asyncio.Event()
        moved: list[eventbus.BusChanged] = []

        def handle(event: eventbus.Event) -> None:
            handled.append((event.position, event.text()))
            if event.position == COUNT // 3:
                kill.set()
            if event.position == COUNT:
                all_handled.set()

        async def work(event: eventbus.Event, delivery: eventbus.WorkDelivery) -> None:
            worked.append(event.text())
            if len(set(worked)) >= COUNT:
                all_worked.set()
            # Whether the bus has stored it is not known if the bus is killed.
            with contextlib.suppress(eventbus.ConnectionLost):
                await delivery.done_confirmed()

        async def kill_bus() -> None:
            await kill.wait()
            await asyncio.to_thread(buses[2].kill)

        reconnect = eventbus.Reconnect(initial_delay=0.02, max_delay=0.2)
        async with eventbus.connect(
            [b.url for b in reversed(buses)], reconnect=reconnect, confirm_timeout=120
        ) as client:
            assert client.connection is not None
            assert client.connection.bus == "c"
            await client.durable("billing", "orders.>", start=Start.FIRST, handler=handle)
            # Few at once, so that the bus is killed while it has some.
            await client.work("share", "orders.>", start=Start.FIRST, handler=work, concurrency=4, max_unsettled=8)
            replay = await client.replay("orders.>", start=Start.FIRST)

            async def read_all() -> None:
                while not read or read[-1][0] < COUNT:
                    event = await replay.get(120)
                    read.append((event.position, event.text()))

            async with asyncio.TaskGroup() as group:
                group.create_task(kill_bus())
                group.create_task(read_all())
                stored: list[eventbus.Published] = []
                for first in range(1, COUNT + 1, 10):
                    batch = (client.publish("orders.1", str(n)) for n in range(first, first + 10))
                    stored += await asyncio.gather(*batch)
            await all_handled.wait()
            # What the killed bus had given, and nobody has begun with, comes again.
            await all_worked.wait()
            assert client.connection.bus != "c"
            # Of a frame that was sent again, and had been stored, only the last event is told its position.
            told = [n if p.repeated and p.position == 0 else p.position for n, p in enumerate(stored, 1)]
            assert told == list(range(1, COUNT + 1))
            expected = [(n, str(n)) for n in range(1, COUNT + 1)]
            assert handled == expected
            assert read == expected

            # In a move what no handler has goes back, and what they have is settled at the old bus: nothing comes twice.
            client.on_bus_changed(moved.append)
            drained = asyncio.ensure_future(asyncio.to_thread(ask, admin, "PUT", f"/drains/{client.connection.bus}"))
            more = [f"more {n}" for n in range(COUNT)]
            for text in more:
                await client.publish("orders.1", text)
            while not moved or not set(more) <= set(worked):
                await asyncio.sleep(0.01)
            assert (await drained)[0] < 300
            assert sorted(text for text in worked if text in more) == sorted(more)
            assert [m.now.bus for m in moved] == [client.connection.bus]

    asyncio.run(asyncio.wait_for(main(), 240))
