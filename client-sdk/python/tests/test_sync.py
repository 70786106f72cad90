"""The client without await: the same names, and no protocol of its own."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

import pytest
from fakes import numbered
from loopback import Bus, in_thread

import eventbus
from eventbus import (
    Closed,
    DeadlineExceeded,
    Invocation,
    NoMember,
    Published,
    Refused,
    Rejected,
    RequestFailed,
    State,
    TimedOut,
)
from eventbus._aio.calling import RequestOptions
from eventbus._api.options import ConnectOptions
from eventbus._wire.call_frames import Capacity
from eventbus.sync import EventBus, Service, Subscription, connect


@pytest.fixture
def bus() -> Iterator[Bus]:
    with in_thread() as found:
        yield found


def test_publish_send_and_events(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        assert client.state is State.CONNECTED
        sub = client.subscribe("a")
        assert client.publish("a", "1", timeout=5) == Published("a", 77, 1)
        for i in range(2, 3001):
            assert client.send("a", b"%d" % i, key="k" if i % 2 else None)
        assert client.publish("a", b"3001").sequence == 3001  # behind what was sent before
        got = []
        for event in sub.events(timeout=5):
            got.append(int(event.text()))
            if event.sequence == 3001:
                break
        assert got == list(range(1, 3002))
        with pytest.raises(TimedOut, match="no event of a within"):
            next(sub.events(timeout=0.01))
        client.flush(5)
        client.send("a", b"last")
        for batch in sub.batches(timeout=5):
            assert [e.text() for e in batch] == ["last"]
            break
        sub.unsubscribe()
        assert list(sub) == []
        assert client.counters().queued_bytes == 0
    assert client.state is State.CLOSED
    for call in (lambda: client.publish("a", b""), lambda: client.send("a", b""), lambda: client.subscribe("a")):
        with pytest.raises(Closed, match="the client is closed"):
            call()


def test_received_events_can_be_taken_after_the_end(bus: Bus) -> None:
    client = connect(bus.url, proxy=None)
    sub = client.subscribe("a")
    client.publish("a", b"x")
    client.flush(5)
    assert client.close()
    assert [e.payload for e in sub] == [b"x"]
    assert list(sub) == []


def test_leaving_an_iterator_loses_nothing(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        sub = client.subscribe("a")
        asyncio.run_coroutine_threadsafe(bus.connections[0].send(numbered("a", 5, 1, 12)), bus.loop).result(5)
        for event in sub:
            if event.sequence == 3:
                break
        assert [next(sub.events(timeout=5)).sequence for _ in range(2)] == [4, 5]
        assert [e.sequence for e in next(sub.batches(most=2))] == [6, 7]
        assert sub.get(5).sequence == 8
        events = sub.events(timeout=0.01)
        assert [next(events).sequence for _ in range(4)] == [9, 10, 11, 12]
        for _ in range(2):
            with pytest.raises(TimedOut, match="no event of a within"):
                next(events)
        asyncio.run_coroutine_threadsafe(bus.connections[0].send(numbered("a", 5, 13, 13)), bus.loop).result(5)
        assert sub.get(5).sequence == 13
        sub.unsubscribe()
        with pytest.raises(Closed):
            sub.get()
        assert client.counters().queued_bytes == 0


def test_errors_are_raised(bus: Bus) -> None:
    with connect([bus.url], proxy=None) as client:
        with pytest.raises(Refused):
            client.subscribe("secret.>")
        for wrong in ("a..b", "$SYS.x"):
            with pytest.raises(eventbus.IllegalTopic):
                client.send(wrong, b"")
        with pytest.raises(eventbus.TooBig):
            client.send("a", b"x" * (1 << 21))
        bus.confirms = False
        with pytest.raises(TimedOut, match=r"confirmation within|withdrawn"):
            client.publish("a", b"", timeout=0.01)
        with pytest.raises(ValueError, match="timeout: -1"):
            client.publish("a", b"", timeout=-1)
        with pytest.raises(TypeError, match="key: int"):
            client.send("a", b"", key=5)  # type: ignore[call-overload]
        problems: list[eventbus.Error] = []
        client.on_problem(problems.append)
        assert client.send("a", b"", key="k" * 5000)
        client.flush(5)
        assert len(problems) == 1
        assert client.close(0.05) is False


def test_the_buffer_is_bounded(bus: Bus) -> None:
    with connect(bus.url, proxy=None, outbound_bytes=4096) as client:
        sent = 0
        for _ in range(100):
            while not client.send("a", b"x" * 1000):
                client.room(5)
            sent += 1
        client.flush(5)
        assert client.counters().published == sent


def test_many_threads(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client, client.subscribe("t.*") as sub:

        def work(n: int) -> None:
            for i in range(20):
                client.publish(f"t.{n}", b"%d" % i)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
        for thread in threads:
            thread.start()
        got = 0
        for batch in sub.batches(timeout=10):
            got += len(batch)
            if got == 100:
                break
        for thread in threads:
            thread.join()


def test_waiting_in_the_loop_thread_raises(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        failed: list[BaseException] = []

        def listener(_: object) -> None:
            try:
                client.flush()
            except RuntimeError as e:
                failed.append(e)

        client.on_connected(listener)
        sub = client.subscribe("a")
        bus.loop.call_soon_threadsafe(bus.connections[0].transport.abort)
        while not failed:
            client.publish("a", b"")
        assert "own thread" in str(failed[0])
        sub.unsubscribe()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_after_a_fork_every_call_raises(bus: Bus) -> None:
    with connect(bus.url, proxy=None) as client:
        sub = client.subscribe("a")
        service = client.serve("orders", lambda _: b"")
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                calls: list[Callable[[], object]] = [
                    lambda: client.publish("a", b""), lambda: client.send("a", b""), lambda: client.flush(),
                    lambda: client.request("s"), lambda: client.serve("s", lambda _: b""), service.pause, service.close,
                    lambda: client.subscribe("b"), lambda: next(iter(sub)), lambda: client.room(), lambda: client.close(),
                ]  # fmt: skip
                for call in calls:
                    with pytest.raises(Closed, match="connect after the fork"):
                        call()
                with connect(bus.url, proxy=None) as fresh:
                    code = 0 if fresh.publish("c", b"").sequence == 1 else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert client.publish("a", b"").sequence == 1


def test_request_and_serve(bus: Bus) -> None:
    gate = threading.Barrier(4)

    def handler(invocation: Invocation) -> str:
        if invocation.method == "together":
            gate.wait(10)
        if invocation.method == "fail":
            raise LookupError("nothing here")
        return f"{threading.current_thread().name} {invocation.event.text()}"

    with connect(bus.url, proxy=None) as client, connect(bus.url, proxy=None) as other:
        with client.serve("orders", handler, concurrency=4, timeout=5) as service:
            answer = other.request("orders", "x", timeout=5)
            assert answer.text().startswith("eventbus orders")
            # Four handlers at once, each in a thread of its own.
            asked = [other.submit("orders", str(i), method="together") for i in range(4)]
            assert len({future.result(10).text().rpartition(" ")[0] for future in asked}) == 4
            failed: list[RequestFailed] = []
            client.on_request_error(failed.append)
            with pytest.raises(Rejected, match="failed with LookupError"):
                other.request("orders", method="fail")
            assert len(failed) == 1
            service.pause()
            bus.wait(lambda: bus.of(Capacity))
            with pytest.raises(NoMember):
                other.request("orders")
            service.resume()
            bus.wait(lambda: len(bus.of(Capacity)) == 2)
            assert service.counters().answered == 5
            assert (service.name, "orders" in repr(service)) == ("orders", True)
        assert service.close() is True
        with pytest.raises(NoMember):
            other.request("orders")
        with pytest.raises(Refused):
            client.serve("secret", handler)
        with pytest.raises(ValueError, match="concurrency: 1025"):
            client.serve("orders", handler, concurrency=1025)
    for call in (lambda: client.request("a"), lambda: client.serve("a", handler)):
        with pytest.raises(Closed):
            call()


def test_cancelling_the_future_cancels_the_request(bus: Bus) -> None:
    begun, told = threading.Event(), threading.Event()

    def handler(invocation: Invocation) -> bytes:
        invocation.on_cancel(told.set)
        begun.set()
        assert told.wait(10)
        assert invocation.cancelled
        return b""

    with connect(bus.url, proxy=None) as client, client.serve("orders", handler):
        asked = client.submit("orders")
        assert begun.wait(10)
        assert asked.cancel()
        with pytest.raises(CancelledError):
            asked.result()
        assert told.wait(10)
        told.clear()
        with pytest.raises(DeadlineExceeded):
            client.request("orders", timeout=0.01)
        told.set()


def names(kind: type) -> dict[str, list[str]]:
    found = {}
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_"):
            parameters = inspect.signature(member).parameters if inspect.isfunction(member) else {}
            found[name] = [p for p in parameters if p != "self"]
    return found


def test_both_clients_have_the_same_names_and_parameters() -> None:
    ours, theirs = names(EventBus), names(eventbus.EventBus)
    # Replaces tasks of asyncio.
    assert set(ours) - set(theirs) == {"submit"}
    assert set(theirs) <= set(ours)
    # The options of a request are written once.
    for name in ("request", "submit"):
        assert ours.pop(name) == ["service", "payload", "codec", "options"]
    options = set(theirs.pop("request")) - {"service", "payload", "codec"}
    assert options == set(RequestOptions.__annotations__)
    connecting = set(inspect.signature(eventbus.connect).parameters) - {"url"}
    assert connecting == set(ConnectOptions.__annotations__)
    for name, parameters in theirs.items():
        extra = [p for p in ours[name] if p not in parameters]
        assert extra in ([], ["timeout"]), name
        # Handlers would run in the loop's thread.
        assert [p for p in parameters if p not in ours[name]] in ([], ["handler"]), name
    # Replaces ``async for``; batches have the size of the loop thread.
    assert set(names(Subscription)) - set(names(eventbus.Subscription)) == {"events"}
    assert set(names(eventbus.Subscription)) - set(names(Subscription)) == set()
    assert names(Service) == names(eventbus.Service)
