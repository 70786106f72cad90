"""Addresses in the order in which they are tried."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from urllib.parse import urlsplit

from .._api.options import is_address

MAX_PEERS = 64
MAX_CHARACTERS = 1024


class BusUrls:
    """The configured addresses in turn, then the peers that the last bus named, and then from the start.

    Addresses from a bus are checked: a client that speaks TLS is not led to an address without it, where its token
    could be read on the way.
    """

    def __init__(self, configured: tuple[str, ...]) -> None:
        self._configured = configured
        self._peers: deque[str] = deque()
        self._known: tuple[str, ...] = ()
        self._next = 0
        self._tried = 0

    def next(self) -> str:
        """Takes the next address."""
        if self._tried >= len(self._configured):
            if self._peers:
                return self._peers.popleft()
            self.start_anew()
        self._tried += 1
        url = self._configured[self._next % len(self._configured)]
        self._next += 1
        return url

    def configured_left(self) -> int:
        """Returns the number of configured addresses that were not tried since the start."""
        return max(0, len(self._configured) - self._tried)

    def start_anew(self) -> None:
        """Begins with the configured addresses again, after a connection has lasted."""
        self._tried = 0
        self._peers = deque(self._known)

    def welcomed(self, by: str, named: Iterable[str]) -> None:
        """Replaces the known peers by those that the bus has named in its Welcome."""
        self._known = tuple(url for url in usable(by, named) if url not in self._configured)
        self._peers = deque(self._known)


def usable(by: str, named: Iterable[str]) -> list[str]:
    """Returns those of the addresses named by a bus that a client of it may use."""
    may_be_plain = urlsplit(by).scheme == "ws"
    good: list[str] = []
    for url in named:
        if len(good) == MAX_PEERS:
            break
        if len(url) > MAX_CHARACTERS or not is_address(url) or url in good:
            continue
        parts = urlsplit(url)
        if parts.username is None and parts.password is None and (parts.scheme == "wss" or may_be_plain):
            good.append(url)
    return good
