"""A subscription or a service, requested from the bus under an id, over all connections."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from .._api.errors import Error
from .._wire.records import Welcome
from .timers import Timer
from .waiters import Waiter


class Registration(ABC):
    """See the module."""

    #: True if no other client gets what the bus has sent for it.
    is_exclusive = False
    #: True if it needs a bus with services.
    is_service = False

    def __init__(self, id: int, what: str) -> None:
        self.id = id
        #: Text for people.
        self.what = what
        #: Waiters for the confirmation.
        self.ready: list[Waiter] = []
        #: Waiters for its end.
        self.drained: list[Waiter] = []
        self.confirmed = False
        #: Timer that runs while an answer of the bus is due.
        self.answer: Timer | None = None
        self.ending = False
        self.ended = False
        #: Reason of its end, unless the application wanted it.
        self.failure: Error | None = None
        #: Called when something has arrived or it has ended.
        self.wake: Callable[[], None] = lambda: None

    def settle(self) -> None:
        """Stops the timer for the answer of the bus."""
        if self.answer is not None:
            self.answer.cancel()
            self.answer = None

    def lacks(self, welcome: Welcome) -> str | None:
        """Returns what a bus lacks for it; None if it has everything."""
        return None

    @property
    def is_working(self) -> bool:
        """Returns whether the application has something in hand that the bus waits for before it ends this."""
        return False

    def clear(self) -> None:
        """Drops what waits for the application, because it has ended."""
        return

    def last_frames(self) -> bytes:
        """Returns the frames that end it, with what the bus has to know before."""
        return self.end_frame()

    @abstractmethod
    def begin_frame(self) -> bytes:
        """Returns the frame that begins it."""

    @abstractmethod
    def end_frame(self) -> bytes:
        """Returns the frame that ends it."""
