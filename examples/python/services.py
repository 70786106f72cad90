"""The part of the client that calls services and serves them; see docs/protocol.md#services.

    answer = await bus.request("orders", b"7", method="get", timeout=2)
    orders = await bus.serve("orders", handler)         # async def handler(invocation): return b"..."
    await orders.close()

A request is executed at most once, unless it is `idempotent`: then it is sent again over the next connection.
"""

import asyncio
import inspect
import itertools
import logging
import time
from dataclasses import dataclass, field

from wire import (
    CANCEL,
    DRAINED,
    EXECUTED,
    FAILURE,
    FAILURES,
    INVOKE,
    REGISTER,
    REPLY,
    REQUEST,
    UNREGISTER,
    EventBusError,
    frame,
)

log = logging.getLogger("eventbus")

VERDICT_SECONDS = 0.05  # the bus knows more of what came of a request: so much longer its answer is waited for
MAX_SECONDS = 600
ANSWER_SECONDS = 10  # how long to wait for the end of a service
MAX_WAITING = 1000  # requests that wait for a handler; others are refused
MAX_METHOD_BYTES = 255
MAX_SERVICE_BYTES = 240
MAX_MESSAGE = 1000  # characters of a failure


class CallError(EventBusError):
    """A request has failed; `executed` is NO, YES or UNKNOWN: whether a member has begun with it."""

    def __init__(self, code, message, executed, retryable=False, type="", details=b""):
        super().__init__(code, message, retryable)
        self.message, self.executed, self.type, self.details = message, executed, type, details


class Rejected(Exception):
    """Raised by handlers: REFUSED (not begun, others may try), UNKNOWN_METHOD or FAILED (tried)."""

    def __init__(self, code, message, type="", details=b""):
        super().__init__(message)
        self.code, self.type, self.details = code, type, details
        self.executed = "YES" if code == "FAILED" else "NO"


@dataclass(frozen=True)
class Answer:
    payload: bytes
    key: str | None
    headers: dict[str, str]
    member: int


@dataclass
class Invocation:
    """A request for a handler. `cancelled`: nobody waits for the answer any more."""

    method: str
    payload: bytes
    key: str | None
    headers: dict[str, str]
    caller: int
    request: int
    attempt: int
    deadline: float = field(repr=False)
    begun: bool = False
    cancelled: bool = False

    def remaining(self):
        return max(0, self.deadline - time.monotonic())


@dataclass
class _Call:
    request: dict
    answer: asyncio.Future
    deadline: float
    sent: bool = False


class Service:
    """A service that this client is a member of."""

    def __init__(self, services, id, name, handler, concurrency):
        self._services = services
        self.id, self.name, self.handler, self.concurrency = id, name, handler, concurrency
        self.slots = asyncio.Semaphore(concurrency)
        self.tasks = set()

    def request(self):
        return {"id": self.id, "service": self.name, "concurrency": self.concurrency}

    async def close(self):
        """Ends the service; returns when no more requests come and all are answered."""
        await self._services.unregister(self)
        if self.tasks:
            await asyncio.wait(self.tasks)


