"""The testee of the conformance kit for this client; ../../conformance/adapter.md has its protocol.

    java -jar eventbus-conformance.jar --testee "python testee.py"
"""

import asyncio
import base64
import json
import sys

import websockets

import eventbus
from services import CallError, Rejected

CAPABILITIES = [
    "publish", "limits", "flush", "subscribe", "groups", "repetitions", "pause", "reconnect", "others", "topics", "calls",
]  # fmt: skip
FINAL = (1000, 1002, 1003, 1007, 1009)
BUS_ERRORS = set(eventbus.ERRORS)

clients = {}
served = {}  # name -> service
requests = {}  # name -> task
invocations = {}  # number -> what its handler waits for
subscriptions = {}  # name -> (subscription, its task, an event that is set while it is not paused)


def say(line):
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def backoff(given):
    if given is None:
        return eventbus.Backoff()
    if given is False:
        return eventbus.Backoff(attempts=0)
    names = {"initialDelay": "first", "maxDelay": "longest", "multiplier": "factor", "jitter": "jitter", "maxAttempts": "attempts"}
    found = {names[name]: value for name, value in given.items() if value is not None}
    return eventbus.Backoff(**{name: v / 1000 if name in ("first", "longest") else v for name, v in found.items()})


class Client(eventbus.EventBus):
    """A client that reports what happens to its connection."""

    def __init__(self, name, options):
        self.name, self.closing, self.connection = name, False, None
        self.url = None
        seconds = options.get("connectTimeout", 10_000) / 1000
        super().__init__(
            *options["urls"],
            client=options.get("name", "testee"),
            token=options.get("token"),
            attributes=options.get("attributes"),
            on_lost=self._lost,
            on_retry=lambda attempt, url, delay: self.tell("reconnecting", attempt=attempt, url=url, delay=delay * 1000),
            connect_seconds=seconds,
            backoff=backoff(options.get("reconnect")),
        )

    def tell(self, event, **members):
        say({"event": event, "client": self.name, **members})

    def _lost(self, lost):
        reason = lost.reason if lost.reason in ("QUEUE_FULL", "CONFLATED") else "LOST"
        producer = str(lost.producer)
        self.tell("gap", topic=lost.topic, producer=producer, **{"from": lost.first, "to": lost.last}, reason=reason)

    async def _session(self, url):
        self.url = url
        try:
            await super()._session(url)
        except websockets.ConnectionClosed as e:
            self._tell_end(e.rcvd.code if e.rcvd else 1006, e.rcvd.reason if e.rcvd else "")
            raise
        except asyncio.CancelledError:
            self._tell_end(1000, "")
            raise
        except Exception as e:
            self._tell_end(1006, str(e))
            raise

    def _tell_end(self, code, reason):
        if self.connection:
            self.connection = None
            again = not self.closing and code not in FINAL and code < 4500 and self._backoff.attempts > 0
            self.tell("disconnected", code=code, reason=reason, willReconnect=again)

    async def _welcomed(self, ws, welcome):
        before, now = self._producer, welcome["producer"]
        if before not in (None, now):
            self.tell("producerChanged", before=str(before), now=str(now))
        self.connection = {
            "url": self.url,
            "bus": welcome["bus"],
            "session": welcome["session"],
            "producer": str(now),
        }
        await super()._welcomed(ws, welcome)
        self.tell("connected", **self.connection)

    def state(self):
        if self._ended.done():
            return "CLOSED"
        if self.connection:
            return "CONNECTED"
        return "CONNECTING" if self._producer is None else "RECONNECTING"

    async def close(self):
        self.closing = True
        await super().close()


async def consume(client, name, subscription, running):
    async for event in subscription:
        client.tell(
            "received",
            subscription=name,
            topic=event.topic,
            producer=str(event.producer),
            sequence=event.sequence,
            payload=base64.b64encode(event.payload).decode(),
            key=event.key,
            headers=event.headers,
            publishedAt=event.published_at,
            receivedAt=event.received_at,
            schema=str(event.schema),
        )
        await running.wait()


async def connect(name, args):
    client = clients[name] = Client(name, args)
    try:
        await client.__aenter__()
    except BaseException:
        del clients[name]
        raise
    return client.connection


async def publish(name, args):
    client = clients[name]
    if client.state() == "CLOSED":
        raise eventbus.EventBusError("CLOSED", "this client is closed")
    payload = base64.b64decode(args["payload"])
    sequence = await client.publish(
        args["topic"],
        payload,
        key=args.get("key"),
        headers=args.get("headers"),
        schema=int(args.get("schema") or 0),
        published_at=args.get("publishedAt"),
    )
    return {"topic": args["topic"], "producer": str(client._producer), "sequence": sequence}


async def flush(name, args):
    await clients[name].flush()


async def subscribe(name, args):
    client, mine = clients[name], args["as"]
    options = {"overflow": args["overflow"]} if "overflow" in args else {}
    subscription = await client.subscribe(args["filter"], group=args.get("group"), **options)
    running = asyncio.Event()
    running.set()
    subscriptions[mine] = (subscription, asyncio.create_task(consume(client, mine, subscription, running)), running)


