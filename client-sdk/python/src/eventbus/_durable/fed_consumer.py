"""A consumer of durable topics as connections see it: takes what a bus says to it. Without I/O or a clock."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from .._api.durable import Start, Truncated
from .._api.errors import Error
from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._base.registration import Registration
from .._wire.durable_frames import Feed
from .._wire.durable_frames import Truncated as TruncatedFrame
from .._wire.records import Unsubscribe, Welcome

#: Bytes of memory that an item takes beside its events.
ITEM_OVERHEAD = 256


@dataclass(frozen=True, kw_only=True)
class ConsumerSettings:
    """Settings of a consumer."""

    #: Name of the durable subscription; empty for none.
    name: str
    filter: str
    #: Name of the journal; empty for the only one with topics of the filter.
    journal: str
    start: Start
    buffer_bytes: int


class FedConsumer(Registration):
    """See the module."""

    def __init__(self, id: int, context: ClientContext, settings: ConsumerSettings, what: str) -> None:
        super().__init__(id, what)
        self.settings = settings
        self._context = context
        #: Journal, as the bus has found it.
        self.journal = settings.journal
        #: Creation of the journal that the positions are of; 0 while it is not known.
        self.creation = 0
        #: Set when the application takes no more.
        self.stopping = False
        #: Position up to which events are skipped, because they came before; 0 for none.
        self.covered = 0
        #: Bytes that were fed and are not handled.
        self.queued_bytes = 0
        # The least limit of any Consume: the bus that answers was told as much or more. Credit that repeats a part of
        # that does no harm; credit that was taken for granted would be awaited for ever.
        self._granted = settings.buffer_bytes

    def _room(self) -> int:
        """Returns the number of bytes that may come now."""
        return max(0, self.settings.buffer_bytes - self.queued_bytes)

    def _ask(self) -> int:
        """Returns the limit of a new ``Consume``: what is here keeps its room."""
        limit = self._room()
        self._granted = min(self._granted, limit)
        return limit

    # ---- What the bus says

    @abstractmethod
    def accepted(self, link: BusLink, journal: str, creation: int) -> Truncated | None:
        """Records that a bus has accepted the consumer, and which journal it reads; its bytes count from here on. Returns
        what the consumer does not get because the journal was deleted. ``creation``: 0 if the bus does not tell."""

    @abstractmethod
    def fed(self, link: BusLink, feed: Feed, fresh: int, repeated: int, size: int) -> None:
        """Takes a feed that was checked. ``fresh``: number of its new events; ``repeated``: of the others; ``size``: bytes
        of the whole frame."""

    @abstractmethod
    def truncated(self, link: BusLink, frame: TruncatedFrame) -> Truncated | None:
        """Takes events that do not come; returns what is new of them."""

    @abstractmethod
    def lost(self, link: BusLink) -> None:
        """Records that a bus has ended the consumer, or that its connection has ended."""

    def leave(self, link: BusLink) -> None:
        """Records that the client is about to leave the bus of a connection."""
        return

    def settled(self, link: BusLink, position: int) -> None:
        """Records that the bus has stored a settlement with an answer."""
        return

    def settle_refused(self, link: BusLink, error: Callable[[], Error]) -> bool:
        """Records that the bus has refused a settlement; returns whether the application waits for that."""
        return False

    @abstractmethod
    def stop(self) -> None:
        """Drops what waits, because the application takes no more."""

    # ---- As a registration

    def lacks(self, welcome: Welcome) -> str | None:
        return None if welcome.durable else "durable topics"

    def end_frame(self) -> bytes:
        return Unsubscribe(self.id).frame()
