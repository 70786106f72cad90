"""Received items of a subscription that were not taken yet: deliveries, and marks between them.

Where the subscription's policy allows drops, the buffer is bounded: beyond the bound the policy is applied here, so
that a slow subscription does not stall the others of its client. The loop's thread fills and drops, any thread takes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

from .._api.happenings import Gap, GapReason, Interruption
from .._wire.codec import Malformed
from .._wire.events import Delivery, Event, EventCursor
from .._wire.records import Overflow

#: Bytes of memory that a mark takes beside its topic.
MARK_BYTES = 256


class Mark:
    """A Gap or an Interruption between two events."""

    __slots__ = ("at", "cost", "what")

    def __init__(self, what: Gap | Interruption, at: int) -> None:
        self.what = what
        #: Time of its detection, in microseconds since 1970.
        self.at = at
        self.cost = MARK_BYTES + len(what.topic if isinstance(what, Gap) else what.filter)


Item = EventCursor | Mark


def cost_of(item: Item) -> int:
    """Returns the bytes of an item that count against the bound."""
    return item.cost if isinstance(item, Mark) else item.delivery.cost


class Dropped:
    """Items that a policy has removed from a buffer, and their replacements."""

    def __init__(self) -> None:
        self.cursors: list[EventCursor] = []
        #: Parts of the removed items that stay.
        self.parts: list[EventCursor] = []
        self.reported: list[Gap | Interruption] = []
        #: Bytes of added marks, minus those of removed ones.
        self.mark_bytes = 0


class Buffer:
    """See the module. ``bound`` is in bytes."""

    def __init__(self, filter: str, group: str | None, overflow: Overflow, bound: int) -> None:
        self._filter = filter
        self._group = group
        self._overflow = overflow
        self.bound = bound
        #: Bytes of the waiting items.
        self.bytes = 0
        #: Set if the subscription has callbacks for gaps, or for interruptions.
        self.wants_gaps = self.wants_interruptions = False
        self._queue: deque[Item] = deque()
        # Guards the queue between the thread that takes and the policy, which replaces several items.
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def is_over(self) -> bool:
        """Returns whether the buffer is over its bound. A single frame may be, whatever its size."""
        return self.bytes > self.bound and self._overflow is not Overflow.BLOCK and len(self._queue) > 1

    def add(self, cursor: EventCursor) -> bool:
        """Adds received events; returns whether the buffer is over its bound now."""
        with self._lock:
            self.bytes += cursor.delivery.cost
            self._queue.append(cursor)
            return self.bytes > self.bound and self.is_over

    def mark(self, what: Gap | Interruption, at: int) -> Mark | None:
        """Adds a mark at the end; returns it, or None where the subscription has no callback for it."""
        if not self._wants(what):
            return None
        mark = Mark(what, at)
        with self._lock:
            self.bytes += mark.cost
            self._queue.append(mark)
        return mark

    def _wants(self, what: Gap | Interruption) -> bool:
        return self.wants_gaps if isinstance(what, Gap) else self.wants_interruptions

    def take(self) -> Item | None:
        """Takes the first item, in any thread; None for none."""
        with self._lock:
            if not self._queue:
                return None
            item = self._queue.popleft()
            self.bytes -= cost_of(item)
            return item

    def clear(self) -> list[Item]:
        """Takes all items."""
        with self._lock:
            items, self._queue = list(self._queue), deque()
            self.bytes = 0
        return items

    # ---- Policies

    def apply(self, now: int) -> Dropped:
        """Applies the policy; ``now`` in microseconds since 1970."""
        dropped = Dropped()
        # Less than the bound, so that the work is done once for many frames.
        target = -1 if self._overflow is Overflow.DISCONNECT else self.bound // 4 * 3
        with self._lock:
            before = self.bytes
            if self._overflow is Overflow.CONFLATE:
                self._conflate(dropped, now)
            if self.bytes > target:
                self._drop_oldest(target, dropped, now)
            dropped.mark_bytes = self.bytes - before
        dropped.mark_bytes += sum(c.delivery.cost for c in dropped.cursors) - sum(
            c.delivery.cost for c in dropped.parts
        )
        return dropped

    def _drop_oldest(self, target: int, dropped: Dropped, now: int) -> None:
        marks = _Marks(self)
        queue = self._queue
        while queue and self.bytes + marks.bytes > target and (len(queue) > 1 or target < 0):
            item = queue.popleft()
            self.bytes -= cost_of(item)
            if isinstance(item, Mark):
                marks.add(item.what, item.at)
                continue
            dropped.cursors.append(item)
            gap = _gap_of(item.delivery, item.index, item.delivery.count - 1, GapReason.BUFFER_FULL)
            _report(dropped.reported, gap)
            marks.add(gap, now)
            if marks.bytes > self.bound // 2:
                # Too many streams: their gaps would take the place of the events.
                whole = Interruption(self._filter, self._group, marks.first_at, now)
                dropped.reported.append(whole)
                marks = _Marks(self)
                marks.add(whole, now)
        queue.extendleft(reversed(marks.all))
        self.bytes += marks.bytes

    def _conflate(self, dropped: Dropped, now: int) -> None:
        """Keeps the last event of each topic and key."""
        seen: set[tuple[str, str | None]] = set()
        kept: list[tuple[Item, list[Event] | None, list[bool]]] = []
        for item in reversed(self._queue):
            events = None if isinstance(item, Mark) else _events_of(item)
            keeps: list[bool] = []
            for event in reversed(events or ()):
                key = event.topic, event.key
                keeps.append(key not in seen)
                seen.add(key)
            kept.append((item, events, keeps[::-1]))
        queue: deque[Item] = deque()
        marks = _Marks(self)
        for item, events, keeps in reversed(kept):
            if isinstance(item, Mark):
                marks.put(item.what, item.at, queue)
            elif events is None or all(keeps):
                marks.close(item.delivery)
                queue.append(item)
            else:
                dropped.cursors.append(item)
                for first, last, keep in _runs(keeps):
                    if keep:
                        part = EventCursor(_part_of(item.delivery, events[first : last + 1]))
                        dropped.parts.append(part)
                        marks.close(item.delivery)
                        queue.append(part)
                    else:
                        at = events[first].sequence - item.delivery.first
                        gap = _gap_of(item.delivery, at, at + last - first, GapReason.BUFFER_CONFLATED)
                        _report(dropped.reported, gap)
                        marks.put(gap, now, queue)
        self._queue = queue
        self.bytes = sum(map(cost_of, queue))


class _Marks:
    """Marks in order; consecutive gaps of a stream without an event between are merged."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._open: dict[tuple[str, int, GapReason], Mark] = {}
        self.all: list[Mark] = []
        self.bytes = 0
        self.first_at = 0

    def add(self, what: Gap | Interruption, at: int) -> None:
        self.put(what, at, self.all)

    def put(self, what: Gap | Interruption, at: int, into: list[Mark] | deque[Item]) -> None:
        """Appends a mark, or extends an earlier one."""
        self.first_at = self.first_at or at
        if not self._buffer._wants(what):
            return
        mark = Mark(what, at)
        if isinstance(what, Gap):
            stream = what.topic, what.producer, what.reason
            before = self._open.get(stream)
            if before is not None and isinstance(before.what, Gap) and before.what.last + 1 == what.first:
                before.what = Gap(what.topic, what.producer, before.what.first, what.last, what.reason)
                return
            self._open[stream] = mark
        else:
            self._open.clear()
        into.append(mark)
        self.bytes += mark.cost

    def close(self, delivery: Delivery) -> None:
        """Ends the merging of gaps of a stream, because an event follows."""
        for reason in GapReason:
            self._open.pop((delivery.topic, delivery.producer, reason), None)


