"""What has come for one subscription and was not taken yet: deliveries, and between them what is to be told at its place.

Where the subscription's policy allows drops, this is bounded: beyond the bound the policy is applied here, so that a subscription
that is read slowly does not hold back the others of its client. The loop's thread fills and drops, any thread takes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

from ._events import Delivery, Event, EventCursor
from ._happenings import Gap, GapReason, Interruption
from ._wire import Malformed, Overflow

#: What a mark takes in memory beside its topic.
MARK_BYTES = 256


class Mark:
    """What is told between two events: a Gap or an Interruption."""

    __slots__ = ("at", "cost", "what")

    def __init__(self, what: Gap | Interruption, at: int) -> None:
        self.what = what
        #: Microseconds since 1970 at which it was found.
        self.at = at
        self.cost = MARK_BYTES + len(what.topic if isinstance(what, Gap) else what.filter)


Item = EventCursor | Mark


def cost_of(item: Item) -> int:
    """What an item takes of the bound."""
    return item.cost if isinstance(item, Mark) else item.delivery.cost


class Dropped:
    """What a policy has taken out of a buffer, or has put there in its place."""

    def __init__(self) -> None:
        self.cursors: list[EventCursor] = []
        #: Parts of them that stay.
        self.parts: list[EventCursor] = []
        self.told: list[Gap | Interruption] = []
        #: Bytes of marks that have come, less those that have gone.
        self.mark_bytes = 0


class Buffer:
    """See the module. ``bound`` is in bytes."""

    def __init__(self, filter: str, group: str | None, overflow: Overflow, bound: int) -> None:
        self._filter = filter
        self._group = group
        self._overflow = overflow
        self.bound = bound
        #: Bytes of what waits here.
        self.bytes = 0
        #: Whether the subscription listens to these at their place.
        self.hears_gaps = self.hears_interruptions = False
        self._queue: deque[Item] = deque()
        # Between the thread that takes and the policy, which takes several items and puts others in their place.
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def is_over(self) -> bool:
        """Whether more waits than is to wait here. One frame may, however big it is."""
        return self.bytes > self.bound and self._overflow is not Overflow.BLOCK and len(self._queue) > 1

    def add(self, cursor: EventCursor) -> bool:
        """Takes events that have come; returns whether more waits now than is to wait here."""
        with self._lock:
            self.bytes += cursor.delivery.cost
            self._queue.append(cursor)
            return self.bytes > self.bound and self.is_over

    def mark(self, what: Gap | Interruption, at: int) -> Mark | None:
        """Tells something at this place; returns what waits for that, None where the subscription does not listen."""
        if not self._hears(what):
            return None
        mark = Mark(what, at)
        with self._lock:
            self.bytes += mark.cost
            self._queue.append(mark)
        return mark

    def _hears(self, what: Gap | Interruption) -> bool:
        return self.hears_gaps if isinstance(what, Gap) else self.hears_interruptions

    def take(self) -> Item | None:
        """Takes the first item; None for none. Any thread."""
        with self._lock:
            if not self._queue:
                return None
            item = self._queue.popleft()
            self.bytes -= cost_of(item)
            return item

    def clear(self) -> list[Item]:
        """Takes everything."""
        with self._lock:
            items, self._queue = list(self._queue), deque()
            self.bytes = 0
        return items

    # ---- Policies

    def apply(self, now: int) -> Dropped:
        """Applies the policy; ``now`` in microseconds since 1970."""
        dropped = Dropped()
        # Less than the bound, so that what is done here is done for many frames at a time.
        most = -1 if self._overflow is Overflow.DISCONNECT else self.bound // 4 * 3
        with self._lock:
            before = self.bytes
            if self._overflow is Overflow.CONFLATE:
                self._conflate(dropped, now)
            if self.bytes > most:
                self._drop_oldest(most, dropped, now)
            dropped.mark_bytes = self.bytes - before
        dropped.mark_bytes += sum(c.delivery.cost for c in dropped.cursors) - sum(
            c.delivery.cost for c in dropped.parts
        )
        return dropped

    def _drop_oldest(self, most: int, dropped: Dropped, now: int) -> None:
        marks = _Marks(self)
        queue = self._queue
        while queue and self.bytes + marks.bytes > most and (len(queue) > 1 or most < 0):
            item = queue.popleft()
            self.bytes -= cost_of(item)
            if isinstance(item, Mark):
                marks.add(item.what, item.at)
                continue
            dropped.cursors.append(item)
            gap = _gap_of(item.delivery, item.index, item.delivery.count - 1, GapReason.BUFFER_FULL)
            _tell(dropped.told, gap)
            marks.add(gap, now)
            if marks.bytes > self.bound // 2:
                # So many streams that their numbers would take the place of the events.
                whole = Interruption(self._filter, self._group, marks.first_at, now)
                dropped.told.append(whole)
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
                        at = events[first].sequence - item.delivery.sequence
                        gap = _gap_of(item.delivery, at, at + last - first, GapReason.BUFFER_CONFLATED)
                        _tell(dropped.told, gap)
                        marks.put(gap, now, queue)
        self._queue = queue
        self.bytes = sum(map(cost_of, queue))


class _Marks:
    """Marks in their order; what follows another gap of its stream without an event between is one with it."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._open: dict[tuple[str, int, GapReason], Mark] = {}
        self.all: list[Mark] = []
        self.bytes = 0
        self.first_at = 0

    def add(self, what: Gap | Interruption, at: int) -> None:
        self.put(what, at, self.all)

    def put(self, what: Gap | Interruption, at: int, into: list[Mark] | deque[Item]) -> None:
        """Appends it, or makes another one longer."""
        self.first_at = self.first_at or at
        if not self._buffer._hears(what):
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
        """An event of a stream follows."""
        for reason in GapReason:
            self._open.pop((delivery.topic, delivery.producer, reason), None)


def _tell(told: list[Gap | Interruption], gap: Gap) -> None:
    """Tells a gap, as one with the last one where it goes on."""
    before = told[-1] if told else None
    if (
        isinstance(before, Gap)
        and (before.topic, before.producer, before.reason) == (gap.topic, gap.producer, gap.reason)
        and before.last + 1 == gap.first
    ):
        told[-1] = Gap(gap.topic, gap.producer, before.first, gap.last, gap.reason)
    else:
        told.append(gap)


def _gap_of(delivery: Delivery, first: int, last: int, reason: GapReason) -> Gap:
    """``first`` and ``last``: of the delivery's events, from 0."""
    return Gap(delivery.topic, delivery.producer, delivery.sequence + first, delivery.sequence + last, reason)


def _events_of(cursor: EventCursor) -> list[Event] | None:
    """The events that are left; None where they are malformed, which whoever takes them will see."""
    events: list[Event] = []
    try:
        cursor.copy().take(events, cursor.delivery.count)
    except Malformed:
        return None
    return events


def _runs(keeps: Iterable[bool]) -> list[tuple[int, int, bool]]:
    """Ranges of the same value: first, last, value."""
    runs: list[tuple[int, int, bool]] = []
    for i, keep in enumerate(keeps):
        if runs and runs[-1][2] is keep:
            runs[-1] = runs[-1][0], i, keep
        else:
            runs.append((i, i, keep))
    return runs


def _part_of(delivery: Delivery, events: list[Event]) -> Delivery:
    """Some consecutive events of a delivery, with bytes of their own."""
    part = delivery.copy()
    part.data = delivery.data[events[0]._start : events[-1]._end]
    part.sequence, part.count = events[0].sequence, len(events)
    part.start, part.end, part.cost = 0, len(part.data), len(part.data)
    return part
