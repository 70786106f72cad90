"""A consumer of a shared durable subscription, over all connections of its client. Without I/O or a clock.

An event belongs to the connection that brought it, and is settled over it: when that is lost, the bus gives the event to
another consumer, whatever becomes of it here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from .._api.durable import Truncated, WorkerCounters
from .._api.errors import Error
from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._base.waiters import Waiter
from .._wire.durable_frames import Consume, ConsumeMode, Feed, SettleOutcome, TruncatedReason
from .._wire.durable_frames import Truncated as TruncatedFrame
from .fed_consumer import ITEM_OVERHEAD, ConsumerSettings, FedConsumer
from .feed_credit import FeedCredit
from .settlement import cut
from .work_feed import OpenDelivery, WorkFeed
from .worker_line import WorkCounts, WorkerLine

#: Time for which settlements are collected, in seconds.
COLLECT = 0.003


@dataclass(frozen=True, kw_only=True)
class WorkerSettings(ConsumerSettings):
    """Settings of a worker."""

    max_unsettled: int
    #: Milliseconds.
    ack_timeout: int
    max_attempts: int
    #: True if events that the application has and has not settled are given back at the end.
    gives_back_taken: bool


class WorkerState(FedConsumer):
    """See the module."""

    settings: WorkerSettings
    #: No other consumer gets what the bus has sent for it.
    is_exclusive = True

    def __init__(self, id: int, context: ClientContext, settings: WorkerSettings) -> None:
        super().__init__(id, context, settings, f"the worker of {settings.name}")
        #: Events that the application has got, and failures of its handler.
        self.received = self.failed = 0
        self._counts = WorkCounts()
        self._ack_timeout = settings.ack_timeout / 1000
        self._lines: dict[BusLink, WorkerLine] = {}
        # Feeds with events that wait.
        self._queue: deque[WorkFeed] = deque()
        # Feeds whose bytes are counted, in order: an event of them waits or is not settled.
        self._counted: dict[WorkFeed, None] = {}
        self._feeds = 0
        # Last position that was fed, and last one of the journal.
        self._last_fed = self._head = 0
        # Set while the end of the collecting, and the next look at what waits for long, have a timer.
        self._collects = self._looks = False

    # ---- What the bus says

    def accepted(self, link: BusLink, journal: str, creation: int) -> Truncated | None:
        self.journal = journal
        self.lost(link)
        # The limit is raised by an eighth of the buffer at least.
        credit = FeedCredit(self.id, self._granted, self.settings.buffer_bytes // 4)
        line = self._lines[link] = WorkerLine(link, self.id, credit, creation, self._counts)
        line.leaving = self.stopping
        self._grant()
        return self._created(creation)

    def _created(self, creation: int) -> Truncated | None:
        """Records the creation of the journal; returns what does not come because the one before was deleted."""
        if creation in (0, self.creation):
            return None
        first, known = self._last_fed + 1, self.creation and self._last_fed
        told = Truncated(self.settings.filter, first, max(first, self._head), TruncatedReason.DELETED)
        self.creation = creation
        self._last_fed = self._head = 0
        return told if known else None

    def fed(self, link: BusLink, feed: Feed, fresh: int, repeated: int, size: int) -> None:
        line = self._lines.get(link)
        if line is None:
            # Without an answer to Consume, or behind the end.
            return
        line.credit.received += size
        self._last_fed = max(self._last_fed, feed.last)
        self._head = max(self._head, feed.head)
        self._feeds += 1
        fed = WorkFeed(line, self._feeds, feed, size + ITEM_OVERHEAD, link.heard_at)
        if fed.has_events:
            self._counted[fed] = None
            self.queued_bytes += fed.bytes
            if line.leaving:
                self._give_back(fed)
                line.flush()
            else:
                self._queue.append(fed)
                self._look_later(link.heard_at)
                self.wake()
        self._grant()

    def truncated(self, link: BusLink, frame: TruncatedFrame) -> Truncated | None:
        if link not in self._lines:
            return None
        self._last_fed = max(self._last_fed, frame.last)
        self._head = max(self._head, frame.last)
        return Truncated(self.settings.filter, frame.first, frame.last, frame.reason)

    def lost(self, link: BusLink) -> None:
        line = self._lines.pop(link, None)
        if line is None:
            return
        line.lose()
        for feed in self._waiting_of(line):
            feed.drop()
            self._uncount_settled(feed)
        self._grant()

    def leave(self, link: BusLink) -> None:
        line = self._lines.get(link)
        if line is None:
            return
        line.leaving = True
        for feed in self._waiting_of(line):
            self._give_back(feed)
        if self.stopping and self.settings.gives_back_taken:
            for taken in [d for feed in self._counted if feed.line is line for d in feed.open]:
                self.settle_event(taken, SettleOutcome.RELEASE)
        line.flush()

    def settled(self, link: BusLink, position: int) -> None:
        line = self._lines.get(link)
        if line is not None:
            line.stored(position)

    def settle_refused(self, link: BusLink, error: Callable[[], Error]) -> bool:
        line = self._lines.get(link)
        return line is not None and line.refused(error)

    def _waiting_of(self, line: WorkerLine) -> list[WorkFeed]:
        """Takes the feeds of a connection that wait."""
        found = [feed for feed in self._queue if feed.line is line]
        self._queue = deque(feed for feed in self._queue if feed.line is not line)
        return found

    def _give_back(self, feed: WorkFeed) -> None:
        feed.line.tell(feed.drop())
        self._uncount_settled(feed)

    def _grant(self) -> None:
        """Raises the limits as far as there is room."""
        if not self.stopping and not self.ended:
            for line in self._lines.values():
                line.grant(self._room())
        self._context.wake()

    def _uncount_settled(self, feed: WorkFeed) -> None:
        if not feed.has_events and not feed.open:
            self._uncount(feed)

    def _uncount(self, feed: WorkFeed) -> None:
        if feed in self._counted:
            del self._counted[feed]
            self.queued_bytes -= feed.bytes
            self._grant()

    # ---- What the application does

    @property
    def has_work(self) -> bool:
        """Returns whether an event waits."""
        return bool(self._queue)

    def take(self, now: float) -> OpenDelivery | None:
        """Takes the next event; None if none waits."""
        if not self._queue:
            return None
        feed = self._queue[0]
        delivery = feed.take(now)
        if not feed.has_events:
            self._queue.popleft()
        if now - feed.arrived_at > self._ack_timeout / 8:
            # The application gets the whole ack timeout.
            feed.line.tell(delivery.settlement(SettleOutcome.EXTEND))
            self.flush()
        self.received += 1
        return delivery

    def settle_event(
        self, delivery: OpenDelivery, outcome: SettleOutcome, delay_millis: int = -1, reason: str = ""
    ) -> None:
        """Settles an event, unless it is settled."""
        if not delivery.settled:
            settlement = delivery.settlement(outcome, delay_millis, cut(reason))
            self._close(delivery)
            delivery.feed.line.settle(settlement)
            self._collect()

    def settle_event_confirmed(self, delivery: OpenDelivery, waiter: Waiter) -> None:
        """Settles an event that is not settled as done, and answers when that is stored."""
        self._close(delivery)
        delivery.feed.line.settle_confirmed(delivery.settlement(SettleOutcome.DONE), waiter)
        self._context.wake()

    def extend(self, delivery: OpenDelivery, now: float) -> None:
        """Begins the ack timeout of an event again, if an eighth of it is over and the event is not settled."""
        if not delivery.settled and now - delivery.extended_at >= self._ack_timeout / 8:
            delivery.extended_at = delivery.feed.extended_at = now
            delivery.feed.line.tell(delivery.settlement(SettleOutcome.EXTEND))
            self._collect()

    def flush(self) -> None:
        """Sends the settlements that were collected."""
        for line in self._lines.values():
            line.flush()
        self._context.wake()

    def _close(self, delivery: OpenDelivery) -> None:
        delivery.settled = True
        delivery.feed.open.discard(delivery)
        self._uncount_settled(delivery.feed)

    def _collect(self) -> None:
        def end(_: float) -> None:
            self._collects = False
            self.flush()

        if not self._collects:
            self._collects = True
            self._context.soon(lambda now: self._context.timers.at(now + COLLECT, end))

    # ---- Time

    def _look_later(self, now: float) -> None:
        if not self._looks:
            self._looks = True
            self._context.timers.at(now + self._ack_timeout / 4, self._look)

    def _look(self, now: float) -> None:
        """Gives back what waits for long, and counts the bytes of what was not settled in time no more: the bus has given
        that to another consumer."""
        self._looks = False
        for feed in list(self._counted):
            if feed.has_events and now - feed.arrived_at >= self._ack_timeout / 2:
                self._queue.remove(feed)
                self._give_back(feed)
            if now - feed.extended_at >= 2 * self._ack_timeout:
                self._uncount(feed)
        self.flush()
        if self._counted:
            self._look_later(now)

    # ---- The end

    def stop(self) -> None:
        self.stopping = True
        for link in list(self._lines):
            self.leave(link)
        self.wake()

    def clear(self) -> None:
        for link in list(self._lines):
            self.lost(link)
        self._counted.clear()
        self.queued_bytes = 0

    @property
    def is_working(self) -> bool:
        return any(feed.open and not feed.line.is_lost for feed in self._counted)

    # ---- As a registration

    def begin_frame(self) -> bytes:
        settings = self.settings
        return Consume(
            self.id,
            settings.filter,
            self.journal,
            settings.name,
            ConsumeMode.SHARED,
            settings.start.kind,
            settings.start.value,
            self._ask(),
            self.creation,
            settings.start.kind,
            settings.start.value,
            settings.max_unsettled,
            settings.ack_timeout,
            settings.max_attempts,
        ).frame()

    # ---- For the application

    def counters(self) -> WorkerCounters:
        sent = self._counts.sent
        return WorkerCounters(
            self.received,
            sent[SettleOutcome.DONE],
            sent[SettleOutcome.RETRY],
            sent[SettleOutcome.REJECT],
            self._counts.late,
            self.failed,
            self.queued_bytes,
        )
