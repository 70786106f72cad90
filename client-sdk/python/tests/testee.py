"""The testee of the conformance kit: reads requests as lines of JSON, and answers with this SDK. conformance/adapter.md
has the protocol.

    java -jar eventbus-conformance.jar --testee "python client-sdk/python/tests/testee.py [--sync]"
"""

from __future__ import annotations

import asyncio
import base64
import concurrent.futures
import contextlib
import dataclasses
import json
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from enum import IntEnum
from itertools import count
from typing import Any

import eventbus
import eventbus.sync
from eventbus._aio.connect import start as start_client
from eventbus._sync.portal import the_portal
from eventbus._version import AGENT
from eventbus._wire import call_frames, codec, durable_frames, records
from eventbus._wire.codec import Malformed, Reader
from eventbus._wire.events import DeliveryReader, Event, EventCursor, check_event, encode_event, publish_head
from eventbus._wire.topics import filter_problem, matcher, topic_problem

CAPABILITIES = [
    "publish", "send", "limits", "outbound", "confirm-timeout", "flush", "subscribe", "groups", "repetitions", "forget",
    "pause", "credit", "reconnect", "others", "previous", "credentials", "tokens", "token-again", "change", "silence",
    "interruption", "independent", "proxies", "refusals", "withdraw", "retry-refused", "counters", "services", "calls",
    "decode", "strict", "durable", "positions", "consume", "encode", "topics", "fingerprint",
]  # fmt: skip
SECONDS = {
    "connectTimeout": "connect_timeout", "confirmTimeout": "confirm_timeout", "silenceTimeout": "silence_timeout",
    "closeTimeout": "close_timeout", "blockTimeout": "block_timeout",
}  # fmt: skip
NUMBERS = {
    "outboundBytes": "outbound_bytes", "batchBytes": "batch_bytes", "receiveBytes": "receive_bytes",
    "trackedProducers": "tracked_producers", "whenFull": "when_full", "name": "name", "user": "user",
    "token": "token", "attributes": "attributes",
}  # fmt: skip


class Broken(Exception):
    """The testee's own fault."""


# ---- Values


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def connection(c: eventbus.Connection | None) -> dict[str, Any] | None:
    return None if c is None else {"url": c.url, "bus": c.bus, "session": c.session, "producer": str(c.producer)}


def failure(e: BaseException, op: str = "") -> dict[str, Any]:
    if isinstance(e, eventbus.IllegalTopic) and op in ("subscribe", "consume"):
        # The kit has one code for all arguments that are refused before anything is sent, including filters.
        return {"error": {"code": "INVALID", "retryable": False, "message": str(e)}}
    if isinstance(e, eventbus.Error):
        found: dict[str, Any] = {"code": e.code, "retryable": e.retryable, "message": str(e)}
        if isinstance(e, eventbus.Refused):
            found["busCode"] = e.bus_code.name
        if isinstance(e, eventbus.CallFailed):
            found["executed"] = e.executed.name
        return {"error": found}
    if isinstance(e, Malformed):
        return {"error": {"code": "MALFORMED", "retryable": False, "message": str(e)}}
    if isinstance(e, (ValueError, TypeError)):
        return {"error": {"code": "INVALID", "retryable": False, "message": str(e)}}
    return {"broken": "".join(traceback.format_exception(e))[-2000:]}


