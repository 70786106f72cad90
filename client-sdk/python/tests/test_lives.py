"""Subscriptions, services and clients of asyncio end, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import logging
import ssl
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from fakes import numbered
from loopback import Bus
from test_aio import connect, run

import eventbus
from eventbus import Closed, Event, HandlerFailed, Invocation, NotConnected, Refused, TimedOut
from eventbus._wire.call_frames import Register, Unregister
from eventbus._wire.records import Subscribe, Unsubscribe


async def give_up(what: Any, way: str) -> None:
    """Awaits or enters something that does not complete."""

    async def enter() -> None:
        async with what:
            raise AssertionError

    async def wait() -> None:
        await what

    task = asyncio.ensure_future(enter() if "async with" in way else wait())
    if "cancel" in way:
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises((asyncio.CancelledError, TimedOut)):
        await task


WAYS = ["cancel await", "cancel async with", "late await", "late async with"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("handled", [False, True])
def test_a_cancelled_subscription_is_ended_at_the_bus(way: str, handled: bool) -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus, confirm_timeout=0.05 if "late" in way else 30) as client:
            bus.mute = True
            subscription = client.subscribe("a", handler=print if handled else None)
            await give_up(subscription, way)
            await bus.until(lambda: bus.of(Unsubscribe))
            await bus.speak()
            await bus.until(lambda: not client._machine.registry.all)
            assert len(bus.of(Subscribe)) == 1
            again = await client.subscribe("a")
            await bus.connections[0].send(numbered("a", 5, 1, 1))
            assert (await again.get(5)).sequence == 1
            await again.unsubscribe()
            assert client.counters().queued_bytes == 0

    run(test)


@pytest.mark.parametrize("way", WAYS)
def test_a_cancelled_service_is_ended_at_the_bus(way: str) -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus, confirm_timeout=0.05 if "late" in way else 30) as client:
            bus.mute = True
            await give_up(client.serve("orders", lambda _: b"first"), way)
            await bus.until(lambda: bus.of(Unregister))
            await bus.speak()
            await bus.until(lambda: not client._machine.registry.all)
            async with client.serve("orders", lambda _: b"second"):
                assert (await client.request("orders")).payload == b"second"
            assert len(bus.of(Register)) == 2

    run(test)


def test_a_refused_subscription_that_nobody_awaits_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            client.subscribe("secret.>", handler=print)
            await bus.until(lambda: not client._machine.registry.all)

    with caplog.at_level(logging.WARNING, "eventbus"):
        run(test)
    assert "FORBIDDEN" in caplog.text
    assert "secret.>" in caplog.text


def test_a_cancelled_error_in_a_handler_is_a_failure_of_that_event() -> None:
    async def test(bus: Bus) -> None:
        seen: list[int] = []
        failed: list[HandlerFailed] = []

        async def handler(event: Event) -> None:
            if event.sequence == 2:
                raise asyncio.CancelledError("of a task that was awaited")
            seen.append(event.sequence)

        async with connect(bus) as client:
            client.on_handler_error(failed.append)
            await client.subscribe("a", handler=handler)
            await bus.connections[0].send(numbered("a", 5, 1, 4))
            await bus.until(lambda: len(seen) == 3)
            assert seen == [1, 3, 4]
            assert isinstance(failed[0].error, asyncio.CancelledError)

    run(test)


def test_a_cancelled_handler_ends_its_subscription_and_is_reported() -> None:
    async def test(bus: Bus) -> None:
        problems: list[eventbus.Error] = []

        async def stuck(event: Event) -> None:
            await asyncio.Event().wait()

        async with connect(bus) as client:
            client.on_problem(problems.append)
            sub = await client.subscribe("a", handler=stuck)
            await bus.connections[0].send(numbered("a", 5, 1, 4))
            await bus.until(lambda: sub.counters().received == 4)
            [task] = [t for t in asyncio.all_tasks() if "handler" in t.get_name()]
            task.cancel()
            await bus.until(lambda: not client._machine.registry.all)
            assert "its handler was cancelled" in str(problems[0])
            assert client.counters().queued_bytes == 0
            assert client._handlers == set()

    run(test)


def test_closing_several_times_has_one_outcome() -> None:
    async def test(bus: Bus) -> None:
        client = await connect(bus)
        client.send("a", b"x")
        assert list(await asyncio.gather(*(client.close() for _ in range(3)))) == [True, True, True]
        assert await client.close() is True
        client = await connect(bus)
        bus.confirms = False
        waiting = asyncio.ensure_future(client.publish("a", b""))
        await asyncio.sleep(0)
        assert list(await asyncio.gather(*(client.close(t) for t in (0.01, None)))) == [False, False]
        with pytest.raises(eventbus.ConnectionLost):
            await waiting

    run(test)


def test_a_handler_may_use_the_invocation_after_its_service_has_ended() -> None:
    async def test(bus: Bus) -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def handler(invocation: Invocation) -> bytes:
            begun.set()
            await go_on.wait()
            return b""

        async with connect(bus) as client:
            service = await client.serve("orders", handler)
            asked = asyncio.ensure_future(client.request("orders"))
            await begun.wait()
            assert await service.close(0) is False
            go_on.set()
            await asked

    run(test)


# ---- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Makes a key and a certificate of this machine."""
    tool = which("openssl")
    if tool is None:
        pytest.skip("no openssl to make a certificate with")
    directory = tmp_path_factory.mktemp("tls")
    key, made = directory / "key.pem", directory / "cert.pem"
    subprocess.run(
        [
            tool, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", str(key), "-out", str(made),
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return key, made


def test_wss_works_without_an_argument(certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    key, made = certificate

    async def test(bus: Bus) -> None:
        await bus.stop()
        bus.ssl = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        bus.ssl.load_cert_chain(made, key)
        await bus.start()
        assert bus.url.startswith("wss:")
        with pytest.raises(NotConnected, match="certificate verify failed") as refused:
            await connect(bus)
        assert "ssl=None" not in str(refused.value)
        own = ssl.create_default_context(cafile=str(made))
        async with connect(bus, ssl=own) as client:
            assert (await client.publish("a", b"")).sequence == 1
        # A certificate that this machine trusts.
        monkeypatch.setenv("SSL_CERT_FILE", str(made))
        async with connect(bus) as client:
            assert (await client.publish("a", b"")).sequence == 1
        with pytest.raises(NotConnected, match=r"expected: wss:// where the bus has TLS"):
            await eventbus.connect(bus.url.replace("wss:", "ws:"), proxy=None)

    run(test)


def test_a_hanging_token_function_is_named() -> None:
    async def test(bus: Bus) -> None:
        async def token() -> str:
            await asyncio.Event().wait()
            return ""

        with pytest.raises(TimedOut, match="the token function gave none"):
            await connect(bus, token=token, connect_timeout=0.05)
        with pytest.raises((Closed, TimedOut, Refused)):
            await connect(bus, token=token, connect_timeout=0.05)

    run(test)
