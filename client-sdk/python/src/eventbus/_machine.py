"""The client without I/O: connects, reconnects, moves, gives up. Time is an argument, in seconds of any steady clock.

What drives it tells it what happens (``opened``, ``receive``, ``heard``, ``closed``, ``tick``) and afterwards does what it
asks for: ``commands``, ``outgoing`` of each link until that is None, ``happenings``, and ``tick`` again at ``wake_at``. Where
something is to be done that no input has caused, ``wake`` is called.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ._addresses import Addresses, usable
from ._change import Change, What
from ._dispatch import MOST_HELD, Dispatcher, Subscription
from ._errors import Closed, ConnectionLost, Error, NotConnected, Refused, TimedOut, closed
from ._flushes import Flushes
from ._happenings import (
    MOVES,
    BusChanged,
    BusChangeFailed,
    Connection,
    Counters,
    Disconnected,
    DropCause,
    Dropped,
    ProducerChanged,
    Reconnecting,
    State,
)  # fmt: skip
from ._link import CreditGate, Link
from ._options import Options
from ._outbox import Outbox, Waiter, fail, succeed
from ._silence import watch
from ._timers import Timer, Timers
from ._tokens import TokenRefresh
from ._wire import (
    DELIVER,
    MOST_LONG,
    PUBLISH,
    Authenticate,
    Barrier,
    BusCode,
    ChangeBus,
    ChangeBusFailed,
    Confirm,
    Credit,
    Drained,
    Echo,
    GapFrame,
    Hello,
    Malformed,
    Problem,
    Reader,
    Subscribe,
    Unsubscribe,
    Welcome,
    frames,
)  # fmt: skip

LOG = logging.getLogger("eventbus")

#: A connection that ends sooner does not count as a success.
HELD = 5.0
#: How long a bus may take to answer Subscribe and Unsubscribe.
ANSWER = 10.0
#: After so many tries in a row without a Welcome the application is told.
TELL_AFTER = 5
MOST_MOVES_IN_A_MINUTE = 8
#: Of a reason why this client stays.
MOST_TOLD = 500
#: The library takes no larger message of a bus.
MOST_MESSAGE = 64 << 20
AROUND_EVENTS = 128 * 1024
MOST_RETRY_AFTER = 60.0
MOST_GROUP_BYTES = 255

_VERDICTS = {
    1002: BusCode.PROTOCOL_VIOLATION,
    1003: BusCode.PROTOCOL_VIOLATION,
    1007: BusCode.MALFORMED,
    1009: BusCode.TOO_BIG,
    4500: BusCode.UNAUTHENTICATED,
    4501: BusCode.FORBIDDEN,
    4502: BusCode.UNSUPPORTED,
    4503: BusCode.REPLACED,
}


def may_reconnect(code: int) -> bool:
    """What a close code says; protocol.md#close-codes."""
    return code not in (1000, 1002, 1003, 1007, 1009) and code < 4500


@dataclass(frozen=True)
class Open:
    """Make a connection; ``opened`` or ``closed`` has to follow."""

    link: Link
    timeout: float


@dataclass(frozen=True)
class Close:
    """Send what was given before, then a Close frame, and end the connection within 2 s."""

    link: Link
    code: int
    reason: str


@dataclass(frozen=True)
class Abort:
    """End the connection, or the try to make one, at once."""

    link: Link


@dataclass(frozen=True)
class Ping:
    """Send a Ping; its Pong is ``heard``, after every message that came before it."""

    link: Link
    #: To be given to ``heard`` with the Pong.
    behind: bool = False


@dataclass(frozen=True)
class AskToken:
    """Ask the application for a token; ``token`` or ``no_token`` has to follow."""

    round: int


Command = Open | Close | Abort | Ping | AskToken


