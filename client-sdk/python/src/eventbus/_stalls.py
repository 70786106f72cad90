"""Reports subscriptions under BLOCK that stall the whole connection. Without I/O or a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import HeldBack
from ._timers import Timer

if TYPE_CHECKING:
    from ._bus_link import BusLink
    from ._machine import Machine

#: Seconds without new credit after which a stall is reported.
STALL_TIME = 1.0
#: Seconds between reports.
REPORT_INTERVAL = 10.0
#: Maximum of filters named in a report.
MAX_NAMED = 5


class Stalls:
    """See the module. ``machine`` is the client."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._timer: Timer | None = None

    def check(self, link: BusLink, now: float) -> None:
        """Checks for a stall, after a receipt or after events were handled."""
        if self._timer is None and self._is_stalled(link):
            self._watch(link, now, STALL_TIME)

    @staticmethod
    def _is_stalled(link: BusLink) -> bool:
        return link.paused or link.credit.received >= link.credit.limit >= 0

    def _watch(self, link: BusLink, now: float, seconds: float) -> None:
        limit = link.credit.limit

        def check(then: float) -> None:
            self._timer = None
            if link is not self._machine.current or not self._is_stalled(link):
                return
            if link.credit.limit != limit:
                # The subscription has made progress meanwhile.
                self._watch(link, then, STALL_TIME)
                return
            self._report()
            self._watch(link, then, REPORT_INTERVAL)

        self._timer = self._machine.timers.at(now + seconds, check)

    def _report(self) -> None:
        dispatcher = self._machine.dispatcher
        slow = max((s for s in dispatcher.subscriptions.values() if s.blocks), key=lambda s: s.unhandled, default=None)
        if slow is None or slow.unhandled == 0:
            return
        others = tuple(dict.fromkeys(s.filter for s in dispatcher.subscriptions.values() if s is not slow))
        if others:
            named = ", ".join(repr(f) for f in others[:MAX_NAMED])
            more = f" and {len(others) - MAX_NAMED} more" if len(others) > MAX_NAMED else ""
            self._machine.happenings.append(HeldBack(slow.filter, others, f"{named}{more}", slow.unhandled))
