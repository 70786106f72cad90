"""Workers on asyncio, against a bus on a real socket. No test leaves a task behind."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import Any

import pytest
from loopback import Bus
from test_aio import connect, run

from eventbus import (
    Closed,
    ConnectionLost,
    Event,
    IllegalTopic,
    Refused,
    Start,
    TimedOut,
    Truncated,
    WorkDelivery,
    Worker,
    WorkerCounters,
    WorkFailed,
)
from eventbus._aio import worker
from eventbus._durable import worker_state
from eventbus._wire.durable_frames import Consume, ConsumeMode, ConsumeStart, Settle, SettleOutcome
from eventbus._wire.records import Unsubscribe


def settled(bus: Bus, *outcomes: SettleOutcome) -> list[int]:
    """Returns the positions of settlements, in order; by default of those that are done."""
    wanted = outcomes or (SettleOutcome.DONE,)
    return sorted(p for f in bus.of(Settle) if f.outcome in wanted for p in range(f.first, f.up_to + 1))


class Gate:
    """A handler that waits until the test lets it go on."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.open = asyncio.Event()

    async def __call__(self, event: Event, delivery: WorkDelivery) -> None:
        self.begun.append(event.text())
        await self.open.wait()


def test_settings_are_sent_and_checked() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client:
            billing = await client.work(
                "billing", "a.>", start=Start.FIRST, max_unsettled=50, ack_timeout=60, max_attempts=5, journal="shop",
                buffer_bytes=4096,
            )  # fmt: skip
            other = await client.work("other", handler=print)
            assert (billing.name, billing.filter, repr(other)) == ("billing", "a.>", "Worker(name='other', filter='>')")
            assert [
                (f.name, f.filter, f.mode, f.start, f.limit, f.max_events, f.ack_timeout_millis, f.max_attempts)
                for f in bus.of(Consume)
            ] == [
                ("billing", "a.>", ConsumeMode.SHARED, ConsumeStart.FIRST, 4096, 50, 60_000, 5),
                ("other", ">", ConsumeMode.SHARED, ConsumeStart.NEW, 1 << 20, 256, 30_000, 10),
            ]
            for name, wrong in (("", {}), ("a b", {}), ("x", {"journal": "*"}), ("x", {"filter": "a..b"})):
                with pytest.raises(IllegalTopic, match="expected:"):
                    client.work(name, **wrong)
            for option, value in (
                ("concurrency", 0),
                ("concurrency", 1001),
                ("max_unsettled", 1025),
                ("ack_timeout", 0.999),
                ("ack_timeout", 43_201),
                ("max_attempts", 1001),
                ("buffer_bytes", 1000),
            ):
                with pytest.raises(ValueError, match=f"{option}: .*expected: "):
                    client.work("x", **{option: value})
            assert len(bus.of(Consume)) == 2
        with pytest.raises(Closed):
            client.work("x")

    run(test)


# ---- Handlers


@pytest.mark.parametrize("waits", [True, False])
def test_an_event_is_done_when_the_handler_returns(waits: bool) -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        got: list[tuple[int, str, int]] = []

        def handle(event: Event, delivery: WorkDelivery) -> Any:
            assert delivery.event is event
            got.append((event.position, event.text(), delivery.attempt))
            return asyncio.sleep(0) if waits else None

        async with connect(bus) as client:
            billing = await client.work("billing", handler=handle)
            await bus.give(7, b"x", b"y", attempt=2)
            await bus.until(lambda: settled(bus) == [7, 8])
            assert got == [(7, "x", 2), (8, "y", 2)]
            assert {f.attempt for f in bus.of(Settle)} == {2}
            assert billing.counters() == WorkerCounters(2, 2, 0, 0, 0, 0, 0)
            assert client.counters().received == 2
            with pytest.raises(RuntimeError, match="has a handler"):
                await billing.get()

    run(test)


