"""The client without I/O: connects, reconnects, moves, gives up. Time is an argument, in seconds of any monotonic clock.

Its driver calls it with input (``opened``, ``receive``, ``heard``, ``closed``, ``tick``) and then takes its output:
``commands``, ``outgoing`` of each link until that is None, ``happenings``, and ``tick`` again at ``wake_at``. If
there is output without an input, it calls ``wake``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from .._api.errors import Closed, Error, Refused
from .._api.happenings import Counters, Disconnected, State
from .._api.options import Options
from .._base.bus_link import BusLink
from .._base.commands import Abort, AskToken, Close
from .._base.context import ClientContext
from .._calls.pending_calls import PendingCalls
from .._calls.services import Services
from .._durable.consumers import Consumers
from .._inbound.credit_control import CreditControl
from .._inbound.dispatcher import Dispatcher
from .._inbound.subscription_state import SubscriptionState
from .._outbound.sender import Sender
from .._wire.codec import MAX_LONG, Malformed, Reader, frames
from .._wire.durable_frames import Feed
from .._wire.records import DELIVER, Authenticate, BusCode, Hello
from .connector import Connector
from .frame_dispatcher import FrameDispatcher
from .outgoing import Outgoing
from .parts import ClientParts
from .registry import Registry
from .tokens import TokenRefresh

LOG = logging.getLogger("eventbus")


class Machine(ClientContext):
    """See the module."""

    def __init__(self, options: Options, agent: str, random: Callable[[], float], nanos: Callable[[], int]) -> None:
        super().__init__(options, random, nanos)
        self._agent = agent
        self.sender = Sender(self)
        self.outbox = self.sender.outbox
        self.dispatcher = Dispatcher(
            options.tracked_producers, self.happenings.append, lambda: nanos() // 1000, self._on_too_slow
        )
        self._credit = CreditControl(self, self.dispatcher)
        self.registry = Registry(
            self, self.sender, self.dispatcher, lambda: self.moves.move is not None,
            lambda link, reason, now: self.connector.give_up(link, reason, now),
        )  # fmt: skip
        self.services = Services(self, self.registry.all)
        self.consumers = Consumers(self, self.registry.all)
        self.calls = PendingCalls(self, self.services)
        self.tokens = TokenRefresh(
            self.timers, lambda: nanos() // 1000, random, lambda n: self.commands.append(AskToken(n)), self._send_token,
            self.happenings.append,
        )  # fmt: skip
        parts = ClientParts(
            self, self.sender, self.dispatcher, self._credit, self.registry, self.calls, self.services, self.consumers,
            self.tokens,
        )  # fmt: skip
        self.connector = Connector(parts)
        self.moves = self.connector.moves
        self._frames = FrameDispatcher(parts, self.connector)
        self._outgoing = Outgoing(self, self.sender, self.calls, self.services)
        #: Number of exceptions of the application's handlers.
        self.handler_failures = 0

    def drain(self, now: float) -> None:
        """Accepts nothing new, and ends all subscriptions and services; buffered events are still sent."""
        if self.state in (State.CONNECTED, State.RECONNECTING):
            self.become(State.DRAINING)
        if self.outbox.closed is None:
            self.outbox.closed = self.closed_error
        self.calls.drain(None, self.closed_error)
        for registration in list(self.registry.all.values()):
            self.registry.unsubscribe(registration, now)
        if self.current is not None and self.current.welcome is not None:
            # Drained comes behind deliveries that wait for credit.
            self.current.grant(MAX_LONG)
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
            move = self.moves.move
            if move is not None and move.new is not None and not move.new.standby and not move.is_over:
                link = move.new
            paused, work = link.paused, len(link.control)
            self._credit.update(link, None)
            if link.paused != paused or len(link.control) != work:
                self.wake()

    def malformed(self, link: BusLink, error: Malformed) -> None:
        """Closes a connection whose event turned out to be malformed when it was taken."""
        if not link.over and not link.broken:
            self._refuse(link, error)
            self.wake()

    def counters(self) -> Counters:
        """Returns figures since the client was made."""
        out, dispatcher, consumers = self.outbox, self.dispatcher, self.consumers
        return Counters(
            out.published, out.confirmed, out.resent, out.dropped_full, out.indeterminate, out.messages,
            dispatcher.received + consumers.received, dispatcher.duplicates + consumers.duplicates, dispatcher.missing,
            self.handler_failures, self.connector.reconnects, self.moves.moves, out.topics, out.used,
            dispatcher.bytes + consumers.bytes, dispatcher.interruptions,
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
            self._agent,
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

    def _send_token(self, link: BusLink, token: str) -> None:
        link.control.append(Authenticate(token, self.options.user).frame())

    def heard(self, link: BusLink, now: float, behind: bool = False) -> None:
        """Handles a sign of life other than a message; ``behind``: the Pong to a Ping with this flag."""
        link.heard_at = now
        move = self.moves.move
        if behind and move is not None and link is move.new:
            move.pong(now)

    def tick(self, now: float) -> None:
        """Runs due timers."""
        self.timers.run(now)

    def wake_at(self) -> float | None:
        """Returns the time of the next ``tick``; None for none."""
        return self.timers.wake_at()

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
                    self._frames.take_call(link, code, Reader(message, body, end), now)
                elif code == DELIVER and link.welcome is not None:
                    link.credit.count(end - start)
                    delivery = self.dispatcher.read(message, start, body, end, link)
                    if link.standby:
                        self.dispatcher.hold_delivery(delivery)
                    else:
                        self.dispatcher.deliver(delivery)
                elif link.welcome is None:
                    self.connector.greet(link, code, Reader(message, body, end), now)
                elif code == Feed.CODE:
                    self.consumers.feed(link, Feed.read(Reader(message, body, end)), end - start)
                else:
                    self._frames.take(link, code, Reader(message, body, end), now)
                if link.over or link.broken:
                    return
        except Malformed as e:
            self._refuse(link, e)
        if link.welcome is not None and link.left is None:
            self._credit.update(link, now)

    def closed(
        self, link: BusLink, code: int, reason: str, error: Error | None, now: float, retry_after: float = 0.0
    ) -> None:
        """Handles the end of a connection, or of a try to connect; ``error`` is the reason."""
        was_over, link.over = link.over, True
        self.services.lost(link, now)
        self.calls.lost(link, now)
        self.consumers.closed(link)
        self.left.discard(link)
        move = self.moves.move
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

    def outgoing(self, link: BusLink, now: float) -> bytes | None:
        """Takes the next message for a link; None for none. ``Sender.sent`` has to follow."""
        return self._outgoing.take(link, now)

    def _on_too_slow(self, subscription: SubscriptionState) -> None:
        """Closes the connection with 4001, as the bus would, because a subscription under DISCONNECT is too slow."""
        self.soon(lambda now: self._end_too_slow(subscription, now))

    def _end_too_slow(self, subscription: SubscriptionState, now: float) -> None:
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

    def _refuse(self, link: BusLink, error: Malformed) -> None:
        LOG.warning("%s sent a frame that is malformed: %s", link.url, error)
        link.refusal = Refused(BusCode.MALFORMED, f"the bus sent: {error}", True)
        link.broken = True
        if link.welcome is None:
            self.commands.append(Abort(link))
        else:
            self.commands.append(Close(link, 1007, str(error).encode()[:120].decode(errors="ignore")))
