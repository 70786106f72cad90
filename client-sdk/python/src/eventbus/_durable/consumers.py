"""The consumers of a client: takes the frames that are about them. Without I/O or a clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .._api.errors import Error
from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._base.registration import Registration
from .._base.waiters import fail
from .._wire.codec import Malformed
from .._wire.durable_frames import Feed, deliveries
from .._wire.durable_frames import Truncated as TruncatedFrame
from .._wire.events import DeliveryReader, Event, EventCursor
from .._wire.records import BusCode, Confirm, Problem
from .fed_consumer import FedConsumer

#: Events that are decoded at once to check them.
CHECK_RUN = 256


class Consumers:
    """See the module. ``registrations`` has the consumers by their ids, among others."""

    def __init__(self, context: ClientContext, registrations: Mapping[int, Registration]) -> None:
        self._context = context
        self._registrations = registrations
        self._reader = DeliveryReader(1000)
        #: Events that came again and were dropped.
        self.duplicates = 0
        #: Events that were handled.
        self.received = 0

    def _find(self, id: int) -> FedConsumer | None:
        """Returns a consumer; None if it has ended, and the frame was under way."""
        found = self._registrations.get(id)
        return found if isinstance(found, FedConsumer) else None

    @property
    def bytes(self) -> int:
        """Returns the bytes that are received and not handled."""
        return sum(consumer.queued_bytes for consumer in self._consumers())

    def _consumers(self) -> list[FedConsumer]:
        return [found for found in self._registrations.values() if isinstance(found, FedConsumer)]

    def feed(self, link: BusLink, feed: Feed, size: int) -> None:
        """Handles a feed; ``size``: bytes of the whole frame. Raises Malformed."""
        consumer = self._find(feed.id)
        if consumer is None:
            return
        fresh, repeated = self._check(feed, consumer.covered)
        self.duplicates += repeated
        consumer.fed(link, feed, fresh, repeated, size)

    def _check(self, feed: Feed, known: int) -> tuple[int, int]:
        """Checks all frames and events, because what is taken does not come again; returns the numbers of new events and
        of others."""
        fresh = repeated = last = 0
        scratch: list[Event] = []
        for delivery in deliveries(self._reader, feed.frames):
            if delivery.count and not (last < delivery.offset and delivery.last_position() <= feed.last):
                found = f"positions {delivery.offset} to {delivery.last_position()}"
                raise Malformed("Feed.frames", 0, found, f"in order, above {last}, and at most {feed.last}")
            again = max(0, min(delivery.count, known - delivery.offset + 1))
            repeated += again
            fresh += delivery.count - again
            last = max(last, delivery.last_position())
            cursor = EventCursor(delivery)
            while not cursor.take(scratch, CHECK_RUN):
                scratch.clear()
            scratch.clear()
        return fresh, repeated

    def truncated(self, link: BusLink, frame: TruncatedFrame) -> None:
        """Handles events that do not come."""
        consumer = self._find(frame.id)
        told = None if consumer is None else consumer.truncated(link, frame)
        if told is not None:
            self._context.happenings.append(told)

    def accepted(self, link: BusLink, confirm: Confirm) -> None:
        """Handles the confirmation of a consumer."""
        consumer = self._find(confirm.about)
        told = None if consumer is None else consumer.accepted(link, confirm.topic, confirm.creation)
        if told is not None:
            self._context.happenings.append(told)

    def closed(self, link: BusLink) -> None:
        """Handles the end of a connection."""
        for consumer in self._consumers():
            consumer.lost(link)

    def leave(self, link: BusLink) -> None:
        """Handles that the client is about to leave the bus of a connection."""
        for consumer in self._consumers():
            consumer.leave(link)

    def settled(self, link: BusLink, confirm: Confirm) -> None:
        """Handles the answer to a settlement that is stored."""
        consumer = self._find(confirm.about)
        if consumer is not None:
            consumer.settled(link, confirm.position)

    def settle_refused(self, link: BusLink, id: int, error: Callable[[], Error]) -> bool:
        """Handles the refusal of a settlement; returns whether the application waits for it."""
        consumer = self._find(id)
        return consumer is not None and consumer.settle_refused(link, error)

    def postpone(self, error: Callable[[], Error]) -> bool:
        """Handles that the bus knows of no consumers: they stay, for another bus. Returns whether a call waited for one."""
        waited = False
        for consumer in self._consumers():
            consumer.settle()
            for waiter in consumer.ready:
                waited |= not waiter.done()
                fail(waiter, error())
            consumer.ready.clear()
        return waited

    def lost(self, link: BusLink, problem: Problem) -> FedConsumer | None:
        """Returns the consumer that a bus has ended by a refusal, and that should ask again; None where that does not
        help."""
        consumer = self._find(problem.about)
        if consumer is None or not consumer.confirmed:
            return None
        if not problem.retryable and problem.code is not BusCode.REPLACED:
            return None
        consumer.lost(link)
        return consumer
