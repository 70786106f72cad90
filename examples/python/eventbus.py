"""A client for the event bus, written from docs/protocol.md alone.

    async with EventBus("ws://localhost:8080/bus") as bus:
        flights = await bus.subscribe("flights.*.landed")
        await bus.publish("flights.EDDF.landed", b"LH400")
        async for event in flights:
            print(event.topic, event.payload)

The client reconnects, renews subscriptions, sends unconfirmed events again, drops duplicates and reports losses. Not thread-safe:
for one event loop.
"""

import asyncio
import itertools
import logging
import math
import random
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field

import websockets
from websockets.asyncio.client import connect

from services import Services
from wire import (
    BARRIER,
    CONFIRM,
    CONSUME,
    DELIVER,
    DRAINED,
    ERRORS,
    FEED,
    GAP,
    GAP_REASONS,
    HELLO,
    INVOKE,
    OVERFLOW,
    PROBLEM,
    PUBLISH,
    REGISTER,
    SUBPROTOCOL,
    SUBSCRIBE,
    TRUNCATED,
    UNSUBSCRIBE,
    WELCOME,
    EventBusError,
    frame,
    frames,
)
from workers import Workers

log = logging.getLogger("eventbus")

MAX_KEY_BYTES = 4096
MAX_UNCONFIRMED = 1000  # events that wait for their confirmation; publish() waits when there are more
MAX_PENDING = 1000  # events that wait for a slow handler; then reading stops, and the overflow policy acts
MAX_STREAMS = 100_000  # pairs of topic and producer whose last sequence is remembered
# The limit of the bus is only known once it is connected: messageBytes + 128 KiB, by default 4.1 MiB.
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
SILENCE_SECONDS = 40  # a bus pings every 25 s; when nothing at all comes for so long, it is gone
ANSWER_SECONDS = 10  # how long to wait for Welcome, and for the answers to subscribe() and flush()
CLOSE_SECONDS = 2  # how long to wait for the answer to a Close


@dataclass(frozen=True)
class Event:
    topic: str
    payload: bytes
    key: str | None
    headers: dict[str, str]
    published_at: int  # microseconds since 1970, the publisher's clock
    received_at: int  # microseconds since 1970, the bus's clock
    producer: int
    sequence: int
    schema: int  # CRC-64-AVRO fingerprint of the payload's schema, 0 for none


@dataclass(frozen=True)
class Backoff:
    """Growing delays in seconds before each reconnect, minus a random part; gives up after `attempts`."""

    first: float = 0.1
    longest: float = 10
    factor: float = 2
    jitter: float = 0.5
    attempts: float = math.inf

    def delay(self, attempt):
        return min(self.longest, self.first * self.factor ** min(attempt - 1, 100)) * (1 - self.jitter * random.random())


@dataclass(frozen=True)
class Lost:
    """Events from..to of a topic and producer that are lost; reason is None if only a gap in the numbers shows it."""

    topic: str
    producer: int
    first: int
    last: int
    reason: str | None


def _check_tokens(what, name):
    tokens = name.split(".")
    if not all(tokens) or len(tokens) > 16 or len(name.encode()) > 255:
        raise ValueError(f"{what}: {name!r} (expected: 1 to 16 tokens with '.' between, at most 255 bytes)")
    if any(c.isspace() or not (c.isprintable() or ord(c) > 0x9F) for c in name):
        raise ValueError(f"{what}: {name!r} (expected: no white space and no control character)")
    return tokens


def check_topic(topic):
    """Raises for an illegal topic."""
    _check_tokens("topic", topic)
    if topic[0] == "$" or any(c in "*>" for c in topic):
        raise ValueError(f"topic: {topic!r} (expected: no '*', no '>', no leading '$')")


def check_filter(filter):
    """Raises for an illegal filter."""
    *others, last = _check_tokens("filter", filter)
    if any(c in t for t in others for c in "*>" if t != "*") or (last not in ("*", ">") and any(c in last for c in "*>")):
        raise ValueError(f"filter: {filter!r} (expected: '*' only as a whole token, '>' only as the last one)")


def matches(filter, topic):
    """Returns whether a filter selects a topic."""
    wanted, tokens = filter.split("."), topic.split(".")
    if topic.startswith("$") and wanted[0] in ("*", ">"):
        return False
    if wanted[-1] == ">":
        wanted.pop()
        if len(tokens) <= len(wanted):
            return False
        tokens = tokens[: len(wanted)]
    return len(wanted) == len(tokens) and all(w in ("*", t) for w, t in zip(wanted, tokens))