async def unsubscribe(name, args):
    subscription, task, _ = subscriptions[args["subscription"]]
    await clients[name].unsubscribe(subscription)
    await task


async def pause(name, args):
    subscriptions[args["subscription"]][2].clear()


async def resume(name, args):
    subscriptions[args["subscription"]][2].set()


async def state(name, args):
    return {"state": clients[name].state(), "connection": clients[name].connection}


async def close(name, args):
    await clients[name].close()
    return {"drained": True}


async def request(name, args):
    if "as" in args:
        requests[args["as"]] = asyncio.current_task()
    answer = await clients[name].request(
        args["service"],
        base64.b64decode(args["payload"]),
        method=args.get("method") or "",
        timeout=args.get("timeout", 5000) / 1000,
        idempotent=bool(args.get("idempotent")),
        key=args.get("key"),
        headers=args.get("headers"),
        member=int(args.get("member") or 0),
        published_at=args.get("publishedAt"),
    )
    return {"payload": base64.b64encode(answer.payload).decode(), "member": str(answer.member)}


async def cancel(name, args):
    requests[args["request"]].cancel()


async def serve(name, args):
    client, mine = clients[name], args["as"]

    async def handler(invocation):
        number = len(invocations) + 1
        invocations[number] = asyncio.get_running_loop().create_future()
        client.tell(
            "invoked",
            service=mine,
            invocation=number,
            method=invocation.method,
            caller=str(invocation.caller),
            request=invocation.request,
            attempt=invocation.attempt,
            identity="",
            payload=base64.b64encode(invocation.payload).decode(),
        )
        return await invocations[number]

    served[mine] = await client.serve(args["service"], handler, args.get("concurrency") or 16)


async def unserve(name, args):
    await served[args["service"]].close()


async def reply(name, args):
    invocations[args["invocation"]].set_result(base64.b64decode(args["payload"]))


async def reject(name, args):
    message = args.get("message") or f"method {args.get('method')}"
    invocations[args["invocation"]].set_exception(Rejected(args["reason"], message, args.get("type") or ""))


async def checkTopic(name, args):
    return legal(eventbus.check_topic, args["topic"])


async def checkFilter(name, args):
    return legal(eventbus.check_filter, args["filter"])


def legal(check, name):
    try:
        check(name)
    except ValueError:
        return {"legal": False}
    return {"legal": True}


async def match(name, args):
    return {"matches": eventbus.matches(args["filter"], args["topic"])}


async def hello(name, args):
    return {"protocol": 1, "agent": "eventbus-python-example/1", "capabilities": CAPABILITIES}


async def reset(name, args):
    for _, task, _ in subscriptions.values():
        task.cancel()
    await asyncio.gather(*(client.close() for client in clients.values()), return_exceptions=True)
    for names in (subscriptions, clients, served, requests):
        names.clear()


OPS = {
    op.__name__: op
    for op in (
        hello, reset, connect, close, state, publish, flush, subscribe, unsubscribe, pause, resume,
        request, cancel, serve, unserve, reply, reject,
        checkTopic, checkFilter, match,
    )
}


def error(failure):
    """Returns an error of the client in the kit's terms; None for other exceptions."""
    message = str(failure)
    if isinstance(failure, CallError):
        return {"code": failure.code, "executed": failure.executed, "retryable": failure.retryable, "message": message}
    if isinstance(failure, asyncio.CancelledError):
        return {"code": "CANCELLED", "retryable": False, "message": "cancelled by its caller"}
    if isinstance(failure, eventbus.EventBusError):
        code = str(failure.code)
        if code in BUS_ERRORS or code.isdigit() or code.startswith("HTTP"):
            return {"code": "REFUSED", "busCode": code, "retryable": False, "message": message}
        codes = {"CLOSED": "CLOSED", "DISCONNECTED": "CONNECTION_LOST", "UNREACHABLE": "NOT_CONNECTED"}
        return {"code": codes.get(code, "REFUSED"), "retryable": failure.retryable, "message": message}
    if isinstance(failure, TimeoutError):
        return {"code": "TIMED_OUT", "retryable": True, "message": message}
    if isinstance(failure, ValueError):
        kind = message.split(":")[0]
        code = {"topic": "ILLEGAL_TOPIC", "payload": "TOO_BIG", "headers": "TOO_BIG", "key": "TOO_BIG"}.get(kind, "INVALID")
        return {"code": code, "retryable": False, "message": message}
    return None


async def answer(request):
    op = OPS.get(request["op"])
    try:
        if op is None:
            say({"id": request["id"], "unsupported": request["op"]})
            return
        say({"id": request["id"], "ok": await op(request.get("on"), request.get("args", {})) or {}})
    except (Exception, asyncio.CancelledError) as e:
        told = error(e)
        say({"id": request["id"], "error": told} if told else {"id": request["id"], "broken": repr(e)})


async def main():
    # Reads standard input in a thread of its own, because asyncio cannot read all pipes of shells.
    loop = asyncio.get_running_loop()
    tasks = set()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        task = asyncio.create_task(answer(json.loads(line)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(0)  # begins before the next one
    await reset(None, {})


asyncio.run(main())
