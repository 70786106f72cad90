"""Result of publishing."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """Confirmation of an event: the bus has put it into the queues of all its subscribers."""

    topic: str
    producer: int
    sequence: int
    #: Number of receivers that the bus has queued it for: its own subscriptions, and peers. None where the bus does
    #: not tell.
    receivers: int | None = None
