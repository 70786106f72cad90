"""A bus that records all frames, and a driver without sockets: the core under a clock that the test sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from eventbus._api.durable import Start
from eventbus._api.errors import Error
from eventbus._api.options import Options
from eventbus._base.bus_link import BusLink
from eventbus._base.commands import Abort, AskToken, Close, Open, Ping
from eventbus._connection.machine import Machine
from eventbus._durable.consumer_state import ConsumerState
from eventbus._durable.fed_consumer import ConsumerSettings
from eventbus._durable.feed_reader import FeedReader
from eventbus._durable.work_feed import OpenDelivery
from eventbus._durable.worker_state import WorkerSettings, WorkerState
from eventbus._inbound.event_reader import EventReader
from eventbus._inbound.subscription_state import SubscriptionState
from eventbus._wire.codec import Reader, frame, frames, text, varint
from eventbus._wire.durable_frames import RECORDS, Consume, Feed, Settle, SettleOutcome, TruncatedReason
from eventbus._wire.durable_frames import Truncated as TruncatedFrame
from eventbus._wire.events import Event, check_event
from eventbus._wire.records import (
    DELIVER,
    PUBLISH,
    BusCode,
    ChangeBus,
    ChangeReason,
    Confirm,
    Drained,
    GapFrame,
    Limits,
    Overflow,
    Problem,
    Subscribe,
    Unsubscribe,
    Welcome,
    WireGapReason,
)

LIMITS = Limits(1 << 20, 4 << 20, 64, 16_384, 10_000, 8 << 20)
NANOS = 1_763_712_000_000_000_000


class FakeWaiter:
    """A waiter for an answer, without a loop."""

    def __init__(self) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self._done = False
        self.cancelled = False

    def done(self) -> bool:
        return self._done or self.cancelled

    def set_result(self, result: Any, /) -> None:
        assert not self.done()
        self._done, self.result = True, result

    def set_exception(self, exception: Any, /) -> None:
        assert not self.done()
        self._done, self.error = True, exception


@dataclass
class PublishSeen:
    """A Publish frame as the bus reads it."""

    topic: str
    sequence: int
    schema: int
    confirm: bool
    payloads: list[bytes]
    #: What only durable topics have: expect, delay and time to live, the latter two in milliseconds.
    durable: tuple[int, int, int] = (0, 0, 0)
    #: Name of the producer and the number of the first event; None for none.
    named: tuple[str, int] | None = None

    @property
    def last(self) -> int:
        return self.sequence + len(self.payloads) - 1


def read_publish(r: Reader) -> PublishSeen:
    seen = PublishSeen(r.string("topic"), r.long("sequence"), r.long("schema"), r.boolean("confirm"), [])
    for _ in r.items("events", 4):
        at = check_event(r, "Event")
        seen.payloads.append(r.data[at : r.pos])
    if r.pos < r.end:
        seen.durable = r.long("expect"), r.long("delay"), r.long("ttl")
        name, number = r.optional("producerName"), r.long("number")
        seen.named = None if name is None else (name, number)
    assert r.pos == r.end
    return seen


def plain_event(payload: bytes, at: int = NANOS // 1000) -> bytes:
    return varint(at) + b"\0\0" + varint(len(payload)) + payload


def deliver(
    topic: str,
    producer: int,
    sequence: int,
    payloads: list[bytes],
    groups: tuple[int, ...] = (),
    schema: int = 0,
    offset: int = -1,
    origin: bytes = b"",
) -> bytes:
    """Returns a Deliver frame of a bus."""
    events = b"".join(map(plain_event, payloads))
    ids = b"".join(map(varint, groups))
    listed = varint(-len(groups)) + varint(len(ids)) + ids + b"\0" if groups else b"\0"
    body = b"".join(
        [
            text(topic), varint(producer), varint(sequence), varint(schema), varint(NANOS // 1000 + 500), varint(offset),
            varint(-len(payloads)), varint(len(events)), events, b"\0", listed, origin,
        ]
    )  # fmt: skip
    return frame(DELIVER, body)


def stored(
    position: int, *payloads: bytes, topic: str = "a", sequence: int | None = None, groups: tuple[int, ...] = ()
) -> bytes:
    """Returns a Deliver frame of a journal with the number 900; its publisher is 77, with numbers 100 higher than the
    journal's."""
    first = position if sequence is None else sequence
    return deliver(topic, 900, first, list(payloads), groups, offset=position, origin=varint(77) + varint(first + 100))


