"""Compares this SDK with nats-py, each with its own server on loopback, publisher and subscriber as processes.

    python bench/bench.py --jar eventbus.jar --nats-server nats-server [--events 300000] [--rounds 5] [--only receive,send]

Needs this package, nats-py and aiohttp (for its WebSocket transport). Prints a table of medians: CPU of the process a event by
``time.process_time``, and the measured rate. Rates depend on the load of the machine, CPU does so less. Only figures
of one run can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

PAYLOAD = b"x" * 128
TOPIC = "bench.events"
#: Maximum of events that the publisher is ahead of the subscriber.
WINDOW = 64_000
CHUNK = 1_000
WARM_UP = 20_000
Result = tuple[float, float]  # CPU seconds, seconds


class Clock:
    """CPU and time since the first event after the warm-up."""

    def __init__(self) -> None:
        self.cpu = time.process_time()
        self.time = time.perf_counter()

    def result(self) -> Result:
        return time.process_time() - self.cpu, time.perf_counter() - self.time


class Counter:
    """Counts received events, and reports the count to the publisher."""

    def __init__(self, total: int, progress: Any) -> None:
        self.total, self.progress, self.got, self.told = total, progress, 0, 0
        self.clock = Clock()
        self.done = asyncio.Event()

    def add(self, n: int) -> None:
        before = self.got
        self.got += n
        if before < WARM_UP <= self.got:
            self.clock = Clock()
        if self.got - self.told >= CHUNK:
            self.told = self.got
            self.progress.value = self.got
        if self.got >= self.total:
            self.done.set()


async def ahead(sent: int, progress: Any) -> None:
    while sent - progress.value > WINDOW:
        await asyncio.sleep(0.001)


# ---- Common part: ``payload`` takes the payload of an event, ``chunk`` publishes as many events.


async def iterate(events: AsyncIterator[Any], payload: Callable[[Any], object], counter: Counter) -> None:
    async for event in events:
        payload(event)
        counter.add(1)
        if counter.got >= counter.total:
            break


async def publish_all(total: int, progress: Any, chunk: Callable[[int], Awaitable[None]], flush: Any) -> Result:
    clock = Clock()
    for sent in range(CHUNK, total + CHUNK, CHUNK):
        await chunk(CHUNK)
        if sent == WARM_UP:
            clock = Clock()
        await asyncio.sleep(0)
        if sent - progress.value > WINDOW:
            await ahead(sent, progress)
    await flush()
    return clock.result()


async def paced(total: int, chunk: Callable[[int], Awaitable[None]]) -> Result:
    """Publishes 2,000 single events per second."""
    loop = asyncio.get_running_loop()
    clock, start = Clock(), loop.time()
    for i in range(total):
        while (wait := start + i / 2000 - loop.time()) > 0:
            await asyncio.sleep(wait)
        await chunk(1)
    return clock.result()


# ---- This SDK


async def our_subscriber(how: str, url: str, total: int, progress: Any, ready: Callable[[], None]) -> Result:
    import eventbus

    async with eventbus.connect(url, name="bench-subscriber") as bus:
        counter = Counter(total, progress)

        def handler(event: eventbus.Event) -> None:
            event.payload
            counter.add(1)

        async with bus.subscribe("bench.>", handler=handler if how == "handler" else None) as events:
            ready()
            if how == "handler":
                await counter.done.wait()
            elif how == "iterator":
                await iterate(aiter(events), attrgetter("payload"), counter)
            else:
                async for batch in events.batches():
                    for event in batch:
                        event.payload
                    counter.add(len(batch))
                    if counter.got >= total:
                        break
        return counter.clock.result()


def our_sync_subscriber(url: str, total: int, progress: Any, ready: Callable[[], None]) -> Result:
    from eventbus.sync import connect

    with connect(url, name="bench-subscriber") as bus, bus.subscribe("bench.>") as events:
        counter = Counter(total, progress)
        ready()
        for batch in events.batches():
            for event in batch:
                event.payload
            counter.add(len(batch))
            if counter.got >= total:
                break
        return counter.clock.result()


async def our_publisher(how: str, url: str, total: int, progress: Any, ready: Callable[[], None]) -> Result:
    import eventbus

    async with eventbus.connect(url, name="bench-publisher") as bus:
        ready()
        if how == "confirmed":
            left = iter(range(total))

            async def worker() -> None:
                for _ in left:
                    await bus.publish(TOPIC, PAYLOAD)

            clock = Clock()
            await asyncio.gather(*(worker() for _ in range(1000)))
            return clock.result()

        async def chunk(n: int) -> None:
            for _ in range(n):
                while not bus.send(TOPIC, PAYLOAD):
                    await bus.room()

        return await (paced(total, chunk) if how == "single" else publish_all(total, progress, chunk, bus.flush))


# ---- nats-py


async def nats_subscriber(how: str, url: str, total: int, progress: Any, ready: Callable[[], None]) -> Result:
    import nats

    client = await nats.connect(url)
    counter = Counter(total, progress)

    async def handler(message: Any) -> None:
        message.data
        counter.add(1)

    limits = {"pending_msgs_limit": 1 << 22, "pending_bytes_limit": 1 << 31}
    events = await client.subscribe("bench.>", cb=handler if how == "handler" else None, **limits)
    await client.flush()
    ready()
    await (counter.done.wait() if how == "handler" else iterate(events.messages, attrgetter("data"), counter))
    result = counter.clock.result()
    await client.close()
    return result


async def nats_publisher(how: str, url: str, total: int, progress: Any, ready: Callable[[], None]) -> Result:
    import nats

    client = await nats.connect(url)
    ready()

    async def chunk(n: int) -> None:
        for _ in range(n):
            await client.publish(TOPIC, PAYLOAD)

    result = await (paced(total, chunk) if how == "single" else publish_all(total, progress, chunk, client.flush))
    await client.close()
    return result


# ---- Runs

SUBSCRIBERS: dict[str, Callable[..., Any]] = {"ours": our_subscriber, "nats": nats_subscriber}
PUBLISHERS: dict[str, Callable[..., Any]] = {"ours": our_publisher, "nats": nats_publisher}


def child(side: str, library: str, how: str, url: str, total: int, progress: Any, pipe: Any) -> None:
    def ready() -> None:
        pipe.send("ready")
        pipe.recv()

    if side == "subscriber" and how == "sync":
        pipe.send(our_sync_subscriber(url, total, progress, ready))
    else:
        table = SUBSCRIBERS if side == "subscriber" else PUBLISHERS
        pipe.send(asyncio.run(table[library](how, url, total, progress, ready)))


def run(library: str, url: str, receive: str, publish: str, total: int) -> tuple[Result, Result]:
    """Runs a subscriber and a publisher; returns what each measured."""
    context = multiprocessing.get_context("spawn")
    progress = context.Value("q", 0, lock=False)
    started = []
    for side, how in (("subscriber", receive), ("publisher", publish)):
        mine, theirs = context.Pipe()
        process = context.Process(target=child, args=(side, library, how, url, total, progress, theirs), daemon=True)
        process.start()
        if not mine.poll(30) or mine.recv() != "ready":
            raise RuntimeError(f"{library} {side} {how}: not ready within 30 s")
        started.append((process, mine))
    for _, pipe in started:
        pipe.send("go")
    results = []
    for process, pipe in started:
        if not pipe.poll(180):
            raise RuntimeError(f"{library} {receive} {publish}: not done within 180 s")
        results.append(pipe.recv())
        process.join(10)
    return results[0], results[1]


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


@contextlib.contextmanager
def servers(jar: str, nats_server: str) -> Iterator[dict[str, tuple[str, str]]]:
    """Starts a bus and a nats-server; yields library and address by name."""
    with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
        directory = Path(work)
        (directory / "key").write_bytes(bytes(range(32)))
        (directory / "key").chmod(0o600)

        def start(*command: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                command, cwd=work, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, errors="replace"
            )
            stack.callback(process.wait, 20)
            stack.callback(process.terminate)
            return process

        def await_line(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
            assert process.stderr is not None
            for line in process.stderr:
                found = re.search(pattern, line)
                if found:
                    threading.Thread(target=process.stderr.read, daemon=True).start()
                    return found
            raise RuntimeError(f"no line with {pattern!r}")

        bus = start(
            "java", "-Xmx512m", "-jar", jar, "serve", "--host", "127.0.0.1", "--port", "0", "--set", "admin.enabled=false",
            "--set", f"auth.resume-key-file={directory / 'key'}",
        )  # fmt: skip
        address = await_line(bus, r"listens on (ws:[^, ]*)")[1]
        tcp, ws = free_port(), free_port()
        (directory / "nats.conf").write_text(
            f"host: 127.0.0.1\nport: {tcp}\nwebsocket {{ host: 127.0.0.1, port: {ws}, no_tls: true }}\n"
        )
        await_line(start(nats_server, "-c", str(directory / "nats.conf")), "Server is ready")
        yield {
            "ours": ("ours", address),
            "nats-py": ("nats", f"nats://127.0.0.1:{tcp}"),
            "nats-py ws": ("nats", f"ws://127.0.0.1:{ws}"),
        }


#: Name, way of receiving, way of publishing, measured side, libraries, factor of the number of events.
CASES: list[tuple[str, str, str, int, tuple[str, ...], float]] = [
    ("receive, handler", "handler", "send", 0, ("ours", "nats-py", "nats-py ws"), 1),
    ("receive, batches", "batches", "send", 0, ("ours",), 1),
    ("receive, async for", "iterator", "send", 0, ("ours", "nats-py", "nats-py ws"), 1),
    ("receive, sync batches", "sync", "send", 0, ("ours",), 1),
    ("send", "handler", "send", 1, ("ours", "nats-py", "nats-py ws"), 1),
    ("publish confirmed, 1,000 in flight", "handler", "confirmed", 1, ("ours",), 0.3),
    ("single, 2,000/s, receive", "handler", "single", 0, ("ours", "nats-py", "nats-py ws"), 0),
    ("single, 2,000/s, send", "handler", "single", 1, ("ours", "nats-py", "nats-py ws"), 0),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", required=True, help="the bus, eventbus.jar")
    parser.add_argument("--nats-server", default="nats-server")
    parser.add_argument("--events", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="parts of the names of cases, with commas")
    options = parser.parse_args()
    only = [part for part in options.only.split(",") if part]
    cases = [case for case in CASES if not only or any(part in case[0] for part in only)]
    print(f"{'128 B, one to one':<36} {'library':<11} {'CPU µs/event':>12} {'events/s':>10} {'CPU of ours':>12}")
    with servers(options.jar, options.nats_server) as addresses:
        for name, receive, publish, side, libraries, factor in cases:
            total = int(options.events * factor) if factor else WARM_UP + 10_000
            measured = total if publish == "confirmed" else total - WARM_UP
            found: dict[str, list[Result]] = {library: [] for library in libraries}
            for _ in range(options.rounds):
                for library in libraries:
                    kind, url = addresses[library]
                    found[library].append(run(kind, url, receive, publish, total)[side])
            ours = 0.0
            for library, results in found.items():
                # Paced events have no warm-up at the publisher.
                n = total if publish == "single" and side == 1 else measured
                cpu = statistics.median(r[0] for r in results) / n * 1e6
                rate = n / statistics.median(r[1] for r in results)
                ours = cpu if library == "ours" else ours
                print(f"{name:<36} {library:<11} {cpu:>12.2f} {rate:>10,.0f} {cpu / ours:>11.1f}x", flush=True)


if __name__ == "__main__":
    sys.exit(main())
