"""Services on asyncio, against a bus on a real socket. No test leaves a task behind."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from loopback import Bus
from test_aio import connect, run

from eventbus import (
    Answer,
    CallFailed,
    Closed,
    DeadlineExceeded,
    Execution,
    IllegalTopic,
    Invocation,
    NoMember,
    Refused,
    Rejected,
    RequestFailed,
)
from eventbus._wire.call_frames import Cancel, Capacity, Failure, Register, Reply, Unregister


async def echo(invocation: Invocation) -> str:
    return f"{invocation.method} {invocation.event.text()}"


def test_request_and_serve() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client, connect(bus) as other:
            async with client.serve("orders", echo, identify=True) as service:
                answer = await other.request("orders", "what", method="get")
                assert (answer.text(), answer.member) == ("get what", 5)
                assert await asyncio.gather(*(text(other, str(i)) for i in range(200))) == [f" {i}" for i in range(200)]
                assert service.counters().answered == 201
                assert service.counters().running == 0
                assert "orders" in repr(service)
            assert len(bus.of(Unregister)) == 1
            with pytest.raises(NoMember) as caught:
                await other.request("orders")
            assert caught.value.executed is Execution.NO

    async def text(client: Any, payload: str) -> str:
        return str((await client.request("orders", payload)).text())

    run(test)


def test_a_handler_sees_the_request_and_returns_the_answer() -> None:
    seen: list[Invocation] = []

    def handler(invocation: Invocation) -> Any:
        seen.append(invocation)
        if invocation.method == "json":
            return Answer('{"a": 1}', key="k", headers={"h": "v"}, published_at=4, schema=9)
        return b"plain"

    async def test(bus: Bus) -> None:
        async with connect(bus) as client, client.serve("orders", handler, identify=True):
            response = await client.request(
                "orders", b"x", method="json", timeout=5, key="key", headers={"a": "b"}, schema=3, published_at=2
            )
            assert response.json() == {"a": 1}
            event = response.event
            assert (event.key, event.headers, event.published_at, event.schema) == ("k", {"h": "v"}, 4, 9)
            [i] = seen
            assert (i.service, i.identity, i.caller, i.request, i.attempt) == ("orders", "alice", 77, 1, 0)
            assert (i.event.key, i.event.headers, i.event.schema, i.event.published_at) == ("key", {"a": "b"}, 3, 2)
            assert 4 < i.remaining <= 5
            assert not i.cancelled
            assert "json" in repr(i)
            assert (await client.request("orders")).payload == b"plain"

    run(test)


def test_rejections_and_exceptions_of_handlers_are_failures(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(invocation: Invocation) -> Any:
        if invocation.method == "refuse":
            raise Rejected.refused("not now", retry_after=0.5)
        if invocation.method == "fail":
            raise Rejected.failed("no-such-order", "order 7", b"\0")
        if invocation.method == "raise":
            raise LookupError("a secret")
        if invocation.method == "cancelled":
            raise asyncio.CancelledError
        if invocation.method == "none":
            return None
        if invocation.method == "big":
            return b"x" * (2 << 20)
        raise Rejected.unknown_method(invocation.method)

    async def test(bus: Bus) -> None:
        async with connect(bus) as client, client.serve("orders", handler):

            async def failure(method: str) -> CallFailed:
                with pytest.raises(CallFailed) as caught:
                    await client.request("orders", method=method, retry=False)
                return caught.value

            refused, failed = await failure("refuse"), await failure("fail")
            assert (refused.code, refused.executed, refused.retry_after) == ("REFUSED", Execution.NO, 0.5)
            assert isinstance(failed, Rejected)
            assert (failed.code, failed.type, failed.details, failed.message) == (
                "FAILED",
                "no-such-order",
                b"\0",
                "order 7",
            )
            assert (await failure("what")).code == "UNKNOWN_METHOD"
            with caplog.at_level(logging.ERROR, "eventbus"):
                raised = await failure("raise")
            assert "a secret" in caplog.text
            caplog.clear()
            told: list[RequestFailed] = []
            client.on_request_error(told.append)
            assert (raised.code, raised.executed) == ("FAILED", Execution.YES)
            assert raised.message == "the member's handler failed with LookupError"
            assert (await failure("cancelled")).message.endswith("CancelledError")
            assert (await failure("none")).message.endswith("TypeError")
            assert (await failure("big")).code == "TOO_BIG"
            assert [type(t.error).__name__ for t in told] == ["CancelledError", "TypeError", "TooBig"]
            assert client.counters().handler_failures == 4
            assert [r for r in caplog.records if r.name == "eventbus"] == []

    run(test)


def test_cancelling_the_task_cancels_the_request_and_its_handler() -> None:
    async def test(bus: Bus) -> None:
        told: asyncio.Queue[str] = asyncio.Queue()
        go_on = asyncio.Event()

        async def handler(invocation: Invocation) -> bytes:
            invocation.on_cancel(lambda: told.put_nowait("cancelled"))
            told.put_nowait("begun")
            await go_on.wait()
            if invocation.cancelled:
                invocation.on_cancel(lambda: told.put_nowait("at once"))
            await asyncio.sleep(0)
            return b""

        async with connect(bus) as client, client.serve("orders", handler):
            task = asyncio.ensure_future(client.request("orders"))
            assert await told.get() == "begun"
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await told.get() == "cancelled"
            assert len(bus.of(Cancel)) == 1
            go_on.set()
            assert await told.get() == "at once"
            await bus.until(lambda: bus.of(Reply))
            # With a timeout of asyncio, too.
            go_on.clear()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await client.request("orders")
            await bus.until(lambda: len(bus.of(Cancel)) == 2)
            go_on.set()

    run(test)


def test_a_request_fails_at_its_timeout() -> None:
    async def test(bus: Bus) -> None:
        forever = asyncio.Event()

        async def handler(invocation: Invocation) -> bytes:
            await forever.wait()
            return b""

        async with connect(bus) as client, client.serve("orders", handler):
            with pytest.raises(DeadlineExceeded) as caught:
                await client.request("orders", timeout=0.02)
            assert caught.value.executed is Execution.UNKNOWN
            forever.set()

    run(test)


def test_a_service_can_be_paused_and_closed() -> None:
    async def test(bus: Bus) -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def handler(invocation: Invocation) -> bytes:
            begun.set()
            await go_on.wait()
            return b"done"

        async with connect(bus) as client, connect(bus) as other:
            service = await client.serve("orders", handler, concurrency=2)
            service.pause()
            service.pause()
            await bus.until(lambda: bus.of(Capacity))
            with pytest.raises(NoMember):
                await other.request("orders")
            service.resume()
            await bus.until(lambda: len(bus.of(Capacity)) == 2)
            asked = asyncio.ensure_future(other.request("orders"))
            await begun.wait()
            assert await service.close(0.01) is False
            assert service.counters().cancelled == 0
            go_on.set()
            assert (await asked).text() == "done"
            assert await service.close() is True
            with pytest.raises(Closed, match="the service orders is ended"):
                await service
            service.pause()
            assert service.name == "orders"

    run(test)


def test_refused_services_raise() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            with pytest.raises(Refused):
                await client.serve("secret", echo)
            with pytest.raises(Refused):
                async with client.serve("secret", echo):
                    pass
            for wrong in ("a.*", "$x", ""):
                with pytest.raises(IllegalTopic):
                    client.serve(wrong, echo)
                with pytest.raises(IllegalTopic):
                    await client.request(wrong)
            with pytest.raises(ValueError, match="concurrency: 0"):
                client.serve("a", echo, concurrency=0)
            with pytest.raises(TypeError, match="payload"):
                await client.request("a", 5)
            with pytest.raises(ValueError, match="7"):
                await client.request("a", priority=7)
        with pytest.raises(Closed):
            client.serve("a", echo)
        with pytest.raises(Closed):
            await client.request("a")
        assert len(bus.of(Register)) == 2

    run(test)


def test_closing_the_client_answers_received_requests() -> None:
    async def test(bus: Bus) -> None:
        begun = asyncio.Semaphore(0)

        async def handler(invocation: Invocation) -> bytes:
            begun.release()
            await asyncio.sleep(0.01)
            return b"done"

        async with connect(bus) as other:
            client = await connect(bus)
            await client.serve("orders", handler, concurrency=1)
            asked = [asyncio.ensure_future(other.request("orders")) for _ in range(3)]
            await begun.acquire()
            # Two still wait for the handler.
            await bus.until(lambda: len(bus.calls) == 3)
            assert await client.close() is True
            assert [(await one).text() for one in asked] == ["done"] * 3

    run(test)


def test_closing_at_once_ends_handlers_and_requests() -> None:
    async def test(bus: Bus) -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def handler(invocation: Invocation) -> bytes:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()
            return b""

        client = await connect(bus)
        await client.serve("orders", handler)
        asked = asyncio.ensure_future(client.request("orders"))
        await begun.wait()
        await client.close(0)
        assert ended.is_set()
        with pytest.raises(CallFailed) as caught:
            await asked
        assert caught.value.executed is Execution.UNKNOWN
        assert bus.of(Failure) == []
        assert client.counters().handler_failures == 0

    run(test)


def test_a_handler_may_close_its_client() -> None:
    async def test(bus: Bus) -> None:
        client = await connect(bus)
        closed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        async def handler(invocation: Invocation) -> bytes:
            closed.set_result(await client.close(0.05))
            return b""

        async with connect(bus) as other:
            await client.serve("orders", handler)
            asked = asyncio.ensure_future(other.request("orders", timeout=0.2))
            await closed
            with pytest.raises(CallFailed):
                await asked

    run(test)


def test_a_lost_connection() -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client, connect(bus) as other:
            await client.serve("orders", echo)
            for ws in list(bus.connections):
                ws.transport.abort()
            await bus.until(lambda: len(bus.of(Register)) == 2)
            assert (await other.request("orders", "x", wait_for=1, retry=None, idempotent=True)).text() == " x"

    run(test)
