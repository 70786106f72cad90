"""The client on asyncio, against a bus on a real socket. No test leaves a task behind."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
from fakes import PublishSeen, deliver, numbered
from loopback import Bus, loopback, refusal

import eventbus
from eventbus import (
    BufferFull,
    Closed,
    Event,
    HandlerFailed,
    NotConnected,
    NoToken,
    Published,
    Reconnect,
    Refused,
    State,
    TimedOut,
)
from eventbus._wire.codec import frame, varint
from eventbus._wire.records import Barrier, Hello, Subscribe, Unsubscribe

Test = Callable[[Bus], Coroutine[Any, Any, None]]
FAST = Reconnect(initial_delay=0.01, max_delay=0.05)


def run(test: Test) -> None:
    """Runs a test with a bus, and checks that no task is left."""

    async def whole() -> None:
        before = asyncio.all_tasks()
        async with asyncio.timeout(20):
            async with loopback() as bus:
                await test(bus)
                left = [
                    t
                    for t in asyncio.all_tasks() - before
                    if "eventbus" in t.get_name() or "/eventbus/" in repr(t.get_coro())
                ]
                assert left == []

    asyncio.run(whole(), debug=True)
    gc.collect()


def connect(bus: Bus, **options: Any) -> Any:
    return eventbus.connect(bus.url, proxy=None, **{"reconnect": FAST, **options})


def test_publish_and_subscribe() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus, name="me", user="alice", token="t") as client:
            assert client.state is State.CONNECTED
            assert client.connection.producer == 77
            async with client.subscribe("a.*") as sub:
                assert await client.publish("a.b", "text") == Published("a.b", 77, 1)
                assert await client.publish("a.b", bytearray(b"2")) == Published("a.b", 77, 2)
                assert client.send("a.b", memoryview(b"3"))
                got = []
                async for event in sub:
                    got.append(event.text())
                    if len(got) == 3:
                        break
                assert got == ["text", "2", "3"]
                await client.flush(5)
            assert sub.counters().received == 3
        assert client.state is State.CLOSED
        assert (bus.of(Hello)[0].user, bus.of(Hello)[0].token) == ("alice", "t")
        assert bus.of(Hello)[0].agent.startswith("eventbus-python/")
        assert len(bus.of(Unsubscribe)) == 1
        with pytest.raises(Closed, match="the client is closed"):
            await client.publish("a", b"")
        with pytest.raises(Closed):
            client.subscribe("a")
        with pytest.raises(Closed):
            await client.flush()
        with pytest.raises(Closed):
            await client.room()
        assert await client.close() is True

    run(test)


def test_connect_can_be_awaited() -> None:
    async def test(bus: Bus) -> None:
        client = await connect(bus)
        sub = await client.subscribe("a")
        await client.publish("a", b"x")
        [event] = await anext(aiter(sub.batches()))
        assert isinstance(event, Event)
        assert await client.close()

    run(test)


def test_batches_and_handlers() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            seen: list[int] = []
            slow: list[int] = []
            errors: list[HandlerFailed] = []
            client.on_handler_error(errors.append)

            def handler(event: Event) -> None:
                seen.append(event.sequence)
                if event.sequence == 5:
                    raise ValueError("five")

            async def slow_handler(event: Event) -> None:
                await asyncio.sleep(0)
                slow.append(event.sequence)

            await client.subscribe("a", handler=handler)
            await client.subscribe("*", handler=slow_handler)
            batches = await client.subscribe(">")
            for i in range(2500):
                assert client.send("a", b"%d" % i)
            sizes = []
            async for batch in batches.batches(most=1000):
                sizes.append(len(batch))
                assert all(e.payload == b"%d" % (e.sequence - 1) for e in batch)
                if sum(sizes) == 2500:
                    break
            assert max(sizes) <= 1000
            assert await client.close()
            assert seen == slow == list(range(1, 2501))
            [failed] = errors
            assert failed.event.sequence == 5
            assert str(failed.error) == "five"
            assert client.counters().handler_failures == 1

    run(test)


def test_exceptions_of_handlers_are_logged_without_a_listener(caplog: pytest.LogCaptureFixture) -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:

            def handler(event: Event) -> None:
                raise ValueError("told by default")

            await client.subscribe("a", handler=handler)
            await client.publish("a", b"")
            await bus.until(lambda: client.counters().handler_failures)

    with caplog.at_level(logging.ERROR, "eventbus"):
        run(test)
    assert "told by default" in caplog.text


def test_the_client_reconnects_and_nothing_confirmed_is_lost() -> None:
    async def test(bus: Bus) -> None:
        happened: list[Any] = []
        async with connect(bus) as client:
            client.on_disconnected(happened.append)
            client.on_reconnecting(happened.append)
            client.on_connected(happened.append)
            sub = await client.subscribe("a")
            bus.confirms = False
            waiting = asyncio.ensure_future(client.publish("a", b"1"))
            await bus.until(lambda: bus.of(PublishSeen))
            bus.confirms = True
            bus.connections[0].transport.abort()
            assert await waiting == Published("a", 77, 1)
            await client.publish("a", b"2")
            got = []
            async for event in sub:
                got.append(event.sequence)
                if len(got) == 2:
                    break
            assert got == [1, 2]  # 1 came twice
            assert client.counters().duplicates == 1
            assert [type(h).__name__ for h in happened] == ["Disconnected", "Reconnecting", "Connection"]
            assert bus.of(Hello)[1].resume == "secret"

    run(test)


def test_raises_when_no_bus_answers() -> None:
    async def test(bus: Bus) -> None:
        url = bus.url
        await bus.stop()
        with pytest.raises(NotConnected, match="no connection to"):
            await eventbus.connect(url, proxy=None)
        with pytest.raises(NotConnected):
            async with eventbus.connect([url, url], proxy=None):
                raise AssertionError

    run(test)


def test_gives_up_a_silent_bus() -> None:
    async def test(bus: Bus) -> None:
        bus.welcomes = False
        with pytest.raises(TimedOut, match="did not answer within"):
            await connect(bus, connect_timeout=0.1)

    run(test)


def test_connecting_can_be_cancelled() -> None:
    async def test(bus: Bus) -> None:
        bus.welcomes = False
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await connect(bus)

    run(test)


@pytest.mark.parametrize(
    ("status", "text"),
    [(400, "because"), (403, "Origin: not this"), (404, "The bus is at /bus."), (405, ""), (426, "13")],
)
def test_refused_upgrades_that_are_final(status: int, text: str) -> None:
    async def test(bus: Bus) -> None:
        bus.upgrade = refusal(status, text, by_bus=True)
        bus.upgrade.headers["Location"] = "ws://127.0.0.1:1/bus"
        with pytest.raises(Refused, match=f"answered {status}.*{text}") as e:
            await connect(bus)
        assert not e.value.retryable

    run(test)


def test_a_temporary_refusal_of_the_upgrade_is_retried() -> None:
    async def test(bus: Bus) -> None:
        bus.upgrade = refusal(503, "full", "1")
        with pytest.raises(NotConnected, match="answered 503: full") as e:
            await connect(bus)
        assert e.value.retryable

    run(test)


def test_a_server_other_than_a_bus_is_refused() -> None:
    async def test(bus: Bus) -> None:
        await bus.stop()
        bus.subprotocols = None
        await bus.start()
        with pytest.raises(Refused, match=r"speaks no sub-protocol \(expected: eventbus.v1.avro\)"):
            await connect(bus)
        assert bus.of(Hello) == []

    run(test)


def test_the_token_function_is_called_at_each_connect() -> None:
    async def test(bus: Bus) -> None:
        tokens = iter(["one", "wrong", "three"])

        async def token() -> str:
            await asyncio.sleep(0)
            return next(tokens)

        async with connect(bus, token=token) as client:
            bus.connections[0].transport.abort()
            await bus.until(lambda: len(bus.of(Hello)) == 3 and client.state is State.CONNECTED)
            assert [h.token for h in bus.of(Hello)] == ["one", "wrong", "three"]

    run(test)


def test_a_failing_token_function_leaks_no_secret() -> None:
    async def test(bus: Bus) -> None:
        def token() -> str:
            raise RuntimeError("the secret is hush")

        with pytest.raises(NoToken, match="token function failed: RuntimeError") as e:
            await connect(bus, token=token)
        assert "hush" not in str(e.value)

    run(test)


def test_leaving_an_iterator_loses_nothing() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            sub = await client.subscribe("a")
            await bus.connections[0].send(numbered("a", 5, 1, 12))
            await bus.until(lambda: sub.counters().received == 12)
            assert [e.sequence async for e in _first(sub, 3)] == [1, 2, 3]
            batches = sub.batches(most=2)
            assert [e.sequence for e in await anext(batches)] == [4, 5]
            assert (await sub.get(0)).sequence == 6
            assert [e.sequence async for e in _first(sub, 5)] == [7, 8, 9, 10, 11]
            assert [e.sequence for e in await anext(batches)] == [12]
            # Neither a timeout nor cancelling ends an iteration.
            with pytest.raises(TimedOut, match=r"no event of a within 0 s"):
                await sub.get(0)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(batches), 0)
            patient = sub.batches(timeout=0.01)
            with pytest.raises(TimedOut):
                await anext(patient)
            await bus.connections[0].send(numbered("a", 5, 13, 14))
            await bus.until(lambda: sub.counters().received == 14)
            assert [e.sequence for e in await anext(batches)] == [13, 14]
            await sub.unsubscribe()
            with pytest.raises(Closed):
                await sub.get()
            with pytest.raises(StopAsyncIteration):
                await anext(patient)
            assert client.counters().queued_bytes == 0

    run(test)


def test_a_refused_subscription_raises() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            with pytest.raises(Refused) as e:
                await client.subscribe("secret.>")
            assert e.value.bus_code is eventbus.BusCode.FORBIDDEN
            sub = client.subscribe("secret.>")
            with pytest.raises(Refused):
                async for _ in sub:
                    raise AssertionError
            with pytest.raises(eventbus.IllegalTopic):
                client.subscribe("a..b")
            with pytest.raises(ValueError, match="group: ' '"):
                client.subscribe("a", group=" ")

    run(test)


def test_a_second_reader_is_refused() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            sub = await client.subscribe("a")
            waiting = asyncio.ensure_future(anext(aiter(sub)))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="iterated already"):
                await anext(sub)
            with pytest.raises(RuntimeError, match="iterated already"):
                aiter(sub)
            await client.publish("a", b"")
            assert (await waiting).topic == "a"
            handled = await client.subscribe("a", handler=print)
            with pytest.raises(RuntimeError, match="has a handler"):
                aiter(handled)

    run(test)


def test_unsubscribing_ends_the_iteration_and_returns_credit() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            sub = await client.subscribe("a")
            task = asyncio.ensure_future(anext(aiter(sub)))
            await asyncio.sleep(0)
            await sub.unsubscribe()
            with pytest.raises(StopAsyncIteration):
                await task
            other = await client.subscribe("a")
            await client.publish("a", b"x" * 1000)
            await bus.until(lambda: client.counters().queued_bytes)
            await other.unsubscribe()
            await other.unsubscribe()
            assert client.counters().queued_bytes == 0
            with pytest.raises(Closed):
                await other

    run(test)


def test_a_garbage_subscription_ends() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            await client.publish("a", b"")
            await client.subscribe("a")
            gc.collect()
            await bus.until(lambda: not client._machine.dispatcher.subscriptions)
            assert len(bus.of(Unsubscribe)) == 1

    run(test)


def test_credit_bounds_unhandled_events() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus, receive_bytes=64 * 1024) as client:
            sub = await client.subscribe("a")
            assert bus.last_credit().limit == 64 * 1024
            for _ in range(50):
                await client.publish("a", b"x" * 1000)
            await client.flush()
            assert bus.last_credit().limit == 64 * 1024
            got = 0
            async for batch in sub.batches(most=10):
                got += len(batch)
                if got == 50:
                    break
            await bus.until(lambda: bus.last_credit().limit > 64 * 1024)

    run(test)


def test_a_bus_that_ignores_credit_is_stalled_and_continues() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus, receive_bytes=16 * 1024) as client:
            sub = await client.subscribe("a")
            for i in range(100):
                await bus.connections[0].send(deliver("a", 5, i + 1, [b"x" * 1000]))
            await bus.until(lambda: client._machine.current.paused)
            assert client.counters().queued_bytes < 20 * 1024
            got = 0
            async for _ in sub:
                got += 1
                if got == 100:
                    break

    run(test)


def test_a_malformed_event_ends_the_connection_when_it_is_taken() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            sub = await client.subscribe("a")
            good = numbered("a", 5, 1, 2)
            broken = good.replace(varint(1) + b"2", varint(60) + b"2")
            assert broken != good
            await bus.connections[0].send(broken)
            got = []
            with pytest.raises(Closed, match="the bus sent"):
                async for event in sub:
                    got.append(event.payload)
            assert got == [b"1"]
            assert client.state is State.CLOSED
            assert bus.connections[0].close_code == 1007

    run(test)


def test_a_text_message_ends_the_connection() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            await bus.connections[0].send("text")
            await bus.until(lambda: client.state is State.CLOSED)
            assert bus.connections[0].close_code == 1003

    run(test)


def test_publish_waits_for_room_in_order_or_fails() -> None:
    async def test(bus: Bus) -> None:
        bus.confirms = False
        async with connect(bus, outbound_bytes=4096, close_timeout=0) as client:
            tasks = [asyncio.ensure_future(client.publish("a", b"%d" % i + b"x" * 900)) for i in range(8)]
            await bus.until(lambda: sum(len(p.payloads) for p in bus.of(PublishSeen)) == 4)
            assert not client.send("a", b"x" * 900)
            bus.confirms = True
            bus.connections[0].transport.abort()
            assert [p.sequence for p in await asyncio.gather(*tasks)] == list(range(1, 9))
        assert [p[:1] for f in bus.of(PublishSeen) for p in f.payloads][-8:] == [b"%d" % i for i in range(8)]
        bus.confirms = False
        for when, wait in (("fail", 30.0), ("wait", 0.02)):
            async with connect(bus, outbound_bytes=1024, when_full=when, block_timeout=wait, close_timeout=0) as client:
                first = asyncio.ensure_future(client.publish("a", b"x" * 900))
                await asyncio.sleep(0)
                with pytest.raises(BufferFull, match="outbound_bytes"):
                    await client.publish("a", b"x" * 900)
                assert client.counters().dropped_full == 1
            with pytest.raises((eventbus.ConnectionLost, Closed)):
                await first

    run(test)


def test_cancelling_publish_does_not_withdraw_the_event() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            sub = await client.subscribe("a")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await client.publish("a", b"1")
            assert (await client.publish("a", b"2")).sequence == 2
            assert [e.sequence async for e in _first(sub, 2)] == [1, 2]

    run(test)


async def _first(sub: eventbus.Subscription, n: int) -> AsyncIterator[Event]:
    async for event in sub:
        yield event
        n -= 1
        if n == 0:
            return


def test_close_returns_whether_all_was_confirmed() -> None:
    async def test(bus: Bus) -> None:
        client = await connect(bus)
        bus.confirms = False
        waiting = asyncio.ensure_future(client.publish("a", b""))
        await bus.until(lambda: bus.of(PublishSeen))
        assert await client.close(0.05) is False
        with pytest.raises(eventbus.ConnectionLost):
            await waiting
        client = await connect(bus)
        assert client.send("a", b"x")
        assert await client.close() is True
        assert len(bus.of(PublishSeen)) == 2

    run(test)


def test_close_waits_for_handlers() -> None:
    async def test(bus: Bus) -> None:
        client = await connect(bus)
        started, done = asyncio.Event(), asyncio.Event()

        async def handler(event: Event) -> None:
            started.set()
            await asyncio.sleep(0.02)
            done.set()

        await client.subscribe("a", handler=handler)
        await client.publish("a", b"")
        await started.wait()
        assert await client.close() is True
        assert done.is_set()
        client = await connect(bus)

        async def stuck(event: Event) -> None:
            await asyncio.Event().wait()

        await client.subscribe("a", handler=stuck)
        await client.publish("a", b"")
        assert await client.close(0.05) is False

    run(test)


def test_a_handler_may_close_the_client() -> None:
    async def test(bus: Bus) -> None:
        client = await connect(bus)
        closed = asyncio.Event()

        async def handler(event: Event) -> None:
            await client.close()
            closed.set()

        await client.subscribe("a", handler=handler)
        await client.publish("a", b"")
        await closed.wait()
        await bus.until(lambda: not any("handler" in t.get_name() for t in asyncio.all_tasks()))

    run(test)


def test_a_handler_may_subscribe_flush_and_publish() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus, receive_bytes=1024) as client:
            done = asyncio.Event()

            async def handler(event: Event) -> None:
                await client.subscribe("b", handler=lambda e: done.set())
                await client.publish("b", b"x")
                await client.flush(5)

            await client.subscribe("a", handler=handler)
            await client.publish("a", b"x" * 2000)
            await done.wait()

    run(test)


def test_a_silent_connection_is_given_up() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus, silence_timeout=0.1) as client:
            await asyncio.sleep(0.25)  # Pings are answered
            assert client.counters().reconnects == 0
            bus.connections[0].transport.pause_reading()
            await bus.until(lambda: client.counters().reconnects)
            bus.connections[0].transport.resume_reading()

    run(test)


def test_listeners_can_be_removed_and_their_exceptions_harm_nothing() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            heard: list[Any] = []
            out = client.on_gap(heard.append)
            client.on_gap(lambda gap: 1 / 0)
            await client.subscribe("a", handler=lambda e: None)
            await bus.connections[0].send(numbered("a", 5, 1, 1) + numbered("a", 5, 3, 3))
            await bus.until(lambda: heard)
            out()
            out()
            await bus.connections[0].send(numbered("a", 5, 9, 9))
            await bus.until(lambda: client.counters().received == 3)
            assert len(heard) == 1

    run(test)


def test_wrong_arguments_are_refused() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            with pytest.raises(TypeError, match="payload: int"):
                client.send("a", 1)
            with pytest.raises(TypeError, match="topic: int"):
                client.send(1, b"")
            for wrong, what in (
                ({"key": 5}, "key: int"), ({"headers": {"a": 1}}, "headers: str to int, for 'a'"),
                ({"headers": [1]}, "headers: list"), ({"published_at": 1.5}, "published_at: float"),
            ):  # fmt: skip
                for call in (client.publish, client.send, client.request):
                    with pytest.raises(TypeError, match=what):
                        result = call("a", b"x", **wrong)
                        await result
            with pytest.raises(TypeError, match="coroutine function"):
                client.on_gap(bus.until)
            with pytest.raises(ValueError, match="timeout: -1"):
                await client.flush(-1)
            with pytest.raises(ValueError, match="most: 0"):
                await anext(client.subscribe("a").batches(most=0))

    run(test)


def test_unknown_frames_are_skipped() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            await bus.connections[0].send(frame(77, b"later"))
            await client.flush()
            assert len(bus.of(Barrier)) == 1
            assert len(bus.of(Subscribe)) == 0

    run(test)
