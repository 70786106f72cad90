"""A WebSocket: the tasks that connect, read and write for the core."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as _ws_connect
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from .._api.errors import Error, NotConnected, NoToken, Refused
from .._api.options import Options
from .._base.bus_link import MAX_MESSAGE, BusLink
from .._connection.machine import Machine
from .._version import AGENT
from .._wire.records import SUBPROTOCOL, BusCode

#: Timeout for the answer to a Close, in seconds.
CLOSE_ANSWER = 2.0
#: Turns of the loop before a policy acts on waiting events.
READERS_TURNS = 3


class _Dial(_ws_connect):
    """Refuses redirects, which could lead a token to a stranger."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class SocketOwner(Protocol):
    """Owner of sockets, which executes the commands of the core."""

    options: Options
    loop: asyncio.AbstractEventLoop
    machine: Machine
    #: Time of the timer; None if it is not set.
    timer_at: float | None

    async def token(self) -> str | None:
        """Returns the token for authentication."""
        ...

    def wake(self) -> None:
        """Schedules ``pump`` at the end of this turn of the loop."""
        ...

    def pump(self) -> None:
        """Executes the commands of the core."""
        ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts a task."""
        ...

    def forget(self, link: BusLink) -> None:
        """Forgets the socket of a connection, which has ended."""
        ...


class Socket:
    """See the module. A task connects and reads, another one writes."""

    def __init__(self, owner: SocketOwner, link: BusLink, timeout: float) -> None:
        self.link = link
        self._owner = owner
        self._timeout = timeout
        self._ws: ClientConnection | None = None
        self._idle: asyncio.Future[None] | None = None
        self._resumed: asyncio.Future[None] | None = None
        self._closing: tuple[int, str] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._closer: asyncio.Task[None] | None = None
        self._reader = owner.loop.create_task(self._run(), name=f"eventbus reader {link.url}")

    async def _run(self) -> None:
        owner, link = self._owner, self.link
        code, reason, retry_after = 1006, "", 0.0
        error: Error | None = None
        try:
            try:
                link.asks_token = True
                token = await owner.token()
                link.asks_token = False
            except Exception as e:
                error = NoToken(f"the token function failed: {type(e).__name__}")
                error.__cause__ = e
                reason = str(error)
                return
            options = owner.options
            secure = link.url.startswith("wss:")
            try:
                ws = self._ws = await _Dial(
                    link.url,
                    subprotocols=[Subprotocol(SUBPROTOCOL)],
                    compression=None,
                    max_size=MAX_MESSAGE,
                    open_timeout=self._timeout,
                    close_timeout=CLOSE_ANSWER,
                    ping_interval=None,
                    user_agent_header=AGENT,
                    proxy=options.proxy,
                    # True selects the default context.
                    ssl=(options.ssl or True) if secure else None,
                )
            except InvalidStatus as e:
                error, retry_after = _refused_upgrade(link.url, e)
                reason = str(error)
                return
            except (OSError, WebSocketException, TimeoutError, ValueError) as e:
                hint = (
                    "" if secure or not isinstance(e, InvalidMessage) else " (expected: wss:// where the bus has TLS)"
                )
                error = NotConnected(f"no connection to {link.url}: {e or type(e).__name__}{hint}")
                error.__cause__ = e
                reason = str(e) or type(e).__name__
                return
            if link.over:
                return
            if ws.subprotocol != SUBPROTOCOL:
                text = f"{link.url} speaks {ws.subprotocol or 'no sub-protocol'} (expected: {SUBPROTOCOL})"
                error, reason = Refused(BusCode.UNSUPPORTED, text, False), text
                return
            owner.machine.opened(link, token, owner.loop.time())
            self._writer = owner.loop.create_task(self._write(ws), name=f"eventbus writer {link.url}")
            code, reason = await self._read(ws)
        finally:
            await self._finish(code, reason, error, retry_after)

    async def _read(self, ws: ClientConnection) -> tuple[int, str]:
        owner, link = self._owner, self.link
        machine, now, recv = owner.machine, owner.loop.time, ws.recv
        try:
            while True:
                message = await recv()
                if not isinstance(message, bytes):
                    self.close(1003, "a text message")
                    continue
                machine.receive(link, message, now())
                owner.pump()
                if link.paused:
                    await self._pause()
                elif machine.dispatcher.over:
                    # A reader that needs these turns is fast enough: at the end of a batch it yields a turn itself.
                    for _ in range(READERS_TURNS):
                        await asyncio.sleep(0)
        except ConnectionClosed as e:
            frame = e.rcvd or (e.sent if self._closing else None)
            return (frame.code, frame.reason) if frame is not None else (1006, str(e.__cause__ or ""))

    async def _pause(self) -> None:
        """Waits until the application has handled enough; TCP stalls the bus meanwhile."""
        while self.link.paused and not self.link.over:
            self._resumed = self._owner.loop.create_future()
            await self._resumed
        self._owner.machine.heard(self.link, self._owner.loop.time())

    async def _write(self, ws: ClientConnection) -> None:
        owner, link = self._owner, self.link
        machine = owner.machine
        try:
            while True:
                message = machine.outgoing(link, owner.loop.time())
                if message is not None:
                    await ws.send(message)
                    machine.sender.sent(link)
                    if machine.wake_at() is not owner.timer_at:
                        owner.wake()
                elif self._closing is not None:
                    return
                else:
                    self._idle = owner.loop.create_future()
                    await self._idle
        except ConnectionClosed:
            pass  # the reader tells

    def wake(self) -> None:
        """Wakes the tasks, because there may be something to do."""
        for waiting in (self._idle, self._resumed if not self.link.paused or self.link.over else None):
            if waiting is not None and not waiting.done():
                waiting.set_result(None)

    def ping(self, behind: bool) -> None:
        if self._ws is not None:
            self._owner.spawn(self._ping(self._ws, behind))

    async def _ping(self, ws: ClientConnection, behind: bool) -> None:
        owner = self._owner
        try:
            await (await ws.ping())
        except ConnectionClosed:
            return
        # The library first wakes the reader for the messages before the Pong, which reads them without a pause.
        owner.machine.heard(self.link, owner.loop.time(), behind)
        if behind:
            owner.pump()

    def close(self, code: int, reason: str) -> None:
        """Sends all messages, then Close; ends the connection within 2 s."""
        if self._closing is None:
            self._closing = code, reason
            self._closer = self._owner.loop.create_task(self._close(code, reason), name="eventbus closer")

    async def _close(self, code: int, reason: str) -> None:
        self.wake()
        if self._writer is not None:
            await asyncio.wait([self._writer], timeout=CLOSE_ANSWER)
        if self._ws is not None:
            await self._ws.close(code, reason)
        else:
            self._reader.cancel()

    def abort(self) -> None:
        """Ends the connection, or the try to connect, at once."""
        if self._ws is not None:
            self._ws.transport.abort()
            self.wake()
        else:
            self._reader.cancel()

    async def _finish(self, code: int, reason: str, error: Error | None, retry_after: float) -> None:
        owner, link = self._owner, self.link
        if self._writer is not None:
            self._writer.cancel()
        owner.forget(link)
        owner.machine.closed(link, code, reason, error, owner.loop.time(), retry_after)
        owner.pump()
        if self._ws is not None:
            self._ws.transport.abort()

    async def join(self) -> None:
        """Waits until all tasks have ended."""
        tasks = [t for t in (self._reader, self._writer, self._closer) if t is not None]
        await asyncio.wait(tasks)


#: Statuses of proxies while their server is away or overloaded.
_FOR_NOW = frozenset((408, 425, 429))
#: Header of refusals by a bus itself, with any value. Proxies answer anything while there is no bus behind them.
_BY_BUS = "EventBus-Refused"


def _refused_upgrade(url: str, e: InvalidStatus) -> tuple[Error, float]:
    """Returns the error of a refused upgrade, and its retry-after (protocol.md#connecting). Only the bus's own refusals
    are not retryable."""
    status = e.response.status_code
    text = (e.response.body or b"")[:300].decode("utf-8", "replace").strip()
    text = f"{url} answered {status}{': ' + text if text else ''}"
    if status >= 500 or status in _FOR_NOW:
        return NotConnected(text), _seconds(e.response.headers.get("Retry-After", ""))
    code = {403: BusCode.FORBIDDEN, 401: BusCode.UNAUTHENTICATED}.get(status, BusCode.UNSUPPORTED)
    return Refused(code, text, _BY_BUS not in e.response.headers), 0.0


def _seconds(retry_after: str) -> float:
    """Returns the seconds of a Retry-After header (RFC 9110, section 10.2.3: seconds or a date); 0 for none."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0.0
    return max(0.0, at.timestamp() - time.time())