class Subscription:
    """The events of a filter, as an asynchronous iterator."""

    def __init__(self, bus, id, filter, group, overflow):
        self._bus = bus
        self.id, self.filter, self.group, self.overflow = id, filter, group, overflow
        self._queue = asyncio.Queue()

    def request(self):
        return {"id": self.id, "filter": self.filter, "group": self.group, "overflow": self.overflow}

    def __aiter__(self):
        return self

    async def __anext__(self):
        event = await self._queue.get()
        self._bus._wake.set()
        if event is not None:
            return event
        self._finish()  # for whoever else is waiting
        if self._bus._ended.done() and self._bus._ended.result():
            raise self._bus._ended.result()
        raise StopAsyncIteration

    def _finish(self):
        self._queue.put_nowait(None)

    async def _put(self, event):
        # A slow handler stops reading, so that the bus applies its overflow policy. But not while an answer is awaited, which
        # comes after these events: the handler itself may wait for it.
        bus = self._bus
        while self._queue.qsize() >= MAX_PENDING and not bus._unconfirmed and not bus._answers:
            bus._wake.clear()
            await bus._wake.wait()
        self._queue.put_nowait(event)


@dataclass
class _Stream:
    """Received numbers of one topic and producer."""

    last: int
    gaps: deque = field(default_factory=lambda: deque(maxlen=100))


