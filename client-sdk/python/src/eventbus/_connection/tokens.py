"""Sends the bus a new token before the token of a connection expires; protocol.md#new-tokens. Without I/O or a clock.

After a failure it tries again, with growing delays, until the bus ends the connection; the next one begins with a new
token.
"""

from __future__ import annotations

from collections.abc import Callable

from .._api.errors import Error, TimedOut
from .._base.bus_link import BusLink
from .._base.timers import Timer, Timers

#: Share of a token's life after which it is replaced at the latest; at the earliest a tenth before.
LATEST, JITTER = 0.8, 0.1
#: Minimum seconds between replacements, however short a token's life is.
MIN_INTERVAL = 1.0
#: Assumed life in seconds of a token that by this machine's clock has expired: the clock must be wrong.
UNKNOWN_LIFE = 60.0
#: Timeout for the answer of the bus, in seconds.
ANSWER_TIMEOUT = 10.0
MAX_PAUSE = 30.0


class TokenRefresh:
    """See the module. ``micros`` returns microseconds since 1970; after ``ask`` either ``got`` or ``failed`` has to be
    called with its argument."""

    def __init__(
        self,
        timers: Timers,
        micros: Callable[[], int],
        random: Callable[[], float],
        ask: Callable[[int], None],
        send: Callable[[BusLink, str], None],
        tell: Callable[[Error], None],
    ) -> None:
        self._timers = timers
        self._micros = micros
        self._random = random
        self._ask_application = ask
        self._send = send
        self._tell = tell
        self._link: BusLink | None = None
        self._timer: Timer | None = None
        self._failures = 0
        # Counts requests, so that the answer for another connection has no effect.
        self._round = 0

    def begin(self, link: BusLink, expires_at: int, now: float) -> None:
        """Begins with a welcomed connection; ``expires_at`` in microseconds since 1970, 0 for never."""
        self.end()
        self._link = link
        self._plan(expires_at, now)

    def end(self) -> None:
        """Stops, because the connection is no longer the client's."""
        self._stop()
        self._link = None
        self._failures = 0
        self._round += 1

    def renewed(self, link: BusLink, expires_at: int, now: float) -> None:
        """Handles the acceptance of a token."""
        if link is self._link:
            self._stop()
            self._failures = 0
            self._plan(expires_at, now)

    def refused(self, link: BusLink, now: float) -> None:
        """Handles the refusal of a token, which was reported to the application."""
        if link is self._link:
            self._retry_later(now)

    def got(self, round_: int, token: str, now: float) -> None:
        """Handles a token of the application."""
        link = self._link
        if round_ == self._round and link is not None:
            self._later(
                lambda then: self._fail(TimedOut(f"no answer to a new token within {ANSWER_TIMEOUT:g} s"), then),
                now + ANSWER_TIMEOUT,
            )
            self._send(link, token)

    def failed(self, round_: int, error: Error, now: float) -> None:
        """Handles the failure of the application to return a token."""
        if round_ == self._round:
            self._fail(error, now)

    def _plan(self, expires_at: int, now: float) -> None:
        if expires_at == 0:
            return
        left = (expires_at - self._micros()) / 1e6
        life = left if left > 0 else UNKNOWN_LIFE
        self._later(self._ask, now + max(MIN_INTERVAL, life * (LATEST - JITTER * self._random())))

    def _ask(self, _: float) -> None:
        self._ask_application(self._round)

    def _fail(self, error: Error, now: float) -> None:
        self._tell(error)
        self._retry_later(now)

    def _retry_later(self, now: float) -> None:
        pause = min(MAX_PAUSE, MIN_INTERVAL * 2 ** min(self._failures, 10))
        self._failures += 1
        self._later(self._ask, now + pause * (1 - self._random() / 2))

    def _later(self, task: Callable[[float], None], at: float) -> None:
        self._stop()
        self._timer = self._timers.at(at, task)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
