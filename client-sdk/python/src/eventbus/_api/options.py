"""Checked settings of a client."""

from __future__ import annotations

import math
import ssl as _ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict, get_args
from urllib.parse import urlsplit

from .backoff import Backoff
from .checks import check_range

MIB = 1 << 20
MAX_TOKEN_BYTES = 16 * 1024
Token = str | Callable[[], str | Awaitable[str]]
WhenFull = Literal["wait", "fail"]


@dataclass(frozen=True, kw_only=True)
class Reconnect(Backoff):
    """Delays before a new connection: exponential back-off with jitter.

    The delay before try n is ``min(max_delay, initial_delay * multiplier ** (n - 1))`` seconds, minus a random part
    of up to ``jitter``. A connection that has lasted 5 s restarts the count.
    """

    #: Seconds before the first try, 0.001 to 3600.
    initial_delay: float = 0.1
    #: Maximum of seconds, ``initial_delay`` to 3600.
    max_delay: float = 10.0
    #: Maximum of tries in a row; 0 for none, ``math.inf`` for no limit.
    max_attempts: float = math.inf
    #: True to retry the first connection, too, with the same delays until ``connect_timeout``: for a program that may
    #: start before its bus. Otherwise each address is tried once.
    retry_first: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("max_attempts", self.max_attempts, 0, math.inf, "tries")
        if not isinstance(self.retry_first, bool):
            raise TypeError(f"retry_first: {self.retry_first!r} (expected: True or False)")


class ConnectOptions(TypedDict, total=False):
    """Keyword arguments of :func:`eventbus.connect`, which documents each."""

    name: str
    user: str | None
    token: Token | None
    attributes: Mapping[str, str] | None
    connect_timeout: float
    confirm_timeout: float
    silence_timeout: float
    close_timeout: float
    reconnect: Reconnect | Literal[False] | None
    outbound_bytes: int
    batch_bytes: int
    when_full: WhenFull
    block_timeout: float
    receive_bytes: int
    tracked_producers: int
    call_buffer_bytes: int
    ssl: _ssl.SSLContext | None
    proxy: str | Literal[True] | None


@dataclass(frozen=True, kw_only=True)
class Options:
    """Arguments of :func:`eventbus.connect`, which documents each."""

    urls: tuple[str, ...]
    name: str = "python-client"
    user: str | None = None
    token: Token | None = field(default=None, repr=False)
    attributes: Mapping[str, str] = field(default_factory=dict)
    connect_timeout: float = 10.0
    confirm_timeout: float = 30.0
    silence_timeout: float = 40.0
    close_timeout: float = 10.0
    reconnect: Reconnect = field(default_factory=Reconnect)
    outbound_bytes: int = 16 * MIB
    batch_bytes: int = 64 * 1024
    when_full: WhenFull = "wait"
    block_timeout: float = 30.0
    receive_bytes: int = 4 * MIB
    tracked_producers: int = 100_000
    call_buffer_bytes: int = 16 * MIB
    ssl: _ssl.SSLContext | None = field(default=None, repr=False)
    proxy: str | Literal[True] | None = field(default=True, repr=False)

    def __post_init__(self) -> None:
        if not self.urls:
            raise ValueError("url: none (expected: at least one)")
        for url in self.urls:
            if not is_address(url):
                raise ValueError(f"url: {url!r} (expected: ws://host:port/path or wss://host:port/path)")
        if not isinstance(self.name, str) or not 1 <= len(self.name.encode()) <= 255:
            raise ValueError(f"name: {self.name!r} (expected: 1..255 bytes of UTF-8)")
        if self.token is not None and not callable(self.token):
            check_token("token", self.token, "str or a function")
        if self.user is not None:
            if not isinstance(self.user, str) or not 1 <= len(self.user.encode()) <= 255:
                raise ValueError(f"user: {self.user!r} (expected: 1..255 bytes of UTF-8)")
            if self.token is None:
                raise ValueError("user: without token (expected: token is the password of the user)")
        if len(self.attributes) > 64 or sum(len(t.encode()) for kv in self.attributes.items() for t in kv) > 1024:
            raise ValueError("attributes: too many (expected: at most 64 with 1024 bytes of UTF-8 in all)")
        if not isinstance(self.reconnect, Reconnect):
            raise TypeError(f"reconnect: {self.reconnect!r} (expected: a Reconnect or False)")
        if self.when_full not in get_args(WhenFull):
            raise ValueError(f"when_full: {self.when_full!r} (expected: 'wait' or 'fail')")
        check_range("connect_timeout", self.connect_timeout, 0.001, 3600, "s")
        check_range("confirm_timeout", self.confirm_timeout, 0.001, 3600, "s")
        check_range("silence_timeout", self.silence_timeout, 0.05, 3600, "s")
        check_range("close_timeout", self.close_timeout, 0, 3600, "s")
        check_range("block_timeout", self.block_timeout, 0, 3600, "s")
        check_range("outbound_bytes", self.outbound_bytes, 1024, 1 << 40, "bytes", whole=True)
        check_range("batch_bytes", self.batch_bytes, 1024, 4 * MIB, "bytes", whole=True)
        check_range("receive_bytes", self.receive_bytes, 1024, 1 << 40, "bytes", whole=True)
        check_range("tracked_producers", self.tracked_producers, 1, 100_000_000, "pairs", whole=True)
        check_range("call_buffer_bytes", self.call_buffer_bytes, 4096, 1 << 40, "bytes", whole=True)


def check_token(name: str, token: object, expected: str = "str") -> str:
    """Raises for an illegal token, without showing it."""
    if not isinstance(token, str):
        raise TypeError(f"{name}: {type(token).__name__} (expected: {expected})")
    if not 1 <= (n := len(token.encode())) <= MAX_TOKEN_BYTES:
        raise ValueError(f"{name}: {n} bytes (expected: 1..{MAX_TOKEN_BYTES} bytes of UTF-8)")
    return token


def urls_of(url: str | Sequence[str]) -> tuple[str, ...]:
    """Returns the addresses of an argument with one or several."""
    return (url,) if isinstance(url, str) else tuple(url)


def is_address(url: str) -> bool:
    """Returns whether this is a legal address of a bus."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except (ValueError, AttributeError, TypeError):
        return False
    return parts.scheme in ("ws", "wss") and bool(parts.hostname) and not parts.fragment and port != 0
