"""The way in: checks each delivery against what was received before and gives it to the subscriptions. Without I/O or a clock.

What waits for subscriptions under BLOCK is bounded by credit, for the whole client; what waits for others by a bound of each.
Events are decoded when the application takes them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from ._buffer import Buffer, Item, Mark
from ._events import Delivery, DeliveryReader, EventCursor
from ._happenings import Gap, GapReason, Interruption
from ._held import Held
from ._registration import Registration
from ._streams import Pair, Route
from ._topics import matcher
from ._wire import GapFrame, Overflow, Subscribe, Unsubscribe, WireGapReason

#: More than this is not held of one connection during a change of bus.
MAX_HELD = 16 << 20
#: So many changes of subscriptions with wildcards are remembered.
MAX_CHANGES = 1024
#: The version of a route that is to be looked at.
STALE = -1

_REASONS = {
    WireGapReason.UNKNOWN: GapReason.LOST,
    WireGapReason.QUEUE_FULL: GapReason.QUEUE_FULL,
    WireGapReason.CONFLATED: GapReason.CONFLATED,
}


class Subscription(Registration):
    """What the core knows of a subscription. ``bound``: bytes that may wait for it, where its policy allows drops."""

    def __init__(self, id: int, filter: str, group: str | None, overflow: Overflow, bound: int = 1 << 20) -> None:
        super().__init__(id, f"the subscription of {filter}")
        self.is_exclusive = group is not None
        self.filter = filter
        self.group = group
        self.overflow = overflow
        #: Whether what waits for it holds back the whole connection.
        self.holds = overflow is Overflow.BLOCK
        self.matches = matcher(filter)
        self.is_wild = "*" in filter or ">" in filter
        #: What arrived and was not taken.
        self.buffer = Buffer(filter, group, overflow, bound)
        #: Bytes of what arrived and was not handled.
        self.unhandled = 0
        #: Microseconds since 1970 at which its connection was found lost; None where it is in force, or never was.
        self.away_since: int | None = None
        #: The application takes no more: what still comes is dropped, so that it does not hold up what comes behind it.
        self.dropping = False
        self.received = self.duplicates = self.missing = self.interruptions = 0

    def begin_frame(self) -> bytes:
        return Subscribe(self.id, self.filter, self.group, self.overflow).frame()

    def end_frame(self) -> bytes:
        return Unsubscribe(self.id).frame()


class Dispatcher:
    """See the module. ``tell`` hears of gaps and interruptions; ``micros`` gives the time, in microseconds since 1970;
    ``too_slow`` hears of a subscription under DISCONNECT for which too much waits."""

    def __init__(
        self,
        tracked: int,
        tell: Callable[[Gap | Interruption], None],
        micros: Callable[[], int],
        too_slow: Callable[[Subscription], None],
    ) -> None:
        self._tracked = tracked
        self._tell = tell
        self._micros = micros
        self._too_slow = too_slow
        self._reader = DeliveryReader(min(tracked, 10_000))
        self._routes: dict[str, Route] = {}
        self._pairs: dict[tuple[str, int], Pair] = {}
        self._order: deque[tuple[str, int]] = deque()
        self.subscriptions: dict[int, Subscription] = {}
        #: Those for which more waits than their policies want, since the last message.
        self.over: dict[int, Subscription] = {}
        # Those without a wildcard, by their filters.
        self._exact: dict[str, dict[int, Subscription]] = {}
        # Subscriptions with wildcards that have come, gone or been confirmed, in that order, without the first ones.
        self._changes: list[Subscription] = []
        self._first_change = 0
        # How many there were in all.
        self._version = 0
        self.held: Held | None = None
        #: Is called once when the old connection has brought more than is to be held.
        self.too_much: Callable[[], None] | None = None
        #: Bytes of the frames that were received and not handled.
        self.bytes = 0
        #: Of these, what holds back the connection.
        self.holding = 0
        self.received = self.duplicates = self.missing = self.interruptions = 0

    # ---- Subscriptions

    def begin(self, subscription: Subscription) -> None:
        """A subscription has come."""
        self.subscriptions[subscription.id] = subscription
        if not subscription.is_wild:
            self._exact.setdefault(subscription.filter, {})[subscription.id] = subscription
        self.changed(subscription)

    def changed(self, subscription: Subscription) -> None:
        """A subscription has come, gone or been confirmed: which topics that is of is looked at when they are used next."""
        if subscription.is_wild:
            self._version += 1
            self._changes.append(subscription)
            if len(self._changes) > MAX_CHANGES:
                del self._changes[: MAX_CHANGES // 2]
                self._first_change += MAX_CHANGES // 2
        elif subscription.filter in self._routes:
            self._routes[subscription.filter].version = STALE

    def end(self, id: int) -> None:
        """A subscription has gone, if there was one."""
        subscription = self.subscriptions.pop(id, None)
        if subscription is None:
            return
        if not subscription.is_wild:
            same = self._exact[subscription.filter]
            del same[id]
            if not same:
                del self._exact[subscription.filter]
        self.changed(subscription)

    def _rematch(self, route: Route) -> None:
        """Looks at what has changed since the route was used, and at everything only where that is not known any more."""
        since = route.wild_version - self._first_change
        if since < 0:
            route.wild = {s.id: s for s in self.subscriptions.values() if s.is_wild and s.matches(route.topic)}
        else:
            for s in self._changes[since:]:
                if s.id not in self.subscriptions:
                    route.wild.pop(s.id, None)
                elif s.matches(route.topic):
                    route.wild[s.id] = s
        route.wild_version = route.version = self._version
        matching = sorted((route.wild | self._exact.get(route.topic, {})).values(), key=lambda s: s.id)
        route.every = tuple(s for s in matching if s.group is None)
        route.groups = {s.id: s for s in matching if s.group is not None}
        # Where no subscription goes on that got every event, numbers that were skipped meanwhile say nothing.
        before, route.served = route.served, frozenset(s.id for s in route.every if s.confirmed)
        if before and not before & route.served:
            for pair in route.pairs.values():
                pair.forget_baseline()

    def handled(self, items: Iterable[Item], subscription: Subscription) -> None:
        """A subscription is done with what was taken of its buffer."""
        holds = subscription.holds
        for item in items:
            if isinstance(item, Mark):
                self._count_mark(item, subscription, -1)
                continue
            delivery = item.delivery
            subscription.unhandled -= delivery.cost
            delivery.shares -= 1
            if delivery.shares == 0:
                self.bytes -= delivery.cost
            if holds:
                delivery.holds -= 1
                if delivery.holds == 0:
                    self.holding -= delivery.cost

    def _count_mark(self, mark: Mark, subscription: Subscription, sign: int) -> None:
        subscription.unhandled += sign * mark.cost
        self.bytes += sign * mark.cost
        if subscription.holds:
            self.holding += sign * mark.cost

    def drop_queue(self, subscription: Subscription) -> None:
        """The application takes no more of a subscription."""
        subscription.dropping = True
        self.handled(subscription.buffer.clear(), subscription)

    # ---- Deliveries

    def _pair(self, topic: str, producer: int) -> Pair:
        pair = self._pairs.get((topic, producer))
        if pair is None:
            route = self._routes.get(topic)
            if route is None:
                route = self._routes[topic] = Route(topic)
            pair = Pair(route, producer)
            route.pairs[producer] = self._pairs[topic, producer] = pair
            self._order.append((topic, producer))
            if len(self._order) > self._tracked:
                self._forget_one()
        pair.touched = True
        if pair.route.version != self._version:
            self._rematch(pair.route)
        return pair

    def _forget_one(self) -> None:
        """Second chance (Corbató, "A Paging Experiment with the Multics System", 1968). The newest one is at the end."""
        for _ in range(len(self._order) - 1):
            key = self._order.popleft()
            pair = self._pairs[key]
            if not pair.touched:
                break
            pair.touched = False
            self._order.append(key)
        else:
            # All were used: the eldest, which is first again now that each has been put behind the newest.
            self._order.rotate(-1)
            key = self._order.popleft()
        pair = self._pairs.pop(key)
        del pair.route.pairs[pair.producer]
        if not pair.route.pairs:
            del self._routes[pair.route.topic]

    def read(self, data: bytes, start: int, body: int, end: int, link: Any) -> Delivery:
        """Reads a ``Deliver`` frame. Raises Malformed."""
        delivery = self._reader.read(data, body, end, end - start)
        delivery.link = link
        return delivery

    def deliver(self, delivery: Delivery) -> None:
        """Takes what came over the client's connection."""
        if delivery.count == 0:
            return
        pair = self._pair(delivery.topic, delivery.producer)
        held = self.held
        if held is not None and pair.route.groups:
            held.add_grouped(delivery, False)
            if held.old_bytes > MAX_HELD and self.too_much is not None:
                tell, self.too_much = self.too_much, None
                tell()
        else:
            self._judge(delivery, pair)

    def _judge(self, delivery: Delivery, pair: Pair) -> None:
        skip = self._repeated(delivery, pair)
        self._give(delivery, skip, (*pair.route.every, *self._members(delivery, pair.route)))

    def _repeated(self, delivery: Delivery, pair: Pair) -> int:
        route = pair.route
        skip, missing = pair.received(delivery.sequence, delivery.count, bool(route.every))
        for first, last in missing:
            self._tell_gap(pair, first, last, GapReason.LOST)
        if skip:
            self.duplicates += skip
            for subscription in route.every:
                subscription.duplicates += skip
        self.received += delivery.count - skip
        return skip

    @staticmethod
    def _members(delivery: Delivery, route: Route) -> tuple[Subscription, ...]:
        if not delivery.groups:
            return ()
        return tuple(route.groups[id] for id in dict.fromkeys(delivery.groups) if id in route.groups)

    def _give(self, delivery: Delivery, skip: int, targets: tuple[Subscription, ...]) -> None:
        targets = tuple(target for target in targets if not target.dropping)
        if skip == delivery.count or not targets:
            return
        delivery.skip = skip
        if delivery.shares == 0:
            self.bytes += delivery.cost
        delivery.shares += len(targets)
        cost, fresh = delivery.cost, delivery.count - skip
        for target in targets:
            if target.holds:
                if delivery.holds == 0:
                    self.holding += cost
                delivery.holds += 1
            target.received += fresh
            target.unhandled += cost
            if target.buffer.add(EventCursor(delivery)):
                self.over[target.id] = target
            target.wake()

    def apply_policies(self) -> None:
        """Applies the policies of subscriptions for which too much waits still, though they had their turn since it has come."""
        over, self.over = self.over, {}
        for subscription in over.values():
            if subscription.buffer.is_over:
                self._apply_policy(subscription)

    def _apply_policy(self, subscription: Subscription) -> None:
        dropped = subscription.buffer.apply(self._micros())
        for part in dropped.parts:
            part.delivery.shares = 1
            subscription.unhandled += part.delivery.cost
            self.bytes += part.delivery.cost
        self.handled(dropped.cursors, subscription)
        subscription.unhandled += dropped.mark_bytes
        self.bytes += dropped.mark_bytes
        for what in dropped.told:
            if isinstance(what, Gap):
                subscription.missing += what.count
                self.missing += what.count
            else:
                subscription.interruptions += 1
                self.interruptions += 1
            self._tell(what)
        if subscription.overflow is Overflow.DISCONNECT:
            self._too_slow(subscription)

    def gap(self, frame: GapFrame) -> None:
        """Takes a ``Gap`` that came over the client's connection."""
        if 1 <= frame.first <= frame.last:
            pair = self._pair(frame.topic, frame.producer)
            self._gap(frame, pair, frame.first)

    def _gap(self, frame: GapFrame, pair: Pair, first: int) -> None:
        for low, high in pair.gap(first, frame.last):
            self._tell_gap(pair, low, high, _REASONS[frame.reason])

    def _tell_gap(self, pair: Pair, first: int, last: int, reason: GapReason) -> None:
        gap = Gap(pair.route.topic, pair.producer, first, last, reason)
        self.missing += gap.count
        # Events dropped of a topic that only groups select were dropped of one of these.
        for subscription in pair.route.every or pair.route.groups.values():
            subscription.missing += gap.count
            self._mark(subscription, gap)
        self._tell(gap)

    def _mark(self, subscription: Subscription, what: Gap | Interruption) -> None:
        if subscription.dropping:
            return
        mark = subscription.buffer.mark(what, self._micros())
        if mark is not None:
            self._count_mark(mark, subscription, 1)
            if subscription.buffer.is_over:
                self.over[subscription.id] = subscription
            subscription.wake()

    def hears(self, what: Gap | Interruption) -> bool:
        """Whether a subscription is told this at its place."""
        if isinstance(what, Gap):
            return any(s.buffer.hears_gaps and s.matches(what.topic) for s in self.subscriptions.values())
        return any(
            s.buffer.hears_interruptions and (s.filter, s.group) == (what.filter, what.group)
            for s in self.subscriptions.values()
        )

    # ---- Interruptions

    def lost(self) -> None:
        """The connection that subscriptions were in force on is lost."""
        for subscription in self.subscriptions.values():
            self.away(subscription)

    def away(self, subscription: Subscription) -> None:
        """The connection that a subscription was in force on is lost."""
        if subscription.confirmed and not subscription.ending and subscription.away_since is None:
            subscription.away_since = self._micros()

    def back(self, subscription: Subscription) -> None:
        """A bus has confirmed a subscription: tells that it was away, if it was."""
        start, subscription.away_since = subscription.away_since, None
        if start is not None and not subscription.ending:
            subscription.interruptions += 1
            self.interruptions += 1
            told = Interruption(subscription.filter, subscription.group, start, self._micros())
            self._mark(subscription, told)
            self._tell(told)

    # ---- Two connections at once

    def hold(self, too_much: Callable[[], None]) -> None:
        """From now on there may be two connections, until ``release``."""
        self.held = Held()
        self.too_much = too_much

    def hold_delivery(self, delivery: Delivery) -> None:
        """Takes what came over the new connection."""
        held = self.held
        if held is None or delivery.count == 0:
            return
        pair = self._pair(delivery.topic, delivery.producer)
        if pair.route.groups:
            held.add_grouped(delivery, True)
        elif not held.groups_only:
            held.plain.append(delivery)
            held.bytes += delivery.cost

    def hold_gap(self, frame: GapFrame) -> None:
        """Takes a ``Gap`` that came over the new connection."""
        if self.held is not None and not self.held.groups_only and 1 <= frame.first <= frame.last:
            self.held.plain.append(frame)
            self.held.bytes += len(frame.topic)

    def hold_groups_only(self) -> None:
        """The new connection will not stay: of what it brings, only what no other member gets is kept."""
        if self.held is not None:
            self.held.groups_only = True
            self.held.plain.clear()

    def held_bytes(self) -> int:
        """Bytes of the new connection that are held."""
        return self.held.bytes if self.held is not None else 0

    def release(self, moved: bool) -> None:
        """Hands on what was held, and drops what was seen.

        ``moved``: the new connection stays; if not, of what it brought only events of groups are handed on.
        """
        held, self.held, self.too_much = self.held, None, None
        if held is None:
            return
        for item in held.plain if moved else ():
            if isinstance(item, Delivery):
                self.deliver(item)
            else:
                pair = self._pair(item.topic, item.producer)
                first = max(item.first, pair.last + 1)
                if first <= item.last:
                    self._gap(item, pair, first)
        for entries in held.grouped.values():
            # Stable: of two that say the same, the one that came first is first.
            for _, _, fresh, delivery in sorted(entries, key=lambda e: (e[0], e[1])):
                self._release_grouped(delivery, moved or not fresh)

    def _release_grouped(self, delivery: Delivery, everything: bool) -> None:
        pair = self._pair(delivery.topic, delivery.producer)
        members = self._members(delivery, pair.route)
        if not pair.route.every:
            self._judge(delivery, pair)
            return
        # The same event comes over both connections for those without a group, but over one of them for the group: what
        # the former have seen may be new to the latter.
        self._give(delivery, 0, members)
        if everything:
            skip = self._repeated(delivery, pair)
            if skip < delivery.count:
                self._give(delivery.copy(), skip, pair.route.every)
