"""A bus in one process, on a real socket, that implements the protocol as far as tests of the client need it."""

from __future__ import annotations

import asyncio
import contextlib
import math
import ssl
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from http import HTTPStatus
from itertools import count
from typing import Any

from fakes import LIMITS, PublishSeen, deliver, read_publish, stored
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request as Upgrade
from websockets.http11 import Response
from websockets.typing import Subprotocol

from eventbus._wire.call_frames import (
    Cancel,
    Capacity,
    Execution,
    Failure,
    FailureCode,
    Invoke,
    Register,
    Reply,
    Request,
    Unregister,
)
from eventbus._wire.codec import Reader, frames
from eventbus._wire.durable_frames import RECORDS, Consume, Feed, Settle, SettleOutcome, TruncatedReason
from eventbus._wire.durable_frames import Truncated as TruncatedFrame
from eventbus._wire.records import (
    PUBLISH,
    Authenticate,
    Barrier,
    BusCode,
    Confirm,
    Credit,
    Drained,
    Echo,
    Hello,
    Problem,
    Subscribe,
    Unsubscribe,
    Welcome,
)
from eventbus._wire.topics import matcher


class Bus:
    """Records received frames; ``confirms`` and ``welcomes`` switch its answers off."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.connections: list[ServerConnection] = []
        self.subscriptions: dict[ServerConnection, dict[int, Subscribe]] = {}
        self.confirms = True
        self.welcomes = True
        self.forbidden = "secret.>"
        #: Services by connection and id, and the free capacity of each.
        self.members: dict[ServerConnection, dict[int, Register]] = {}
        #: Calls of members: caller, its number, and member.
        self.calls: dict[int, tuple[ServerConnection, int, ServerConnection]] = {}
        self._call_numbers = count(1)
        #: Set to hold all answers until ``speak``.
        self.mute = False
        self._unsaid: list[tuple[ServerConnection, bytes]] = []
        self.ssl: ssl.SSLContext | None = None
        self.upgrade: Response | None = None
        self.url = ""
        #: Port; 0 for any.
        self.port = 0
        self.subprotocols: list[Subprotocol] | None = [Subprotocol("eventbus.v1.avro")]
        self.producer = 77
        #: True to have durable topics; each event gets the position 7.
        self.durable = False
        #: Creation of the journal that consumers read.
        self.creation = 79
        #: Positions that a worker has got and not settled, which the bus waits for before it ends the worker.
        self.unsettled: dict[tuple[ServerConnection, int], set[int]] = {}
        # Subscriptions and consumers that are to end.
        self._ending: set[tuple[ServerConnection, int]] = set()
        #: Connections of consumers by their ids; a test feeds them.
        self.consumers: dict[int, ServerConnection] = {}
        #: Life of a token in seconds; 0 for no expiry.
        self.token_life = 0.0
        self._server: Server | None = None
        # Frames that wait for credit, and the rest of the credit.
        self._held: dict[ServerConnection, deque[bytes]] = {}
        self._room: dict[ServerConnection, float] = {}
        self._limit: dict[ServerConnection, int] = {}

    async def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._server = await serve(
            self._serve, "127.0.0.1", self.port, subprotocols=self.subprotocols, compression=None,
            process_request=self._upgrade, max_size=1 << 26, ping_interval=None, ssl=self.ssl,
        )  # fmt: skip
        self.url = (
            f"ws{'s' if self.ssl else ''}://127.0.0.1:{next(iter(self._server.sockets or ())).getsockname()[1]}/bus"
        )

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    def _upgrade(self, connection: ServerConnection, request: Upgrade) -> Response | None:
        return self.upgrade

    async def _serve(self, ws: ServerConnection) -> None:
        self.connections.append(ws)
        self.subscriptions[ws] = {}
        self.members[ws] = {}
        self._held[ws], self._room[ws], self._limit[ws] = deque(), math.inf, 0
        with contextlib.suppress(ConnectionClosed):
            async for message in ws:
                assert isinstance(message, bytes)
                out: list[bytes] = []
                for code, _, body, end in frames(message):
                    r = Reader(message, body, end)
                    frame = read_publish(r) if code == PUBLISH else RECORDS[code].read(r)
                    self.seen.append(frame)
                    out += await self._answer(ws, frame)
                if self.mute:
                    self._unsaid.append((ws, b"".join(out)))
                elif out:
                    await ws.send(b"".join(out))
        self.subscriptions.pop(ws, None)
        self.members.pop(ws, None)

    async def _answer(self, ws: ServerConnection, frame: Any) -> list[bytes]:
        mine = self.subscriptions[ws]
        if isinstance(frame, Hello):
            if frame.token == "wrong":
                await ws.send(Problem(BusCode.UNAUTHENTICATED, "a wrong token", False, 0).frame())
                await ws.close(4500, "a wrong token")
            welcome = Welcome(
                "bus", "session", self.producer, "secret", LIMITS, (), self._expires_at(), 99, 9, durable=self.durable
            )
            return [welcome.frame()] if self.welcomes else []
        if isinstance(frame, Authenticate):
            return [Confirm(Authenticate.CODE, self._expires_at()).frame()]
        if isinstance(frame, Credit):
            room = 0 if math.isinf(self._room[ws]) else self._room[ws]
            self._room[ws] = room + max(0, frame.limit - self._limit[ws])
            self._limit[ws] = max(frame.limit, self._limit[ws])
            await self._write(ws)
            return []
        if isinstance(frame, Subscribe):
            if frame.filter == self.forbidden:
                return [Problem(BusCode.FORBIDDEN, "not this", False, frame.id, Subscribe.CODE).frame()]
            mine[frame.id] = frame
            return [Confirm(Subscribe.CODE, frame.id).frame()]
        if isinstance(frame, Unsubscribe):
            mine.pop(frame.id, None)
            self._ending.add((ws, frame.id))
            return [Confirm(Unsubscribe.CODE, frame.id).frame(), *self._drained(ws, frame.id)]
        if isinstance(frame, PublishSeen):
            await self._deliver(frame)
            position = 7 if self.durable else 0
            confirm = Confirm(PUBLISH, frame.last, frame.topic, -1, position)
            return [confirm.frame()] if frame.confirm and self.confirms else []
        if isinstance(frame, Consume):
            if frame.filter == self.forbidden:
                return [Problem(BusCode.FORBIDDEN, "not this", False, frame.id, Consume.CODE).frame()]
            self.consumers[frame.id] = ws
            return [Confirm(Consume.CODE, frame.id, frame.journal or "shop", creation=self.creation).frame()]
        if isinstance(frame, Settle):
            if frame.outcome is not SettleOutcome.EXTEND:
                self.unsettled.get((ws, frame.id), set()).difference_update(range(frame.first, frame.up_to + 1))
            answer = Confirm(Settle.CODE, frame.id, "", position=frame.up_to)
            return [*([answer.frame()] if frame.confirm else []), *self._drained(ws, frame.id)]
        if isinstance(frame, (Barrier, Echo)):
            return [frame.frame()]
        return await self._answer_call(ws, frame)

    def _drained(self, ws: ServerConnection, id: int) -> list[bytes]:
        """Ends what is to end, once nothing of it is unsettled."""
        if (ws, id) not in self._ending or self.unsettled.get((ws, id)):
            return []
        self._ending.remove((ws, id))
        return [Drained(id).frame()]

    async def _answer_call(self, ws: ServerConnection, frame: Any) -> list[bytes]:
        mine = self.members[ws]
        if isinstance(frame, Register):
            if frame.service == "secret":
                return [Problem(BusCode.FORBIDDEN, "not this", False, frame.id, Register.CODE).frame()]
            mine[frame.id] = frame
            return [Confirm(Register.CODE, frame.id).frame()]
        if isinstance(frame, Unregister):
            mine.pop(frame.id, None)
            return [Confirm(Unregister.CODE, frame.id).frame(), Drained(frame.id).frame()]
        if isinstance(frame, Capacity):
            mine[frame.id] = replace(mine[frame.id], concurrency=frame.concurrency)
        if isinstance(frame, Request):
            return await self._request(ws, frame)
        if isinstance(frame, (Reply, Failure)) and frame.call in self.calls:
            caller, number, _ = self.calls.pop(frame.call)
            with contextlib.suppress(ConnectionClosed):
                await caller.send(replace(frame, call=number, member=5).frame())
        if isinstance(frame, Cancel):
            for call, (caller, number, member) in list(self.calls.items()):
                if (caller, number) == (ws, frame.call):
                    await member.send(Cancel(call).frame())
        return []

    async def _request(self, ws: ServerConnection, frame: Request) -> list[bytes]:
        for member, services in self.members.items():
            for id, service in services.items():
                if service.service == frame.service and service.concurrency:
                    call = -next(self._call_numbers)
                    self.calls[call] = ws, frame.call, member
                    identity = "alice" if service.identify else ""
                    invoke = Invoke(
                        call, id, frame.method, frame.kind, frame.timeout_millis, self.producer, frame.call, frame.attempt,
                        identity, 1, frame.schema, frame.event,
                    )  # fmt: skip
                    await member.send(invoke.frame())
                    return []
        text = f"{frame.service} has no member"
        return [Failure(frame.call, FailureCode.NO_MEMBER, text, Execution.NO).frame()]

    def _expires_at(self) -> int:
        return int((time.time() + self.token_life) * 1e6) if self.token_life else 0

    async def _deliver(self, frame: PublishSeen) -> None:
        for ws, mine in list(self.subscriptions.items()):
            matching = [s for s in mine.values() if matcher(s.filter)(frame.topic)]
            if matching:
                groups = tuple(s.id for s in matching if s.group)
                self._held[ws].append(deliver(frame.topic, self.producer, frame.sequence, frame.payloads, groups))
                await self._write(ws)

    async def _write(self, ws: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while self._held[ws] and self._room[ws] > 0:
                message = self._held[ws].popleft()
                self._room[ws] -= len(message)
                await ws.send(message)

    async def create_again(self, id: int = 1) -> None:
        """Tells a consumer that it reads another creation of its journal from now on."""
        self.creation += 1
        self.seen.clear()
        await self.consumers[id].send(Confirm(Consume.CODE, id, "shop", creation=self.creation).frame())

    async def feed(self, first: int, last: int, *events: bytes, id: int = 1, head: int = 0, attempt: int = 0) -> None:
        """Feeds a consumer."""
        await self.consumers[id].send(Feed(id, first, last, max(head, last), b"".join(events), attempt).frame())

    async def give(self, first: int, *payloads: bytes, id: int = 1, attempt: int = 1) -> None:
        """Gives a worker events at neighbouring positions."""
        last = first + len(payloads) - 1
        self.unsettled.setdefault((self.consumers[id], id), set()).update(range(first, last + 1))
        await self.feed(first, last, stored(first, *payloads), id=id, attempt=attempt)

    async def truncate(self, first: int, last: int, id: int = 1) -> None:
        """Tells a consumer that events do not come."""
        await self.consumers[id].send(TruncatedFrame(id, first, last, TruncatedReason.PURGED).frame())

    async def speak(self) -> None:
        """Sends the held answers."""
        self.mute = False
        unsaid, self._unsaid = self._unsaid, []
        for ws, message in unsaid:
            await ws.send(message)

    def of(self, kind: type) -> list[Any]:
        return [f for f in self.seen if isinstance(f, kind)]

    async def until(self, condition: Callable[[], object]) -> None:
        """Waits for a condition, at most 5 s."""
        async with asyncio.timeout(5):
            while not condition():
                await asyncio.sleep(0.001)

    def wait(self, condition: Callable[[], object]) -> None:
        """Waits for a condition, from another thread."""
        asyncio.run_coroutine_threadsafe(self.until(condition), self.loop).result(10)

    def last_credit(self) -> Credit:
        credit: Credit = self.of(Credit)[-1]
        return credit


@contextlib.asynccontextmanager
async def loopback() -> AsyncIterator[Bus]:
    bus = Bus()
    await bus.start()
    try:
        yield bus
    finally:
        await bus.stop()


@contextlib.contextmanager
def in_thread() -> Iterator[Bus]:
    """Yields a bus with a loop of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    found = Bus()
    asyncio.run_coroutine_threadsafe(found.start(), loop).result(10)
    try:
        yield found
    finally:
        asyncio.run_coroutine_threadsafe(found.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def refusal(status: int, text: str, retry_after: str = "", by_bus: bool = False) -> Response:
    headers = Headers({"Retry-After": retry_after} if retry_after else {})
    if by_bus:
        headers["EventBus-Refused"] = "yes"
    return Response(status, HTTPStatus(status).phrase, headers, text.encode())
