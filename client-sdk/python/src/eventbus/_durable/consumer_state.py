"""A consumer of durable topics, over all connections of its client. Without I/O or a clock.

What was fed once is not handled again, whichever connection brings it: ``covered`` is the last position that was fed, and
grows only. So a reconnect and a
move need no agreement with the bus. All positions are those of one creation of the journal.
"""

from __future__ import annotations

from collections import deque

from .._api.durable import DurableCounters, Truncated
from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._wire.durable_frames import Consume, ConsumeMode, ConsumeStart, Feed, Settle, TruncatedReason
from .._wire.durable_frames import Truncated as TruncatedFrame
from .._wire.events import Event
from .fed_consumer import ITEM_OVERHEAD, ConsumerSettings, FedConsumer
from .feed_credit import FeedCredit

#: Minimum time between two settlements, in seconds.
SETTLE_INTERVAL = 0.1


class FedItem:
    """Part of what was fed, which waits for the application: frames with events, or events that do not come."""

    __slots__ = ("bytes", "frames", "known", "last", "missing")

    def __init__(self, last: int, frames: bytes, known: int, missing: Truncated | None, size: int) -> None:
        #: Last position that it covers.
        self.last = last
        #: Checked ``Deliver`` frames.
        self.frames = frames
        #: Events up to this position came before, and are skipped.
        self.known = known
        self.missing = missing
        #: Bytes that it takes of the buffer.
        self.bytes = size + ITEM_OVERHEAD


