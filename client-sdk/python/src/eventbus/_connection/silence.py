"""Detects a dead connection: probes it after silence, and gives it up without an answer."""

from __future__ import annotations

from collections.abc import Callable

from .._base.bus_link import BusLink
from .._base.timers import Timers


def watch(
    link: BusLink,
    timers: Timers,
    silence: float,
    now: float,
    probe: Callable[[], None],
    give_up: Callable[[float], None],
) -> None:
    """Watches a connection until it is over: probes after half of ``silence`` seconds, gives up after the other half."""
    half = silence / 2

    def check(then: float, due: float) -> None:
        if link.over:
            return
        if link.paused:
            # Time without reading does not count.
            link.heard_at = then
        asked = link.pinged_at
        if asked is not None and link.heard_at > asked:
            asked = link.pinged_at = None
        ask_at = link.heard_at + half
        if asked is None and then < ask_at:
            again(ask_at)
        elif asked is None or then - due > half / 2:
            # A late timer may have missed received frames.
            link.pinged_at = then
            probe()
            again(then + half)
        else:
            give_up(then)

    def again(at: float) -> None:
        timers.at(at, lambda then: check(then, at))

    again(now + half)
