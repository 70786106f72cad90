"""Code that type checkers have to accept or refuse: each marked line must be an error, and no other.

mypy and pyright read this file; nothing runs it.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import Any

import eventbus
import eventbus.sync
from eventbus import Answer, CallEvent, Codec, Event, Invocation, Published, Response


class Numbers:
    """A codec of ints."""

    fingerprint = 0

    def encode(self, value: int, /) -> bytes:
        return str(value).encode()

    def decode(self, event: Event | CallEvent, /) -> int:
        return int(event.text())


def takes(codec: Codec[int]) -> None: ...


async def asyncio_face(bus: eventbus.EventBus) -> None:
    numbers = Numbers()
    takes(numbers)
    published: Published = await bus.publish("a", b"x", key="k", headers={"a": "b"}, timeout=1)
    published = await bus.publish("a", 1, codec=numbers)
    bus.send("a", "text")
    bus.send("a", 1, codec=numbers)
    response: Response = await bus.request("s", "x", timeout=1, idempotent=True)
    response = await bus.request("s", 1, codec=numbers, method="m")
    number: int = numbers.decode(response.event)
    print(published, number)
    await bus.publish("a", 1, codec=numbers, expected=0, delay=1, ttl=2.5, producer="outbox", number=42)
    async for event in bus.durable("billing", start=eventbus.Start.position(3)):
        number = event.position
    bus.durable("billing", handler=print, on_truncated=lambda truncated: print(truncated.last))
    bus.on_consumer_error(lambda failed: print(failed.subscription.name, failed.pause))
    async for delivery in bus.work("billing", max_unsettled=1):
        await delivery.done_confirmed()
        delivery.retry("1 s")  # type: ignore[arg-type]
    worker: eventbus.Worker = await bus.work("billing", handler=lambda event, delivery: delivery.reject(event.text()))
    number = worker.counters().late
    bus.work("billing", handler=lambda event: print(event))  # type: ignore[arg-type, misc]
    bus.on_worker_error(lambda failed: print(failed.worker.name, failed.attempt))
    bus.replay("a")  # type: ignore[call-arg]
    bus.replay("a", start="first")  # type: ignore[arg-type]
    bus.send("a", "x", expected=0)  # type: ignore[call-overload]
    await bus.publish("a", {"x": 1})  # type: ignore[call-overload]
    await bus.publish("a", 42)  # type: ignore[call-overload]
    await bus.publish("a", "x", codec=numbers)  # type: ignore[misc]
    await bus.publish("a", b"x", key=5)  # type: ignore[call-overload]
    bus.send("a", 1)  # type: ignore[call-overload]
    await bus.request("s", 1)  # type: ignore[call-overload]
    await bus.request("s", timeot=1)  # type: ignore[call-overload]

    async def later(_: Invocation) -> Answer:
        return Answer(1, codec=numbers)

    def text(_: Invocation) -> str:
        return ""

    def wrong(_: Invocation) -> int:
        return 1

    def nothing(_: Invocation) -> None: ...

    bus.serve("s", later)
    bus.serve("s", text)
    bus.serve("s", wrong)  # type: ignore[arg-type]
    bus.serve("s", nothing)  # type: ignore[arg-type]
    Answer({"x": 1})  # type: ignore[call-overload]


def sync_face(url: str, token: Any) -> None:
    numbers = Numbers()
    bus = eventbus.sync.connect([url], name="x", token=token, connect_timeout=5, reconnect=False)
    bus.publish("a", 1, codec=numbers, timeout=1)
    for event in bus.durable("billing").events(timeout=1):
        print(event.position)
    bus.durable("billing", handler=print)  # type: ignore[call-arg]
    for delivery in bus.work("billing"):
        delivery.done_confirmed()
    bus.work("billing", handler=lambda event, delivery: delivery.extend(), concurrency=8).unsubscribe(1)
    bus.request("s", 1, codec=numbers)
    bus.submit("s", "x", priority=eventbus.Priority.HIGH).result()
    eventbus.sync.connect(url, tokn="x")  # type: ignore[call-arg]
    eventbus.sync.connect(url, connect_timeout="5")  # type: ignore[arg-type]
    eventbus.sync.connect(7)  # type: ignore[arg-type]
    bus.publish("a", 42)  # type: ignore[call-overload]
    bus.submit("s", timeot=1)  # type: ignore[call-overload]
    bus.serve("s", lambda _: b"")

    async def later(_: Invocation) -> bytes:
        return b""

    bus.serve("s", later)  # type: ignore[arg-type]
