"""Grants buses credit as the application handles events, so that received events stay within ``receive_bytes``. Without
I/O or a clock."""

from __future__ import annotations

from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .dispatcher import MAX_HELD, Dispatcher
from .stalls import Stalls


class CreditControl:
    """See the module."""

    def __init__(self, context: ClientContext, dispatcher: Dispatcher) -> None:
        self._context = context
        self._dispatcher = dispatcher
        self._stalls = Stalls(context, dispatcher)

    def begin(self, link: BusLink) -> None:
        """Grants the first credit on a new connection."""
        link.grant(max(0, self._context.options.receive_bytes - self._dispatcher.blocking_bytes))

    def update(self, link: BusLink, now: float | None) -> None:
        """Grants credit, or stops reading if the bus ignores its limit; after a receipt, or with None for ``now`` after
        events were handled."""
        dispatcher = self._dispatcher
        if link.standby:
            link.paused = dispatcher.held_bytes() > MAX_HELD
            return
        room = self._context.options.receive_bytes - dispatcher.blocking_bytes - dispatcher.held_bytes()
        if room > 0:
            limit = link.credit.next(room)
            if limit is not None:
                link.grant(limit)
        paused = room <= 0 and link.credit.is_beyond()
        if link.paused and not paused:
            # Time without reading does not count.
            link.pinged_at = None
        link.paused = paused
        if now is not None:
            self._stalls.check(link, now)

    def is_stalled(self) -> bool:
        """Returns whether the application stalls the connection."""
        return self._dispatcher.blocking_bytes >= self._context.options.receive_bytes