def test_settlements_of_quick_handlers_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only the end of the handlers' work sends them, also on a slow machine.
    monkeypatch.setattr(worker_state, "COLLECT", 3600)

    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client:
            await client.work("billing", handler=lambda event, delivery: None, concurrency=4)
            for first in range(1, 257, 64):
                await bus.give(first, *[b"x"] * 64)
            await bus.until(lambda: len(settled(bus)) == 256)
            assert settled(bus) == list(range(1, 257))
            assert len(bus.of(Settle)) < 64

    run(test)


def test_what_is_handled_is_settled_at_once_if_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_state, "COLLECT", 3600)

    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client:
            await client.work("billing", handler=lambda event, delivery: None)
            await bus.give(1, b"x", b"y")
            await bus.until(lambda: settled(bus) == [1, 2])
            assert len(bus.of(Settle)) == 1

    run(test)


def test_an_exception_has_the_event_come_again() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        failed: list[WorkFailed] = []

        async def handle(event: Event, delivery: WorkDelivery) -> None:
            if event.text() == "cancels":
                raise asyncio.CancelledError  # of something that it has awaited
            raise LookupError("x" * 1000 if event.text() == "long" else "gone")

        async with connect(bus) as client:
            client.on_worker_error(failed.append)
            billing = await client.work("billing", handler=handle)
            await bus.give(4, b"a", b"long", b"cancels", attempt=3)
            await bus.until(lambda: len(settled(bus, SettleOutcome.RETRY)) == 3)
            [first, second, third] = bus.of(Settle)
            assert (first.reason, first.delay_millis, first.attempt) == ("LookupError: gone", -1, 3)
            assert second.reason == "LookupError: " + "x" * 243
            assert third.reason == "asyncio.exceptions.CancelledError"
            assert [(f.worker, f.event.position, f.attempt) for f in failed] == [(billing, n, 3) for n in (4, 5, 6)]
            assert billing.counters() == WorkerCounters(3, 0, 3, 0, 0, 3, 0)
            assert client.counters().handler_failures == 3

    run(test)


def test_a_failure_is_logged_without_a_listener(caplog: pytest.LogCaptureFixture) -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True

        def handle(event: Event, delivery: WorkDelivery) -> None:
            raise LookupError("gone")

        async with connect(bus) as client:
            await client.work("billing", handler=handle)
            await bus.give(1, b"x")
            text = "Worker(name='billing', filter='>'): a handler failed at Event(topic='a'"
            await bus.until(lambda: text in caplog.text)

    with caplog.at_level(logging.WARNING, "eventbus"):
        run(test)


def test_a_handler_may_settle_itself() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True

        async def handle(event: Event, delivery: WorkDelivery) -> None:
            assert not delivery.settled
            if event.text() == "retry":
                delivery.retry()
            elif event.text() == "later":
                delivery.retry(1.5)
            elif event.text() == "reject":
                delivery.reject("bad")
            elif event.text() == "release":
                delivery.release()
            else:
                delivery.done()
            assert delivery.settled
            # The first one counts.
            delivery.done()
            delivery.reject("again")
            if event.text() == "done":
                raise LookupError("too late")

        async with connect(bus) as client:
            client.on_worker_error(lambda _: None)
            billing = await client.work("billing", handler=handle)
            await bus.give(1, b"retry", b"later", b"reject", b"release", b"done")
            await bus.until(lambda: len(bus.of(Settle)) == 5)
            assert [(f.outcome.name, f.delay_millis, f.reason) for f in bus.of(Settle)] == [
                ("RETRY", -1, ""),
                ("RETRY", 1500, ""),
                ("REJECT", -1, "bad"),
                ("RELEASE", -1, ""),
                ("DONE", -1, ""),
            ]
            assert billing.counters() == WorkerCounters(5, 1, 2, 1, 0, 1, 0)

    run(test)


def test_as_many_handlers_run_as_the_worker_has_concurrency() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        gate = Gate()
        async with connect(bus) as client:
            billing = await client.work("billing", handler=gate, concurrency=3)
            await bus.give(1, b"a", b"b", b"c", b"d")
            await bus.give(5, b"e")
            await bus.until(lambda: len(gate.begun) == 3)
            await client.flush()
            assert (gate.begun, billing.counters().received) == (["a", "b", "c"], 3)
            gate.open.set()
            await bus.until(lambda: settled(bus) == [1, 2, 3, 4, 5])
            assert sorted(gate.begun) == ["a", "b", "c", "d", "e"]

    run(test)


