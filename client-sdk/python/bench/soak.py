"""Runs a publisher and a subscriber for a long time at three buses that are restarted and drained, and measures their
memory.

    python bench/soak.py --jar eventbus.jar [--minutes 60] [--restart-every 60] [--drain-every 45] [--kill]

The clients are testees of the conformance kit (conformance/adapter.md has their protocol), by default this SDK's; ``--testee
"node testee.js"`` runs another one. Needs Python only. Prints a line every ``--report`` seconds and the sum at the end, and ends
with 1 where a confirmed event was lost, doubled or put out of order. With ``--kill`` buses get no time to deliver
confirmed events: lost ones are counted and shown, and are no failure.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import itertools
import json
import secrets
import shlex
import signal
import socket
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

TOPICS = 4
#: Maximum of outstanding confirmations.
WINDOW = 500
START = 60.0
#: Seconds at the end for events under way.
REST = 30.0


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


class Bus:
    """A bus of the cluster, restarted at the same address."""

    def __init__(self, jar: str, name: str, directory: Path, ports: list[int], shared: list[str], join: int) -> None:
        port, self.admin, self.cluster = ports
        self.name, self.url = name, f"ws://127.0.0.1:{port}/bus"
        settings = [
            *shared, f"bus.name={name}", "listen.host=127.0.0.1", f"listen.port={port}", f"admin.port={self.admin}",
            "cluster.host=127.0.0.1", f"cluster.port={self.cluster}", f"cluster.directory={directory / name}",
        ]  # fmt: skip
        if join:
            settings.append(f"cluster.join=127.0.0.1:{join}")
        self._command = ["java", "-Xmx256m", "-jar", jar, "serve"]
        self._command += [word for setting in settings for word in ("--set", setting)]
        self._log = directory / f"{name}.log"
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(*self._command, stdout=log, stderr=log)
        end = time.monotonic() + START
        while not await self._is_ready():
            if time.monotonic() > end or self.process.returncode is not None:
                raise RuntimeError(f"{self.name} does not start: {self._log.read_text(errors='replace')[-2000:]}")
            await asyncio.sleep(0.1)

    async def _is_ready(self) -> bool:
        with contextlib.suppress(OSError):
            await self.call("GET", "/readyz")
            return True
        return False

    async def stop(self, how: signal.Signals) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(how)
            await self.process.wait()

    async def call(self, method: str, path: str) -> None:
        """Sends a request to the administration port. Raises OSError."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.admin}{path}", method=method)
        answer = await asyncio.to_thread(urllib.request.urlopen, request, timeout=5)
        answer.close()


class Testee:
    """A client in a process of its own."""

    def __init__(self, command: str, told: Callable[[dict[str, Any]], None]) -> None:
        self._command = shlex.split(command)
        self._told = told
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.process: asyncio.subprocess.Process

    async def start(self) -> None:
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe, limit=1 << 24)
        self._reader = asyncio.create_task(self._read())
        await self.ask("hello", protocol=1)

    async def _read(self) -> None:
        assert self.process.stdout is not None
        async for raw in self.process.stdout:
            line = json.loads(raw)
            if "id" in line:
                self._answers.pop(line["id"]).set_result(line)
            else:
                self._told(line)
        for answer in self._answers.values():
            answer.set_exception(RuntimeError("the testee has ended"))

    def begin(self, op: str, **args: Any) -> asyncio.Future[dict[str, Any]]:
        """Sends a request; the answer comes later."""
        assert self.process.stdin is not None
        id_ = next(self._ids)
        answer = self._answers[id_] = asyncio.get_running_loop().create_future()
        self.process.stdin.write(json.dumps({"id": id_, "op": op, "on": "c", "args": args}).encode() + b"\n")
        return answer

    async def ask(self, op: str, **args: Any) -> dict[str, Any]:
        line = await self.begin(op, **args)
        if "ok" not in line:
            raise RuntimeError(f"{op}: {line}")
        ok: dict[str, Any] = line["ok"]
        return ok

    async def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), 10)
        except TimeoutError:
            self.process.kill()
        await self._reader


class Stream:
    """Events of one producer and topic: received ones, and confirmed ones that are still missing."""

    def __init__(self) -> None:
        self.next = 1
        self.holes: set[int] = set()
        self.awaited: set[int] = set()

    def came(self, sequence: int) -> str:
        self.awaited.discard(sequence)
        if sequence >= self.next:
            self.holes.update(range(self.next, sequence))
            self.next = sequence + 1
            return "in order"
        if sequence in self.holes:
            self.holes.remove(sequence)
            return "late"
        return "doubled"

    def confirmed(self, sequence: int) -> None:
        if sequence >= self.next or sequence in self.holes:
            self.awaited.add(sequence)


