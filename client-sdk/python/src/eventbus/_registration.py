"""What a client has asked its bus for under an id, over all its connections: a subscription or a service."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from ._errors import Error
from ._timers import Timer
from ._waiters import Waiter


class Registration(ABC):
    """See the module."""

    #: Whether the bus gives to nobody else what it has given to one connection for it.
    is_exclusive = False
    #: Whether it calls for a bus with services.
    is_service = False

    def __init__(self, id: int, what: str) -> None:
        self.id = id
        #: For people.
        self.what = what
        #: What waits for the confirmation.
        self.ready: list[Waiter] = []
        #: What waits until nothing more comes.
        self.drained: list[Waiter] = []
        self.confirmed = False
        #: Runs while the bus has something to answer.
        self.answer: Timer | None = None
        self.ending = False
        self.ended = False
        #: Why it has ended, where the application did not ask for it.
        self.failure: Error | None = None
        #: Is called when something has arrived or it has ended.
        self.wake: Callable[[], None] = lambda: None

    def settle(self) -> None:
        """The bus has answered, or there is none that could."""
        if self.answer is not None:
            self.answer.cancel()
            self.answer = None

    @abstractmethod
    def begin_frame(self) -> bytes:
        """What asks the bus for it."""

    @abstractmethod
    def end_frame(self) -> bytes:
        """What tells the bus that it is not wanted any more."""
