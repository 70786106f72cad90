"""Retries: of the first connection, of refused upgrades, of requests that were not executed."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from fakes import Driver
from loopback import Bus, refusal
from test_aio import FAST, connect, run
from test_calls import Asked, failure, reply, sent

import eventbus
from eventbus import (
    Closed,
    DeadlineExceeded,
    Execution,
    NotConnected,
    Overloaded,
    Reconnect,
    Reconnecting,
    Refused,
    Rejected,
    State,
)
from eventbus._aio.socket import _seconds
from eventbus._connection.connector import MAX_RETRY_AFTER
from eventbus._wire.call_frames import FailureCode

PROXY = [
    (408, ""), (425, "Too Early"), (429, "slow down"), (500, ""), (502, "bad gateway"), (503, ""), (504, ""),
    (403, "<html>Forbidden</html>"), (403, ""), (404, "404 page not found"), (404, "default backend - 404"),
    (404, "Cannot GET /bus"), (404, "<p>The requested URL /bus was not found on this server.</p>"),
    (403, "Origin: a page of another site may not use this bus"), (404, "There is nothing here. The bus is at /bus."),
    (400, "Bad Request"), (401, ""), (405, ""), (407, ""), (410, "Gone"), (426, ""), (302, ""),
]  # fmt: skip


@pytest.mark.parametrize(("status", "text"), PROXY)
def test_no_answer_of_a_proxy_ends_a_client_that_was_connected(status: int, text: str) -> None:
    async def test(bus: Bus) -> None:
        async with connect(bus) as client:
            tries: list[Any] = []
            client.on_reconnecting(tries.append)
            bus.upgrade = refusal(status, text)
            bus.connections[0].transport.abort()
            await bus.until(lambda: len(tries) >= 3)
            bus.upgrade = None
            await bus.until(lambda: client.state is State.CONNECTED)
            assert client.counters().reconnects == 1

    run(test)


@pytest.mark.parametrize("status", [400, 403, 404, 405, 426])
def test_a_client_that_ends_by_itself_logs_an_error(status: int, caplog: pytest.LogCaptureFixture) -> None:
    async def test(bus: Bus) -> None:
        client = await connect(bus)
        bus.upgrade = refusal(status, "no", by_bus=True)
        bus.connections[0].transport.abort()
        await bus.until(lambda: client.state is State.CLOSED)
        with pytest.raises(Closed, match=f"answered {status}"):
            await client.publish("a", b"")
        await client.close()

    with caplog.at_level(logging.ERROR, "eventbus"):
        run(test)
    [told] = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert "the client has ended by itself" in told.getMessage()
    assert f"answered {status}" in told.getMessage()


def test_another_address_is_tried_where_a_proxy_has_no_bus_behind_it() -> None:
    async def test(bus: Bus) -> None:
        other = Bus()
        await other.start()
        try:
            other.upgrade = refusal(404, "404 page not found")
            async with eventbus.connect([other.url, bus.url], proxy=None) as client:
                assert client.connection is not None
                assert client.connection.url == bus.url
            with pytest.raises(Refused, match="answered 404") as refused:
                await connect(other)
            assert refused.value.retryable
        finally:
            await other.stop()

    run(test)


def test_retry_after_is_seconds_or_a_date_and_bounded() -> None:
    assert _seconds("17") == 17
    assert _seconds("") == _seconds("soon") == 0
    assert 90 < _seconds(format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)) <= 100
    assert _seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    d = Driver(reconnect=FAST)
    d.end(d.connect())
    socket = d.next_try()
    d.machine.closed(socket.link, 1006, "", NotConnected("x"), d.now, 1e9)
    d.pump()
    assert d.of(Reconnecting)[-1].delay == MAX_RETRY_AFTER


def test_retry_first_retries_the_first_connection() -> None:
    d = Driver(
        urls=("ws://one/bus", "ws://two/bus"),
        connect_timeout=30,
        reconnect=Reconnect(retry_first=True, initial_delay=1, jitter=0),
    )
    d.start()
    for n, wait in ((0, 0), (2, 1), (4, 2), (6, 4)):
        d.advance(wait)
        assert len(d.sockets) == n + 1
        d.end(d.sockets[n], error=NotConnected("no"))
        d.end(d.sockets[n + 1], error=Refused(eventbus.BusCode.UNSUPPORTED, "a proxy", True))
    d.advance(8)
    d.welcome(d.sockets[8])
    assert d.first.done()
    assert d.first.error is None
    # The count begins again.
    d.end(d.sockets[8])
    assert d.of(Reconnecting)[0].attempt == 1


def test_the_first_connection_is_given_up_at_its_timeout_or_when_a_bus_refuses_it() -> None:
    d = Driver(connect_timeout=10, reconnect=Reconnect(retry_first=True, initial_delay=1, jitter=0))
    d.start()
    while not d.first.done():
        d.end(d.sockets[-1], error=NotConnected("not yet"))
        if not d.first.done():
            d.next_try()
    # A delay beyond the end is cut to half of the rest, and leaves the other half for a try, and so on.
    assert 1009.8 <= d.now < 1010
    assert len(d.sockets) == 10
    assert "not yet" in str(d.first.error)
    d = Driver(connect_timeout=10, reconnect=Reconnect(retry_first=True))
    d.end(d.start(), error=Refused(eventbus.BusCode.FORBIDDEN, "no", False))
    assert isinstance(d.first.error, Refused)
    d = Driver(connect_timeout=10, reconnect=Reconnect(retry_first=True, max_attempts=1))
    d.end(d.start(), error=NotConnected("x"))
    d.end(d.next_try(), error=NotConnected("x"))
    assert d.first.done()


def test_a_program_may_start_before_its_bus() -> None:
    async def test(bus: Bus) -> None:
        port = int(bus.url.rpartition(":")[2].partition("/")[0])
        await bus.stop()
        connecting = asyncio.ensure_future(
            connect(bus, reconnect=Reconnect(retry_first=True, initial_delay=0.01, max_delay=0.02))._connect()
        )
        await asyncio.sleep(0)
        bus.port = port
        await bus.start()
        client = await connecting
        assert client.state is State.CONNECTED
        await client.close()

    run(test)


def test_a_refused_unexecuted_request_is_sent_again_within_its_timeout() -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d, timeout=10)
    for attempt in range(5):
        [request] = sent(s)
        assert request.attempt == attempt
        code = FailureCode.OVERLOADED if attempt % 2 else FailureCode.REFUSED
        d.say(s, failure(request.call, code, after=1000))
        assert not a.waiter.done()
        d.advance(0.99)
        assert sent(s) == []
        d.advance(0.81)
    d.say(s, reply(sent(s)[0].call))
    assert a.waiter.result.payload == b"y"
    # No time is left for the retry-after.
    late = Asked(d, timeout=2)
    d.say(s, failure(sent(s)[0].call, FailureCode.OVERLOADED, after=3000))
    assert isinstance(late.error, Overloaded)
    assert (late.error.executed, late.error.retry_after) == (Execution.NO, 3)


def test_requests_refused_together_are_not_sent_again_together() -> None:
    d = Driver()
    s = d.connect()
    for _ in range(2):
        Asked(d, timeout=10)
    for request, d.random in zip(sent(s), (0.75, 0.25), strict=True):
        d.say(s, failure(request.call, FailureCode.OVERLOADED, after=1000))
    d.advance(1.001)
    assert sent(s) == []
    d.advance(0.032)
    assert [r.call for r in sent(s)] == [1]
    d.advance(0.015)
    assert [r.call for r in sent(s)] == [2]


@pytest.mark.parametrize(
    ("options", "executed", "after"),
    [({}, Execution.NO, 0), ({}, Execution.UNKNOWN, 10), ({}, Execution.YES, 10), ({"retry": False}, Execution.NO, 10)],
)
def test_failures_that_are_not_retried_by_default(options: dict[str, Any], executed: Execution, after: int) -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d, timeout=10, **options)
    d.say(s, failure(sent(s)[0].call, FailureCode.REFUSED, executed, after))
    assert isinstance(a.error, Rejected)


def test_pauses_count_in_the_timeout() -> None:
    d = Driver()
    s = d.connect()
    a = Asked(d, timeout=3)
    for _ in range(2):
        d.say(s, failure(sent(s)[0].call, FailureCode.OVERLOADED, after=1000))
        d.advance(1.2)
    d.advance(2)
    assert isinstance(a.error, DeadlineExceeded)