class Machine:
    """See the module."""

    def __init__(self, options: Options, agent: str, random: Callable[[], float], nanos: Callable[[], int]) -> None:
        self.options = options
        self.state = State.NEW
        self.connection: Connection | None = None
        self.end_reason: Error | None = None
        self.timers = Timers()
        self.outbox = Outbox(options.outbound_bytes, options.batch_bytes, options.confirm_timeout, nanos)
        self.flushes = Flushes(self.outbox, self.timers)
        self.happenings: list[object] = []
        self.dispatcher = Dispatcher(options.tracked_producers, self.happenings.append)
        self.commands: deque[Command] = deque()
        self.wake: Callable[[], None] = lambda: None
        #: Answers the first connection.
        self.first: Waiter | None = None
        self.current: Link | None = None
        #: The connection that events go out over.
        self.sending: Link | None = None
        self.change: Change | None = None
        #: During a change of bus: what is to be said to the bus at its end.
        self.waiting_control: list[bytes] | None = None
        #: During a change of bus: goes out in place of events.
        self.outbox_farewell: bytes | None = None
        self.handler_failures = self.reconnects = self.bus_changes = 0
        self._agent = agent
        self._random = random
        self._tokens = TokenRefresh(
            self.timers, lambda: nanos() // 1000, random, lambda n: self.commands.append(AskToken(n)), self._show_token,
            self.happenings.append,
        )  # fmt: skip
        self._addresses = Addresses(options.urls)
        self._resume: str | None = None
        self._session: str | None = None
        self._producer = 0
        self._attempt = 0
        self._failed_tries = 0
        self._token_retried = False
        self._welcomed_at = 0.0
        self._first_deadline = 0.0
        self._timer: Timer | None = None
        self._old_end: tuple[int, str, Error | None] | None = None
        self._moves: deque[float] = deque()
        self._next_id = 1
        self._room: list[Waiter] = []
        self._expiry: Timer | None = None

    # ---- What the application asks for

    def start(self, first: Waiter, now: float) -> None:
        """Makes the first connection, which the waiter hears of."""
        self.first = first
        self._become(State.CONNECTING)
        self._first_deadline = now + self.options.connect_timeout
        self._connect(self._addresses.next(), now)

    def check_open(self) -> None:
        """Raises Closed where nothing new is taken any more."""
        if self.outbox.closed is not None:
            raise self.outbox.closed()

    def subscribe(self, subscription: Subscription, now: float) -> None:
        """Begins a subscription, which has an id of ``take_id``."""
        self.check_open()
        self.dispatcher.subscriptions[subscription.id] = subscription
        self.dispatcher.changed()
        if self.connection is not None:
            self._say(subscription.subscribe_frame())
            self._expect_answer(subscription, now)
        self.wake()

    def take_id(self) -> int:
        """A number for a subscription."""
        self._next_id += 1
        return self._next_id - 1

    def unsubscribe(self, subscription: Subscription, now: float) -> None:
        """Ends a subscription; events that are under way still come."""
        if subscription.ended or subscription.ending:
            return
        subscription.ending = True
        if self.connection is None:
            self.end_subscription(subscription.id)
        else:
            self._say(subscription.unsubscribe_frame())
            self._expect_answer(subscription, now)
        self.wake()

    def flush(self, waiter: Waiter, timeout: float, now: float) -> None:
        """Asks whether everything published before has arrived; asks again until the time is over."""
        if self.state is State.CLOSED:
            fail(waiter, self._closed())
            return
        self.flushes.ask(waiter, timeout, now, self.sending is not None)
        self.wake()

    def when_room(self, waiter: Waiter) -> None:
        """Answers when there is room for events again."""
        if self.state is State.CLOSED:
            fail(waiter, self._closed())
        elif self.outbox.has_room():
            succeed(waiter, None)
        else:
            self._room = [w for w in self._room if not w.done()]
            self._room.append(waiter)

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
        self._tell_room()

    def drain(self, now: float) -> None:
        """Takes nothing new, ends all subscriptions; what is buffered still goes out."""
        if self.state in (State.CONNECTED, State.RECONNECTING):
            self._become(State.DRAINING)
        if self.outbox.closed is None:
            self.outbox.closed = self._closed
        for subscription in list(self.dispatcher.subscriptions.values()):
            self.unsubscribe(subscription, now)
        if self.current is not None and self.current.welcome is not None:
            # Drained comes behind what is held back for want of credit.
            self.grant(self.current, MOST_LONG)
            self.wake()

    def close(self, now: float) -> None:
        """Ends the client."""
        if self.state is State.CLOSED:
            return
        link = self.current
        if link is not None and link.welcome is not None:
            self.close_link(link, 1000, "the client is closed")
            self.happenings.append(Disconnected(1000, "the client is closed", False))
        self._finish(Closed("the client is closed"), now)
        self.wake()

    def handled(self) -> None:
        """The application has taken events: there may be room for more."""
        link = self.current
        if link is not None and link.welcome is not None and not link.abandoned:
            change = self.change
            if change is not None and change.new is not None and not change.new.standby and not change.is_over:
                link = change.new
            paused, work = link.paused, len(link.control)
            self._look(link, None)
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
            self.bus_changes, out.topics, out.used, dispatcher.bytes,
        )  # fmt: skip

    # ---- What happens

    def opened(self, link: Link, token: str | None, now: float) -> None:
        """A WebSocket is open; ``token`` is what to say there."""
        link.opened = True
        link.heard_at = now
        options = self.options
        # In a change of bus the last connection goes on.
        previous = self._session if link.change is None else None
        hello = Hello(
            options.name, self._agent, token, self._resume, options.attributes, link.change, options.user, previous
        )
        link.control.append(hello.frame())

    def token(self, round: int, token: str, now: float) -> None:
        """The application has given the token that was asked for."""
        self._tokens.got(round, token, now)
        self.wake()

    def no_token(self, round: int, error: Error, now: float) -> None:
        """The application could not give one."""
        self._tokens.failed(round, error, now)
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
        if link.over or link.broken:
            return
        try:
            for code, start, body, end in frames(message):
                if code == DELIVER and link.welcome is not None:
                    link.credit.count(end - start)
                    delivery = self.dispatcher.read(message, start, body, end, link)
                    if link.standby:
                        self.dispatcher.hold_delivery(delivery)
                    else:
                        self.dispatcher.deliver(delivery)
                elif link.welcome is None:
                    self._greet(link, code, Reader(message, body, end), now)
                else:
                    self._frame(link, code, Reader(message, body, end), now)
                if link.over or link.broken:
                    return
        except Malformed as e:
            self._refuse(link, e)
        if link.welcome is not None:
            self._look(link, now)

    def closed(
        self, link: Link, code: int, reason: str, error: Error | None, now: float, retry_after: float = 0.0
    ) -> None:
        """A connection has ended, or never came about, and ``error`` says why."""
        was_over, link.over = link.over, True
        change = self.change
        if change is not None and link is change.new and link is not self.current:
            if not was_over:
                change.new_ended(now, str(error or link.refusal or f"{code} {reason}"))
        elif link is self.current:
            self._on_end(
                link, code, reason, link.refusal or error or self._verdict(link, code, reason), now, retry_after
            )

    # ---- Links

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

    def outgoing(self, link: Link) -> bytes | None:
        """Takes the next message for a link; None for none. ``sent`` has to follow."""
        if link.control:
            # Hello goes alone: until the bus has answered it takes little.
            room = self.options.batch_bytes
            if link.welcome is not None:
                room = min(room, link.welcome.limits.message_bytes)
            out = [link.control.popleft()]
            room -= len(out[0])
            while link.control and len(link.control[0]) <= room:
                out.append(link.control.popleft())
                room -= len(out[-1])
            return b"".join(out)
        if link is not self.sending or link.over:
            return None
        if self.outbox_farewell is not None:
            farewell, self.outbox_farewell = self.outbox_farewell, None
            return farewell
        return self.outbox.next_message()

    def sent(self, link: Link) -> None:
        """The network has taken what ``outgoing`` gave."""
        if link is self.sending:
            self.outbox.sent()
            self._tell_room()

    def _tell_room(self) -> None:
        if self._room and self.outbox.has_room():
            waiting, self._room = self._room, []
            for waiter in waiting:
                succeed(waiter, None)

    def grant(self, link: Link, limit: int) -> None:
        """Lets the bus deliver so many bytes over a connection."""
        frame = link.credit.tell(limit)
        if frame is not None:
            link.control.append(frame)

    def _look(self, link: Link, now: float | None) -> None:
        """Something has come or was handled: grants credit, or stops reading where the bus does not keep to it."""
        if link.standby:
            link.paused = self.dispatcher.held_bytes() > MOST_HELD
            return
        held = self.dispatcher.bytes + self.dispatcher.held_bytes()
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

    def is_held_back(self) -> bool:
        """Whether the application has not taken what came."""
        return self.dispatcher.bytes >= self.options.receive_bytes

    def _watch(self, link: Link, now: float) -> None:
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
            self._on_end(link, 1006, reason, None, now, 0.0)

    def _refuse(self, link: Link, error: Malformed) -> None:
        LOG.warning("%s sent a frame that is malformed: %s", link.url, error)
        link.refusal = Refused(BusCode.MALFORMED, f"the bus sent: {error}", True)
        link.broken = True
        if link.welcome is None:
            self.commands.append(Abort(link))
        else:
            self.commands.append(Close(link, 1007, str(error).encode()[:120].decode(errors="ignore")))

    @staticmethod
    def _verdict(link: Link, code: int, reason: str) -> Error | None:
        bus_code = _VERDICTS.get(code, BusCode.UNSUPPORTED)
        if may_reconnect(code) or code == 1000:
            return None
        return Refused(bus_code, f"{link.url} closed with {code}: {reason}", False)

    # ---- The connection's states

    def _become(self, state: State) -> None:
        """The only writer of the state."""
        if state not in MOVES[self.state]:
            raise RuntimeError(f"state: {self.state.name} -> {state.name} (not in the table)")
        LOG.debug("%s: %s -> %s", self.options.name, self.state.name, state.name)
        self.state = state

    def _closed(self) -> Error:
        return closed("the client is closed", self.end_reason)

    def _connect(self, url: str, now: float) -> None:
        timeout = self.options.connect_timeout
        if self.state is State.CONNECTING:
            # This one, and those that come after it.
            timeout = max(0.001, (self._first_deadline - now) / (self._addresses.configured_left() + 1))
        link = self.current = self.open_link(url, now, timeout=timeout)

        def late(then: float) -> None:
            self.abort(link)
            error = TimedOut(f"{url} did not answer within {timeout:g} s")
            self._on_end(link, 1006, f"no answer within {timeout:g} s", error, then, 0.0)

        self._timer = self.timers.at(now + timeout, late)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _greet(self, link: Link, code: int, r: Reader, now: float) -> None:
        if code == Problem.CODE:
            problem = Problem.read(r)
            link.refusal = Refused(problem.code, problem.message, problem.retryable)
        elif code == Welcome.CODE:
            welcome = link.welcome = Welcome.read(r)
            if min(welcome.limits.message_bytes, welcome.limits.payload_bytes) < 1 or welcome.producer == 0:
                raise Malformed("Welcome.limits", 0, welcome.limits, "limits of at least 1, and a producer")
            if self.change is not None and link is self.change.new:
                self._watch(link, now)
                self.change.welcomed(welcome, now)
            elif link is self.current:
                self._on_welcome(link, welcome, now)
        else:
            link.broken = True
            link.refusal = Refused(
                BusCode.PROTOCOL_VIOLATION, f"{link.url} began with frame type {code} (expected: Welcome)", False
            )
            self.commands.append(Abort(link))

    def _on_welcome(self, link: Link, welcome: Welcome, now: float) -> None:
        self._cancel_timer()
        self._watch(link, now)
        before, self._producer = self._producer, welcome.producer
        self._connected(link, welcome, now)
        self._failed_tries = 0
        self._token_retried = False
        self.limit(welcome)
        if before and before != welcome.producer:
            # protocol.md#reconnecting-3: number what was not confirmed from 1 again.
            self.outbox.resequence()
            self.happenings.append(ProducerChanged(before, welcome.producer))
        # protocol.md#credit: before the first Subscribe, so that it holds for all deliveries.
        self.grant(link, max(0, self.options.receive_bytes - self.dispatcher.bytes))
        self.subscribe_again(link, now)
        self.resume_sending(link)
        if self.state is State.RECONNECTING:
            self.reconnects += 1
        if self.state is not State.DRAINING:
            self._become(State.CONNECTED)
        assert self.connection is not None
        self.happenings.append(self.connection)
        if self.first is not None:
            succeed(self.first, None)

    def _connected(self, link: Link, welcome: Welcome, now: float) -> None:
        self._welcomed_at = now
        self._resume = welcome.resume
        self._session = welcome.session
        self._addresses.welcomed(link.url, welcome.others)
        self.connection = Connection(
            link.url, welcome.bus, welcome.session, welcome.producer, welcome.limits, welcome.expires_at
        )
        if callable(self.options.token):
            self._tokens.begin(link, welcome.expires_at, now)
        if welcome.limits.message_bytes + AROUND_EVENTS > MOST_MESSAGE:
            text = f"the bus {welcome.bus} may send messages of {welcome.limits.message_bytes} bytes and more"
            self.happenings.append(Refused(BusCode.TOO_BIG, f"{text} (expected: at most {MOST_MESSAGE})", False))

    def limit(self, welcome: Welcome) -> None:
        """A bus says what it takes."""
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
        self._tell_room()
        if unknown:
            self.happenings.append(Dropped(unknown, DropCause.CONNECTION_LOST))

    def _on_end(self, link: Link, code: int, reason: str, error: Error | None, now: float, retry_after: float) -> None:
        if link is not self.current or self.state is State.CLOSED:
            return
        change = self.change
        if change is not None:
            self._old_end = code, reason, error
            was_over = change.is_over
            changed = change.on(What.OLD_ENDED, now)
            if changed and not was_over and not (change.is_over and self.current is link):
                # The client goes on over the new connection.
                return
            self.change = None
        self._old_end = None
        welcomed = self.connection is not None
        self._cancel_timer()
        link.abandoned = link.over = True
        self.current = None
        self._tokens.end()
        if welcomed:
            self.connection = None
            self.lose_sending()
            self._lose_subscriptions()
            if now - self._welcomed_at >= HELD:
                self._attempt = 0
                self._addresses.start_anew()
        if self.state is State.CONNECTING:
            self._first_failure(link, code, reason, error, now)
            return
        again = self._may_retry(code, error)
        if welcomed or not again:
            LOG.debug("%s: connection to %s ended: %d %s", self.options.name, link.url, code, reason)
            self.happenings.append(Disconnected(code, reason, again))
        if again:
            self._failed_tries += not welcomed
            if self._failed_tries == TELL_AFTER:
                why = error or f"{code} {reason}"
                self.happenings.append(NotConnected(f"{TELL_AFTER} tries without a connection, the last: {why}"))
            self._retry_later(now, retry_after)
        else:
            what = f"the connection to {link.url} ended with {code} {reason}"
            self._finish(error or ConnectionLost(what), now)

    def _may_retry(self, code: int, error: Error | None) -> bool:
        verdict = not may_reconnect(code) or (code == 1006 and isinstance(error, Refused) and not error.retryable)
        if verdict and self._may_ask_for_token(error):
            verdict = False
        return not verdict and self._attempt < self.options.reconnect.max_attempts

    def _may_ask_for_token(self, error: Error | None) -> bool:
        """Where a token was refused that a function gave: it may have run out, and the function is asked again, once."""
        refused = isinstance(error, Refused) and error.bus_code is BusCode.UNAUTHENTICATED
        if not refused or not callable(self.options.token) or self._token_retried:
            return False
        self._token_retried = True
        return True

    def _first_failure(self, link: Link, code: int, reason: str, error: Error | None, now: float) -> None:
        cause = error or NotConnected(f"{link.url} closed with {code} {reason}")
        if self._first_deadline > now and self._may_ask_for_token(cause):
            self._connect(link.url, now)
            return
        verdict = isinstance(cause, Refused) and not cause.retryable
        if not verdict and self._first_deadline > now and self._addresses.configured_left() > 0:
            self._connect(self._addresses.next(), now)
        else:
            self._finish(cause, now)

    def _retry_later(self, now: float, retry_after: float) -> None:
        if self.state is State.CONNECTED:
            self._become(State.RECONNECTING)
        url = self._addresses.next()
        self._attempt += 1
        delay = self.options.reconnect.delay(self._attempt, self._random())
        delay = max(delay, min(retry_after, MOST_RETRY_AFTER))
        self.happenings.append(Reconnecting(self._attempt, url, delay))
        self._timer = self.timers.at(now + delay, lambda then: self._connect(url, then))

    def _finish(self, reason: Error, now: float) -> None:
        if self.state is State.CLOSED:
            return
        self._cancel_timer()
        self._tokens.end()
        change, self.change = self.change, None
        if change is not None:
            change.on(What.CLOSED, now)
        link, self.current = self.current, None
        if link is not None:
            self.abort(link)
        self.end_reason = reason
        self._become(State.CLOSED)
        self.outbox.closed = self._closed
        if self.connection is not None:
            self.connection = None
            self.lose_sending()
        why = f"the client was closed before the bus confirmed: {reason}"
        unsent = f"the client was closed before the event was sent: {reason}"
        dropped = self.outbox.abandon(lambda: ConnectionLost(why), lambda: Closed(unsent))
        if dropped:
            self.happenings.append(Dropped(dropped, DropCause.CLOSED))
        self.flushes.close(self._closed)
        for waiter in self._room:
            fail(waiter, self._closed())
        self._room.clear()
        for subscription in list(self.dispatcher.subscriptions.values()):
            asked = isinstance(reason, Closed)
            self.end_subscription(subscription.id, None if asked else closed("the client is closed", reason))
        self.timers.clear()
        if self.first is not None and not self.first.done():
            self.first.set_exception(reason)

    def unfit(self, welcome: Welcome) -> str | None:
        """Why a bus is none to go on at; None where it is one."""
        if welcome.producer != self._producer:
            # Subscribers could not tell what they have seen.
            return f"it knows this client as {welcome.producer}, not as {self._producer}"
        if not self.outbox.fits(welcome.limits):
            return "it takes smaller events or messages than those that may be under way already"
        return None

    # ---- Frames after Welcome

    def _frame(self, link: Link, code: int, r: Reader, now: float) -> None:
        if code == Confirm.CODE:
            self._on_confirm(link, Confirm.read(r), now)
        elif code == GapFrame.CODE:
            gap = GapFrame.read(r)
            if link.standby:
                self.dispatcher.hold_gap(gap)
            else:
                self.dispatcher.gap(gap)
        elif code == Problem.CODE:
            self._on_problem(link, Problem.read(r), now)
        elif code == Barrier.CODE:
            self._on_barrier(Barrier.read(r).id, now)
        elif code == Drained.CODE:
            self._on_drained(link, Drained.read(r).id, now)
        elif code == ChangeBus.CODE:
            self._on_change_bus(link, ChangeBus.read(r), now)
        elif code == Welcome.CODE:
            LOG.warning("%s sent a second Welcome: skipped", link.url)
        # protocol.md#evolution: others are a later version's, and skipped.

    def _on_confirm(self, link: Link, confirm: Confirm, now: float) -> None:
        if link.abandoned:
            return
        if confirm.type_code == PUBLISH:
            self.outbox.confirm(confirm.topic, confirm.about, self._producer)
            self._tell_room()
        elif confirm.type_code == Subscribe.CODE:
            if self.change is not None and link is self.change.new:
                self.change.confirmed(confirm.about, now)
                # The client may stay where it is, and there it may be refused yet.
                if not self.change.is_over:
                    return
            self._confirmed(confirm.about)
        elif confirm.type_code == Authenticate.CODE and link is self.current and self.connection is not None:
            self.connection = replace(self.connection, expires_at=confirm.about)
            self._tokens.renewed(link, confirm.about, now)

    def _confirmed(self, id: int) -> None:
        subscription = self.dispatcher.subscriptions.get(id)
        if subscription is None:
            return
        if not subscription.ending:
            subscription.answer_by = None
        if not subscription.confirmed:
            subscription.confirmed = True
            self.dispatcher.changed()
            for waiter in subscription.ready:
                succeed(waiter, None)
            subscription.ready.clear()

    def _on_problem(self, link: Link, problem: Problem, now: float) -> None:
        def error() -> Refused:
            return Refused(problem.code, problem.message, problem.retryable)

        change = self.change
        new = change is not None and link is change.new
        told = False
        if problem.type_code == PUBLISH:
            told = self.outbox.refuse(problem.topic, problem.about, error)
            self._tell_room()
        elif problem.type_code == Subscribe.CODE and problem.about == 0:
            pass  # protocol.md#overflow: its subscriptions are DROP_OLDEST from now on
        elif problem.type_code == Subscribe.CODE and new and change is not None:
            change.refused(problem.about, error(), now)
            told = True
        elif problem.type_code == Subscribe.CODE:
            told = not link.abandoned and self._refused(problem.about, error)
        elif problem.type_code == Unsubscribe.CODE:
            self._on_drained(link, problem.about, now)
            told = True
        elif problem.type_code == Barrier.CODE:
            told = self._barrier_refused(problem, error, now)
        elif problem.type_code == Credit.CODE:
            link.credit.refused = True
            told = True
        elif problem.type_code == Echo.CODE:
            told = True
        elif problem.type_code == Authenticate.CODE:
            self._tokens.refused(link, now)
        elif problem.type_code != ChangeBusFailed.CODE:
            # About the connection: it says why the Close follows.
            link.refusal = error()
        if not told:
            self.happenings.append(error())

    def _refused(self, id: int, error: Callable[[], Error]) -> bool:
        """The bus does not serve a subscription; returns whether anything waited for the answer."""
        subscription = self.dispatcher.subscriptions.get(id)
        if subscription is None:
            return False
        waited = any(not waiter.done() for waiter in subscription.ready)
        self.end_subscription(id, error())
        return waited

    def _on_barrier(self, id: int, now: float) -> None:
        if self.change is None or not self.change.echoed(id, now):
            self.flushes.echoed(id)

    def _barrier_refused(self, problem: Problem, error: Callable[[], Error], now: float) -> bool:
        if self.change is not None and self.change.barrier_refused(problem.about, now):
            return True
        return self.flushes.refused(problem.about, problem.retryable, error, now, lambda: self.sending is not None)

    def _on_drained(self, link: Link, id: int, now: float) -> None:
        change = self.change
        if change is not None and link is change.new and link is not self.current:
            change.new_drained(id, now)
        elif not link.abandoned and not (change is not None and change.old_drained(id, now)):
            self.end_subscription(id)

    # ---- Subscriptions

    def _say(self, frame: bytes) -> None:
        if self.waiting_control is not None:
            self.waiting_control.append(frame)
        elif self.current is not None:
            self.current.control.append(frame)

    def say_waiting(self, link: Link) -> None:
        """Says what waited for the end of a change of bus."""
        waiting, self.waiting_control = self.waiting_control, None
        link.control.extend(waiting or ())

    def subscribe_again(self, link: Link, now: float) -> None:
        """Asks for all subscriptions over a connection."""
        for subscription in self.dispatcher.subscriptions.values():
            link.control.append(subscription.subscribe_frame())
            if subscription.ending:
                link.control.append(subscription.unsubscribe_frame())
            self._expect_answer(subscription, now)

    def _expect_answer(self, subscription: Subscription, now: float) -> None:
        """protocol.md#time-outs-of-a-client: tell the application, and reconnect."""
        waiting = subscription.answer_by is not None
        subscription.answer_by = now + ANSWER
        if waiting:
            return

        def look(then: float) -> None:
            by, link = subscription.answer_by, self.current
            if by is None or subscription.ended:
                return
            held_back = link is not None and (link.paused or link.credit.received >= link.credit.limit)
            if self.change is not None or held_back:
                by = subscription.answer_by = then + ANSWER
            if then < by:
                self.timers.at(by, look)
                return
            subscription.answer_by = None
            what = f"the bus did not answer for the subscription of {subscription.filter} within {ANSWER:g} s"
            for waiter in subscription.ready:
                fail(waiter, TimedOut(what))
            subscription.ready.clear()
            self.happenings.append(TimedOut(what))
            if link is not None and link.welcome is not None:
                self.abort(link)
                self.closed_by_us(link, "a subscription was not answered", then)

        self.timers.at(subscription.answer_by, look)

    def _lose_subscriptions(self) -> None:
        self.waiting_control = None
        for subscription in list(self.dispatcher.subscriptions.values()):
            subscription.answer_by = None
            if subscription.ending:
                # There is no bus left that could send anything for these.
                self.end_subscription(subscription.id)

    def end_subscription(self, id: int, failure: Error | None = None) -> None:
        """Nothing more comes for a subscription."""
        subscription = self.dispatcher.subscriptions.pop(id, None)
        if subscription is None:
            return
        subscription.ended = True
        subscription.failure = failure
        subscription.answer_by = None
        self.dispatcher.changed()
        for waiter in subscription.ready:
            fail(waiter, failure or Closed("the subscription is ended"))
        for waiter in subscription.drained:
            succeed(waiter, None)
        subscription.ready.clear()
        subscription.drained.clear()
        subscription.wake()

    # ---- A change of bus

    def _on_change_bus(self, link: Link, request: ChangeBus, now: float) -> None:
        change = self.change
        if change is not None and link is change.new:
            change.next = request, now
            return
        if link is not self.current or self.connection is None or self.state is not State.CONNECTED:
            return
        if change is not None:
            self._refuse_change(link, request.token, "a change of bus is under way already")
            return
        urls = usable(link.url, request.urls)
        while self._moves and now - self._moves[0] >= 60:
            self._moves.popleft()
        if not urls:
            self._refuse_change(link, request.token, "none of the addresses can be used")
        elif len(self._moves) >= MOST_MOVES_IN_A_MINUTE:
            why = f"this client was moved {MOST_MOVES_IN_A_MINUTE} times within a minute already"
            self._refuse_change(link, request.token, why)
        else:
            self._moves.append(now)
            LOG.debug("%s: going to %s (%s)", self.options.name, urls, request.reason.name)
            self.change = Change(self, request, urls, link, now)

    @staticmethod
    def _refuse_change(link: Link, token: str, why: str) -> None:
        link.control.append(ChangeBusFailed(token, why[:MOST_TOLD]).frame())

    def moved(self, change: Change, served: set[int], ending: set[int], now: float) -> None:
        """The new connection is the one that the client has."""
        old, link, before = self.current, change.new, self.connection
        assert link is not None and link.welcome is not None and before is not None
        self.change = None
        self._old_end = None
        self.current = link
        link.standby = False
        self._connected(link, link.welcome, now)
        self.bus_changes += 1
        for id in ending:
            # The old bus has no chance to end these any more.
            self.end_subscription(id)
        for id in sorted(served - self.dispatcher.subscriptions.keys()):
            link.control.append(Unsubscribe(id).frame())
        self.say_waiting(link)
        for id in served:
            self._confirmed(id)
        self._look(link, now)
        if old is not None and not old.over:
            old.abandoned = True
            self.close_link(old, 1000, "the client goes on at another bus")
        assert self.connection is not None
        self.happenings.append(BusChanged(before, self.connection))
        if change.next is not None:
            self._on_change_bus(link, change.next[0], change.next[1])

    def stayed(self, change: Change) -> None:
        """The client is where it was."""
        self.change = None
        if not change.old.over:
            self._refuse_change(change.old, change.token, change.why)
        LOG.debug("%s: does not go to %s: %s", self.options.name, change.url, change.why)
        self.happenings.append(BusChangeFailed(change.url, change.why))

    def lost_both(self, why: str, now: float) -> None:
        """The client has no connection any more: the old one has ended, or is not waited for."""
        self.change = None
        link, end = self.current, self._old_end
        if link is None:
            return
        self.abort(link)
        code, reason, error = end or (1006, f"left, and the connection that was to follow is lost: {why}", None)
        self._on_end(link, code, reason, error, now, 0.0)


def void(_: object) -> None:
    """For timers, which want None."""