class EventBus:
    """A client of one of several buses.

    `on_lost` is called with a Lost for lost events, `on_retry` with number, address and delay of each reconnect.
    `connect_seconds` is the timeout of the first connection; after that `backoff` decides.
    """

    def __init__(
        self,
        *urls,
        client="python-example",
        token=None,
        attributes=None,
        on_lost=None,
        on_retry=None,
        connect_seconds=10,
        backoff=Backoff(),
    ):
        if not urls:
            raise ValueError("urls: none (expected: ws://host:8080/bus, or several of its kind)")
        self._urls = list(urls)
        self._client, self._token, self._connect_seconds = client, token, connect_seconds
        self._attributes, self._backoff = attributes or {}, backoff
        self._on_retry = on_retry or (lambda attempt, url, delay: None)
        self._on_lost = on_lost or (lambda lost: log.warning("lost: %s", lost))
        self._resume = None
        self._producer = None
        self._ws = None
        self._limits = None
        self._sequences = {}  # by topic: the last number that was used
        self._unconfirmed = OrderedDict()  # (topic, sequence) -> (Publish, future)
        self._subscriptions = {}
        self._answers = {}  # (type code, id) -> future
        self._services = Services(self)
        self._workers = Workers(self)
        self._streams = OrderedDict()  # (topic, producer) -> _Stream, the longest silent first
        self._ids = itertools.count(1)
        self._ready = asyncio.Event()
        self._sending = asyncio.Lock()  # keeps the events of a topic in the order of their numbers
        self._room = asyncio.Semaphore(MAX_UNCONFIRMED)
        self._wake = asyncio.Event()  # a handler took an event, or somebody waits for an answer
        self._failure = "no answer"  # of the last try to connect
        self._refusal = None  # the Problem that came before a Close, which says more than the Close

    async def __aenter__(self):
        self._ended = asyncio.get_running_loop().create_future()  # becomes an error, or None after close()
        self._runner = asyncio.create_task(self._run())
        try:
            await asyncio.wait_for(self._until_ready(), self._connect_seconds)
        except TimeoutError:
            await self.close()
            raise EventBusError("UNREACHABLE", self._failure) from None
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_):
        await self.close()

    async def close(self):
        """Closes the connection. Events for which publish() has not returned may be lost: await it first."""
        self._end(None)
        if self._ws:
            await self._ws.close(1000)
        self._runner.cancel()
        await asyncio.gather(self._runner, return_exceptions=True)
        await self._services.close()
        await self._workers.close()

    async def ended(self):
        """Waits until the client has ended; raises the reason, if close() was not called."""
        error = await asyncio.shield(self._ended)
        if error:
            raise error

    async def publish(self, topic, payload, key=None, headers=None, schema=0, published_at=None):
        """Publishes an event; returns its number once the bus has put it into the queues of its subscribers.

        `published_at` is in microseconds since 1970, by default now. Awaiting each event is slow: use asyncio.gather() or tasks
        to have many under way.
        """
        await self._until_ready()
        check_topic(topic)
        self._check_event(payload, key, headers or {})
        await self._room.acquire()
        async with self._sending:
            sequence = self._sequences.get(topic, 0) + 1
            self._sequences[topic] = sequence
            event = self._event(payload, key, headers, published_at)
            publish = {"topic": topic, "sequence": sequence, "schema": schema, "confirm": True, "events": [event]}
            confirmed = asyncio.get_running_loop().create_future()
            confirmed.add_done_callback(lambda _: self._room.release())
            self._unconfirmed[topic, sequence] = (publish, confirmed)
            self._wake.set()
            await self._send(frame(PUBLISH, publish))
        # Kept for another try even if the caller gives up: its number is used.
        return await asyncio.shield(confirmed)

    async def subscribe(self, filter, group=None, overflow="BLOCK"):
        """Subscribes; returns once the subscription is in force."""
        if overflow not in OVERFLOW:
            raise ValueError(f"overflow: {overflow!r} (expected: one of {', '.join(OVERFLOW)})")
        check_filter(filter)
        await self._until_ready()
        subscription = Subscription(self, next(self._ids), filter, group, overflow)
        request = subscription.request()
        self._subscriptions[subscription.id] = subscription
        try:
            await self._ask(SUBSCRIBE, subscription.id, request)
        except BaseException:
            self._subscriptions.pop(subscription.id, None)
            raise
        return subscription

    async def unsubscribe(self, subscription):
        """Ends a subscription; returns when the bus sends nothing more for it."""
        drained = self._answer(DRAINED, subscription.id)
        await self._ask(UNSUBSCRIBE, subscription.id, {"id": subscription.id})
        await asyncio.wait_for(drained, ANSWER_SECONDS)
        self._subscriptions.pop(subscription.id, None)
        subscription._finish()

    async def request(
        self, service, payload, method="", timeout=30, idempotent=False, key=None, headers=None, member=0, published_at=None
    ):
        """Sends a request to a service; returns the Answer, or raises CallError, whose `executed` says whether a member has begun.

        `timeout` in seconds; without a connection the request waits. Only `idempotent` requests are ever sent again.
        """
        await self._until_ready()
        return await self._services.request(
            service, payload, method, timeout, idempotent, key, headers, member, published_at
        )

    async def serve(self, service, handler, concurrency=16):
        """Becomes a member of a service; returns the Service once the bus has confirmed it.

        `handler` gets an Invocation and returns bytes, or raises Rejected. It may be asynchronous.
        """
        return await self._services.serve(service, handler, concurrency)

    async def work(self, name, filter, handler, start="NEW", concurrency=1, ack_seconds=30):
        """Shares the stored events of a filter with the other workers of a name; returns the Worker once the bus has accepted it.

        `handler` gets a Job; it may be asynchronous. When it returns, the job is done. After an exception it comes again, to
        some worker, and after Reject never. `ack_seconds` is the time after which another worker gets a job that is not done.
        """
        return await self._workers.work(name, filter, handler, start, concurrency, ack_seconds)

    async def flush(self, seconds=30):
        """Returns when everything sent before has reached every bus concerned; raises TimeoutError after `seconds`."""
        async with asyncio.timeout(seconds):
            while True:
                await self._until_ready()
                id = next(self._ids)
                try:
                    return await self._ask(BARRIER, id, {"id": id})
                except EventBusError as e:
                    if not e.retryable:
                        raise
                    await asyncio.sleep(0.1)

    # --- the connection -------------------------------------------------------------------------

    async def _until_ready(self):
        ready = asyncio.ensure_future(self._ready.wait())
        await asyncio.wait({ready, self._ended}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._ended.done():
            raise self._ended.result() or EventBusError("CLOSED", "this client was closed")

    async def _run(self):
        attempt, urls = 0, itertools.cycle(self._urls)
        url = next(urls)
        while not self._ended.done():
            started = time.monotonic()
            try:
                await self._session(url)
            except websockets.InvalidStatus as e:
                text = e.response.body.decode("utf-8", "replace").strip() if e.response.body else ""
                if e.response.status_code < 500:
                    return self._end(EventBusError(f"HTTP {e.response.status_code}", f"{url}: {text}"))
                log.info("%s: %s", url, text)
            except websockets.ConnectionClosed as e:
                code, reason = (e.rcvd.code, e.rcvd.reason) if e.rcvd else (1006, "the connection was lost")
                if code in (1000, 1002, 1003, 1007, 1009) or code >= 4500:
                    return self._end(self._refusal or EventBusError(code, reason))
                log.info("%s: closed with %d: %s", url, code, reason)
            except (OSError, TimeoutError, websockets.InvalidHandshake) as e:
                self._failure = f"{url}: {str(e) or type(e).__name__}"
                log.info("%s", self._failure)
            except EventBusError as e:
                return self._end(e)
            except websockets.InvalidURI as e:
                return self._end(EventBusError("URL", str(e)))
            except Exception as e:  # not foreseen: shown with its origin, and worth another try
                self._failure = f"{url}: {e!r}"
                log.exception("%s", url)
            finally:
                self._disconnected()
            attempt = 1 if time.monotonic() - started > 5 else attempt + 1
            url, delay = next(urls), self._backoff.delay(attempt)
            if self._producer is not None:
                if attempt > self._backoff.attempts:
                    return self._end(EventBusError("DISCONNECTED", "the connection was lost"))
                self._on_retry(attempt, url, delay)
            await asyncio.sleep(delay)

    async def _session(self, url):
        options = {"subprotocols": [SUBPROTOCOL], "compression": None, "max_size": MAX_MESSAGE_BYTES}
        options["close_timeout"] = CLOSE_SECONDS
        async with connect(url, ping_interval=15, ping_timeout=SILENCE_SECONDS - 15, **options) as ws:
            if ws.subprotocol != SUBPROTOCOL:
                raise EventBusError("UNSUPPORTED", f"{url} is no event bus: it does not speak {SUBPROTOCOL}")
            self._refusal = None
            hello = {"client": self._client, "agent": "eventbus-python-example/1", "attributes": self._attributes}
            await ws.send(frame(HELLO, {**hello, "token": self._token, "resume": self._resume}))
            async with asyncio.timeout(ANSWER_SECONDS):
                pending = list(frames(await ws.recv()))
            if pending and pending[0][0] == WELCOME:
                await self._welcomed(ws, pending.pop(0)[1])
            await self._handle(pending)
            while True:
                await self._handle(frames(await ws.recv()))

    async def _welcomed(self, ws, welcome):
        self._resume, self._limits = welcome["resume"], welcome["limits"]
        self._urls.extend(u for u in welcome["others"] if u not in self._urls)
        async with self._sending:
            for subscription in self._subscriptions.values():
                await ws.send(frame(SUBSCRIBE, subscription.request()))
            for service in self._services.registrations():
                await ws.send(frame(REGISTER, service))
            for consume in self._workers.requests():
                await ws.send(frame(CONSUME, consume))
            if self._producer not in (None, welcome["producer"]):
                self._renumber()
            self._producer = welcome["producer"]
            for publish, _ in list(self._unconfirmed.values()):
                await ws.send(frame(PUBLISH, publish))
            self._ws = ws
        await self._services.connected()
        self._ready.set()

    def _renumber(self):
        """Renumbers all topics from 1, because the bus knows this client by a new producer number."""
        waiting = list(self._unconfirmed.values())
        self._sequences.clear()
        self._unconfirmed.clear()
        for publish, confirmed in waiting:
            topic = publish["topic"]
            self._sequences[topic] = publish["sequence"] = self._sequences.get(topic, 0) + 1
            self._unconfirmed[topic, publish["sequence"]] = (publish, confirmed)

    def _disconnected(self):
        self._ws = None
        self._ready.clear()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(EventBusError("DISCONNECTED", "the connection was lost; try again", True))
        self._answers.clear()
        self._services.disconnected()
        self._workers.disconnected()

    def _end(self, error):
        if not self._ended.done():
            self._ended.set_result(error)
        for subscription in self._subscriptions.values():
            subscription._finish()
        for _, confirmed in self._unconfirmed.values():
            if not confirmed.done():
                confirmed.set_exception(error or EventBusError("CLOSED", "closed before it was confirmed"))
                confirmed.exception()  # nobody has to be waiting for it
        self._unconfirmed.clear()

    async def _send(self, message):
        if self._ws:
            try:
                await self._ws.send(message)
            except websockets.ConnectionClosed:
                pass  # the reader notices too, connects again, and sends again what matters

    def _answer(self, type_code, id):
        self._wake.set()
        return self._answers.setdefault((type_code, id), asyncio.get_running_loop().create_future())

    async def _ask(self, type_code, id, record):
        answer = self._answer(type_code, id)
        await self._send(frame(type_code, record))
        try:
            await asyncio.wait_for(answer, ANSWER_SECONDS)
        finally:
            self._answers.pop((type_code, id), None)

    @staticmethod
    def _event(payload, key, headers, published_at):
        at = time.time_ns() // 1000 if published_at is None else published_at
        return {"publishedAt": at, "key": key, "headers": headers or {}, "payload": bytes(payload)}

    def _check_event(self, payload, key, headers):
        """Raises for an event that the bus would refuse: its number would be used, and seen as a loss."""
        limits, texts = self._limits, [*headers, *headers.values()]
        if len(payload) > limits["payloadBytes"]:
            raise ValueError(f"payload: {len(payload)} bytes (expected: at most {limits['payloadBytes']})")
        if len(headers) > limits["headers"] or sum(len(t.encode()) for t in texts) > limits["headerBytes"]:
            raise ValueError(f"headers: expected at most {limits['headers']}, and {limits['headerBytes']} bytes")
        if key is not None and len(key.encode()) > MAX_KEY_BYTES:
            raise ValueError(f"key: {len(key.encode())} bytes (expected: at most {MAX_KEY_BYTES})")

    # --- input ----------------------------------------------------------------------------------

    async def _handle(self, incoming):
        for type_code, record in incoming:
            if type_code == DELIVER:
                await self._deliver(record)
            elif type_code == CONFIRM and record["typeCode"] == PUBLISH:
                self._settle(record["topic"], record["about"], None)
            elif type_code == CONFIRM:
                if record["typeCode"] == CONSUME:
                    self._workers.confirmed(record)
                self._resolve(record["typeCode"], record["about"], None)
            elif type_code in (BARRIER, DRAINED):
                self._resolve(type_code, record["id"], None)
            elif type_code == GAP:
                self._gap(record)
            elif type_code == PROBLEM:
                self._problem(record)
            elif type_code in (FEED, TRUNCATED):
                await self._workers.handle(type_code, record)
            elif type_code >= INVOKE:
                await self._services.handle(type_code, record)

    def _settle(self, topic, sequence, error):
        _, confirmed = self._unconfirmed.pop((topic, sequence), (None, None))
        if confirmed and not confirmed.done():
            if error:
                confirmed.set_exception(error)
                confirmed.exception()
            else:
                confirmed.set_result(sequence)

    def _resolve(self, type_code, id, error):
        answer = self._answers.pop((type_code, id), None)
        if answer and not answer.done():
            if error:
                answer.set_exception(error)
            else:
                answer.set_result(None)

    def _problem(self, problem):
        code = ERRORS[problem["code"]] if problem["code"] < len(ERRORS) else "INTERNAL"
        error = EventBusError(code, problem["message"], problem["retryable"])
        if problem["typeCode"] == PUBLISH and problem["topic"]:
            self._settle(problem["topic"], problem["about"], error)
        elif (problem["typeCode"], problem["about"]) in self._answers:
            self._resolve(problem["typeCode"], problem["about"], error)
        elif problem["typeCode"] == CONSUME:
            self._workers.refused(problem["about"], error)
        else:
            log.warning("the bus reports %s", error)
            self._refusal = error

    async def _deliver(self, deliver):
        topic, producer, sequence = deliver["topic"], deliver["producer"], deliver["sequence"]
        plain = [s for s in self._subscriptions.values() if s.group is None and matches(s.filter, topic)]
        grouped = [self._subscriptions[i] for i in deliver["groups"] if i in self._subscriptions]
        stream = self._stream(topic, producer)
        if stream.last and plain:
            self._report_gap(topic, producer, stream, sequence)
        for number, event in enumerate(deliver["events"], sequence):
            if number <= stream.last:
                continue  # a publisher has sent it again
            stream.last = number
            received = Event(
                topic,
                event["payload"],
                event["key"],
                event["headers"],
                event["publishedAt"],
                deliver["receivedAt"],
                producer,
                number,
                deliver["schema"],
            )
            for subscription in plain + grouped:
                await subscription._put(received)

    def _stream(self, topic, producer):
        stream = self._streams.setdefault((topic, producer), _Stream(0))
        self._streams.move_to_end((topic, producer))
        if len(self._streams) > MAX_STREAMS:
            self._streams.popitem(last=False)
        return stream

    def _gap(self, gap):
        reason = GAP_REASONS[gap["reason"]] if gap["reason"] < len(GAP_REASONS) else "UNKNOWN"
        self._stream(gap["topic"], gap["producer"]).gaps.append((gap["from"], gap["to"]))
        self._on_lost(Lost(gap["topic"], gap["producer"], gap["from"], gap["to"], reason))

    def _report_gap(self, topic, producer, stream, sequence):
        """Reports the numbers between the last one and this one that no Gap has reported."""
        start = stream.last + 1
        for first, last in sorted(stream.gaps):
            if start < first < sequence:
                self._on_lost(Lost(topic, producer, start, first - 1, None))
            start = max(start, last + 1)
        if start < sequence:
            self._on_lost(Lost(topic, producer, start, sequence - 1, None))
        # A Gap may come before events with smaller numbers; it still explains the gap behind them.
        stream.gaps = deque((gap for gap in stream.gaps if gap[1] > sequence), maxlen=100)