def _report(reported: list[Gap | Interruption], gap: Gap) -> None:
    """Adds a gap, merged with the last one where it continues that."""
    before = reported[-1] if reported else None
    if (
        isinstance(before, Gap)
        and (before.topic, before.producer, before.reason) == (gap.topic, gap.producer, gap.reason)
        and before.last + 1 == gap.first
    ):
        reported[-1] = Gap(gap.topic, gap.producer, before.first, gap.last, gap.reason)
    else:
        reported.append(gap)


def _gap_of(delivery: Delivery, first: int, last: int, reason: GapReason) -> Gap:
    """Returns a gap; ``first`` and ``last`` are indices of the delivery's events, from 0."""
    return Gap(delivery.topic, delivery.producer, delivery.sequence + first, delivery.sequence + last, reason)


def _events_of(cursor: EventCursor) -> list[Event] | None:
    """Returns the remaining events; None where they are malformed, which is reported when they are taken."""
    events: list[Event] = []
    try:
        cursor.copy().take(events, cursor.delivery.count)
    except Malformed:
        return None
    return events


def _runs(keeps: Iterable[bool]) -> list[tuple[int, int, bool]]:
    """Returns ranges of equal values: first, last, value."""
    runs: list[tuple[int, int, bool]] = []
    for i, keep in enumerate(keeps):
        if runs and runs[-1][2] is keep:
            runs[-1] = runs[-1][0], i, keep
        else:
            runs.append((i, i, keep))
    return runs


def _part_of(delivery: Delivery, events: list[Event]) -> Delivery:
    """Returns a delivery of some consecutive events, with bytes of its own."""
    part = delivery.behind(events[0].sequence - delivery.first)
    part.data = delivery.data[events[0]._start : events[-1]._end]
    part.count = len(events)
    part.start, part.end, part.cost = 0, len(part.data), len(part.data)
    return part