def test_handlers_that_never_wait_starve_nobody() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        got: list[int] = []
        async with connect(bus) as client:
            await client.work("billing", handler=lambda event, delivery: got.append(event.position))
            await bus.give(1, *[b"x"] * 200)
            await bus.until(lambda: got)
            await client.publish("b", b"y")
            assert len(got) < 200
            await bus.until(lambda: len(got) == 200)

    run(test)


def test_a_handler_may_wait_until_it_is_stored() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        stored: list[int] = []

        async def handle(event: Event, delivery: WorkDelivery) -> None:
            await delivery.done_confirmed()
            await delivery.done_confirmed()
            stored.append(event.position)

        async with connect(bus) as client:
            billing = await client.work("billing", handler=handle)
            await bus.give(1, b"a", b"b")
            await bus.until(lambda: stored == [1, 2])
            assert [(f.first, f.up_to, f.confirm) for f in bus.of(Settle)] == [(1, 1, True), (2, 2, True)]
            assert billing.counters() == WorkerCounters(2, 2, 0, 0, 0, 0, 0)

    run(test)


# ---- Without a handler


def test_what_is_iterated_over_is_settled_by_the_application_alone() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.work("billing") as billing:
            await bus.give(1, b"a", b"b", b"c", b"d")
            async for delivery in billing:
                if delivery.event.text() == "b":
                    delivery.done()
                if delivery.event.text() == "c":
                    break
            await bus.until(lambda: settled(bus) == [2])
            bus.seen.clear()
            await billing.unsubscribe()
            # The rest goes to another worker: 4 waited, and 1 and 3 are not settled.
            assert [(type(f).__name__) for f in bus.seen[-2:]] == ["Settle", "Unsubscribe"]
            assert settled(bus, SettleOutcome.RELEASE) == [1, 3, 4]
            assert [d async for d in billing] == []
            with pytest.raises(Closed):
                await billing.get()
            assert (settled(bus), billing.counters().late, billing.counters().buffered_bytes) == ([], 0, 0)

    run(test)


def test_get_waits_and_loses_nothing() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.work("billing", "a") as billing:
            with pytest.raises(TimedOut, match="no event of a within 0 s"):
                await billing.get(0)
            waiting = asyncio.ensure_future(billing.get())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            # Several tasks may take events.
            several = [asyncio.ensure_future(billing.get(5)) for _ in range(3)]
            await bus.give(1, b"a", b"b")
            await bus.give(3, b"c")
            taken = await asyncio.gather(*several)
            assert sorted(d.event.text() for d in taken) == ["a", "b", "c"]
            for delivery in taken:
                delivery.done()
            await bus.until(lambda: settled(bus) == [1, 2, 3])
            with pytest.raises(ValueError, match="timeout"):
                await billing.get(-1)

    run(test)


def test_a_settlement_with_an_answer() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.work("billing") as billing:
            await bus.give(1, b"a", b"b", b"c", b"d")
            a, b, c, d = [await billing.get(5) for _ in range(4)]
            bus.mute = True
            asked = [asyncio.ensure_future(a.done_confirmed()) for _ in range(2)]
            await bus.until(lambda: settled(bus) == [1])
            # Whoever waits may go: the others still get the answer.
            asked[0].cancel()
            await asyncio.sleep(0)
            assert not asked[1].done()
            await bus.speak()
            await asked[1]
            assert len(bus.of(Settle)) == 1
            b.done()
            with pytest.raises(RuntimeError, match="position 2 is settled already"):
                await b.done_confirmed()
            bus.mute = True
            lost, gone = asyncio.ensure_future(c.done_confirmed()), asyncio.ensure_future(d.done_confirmed())
            await bus.until(lambda: settled(bus) == [1, 2, 3, 4])
            gone.cancel()
            unhandled: list[Any] = []
            bus.loop.set_exception_handler(lambda loop, context: unhandled.append(context))
            bus.connections[0].transport.abort()
            with pytest.raises(ConnectionLost, match="it may come again"):
                await lost
            del d, gone
            gc.collect()
            assert unhandled == []
            bus.mute = False

    run(test)


