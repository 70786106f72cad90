"""Connects, reconnects, and gives up. Part of the core: without I/O and without a clock."""

from __future__ import annotations

import logging

from .._api.errors import Closed, ConnectionLost, Error, NotConnected, Refused, TimedOut, closed
from .._api.happenings import Connection, Disconnected, DropCause, Dropped, ProducerChanged, Reconnecting, State
from .._base.bus_link import MAX_MESSAGE, BusLink
from .._base.commands import Abort, Ping
from .._base.timers import Timer
from .._base.waiters import Waiter, succeed
from .._calls.service_state import ServiceState
from .._wire.codec import Malformed, Reader
from .._wire.records import BusCode, Problem, Welcome
from .bus_urls import BusUrls
from .move_table import MoveEvent
from .moves import Moves
from .parts import ClientParts
from .silence import watch

LOG = logging.getLogger("eventbus")

#: Minimum life of a connection that counts as a success, in seconds.
MIN_LIFE = 5.0
#: Number of tries in a row without a Welcome after which the application is told.
SILENT_TRIES = 5
AROUND_EVENTS = 128 * 1024
MAX_RETRY_AFTER = 60.0
#: Minimum time for a try of the first connection, in seconds.
MIN_TRY = 0.1

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
    """Returns whether a close code allows another connection; protocol.md#close-codes."""
    return code not in (1000, 1002, 1003, 1007, 1009) and code < 4500


