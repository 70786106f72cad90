"""Received and missing sequence numbers of each producer and topic."""

from __future__ import annotations

from collections.abc import Iterator

from .subscription_state import SubscriptionState

#: Maximum of remembered ranges of an incomplete pair.
MAX_RANGES = 64


class Ranges:
    """A set of numbers as ranges, in order; drops the lowest of too many ranges."""

    __slots__ = ("_all",)

    def __init__(self) -> None:
        self._all: list[tuple[int, int]] = []

    def add(self, low: int, high: int) -> None:
        all_ = self._all
        if all_ and all_[-1][0] <= low <= all_[-1][1] + 1:  # nearly always
            all_[-1] = (all_[-1][0], max(high, all_[-1][1]))
            return
        kept = []
        for a, b in all_:
            if b + 1 < low or high + 1 < a:
                kept.append((a, b))
            else:
                low, high = min(low, a), max(high, b)
        kept.append((low, high))
        kept.sort()
        self._all = kept[-MAX_RANGES:]

    def missing(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Returns the parts of a range that are not in the set."""
        for a, b in self._all:
            if b < low:
                continue
            if a > high:
                break
            if low < a:
                yield low, a - 1
            low = max(low, b + 1)
        if low <= high:
            yield low, high

    def first_missing(self, start: int) -> int:
        """Returns the first number from here on that is not in the set."""
        for a, b in self._all:
            if a <= start <= b:
                start = b + 1
        return start

    def clear(self) -> None:
        self._all.clear()


class TopicHandlers:
    """An inbound topic, and the subscriptions that select it."""

    __slots__ = ("every", "groups", "pairs", "served", "topic", "version", "wild", "wild_version")

    def __init__(self, topic: str) -> None:
        self.topic = topic
        #: Versions of the subscriptions that it was matched against; -1 to match it again.
        self.version = self.wild_version = -1
        #: Subscriptions with wildcards, by their ids.
        self.wild: dict[int, SubscriptionState] = {}
        self.every: tuple[SubscriptionState, ...] = ()
        self.groups: dict[int, SubscriptionState] = {}
        self.served: frozenset[int] = frozenset()
        self.pairs: dict[int, ProducerState] = {}


class ProducerState:
    """Received and missing sequence numbers of one producer and topic."""

    __slots__ = ("last", "producer", "reported", "route", "seen", "touched")

    def __init__(self, route: TopicHandlers, producer: int) -> None:
        self.route = route
        self.producer = producer
        # 0 until the first event of a subscription without a group.
        self.last = 0
        self.seen = Ranges()
        self.reported = Ranges()
        self.touched = False

    def received(self, first: int, count: int, complete: bool) -> tuple[int, Iterator[tuple[int, int]]]:
        """Returns the number of duplicates, from the first event on, and the ranges that are missing before them.

        ``complete``: whether this connection gets every event of the topic, so that a skipped number is a gap.
        """
        end = first + count - 1
        if not complete or self.last == 0:
            repeated = min(self.seen.first_missing(first) - first, count)
            self.seen.add(first, end)
            self.last = end if complete else 0
            return repeated, iter(())
        if end <= self.last:
            return count, iter(())
        repeated = max(0, self.last - first + 1)
        missing = self.gap(self.last + 1, first - 1) if first > self.last + 1 else iter(())
        self.last = end
        self.seen.clear()
        return repeated, missing

    def gap(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Records a missing range; returns the parts of it that were not reported before."""
        unreported = list(self.reported.missing(first, last))
        self.reported.add(first, last)
        return iter(unreported)

    def forget_baseline(self) -> None:
        """Forgets the last number, because the connection no longer gets every event."""
        self.last = 0
        self.seen.clear()
        self.reported.clear()
