"""The client without I/O: connects, reconnects, moves, gives up. Time is an argument, in seconds of any monotonic clock.

Its driver calls it with input (``opened``, ``receive``, ``heard``, ``closed``, ``tick``) and then takes its output:
``commands``, ``outgoing`` of each link until that is None, ``happenings``, and ``tick`` again at ``wake_at``. If
there is output without an input, it calls ``wake``.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from ._barriers import Barriers
from ._bus_link import BusLink, CreditGate
from ._bus_move import BusMove
from ._commands import Abort, AskToken, Close, Command, Open, Ping
from ._connector import Connector
from ._dispatch import MAX_HELD, Dispatcher, Subscription
from ._errors import Closed, Error, Refused
from ._frame_dispatcher import FrameDispatcher
from ._happenings import Connection, Counters, Disconnected, DropCause, Dropped, State
from ._moves import Moves
from ._options import Options
from ._outbox import Outbox
from ._outgoing import Outgoing
from ._pending_calls import PendingCalls
from ._registry import Registry
from ._serving import Services
from ._silence import watch
from ._stalls import Stalls
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
        self.flushes = Barriers(self.outbox, self.timers)
        self.happenings: list[object] = []
        self.dispatcher = Dispatcher(
            options.tracked_producers, self.happenings.append, lambda: nanos() // 1000, self._on_too_slow
        )
        self.commands: deque[Command] = deque()
        self.wake: Callable[[], None] = lambda: None
        self.current: BusLink | None = None
        #: Connection over which events are sent.
        self.sending: BusLink | None = None
        self.move: BusMove | None = None
        #: Barrier of a move, sent in place of events.
        self.move_barrier: bytes | None = None
        self.handler_failures = self.reconnects = self.bus_changes = 0
        self.tokens = TokenRefresh(
            self.timers, lambda: nanos() // 1000, random, lambda n: self.commands.append(AskToken(n)), self._show_token,
            self.happenings.append,
        )  # fmt: skip
        self.connector = Connector(self)
        self.registry = Registry(self)
        self.answers = FrameDispatcher(self)
        self.moves = Moves(self)
        self.calls = PendingCalls(self, options.call_buffer_bytes)
        self.services = Services(self)
        self._room: list[Waiter] = []
        self._expiry: Timer | None = None
        self._outgoing = Outgoing(self)
        self._stalls = Stalls(self)

    def check_open(self) -> None:
        """Raises Closed if nothing new is accepted any more."""
        if self.outbox.closed is not None:
            raise self.outbox.closed()

    def flush(self, waiter: Waiter, timeout: float, now: float) -> None:
        """Sends a barrier, again and again until it is answered or its time has passed."""
        if self.state is State.CLOSED:
            fail(waiter, self.connector.closed_error())
            return
        self.flushes.ask(waiter, timeout, now, self.sending is not None)
        self.wake()

    def when_room(self, waiter: Waiter) -> None:
        """Tells the waiter when there is room for events again."""
        if self.state is State.CLOSED:
            fail(waiter, self.connector.closed_error())
        elif self.outbox.has_room():
            succeed(waiter, None)
        else:
            self._room = [w for w in self._room if not w.done()]
            self._room.append(waiter)

    def close_room(self) -> None:
        """Fails the waiters for room."""
        for waiter in self._room:
            fail(waiter, self.connector.closed_error())
        self._room.clear()

    def expect_confirm(self, now: float) -> None:
        """Schedules the expiry of an event that a call waits for."""
        if self._expiry is None:
            at = self.outbox.expires_at()
            if at is not None:
                self._expiry = self.timers.at(max(at, now), self._expire)

    def _expire(self, now: float) -> None:
        self._expiry = None
        self.outbox.expire(now)
        self.expect_confirm(now)
        self.announce_room()

    def drain(self, now: float) -> None:
        """Accepts nothing new, and ends all subscriptions and services; buffered events are still sent."""
        if self.state in (State.CONNECTED, State.RECONNECTING):
            self.connector.become(State.DRAINING)
        if self.outbox.closed is None:
            self.outbox.closed = self.connector.closed_error
        self.calls.drain(None, self.connector.closed_error)
        for registration in list(self.registry.all.values()):
            self.registry.unsubscribe(registration, now)
        if self.current is not None and self.current.welcome is not None:
            # Drained comes behind deliveries that wait for credit.
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
        """Grants more credit after the application has handled events."""
        link = self.current
        if link is not None and link.welcome is not None and not link.abandoned:
            move = self.move
            if move is not None and move.new is not None and not move.new.standby and not move.is_over:
                link = move.new
            paused, work = link.paused, len(link.control)
            self.update_credit(link, None)
            if link.paused != paused or len(link.control) != work:
                self.wake()

    def malformed(self, link: BusLink, error: Malformed) -> None:
        """Closes a connection whose event turned out to be malformed when it was taken."""
        if not link.over and not link.broken:
            self._refuse(link, error)
            self.wake()

    def counters(self) -> Counters:
        """Returns figures since the client was made."""
        out, dispatcher = self.outbox, self.dispatcher
        return Counters(
            out.published, out.confirmed, out.resent, out.dropped_full, out.indeterminate, out.messages,
            dispatcher.received, dispatcher.duplicates, dispatcher.missing, self.handler_failures, self.reconnects,
            self.bus_changes, out.topics, out.used, dispatcher.bytes, dispatcher.interruptions,
        )  # fmt: skip

    def opened(self, link: BusLink, token: str | None, now: float) -> None:
        """Handles an open WebSocket; ``token`` is for the Hello."""
        link.opened = True
        link.heard_at = now
        options = self.options
        # A move continues the last connection, so that it has no previous session.
        previous = self.connector.session if link.move_token is None else None
        hello = Hello(
            options.name,
            self.agent,
            token,
            self.connector.resume,
            options.attributes,
            link.move_token,
            options.user,
            previous,
        )
        link.control.append(hello.frame())

    def token(self, round: int, token: str, now: float) -> None:
        """Handles the token of the application."""
        self.tokens.got(round, token, now)
        self.wake()

    def no_token(self, round: int, error: Error, now: float) -> None:
        """Handles the failure of the application to return a token."""
        self.tokens.failed(round, error, now)
        self.wake()

    def _show_token(self, link: BusLink, token: str) -> None:
        link.control.append(Authenticate(token, self.options.user).frame())

    def heard(self, link: BusLink, now: float, behind: bool = False) -> None:
        """Handles a sign of life other than a message; ``behind``: the Pong to a Ping with this flag."""
        link.heard_at = now
        if behind and self.move is not None and link is self.move.new:
            self.move.pong(now)

    def tick(self, now: float) -> None:
        """Runs due timers."""
        self.timers.run(now)

    def wake_at(self) -> float | None:
        """Returns the time of the next ``tick``; None for none."""
        return self.timers.wake_at()

    def soon(self, task: Callable[[float], Any]) -> None:
        """Runs a task after the current input was handled."""
        self.timers.at(0.0, lambda now: void(task(now)))
        self.wake()

    def receive(self, link: BusLink, message: bytes, now: float) -> None:
        """Handles a binary message; text messages are for ``closed`` with 1003."""
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
            self.update_credit(link, now)

    def closed(
        self, link: BusLink, code: int, reason: str, error: Error | None, now: float, retry_after: float = 0.0
    ) -> None:
        """Handles the end of a connection, or of a try to connect; ``error`` is the reason."""
        was_over, link.over = link.over, True
        self.services.lost(link, now)
        self.calls.lost(link, now)
        self.moves.left.discard(link)
        move = self.move
        if move is not None and link is move.new and link is not self.current:
            if not was_over:
                move.new_ended(now, str(error or link.refusal or f"{code} {reason}"))
        elif link is self.current:
            self.connector.ended(
                link,
                code,
                reason,
                link.refusal or error or self.connector.verdict(link, code, reason),
                now,
                retry_after,
            )

    def open_link(self, url: str, now: float, move_token: str | None = None, timeout: float | None = None) -> BusLink:
        """Begins to connect."""
        link = BusLink(
            url, CreditGate(self.options.receive_bytes), move_token, standby=move_token is not None, heard_at=now
        )
        self.commands.append(Open(link, self.options.connect_timeout if timeout is None else timeout))
        return link

    def abort(self, link: BusLink) -> None:
        """Ends a connection at once."""
        if not link.over:
            link.over = link.abandoned = True
            self.commands.append(Abort(link))

    def close_link(self, link: BusLink, code: int, reason: str) -> None:
        """Ends a connection in good order."""
        if link.welcome is None:
            self.abort(link)
        elif not link.over:
            link.over = True
            self.commands.append(Close(link, code, reason))

    def fence(self, link: BusLink) -> None:
        """Sends a Ping whose Pong comes behind all that the bus has sent; ``BusMove.pong`` is called with it."""
        self.commands.append(Ping(link, behind=True))

    def outgoing(self, link: BusLink, now: float) -> bytes | None:
        """Takes the next message for a link; None for none. ``sent`` has to follow."""
        return self._outgoing.take(link, now)

    def sent(self, link: BusLink) -> None:
        """Records that the network has taken the message of ``outgoing``."""
        if link is self.sending:
            self.outbox.sent()
            self.announce_room()

    def announce_room(self) -> None:
        """Tells the waiters for room, if there is some."""
        if self._room and self.outbox.has_room():
            waiting, self._room = self._room, []
            for waiter in waiting:
                succeed(waiter, None)

    def grant(self, link: BusLink, limit: int) -> None:
        """Grants the bus credit on a connection."""
        frame = link.credit.grant(limit)
        if frame is not None:
            link.control.append(frame)

    def update_credit(self, link: BusLink, now: float | None) -> None:
        """Grants credit, or stops reading if the bus ignores its limit; after a receipt or after events were handled."""
        if link.standby:
            link.paused = self.dispatcher.held_bytes() > MAX_HELD
            return
        held = self.dispatcher.blocking_bytes + self.dispatcher.held_bytes()
        room = self.options.receive_bytes - held
        if room > 0:
            limit = link.credit.next(room)
            if limit is not None:
                self.grant(link, limit)
        paused = room <= 0 and link.credit.is_beyond()
        if link.paused and not paused:
            # Time without reading does not count.
            link.pinged_at = None
        link.paused = paused
        if now is not None:
            self._stalls.check(link, now)

    def _on_too_slow(self, subscription: Subscription) -> None:
        """Closes the connection with 4001, as the bus would, because a subscription under DISCONNECT is too slow."""
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

    def is_stalled(self) -> bool:
        """Returns whether the application stalls the connection."""
        return self.dispatcher.blocking_bytes >= self.options.receive_bytes

    def watch(self, link: BusLink, now: float) -> None:
        """Watches a connection for silence."""
        silence = self.options.silence_timeout

        def give_up(then: float) -> None:
            LOG.warning("%s: nothing heard of %s for %g s", self.options.name, link.url, silence)
            self.abort(link)
            self.closed_by_us(link, f"nothing heard for {silence:g} s", then)

        watch(link, self.timers, silence, now, lambda: self.commands.append(Ping(link)), give_up)

    def closed_by_us(self, link: BusLink, reason: str, now: float) -> None:
        """Handles an aborted connection like a lost one."""
        move = self.move
        if move is not None and link is move.new and link is not self.current:
            move.new_ended(now, reason)
        elif link is self.current:
            self.connector.ended(link, 1006, reason, None, now, 0.0)

    def _refuse(self, link: BusLink, error: Malformed) -> None:
        LOG.warning("%s sent a frame that is malformed: %s", link.url, error)
        link.refusal = Refused(BusCode.MALFORMED, f"the bus sent: {error}", True)
        link.broken = True
        if link.welcome is None:
            self.commands.append(Abort(link))
        else:
            self.commands.append(Close(link, 1007, str(error).encode()[:120].decode(errors="ignore")))

    def limit(self, welcome: Welcome) -> None:
        """Applies the limits of a bus, and sends requests there from now on."""
        self.calls.connected(welcome)
        dropped = self.outbox.limit(welcome.limits)
        if dropped:
            self.happenings.append(Dropped(dropped, DropCause.TOO_BIG))

    def resume_sending(self, link: BusLink) -> None:
        """Sends events over this connection, unconfirmed ones first."""
        self.outbox.resume()
        self.move_barrier = None
        self.sending = link
        self.flushes.ask_again()

    def lose_sending(self) -> None:
        """Handles the loss of the connection for sending, while there may be another one."""
        self.sending = None
        self.move_barrier = None
        unknown = self.outbox.disconnected()
        self.announce_room()
        if unknown:
            self.happenings.append(Dropped(unknown, DropCause.CONNECTION_LOST))