def test_an_answer_that_does_not_come_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker.ANSWER_TIMEOUT == 10
    monkeypatch.setattr(worker, "ANSWER_TIMEOUT", 0.001)

    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.work("billing") as billing:
            await bus.give(1, b"a")
            a = await billing.get(5)
            bus.mute = True
            with pytest.raises(TimedOut, match="position 1 is settled: it may come again"):
                await a.done_confirmed()
            await bus.speak()

    run(test)


def test_delays_are_checked() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        async with connect(bus) as client, client.work("billing") as billing:
            await bus.give(1, b"a")
            a = await billing.get(5)
            for wrong in (-0.001, 604_800.001):
                with pytest.raises(ValueError, match=r"delay: .*expected: 0\.\.604800 s"):
                    a.retry(wrong)
            a.retry(604_800)
            await bus.until(lambda: [f.delay_millis for f in bus.of(Settle)] == [604_800_000])

    run(test)


# ---- Lost connections


def test_a_worker_goes_on_after_a_lost_connection() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        gate = Gate()
        async with connect(bus) as client:
            billing = await client.work("billing", handler=gate)
            await bus.give(1, b"a", b"b")
            await bus.until(lambda: gate.begun == ["a"])
            bus.connections[0].transport.abort()
            await bus.until(lambda: len(bus.of(Consume)) == 2)
            gate.open.set()
            await bus.give(2, b"again", attempt=2)
            await bus.until(lambda: settled(bus) == [2])
            assert gate.begun == ["a", "again"]
            assert [f.attempt for f in bus.of(Settle)] == [2]
            assert billing.counters() == WorkerCounters(2, 1, 0, 0, 1, 0, 0)

    run(test)


def test_what_does_not_come_is_told() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        told: list[Truncated] = []
        async with connect(bus) as client:
            client.on_truncated(told.append)
            await client.work("billing", handler=print)
            await bus.truncate(2, 5)
            await bus.until(lambda: [(t.first, t.last) for t in told] == [(2, 5)])

    run(test)


# ---- The end


def test_unsubscribing_gives_back_what_waits_and_finishes_the_rest() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        gate = Gate()
        async with connect(bus) as client:
            billing = await client.work("billing", handler=gate)
            await bus.give(1, b"a", b"b", b"c")
            await bus.until(lambda: gate.begun == ["a"])
            ends = [asyncio.ensure_future(billing.unsubscribe()) for _ in range(2)]
            await bus.until(lambda: bus.of(Unsubscribe))
            assert [type(f) for f in bus.seen[-2:]] == [Settle, Unsubscribe]
            assert settled(bus, SettleOutcome.RELEASE) == [2, 3]
            await client.flush()
            assert not any(end.done() for end in ends)
            gate.open.set()
            await asyncio.gather(*ends)
            assert settled(bus) == [1]
            assert (gate.begun, len(bus.of(Unsubscribe))) == (["a"], 1)
            assert client._consuming == set()

    run(test)


def test_the_end_waits_for_the_handler_also_without_a_connection() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        gate = Gate()
        async with connect(bus) as client:
            billing = await client.work("billing", handler=gate)
            await bus.give(1, b"a")
            await bus.until(lambda: gate.begun)
            bus.connections[0].transport.abort()
            await bus.until(lambda: client.connection is None)
            end = asyncio.ensure_future(billing.unsubscribe())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not end.done()
            gate.open.set()
            await end
            assert billing.counters().late == 1

    run(test)