class ConsumerState(FedConsumer):
    """See the module."""

    def __init__(self, id: int, context: ClientContext, settings: ConsumerSettings) -> None:
        what = f"the durable subscription {settings.name}" if settings.name else f"the consumer of {settings.filter}"
        super().__init__(id, context, settings, what)
        #: Number of times that the creation of the journal was another one than before.
        self.generation = 0
        #: Set once a bus has told where the consumer begins.
        self.known = False
        #: Position up to which everything is handled; 0 before the first.
        self.handled = 0
        self.received = self.duplicates = self.failed = 0
        self._queue: deque[FedItem] = deque()
        # The item that the application is at.
        self._taken: FedItem | None = None
        # Last position of the journal, as the bus has told it last.
        self._head = 0
        # Connection that has fed last.
        self._line: BusLink | None = None
        self._credits: dict[BusLink, FeedCredit] = {}
        # Connections over which frames of an earlier creation of the journal may come.
        self._outdated: set[BusLink] = set()
        # Last position that the bus of the line was told as handled, and the time.
        self._settled = 0
        self._settled_at = float("-inf")
        self._settles_soon = False

    # ---- What the bus says

    def accepted(self, link: BusLink, journal: str, creation: int) -> Truncated | None:
        self.journal = journal
        told = None
        if creation:
            if creation != self.creation != 0:
                told = self._begin_again()
            self.creation = creation
        if told is not None:
            self._add(FedItem(0, b"", 0, told, 0))
        self._outdated.discard(link)
        self._credits[link] = FeedCredit(self.id, self._granted, self.settings.buffer_bytes)
        if link is self._line:
            self._line = None
        self._grant()
        return told

    def _begin_again(self) -> Truncated | None:
        """Forgets what was of a journal that was deleted; returns what is new of it."""
        first, known = self.handled + 1, self.known
        told = Truncated(self.settings.filter, first, max(first, self._head), TruncatedReason.DELETED)
        self.clear()
        self.generation += 1
        self.known = False
        self.covered = self.handled = self._head = self._settled = 0
        self._outdated = {link for link in self._outdated | self._credits.keys() if not (link.over or link.abandoned)}
        self._credits.clear()
        self._line = None
        return told if known else None

    def lost(self, link: BusLink) -> None:
        self._outdated.discard(link)
        self._credits.pop(link, None)

    def fed(self, link: BusLink, feed: Feed, fresh: int, repeated: int, size: int) -> None:
        if link in self._outdated:
            return
        self.duplicates += repeated
        self._begin(link, feed.first, size)
        self._head = max(self._head, feed.head)
        if feed.last > self.covered:
            before, self.covered = self.covered, feed.last
            if fresh:
                self._add(FedItem(feed.last, feed.frames, before, None, size))
            else:
                self._pass(feed.last)
        self._grant()
        self.settle_soon()

    def truncated(self, link: BusLink, frame: TruncatedFrame) -> Truncated | None:
        if link in self._outdated:
            return None
        self._begin(link, frame.first, 0)
        self._head = max(self._head, frame.last)
        if frame.last <= self.covered:
            return None
        told = Truncated(self.settings.filter, max(frame.first, self.covered + 1), frame.last, frame.reason)
        self.covered = frame.last
        self._add(FedItem(frame.last, b"", 0, told, 0))
        return told

    def _begin(self, link: BusLink, first: int, size: int) -> None:
        """Counts a frame of a connection; the first one after ``Consume`` says where the consumer begins there."""
        if link is not self._line:
            self._line = link
            # What was settled over another connection may not have arrived.
            self._settled = 0
        if not self.known:
            self.known = True
            self.covered = self.handled = self._settled = first - 1
        credit = self._credits.get(link)
        if credit is None:
            credit = self._credits[link] = FeedCredit(self.id, self._granted, self.settings.buffer_bytes)
        credit.received += size
        if not credit.begun:
            credit.begun = True
            # Later frames begin behind what was fed, not behind what is settled.
            if self.settings.name and first - 1 > self.handled:
                self._overtaken(first - 1)

    def _overtaken(self, settled: int) -> None:
        """Drops what waits, because another consumer has settled it meanwhile."""
        while self._queue and self._queue[0].last <= settled:
            self.queued_bytes -= self._queue.popleft().bytes
        self.handled = settled
        self.covered = max(self.covered, settled)

    def _add(self, item: FedItem) -> None:
        if not self.stopping and not self.ended:
            self._queue.append(item)
            self.queued_bytes += item.bytes
            self.wake()

    def _pass(self, last: int) -> None:
        """Records that there is nothing up to a position, behind what waits."""
        if self.stopping:
            # What was dropped before it is not handled.
            return
        behind = self._queue[-1] if self._queue else self._taken
        if behind is not None:
            behind.last = last
        else:
            self.handled = last

    def _grant(self) -> None:
        """Raises the limits as far as there is room."""
        if self.stopping or self.ended:
            return
        room = self._room()
        for link, credit in list(self._credits.items()):
            if link.over or link.abandoned:
                del self._credits[link]
            elif (frame := credit.next(room)) is not None:
                link.control.append(frame)
                self._context.wake()

    # ---- What the application does

    def take(self) -> FedItem | None:
        """Takes the next item, after the last one is done; None for none."""
        if self._taken is None and self._queue and not self.stopping and not self.ended:
            self._taken = self._queue.popleft()
        return self._taken

    def has_handled(self, item: object) -> bool:
        """Returns whether it is an event that is handled, by another consumer if not by this one."""
        return isinstance(item, Event) and item.position <= self.handled

    def handle(self, position: int) -> None:
        """Records that everything up to a position is handled."""
        if position > self.handled:
            self.handled = position
            self.settle_soon()

    def done(self) -> None:
        """Records that the item that was taken is handled whole."""
        item, self._taken = self._taken, None
        if item is not None:
            self.queued_bytes -= item.bytes
            self.handle(item.last)
            self._grant()

    def stop(self) -> None:
        self.stopping = True
        self._clear()
        self.wake()

    def clear(self) -> None:
        self._clear()
        self._taken = None
        self.queued_bytes = 0

    def _clear(self) -> None:
        self.queued_bytes -= sum(item.bytes for item in self._queue)
        self._queue.clear()

    # ---- Settling

    def _has_to_settle(self) -> bool:
        return bool(self.settings.name) and self.handled > self._settled

    def settle_soon(self) -> None:
        """Tells the bus what is handled, at the end of this turn or a moment after the last time."""
        if not self._settles_soon and self._has_to_settle() and not self.ended:
            self._settles_soon = True
            self._context.soon(self._settle)

    def _settle(self, now: float) -> None:
        if now < self._settled_at + SETTLE_INTERVAL:
            self._context.timers.at(self._settled_at + SETTLE_INTERVAL, self._settle)
            return
        self._settles_soon = False
        line = self._line
        # Without a connection the first frame of the next one leads here again.
        if line is not None and not line.over and not line.abandoned and self._has_to_settle() and not self.ended:
            self._settled_at = now
            line.control.append(self._settlement())

    def _settlement(self) -> bytes:
        self._settled = self.handled
        return Settle(self.id, self.handled, False, self.creation).frame()

    # ---- As a registration

    def begin_frame(self) -> bytes:
        settings = self.settings
        other_start, other = start, value = settings.start.kind, settings.start.value
        if not settings.name and self.known:
            # The bus remembers nothing.
            start, value = ConsumeStart.POSITION, self.covered + 1
        return Consume(
            self.id,
            settings.filter,
            self.journal,
            settings.name,
            ConsumeMode.EXCLUSIVE,
            start,
            value,
            self._ask(),
            self.creation,
            other_start,
            other,
        ).frame()

    def last_frames(self) -> bytes:
        return (self._settlement() if self._has_to_settle() else b"") + self.end_frame()

    # ---- For the application

    def lag(self) -> int:
        """Returns the number of positions between what is handled and the end of the journal."""
        return max(0, self._head - self.handled)

    def counters(self) -> DurableCounters:
        return DurableCounters(self.received, self.duplicates, self.failed, self.queued_bytes)