class Connector:
    """See the module."""

    def __init__(self, parts: ClientParts) -> None:
        self._context = parts.context
        self._sender = parts.sender
        self._registry = parts.registry
        self._tokens = parts.tokens
        self._parts = parts
        self.moves = Moves(parts, self)
        #: Waiter for the first connection.
        self.first: Waiter | None = None
        self.addresses = BusUrls(self._context.options.urls)
        self.resume: str | None = None
        self.session: str | None = None
        self.producer = 0
        #: Number of connections after the first.
        self.reconnects = 0
        self._attempt = 0
        self._failed_tries = 0
        self._token_retried = False
        self._welcomed_at = 0.0
        self._first_deadline = 0.0
        self._timer: Timer | None = None

    def start(self, first: Waiter, now: float) -> None:
        """Makes the first connection, and tells the waiter."""
        self.first = first
        self._context.become(State.CONNECTING)
        self._first_deadline = now + self._context.options.connect_timeout
        self._connect(self.addresses.next(), now)

    @staticmethod
    def verdict(link: BusLink, code: int, reason: str) -> Error | None:
        """Returns the error of a close code that ends the client; None for others."""
        bus_code = _VERDICTS.get(code, BusCode.UNSUPPORTED)
        if may_reconnect(code) or code == 1000:
            return None
        return Refused(bus_code, f"{link.url} closed with {code}: {reason}", False)

    def _connect(self, url: str, now: float) -> None:
        context = self._context
        timeout = context.options.connect_timeout
        if context.state is State.CONNECTING:
            # The rest of the time, divided by this address and those that follow.
            timeout = max(0.001, (self._first_deadline - now) / (self.addresses.configured_left() + 1))
        link = context.current = context.open_link(url, now, timeout=timeout)

        def late(then: float) -> None:
            asks = link.asks_token
            context.abort(link)
            who = f"the token function gave none for {url}" if asks else f"{url} did not answer"
            error = TimedOut(f"{who} within {timeout:g} s")
            self.ended(link, 1006, f"no answer within {timeout:g} s", error, then, 0.0)

        self._timer = context.timers.at(now + timeout, late)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def greet(self, link: BusLink, code: int, r: Reader, now: float) -> None:
        """Handles a frame before the Welcome."""
        context = self._context
        if code == Problem.CODE:
            problem = Problem.read(r)
            link.refusal = Refused(problem.code, problem.message, problem.retryable)
        elif code == Welcome.CODE:
            welcome = link.welcome = Welcome.read(r)
            if min(welcome.limits.message_bytes, welcome.limits.payload_bytes) < 1 or welcome.producer == 0:
                raise Malformed("Welcome.limits", 0, welcome.limits, "limits of at least 1, and a producer")
            if self.moves.move is not None and link is self.moves.move.new:
                self._watch(link, now)
                self.moves.move.welcomed(welcome, now)
            elif link is context.current:
                self._on_welcome(link, welcome, now)
        else:
            link.broken = True
            link.refusal = Refused(
                BusCode.PROTOCOL_VIOLATION, f"{link.url} began with frame type {code} (expected: Welcome)", False
            )
            context.commands.append(Abort(link))

    def _on_welcome(self, link: BusLink, welcome: Welcome, now: float) -> None:
        context = self._context
        self._cancel_timer()
        self._watch(link, now)
        before, self.producer = self.producer, welcome.producer
        self.connected(link, welcome, now)
        self._failed_tries = 0
        self._token_retried = False
        self._parts.limit(welcome)
        if before and before != welcome.producer:
            # protocol.md#reconnecting-3: numbers unconfirmed events from 1 again.
            self._sender.outbox.resequence()
            context.happenings.append(ProducerChanged(before, welcome.producer))
        # protocol.md#credit: before the first Subscribe, so that credit counts for all deliveries.
        self._parts.credit.begin(link)
        self._registry.begin_all(link, now)
        self._sender.resume(link)
        if context.state is State.RECONNECTING:
            self.reconnects += 1
        if context.state is not State.DRAINING:
            context.become(State.CONNECTED)
        assert context.connection is not None
        context.happenings.append(context.connection)
        if self.first is not None:
            succeed(self.first, None)

    def connected(self, link: BusLink, welcome: Welcome, now: float) -> None:
        """Makes a welcomed connection the client's."""
        context = self._context
        self._welcomed_at = now
        if context.state is State.CONNECTING:
            self._attempt = 0
        self.resume = welcome.resume
        self.session = welcome.session
        self.addresses.welcomed(link.url, welcome.others)
        context.connection = Connection(
            link.url, welcome.bus, welcome.session, welcome.producer, welcome.limits, welcome.expires_at
        )
        if callable(context.options.token):
            self._tokens.begin(link, welcome.expires_at, now)
        if welcome.limits.message_bytes + AROUND_EVENTS > MAX_MESSAGE:
            text = f"the bus {welcome.bus} may send messages of {welcome.limits.message_bytes} bytes and more"
            context.happenings.append(Refused(BusCode.TOO_BIG, f"{text} (expected: at most {MAX_MESSAGE})", False))

    def _watch(self, link: BusLink, now: float) -> None:
        """Watches a connection for silence."""
        context = self._context
        silence = context.options.silence_timeout

        def give_up(then: float) -> None:
            LOG.warning("%s: nothing heard of %s for %g s", context.options.name, link.url, silence)
            self.give_up(link, f"nothing heard for {silence:g} s", then)

        watch(link, context.timers, silence, now, lambda: context.commands.append(Ping(link)), give_up)

    def give_up(self, link: BusLink, reason: str, now: float) -> None:
        """Ends a connection at once, and handles it like a lost one."""
        self._context.abort(link)
        move = self.moves.move
        if move is not None and link is move.new and link is not self._context.current:
            move.new_ended(now, reason)
        else:
            self.ended(link, 1006, reason, None, now, 0.0)

    def ended(self, link: BusLink, code: int, reason: str, error: Error | None, now: float, retry_after: float) -> None:
        """Handles the end of a connection: makes another one, or gives up."""
        context = self._context
        if link is not context.current or context.state is State.CLOSED:
            return
        move = self.moves.move
        if move is not None:
            self.moves.old_end = code, reason, error
            was_over = move.is_over
            changed = move.on(MoveEvent.OLD_ENDED, now)
            if changed and not was_over and not (move.is_over and context.current is link):
                # The client stays at the new bus.
                return
            self.moves.move = None
        self.moves.old_end = None
        welcomed = context.connection is not None
        self._cancel_timer()
        link.abandoned = link.over = True
        context.current = None
        self._tokens.end()
        if welcomed:
            context.connection = None
            self._sender.lose()
            self._registry.lose()
            if now - self._welcomed_at >= MIN_LIFE:
                self._attempt = 0
                self.addresses.start_anew()
        if context.state is State.CONNECTING:
            self._first_failure(link, code, reason, error, now, retry_after)
            return
        again = self._may_retry(code, error)
        if welcomed or not again:
            LOG.debug("%s: connection to %s ended: %d %s", context.options.name, link.url, code, reason)
            context.happenings.append(Disconnected(code, reason, again))
        if again:
            self._failed_tries += not welcomed
            if self._failed_tries == SILENT_TRIES:
                why = error or f"{code} {reason}"
                context.happenings.append(NotConnected(f"{SILENT_TRIES} tries without a connection, the last: {why}"))
            self._retry_later(now, retry_after)
        else:
            cause = error or ConnectionLost(f"the connection to {link.url} ended with {code} {reason}")
            if context.state is not State.DRAINING:
                LOG.error(
                    "%s: the client has ended by itself, and does not connect again: %s", context.options.name, cause
                )
            self.finish(cause, now)

    def _may_retry(self, code: int, error: Error | None) -> bool:
        verdict = not may_reconnect(code) or (code == 1006 and isinstance(error, Refused) and not error.retryable)
        if verdict and self._may_ask_for_token(error):
            verdict = False
        return not verdict and self._attempt < self._context.options.reconnect.max_attempts

    def _may_ask_for_token(self, error: Error | None) -> bool:
        """Returns whether to call the token function again, once: its refused token may have expired."""
        refused = isinstance(error, Refused) and error.bus_code is BusCode.UNAUTHENTICATED
        if not refused or not callable(self._context.options.token) or self._token_retried:
            return False
        self._token_retried = True
        return True

    def _first_failure(
        self, link: BusLink, code: int, reason: str, error: Error | None, now: float, retry_after: float
    ) -> None:
        cause = error or NotConnected(f"{link.url} closed with {code} {reason}")
        if self._first_deadline > now and self._may_ask_for_token(cause):
            self._connect(link.url, now)
            return
        verdict = isinstance(cause, Refused) and not cause.retryable
        if not verdict and self._first_deadline > now and self.addresses.configured_left() > 0:
            self._connect(self.addresses.next(), now)
        elif not verdict and self._context.options.reconnect.retry_first:
            self._retry_first_later(cause, now, retry_after)
        else:
            self.finish(cause, now)

    def _retry_first_later(self, cause: Error, now: float, retry_after: float) -> None:
        context = self._context
        policy = context.options.reconnect
        self._attempt += 1
        left = self._first_deadline - now
        # Half of the remaining time is for the try itself, however long the policy would wait.
        delay = min(policy.delay(self._attempt, context.random()), left / 2)
        delay = max(delay, min(retry_after, MAX_RETRY_AFTER))
        if self._attempt > policy.max_attempts or left < MIN_TRY or delay >= left:
            self.finish(cause, now)
            return
        if self._attempt & (self._attempt - 1) == 0:
            LOG.warning("%s: not connected yet, trying again in %.3g s: %s", context.options.name, delay, cause)
        self.addresses.start_anew()
        self._timer = context.timers.at(now + delay, lambda then: self._connect(self.addresses.next(), then))

    def _retry_later(self, now: float, retry_after: float) -> None:
        context = self._context
        if context.state is State.CONNECTED:
            context.become(State.RECONNECTING)
        url = self.addresses.next()
        self._attempt += 1
        delay = context.options.reconnect.delay(self._attempt, context.random())
        delay = max(delay, min(retry_after, MAX_RETRY_AFTER))
        context.happenings.append(Reconnecting(self._attempt, url, delay))
        self._timer = context.timers.at(now + delay, lambda then: self._connect(url, then))

    def finish(self, reason: Error, now: float) -> None:
        """Ends the client."""
        context = self._context
        if context.state is State.CLOSED:
            return
        self._cancel_timer()
        self._tokens.end()
        move, self.moves.move = self.moves.move, None
        if move is not None:
            move.on(MoveEvent.CLOSED, now)
        link, context.current = context.current, None
        if link is not None:
            context.abort(link)
        self._context.end_reason = reason
        context.become(State.CLOSED)
        self._sender.outbox.closed = self._context.closed_error
        if context.connection is not None:
            context.connection = None
            self._sender.lose()
        why = f"the client was closed before the bus confirmed: {reason}"
        unsent = f"the client was closed before the event was sent: {reason}"
        dropped = self._sender.outbox.abandon(lambda: ConnectionLost(why), lambda: Closed(unsent))
        if dropped:
            context.happenings.append(Dropped(dropped, DropCause.CLOSED))
        self._sender.close()
        self._parts.calls.close(self._context.closed_error)
        for registration in list(self._registry.all.values()):
            if isinstance(registration, ServiceState):
                self._parts.services.abandon(registration)
            asked = isinstance(reason, Closed)
            self._registry.end(registration.id, None if asked else closed("the client is closed", reason))
        for left in context.left:
            context.close_link(left, 1000, "the client is closed")
        context.timers.clear()
        if self.first is not None and not self.first.done():
            self.first.set_exception(reason)
