"""Inbound path: checks each delivery against earlier ones and adds it to the subscriptions' buffers. Without I/O or a
clock.

Buffers of subscriptions under BLOCK are bounded by credit, for the whole client; those of others have a bound each.
Events are decoded when the application takes them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from .._api.happenings import Gap, GapReason, Interruption
from .._wire.events import Delivery, DeliveryReader, EventCursor
from .._wire.records import GapFrame, Overflow, WireGapReason
from .buffer import Item, Mark
from .held_deliveries import HeldDeliveries
from .producer_state import ProducerState, TopicHandlers
from .subscription_state import SubscriptionState

#: Maximum of bytes held of each connection during a move.
MAX_HELD = 16 << 20
#: Maximum of remembered changes of subscriptions with wildcards.
MAX_CHANGES = 1024
#: Version of a route that has to be matched again.
STALE = -1

_REASONS = {
    WireGapReason.UNKNOWN: GapReason.LOST,
    WireGapReason.QUEUE_FULL: GapReason.QUEUE_FULL,
    WireGapReason.CONFLATED: GapReason.CONFLATED,
}


class Dispatcher:
    """See the module. ``tell`` is called with gaps and interruptions; ``micros`` returns microseconds since 1970;
    ``too_slow`` is called for a subscription under DISCONNECT over its bound."""

    def __init__(
        self,
        tracked: int,
        tell: Callable[[Gap | Interruption], None],
        micros: Callable[[], int],
        too_slow: Callable[[SubscriptionState], None],
    ) -> None:
        self._tracked = tracked
        self._tell = tell
        self._micros = micros
        self._too_slow = too_slow
        self._reader = DeliveryReader(min(tracked, 10_000))
        self._routes: dict[str, TopicHandlers] = {}
        self._pairs: dict[tuple[str, int], ProducerState] = {}
        self._order: deque[tuple[str, int]] = deque()
        self.subscriptions: dict[int, SubscriptionState] = {}
        #: Subscriptions that are over their bounds since the last message.
        self.over: dict[int, SubscriptionState] = {}
        # Subscriptions without a wildcard, by their filters.
        self._exact: dict[str, dict[int, SubscriptionState]] = {}
        # Subscriptions with wildcards that were added, removed or confirmed, in that order, without the first ones.
        self._changes: list[SubscriptionState] = []
        self._first_change = 0
        # Number of these changes in all.
        self._version = 0
        self.held: HeldDeliveries | None = None
        #: Called once when the old connection has delivered more than may be held.
        self.too_much: Callable[[], None] | None = None
        #: Bytes of frames received and not handled.
        self.bytes = 0
        #: Bytes of these for subscriptions under BLOCK.
        self.blocking_bytes = 0
        self.received = self.duplicates = self.missing = self.interruptions = 0

    # ---- Subscriptions

    def begin(self, subscription: SubscriptionState) -> None:
        """Adds a subscription."""
        self.subscriptions[subscription.id] = subscription
        if not subscription.is_wild:
            self._exact.setdefault(subscription.filter, {})[subscription.id] = subscription
        self.changed(subscription)

    def changed(self, subscription: SubscriptionState) -> None:
        """Records that a subscription was added, removed or confirmed: topics are matched again on their next use."""
        if subscription.is_wild:
            self._version += 1
            self._changes.append(subscription)
            if len(self._changes) > MAX_CHANGES:
                del self._changes[: MAX_CHANGES // 2]
                self._first_change += MAX_CHANGES // 2
        elif subscription.filter in self._routes:
            self._routes[subscription.filter].version = STALE

    def end(self, id: int) -> None:
        """Removes a subscription, if there is one."""
        subscription = self.subscriptions.pop(id, None)
        if subscription is None:
            return
        if not subscription.is_wild:
            same = self._exact[subscription.filter]
            del same[id]
            if not same:
                del self._exact[subscription.filter]
        self.changed(subscription)

    def _rematch(self, route: TopicHandlers) -> None:
        """Applies the changes since the last use of the route; matches all subscriptions only where the changes are
        forgotten."""
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
        # If no subscription that got every event stays, numbers that were skipped meanwhile tell nothing.
        before, route.served = route.served, frozenset(s.id for s in route.every if s.confirmed)
        if before and not before & route.served:
            for pair in route.pairs.values():
                pair.forget_baseline()

    def handled(self, items: Iterable[Item], subscription: SubscriptionState) -> None:
        """Records that a subscription has handled items of its buffer."""
        blocks = subscription.blocks
        for item in items:
            if isinstance(item, Mark):
                self._count_mark(item, subscription, -1)
                continue
            delivery = item.delivery
            subscription.unhandled -= delivery.cost
            delivery.shares -= 1
            if delivery.shares == 0:
                self.bytes -= delivery.cost
            if blocks:
                delivery.blocks -= 1
                if delivery.blocks == 0:
                    self.blocking_bytes -= delivery.cost

    def _count_mark(self, mark: Mark, subscription: SubscriptionState, sign: int) -> None:
        subscription.unhandled += sign * mark.cost
        self.bytes += sign * mark.cost
        if subscription.blocks:
            self.blocking_bytes += sign * mark.cost

    def drop_queue(self, subscription: SubscriptionState) -> None:
        """Drops the buffer of a subscription, because the application takes no more."""
        subscription.dropping = True
        self.handled(subscription.buffer.clear(), subscription)

    # ---- Deliveries

    def _pair(self, topic: str, producer: int) -> ProducerState:
        pair = self._pairs.get((topic, producer))
        if pair is None:
            route = self._routes.get(topic)
            if route is None:
                route = self._routes[topic] = TopicHandlers(topic)
            pair = ProducerState(route, producer)
            route.pairs[producer] = self._pairs[topic, producer] = pair
            self._order.append((topic, producer))
            if len(self._order) > self._tracked:
                self._evict_pair()
        pair.touched = True
        if pair.route.version != self._version:
            self._rematch(pair.route)
        return pair

    def _evict_pair(self) -> None:
        """Evicts a pair by second chance (Corbató, "A Paging Experiment with the Multics System", 1968). The newest is
        at the end."""
        for _ in range(len(self._order) - 1):
            key = self._order.popleft()
            pair = self._pairs[key]
            if not pair.touched:
                break
            pair.touched = False
            self._order.append(key)
        else:
            # All were used: takes the eldest, which is first again now that each was put behind the newest.
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
        """Handles a delivery over the client's connection."""
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

    def _judge(self, delivery: Delivery, pair: ProducerState) -> None:
        if pair.route.every and self._for_groups_alone(delivery):
            self.received += delivery.count
            self._give(delivery, 0, self._members(delivery, pair.route))
            return
        skip = self._repeated(delivery, pair)
        self._give(delivery, skip, (*pair.route.every, *self._members(delivery, pair.route)))

    @staticmethod
    def _for_groups_alone(delivery: Delivery) -> bool:
        """Tells whether subscriptions without a group get the events with another frame: those of a durable topic come
        from two buses, in no order between them."""
        return delivery.offset > 0 and bool(delivery.groups)

    def _repeated(self, delivery: Delivery, pair: ProducerState) -> int:
        route = pair.route
        skip, missing = pair.received(delivery.sequence, delivery.count, bool(route.every))
        for first, last in missing:
            self._report_gap(pair, first, last, GapReason.LOST)
        if skip:
            self.duplicates += skip
            for subscription in route.every:
                subscription.duplicates += skip
        self.received += delivery.count - skip
        return skip

    @staticmethod
    def _members(delivery: Delivery, route: TopicHandlers) -> tuple[SubscriptionState, ...]:
        if not delivery.groups:
            return ()
        return tuple(route.groups[id] for id in dict.fromkeys(delivery.groups) if id in route.groups)

    def _give(self, delivery: Delivery, skip: int, targets: tuple[SubscriptionState, ...]) -> None:
        targets = tuple(target for target in targets if not target.dropping)
        if skip == delivery.count or not targets:
            return
        delivery.skip = skip
        if delivery.shares == 0:
            self.bytes += delivery.cost
        delivery.shares += len(targets)
        cost, fresh = delivery.cost, delivery.count - skip
        for target in targets:
            if target.blocks:
                if delivery.blocks == 0:
                    self.blocking_bytes += cost
                delivery.blocks += 1
            target.received += fresh
            target.unhandled += cost
            if target.buffer.add(EventCursor(delivery)):
                self.over[target.id] = target
            target.wake()

    def apply_policies(self) -> None:
        """Applies the policies of subscriptions that are still over their bounds after their turn."""
        over, self.over = self.over, {}
        for subscription in over.values():
            if subscription.buffer.is_over:
                self._apply_policy(subscription)

    def _apply_policy(self, subscription: SubscriptionState) -> None:
        dropped = subscription.buffer.apply(self._micros())
        for part in dropped.parts:
            part.delivery.shares = 1
            subscription.unhandled += part.delivery.cost
            self.bytes += part.delivery.cost
        self.handled(dropped.cursors, subscription)
        subscription.unhandled += dropped.mark_bytes
        self.bytes += dropped.mark_bytes
        for what in dropped.reported:
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
        """Handles a ``Gap`` over the client's connection."""
        if 1 <= frame.first <= frame.last:
            pair = self._pair(frame.topic, frame.producer)
            self._gap(frame, pair, frame.first)

    def _gap(self, frame: GapFrame, pair: ProducerState, first: int) -> None:
        for low, high in pair.gap(first, frame.last):
            self._report_gap(pair, low, high, _REASONS[frame.reason])

    def _report_gap(self, pair: ProducerState, first: int, last: int, reason: GapReason) -> None:
        gap = Gap(pair.route.topic, pair.producer, first, last, reason)
        self.missing += gap.count
        # Events of a topic that only groups select were dropped from one of these.
        for subscription in pair.route.every or pair.route.groups.values():
            subscription.missing += gap.count
            self._mark(subscription, gap)
        self._tell(gap)

    def _mark(self, subscription: SubscriptionState, what: Gap | Interruption) -> None:
        if subscription.dropping:
            return
        mark = subscription.buffer.mark(what, self._micros())
        if mark is not None:
            self._count_mark(mark, subscription, 1)
            if subscription.buffer.is_over:
                self.over[subscription.id] = subscription
            subscription.wake()

    def wants(self, what: Gap | Interruption) -> bool:
        """Returns whether a subscription has a callback for it."""
        if isinstance(what, Gap):
            return any(s.buffer.wants_gaps and s.matches(what.topic) for s in self.subscriptions.values())
        return any(
            s.buffer.wants_interruptions and (s.filter, s.group) == (what.filter, what.group)
            for s in self.subscriptions.values()
        )

    # ---- Interruptions

    def lost(self) -> None:
        """Begins an interruption of all subscriptions, because their connection is lost."""
        for subscription in self.subscriptions.values():
            self.begin_interruption(subscription)

    def begin_interruption(self, subscription: SubscriptionState) -> None:
        """Begins an interruption of a subscription."""
        if subscription.confirmed and not subscription.ending and subscription.interrupted_at is None:
            subscription.interrupted_at = self._micros()

    def end_interruption(self, subscription: SubscriptionState) -> None:
        """Ends the interruption of a subscription, if there is one, and reports it."""
        start, subscription.interrupted_at = subscription.interrupted_at, None
        if start is not None and not subscription.ending:
            subscription.interruptions += 1
            self.interruptions += 1
            told = Interruption(subscription.filter, subscription.group, start, self._micros())
            self._mark(subscription, told)
            self._tell(told)

    # ---- Two connections at once

    def hold(self, too_much: Callable[[], None]) -> None:
        """Begins to hold deliveries: until ``release`` there may be two connections."""
        self.held = HeldDeliveries()
        self.too_much = too_much

    def hold_delivery(self, delivery: Delivery) -> None:
        """Holds a delivery of the new connection."""
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
        """Holds a ``Gap`` of the new connection."""
        if self.held is not None and not self.held.groups_only and 1 <= frame.first <= frame.last:
            self.held.plain.append(frame)
            self.held.bytes += len(frame.topic)

    def hold_groups_only(self) -> None:
        """Drops held deliveries except those of groups, because the new connection is given up."""
        if self.held is not None:
            self.held.groups_only = True
            self.held.plain.clear()

    def held_bytes(self) -> int:
        """Returns the held bytes of the new connection."""
        return self.held.bytes if self.held is not None else 0

    def release(self, moved: bool) -> None:
        """Delivers the held events, without duplicates.

        ``moved``: whether the new connection stays; if not, only its events of groups are delivered.
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
            # Stable: of two copies of an event, the one received first is first.
            for _, _, fresh, delivery in sorted(entries, key=lambda e: (e[0], e[1])):
                self._release_grouped(delivery, moved or not fresh)

    def _release_grouped(self, delivery: Delivery, everything: bool) -> None:
        pair = self._pair(delivery.topic, delivery.producer)
        members = self._members(delivery, pair.route)
        if not pair.route.every:
            self._judge(delivery, pair)
            return
        # The same event comes over both connections for subscriptions without a group, but over one of them for the
        # group: an event that the former have seen may be new to the latter.
        self._give(delivery, 0, members)
        if everything and not self._for_groups_alone(delivery):
            skip = self._repeated(delivery, pair)
            if skip < delivery.count:
                self._give(delivery.copy(), skip, pair.route.every)
