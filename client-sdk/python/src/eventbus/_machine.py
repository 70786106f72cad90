"""The client without I/O: connects, reconnects, moves, gives up. Time is an argument, in seconds of any steady clock.

What drives it tells it what happens (``opened``, ``receive``, ``heard``, ``closed``, ``tick``) and afterwards does what it
asks for: ``commands``, ``outgoing`` of each link until that is None, ``happenings``, and ``tick`` again at ``wake_at``. Where
something is to be done that no input has caused, ``wake`` is called.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from ._answers import Answers
from ._calls import Calls
from ._change import Change
from ._commands import Abort, AskToken, Close, Command, Open, Ping
from ._connector import Connector
from ._dispatch import MAX_HELD, Dispatcher, Subscription
from ._errors import Closed, Error, Refused
from ._flushes import Flushes
from ._happenings import Connection, Counters, Disconnected, DropCause, Dropped, State
from ._holdups import HoldUps
from ._link import CreditGate, Link
from ._moves import Moves
from ._options import Options
from ._outbox import Outbox
from ._outgoing import Outgoing
from ._registry import Registry
from ._serving import Services
from ._silence import watch
from ._timers import Timer, Timers, void
from ._tokens import TokenRefresh
from ._waiters import Waiter, fail, succeed
from ._wire import DELIVER, MAX_LONG, Authenticate, BusCode, Hello, Malformed, Reader, Welcome, frames

LOG = logging.getLogger("eventbus")


class Machine:
    """See the module."""

    def __init__(self, options: Options, agent: str, random: Callable[[], float], nanos: Callable[[], int]) -> None:
        self.options = options
        self.agent = agent
        self.random = random
        self.state = State.NEW
        self.connection: Connection | None = None
        self.timers = Timers()
        self.outbox = Outbox(options.outbound_bytes, options.batch_bytes, options.confirm_timeout, nanos)
        self.flushes = Flushes(self.outbox, self.timers)
        self.happenings: list[object] = []
        self.dispatcher = Dispatcher(
            options.tracked_producers, self.happenings.append, lambda: nanos() // 1000, self._on_too_slow
        )
        self.commands: deque[Command] = deque()
        self.wake: Callable[[], None] = lambda: None
        self.current: Link | None = None
        #: The connection that events go out over.
        self.sending: Link | None = None
        self.change: Change | None = None
        #: During a change of bus: goes out in place of events.
        self.outbox_farewell: bytes | None = None
        self.handler_failures = self.reconnects = self.bus_changes = 0
        self.tokens = TokenRefresh(
            self.timers, lambda: nanos() // 1000, random, lambda n: self.commands.append(AskToken(n)), self._show_token,
            self.happenings.append,
        )  # fmt: skip
        self.connector = Connector(self)
        self.registry = Registry(self)
        self.answers = Answers(self)
        self.moves = Moves(self)
        self.calls = Calls(self, options.call_buffer_bytes)
        self.services = Services(self)
        self._room: list[Waiter] = []
        self._expiry: Timer | None = None
        self._outgoing = Outgoing(self)
        self._hold_ups = HoldUps(self)

    def check_open(self) -> None:
        """Raises Closed where nothing new is taken any more."""
        if self.outbox.closed is not None:
            raise self.outbox.closed()

    def flush(self, waiter: Waiter, timeout: float, now: float) -> None:
        """Asks whether everything published before has arrived; asks again until the time is over."""
        if self.state is State.CLOSED:
            fail(waiter, self.connector.closed_error())
            return
        self.flushes.ask(waiter, timeout, now, self.sending is not None)
        self.wake()

    def when_room(self, waiter: Waiter) -> None:
        """Answers when there is room for events again."""
        if self.state is State.CLOSED:
            fail(waiter, self.connector.closed_error())
        elif self.outbox.has_room():
            succeed(waiter, None)
        else:
            self._room = [w for w in self._room if not w.done()]
            self._room.append(waiter)

    def close_room(self) -> None:
        """There will be none."""
        for waiter in self._room:
            fail(waiter, self.connector.closed_error())
        self._room.clear()

    def expect_confirm(self, now: float) -> None:
        """An event was published that is waited for."""
        if self._expiry is None:
            at = self.outbox.expires_at()
            if at is not None:
                self._expiry = self.timers.at(max(at, now), self._expire)

    def _expire(self, now: float) -> None:
        self._expiry = None
        self.outbox.expire(now)
        self.expect_confirm(now)
        self.tell_room()

    def drain(self, now: float) -> None:
        """Takes nothing new, ends all subscriptions and services; what is buffered still goes out."""
        if self.state in (State.CONNECTED, State.RECONNECTING):
            self.connector.become(State.DRAINING)
        if self.outbox.closed is None:
            self.outbox.closed = self.connector.closed_error
        self.calls.drain(None, self.connector.closed_error)
        for registration in list(self.registry.all.values()):
            self.registry.unsubscribe(registration, now)
        if self.current is not None and self.current.welcome is not None:
            # Drained comes behind what is held back for want of credit.
            self.grant(self.current, MAX_LONG)
            self.wake()

    def close(self, now: float) -> None:
        """Ends the client."""
        if self.state is State.CLOSED:
            return
        link = self.current
        if link is not None and link.welcome is not None:
            self.close_link(link, 1000, "the client is closed")
            self.happenings.append(Disconnected(1000, "the client is closed", False))
        self.connector.finish(Closed("the client is closed"), now)
        self.wake()

    def handled(self) -> None:
        """The application has taken events: there may be room for more."""
        link = self.current
        if link is not None and link.welcome is not None and not link.abandoned:
            change = self.change
            if change is not None and change.new is not None and not change.new.standby and not change.is_over:
                link = change.new
            paused, work = link.paused, len(link.control)
            self.look(link, None)
            if link.paused != paused or len(link.control) != work:
                self.wake()

    def malformed(self, link: Link, error: Malformed) -> None:
        """An event turned out to be malformed when it was taken."""
        if not link.over and not link.broken:
            self._refuse(link, error)
            self.wake()

    def counters(self) -> Counters:
        """What was done so far."""
        out, dispatcher = self.outbox, self.dispatcher
        return Counters(
            out.published, out.confirmed, out.resent, out.dropped_full, out.indeterminate, out.messages,
            dispatcher.received, dispatcher.duplicates, dispatcher.missing, self.handler_failures, self.reconnects,
            self.bus_changes, out.topics, out.used, dispatcher.bytes, dispatcher.interruptions,
        )  # fmt: skip

    def opened(self, link: Link, token: str | None, now: float) -> None:
        """A WebSocket is open; ``token`` is what to say there."""
        link.opened = True
        link.heard_at = now
        options = self.options
        # In a change of bus the last connection goes on.
        previous = self.connector.session if link.change is None else None
        hello = Hello(
            options.name,
            self.agent,
            token,
            self.connector.resume,
            options.attributes,
            link.change,
            options.user,
            previous,
        )
        link.control.append(hello.frame())

    def token(self, round: int, token: str, now: float) -> None:
        """The application has given the token that was asked for."""
        self.tokens.got(round, token, now)
        self.wake()

    def no_token(self, round: int, error: Error, now: float) -> None:
        """The application could not give one."""
        self.tokens.failed(round, error, now)
        self.wake()

    def _show_token(self, link: Link, token: str) -> None:
        link.control.append(Authenticate(token, self.options.user).frame())

    def heard(self, link: Link, now: float, behind: bool = False) -> None:
        """A sign of life that is no message; ``behind``: the Pong to a Ping that says so."""
        link.heard_at = now
        if behind and self.change is not None and link is self.change.new:
            self.change.pong(now)

    def tick(self, now: float) -> None:
        """Does what is due."""
        self.timers.run(now)

    def wake_at(self) -> float | None:
        """When ``tick`` is wanted; None for not at all."""
        return self.timers.wake_at()

    def soon(self, task: Callable[[float], Any]) -> None:
        """Has something done after what is being done."""
        self.timers.at(0.0, lambda now: void(task(now)))
        self.wake()

    def receive(self, link: Link, message: bytes, now: float) -> None:
        """A message has come; text messages are for ``closed`` with 1003."""
        link.heard_at = now
        if self.dispatcher.over:
            self.dispatcher.apply_policies()
        if link.over or link.broken:
            return
        try:
            for code, start, body, end in frames(message):
                if link.left is not None:
                    self.answers.take_call(link, code, Reader(message, body, end), now)
                elif code == DELIVER and link.welcome is not None:
                    link.credit.count(end - start)
                    delivery = self.dispatcher.read(message, start, body, end, link)
                    if link.standby:
                        self.dispatcher.hold_delivery(delivery)
                    else:
                        self.dispatcher.deliver(delivery)
                elif link.welcome is None:
                    self.connector.greet(link, code, Reader(message, body, end), now)
                else:
                    self.answers.take(link, code, Reader(message, body, end), now)
                if link.over or link.broken:
                    return
        except Malformed as e:
            self._refuse(link, e)
        if link.welcome is not None and link.left is None:
            self.look(link, now)

    def closed(
        self, link: Link, code: int, reason: str, error: Error | None, now: float, retry_after: float = 0.0
    ) -> None:
        """A connection has ended, or never came about, and ``error`` says why."""
        was_over, link.over = link.over, True
        self.services.lost(link, now)
        self.calls.lost(link, now)
        self.moves.left.discard(link)
        change = self.change
        if change is not None and link is change.new and link is not self.current:
            if not was_over:
                change.new_ended(now, str(error or link.refusal or f"{code} {reason}"))
        elif link is self.current:
            self.connector.ended(
                link,
                code,
                reason,
                link.refusal or error or self.connector.verdict(link, code, reason),
                now,
                retry_after,
            )

    def open_link(self, url: str, now: float, change: str | None = None, timeout: float | None = None) -> Link:
        """Begins a connection."""
        link = Link(url, CreditGate(self.options.receive_bytes), change, standby=change is not None, heard_at=now)
        self.commands.append(Open(link, self.options.connect_timeout if timeout is None else timeout))
        return link

    def abort(self, link: Link) -> None:
        """Ends a connection at once."""
        if not link.over:
            link.over = link.abandoned = True
            self.commands.append(Abort(link))

    def close_link(self, link: Link, code: int, reason: str) -> None:
        """Ends a connection in good order."""
        if link.welcome is None:
            self.abort(link)
        elif not link.over:
            link.over = True
            self.commands.append(Close(link, code, reason))

    def ask_behind(self, link: Link) -> None:
        """Asks a bus for a sign that comes behind all that it has sent; ``Change.pong`` hears of it."""
        self.commands.append(Ping(link, behind=True))

    def outgoing(self, link: Link, now: float) -> bytes | None:
        """Takes the next message for a link; None for none. ``sent`` has to follow."""
        return self._outgoing.take(link, now)

    def sent(self, link: Link) -> None:
        """The network has taken what ``outgoing`` gave."""
        if link is self.sending:
            self.outbox.sent()
            self.tell_room()

    def tell_room(self) -> None:
        """Answers what waits for room, where there is some."""
        if self._room and self.outbox.has_room():
            waiting, self._room = self._room, []
            for waiter in waiting:
                succeed(waiter, None)

    def grant(self, link: Link, limit: int) -> None:
        """Lets the bus deliver so many bytes over a connection."""
        frame = link.credit.tell(limit)
        if frame is not None:
            link.control.append(frame)

    def look(self, link: Link, now: float | None) -> None:
        """Something has come or was handled: grants credit, or stops reading where the bus does not keep to it."""
        if link.standby:
            link.paused = self.dispatcher.held_bytes() > MAX_HELD
            return
        held = self.dispatcher.holding + self.dispatcher.held_bytes()
        room = self.options.receive_bytes - held
        if room > 0:
            limit = link.credit.next(room)
            if limit is not None:
                self.grant(link, limit)
        paused = room <= 0 and link.credit.is_beyond()
        if link.paused and not paused:
            # Time in which nothing is read does not count.
            link.pinged_at = None
        link.paused = paused
        if now is not None:
            self._hold_ups.look(link, now)

    def _on_too_slow(self, subscription: Subscription) -> None:
        """A subscription under DISCONNECT is read too slowly: what the bus does then, 4001, is done here."""
        self.soon(lambda now: self._end_too_slow(subscription, now))

    def _end_too_slow(self, subscription: Subscription, now: float) -> None:
        link = self.current
        if link is None or link.welcome is None or subscription.ended:
            return
        why = (
            f"too slow: more waited for {subscription.what} than buffer_bytes, {subscription.buffer.bound} bytes; "
            "the connection was ended, as DISCONNECT asks for"
        )
        self.happenings.append(Refused(BusCode.SLOW_CONSUMER, why, True))
        self.abort(link)
        self.connector.ended(link, 4001, why, None, now, 0.0)

    def is_held_back(self) -> bool:
        """Whether the application has not taken what came."""
        return self.dispatcher.holding >= self.options.receive_bytes

    def watch(self, link: Link, now: float) -> None:
        """Watches whether a connection is there still."""
        silence = self.options.silence_timeout

        def give_up(then: float) -> None:
            LOG.warning("%s: nothing heard of %s for %g s", self.options.name, link.url, silence)
            self.abort(link)
            self.closed_by_us(link, f"nothing heard for {silence:g} s", then)

        watch(link, self.timers, silence, now, lambda: self.commands.append(Ping(link)), give_up)

    def closed_by_us(self, link: Link, reason: str, now: float) -> None:
        """A connection was aborted, and is to be treated as lost."""
        change = self.change
        if change is not None and link is change.new and link is not self.current:
            change.new_ended(now, reason)
        elif link is self.current:
            self.connector.ended(link, 1006, reason, None, now, 0.0)

    def _refuse(self, link: Link, error: Malformed) -> None:
        LOG.warning("%s sent a frame that is malformed: %s", link.url, error)
        link.refusal = Refused(BusCode.MALFORMED, f"the bus sent: {error}", True)
        link.broken = True
        if link.welcome is None:
            self.commands.append(Abort(link))
        else:
            self.commands.append(Close(link, 1007, str(error).encode()[:120].decode(errors="ignore")))

    def limit(self, welcome: Welcome) -> None:
        """A bus says what it takes; requests go there from now on, too."""
        self.calls.connected(welcome)
        dropped = self.outbox.limit(welcome.limits)
        if dropped:
            self.happenings.append(Dropped(dropped, DropCause.TOO_BIG))

    def resume_sending(self, link: Link) -> None:
        """Events go out over this connection, those that were not confirmed first."""
        self.outbox.stay()
        self.outbox_farewell = None
        self.sending = link
        self.flushes.ask_again()

    def lose_sending(self) -> None:
        """The connection that events went out over is lost, but there may be another."""
        self.sending = None
        self.outbox_farewell = None
        unknown = self.outbox.disconnected()
        self.tell_room()
        if unknown:
            self.happenings.append(Dropped(unknown, DropCause.CONNECTION_LOST))
