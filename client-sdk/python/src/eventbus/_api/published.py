"""Result of publishing."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """Confirmation of an event: the bus has put it into the queues of all its subscribers. Of a durable topic: it is on
    the disks of a majority of the journal's buses."""

    topic: str
    producer: int
    sequence: int
    #: Number of receivers that the bus has queued it for: its own subscriptions, and peers. None where the bus does
    #: not tell, as for a durable topic.
    receivers: int | None = None
    #: Position in the journal, from 1; 0 if the topic is not durable, if the event waits for its time (``delay``), or
    #: if the position is not known of an event that was stored before.
    position: int = 0
    #: True if the event, or another one of its frame, was stored before: it is there once.
    repeated: bool = False
