"""Where to connect to next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from urllib.parse import urlsplit

from ._options import is_address

MAX_OTHERS = 64
MAX_CHARACTERS = 1024


class Addresses:
    """The configured addresses in turn, then those of other buses that the last bus knew, and then from the start.

    What a bus says is checked: a client that speaks TLS to it is not led to where its token would be read on the way.
    """

    def __init__(self, configured: tuple[str, ...]) -> None:
        self._configured = configured
        self._others: deque[str] = deque()
        self._known: tuple[str, ...] = ()
        self._next = 0
        self._tried = 0

    def next(self) -> str:
        """Takes the next address."""
        if self._tried >= len(self._configured):
            if self._others:
                return self._others.popleft()
            self.start_anew()
        self._tried += 1
        url = self._configured[self._next % len(self._configured)]
        self._next += 1
        return url

    def configured_left(self) -> int:
        """How many of the configured addresses were not tried since the start."""
        return max(0, len(self._configured) - self._tried)

    def start_anew(self) -> None:
        """A connection has held: after it the configured addresses come first again."""
        self._tried = 0
        self._others = deque(self._known)

    def welcomed(self, by: str, named: Iterable[str]) -> None:
        """A bus has greeted this client and says which others there are; what was known is forgotten."""
        self._known = tuple(url for url in usable(by, named) if url not in self._configured)
        self._others = deque(self._known)


def usable(by: str, named: Iterable[str]) -> list[str]:
    """Those of the addresses that a bus names that a client of it may go to."""
    may_be_plain = urlsplit(by).scheme == "ws"
    good: list[str] = []
    for url in named:
        if len(good) == MAX_OTHERS:
            break
        if len(url) > MAX_CHARACTERS or not is_address(url) or url in good:
            continue
        parts = urlsplit(url)
        if parts.username is None and parts.password is None and (parts.scheme == "wss" or may_be_plain):
            good.append(url)
    return good