class Services:
    """All requests and services of a client, `bus`."""

    def __init__(self, bus):
        self._bus = bus
        self._calls = {}  # by number
        self._numbers = itertools.count(1)
        self._served = {}  # by id
        self._invoked = {}  # (connection, number) -> (Invocation, task)

    # --- requests ---------------------------------------------------------------------------------

    async def request(self, service, payload, method, timeout, idempotent, key, headers, member, published_at):
        check_service(service)
        if not 0.001 <= timeout <= MAX_SECONDS:
            raise ValueError(f"timeout: {timeout} (expected: 0.001 to {MAX_SECONDS} seconds)")
        if len(method.encode()) > MAX_METHOD_BYTES:
            raise ValueError(f"method: {method!r} (expected: at most {MAX_METHOD_BYTES} bytes)")
        self._bus._check_event(payload, key, headers or {})
        number, deadline = next(self._numbers), time.monotonic() + timeout
        request = {"call": number, "service": service, "method": method, "idempotent": idempotent}
        request |= {"attempt": 0, "member": member, "event": self._bus._event(payload, key, headers, published_at)}
        call = self._calls[number] = _Call(request, asyncio.get_running_loop().create_future(), deadline)
        try:
            async with asyncio.timeout(timeout + VERDICT_SECONDS):
                await self._bus._until_ready()
                await self._send(call)
                return await call.answer
        except TimeoutError:
            executed = "UNKNOWN" if call.sent or call.request["attempt"] else "NO"
            raise CallError("TIMEOUT", f"{service} did not answer within {timeout} s", executed) from None
        except asyncio.CancelledError:
            if call.sent:
                await self._bus._send(frame(CANCEL, {"call": number}))
            raise
        finally:
            self._calls.pop(number, None)

    async def _send(self, call):
        left = int((call.deadline - time.monotonic()) * 1000)
        if not call.sent and left > 0 and self._bus._ws and not call.answer.done():
            call.sent = True
            await self._bus._send(frame(REQUEST, call.request | {"timeoutMillis": left}))

    def _reply(self, reply):
        call = self._calls.get(reply["call"])
        if call and not call.answer.done():
            event = reply["event"]
            call.answer.set_result(Answer(event["payload"], event["key"], event["headers"], reply["member"]))

    def _failed(self, failure):
        call = self._calls.get(failure["call"])
        if call and not call.answer.done():
            code = FAILURES[failure["code"]] if failure["code"] < len(FAILURES) else "INTERNAL"
            executed = EXECUTED[failure["executed"]] if failure["executed"] < len(EXECUTED) else "UNKNOWN"
            if call.request["attempt"] and executed == "NO":
                executed = "UNKNOWN"  # an earlier try may have been
            again = code not in ("FORBIDDEN", "TOO_BIG", "UNSUPPORTED", "UNKNOWN_METHOD")
            safe = executed == "NO" or (executed == "UNKNOWN" and call.request["idempotent"])
            error = CallError(code, failure["message"], executed, again and safe, failure["type"], failure["details"])
            call.answer.set_exception(error)

    # --- services ---------------------------------------------------------------------------------

    async def serve(self, name, handler, concurrency):
        check_service(name)
        if not 1 <= concurrency <= 65_536:
            raise ValueError(f"concurrency: {concurrency} (expected: 1 to 65536)")
        await self._bus._until_ready()
        service = Service(self, next(self._bus._ids), name, handler, concurrency)
        self._served[service.id] = service
        try:
            await self._bus._ask(REGISTER, service.id, service.request())
        except BaseException:
            self._served.pop(service.id, None)
            raise
        return service

    async def unregister(self, service):
        drained = self._bus._answer(DRAINED, service.id)
        await self._bus._send(frame(UNREGISTER, {"id": service.id}))
        await asyncio.wait_for(drained, ANSWER_SECONDS)
        self._served.pop(service.id, None)

    async def _invoke(self, invoke):
        service, ws = self._served.get(invoke["service"]), self._bus._ws
        if service is None:
            return await self._answer_failure(ws, invoke["call"], "REFUSED", "this member has ended", "NO")
        if invoke["kind"] != 0:
            return await self._answer_failure(ws, invoke["call"], "UNSUPPORTED", "this member replies only", "NO")
        if len(service.tasks) >= service.concurrency + MAX_WAITING:
            return await self._answer_failure(ws, invoke["call"], "OVERLOADED", "too many requests wait", "NO")
        event = invoke["event"]
        invocation = Invocation(
            invoke["method"], event["payload"], event["key"], event["headers"], invoke["caller"], invoke["request"],
            invoke["attempt"], time.monotonic() + invoke["timeoutMillis"] / 1000,
        )  # fmt: skip
        task = asyncio.create_task(self._handle_one(service, invocation, ws, invoke["call"]))
        self._invoked[ws, invoke["call"]] = invocation
        service.tasks.add(task)
        task.add_done_callback(service.tasks.discard)

    async def _handle_one(self, service, invocation, ws, call):
        try:
            async with service.slots:
                if invocation.cancelled or ws is not self._bus._ws:
                    return await self._answer_failure(ws, call, "CANCELLED", "cancelled before it was begun with", "NO")
                if invocation.remaining() <= 0:
                    return await self._answer_failure(ws, call, "TIMEOUT", "its time was over", "NO")
                begun = time.monotonic()
                try:
                    answer = service.handler(invocation)
                    if inspect.isawaitable(answer):
                        answer = await answer
                    self._bus._check_event(answer, None, {})
                except Rejected as e:
                    return await self._answer_failure(ws, call, e.code, str(e), e.executed, e.type, e.details)
                except Exception as e:
                    log.exception("the handler of %s failed", service.name)
                    text = f"the member's handler failed with {type(e).__name__}"
                    return await self._answer_failure(ws, call, "FAILED", text, "YES")
                micros = int((time.monotonic() - begun) * 1e6)
                event = self._bus._event(answer, None, None, None)
                await self._answer(ws, frame(REPLY, {"call": call, "handledMicros": micros, "event": event}))
        finally:
            self._invoked.pop((ws, call), None)

    async def _answer_failure(self, ws, call, code, message, executed, type="", details=b""):
        failure = {"call": call, "code": FAILURES.index(code), "message": message[:MAX_MESSAGE]}
        failure["executed"] = EXECUTED.index(executed)
        await self._answer(ws, frame(FAILURE, failure | {"type": type, "details": details}))

    async def _answer(self, ws, message):
        if ws is self._bus._ws:  # the number of a call is of its connection
            await self._bus._send(message)

    # --- the connection ---------------------------------------------------------------------------

    async def handle(self, type_code, record):
        """Handles a frame of calls."""
        if type_code == INVOKE:
            await self._invoke(record)
        elif type_code == REPLY:
            self._reply(record)
        elif type_code == FAILURE:
            self._failed(record)
        elif type_code == CANCEL and (invocation := self._invoked.get((self._bus._ws, record["call"]))):
            invocation.cancelled = True

    def registrations(self):
        """Returns the registrations for a new connection."""
        return [service.request() for service in self._served.values()]

    async def connected(self):
        """Sends the waiting requests."""
        for call in list(self._calls.values()):
            await self._send(call)

    def disconnected(self):
        """Fails sent requests, which may have been executed, except idempotent ones, which are sent again."""
        for call in self._calls.values():
            if not call.sent or call.answer.done():
                continue
            if call.request["idempotent"]:
                call.sent = False
                call.request["attempt"] += 1
            else:
                text = f"the connection was lost before {call.request['service']} answered"
                call.answer.set_exception(CallError("BUS_LOST", text, "UNKNOWN"))
        self._invoked.clear()

    async def close(self):
        """Fails all requests and ends all handlers, because the client has ended."""
        for call in self._calls.values():
            if not call.answer.done():
                executed = "UNKNOWN" if call.sent or call.request["attempt"] else "NO"
                call.answer.set_exception(CallError("CANCELLED", "the client was closed", executed))
                call.answer.exception()
        tasks = [task for service in self._served.values() for task in service.tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def check_service(name):
    """Raises for an illegal name of a service."""
    tokens = name.split(".")
    if not all(tokens) or len(tokens) > 16 or len(name.encode()) > MAX_SERVICE_BYTES or name[0] == "$":
        raise ValueError(f"service: {name!r} (expected: a name like a topic, at most {MAX_SERVICE_BYTES} bytes)")
    if any(c in "*>" or c.isspace() for c in name):
        raise ValueError(f"service: {name!r} (expected: no wildcard and no white space)")
