"""Consumers of durable topics on asyncio, against a bus on a real socket. No test leaves a task behind."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import Any

import pytest
from fakes import stored
from loopback import Bus
from test_aio import connect, run

from eventbus import (
    Closed,
    ConsumerFailed,
    DurableSubscription,
    Event,
    IllegalTopic,
    Refused,
    Start,
    TimedOut,
    Truncated,
    TruncatedReason,
)
from eventbus._aio import durable
from eventbus._wire.durable_frames import Consume, ConsumeStart, Settle
from eventbus._wire.records import Unsubscribe


def settled(bus: Bus) -> int:
    """Returns how far the bus was told last."""
    return max((f.up_to for f in bus.of(Settle)), default=0)


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    assert durable.RETRY_PAUSES == (1, 5, 30, 120)
    monkeypatch.setattr(durable, "RETRY_PAUSES", (0.001, 0.002, 0.003))


def test_an_event_is_settled_when_the_loop_goes_on() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client:
            async with client.durable("billing", "a.>", start=Start.FIRST) as billing:
                await bus.feed(1, 4, stored(1, b"x", b"y"), stored(3, b"z"), head=9)
                got = []
                async for event in billing:
                    got.append((event.position, event.producer, event.sequence, event.text()))
                    assert billing.position == event.position - 1
                    if event.position == 3:
                        break
                assert got == [(1, 77, 101, "x"), (2, 77, 102, "y"), (3, 77, 103, "z")]
                await bus.until(lambda: settled(bus) == 2)
                assert (billing.name, billing.filter, billing.lag()) == ("billing", "a.>", 7)
                billing.settle()
                billing.settle()
                assert (billing.position, billing.lag()) == (4, 5)
                assert billing.counters().received == client.counters().received == 3
                assert billing.counters().buffered_bytes == client.counters().queued_bytes == 0
            assert settled(bus) == 4
            assert [type(f) for f in bus.seen[-2:]] == [Settle, Unsubscribe]
            assert [e async for e in billing] == []

    run(test)


def test_a_loop_that_was_left_begins_with_the_same_event() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.durable("billing") as billing:
            await bus.feed(1, 3, stored(1, b"x", b"y", b"z"))
            tries: list[str] = []
            while len(tries) < 5:
                try:
                    async for event in billing:
                        tries.append(event.text())
                        if tries.count("y") == 1:
                            raise LookupError
                        if len(tries) == 5:
                            break
                except LookupError:
                    tries.append("failed")
            assert tries == ["x", "y", "failed", "y", "z"]
            assert billing.position == 2
            # The end does not count the event that the loop was left at.
            bus.mute = True
            end = asyncio.ensure_future(billing.unsubscribe())
            await bus.until(lambda: bus.of(Unsubscribe))
            assert [e async for e in billing] == []
            assert billing.position == 2
            await bus.speak()
            await end
            assert settled(bus) == 2
            with pytest.raises(Closed):
                await billing.get()
            assert billing.position == 2

    run(test)


def test_get_waits_and_loses_nothing() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.replay("a", start=Start.FIRST) as replay:
            with pytest.raises(TimedOut, match="no event of a within 0 s"):
                await replay.get(0)
            waiting = asyncio.ensure_future(replay.get())
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="one reader"):
                await replay.get(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await bus.feed(1, 2, stored(1, b"x", b"y"))
            assert (await replay.get(5)).text() == "x"
            assert (await replay.get(5)).text() == "y"
            with pytest.raises(ValueError, match="timeout"):
                await replay.get(-1)
            assert bus.of(Settle) == []
            assert replay.name is None

    run(test)


def test_starts_and_settings_are_sent() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client:
            await client.durable("billing", buffer_bytes=4096)
            await client.replay("a", start=Start.position(4), journal="shop")
            await client.latest("prices.>")
            assert [(f.name, f.filter, f.start, f.first, f.journal) for f in bus.of(Consume)] == [
                ("billing", ">", ConsumeStart.NEW, 0, ""),
                ("", "a", ConsumeStart.POSITION, 4, "shop"),
                ("", "prices.>", ConsumeStart.LATEST_VALUES, 0, ""),
            ]
            assert [f.limit for f in bus.of(Consume)] == [4096, 1 << 20, 1 << 20]
            for name, wrong in (
                ("", {}),
                ("a b", {}),
                ("x" * 200, {}),
                ("x", {"journal": "*"}),
                ("x", {"filter": "a..b"}),
            ):
                with pytest.raises(IllegalTopic, match="expected:"):
                    client.durable(name, **wrong)
            with pytest.raises(ValueError, match="buffer_bytes"):
                client.durable("x", buffer_bytes=1000)
            with pytest.raises(TypeError, match="start"):
                client.replay(start="first")
            assert len(bus.of(Consume)) == 3
        with pytest.raises(Closed):
            client.durable("x")

    run(test)


def test_a_handler_settles_what_it_has_handled() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        got: list[int] = []

        async def handle(event: Event) -> None:
            await asyncio.sleep(0)
            got.append(event.position)

        async with connect(bus) as client:
            billing = await client.durable("billing", handler=handle)
            await bus.feed(1, 300, stored(1, *[b"x"] * 300))
            await bus.until(lambda: settled(bus) == 300)
            assert got == list(range(1, 301))
            # Not for each event.
            assert len(bus.of(Settle)) < 10
            with pytest.raises(RuntimeError, match="has a handler"):
                await billing.get()

    run(test)


def test_after_a_failure_the_event_comes_again_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)

    async def test(bus: Bus) -> None:
        bus.durable = True
        got: list[str] = []
        failed: list[ConsumerFailed] = []

        def handle(event: Event) -> None:
            got.append(event.text())
            if event.text() == "y" and len(got) < 7:
                raise LookupError(event.text())

        async with connect(bus) as client:
            client.on_consumer_error(failed.append)
            billing = await client.durable("billing", handler=handle)
            await bus.feed(1, 3, stored(1, b"x", b"y", b"z"))
            await bus.until(lambda: settled(bus) == 3)
            assert got == ["x", "y", "y", "y", "y", "y", "y", "z"]
            assert [f.pause for f in failed] == [0.001, 0.002, 0.003, 0.003, 0.003]
            assert {(f.subscription, f.item.position, repr(f.error)) for f in failed if isinstance(f.item, Event)} == {
                (billing, 2, "LookupError('y')")
            }
            assert (billing.counters().failed, client.counters().handler_failures) == (5, 5)
            assert settled(bus) == 3

    run(test)


def test_nothing_behind_a_failed_event_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        failed: list[ConsumerFailed] = []

        def handle(event: Event) -> None:
            if event.position == 2:
                raise asyncio.CancelledError  # of something that it has awaited

        async with connect(bus) as client:
            client.on_consumer_error(failed.append)
            billing = await client.durable("billing", handler=handle)
            await bus.feed(1, 2, stored(1, b"x", b"y"))
            await bus.feed(3, 9, stored(3, b"z"))
            await bus.until(lambda: settled(bus) == 1 and failed)
            assert failed[0].pause == 1
            # A pause does not hold up the end.
            await asyncio.wait_for(billing.unsubscribe(), 0.9)
            assert settled(bus) == 1

    run(test)


def test_a_failure_is_logged_without_a_listener(caplog: pytest.LogCaptureFixture) -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True

        def handle(event: Event) -> None:
            raise LookupError

        async with connect(bus) as client:
            await client.durable("billing", handler=handle)
            await bus.feed(1, 1, stored(1, b"x"))
            await bus.truncate(2, 3)
            missing = "Truncated(filter='>', first=2, last=3"
            await bus.until(lambda: "which comes again" in caplog.text and missing in caplog.text)

    with caplog.at_level(logging.WARNING, "eventbus"):
        run(test)


@pytest.mark.parametrize("handled", [True, False])
def test_what_does_not_come_is_told_at_its_place(handled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)

    async def test(bus: Bus) -> None:
        bus.durable = True
        got: list[Any] = []
        told: list[Truncated] = []

        async def on_truncated(truncated: Truncated) -> None:
            await asyncio.sleep(0)
            got.append(truncated.first)
            if got.count(2) == 1:
                raise LookupError

        def handle(event: Event) -> None:
            got.append(event.text())

        async with connect(bus) as client:
            client.on_truncated(told.append)
            client.on_consumer_error(lambda _: None)
            handler = handle if handled else None
            billing = await client.durable("billing", handler=handler, on_truncated=on_truncated)
            await bus.feed(1, 1, stored(1, b"x"))
            await bus.truncate(2, 5)
            await bus.feed(6, 6, stored(6, b"y"))
            if not handled:
                assert (await billing.get(5)).text() == "x"
                with pytest.raises(LookupError):
                    await billing.get(5)
                assert billing.position == 1
                event = await billing.get(5)
                assert billing.position == 5
                got = ["x", *got, event.text()]
                billing.settle()
            await bus.until(lambda: settled(bus) == 6)
            assert got == ["x", 2, 2, "y"]
            assert told == [Truncated(">", 2, 5, TruncatedReason.PURGED)]

    run(test)


def test_unsubscribing_finishes_the_event_and_settles_it() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        begun, may_end = asyncio.Event(), asyncio.Event()
        got: list[int] = []

        async def handle(event: Event) -> None:
            begun.set()
            await may_end.wait()
            got.append(event.position)

        async with connect(bus) as client:
            billing = await client.durable("billing", handler=handle)
            await bus.feed(1, 2, stored(1, b"x", b"y"))
            await begun.wait()
            ends = [asyncio.ensure_future(billing.unsubscribe()) for _ in range(2)]
            await client.flush()
            assert bus.of(Unsubscribe) == []
            may_end.set()
            await asyncio.gather(*ends)
            assert (got, settled(bus)) == ([1], 1)
            assert len(bus.of(Unsubscribe)) == 1

    run(test)


def test_closing_finishes_the_event_and_settles_it() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        begun = asyncio.Event()
        got: list[int] = []

        async with connect(bus) as client:

            async def handle(event: Event) -> None:
                begun.set()
                # It can still publish.
                await client.publish("b", event.payload)
                got.append(event.position)

            await client.durable("billing", handler=handle)
            await client.durable("other")
            await bus.feed(1, 2, stored(1, b"x", b"y"))
            await begun.wait()
            assert await client.close()
        assert (got, settled(bus)) == ([1], 1)
        assert len(bus.of(Unsubscribe)) == 2

    run(test)


@pytest.mark.parametrize("timeout", [0, 0.01])
def test_closing_does_not_wait_for_a_stuck_handler(timeout: float) -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True

        async def handle(event: Event) -> None:
            if event.position == 2:
                await asyncio.Event().wait()

        async with connect(bus) as client:
            await client.durable("billing", handler=handle)
            await bus.feed(1, 2, stored(1, b"x", b"y"))
            await bus.until(lambda: settled(bus) == 1)
            assert not await client.close(timeout)
        assert settled(bus) == 1
        await bus.until(lambda: bus.of(Unsubscribe))

    run(test)


@pytest.mark.parametrize("closes", [True, False])
def test_a_handler_may_end_its_own_consumer(closes: bool) -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        ended = asyncio.Event()

        async with connect(bus) as client:

            async def handle(event: Event) -> None:
                await (client.close() if closes else billing.unsubscribe())
                ended.set()

            billing = await client.durable("billing", handler=handle)
            await bus.feed(1, 2, stored(1, b"x", b"y"))
            await ended.wait()
            await bus.until(lambda: bus.of(Unsubscribe))
            # Whether the event at which the client is closed counts is not known: it comes again.
            assert settled(bus) == (0 if closes else 1)
            await billing.unsubscribe()

    run(test)


def test_a_handler_that_is_cancelled_ends_its_consumer() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        problems: list[Exception] = []
        async with connect(bus) as client:
            client.on_problem(problems.append)
            billing = await client.durable("billing", handler=print)
            assert billing._task is not None
            billing._task.cancel()
            await bus.until(lambda: bus.of(Unsubscribe) and problems)
            assert "the durable subscription billing is ended: its handler was cancelled" in str(problems[0])

    run(test)


def test_a_refused_consumer_raises() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            with pytest.raises(Refused, match="UNSUPPORTED: the bus bus has no durable topics"):
                await client.durable("billing")
            assert bus.of(Consume) == []
        bus.durable = True
        async with connect(bus) as client:
            with pytest.raises(Refused, match="not this"):
                await client.durable("billing", bus.forbidden)
            problems: list[Exception] = []
            client.on_problem(problems.append)
            refused = client.durable("billing", bus.forbidden, handler=print)
            await bus.until(lambda: problems)
            with pytest.raises(Refused, match="not this"):
                await refused
            waiting = client.replay(bus.forbidden, start=Start.FIRST)
            with pytest.raises(Refused, match="not this"):
                async for _ in waiting:
                    pass

    run(test)


def test_a_consumer_that_is_garbage_is_ended() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client:
            billing: DurableSubscription | None = await client.durable("billing")
            kept = await client.durable("kept", handler=print)
            del kept
            assert billing is not None
            del billing
            gc.collect()
            await bus.until(lambda: bus.of(Unsubscribe))
            assert [f.id for f in bus.of(Unsubscribe)] == [1]

    run(test)


def test_a_consumer_goes_on_after_a_lost_connection() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.durable("billing") as billing:
            await bus.feed(1, 3, stored(1, b"x", b"y", b"z"))
            assert (await billing.get(5)).text() == "x"
            bus.connections[0].transport.abort()
            await bus.until(lambda: len(bus.of(Consume)) == 2)
            await bus.feed(1, 4, stored(1, b"x", b"y", b"z", b"!"))
            assert [(await billing.get(5)).text() for _ in range(3)] == ["y", "z", "!"]
            await bus.until(lambda: settled(bus) == 3)
            assert billing.counters().duplicates == 3

    run(test)


async def overtake(bus: Bus, settled: int, head: int) -> None:
    """Connects a consumer again, behind what another one has settled, and feeds it the rest."""
    before = len(bus.of(Consume))
    bus.connections[-1].transport.abort()
    await bus.until(lambda: len(bus.of(Consume)) > before)
    await bus.feed(settled + 1, settled)
    await bus.feed(settled + 1, head, stored(settled + 1, *[b"x"] * (head - settled)))


def test_what_another_consumer_has_settled_is_not_handed_over() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.durable("billing") as billing:
            # More than is read at once.
            await bus.feed(1, 200, stored(1, *[b"x"] * 200))
            assert (await billing.get(5)).position == 1
            await overtake(bus, 100, 201)
            await bus.until(lambda: billing.lag() == 101)
            assert [(await billing.get(5)).position for _ in range(101)] == list(range(101, 202))
            billing.settle()
            await bus.until(lambda: settled(bus) == 201)
            assert billing.counters().received == 102
            assert billing.counters().buffered_bytes == 0

    run(test)


def test_a_loop_that_was_left_does_not_begin_with_what_another_consumer_has_settled() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.durable("billing") as billing:
            await bus.feed(1, 1, stored(1, b"x"))
            async for _ in billing:
                break
            await overtake(bus, 3, 4)
            await bus.until(lambda: (billing.position, billing.lag()) == (3, 1))
            async for event in billing:
                assert event.position == 4
                break
            billing.settle()
            assert billing.counters().received == 1
            assert billing.counters().buffered_bytes == 0

    run(test)


def test_a_failed_event_that_another_consumer_has_settled_does_not_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # Frames that arrive end the pause.
    monkeypatch.setattr(durable, "RETRY_PAUSES", (3600.0,))

    async def test(bus: Bus) -> None:
        bus.durable = True
        got: list[int] = []

        def handle(event: Event) -> None:
            got.append(event.position)
            if event.position == 1:
                raise LookupError

        async with connect(bus) as client:
            client.on_consumer_error(lambda _: None)
            billing = await client.durable("billing", handler=handle)
            await bus.feed(1, 2, stored(1, b"x", b"y"))
            await bus.until(lambda: got)
            await overtake(bus, 2, 3)
            await bus.until(lambda: settled(bus) == 3)
            assert got == [1, 3]
            assert billing.counters().received == 1

    run(test)


def test_nothing_of_a_deleted_journal_counts_in_the_one_that_was_created_again(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)

    async def test(bus: Bus) -> None:
        bus.durable = True
        in_hand = asyncio.Event()
        got: list[str] = []

        async def handle(event: Event) -> None:
            got.append(event.text())
            if event.text() == "a":
                await in_hand.wait()
            elif event.text() == "fails":
                raise LookupError

        def missing(truncated: Truncated) -> None:
            got.append(f"{truncated.first}..{truncated.last} {truncated.reason.name}")

        async with connect(bus) as client:
            billing = await client.durable("billing", handler=handle, on_truncated=missing)
            await bus.feed(1, 9, stored(1, b"a", b"b"))
            await bus.until(lambda: got == ["a"])
            await bus.create_again()
            await bus.feed(1, 2, stored(1, b"x", b"y"))
            await bus.until(lambda: billing.lag() == 2)
            in_hand.set()
            await bus.until(lambda: settled(bus) == 2)
            assert got == ["a", "1..9 DELETED", "x", "y"]
            assert {(f.up_to, f.creation) for f in bus.of(Settle)} <= {(1, bus.creation), (2, bus.creation)}
            got.clear()
            await bus.feed(3, 3, stored(3, b"fails"))
            await bus.until(lambda: len(got) > 3)
            await bus.create_again()
            await bus.feed(1, 1, stored(1, b"z"))
            await bus.until(lambda: settled(bus) == 1)
            assert got[-2:] == ["3..3 DELETED", "z"]
            assert billing.position == 1

    run(test)


def test_a_loop_counts_nothing_of_a_deleted_journal() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.durable("billing") as billing:
            await bus.feed(1, 3, stored(1, b"a", b"b", b"c"))
            assert (await billing.get()).text() == "a"
            await bus.create_again()
            await bus.feed(1, 2, stored(1, b"x", b"y"))
            await bus.until(lambda: billing.lag() == 2)
            assert (await billing.get()).text() == "x"
            assert billing.position == 0
            assert (await billing.get()).text() == "y"
            await bus.until(lambda: settled(bus) == 1)
            assert billing.position == 1

    run(test)