def options(args: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": "testee", "proxy": None}
    for name, value in args.items():
        if value is None:
            continue
        if name in SECONDS:
            found[SECONDS[name]] = value / 1000
        elif name in NUMBERS:
            found[NUMBERS[name]] = value
        elif name == "tokens":
            found["token"] = in_turn(list(value))
        elif name == "reconnect":
            found["reconnect"] = False if value is False else reconnect(value)
    return found


def in_turn(tokens: list[str]) -> Callable[[], str]:
    return lambda: tokens.pop(0) if len(tokens) > 1 else tokens[0]


def reconnect(value: dict[str, Any]) -> eventbus.Reconnect:
    given: dict[str, Any] = {k: v for k, v in value.items() if v is not None}
    initial = given.get("initialDelay", 100) / 1000
    most = given.get("maxDelay", max(10_000, initial * 1000)) / 1000
    rest = {
        name: given[wire]
        for wire, name in (("multiplier", "multiplier"), ("jitter", "jitter"), ("maxAttempts", "max_attempts"))
        if wire in given
    }
    return eventbus.Reconnect(initial_delay=initial, max_delay=most, **rest)


def event_args(args: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"payload": base64.b64decode(args["payload"])}
    for wire, name in (("key", "key"), ("headers", "headers"), ("publishedAt", "published_at")):
        if args.get(wire) is not None:
            found[name] = args[wire]
    if args.get("schema") is not None:
        found["schema"] = int(args["schema"])
    return found


def publish_args(args: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of an event, with those of a durable topic."""
    found = event_args(args)
    for wire, name in (("expected", "expected"), ("producerName", "producer"), ("number", "number")):
        if args.get(wire) is not None:
            found[name] = args[wire]
    for name in ("delay", "ttl"):
        if args.get(name) is not None:
            found[name] = args[name] / 1000
    return found


def consume_args(args: dict[str, Any]) -> dict[str, Any]:
    start = eventbus.Start(durable_frames.ConsumeStart[args.get("start") or "NEW"], args.get("from") or 0)
    return {
        "filter": args.get("filter") or ">", "start": start, "journal": args.get("journal") or "",
        "buffer_bytes": args.get("bufferBytes") or 1 << 20,
    }  # fmt: skip


def truncated(client: str, subscription: str, t: eventbus.Truncated) -> dict[str, Any]:
    return {
        "event": "truncated", "client": client, "subscription": subscription, "from": t.first, "to": t.last,
        "reason": t.reason.name,
    }  # fmt: skip


def received(client: str, subscription: str, e: Event) -> dict[str, Any]:
    return {
        "event": "received", "client": client, "subscription": subscription, "topic": e.topic, "producer": str(e.producer),
        "sequence": e.sequence, "position": e.position, "payload": base64.b64encode(e.payload).decode(), "key": e.key,
        "headers": e.headers, "publishedAt": e.published_at, "receivedAt": e.received_at, "schema": str(e.schema),
    }  # fmt: skip


# ---- Vectors


def shown(kind: Any, value: Any) -> Any:
    if kind in (records.LONG, records.POSITION, durable_frames.FIRST_POSITION):
        return str(value)
    if kind is records.LIMITS:
        return record_json(value)
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, call_frames.EventParts):
        return event_parts(*value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple):
        return [str(v) if kind is records.LONGS else v for v in value]
    return value


def record_json(record: records.Record) -> dict[str, Any]:
    return {
        path.split(".")[1]: shown(kind, getattr(record, name))
        for name, path, kind, _ in records._fields_of(type(record))
    }


def event_json(data: bytes) -> dict[str, Any]:
    r = Reader(data)
    at, key, headers = r.long("Event.publishedAt"), r.optional("Event.key"), r.text_map("Event.headers")
    n = r.length("Event.payload")
    return event_parts(at, key, headers, data[r.pos : r.pos + n])


def event_parts(at: int, key: str | None, headers: Mapping[str, str], payload: bytes) -> dict[str, Any]:
    return {"publishedAt": str(at), "key": key, "headers": headers, "payload": base64.b64encode(payload).decode()}


def decode(raw: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for code, start, body, end in codec.frames(raw):
        r = Reader(raw, body, end)
        record: dict[str, Any]
        if code in durable_frames.RECORDS:
            record = record_json(durable_frames.RECORDS[code].read(r))
            if code == records.Credit.CODE and int(record["limit"]) < 0:
                raise Malformed("Credit.limit", 0, record["limit"], "at least 0")
            for name in ("attributes", "metadata"):
                if name in record and record[name] is None:
                    record[name] = {}
        elif code == records.DELIVER:
            d = DeliveryReader().read(raw, body, end, end - start)
            events: list[Event] = []
            EventCursor(d).take(events, 1 << 30)
            r = Reader(d.data)
            record = {
                "topic": d.topic, "producer": str(d.producer), "sequence": str(d.sequence), "schema": str(d.schema),
                "receivedAt": str(d.received_at), "offset": str(d.offset),
                "events": [event_json(e._d.data[e._start : e._end]) for e in events],
                "groups": [str(g) for g in d.groups],
                "originProducer": str(d.origin_producer), "originSequence": str(d.origin_sequence),
            }  # fmt: skip
        elif code == records.PUBLISH:
            record = decode_publish(r)
        else:
            continue
        found.append({"typeCode": code, "record": record})
    return found


def decode_publish(r: Reader) -> dict[str, Any]:
    record: dict[str, Any] = {"topic": r.string("Publish.topic", 255), "sequence": str(r.long("Publish.sequence"))}
    record["schema"] = str(r.long("Publish.schema"))
    record["confirm"] = r.boolean("Publish.confirm")
    record["events"] = []
    for _ in r.items("Publish.events", 4):
        start = r.pos
        check_event(r, "Publish.events")
        record["events"].append(event_json(r.data[start : r.pos]))
    last = int(record["sequence"]) + len(record["events"]) - 1
    if int(record["sequence"]) < 1 or last > codec.MAX_SEQUENCE or not record["events"]:
        raise r.malformed("Publish.sequence", r.base, record["sequence"], "at least one event, and numbers from 1")
    for name in ("expect", "delayMillis", "ttlMillis"):
        record[name] = str(records.POSITION.read(r, f"Publish.{name}") if r.pos < r.end else 0)
    record["producerName"] = r.optional("Publish.producerName") if r.pos < r.end else None
    at = r.pos
    record["number"] = str(r.long("Publish.number") if r.pos < r.end else 0)
    if (int(record["number"]) > 0) != (record["producerName"] is not None):
        raise r.malformed("Publish.number", at, record["number"], "a number from 1 with a name, else 0")
    return record


def encode(code: int, record: dict[str, Any]) -> bytes:
    if code == records.PUBLISH:
        events = [
            encode_event(int(e["publishedAt"]), e.get("key"), e.get("headers"), base64.b64decode(e["payload"]))
            for e in record["events"]
        ]
        size = sum(map(len, events))
        topic = codec.text(record["topic"])
        schema, confirm = int(record.get("schema") or 0), bool(record.get("confirm"))
        tail = durable_frames.publish_tail(
            int(record.get("expect") or 0),
            int(record.get("delayMillis") or 0),
            int(record.get("ttlMillis") or 0),
            record.get("producerName"),
            int(record.get("number") or 0),
        )
        head = publish_head(topic, int(record["sequence"]), schema, confirm, len(events), size, len(tail))
        return head + b"".join(events) + b"\0" + tail
    if code not in durable_frames.RECORDS:
        raise ValueError(f"typeCode: {code} (expected: a frame that a client writes)")
    return build(durable_frames.RECORDS[code], record).frame()


ENUMS = {
    records.OVERFLOW: records.Overflow,
    records.BUS_CODE: records.BusCode,
    records.GAP_REASON: records.WireGapReason,
    records.CHANGE_REASON: records.ChangeReason,
    call_frames.EXECUTION: call_frames.Execution,
    call_frames.FAILURE_CODE: call_frames.FailureCode,
    call_frames.CALL_KIND: call_frames.CallKind,
    call_frames.CALL_SCOPE: call_frames.CallScope,
    call_frames.PRIORITY: call_frames.Priority,
    durable_frames.MODE: durable_frames.ConsumeMode,
    durable_frames.START: durable_frames.ConsumeStart,
    durable_frames.REASON: durable_frames.TruncatedReason,
    durable_frames.OUTCOME: durable_frames.SettleOutcome,
}
INTEGERS = (
    records.LONG, records.INT, records.POSITION, call_frames.CONCURRENCY, call_frames.NATURAL,
    durable_frames.FIRST_POSITION,
)  # fmt: skip


def build(kind: type[records.Record], record: dict[str, Any]) -> records.Record:
    values: dict[str, Any] = {}
    for name, path, field, _ in records._fields_of(kind):
        wire = path.split(".")[1]
        if record.get(wire) is None:
            continue
        value = record[wire]
        if field in INTEGERS:
            value = int(value)
        elif field is call_frames.BYTES:
            value = base64.b64decode(value)
        elif field is call_frames.EVENT:
            payload = base64.b64decode(value["payload"])
            value = int(value["publishedAt"]), value.get("key"), value.get("headers") or {}, payload
        elif field in ENUMS:
            value = ENUMS[field][value]
        elif field is records.LIMITS:
            value = build(records.Limits, value)
        values[name] = value
    return kind(**values)


def pure(op: str, args: dict[str, Any]) -> dict[str, Any] | None:
    """Handles operations without a client; returns None for the others."""
    if op == "hello":
        return {"protocol": 1, "agent": AGENT, "capabilities": CAPABILITIES}
    if op == "decode":
        return {"frames": decode(bytes.fromhex(args["hex"]))}
    if op == "encode":
        return {"hex": encode(args["typeCode"], args["record"]).hex()}
    if op == "checkTopic":
        return {"legal": topic_problem(args["topic"]) is None}
    if op == "checkFilter":
        return {"legal": filter_problem(args["filter"]) is None}
    if op == "match":
        return {"matches": bool(matcher(args["filter"])(args["topic"]))}
    if op == "fingerprint":
        from eventbus.avro import fingerprint

        return {"fingerprint": str(fingerprint(args["schema"]))}
    return None


# ---- Lines


class Lines:
    """Writer of all output lines."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._out = sys.stdout.buffer

    def write(self, line: dict[str, Any]) -> None:
        raw = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock, contextlib.suppress(BrokenPipeError):
            self._out.write(raw)
            self._out.flush()


def call_args(args: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a request."""
    found = event_args(args)
    found["timeout"] = args.get("timeout", 5000) / 1000
    found["wait_for"] = args.get("waitFor", 0) / 1000
    found["method"] = args.get("method") or ""
    found["idempotent"] = bool(args.get("idempotent"))
    found["priority"] = eventbus.Priority[args.get("priority") or "NORMAL"]
    found["member"] = int(args.get("member") or 0)
    found["retry"] = False if args.get("retry") is False else None
    return found


def responded(response: eventbus.Response) -> dict[str, Any]:
    return {"payload": base64.b64encode(response.payload).decode(), "member": str(response.member)}


def serve_args(args: dict[str, Any]) -> dict[str, Any]:
    return {"concurrency": args.get("concurrency") or 16, "remember_replies": args.get("rememberReplies") or 0}


CANCELLED = {"error": {"code": "CANCELLED", "retryable": False, "message": "cancelled by its caller"}}


def rejected(args: dict[str, Any]) -> eventbus.Rejected:
    message = args.get("message") or ""
    if args["reason"] == "REFUSED":
        return eventbus.Rejected.refused(message)
    if args["reason"] == "UNKNOWN_METHOD":
        return eventbus.Rejected.unknown_method(args.get("method") or "")
    return eventbus.Rejected.failed(args.get("type") or "", message)


def listen(lines: Lines, name: str, bus: eventbus.EventBus | eventbus.sync.EventBus) -> None:
    def tell(event: str, **members: Any) -> None:
        lines.write({"event": event, "client": name, **members})

    bus.on_connected(lambda c: tell("connected", **(connection(c) or {})))
    bus.on_disconnected(lambda d: tell("disconnected", code=d.code, reason=d.reason, willReconnect=d.will_reconnect))
    bus.on_reconnecting(lambda r: tell("reconnecting", attempt=r.attempt, url=r.url, delay=r.delay * 1000))
    bus.on_bus_changed(lambda c: tell("busChanged", before=connection(c.before), now=connection(c.now)))
    bus.on_bus_change_failed(lambda c: tell("busChangeFailed", url=c.url, why=c.why))
    bus.on_producer_changed(lambda p: tell("producerChanged", before=str(p.before), now=str(p.now)))
    bus.on_gap(
        lambda g: tell(
            "gap", topic=g.topic, producer=str(g.producer), **{"from": g.first, "to": g.last},
            # The kit has one reason for a full queue, in the bus or in the client.
            reason=g.reason.name.replace("BUFFER_FULL", "QUEUE_FULL").replace("BUFFER_", ""),
        )
    )  # fmt: skip
    bus.on_dropped(lambda d: tell("dropped", events=d.events, cause=d.cause.name))
    bus.on_problem(lambda e: tell("problem", **failure(e)["error"]))


class Testee:
    """Common part of both variants of the client."""

    def __init__(self) -> None:
        self.lines = Lines()
        self.clients: dict[str, Any] = {}
        self.subscriptions: dict[str, Any] = {}
        self.services: dict[str, Any] = {}
        self.requests: dict[str, Any] = {}
        #: Results that running handlers wait for.
        self.invocations: dict[int, Future[eventbus.Answer]] = {}
        self._numbers = count(1)

    def client(self, request: dict[str, Any]) -> Any:
        found = self.clients.get(request.get("on", ""))
        if found is None:
            raise Broken(f"no client {request.get('on')!r}")
        return found

    def subscription(self, args: dict[str, Any]) -> Any:
        found = self.subscriptions.get(args["subscription"])
        if found is None:
            raise Broken(f"no subscription {args['subscription']!r}")
        return found

    def service(self, args: dict[str, Any]) -> Any:
        found = self.services.get(args["service"])
        if found is None:
            raise Broken(f"no service {args['service']!r}")
        return found

    def invoked(self, client: str, service: str, invocation: eventbus.Invocation) -> Future[eventbus.Answer]:
        """Reports the call of a handler; returns the future of its answer."""
        number = next(self._numbers)
        answer: Future[eventbus.Answer] = Future()
        self.invocations[number] = answer
        told = {"client": client, "service": service, "invocation": number}
        self.lines.write({
            "event": "invoked", **told, "method": invocation.method, "caller": str(invocation.caller),
            "request": invocation.request, "attempt": invocation.attempt, "identity": invocation.identity,
            "payload": base64.b64encode(invocation.event.payload).decode(),
        })  # fmt: skip
        invocation.on_cancel(lambda: self.lines.write({"event": "invocationCancelled", **told}))
        return answer

    def forget(self) -> None:
        """Forgets all names."""
        for named in (self.clients, self.subscriptions, self.services, self.requests, self.invocations):
            named.clear()

    def answer(self, request: dict[str, Any], what: dict[str, Any]) -> None:
        self.lines.write({"id": request["id"], **what})

    @staticmethod
    def counters(bus: Any) -> dict[str, Any]:
        return {camel(f.name): getattr(bus.counters(), f.name) for f in dataclasses.fields(eventbus.Counters)}

    @staticmethod
    def published(p: eventbus.Published) -> dict[str, Any]:
        told: dict[str, Any] = {} if p.receivers is None else {"receivers": str(p.receivers)}
        told["position"], told["repeated"] = p.position, p.repeated
        return {"topic": p.topic, "producer": str(p.producer), "sequence": p.sequence, **told}

    def simple(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Handles operations that are answered at once."""
        op, args = request["op"], request.get("args") or {}
        found = pure(op, args)
        if found is not None:
            return found
        if op == "state":
            bus = self.client(request)
            return {"state": bus.state.name, "connection": connection(bus.connection)}
        if op == "counters":
            return self.counters(self.client(request))
        if op == "send":
            return {"accepted": self.client(request).send(args["topic"], **event_args(args))}
        if op in ("reply", "reject"):
            invocation = self.invocations.pop(args["invocation"], None)
            if invocation is None:
                raise Broken(f"no invocation {args['invocation']}")
            if op == "reply":
                invocation.set_result(eventbus.Answer(**event_args(args)))
            else:
                invocation.set_exception(rejected(args))
            return {}
        if op == "cancel":
            found_request = self.requests.get(args["request"])
            if found_request is None:
                raise Broken(f"no request {args['request']!r}")
            found_request.cancel()
            return {}
        if op in ("pause", "resume"):
            gate = self.subscription(args)[1]
            if op == "pause":
                gate.clear()
            else:
                gate.set()
            return {}
        return None


class AsyncTestee(Testee):
    """The client on asyncio."""

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        lines: asyncio.Queue[bytes] = asyncio.Queue()
        tasks: set[asyncio.Task[None]] = set()

        def read() -> None:
            for line in sys.stdin.buffer:
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, b"")

        threading.Thread(target=read, daemon=True).start()
        while line := await lines.get():
            task = loop.create_task(self.handle(json.loads(line)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await self.reset()

    async def handle(self, request: dict[str, Any]) -> None:
        try:
            found = self.simple(request)
            ok = found if found is not None else await self.slow(request)
        except Broken as e:
            self.answer(request, {"broken": str(e)})
        except asyncio.CancelledError:
            self.answer(request, CANCELLED)
        except Exception as e:
            self.answer(request, failure(e, request["op"]))
        else:
            self.answer(request, {"ok": ok})

    async def slow(self, request: dict[str, Any]) -> dict[str, Any]:
        op, args = request["op"], request.get("args") or {}
        if op == "reset":
            await self.reset()
            return {}
        if op == "connect":
            return await self.connect(request["on"], args)
        bus: eventbus.EventBus = self.client(request)
        if op == "close":
            timeout = args.get("timeout")
            return {"drained": await bus.close(None if timeout is None else timeout / 1000)}
        if op == "publish":
            return self.published(await bus.publish(args["topic"], **publish_args(args)))
        if op == "flush":
            await bus.flush(args.get("timeout", 30_000) / 1000)
            return {}
        if op == "subscribe":
            await self.subscribe(request["on"], bus, args)
            return {}
        if op == "consume":
            await self.consume(request["on"], bus, args)
            return {}
        if op == "unsubscribe":
            subscription, gate = self.subscription(args)
            gate.set()
            await subscription.unsubscribe()
            return {}
        if op == "request":
            if args.get("as"):
                self.requests[args["as"]] = asyncio.current_task()
            return responded(await bus.request(args["service"], **call_args(args)))
        if op == "serve":
            await self.serve(request["on"], bus, args)
            return {}
        if op == "unserve":
            await self.service(args).close()
            return {}
        raise Broken(f"no op {op!r}")

    async def connect(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        bus = eventbus.EventBus(eventbus.connect(args["urls"], **options(args))._options)
        self.clients[name] = bus
        listen(self.lines, name, bus)
        bus.on_handler_error(
            lambda h: self.lines.write({"event": "handlerError", "client": name, "message": str(h.error)})
        )
        try:
            await start_client(bus)
        except BaseException:
            self.clients.pop(name, None)
            raise
        return connection(bus.connection) or {}

    async def subscribe(self, name: str, bus: eventbus.EventBus, args: dict[str, Any]) -> None:
        gate = asyncio.Event()
        gate.set()

        async def handler(event: Event) -> None:
            self.lines.write(received(name, args["as"], event))
            await gate.wait()

        def interrupted(i: eventbus.Interruption) -> None:
            line = {"event": "interruption", "client": name, "subscription": args["as"], "from": i.start, "to": i.end}
            self.lines.write(line)

        overflow = eventbus.Overflow[args.get("overflow") or "BLOCK"]
        subscription = bus.subscribe(
            args["filter"],
            group=args.get("group"),
            overflow=overflow,
            handler=handler,
            on_interruption=interrupted,
            buffer_bytes=args.get("bufferBytes"),
        )
        self.subscriptions[args["as"]] = subscription, gate
        await subscription

    async def consume(self, name: str, bus: eventbus.EventBus, args: dict[str, Any]) -> None:
        gate = asyncio.Event()
        gate.set()

        async def handler(event: Event) -> None:
            self.lines.write(received(name, args["as"], event))
            await gate.wait()

        def missed(t: eventbus.Truncated) -> None:
            self.lines.write(truncated(name, args["as"], t))

        how = {"handler": handler, "on_truncated": missed, **consume_args(args)}
        consumer = bus.durable(args["name"], **how) if args.get("name") else bus.replay(**how)
        self.subscriptions[args["as"]] = consumer, gate
        await consumer

    async def serve(self, name: str, bus: eventbus.EventBus, args: dict[str, Any]) -> None:
        async def handler(invocation: eventbus.Invocation) -> eventbus.Answer:
            return await asyncio.wrap_future(self.invoked(name, args["as"], invocation))

        service = bus.serve(args["service"], handler, **serve_args(args))
        self.services[args["as"]] = service
        await service

    async def reset(self) -> None:
        clients = list(self.clients.values())
        for _, gate in self.subscriptions.values():
            gate.set()
        self.forget()
        await asyncio.gather(*(bus.close(0) for bus in clients))


class SyncTestee(Testee):
    """The synchronous client: a thread for each waiting request, and one for each subscription."""

    def run(self) -> None:
        for line in sys.stdin.buffer:
            request = json.loads(line)
            if request["op"] == "request":
                self.begin_request(request)
                continue
            thread = threading.Thread(target=self.handle, args=(request,), daemon=True)
            bus = self.clients.get(request.get("on", ""))
            before = bus.counters().published if bus is not None else 0
            thread.start()
            if request["op"] in ("publish", "send", "subscribe", "consume", "unsubscribe", "flush", "serve", "unserve"):
                # Keeps the order of the lines: waits until the event has its number, or waits for room.
                until = time.monotonic() + 0.05
                while thread.is_alive() and time.monotonic() < until and bus and bus.counters().published == before:
                    time.sleep(0.0005)
            elif request["op"] != "connect" and request["op"] != "close":
                thread.join()
        self.reset()

    def handle(self, request: dict[str, Any]) -> None:
        try:
            found = self.simple(request)
            ok = found if found is not None else self.slow(request)
        except Broken as e:
            self.answer(request, {"broken": str(e)})
        except Exception as e:
            self.answer(request, failure(e, request["op"]))
        else:
            self.answer(request, {"ok": ok})

    def begin_request(self, request: dict[str, Any]) -> None:
        """Starts a request that a thread of its own waits for, so that it can be cancelled."""
        args = request["args"]
        try:
            answer = self.client(request).submit(args["service"], **call_args(args))
        except Exception as e:
            self.answer(request, failure(e, "request"))
            return
        if args.get("as"):
            self.requests[args["as"]] = answer

        def wait() -> None:
            try:
                self.answer(request, {"ok": responded(answer.result())})
            except concurrent.futures.CancelledError:
                self.answer(request, CANCELLED)
            except Exception as e:
                self.answer(request, failure(e, "request"))

        threading.Thread(target=wait, daemon=True).start()

    def slow(self, request: dict[str, Any]) -> dict[str, Any]:
        op, args = request["op"], request.get("args") or {}
        if op == "reset":
            self.reset()
            return {}
        if op == "connect":
            return self.connect(request["on"], args)
        bus: eventbus.sync.EventBus = self.client(request)
        if op == "close":
            timeout = args.get("timeout")
            return {"drained": bus.close(None if timeout is None else timeout / 1000)}
        if op == "publish":
            return self.published(bus.publish(args["topic"], **publish_args(args)))
        if op == "flush":
            bus.flush(args.get("timeout", 30_000) / 1000)
            return {}
        if op == "subscribe":
            self.subscribe(request["on"], bus, args)
            return {}
        if op == "consume":
            self.consume(request["on"], bus, args)
            return {}
        if op == "unsubscribe":
            subscription, gate, thread = self.subscription(args)
            gate.set()
            subscription.unsubscribe()
            thread.join()
            return {}
        if op == "serve":
            self.services[args["as"]] = bus.serve(
                args["service"],
                lambda invocation: self.invoked(request["on"], args["as"], invocation).result(),
                **serve_args(args),
            )
            return {}
        if op == "unserve":
            self.service(args).close()
            return {}
        raise Broken(f"no op {op!r}")

    def connect(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        portal = the_portal()

        async def make() -> eventbus.EventBus:
            return eventbus.EventBus(eventbus.connect(args["urls"], **options(args))._options)

        inner = portal.call(make())
        bus = eventbus.sync.EventBus(portal, inner)
        self.clients[name] = bus
        listen(self.lines, name, bus)
        try:
            portal.call(start_client(inner))
        except BaseException:
            self.clients.pop(name, None)
            raise
        return connection(bus.connection) or {}

    def subscribe(self, name: str, bus: eventbus.sync.EventBus, args: dict[str, Any]) -> None:
        gate = threading.Event()
        gate.set()
        overflow = eventbus.Overflow[args.get("overflow") or "BLOCK"]
        subscription = bus.subscribe(
            args["filter"], group=args.get("group"), overflow=overflow, buffer_bytes=args.get("bufferBytes")
        )

        def consume() -> None:
            with contextlib.suppress(eventbus.Error):
                for event in subscription.events():
                    self.lines.write(received(name, args["as"], event))
                    gate.wait()

        self.read(args["as"], subscription, gate, consume)

    def read(self, name: str, subscription: Any, gate: threading.Event, consume: Callable[[], None]) -> None:
        """Starts the thread that takes the events of a subscription or consumer."""
        thread = threading.Thread(target=consume, daemon=True)
        self.subscriptions[name] = subscription, gate, thread
        thread.start()

    def consume(self, name: str, bus: eventbus.sync.EventBus, args: dict[str, Any]) -> None:
        gate = threading.Event()
        gate.set()
        how = {"on_truncated": lambda t: self.lines.write(truncated(name, args["as"], t)), **consume_args(args)}
        consumer = bus.durable(args["name"], **how) if args.get("name") else bus.replay(**how)

        def consume() -> None:
            with contextlib.suppress(eventbus.Error):
                for event in consumer.events():
                    self.lines.write(received(name, args["as"], event))
                    gate.wait()

        self.read(args["as"], consumer, gate, consume)

    def reset(self) -> None:
        clients = list(self.clients.values())
        for _, gate, _ in self.subscriptions.values():
            gate.set()
        for invocation in list(self.invocations.values()):
            invocation.set_exception(Broken("reset"))
        for bus in clients:
            bus.close(0)
        for _, _, thread in self.subscriptions.values():
            thread.join(1)
        self.forget()


def main(run: Callable[[], None]) -> None:
    run()


if __name__ == "__main__":
    if "--sync" in sys.argv[1:]:
        SyncTestee().run()
    else:
        asyncio.run(AsyncTestee().run())
