"""Makes clients on asyncio."""

from __future__ import annotations

import asyncio
import ssl as _ssl
from collections.abc import Generator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal

from .._api.options import Options, Reconnect, Token, WhenFull, urls_of
from .client import EventBus


class Connecting:
    """Result of :func:`connect`: ``await`` it, or enter it with ``async with``, which closes the client at its end."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._client: EventBus | None = None

    def __await__(self) -> Generator[Any, None, EventBus]:
        return self._connect().__await__()

    async def _connect(self) -> EventBus:
        client = self._client = EventBus(self._options)
        return await start(client)

    async def __aenter__(self) -> EventBus:
        return await self._connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.__aexit__(kind, error, trace)


async def start(client: EventBus) -> EventBus:
    """Makes the first connection of a client; leaves nothing behind if that fails."""
    first: asyncio.Future[None] = client._loop.create_future()
    client._machine.connector.start(first, client._loop.time())
    client._driver.pump()
    try:
        await first
    except BaseException:
        await client._end()
        raise
    return client


def connect(
    url: str | Sequence[str],
    *,
    name: str = "python-client",
    user: str | None = None,
    token: Token | None = None,
    attributes: Mapping[str, str] | None = None,
    connect_timeout: float = 10.0,
    confirm_timeout: float = 30.0,
    silence_timeout: float = 40.0,
    close_timeout: float = 10.0,
    reconnect: Reconnect | Literal[False] | None = None,
    outbound_bytes: int = 16 << 20,
    batch_bytes: int = 64 << 10,
    when_full: WhenFull = "wait",
    block_timeout: float = 30.0,
    receive_bytes: int = 4 << 20,
    tracked_producers: int = 100_000,
    call_buffer_bytes: int = 16 << 20,
    ssl: _ssl.SSLContext | None = None,
    proxy: str | Literal[True] | None = True,
) -> Connecting:
    """Connects to a bus: ``async with connect(url) as bus`` or ``bus = await connect(url)``.

    ``url``: ``ws://host:port/bus`` or ``wss://…``; several are tried in turn.
    ``name``: for people, shown in the administration of the bus.
    ``user``: for a bus that has users; ``token`` is the password then.
    ``token``: for authentication, or a function that is called at each connect and move, and before its last token
    expires; it may be asynchronous, must not block, and has ``connect_timeout`` seconds. ``attributes``: further
    facts about this client, for the bus's operators. ``connect_timeout``: seconds for the first connection, and later
    for each try. ``Reconnect(retry_first=True)`` keeps trying for that time, for a program that may start before its
    bus. ``confirm_timeout``: seconds that ``publish`` and a subscription wait for their confirmation.
    ``silence_timeout``: seconds without a receipt after which a connection is given up; it is probed after half of
    them. ``close_timeout``: maximum seconds of ``close``. ``reconnect``: delays before a new connection; False for
    none. ``outbound_bytes``: maximum of events that wait to be sent or confirmed. ``batch_bytes``: of one message.
    ``when_full``: whether ``publish`` waits for room, for ``block_timeout`` seconds, or fails. ``receive_bytes``:
    maximum of bytes received and not handled by subscriptions under BLOCK, of the whole client (Credit). Other
    subscriptions are bounded each by ``buffer_bytes`` of ``subscribe``. ``tracked_producers``: pairs of topic and
    producer whose last number is remembered. ``call_buffer_bytes``: maximum of bytes of requests to services that are
    not sent yet, or may be sent again. ``ssl``: for ``wss``, by default the default context. ``proxy``: True for that
    of the environment, None for none.

    Raises ValueError and TypeError for wrong arguments; when awaited NotConnected, TimedOut, Refused.
    """
    if reconnect is None:
        reconnect = Reconnect()
    elif reconnect is False:
        reconnect = Reconnect(max_attempts=0)
    return Connecting(
        Options(
            urls=urls_of(url), name=name, user=user, token=token, attributes=dict(attributes or {}),
            connect_timeout=connect_timeout, confirm_timeout=confirm_timeout, silence_timeout=silence_timeout,
            close_timeout=close_timeout, reconnect=reconnect, outbound_bytes=outbound_bytes, batch_bytes=batch_bytes,
            when_full=when_full, block_timeout=block_timeout, receive_bytes=receive_bytes,
            tracked_producers=tracked_producers, call_buffer_bytes=call_buffer_bytes, ssl=ssl, proxy=proxy,
        )
    )  # fmt: skip
