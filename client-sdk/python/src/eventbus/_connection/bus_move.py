"""A move of a client to another bus: the new connection is made before the old one is given up, so that no event is lost,
doubled or put out of order. docs/protocol.md#client-moves has the steps.

``_move_table`` decides, ``BusMove`` acts. Until LEAVING the old bus keeps everything, and any failure leaves the
client there. Without I/O and without a clock::

    CONNECTING --READY--> SUBSCRIBING --CONFIRMED--> FLUSHING --FLUSHED--> LEAVING
        |                      \\________________________/                     |
        |                         | REFUSED, LATE, TOO_MUCH        SENT and DRAINED, in any order
        |                         v                                           |
        '--- stay --> OVER <-- UNDOING                                        '--> MOVED

If the old connection ends after READY, the client stays at the new bus (OLD_LOST); if the new one ends after FLUSHED,
it receives the rest of the old bus and comes back (NEW_LOST); if both end, there is no connection any more.
"""

from __future__ import annotations

from typing import Protocol

from .._api.errors import Error
from .._base.bus_link import BusLink
from .._base.timers import Timer, void
from .._inbound.dispatcher import MAX_HELD
from .._inbound.subscription_state import SubscriptionState
from .._outbound.barriers import RETRY_DELAY
from .._wire.codec import MAX_LONG
from .._wire.records import Barrier, ChangeBus, Welcome
from .move_table import TABLE, MoveEvent, Phase
from .parts import ClientParts

MIN, MAX = 0.1, 300.0
#: Time for which a stalled application may stop reading of the old connection while it cannot publish, in seconds.
MAX_STALL = 0.1
#: Time for a new bus that is given up to drain, in seconds.
UNDO_TIMEOUT = 2.0
#: Timeout for the Pong of the new bus that comes behind all it had sent before, in seconds.
OVERTAKE_TIMEOUT = 2.0
#: Credit of the new bus until its events are delivered, in bytes.
STANDBY_CREDIT = MAX_HELD // 4


class MoveOwner(Protocol):
    """Owner of moves, told about their outcome."""

    def unfit(self, welcome: Welcome) -> str | None:
        """Returns the reason why the client cannot move to a bus; None if it can."""
        ...

    def moved(
        self, move: BusMove, served: dict[int, bytes], unconfirmed: set[int], ending: set[int], now: float
    ) -> None:
        """Makes the new connection the client's; ``served``: registrations requested there, with the frames that end
        them.

        ``unconfirmed``: those that the new bus has not confirmed, if the old one was lost first. ``ending``: those whose
        end the old bus was asked for before the move.
        """
        ...

    def stayed(self, move: BusMove) -> None:
        """Handles a failed move: the client stays."""
        ...

    def lost_both(self, why: str, now: float) -> None:
        """Handles the loss of both connections."""
        ...


