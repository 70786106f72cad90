"""New tokens for a connection: docs/protocol.md#new-tokens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from fakes import NANOS, Driver, Socket, change_bus, problem, until
from loopback import Bus, in_thread, loopback

import eventbus
from eventbus import BusCode, NoToken, Refused, State, TimedOut
from eventbus._connection import tokens
from eventbus._connection.tokens import ANSWER_TIMEOUT, MAX_PAUSE, MIN_INTERVAL, UNKNOWN_LIFE
from eventbus._wire.records import Authenticate, Confirm, Hello
from eventbus.sync import connect as connect_sync


def expires_in(d: Driver, seconds: float) -> int:
    return NANOS // 1000 + int((d.now + seconds) * 1e6)


def connected(life: float, user: str | None = None) -> tuple[Driver, Socket]:
    d = Driver(token=lambda: "first", user=user, silence_timeout=3600)
    s = d.connect(expires_at=expires_in(d, life) if life else 0)
    s.take()
    return d, s


def accept(d: Driver, s: Socket, life: float) -> None:
    d.say(s, Confirm(Authenticate.CODE, expires_in(d, life)).frame())


@pytest.mark.parametrize(("random", "part"), [(0.0, 0.8), (1.0, 0.7)])
def test_a_token_is_replaced_when_most_of_its_life_is_over(random: float, part: float) -> None:
    d = Driver(token=lambda: "first", user="alice", silence_timeout=3600)
    d.random = random
    s = d.connect(expires_at=expires_in(d, 100))
    s.take()
    for life in (100, 1000):
        d.advance(life * part - 0.01)
        assert d.asked == []
        d.advance(0.02)
        d.machine.token(d.asked.pop(), "next", d.now)
        d.pump()
        assert s.take() == [Authenticate("next", "alice")]
        accept(d, s, 1000)
        assert d.machine.connection is not None
        assert d.machine.connection.expires_at == expires_in(d, 1000)
    assert d.machine.state is State.CONNECTED
    assert not d.of(TimedOut)


def test_a_fixed_token_is_not_replaced() -> None:
    for d in (connected(0)[0], Driver(token="fixed", silence_timeout=3600)):
        if d.machine.state is State.NEW:
            d.connect(expires_at=expires_in(d, 10))
        d.advance(15)
        assert d.asked == []


def test_a_token_that_seems_to_have_expired_is_replaced_after_a_while() -> None:
    d, _ = connected(-5)
    d.advance(UNKNOWN_LIFE * 0.8 - 0.1)
    assert d.asked == []
    d.advance(0.2)
    assert len(d.asked) == 1


def test_a_short_life_causes_no_storm() -> None:
    d, _ = connected(0.001)
    d.advance(MIN_INTERVAL - 0.1)
    assert d.asked == []
    d.advance(0.2)
    assert len(d.asked) == 1


@pytest.mark.parametrize("how", ["wrong", "busy", "silent", "none"])
def test_failures_are_retried_with_growing_delays(how: str) -> None:
    d, s = connected(100)
    d.advance(80)
    pauses = []
    for _ in range(8):
        [asked] = d.asked
        d.asked.clear()
        if how == "none":
            d.machine.no_token(asked, NoToken("the token function failed: OSError"), d.now)
        else:
            d.machine.token(asked, "next", d.now)
        d.pump()
        if how == "silent":
            d.advance(ANSWER_TIMEOUT)
        elif how != "none":
            code = BusCode.UNAUTHENTICATED if how == "wrong" else BusCode.OVERLOADED
            d.say(s, problem(code, Authenticate.CODE))
        failed = d.now
        until(d, lambda: bool(d.asked))
        pauses.append(d.now - failed)
    assert pauses == [1, 2, 4, 8, 16, MAX_PAUSE, MAX_PAUSE, MAX_PAUSE]
    # The connection stays, and the failure was reported.
    assert d.machine.state is State.CONNECTED
    assert len(d.of({"wrong": Refused, "busy": Refused, "silent": TimedOut, "none": NoToken}[how])) == 8


def test_a_token_for_another_connection_has_no_effect() -> None:
    d, s = connected(100)
    d.advance(80)
    [asked] = d.asked
    d.end(s, 1006)
    s = d.reconnect()
    s.take()
    d.machine.token(asked, "late", d.now)
    d.machine.no_token(asked, NoToken("late"), d.now)
    d.pump()
    assert s.take() == []
    assert d.of(NoToken) == []
    d.machine.close(d.now)
    d.pump()
    d.advance(100)
    assert d.asked == [asked]


def test_the_token_of_the_new_bus_has_its_own_life() -> None:
    d, s = connected(100)
    d.say(s, change_bus("ws://two/bus"))
    new = d.sockets[-1]
    d.welcome(new, bus="bus-2", expires_at=expires_in(d, 1000))
    d.say(s, s.take()[-1].frame())
    assert d.machine.current is new.link
    accept(d, s, 1)  # too late to settle anything
    d.advance(799)
    assert d.asked == []
    d.advance(2)
    d.machine.token(d.asked[0], "next", d.now)
    d.pump()
    assert new.take(Authenticate) == [Authenticate("next")]


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bus]:
    monkeypatch.setattr(tokens, "MIN_INTERVAL", 0.01)
    with in_thread() as found:
        found.token_life = 0.05
        yield found


def test_both_clients_send_new_tokens(bus: Bus) -> None:
    def tokens() -> Iterator[str]:
        yield from (f"t{n}" for n in range(10_000))

    mine = tokens()
    blocked = threading.Event()

    def blocks() -> str:
        # In a thread of its own: nothing else waits for it.
        assert "eventbus token" in threading.current_thread().name
        assert blocked.wait(10)
        return next(mine)

    with connect_sync(bus.url, proxy=None) as other:

        def unblock() -> None:
            other.flush(5)
            blocked.set()

        threading.Thread(target=unblock).start()
        with connect_sync(bus.url, proxy=None, token=blocks) as client:
            bus.wait(lambda: len(bus.of(Authenticate)) >= 3)
            assert client.connection is not None
            assert client.connection.expires_at > 0
    assert [f.token for f in (bus.of(Hello) + bus.of(Authenticate)) if f.token][:4] == ["t0", "t1", "t2", "t3"]


@pytest.mark.parametrize("fails", [False, True])
def test_a_token_function_that_times_out_or_fails_is_reported(fails: bool) -> None:
    async def test() -> None:
        async with loopback() as bus:
            bus.token_life = 0.05
            answers = iter(["first"])

            async def token() -> str:
                for answer in answers:
                    return answer
                if fails:
                    raise OSError("issuer down")
                await asyncio.sleep(60)
                return ""

            async with eventbus.connect(bus.url, proxy=None, token=token, connect_timeout=0.3) as client:
                problems: asyncio.Queue[eventbus.Error] = asyncio.Queue()
                client.on_problem(problems.put_nowait)
                async with asyncio.timeout(5):
                    error = await problems.get()
                assert error.code == ("NO_TOKEN" if fails else "TIMED_OUT")
                assert error.retryable
                assert str(error) == "the token function " + ("failed: OSError" if fails else "gave none within 0.3 s")

    asyncio.run(test())


@pytest.mark.parametrize(("token", "what"), [("", "0 bytes"), ("x" * 16_385, "16385 bytes"), (b"t", "bytes")])
def test_an_illegal_token_is_refused(token: object, what: str) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"token: {what} \(expected: "):
        Driver(token=token)
