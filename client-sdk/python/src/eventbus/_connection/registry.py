"""The subscriptions and services of a client, requested from the bus over each connection. Part of the core: without I/O
or a clock."""

from __future__ import annotations

from collections.abc import Callable

from .._api.errors import Closed, Error, Refused, TimedOut
from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._base.registration import Registration
from .._base.waiters import fail, succeed
from .._inbound.dispatcher import Dispatcher
from .._inbound.subscription_state import SubscriptionState
from .._outbound.sender import Sender
from .._wire.records import BusCode

#: Timeout for the answer to Subscribe, Unsubscribe, Register, Unregister and Consume, in seconds.
ANSWER_TIMEOUT = 10.0
#: Pause before a bus is asked again for a registration that it has ended, in seconds.
AGAIN_DELAY = 1.0
MAX_GROUP_BYTES = 255


class Registry:
    """See the module. ``is_moving`` returns whether a move is under way; ``give_up`` is called with a connection over which
    the bus has not answered in time, the reason, and the time."""

    def __init__(
        self,
        context: ClientContext,
        sender: Sender,
        dispatcher: Dispatcher,
        is_moving: Callable[[], bool],
        give_up: Callable[[BusLink, str, float], None],
    ) -> None:
        self._context = context
        self._sender = sender
        self._dispatcher = dispatcher
        self._is_moving = is_moving
        self._give_up = give_up
        self.all: dict[int, Registration] = {}
        #: Frames to be sent at the end of a move; None outside of a move.
        self.waiting_control: list[bytes] | None = None
        self._next_id = 1

    def begin(self, registration: Registration, now: float) -> None:
        """Begins a subscription or a service, with an id of ``next_id``."""
        context = self._context
        self._sender.check_open()
        self.all[registration.id] = registration
        if isinstance(registration, SubscriptionState):
            self._dispatcher.begin(registration)
        link = context.current
        if context.connection is not None and link is not None:
            self._begin(registration, link, self.send, now)
        context.wake()

    def _begin(self, registration: Registration, link: BusLink, send: Callable[[bytes], None], now: float) -> bool:
        """Begins a registration over a connection; returns False if the bus lacks what it needs."""
        if self._is_unserved(registration, link):
            # A call that waits for it is told by then, and has ended it.
            self._context.soon(lambda _: self._report_unserved(registration, link))
            return False
        send(registration.begin_frame())
        self._expect_answer(registration, now)
        return True

    def _report_unserved(self, registration: Registration, link: BusLink) -> None:
        if link is self._context.current and not registration.ended:
            assert link.welcome is not None
            text = f"{registration.what} waits for another bus: {link.welcome.bus} has no {registration.lacks(link.welcome)}"
            self._context.happenings.append(Refused(BusCode.UNSUPPORTED, text, False))

    @staticmethod
    def _is_unserved(registration: Registration, link: BusLink) -> bool:
        """Returns whether the bus lacks what a registration needs: it stays for another bus, but no call waits for
        that."""
        assert link.welcome is not None
        what = registration.lacks(link.welcome)
        if what is None:
            return False
        for waiter in registration.ready:
            fail(waiter, Refused(BusCode.UNSUPPORTED, f"the bus {link.welcome.bus} has no {what}", False))
        registration.ready.clear()
        return True

    def settle_if_unserved(self, registration: Registration) -> None:
        """Tells new waiters at once, if there is nothing to wait for."""
        link = self._context.current
        if self._context.connection is not None and link is not None:
            self._is_unserved(registration, link)

    def update(self, registration: Registration, frame: bytes) -> None:
        """Sends a further frame about a registration; without a connection its begin frame tells the next one."""
        context = self._context
        link = context.current
        if context.connection is None or link is None or registration.ended or self._is_unserved(registration, link):
            return
        self.send(frame)
        context.wake()

    def next_id(self) -> int:
        """Returns an id for a subscription or a service."""
        self._next_id += 1
        return self._next_id - 1

    def unsubscribe(self, registration: Registration, now: float) -> None:
        """Ends a subscription or service; deliveries under way still come."""
        context = self._context
        if registration.ended or registration.ending:
            return
        registration.ending = True
        link = context.current
        if context.connection is None or link is None or self._is_unserved(registration, link):
            self.end(registration.id)
        else:
            self.send(registration.last_frames())
            self._expect_answer(registration, now)
        context.wake()

    def confirmed(self, id: int) -> None:
        """Handles the confirmation of a subscription or service."""
        registration = self.all.get(id)
        if registration is None:
            return
        if not registration.ending:
            registration.settle()
        if isinstance(registration, SubscriptionState):
            self._dispatcher.end_interruption(registration)
        if not registration.confirmed:
            registration.confirmed = True
            if isinstance(registration, SubscriptionState):
                self._dispatcher.changed(registration)
            for waiter in registration.ready:
                succeed(waiter, None)
            registration.ready.clear()

    def refused(self, id: int, error: Callable[[], Refused]) -> bool:
        """Handles a refusal, reported to the waiters, or else to the application. Returns whether the id is known."""
        registration = self.all.get(id)
        if registration is None:
            return False
        if not any(not waiter.done() for waiter in registration.ready):
            refused = error()
            what = f"{registration.what} is ended: {refused.message}"
            self._context.happenings.append(Refused(refused.bus_code, what, refused.retryable))
        self.end(id, error())
        return True

    def send(self, frame: bytes) -> None:
        """Sends a frame about subscriptions and services; during a move at its end."""
        context = self._context
        if self.waiting_control is not None:
            self.waiting_control.append(frame)
        elif context.current is not None:
            context.current.control.append(frame)

    def send_waiting(self, link: BusLink) -> None:
        """Sends the frames that waited for the end of a move."""
        waiting, self.waiting_control = self.waiting_control, None
        link.control.extend(waiting or ())

    def begin_all(self, link: BusLink, now: float) -> None:
        """Begins all registrations over a connection."""
        for registration in self.all.values():
            if self._begin(registration, link, link.control.append, now) and registration.ending:
                link.control.append(registration.last_frames())

    def begin_again(self, registration: Registration, link: BusLink, now: float) -> None:
        """Begins a registration again after a pause, because the bus has ended it; over another connection it begins in any
        case."""

        def ask(then: float) -> None:
            if self._context.current is not link or link.over or registration.ended or registration.ending:
                return
            if self._is_moving():
                self.begin_again(registration, link, then)
                return
            self.send(registration.begin_frame())
            self._expect_answer(registration, then)

        self._context.timers.at(now + AGAIN_DELAY, ask)

    def expect_answer(self, id: int, now: float) -> None:
        """Starts the timeout for the answer of the bus."""
        registration = self.all.get(id)
        if registration is not None and not registration.ending:
            self._expect_answer(registration, now)

    def _expect_answer(self, registration: Registration, now: float) -> None:
        """Starts the timeout for the answer; protocol.md#client-timeouts: tells the application, and reconnects."""
        context = self._context
        registration.settle()

        def check(then: float) -> None:
            registration.answer = None
            link = context.current
            stalled = link is not None and (link.paused or link.credit.received >= link.credit.limit)
            if stalled or self._is_moving() or registration.is_working:
                registration.answer = context.timers.at(then + ANSWER_TIMEOUT, check)
                return
            what = f"the bus did not answer for {registration.what} within {ANSWER_TIMEOUT:g} s"
            for waiter in registration.ready:
                fail(waiter, TimedOut(what))
            registration.ready.clear()
            context.happenings.append(TimedOut(what))
            if link is not None and link.welcome is not None:
                self._give_up(link, f"{registration.what} was not answered", then)

        registration.answer = context.timers.at(now + ANSWER_TIMEOUT, check)

    def lose(self) -> None:
        """Handles the loss of the connection."""
        self.waiting_control = None
        self._dispatcher.lost()
        for registration in list(self.all.values()):
            registration.settle()
            if registration.ending:
                # Ended, because no bus is left that could send anything for them.
                self.end(registration.id)

    def end(self, id: int, failure: Error | None = None) -> None:
        """Removes a registration, for which nothing more comes."""
        registration = self.all.pop(id, None)
        if registration is None:
            return
        registration.ended = True
        registration.failure = failure
        registration.settle()
        registration.clear()
        self._dispatcher.end(id)
        for waiter in registration.ready:
            fail(waiter, failure or Closed(f"{registration.what} is ended"))
        for waiter in registration.drained:
            succeed(waiter, None)
        registration.ready.clear()
        registration.drained.clear()
        registration.wake()