def test_closing_finishes_the_handlers_and_settles() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        begun = asyncio.Event()
        async with connect(bus) as client:

            async def handle(event: Event, delivery: WorkDelivery) -> None:
                begun.set()
                # The bus gives no more, and waits.
                await bus.until(lambda: len(bus.of(Unsubscribe)) == 2)
                # It can still publish.
                await client.publish("b", event.payload)

            await client.work("billing", handler=handle, concurrency=2)
            async with client.work("other") as other:
                await bus.give(1, b"x", b"y", b"z")
                await bus.give(9, b"z", id=2)
                await begun.wait()
                assert await client.close()
                assert [d async for d in other] == []
        assert (settled(bus), settled(bus, SettleOutcome.RELEASE)) == ([1, 2], [3, 9])
        assert len(bus.of(Unsubscribe)) == 2

    run(test)


@pytest.mark.parametrize("timeout", [0, 0.01])
def test_closing_does_not_wait_for_a_stuck_handler(timeout: float) -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        gate = Gate()
        async with connect(bus) as client:
            await client.work("billing", handler=gate)
            await bus.give(1, b"a")
            await bus.until(lambda: gate.begun)
            assert not await client.close(timeout)
        await bus.until(lambda: bus.of(Unsubscribe))
        assert settled(bus) == []

    run(test)


@pytest.mark.parametrize("closes", [True, False])
def test_a_handler_may_end_its_own_worker(closes: bool) -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        ended = asyncio.Event()
        async with connect(bus) as client:

            async def handle(event: Event, delivery: WorkDelivery) -> None:
                async with asyncio.timeout(5):
                    await (client.close() if closes else billing.unsubscribe())
                ended.set()

            billing = await client.work("billing", handler=handle)
            await bus.give(1, b"x", b"y")
            await ended.wait()
            await bus.until(lambda: bus.of(Unsubscribe))
            assert settled(bus, SettleOutcome.RELEASE) == [2]
            await billing.unsubscribe()
            assert settled(bus) == ([] if closes else [1])

    run(test)


def test_the_event_of_a_cancelled_handler_comes_again() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        gate = Gate()
        async with connect(bus) as client:
            billing = await client.work("billing", handler=gate)
            await bus.give(1, b"a", b"b")
            await bus.until(lambda: gate.begun == ["a"])
            client.on_worker_error(lambda _: None)
            [task] = billing._tasks
            task.cancel()
            await bus.until(lambda: settled(bus, SettleOutcome.RETRY) == [1])
            # Others go on.
            await bus.until(lambda: gate.begun == ["a", "b"])
            gate.open.set()
            await bus.until(lambda: settled(bus) == [2])

    run(test)


def test_a_refused_worker_raises() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            with pytest.raises(Refused, match="UNSUPPORTED: the bus bus has no durable topics"):
                await client.work("billing")
        bus.durable = True
        async with connect(bus) as client:
            with pytest.raises(Refused, match="not this"):
                await client.work("billing", bus.forbidden)
            problems: list[Exception] = []
            client.on_problem(problems.append)
            refused = client.work("billing", bus.forbidden, handler=print)
            await bus.until(lambda: problems)
            assert client._consuming == set()
            with pytest.raises(Refused, match="not this"):
                await refused
            with pytest.raises(Refused, match="not this"):
                async for _ in client.work("billing", bus.forbidden):
                    pass

    run(test)


def test_a_worker_that_is_garbage_is_ended() -> None:
    async def test(bus: Bus) -> None:
        bus.durable = True
        got: list[str] = []
        async with connect(bus) as client:
            billing: Worker | None = await client.work("billing")
            kept: Worker | None = await client.work("kept", handler=lambda event, delivery: got.append(event.text()))
            assert kept is not None
            del kept
            assert billing is not None
            await bus.give(1, b"a", b"b")
            delivery = await billing.get(5)
            del billing
            gc.collect()
            await bus.until(lambda: bus.of(Unsubscribe))
            assert [f.id for f in bus.of(Unsubscribe)] == [1]
            # The worker does nothing any more.
            delivery.done()
            assert (settled(bus), settled(bus, SettleOutcome.RELEASE)) == ([], [1, 2])
            await bus.give(1, b"z", id=2)
            await bus.until(lambda: got == ["z"])

    run(test)
