"""Ends of programs with the synchronous client: their events, and warnings about them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import PublishSeen
from loopback import Bus, in_thread

from eventbus import Invocation, State, TimedOut
from eventbus.sync import EventBus, connect

SOURCE = Path(__file__).parents[1] / "src"


@pytest.fixture
def bus() -> Iterator[Bus]:
    with in_thread() as found:
        yield found


def program(bus: Bus, text: str) -> subprocess.CompletedProcess[str]:
    """Runs a program with the ``url`` of the bus."""
    head = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); url = {bus.url!r}\n"
    return subprocess.run(
        [sys.executable, "-W", "default::ResourceWarning", "-c", head + text],
        capture_output=True,
        text=True,
        timeout=60,
    )


def arrived(bus: Bus) -> int:
    return sum(len(p.payloads) for p in bus.of(PublishSeen))


def test_a_script_without_close_delivers_its_events(bus: Bus) -> None:
    done = program(
        bus,
        "from eventbus.sync import connect\n"
        "bus = connect(url, proxy=None)\n"
        "for i in range(20_000): assert bus.send('a', b'%d' % i)\n",
    )
    assert (done.returncode, arrived(bus)) == (0, 20_000)
    assert "ResourceWarning: EventBus(name='python-client', state=CONNECTED) was not closed" in done.stderr


def test_a_garbage_client_delivers_its_events(bus: Bus) -> None:
    done = program(
        bus,
        "from eventbus.sync import connect\n"
        "def work():\n"
        "    bus = connect(url, proxy=None)\n"
        "    for i in range(1000): assert bus.send('a', b'%d' % i)\n"
        "work()\n",
    )
    assert (done.returncode, arrived(bus)) == (0, 1000)
    # A warning when it is garbage collected, and another at the end.
    assert "ResourceWarning: eventbus.sync.EventBus(" in done.stderr
    assert "ResourceWarning: EventBus(" in done.stderr


def test_a_script_that_cannot_deliver_prints_how_many(bus: Bus) -> None:
    bus.confirms = False
    done = program(
        bus,
        "from eventbus.sync import connect\n"
        "bus = connect(url, proxy=None, close_timeout=0.2, reconnect=False)\n"
        "bus._inner._machine.outbox.pause()\n"  # nothing goes out
        "for i in range(70): assert bus.send('a', b'%d' % i)\n",
    )
    assert arrived(bus) == 0
    assert "Dropped(events=70" in done.stderr
    assert "not all that it sent was confirmed" in done.stderr


def test_an_open_client_of_asyncio_prints_how_many_may_be_lost(bus: Bus) -> None:
    done = program(
        bus,
        "import asyncio, eventbus\n"
        "async def main():\n"
        "    bus = await eventbus.connect(url, proxy=None)\n"
        "    for i in range(7): bus.send('a', b'')\n"
        "asyncio.run(main())\n",
    )
    assert "ResourceWarning" in done.stderr
    assert "7 events that it has published may be lost" in done.stderr


def test_a_stuck_handler_does_not_keep_a_program_from_ending(bus: Bus) -> None:
    done = program(
        bus,
        "import threading\n"
        "from eventbus.sync import connect\n"
        "begun = threading.Event()\n"
        "def stuck(_):\n"
        "    begun.set()\n"
        "    threading.Event().wait()\n"
        "with connect(url, proxy=None, close_timeout=0.1) as bus:\n"
        "    bus.serve('orders', stuck)\n"
        "    asked = bus.submit('orders')\n"
        "    begun.wait()\n"
        "    raise KeyboardInterrupt\n",
    )
    assert "KeyboardInterrupt" in done.stderr


def test_an_interrupt_does_not_wait_for_confirmations(bus: Bus) -> None:
    with pytest.raises(KeyboardInterrupt), connect(bus.url, proxy=None, close_timeout=3600) as client:
        bus.confirms = False
        asyncio.run_coroutine_threadsafe(client._inner.publish("a", b""), client._portal.loop)
        bus.wait(lambda: bus.of(PublishSeen))
        raise KeyboardInterrupt
    assert client.state is State.CLOSED


def test_an_interrupt_does_not_wait_for_handlers(bus: Bus) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def handler(_: Invocation) -> bytes:
        begun.set()
        go_on.wait(30)
        return b""

    with connect(bus.url, proxy=None) as client:
        service = client.serve("orders", handler)
        asked = client.submit("orders")
        with pytest.raises(KeyboardInterrupt), service:
            assert begun.wait(10)
            raise KeyboardInterrupt
        go_on.set()
        asked.result(10)


def held(client: EventBus, work: Callable[[], Any]) -> Any:
    """Does something while the loop's thread is blocked."""
    go_on = threading.Event()
    client._portal.loop.call_soon_threadsafe(go_on.wait)
    try:
        return work()
    finally:
        go_on.set()


def test_headers_and_keys_count_in_the_buffer(bus: Bus) -> None:
    with connect(bus.url, proxy=None, outbound_bytes=100_000) as client:
        headers = {f"h{i}": "x" * 1000 for i in range(15)}

        def fill() -> int:
            taken = 0
            while client.send("a", b"", key="k" * 100, headers=headers):
                taken += 1
            assert 90_000 < client.counters().buffered_bytes <= 100_000
            return taken

        assert held(client, fill) == 6


def test_flush_and_publish_keep_their_timeouts_with_a_full_buffer(bus: Bus) -> None:
    with connect(bus.url, proxy=None, outbound_bytes=4096, close_timeout=0.1) as client:
        bus.confirms = False
        inner = client._inner

        def fill() -> None:
            for _ in range(3):
                waiter = inner._loop.create_future()
                waiter.add_done_callback(lambda f: f.exception())
                assert inner._outbox.add("a", b"x" * 1000, waiter=waiter, now=inner._loop.time())

        def send() -> None:
            client._portal.loop.call_soon_threadsafe(fill)
            for _ in range(3):
                assert client.send("a", b"y" * 1000)

        held(client, send)
        with pytest.raises(TimedOut, match=r"flush did not end within 0.05 s"):
            client.flush(timeout=0.05)
        with pytest.raises(TimedOut, match=r"publish did not end within 0.05 s"):
            client.publish("a", b"", timeout=0.05)


def test_publish_withdraws_unsent_events(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        part, stay = client._inner._outbox.pause, client._inner._outbox.resume
        client._portal.loop.call_soon_threadsafe(part)
        with pytest.raises(TimedOut, match="withdrawn"):
            client.publish("a", b"1", timeout=0.05)
        client._portal.loop.call_soon_threadsafe(stay)
        assert client.publish("a", b"2").sequence == 1
    assert [p.payloads for p in bus.of(PublishSeen)] == [[b"2"]]