def numbered(topic: str, producer: int, first: int, last: int, groups: tuple[int, ...] = ()) -> bytes:
    """Returns a Deliver frame whose payloads are the sequence numbers."""
    return deliver(topic, producer, first, [b"%d" % n for n in range(first, last + 1)], groups)


class Consumer:
    """A consumer, and its application, which takes and handles events when the test says so."""

    def __init__(self, driver: Driver, state: ConsumerState) -> None:
        self._driver = driver
        self.state = state
        self.id = state.id
        self.ready = FakeWaiter()
        self.reader = FeedReader(state)

    def confirm(self, journal: str = "shop", creation: int = 0) -> bytes:
        return Confirm(Consume.CODE, self.id, journal, creation=creation).frame()

    def feed(self, first: int, last: int, *frames: bytes, head: int = 0) -> bytes:
        return Feed(self.id, first, last, max(head, last), b"".join(frames)).frame()

    def truncated(self, first: int, last: int, reason: TruncatedReason = TruncatedReason.RETENTION) -> bytes:
        return TruncatedFrame(self.id, first, last, reason).frame()

    def take(self) -> list[Any]:
        """Takes what waits next, and does not handle it: positions and payloads, or a Truncated."""
        found = self.reader.read()
        return [(e.position, e.payload) for e in found] if isinstance(found, list) else [found] if found else []

    def handle(self) -> None:
        """Handles what was taken."""
        self.reader.finish()
        self._driver.pump()

    def everything(self) -> list[Any]:
        """Takes and handles all that waits."""
        found: list[Any] = []
        while items := self.take():
            found += items
            self.handle()
        return found

    def stop(self) -> None:
        """Ends the consumer, as the application does."""
        self.state.stop()
        self._driver.machine.registry.unsubscribe(self.state, self._driver.now)
        self._driver.pump()


class Work:
    """A worker, and its application, which takes and settles events when the test says so."""

    def __init__(self, driver: Driver, state: WorkerState) -> None:
        self._driver = driver
        self.state = state
        self.id = state.id
        self.ready = FakeWaiter()

    def confirm(self, creation: int = 0) -> bytes:
        return Confirm(Consume.CODE, self.id, "shop", creation=creation).frame()

    def feed(self, first: int, *payloads: bytes, attempt: int = 1) -> bytes:
        """Returns a feed of neighbours."""
        last = first + len(payloads) - 1
        return Feed(self.id, first, last, last, stored(first, *payloads), attempt).frame()

    def take(self) -> list[OpenDelivery]:
        """Takes all that waits."""
        found = []
        while (delivery := self.state.take(self._driver.now)) is not None:
            found.append(delivery)
        self._driver.pump()
        return found

    def settle(self, delivery: OpenDelivery, outcome: SettleOutcome = SettleOutcome.DONE, **options: Any) -> None:
        self.state.settle_event(delivery, outcome, **options)
        self._driver.pump()

    def confirmed(self, delivery: OpenDelivery) -> FakeWaiter:
        """Settles an event with an answer."""
        waiter = FakeWaiter()
        self.state.settle_event_confirmed(delivery, waiter)
        self._driver.pump()
        return waiter

    def extend(self, delivery: OpenDelivery) -> None:
        self.state.extend(delivery, self._driver.now)
        self._driver.pump()

    def stored(self, position: int) -> bytes:
        """Returns the answer to a settlement that is stored."""
        return Confirm(Settle.CODE, self.id, "", position=position).frame()

    def stop(self) -> None:
        """Ends the worker, as the application does."""
        self.state.stop()
        self._driver.machine.registry.unsubscribe(self.state, self._driver.now)
        self._driver.pump()


@dataclass
class Socket:
    """A connection, seen from the bus."""

    link: BusLink
    timeout: float
    seen: list[Any] = field(default_factory=list)
    closed: tuple[int, str] | None = None
    aborted: bool = False
    pings: int = 0

    def take(self, *kinds: type) -> list[Any]:
        """Takes the received frames of these kinds; all kinds by default."""
        taken = [f for f in self.seen if not kinds or isinstance(f, kinds)]
        self.seen = [f for f in self.seen if f not in taken]
        return taken


