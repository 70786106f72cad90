"""Deliveries that wait while a client has two connections."""

from __future__ import annotations

from .._wire.events import Delivery
from .._wire.records import GapFrame


class HeldDeliveries:
    """Deliveries that arrive while a client has two connections, and must not be delivered to the application yet.

    An event for subscriptions without a group comes over both connections: those of the new one wait until the old one is
    drained, and then duplicates are dropped by their numbers. An event for a group comes over one of the two, as the
    bus has chosen: for topics with a group both connections' deliveries wait, and are put in the order of their
    numbers.
    """

    def __init__(self) -> None:
        self.plain: list[Delivery | GapFrame] = []
        self.grouped: dict[tuple[str, int], list[tuple[int, int, bool, Delivery]]] = {}
        self.bytes = 0
        self.old_bytes = 0
        self.groups_only = False

    def add_grouped(self, delivery: Delivery, fresh: bool) -> None:
        held = self.grouped.setdefault((delivery.topic, delivery.producer), [])
        held.append((delivery.sequence, len(held), fresh, delivery))
        if fresh:
            self.bytes += delivery.cost
        else:
            self.old_bytes += delivery.cost
