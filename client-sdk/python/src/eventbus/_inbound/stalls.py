"""Reports subscriptions under BLOCK that stall the whole connection. Without I/O or a clock."""

from __future__ import annotations

from .._api.errors import HeldBack
from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._base.timers import Timer
from .dispatcher import Dispatcher

#: Seconds without new credit after which a stall is reported.
STALL_TIME = 1.0
#: Seconds between reports.
REPORT_INTERVAL = 10.0
#: Maximum of filters named in a report.
MAX_NAMED = 5


class Stalls:
    """See the module."""

    def __init__(self, context: ClientContext, dispatcher: Dispatcher) -> None:
        self._context = context
        self._dispatcher = dispatcher
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
            if link is not self._context.current or not self._is_stalled(link):
                return
            if link.credit.limit != limit:
                # The subscription has made progress meanwhile.
                self._watch(link, then, STALL_TIME)
                return
            self._report()
            self._watch(link, then, REPORT_INTERVAL)

        self._timer = self._context.timers.at(now + seconds, check)

    def _report(self) -> None:
        subscriptions = self._dispatcher.subscriptions.values()
        slow = max((s for s in subscriptions if s.blocks), key=lambda s: s.unhandled, default=None)
        if slow is None or slow.unhandled == 0:
            return
        others = tuple(dict.fromkeys(s.filter for s in subscriptions if s is not slow))
        if others:
            named = ", ".join(repr(f) for f in others[:MAX_NAMED])
            more = f" and {len(others) - MAX_NAMED} more" if len(others) > MAX_NAMED else ""
            self._context.happenings.append(HeldBack(slow.filter, others, f"{named}{more}", slow.unhandled))
