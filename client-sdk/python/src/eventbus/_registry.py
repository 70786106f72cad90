"""The subscriptions of a client: asks the bus for them, over each connection. Part of the core: without I/O or a clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._dispatch import Subscription
from ._errors import Closed, Error, TimedOut
from ._link import Link
from ._waiters import fail, succeed

if TYPE_CHECKING:
    from ._machine import Machine

#: How long a bus may take to answer Subscribe and Unsubscribe.
ANSWER = 10.0
MOST_GROUP_BYTES = 255


class Registry:
    """See the module. ``machine`` is the client."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        #: During a change of bus: what is to be said to the bus at its end.
        self.waiting_control: list[bytes] | None = None
        self._next_id = 1

    def subscribe(self, subscription: Subscription, now: float) -> None:
        """Begins a subscription, which has an id of ``take_id``."""
        machine = self._machine
        machine.check_open()
        machine.dispatcher.subscriptions[subscription.id] = subscription
        machine.dispatcher.changed()
        if machine.connection is not None:
            self.say(subscription.subscribe_frame())
            self._expect_answer(subscription, now)
        machine.wake()

    def take_id(self) -> int:
        """A number for a subscription."""
        self._next_id += 1
        return self._next_id - 1

    def unsubscribe(self, subscription: Subscription, now: float) -> None:
        """Ends a subscription; events that are under way still come."""
        machine = self._machine
        if subscription.ended or subscription.ending:
            return
        subscription.ending = True
        if machine.connection is None:
            self.end(subscription.id)
        else:
            self.say(subscription.unsubscribe_frame())
            self._expect_answer(subscription, now)
        machine.wake()

    def confirmed(self, id: int) -> None:
        """The bus serves a subscription."""
        machine = self._machine
        subscription = machine.dispatcher.subscriptions.get(id)
        if subscription is None:
            return
        if not subscription.ending:
            subscription.answer_by = None
        if not subscription.confirmed:
            subscription.confirmed = True
            machine.dispatcher.changed()
            for waiter in subscription.ready:
                succeed(waiter, None)
            subscription.ready.clear()

    def refused(self, id: int, error: Callable[[], Error]) -> bool:
        """The bus does not serve a subscription; returns whether anything waited for the answer."""
        subscription = self._machine.dispatcher.subscriptions.get(id)
        if subscription is None:
            return False
        waited = any(not waiter.done() for waiter in subscription.ready)
        self.end(id, error())
        return waited

    def say(self, frame: bytes) -> None:
        """Says something about subscriptions to the bus; during a change of bus at its end."""
        machine = self._machine
        if self.waiting_control is not None:
            self.waiting_control.append(frame)
        elif machine.current is not None:
            machine.current.control.append(frame)

    def say_waiting(self, link: Link) -> None:
        """Says what waited for the end of a change of bus."""
        waiting, self.waiting_control = self.waiting_control, None
        link.control.extend(waiting or ())

    def subscribe_again(self, link: Link, now: float) -> None:
        """Asks for all subscriptions over a connection."""
        for subscription in self._machine.dispatcher.subscriptions.values():
            link.control.append(subscription.subscribe_frame())
            if subscription.ending:
                link.control.append(subscription.unsubscribe_frame())
            self._expect_answer(subscription, now)

    def _expect_answer(self, subscription: Subscription, now: float) -> None:
        """protocol.md#time-outs-of-a-client: tell the application, and reconnect."""
        machine = self._machine
        waiting = subscription.answer_by is not None
        subscription.answer_by = now + ANSWER
        if waiting:
            return

        def look(then: float) -> None:
            by, link = subscription.answer_by, machine.current
            if by is None or subscription.ended:
                return
            held_back = link is not None and (link.paused or link.credit.received >= link.credit.limit)
            if machine.change is not None or held_back:
                by = subscription.answer_by = then + ANSWER
            if then < by:
                machine.timers.at(by, look)
                return
            subscription.answer_by = None
            what = f"the bus did not answer for the subscription of {subscription.filter} within {ANSWER:g} s"
            for waiter in subscription.ready:
                fail(waiter, TimedOut(what))
            subscription.ready.clear()
            machine.happenings.append(TimedOut(what))
            if link is not None and link.welcome is not None:
                machine.abort(link)
                machine.closed_by_us(link, "a subscription was not answered", then)

        machine.timers.at(subscription.answer_by, look)

    def lose(self) -> None:
        """The connection is lost."""
        self.waiting_control = None
        for subscription in list(self._machine.dispatcher.subscriptions.values()):
            subscription.answer_by = None
            if subscription.ending:
                # There is no bus left that could send anything for these.
                self.end(subscription.id)

    def end(self, id: int, failure: Error | None = None) -> None:
        """Nothing more comes for a subscription."""
        machine = self._machine
        subscription = machine.dispatcher.subscriptions.pop(id, None)
        if subscription is None:
            return
        subscription.ended = True
        subscription.failure = failure
        subscription.answer_by = None
        machine.dispatcher.changed()
        for waiter in subscription.ready:
            fail(waiter, failure or Closed("the subscription is ended"))
        for waiter in subscription.drained:
            succeed(waiter, None)
        subscription.ready.clear()
        subscription.drained.clear()
        subscription.wake()