class Driver:
    """Drives a machine by hand."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("urls", ("ws://one/bus",))
        self.now = 1000.0
        self.random = 0.0
        self.machine = Machine(Options(**options), "test/1", lambda: self.random, lambda: NANOS + int(self.now * 1e9))
        self.sockets: list[Socket] = []
        self.happened: list[Any] = []
        self.first = FakeWaiter()
        self.hold_writes = False
        #: Requests for a token that were not answered.
        self.asked: list[int] = []
        #: Set to hold the Pongs of fences.
        self.hold_pongs = False

    def start(self) -> Socket:
        self.machine.connector.start(self.first, self.now)
        self.pump()
        return self.sockets[-1]

    def pump(self) -> None:
        """Executes the commands of the machine until there are none."""
        machine = self.machine
        while True:
            at = machine.wake_at()
            if at is not None and at <= self.now:
                machine.tick(self.now)
            progress = False
            while machine.commands:
                progress = True
                command = machine.commands.popleft()
                if isinstance(command, Open):
                    self.sockets.append(Socket(command.link, command.timeout))
                    continue
                if isinstance(command, AskToken):
                    self.asked.append(command.round)
                    continue
                socket = next(s for s in self.sockets if s.link is command.link)
                if isinstance(command, Ping):
                    socket.pings += 1
                    if command.behind and not self.hold_pongs:
                        machine.heard(command.link, self.now, True)
                    continue
                if isinstance(command, Close):
                    self._write(socket)
                    socket.closed = command.code, command.reason
                else:
                    assert isinstance(command, Abort)
                    socket.aborted = True
                code = socket.closed[0] if socket.closed else 1006
                machine.closed(command.link, code, "", None, self.now)
            for socket in self.sockets:
                if socket.link.opened and not socket.closed and not socket.aborted:
                    progress |= self._write(socket)
            self.happened += machine.happenings
            machine.happenings.clear()
            if not progress:
                return

    def _write(self, socket: Socket) -> bool:
        wrote = False
        while not self.hold_writes and (message := self.machine.outgoing(socket.link, self.now)) is not None:
            wrote = True
            for code, _, body, end in frames(message):
                r = Reader(message, body, end)
                socket.seen.append(read_publish(r) if code == PUBLISH else RECORDS[code].read(r))
            self.machine.sender.sent(socket.link)
        return wrote

    def advance(self, seconds: float) -> None:
        """Advances the time, and runs each timer at its time."""
        end = self.now + seconds
        while (at := self.machine.wake_at()) is not None and at <= end:
            self.now = max(self.now, at)
            self.machine.tick(self.now)
            self.pump()
        self.now = end
        self.pump()

    def open(self, socket: Socket, token: str | None = None) -> None:
        self.machine.opened(socket.link, token, self.now)
        self.pump()

    def say(self, socket: Socket, *raw: bytes) -> None:
        """Sends a message of the bus."""
        self.machine.receive(socket.link, b"".join(raw), self.now)
        self.pump()

    def welcome(self, socket: Socket, producer: int = 77, **fields: Any) -> None:
        fields = {
            "bus": "bus-1",
            "session": "s",
            "resume": "secret",
            "limits": LIMITS,
            "calls": 4096,
            "services": 9,
            **fields,
        }
        if not socket.link.opened:
            self.open(socket)
        self.say(socket, Welcome(producer=producer, **fields).frame())

    def end(self, socket: Socket, code: int = 1006, reason: str = "", error: Error | None = None) -> None:
        """Ends the connection."""
        socket.closed = code, reason
        self.machine.closed(socket.link, code, reason, error, self.now)
        self.pump()

    def connect(self, **fields: Any) -> Socket:
        """Connects and sends a Welcome."""
        socket = self.start()
        self.welcome(socket, **fields)
        return socket

    def next_try(self) -> Socket:
        """Advances the time to the next try to connect."""
        before = len(self.sockets)
        until(self, lambda: len(self.sockets) > before)
        return self.sockets[-1]

    def reconnect(self, **fields: Any) -> Socket:
        """Advances the time to the next try, and sends a Welcome."""
        socket = self.next_try()
        self.welcome(socket, **fields)
        return socket

    def consume(
        self, name: str = "billing", filter: str = "a.>", start: Start = Start.FIRST, buffer_bytes: int = 1 << 16
    ) -> Consumer:
        """Begins a consumer of the journal ``shop``."""
        machine = self.machine
        settings = ConsumerSettings(name=name, filter=filter, journal="shop", start=start, buffer_bytes=buffer_bytes)
        consumer = Consumer(self, ConsumerState(machine.registry.next_id(), machine, settings))
        consumer.state.ready.append(consumer.ready)
        machine.registry.begin(consumer.state, self.now)
        self.pump()
        return consumer

    def consuming(self, socket: Socket, *fed: bytes, **settings: Any) -> Consumer:
        """Begins a consumer, which the bus accepts."""
        consumer = self.consume(**settings)
        self.say(socket, consumer.confirm(), *fed)
        return consumer

    def work(self, **settings: Any) -> Work:
        """Begins a worker of the journal ``shop``."""
        machine = self.machine
        settings = {
            "name": "billing",
            "filter": "a.>",
            "journal": "shop",
            "start": Start.FIRST,
            "buffer_bytes": 1 << 16,
            "max_unsettled": 256,
            "ack_timeout": 8000,
            "max_attempts": 10,
            "gives_back_taken": False,
            **settings,
        }
        work = Work(self, WorkerState(machine.registry.next_id(), machine, WorkerSettings(**settings)))
        work.state.ready.append(work.ready)
        machine.registry.begin(work.state, self.now)
        self.pump()
        return work

    def working(self, socket: Socket, *fed: bytes, **settings: Any) -> Work:
        """Begins a worker, which the bus accepts."""
        work = self.work(**settings)
        self.say(socket, work.confirm(), *fed)
        return work

    def publish(self, topic: str, payload: bytes, tail: bytes = b"") -> FakeWaiter:
        waiter = FakeWaiter()
        assert self.machine.outbox.add(topic, payload, waiter=waiter, now=self.now, tail=tail)
        self.machine.sender.expect_confirm(self.now)
        self.pump()
        return waiter

    def subscribe(
        self, filter: str, group: str | None = None, overflow: Overflow = Overflow.BLOCK, bound: int = 1 << 20
    ) -> SubscriptionState:
        subscription = SubscriptionState(self.machine.registry.next_id(), filter, group, overflow, bound)
        subscription.buffer.wants_gaps = subscription.buffer.wants_interruptions = True
        subscription.ready.append(FakeWaiter())
        self.machine.registry.begin(subscription, self.now)
        self.pump()
        return subscription

    def subscribed(
        self,
        socket: Socket,
        filter: str,
        group: str | None = None,
        overflow: Overflow = Overflow.BLOCK,
        bound: int = 1 << 20,
    ) -> SubscriptionState:
        subscription = self.subscribe(filter, group, overflow, bound)
        self.say(socket, confirm_subscribe(subscription.id))
        return subscription

    def taken(self, subscription: SubscriptionState) -> list[Event]:
        """Takes and handles all queued events."""
        return [item for item in self.everything(subscription) if isinstance(item, Event)]

    def everything(self, subscription: SubscriptionState) -> list[Any]:
        """Takes and handles all queued items: events and marks."""
        reader = EventReader(subscription.buffer, lambda _, error: pytest.fail(str(error)))
        found: list[Any] = []
        while (items := reader.read(1 << 30)) is not None:
            found += items if isinstance(items, list) else [items]
            self.machine.dispatcher.handled(reader.take_handled(), subscription)
        self.machine.handled()
        self.pump()
        return found

    def numbers(self, subscription: SubscriptionState) -> list[int]:
        return [event.sequence for event in self.taken(subscription)]

    def of(self, kind: type) -> list[Any]:
        """Returns the happenings of a kind."""
        return [h for h in self.happened if isinstance(h, kind)]


def confirm_publish(topic: str, last: int) -> bytes:
    return Confirm(1, last, topic).frame()


def confirm_subscribe(id: int) -> bytes:
    return Confirm(Subscribe.CODE, id).frame()


def drained(*ids: int) -> bytes:
    return b"".join(Confirm(Unsubscribe.CODE, id).frame() + Drained(id).frame() for id in ids)


def problem(code: BusCode, type_code: int = -1, about: int = 0, topic: str = "", retryable: bool = False) -> bytes:
    return Problem(code, "because", retryable, about, type_code, topic).frame()


def gap(topic: str, producer: int, first: int, last: int, reason: WireGapReason = WireGapReason.QUEUE_FULL) -> bytes:
    return GapFrame(topic, producer, first, last, reason).frame()


def change_bus(*urls: str, token: str = "move", deadline: int = 30_000) -> bytes:
    return ChangeBus(urls, ChangeReason.DRAIN, deadline, token, 2).frame()


def until(driver: Driver, condition: Callable[[], bool]) -> None:
    """Runs timers until a condition holds."""
    while not condition():
        at = driver.machine.wake_at()
        assert at is not None, "no timer is left"
        driver.advance(max(0.0, at - driver.now))