class Soak:
    """Publishes, and records received events."""

    def __init__(self, options: argparse.Namespace, buses: list[Bus]) -> None:
        self._options = options
        self.buses = buses
        self.streams: dict[tuple[str, str], Stream] = {}
        self.published = self.confirmed = self.failed = 0
        self.came = {"in order": 0, "late": 0, "doubled": 0}
        self.gaps = 0
        self.faults: list[str] = []
        self.errors: dict[str, int] = {}
        self.rss: list[tuple[float, list[int]]] = []
        self.subscriber = Testee(options.testee, self._told)
        self.publisher = Testee(options.testee, lambda line: None)

    def _told(self, line: dict[str, Any]) -> None:
        if line["event"] == "received":
            self.came[self._stream(line).came(line["sequence"])] += 1
        elif line["event"] == "gap":
            self.gaps += line["to"] - line["from"] + 1

    def _stream(self, at: dict[str, Any]) -> Stream:
        return self.streams.setdefault((at["producer"], at["topic"]), Stream())

    def lost(self) -> int:
        """Returns the number of confirmed events that did not arrive."""
        return sum(len(stream.awaited) for stream in self.streams.values())

    async def run(self) -> None:
        urls = [bus.url for bus in self.buses]
        for testee in (self.subscriber, self.publisher):
            await testee.start()
            await testee.ask(
                "connect", urls=urls, reconnect={"initialDelay": 50, "maxDelay": 1000}, confirmTimeout=60_000
            )
        await self.subscriber.ask("subscribe", **{"as": "s", "filter": "soak.>"})
        end = time.monotonic() + self._options.minutes * 60
        works = [self._report(), self._restart(), self._drain()]
        tasks = [asyncio.create_task(work) for work in works]
        try:
            await self._publish(end)
            for task in tasks:
                # Reports unexpected exceptions.
                if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                    raise error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._rest()

    async def _publish(self, end: float) -> None:
        room = asyncio.Semaphore(WINDOW)
        due = time.monotonic()
        payload = base64.b64encode(bytes(self._options.payload_bytes)).decode()
        while time.monotonic() < end:
            await room.acquire()
            topic = f"soak.{self.published % TOPICS}"
            self.published += 1
            answer = self.publisher.begin("publish", topic=topic, payload=payload)
            answer.add_done_callback(self._answered)
            answer.add_done_callback(lambda _: room.release())
            due = max(due + 1 / self._options.rate, time.monotonic() - 1)
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    def _answered(self, answer: asyncio.Future[dict[str, Any]]) -> None:
        line = {"error": {"code": "ENDED"}} if answer.exception() is not None else answer.result()
        if "ok" in line:
            self.confirmed += 1
            self._stream(line["ok"]).confirmed(line["ok"]["sequence"])
        else:
            self.failed += 1
            code = line.get("error", {}).get("code", "BROKEN")
            self.errors[code] = self.errors.get(code, 0) + 1

    async def _rest(self) -> None:
        """Waits until all events under way have arrived, or for their time."""
        end = time.monotonic() + REST
        while (self.confirmed + self.failed < self.published or self.lost()) and time.monotonic() < end:
            await asyncio.sleep(0.05)

    async def _restart(self) -> None:
        how = signal.SIGKILL if self._options.kill else signal.SIGTERM
        for bus in self._in_turn(1):
            await asyncio.sleep(self._options.restart_every)
            self.faults.append(f"{'kill' if self._options.kill else 'restart'} {bus.name}")
            await bus.stop(how)
            await bus.start()

    async def _drain(self) -> None:
        for bus in self._in_turn(0):
            await asyncio.sleep(self._options.drain_every)
            self.faults.append(f"drain {bus.name}")
            # A restarting bus refuses.
            with contextlib.suppress(OSError):
                await bus.call("PUT", f"/api/v1/drains/{bus.name}")
                await asyncio.sleep(min(10, self._options.drain_every / 2))
            with contextlib.suppress(OSError):
                await bus.call("DELETE", f"/api/v1/drains/{bus.name}")

    def _in_turn(self, first: int) -> Iterator[Bus]:
        if (self._options.drain_every, self._options.restart_every)[first] > 0:
            yield from itertools.islice(itertools.cycle(self.buses), first, None)

    async def _report(self) -> None:
        start = time.monotonic()
        while True:
            await self.measure(time.monotonic() - start)
            _, (publisher, subscriber) = self.rss[-1]
            share = 100 * self.confirmed / self.published if self.published else 100.0
            print(
                f"{time.monotonic() - start:6.0f} s  confirmed {self.confirmed:>9,} ({share:6.2f} %)  "
                f"came {self.came['in order']:>9,}  late {self.came['late']}  doubled {self.came['doubled']}  "
                f"RSS {publisher / 1024:.1f} / {subscriber / 1024:.1f} MiB  faults {len(self.faults)}",
                flush=True,
            )
            await asyncio.sleep(self._options.report)

    async def measure(self, at: float) -> None:
        """Measures the RSS of publisher and subscriber, in KiB."""
        found = []
        for testee in (self.publisher, self.subscriber):
            ps = await asyncio.create_subprocess_exec(
                "ps", "-o", "rss=", "-p", str(testee.process.pid), stdout=asyncio.subprocess.PIPE
            )
            out, _ = await ps.communicate()
            found.append(int(out or 0))
        self.rss.append((at, found))

    async def sum_up(self) -> bool:
        """Prints the results; returns whether all promises were kept."""
        await self.measure(self._options.minutes * 60)
        share = 100 * self.confirmed / max(1, self.published)
        print(f"published {self.published:,}, confirmed {share:.4f} %, failed {self.errors or 0}")
        lost, late, doubled = self.lost(), self.came["late"], self.came["doubled"]
        print(
            f"confirmed and not come {lost:,}, doubled {doubled:,}, out of order {late:,}, told as gaps {self.gaps:,}"
        )
        for i, name in enumerate(("publisher", "subscriber")):
            series = [kib[i] / 1024 for _, kib in self.rss]
            # The first quarter warms up: caches, compiled code, the allocator.
            settled = series[len(series) // 4 :]
            told = f"first {series[0]:.1f}, after a quarter {settled[0]:.1f}, last {series[-1]:.1f}, most {max(series):.1f}"
            print(f"RSS of the {name}, MiB: {told}")
        for name, testee in (("publisher", self.publisher), ("subscriber", self.subscriber)):
            counters = await testee.ask("counters")
            wanted = ("reconnects", "busChanges", "resent", "duplicates", "missing")
            print(f"{name}: " + ", ".join(f"{key} {counters[key]}" for key in wanted if key in counters))
        print(f"faults: {len(self.faults)} ({', '.join(self.faults[:12])}{' …' if len(self.faults) > 12 else ''})")
        return (self._options.kill or not (lost or self.failed)) and not doubled and not late


@contextlib.asynccontextmanager
async def cluster(jar: str) -> AsyncIterator[list[Bus]]:
    with tempfile.TemporaryDirectory() as work:
        directory = Path(work)
        secret = secrets.token_hex(32)
        (directory / "key").write_text(secret, encoding="ascii")
        (directory / "key").chmod(0o600)
        shared = [f"auth.resume-key-file={directory / 'key'}", f"cluster.secret={secret}"]
        ports = free_ports(9)
        buses: list[Bus] = []
        for i, name in enumerate(("bus-a", "bus-b", "bus-c")):
            join = buses[0].cluster if buses else 0
            buses.append(Bus(jar, name, directory, ports[3 * i : 3 * i + 3], shared, join))
        try:
            for bus in buses:
                await bus.start()
            yield buses
        finally:
            await asyncio.gather(*(bus.stop(signal.SIGKILL) for bus in buses))


async def soak(options: argparse.Namespace) -> bool:
    async with cluster(options.jar) as buses:
        work = Soak(options, buses)
        try:
            await work.run()
            return await work.sum_up()
        finally:
            for testee in (work.publisher, work.subscriber):
                if hasattr(testee, "process"):
                    await testee.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", required=True, help="the bus, eventbus.jar")
    mine = Path(__file__).parents[1] / "tests" / "testee.py"
    parser.add_argument("--testee", default=f"{shlex.quote(sys.executable)} {shlex.quote(str(mine))}")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=500, help="events per second")
    parser.add_argument("--payload-bytes", type=int, default=128)
    parser.add_argument("--restart-every", type=float, default=60, metavar="S", help="seconds; 0 for never")
    parser.add_argument("--drain-every", type=float, default=45, metavar="S", help="seconds; 0 for never")
    parser.add_argument("--kill", action="store_true", help="restart with SIGKILL")
    parser.add_argument("--report", type=float, default=10, metavar="S", help="seconds between lines")
    return 0 if asyncio.run(soak(parser.parse_args())) else 1


if __name__ == "__main__":
    sys.exit(main())