class BusMove:
    """See the module."""

    def __init__(
        self, parts: ClientParts, owner: MoveOwner, request: ChangeBus, urls: list[str], old: BusLink, now: float
    ) -> None:
        self._context = parts.context
        self._sender = parts.sender
        self._parts = parts
        self._owner = owner
        self.token = request.token
        self.old = old
        self.new: BusLink | None = None
        self.url = urls[0]
        self._urls = urls
        self.phase = Phase.CONNECTING
        self.why = "none of its addresses can be used"
        #: Move that the new bus has requested meanwhile, and its time.
        self.next: tuple[ChangeBus, float] | None = None
        self._unconfirmed: set[int] = set()
        # Registrations requested from the new bus, with the frames that end them.
        self._served: dict[int, bytes] = {}
        self._undrained: set[int] = set()
        self._leaving: set[int] = set()
        # Registrations whose end the old bus was asked for before the move.
        self._ending: set[int] = set()
        self._has_groups = False
        # Set if the new bus may have sent events or requests that no other client gets.
        self._is_exclusive = False
        self._barrier = 0
        self._timeout = max(MIN, min(MAX, request.deadline_millis / 1000))
        #: Time at which the bus closes a client that has not moved.
        self.until = now + self._timeout
        self._waited = 0.0
        self._connecting: Timer | None = None
        self._pause: Timer | None = None
        # Runs while the old bus has drained and the Pong of the new one is awaited.
        self._overtaking: Timer | None = None
        # Leaves time to stay before the bus closes the old connection.
        self._deadline = self._context.timers.at(now + self._timeout * 0.75, self._on_late)
        self._now = now
        self._connect(now)

    # ---- Events

    def on(self, what: MoveEvent, now: float, why: str | None = None) -> bool:
        """Makes a step of the table; nothing else writes the phase. Returns whether it changed anything."""
        step = TABLE.get((self.phase, what))
        if step is None:
            return False
        if why is not None:
            self.why = why
        self._now = now
        action, self.phase = step
        if action is not None:
            getattr(self, "_" + action)()
        return True

    @property
    def is_over(self) -> bool:
        return self.phase in (Phase.MOVED, Phase.OVER)

    def welcomed(self, welcome: Welcome, now: float) -> None:
        """Handles the Welcome over the new connection."""
        problem = self._owner.unfit(welcome)
        if problem is not None:
            assert self.new is not None
            self._context.abort(self.new)
            self._try_next(now, problem)
            return
        if self._connecting is not None:
            self._connecting.cancel()
        self.on(MoveEvent.READY, now)

    def new_ended(self, now: float, why: str) -> None:
        """Handles the end of the new connection, or a failed try to make it."""
        if self.new is not None and self.new.welcome is not None and self.phase is not Phase.CONNECTING:
            if self.phase in (Phase.LEAVING, Phase.SENDING_MOVED, Phase.RECEIVING_MOVED):
                # The subscriptions were in force there, and no longer are at the old bus.
                self._parts.dispatcher.lost()
            self.on(MoveEvent.NEW_ENDED, now, why)
            self._caught_up(now)
        elif not self.is_over:
            self._try_next(now, why)

    def confirmed(self, id: int, now: float) -> None:
        """Handles the confirmation of a subscription or service by the new bus."""
        if id in self._unconfirmed:
            self._unconfirmed.discard(id)
            if not self._unconfirmed:
                self.on(MoveEvent.CONFIRMED, now)

    def refused(self, id: int, error: Error, now: float) -> None:
        """Handles the refusal of a subscription or service by the new bus."""
        self._served.pop(id, None)
        self.on(MoveEvent.REFUSED, now, f"it refuses a subscription or service: {error}")

    def new_drained(self, id: int, now: float) -> None:
        """Handles the end of a subscription or service at the new bus."""
        if id in self._undrained:
            self._undrained.discard(id)
            if not self._undrained:
                self.on(MoveEvent.UNDONE, now)

    def old_drained(self, id: int, now: float) -> bool:
        """Handles the end of a subscription or service at the old bus; returns whether it lives on at the new one."""
        if id not in self._leaving:
            return False
        self._leaving.discard(id)
        mine = id not in self._ending
        if not mine:
            self._parts.registry.end(id)
        if not self._leaving:
            self._drained(now)
        return True

    def _drained(self, now: float) -> None:
        """Waits until everything is read that the new bus had sent for groups before the old one was drained: two
        connections have no order, and those events would come behind others with higher numbers. The Pong of the new bus
        comes behind them."""
        link = self.new
        if self._has_groups and link is not None and not link.over:
            self._overtaking = self._context.timers.at(now + OVERTAKE_TIMEOUT, self._caught_up)
            self._context.fence(link)
        else:
            self._release()
            self.on(MoveEvent.DRAINED, now)

    def pong(self, now: float) -> None:
        """Handles the Pong of the new bus: everything that it had sent before was read."""
        self._caught_up(now)

    def _caught_up(self, now: float) -> None:
        if self._overtaking is not None:
            self._stop_overtaking()
            self._release()
            self.on(MoveEvent.DRAINED, now)

    def _stop_overtaking(self) -> None:
        self._cancel(self._overtaking)
        self._overtaking = None

    def echoed(self, id: int, now: float) -> bool:
        """Handles the answer to a barrier; returns whether it belongs to this move."""
        if id != self._barrier:
            return False
        self._barrier = 0
        self.on(MoveEvent.FLUSHED, now)
        return True

    def barrier_refused(self, id: int, now: float) -> bool:
        """Handles the refusal of a barrier; returns whether it belongs to this move."""
        if id != self._barrier:
            return False
        self._barrier = 0
        self.on(MoveEvent.NOT_FLUSHED, now)
        return True

    def _on_too_much(self) -> None:
        self._context.soon(lambda now: self.on(MoveEvent.TOO_MUCH, now, "too much came for groups meanwhile"))

    def _on_late(self, now: float) -> None:
        self.on(MoveEvent.LATE, now, "no connection in time" if self.phase is Phase.CONNECTING else "not done in time")

    def _on_stall(self, now: float) -> None:
        self.on(MoveEvent.NOT_FLUSHED if self.old.paused else MoveEvent.FLOWING, now)

    def _on_waited(self, now: float) -> None:
        # Waits on while the application is stalled: the rest of the old bus belongs to it.
        behind = self._parts.credit.is_stalled() and self._waited < MAX
        self.on(MoveEvent.BEHIND if behind else MoveEvent.WAITED, now)

    # ---- Actions

    def _try_next(self, now: float, why: str) -> None:
        self.why = why
        if self._connecting is not None:
            self._connecting.cancel()
        self.new = None
        if self._urls:
            self._connect(now)
        else:
            self.on(MoveEvent.UNREACHABLE, now)

    def _connect(self, now: float) -> None:
        self.url = self._urls.pop(0)
        timeout = self._context.options.connect_timeout
        link = self.new = self._context.open_link(self.url, now, move_token=self.token)

        def give_up(then: float) -> None:
            self._context.abort(link)
            self._try_next(then, f"no answer within {timeout:g} s")

        self._connecting = self._context.timers.at(now + timeout, give_up)

    def _ready(self) -> BusLink:
        assert self.new is not None
        return self.new

    def _subscribe(self) -> None:
        self._parts.dispatcher.hold(self._on_too_much)
        self._parts.registry.waiting_control = []
        everything = list(self._parts.registry.all.values())
        welcome = self._ready().welcome
        assert welcome is not None
        self._ending = {r.id for r in everything if r.ending}
        for registration in everything:
            if registration.ending or registration.lacks(welcome) is not None:
                continue
            self._served[registration.id] = registration.end_frame()
            self._is_exclusive |= registration.is_exclusive
            self._has_groups |= registration.is_exclusive and isinstance(registration, SubscriptionState)
            self._ready().control.append(registration.begin_frame())
        self._unconfirmed = set(self._served)
        if not self._unconfirmed:
            self.on(MoveEvent.CONFIRMED, self._now)

    def _flush(self) -> None:
        """Stops publishing at the old bus, and asks it whether it has delivered everything."""
        # protocol.md#credit: only after the subscriptions are confirmed; a bus without credit would take the frame
        # for a sign that the client stays.
        self._ready().grant(STANDBY_CREDIT)
        self._sender.outbox.pause()
        self._barrier = self._sender.flushes.next_id()
        # Behind all events, because they are paused from now on.
        self._sender.move_barrier = Barrier(self._barrier).frame()
        self._check_later()

    def _check_later(self) -> None:
        self._pause = self._context.timers.at(self._now + MAX_STALL, self._on_stall)

    def _postpone_flush(self) -> None:
        self._cancel(self._pause)
        self._forget_barrier()
        self._sender.outbox.resume()
        self._pause = self._context.timers.at(
            self._now + RETRY_DELAY, lambda now: void(self.on(MoveEvent.ASK_AGAIN, now))
        )

    def _leave(self) -> None:
        self._cancel(self._pause)
        # Only the old bus has the events queued there for this client and the answers to calls under way; it gives
        # the whole deadline again for leaving.
        self.until = self._now + self._timeout
        self._deadline.cancel()
        self._deadline = self._context.timers.at(self.until, self._on_waited)
        self._ending &= self._parts.registry.all.keys()
        self._leaving = self._served.keys() | self._ending
        self._parts.consumers.leave(self.old)
        for id in sorted(self._served):
            registration = self._parts.registry.all.get(id)
            self.old.control.append(self._served[id] if registration is None else registration.last_frames())
        if not self._leaving:
            self._release()
            self.on(MoveEvent.DRAINED, self._now)
        # Over the new connection subscriptions were sent before; events come behind them.
        self.on(MoveEvent.SENT, self._now)

    def _move_sending(self) -> None:
        link = self._ready()
        assert link.welcome is not None
        self._parts.limit(link.welcome)
        self._sender.outbox.moved()
        self._sender.link = link

    def _move_sending_and_finish(self) -> None:
        self._move_sending()
        self._finish()

    def _resume_sending_and_finish(self) -> None:
        link = self._ready()
        assert link.welcome is not None
        self._parts.limit(link.welcome)
        self._sender.resume(link)
        self._finish()

    def _release(self) -> None:
        """Delivers the held events, and from now on those of the new connection."""
        self._parts.dispatcher.release(True)
        if self.new is not None:
            self.new.standby = False

    def _release_and_finish(self) -> None:
        """Finishes after the old connection was lost or given up before its bus had drained."""
        self._parts.dispatcher.lost()
        self._release()
        self._finish()

    def _wait_on(self) -> None:
        self._waited += UNDO_TIMEOUT
        self._deadline = self._context.timers.at(self._now + UNDO_TIMEOUT, self._on_waited)

    def _finish(self) -> None:
        self._end()
        self._owner.moved(self, self._served, self._unconfirmed, self._ending, self._now)

    def _end(self) -> None:
        self._deadline.cancel()
        self._stop_overtaking()
        self._cancel(self._pause)
        self._cancel(self._connecting)
        self._forget_barrier()

    @staticmethod
    def _cancel(timer: Timer | None) -> None:
        if timer is not None:
            timer.cancel()

    def _forget_barrier(self) -> None:
        self._barrier = 0
        self._sender.move_barrier = None

    def _go_on(self) -> None:
        """Moves at once after the old connection was lost or given up; unconfirmed events are sent again."""
        self._end()
        self._parts.dispatcher.lost()
        self.old.abandoned = True
        self._release()
        self._sender.lose()
        self.on(MoveEvent.SENT, self._now)

    def _lose_sending(self) -> None:
        self._sender.lose()

    def _undo(self) -> None:
        """Gives up the new connection. The old bus has kept everything; events and requests that the new one has for
        groups and services are drained, because no other member gets them."""
        self._sender.outbox.resume()
        self._forget_barrier()
        self._cancel(self._pause)
        if not self._is_exclusive or not self._served:
            self.on(MoveEvent.UNDONE, self._now)
            return
        self._parts.dispatcher.hold_groups_only()
        link = self._ready()
        link.grant(MAX_LONG)
        self._undrained = set(self._served)
        self._parts.consumers.leave(link)
        link.control.extend(self._served[id] for id in sorted(self._served))
        self._pause = self._context.timers.at(
            self._now + UNDO_TIMEOUT, lambda now: void(self.on(MoveEvent.UNDONE, now))
        )

    def _stay_unbegun(self) -> None:
        self._end()
        self._drop_new("the client stays at its bus")
        self._owner.stayed(self)

    def _stay(self) -> None:
        self._end()
        if self._undrained or (self.new is not None and self.new.over):
            self._lose_groups()
        self._drop_new("the client stays at its bus")
        self._sender.outbox.resume()
        self._parts.dispatcher.release(False)
        self._parts.registry.send_waiting(self.old)
        self._owner.stayed(self)

    def _lose_groups(self) -> None:
        """Reports an interruption of groups, whose events at the new bus are lost. The subscriptions stay in force at the
        old one."""
        dispatcher = self._parts.dispatcher
        for id in sorted(self._served):
            subscription = dispatcher.subscriptions.get(id)
            if subscription is not None and subscription.is_exclusive:
                dispatcher.begin_interruption(subscription)
                dispatcher.end_interruption(subscription)

    def _come_back(self, sending: bool = False) -> None:
        """Comes back to the old bus after it was left, because the new bus and all it had are lost."""
        self._end()
        self._drop_new("")
        self._parts.dispatcher.release(True)
        if sending:
            self._sender.resume(self.old)
        else:
            self._sender.outbox.resume()
        assert self.old.welcome is not None
        self._parts.calls.connected(self.old.welcome)
        self._parts.registry.waiting_control = None
        self._parts.registry.begin_all(self.old, self._now)
        self._owner.stayed(self)

    def _come_back_sending(self) -> None:
        self._come_back(sending=True)

    def _drop_new(self, reason: str) -> None:
        if self.new is not None:
            self._context.leave(self.new, reason, self.until)

    def _drop(self) -> None:
        self._end()
        self._drop_new("the client stays at its bus")
        self._parts.dispatcher.release(True)
        self._parts.registry.waiting_control = None
        self._sender.outbox.resume()

    def _lose_both(self) -> None:
        self._drop()
        self._owner.lost_both(self.why, self._now)
