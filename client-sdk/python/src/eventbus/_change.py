"""One move of a client to another bus: the new connection is made before the old one is given up, so that no event is lost,
doubled or put out of order. docs/protocol.md#change-of-bus has the steps.

``_change_table`` says what is done when; ``Change`` does it. Until LEAVING nothing was taken from the old bus, and whatever fails
leaves the client where it is. Without I/O and without a clock::

    CONNECTING --READY--> SUBSCRIBING --CONFIRMED--> FLUSHING --FLUSHED--> LEAVING
        |                      \\________________________/                     |
        |                         | REFUSED, LATE, TOO_MUCH        SENT and DRAINED, in any order
        |                         v                                           |
        '--- stay --> OVER <-- UNDOING                                        '--> MOVED

When the old connection ends after READY, the client goes on at the new bus (OLD_LOST); when the new one ends after FLUSHED, it
takes what the old bus still has and comes back (NEW_LOST); when both end, there is no connection any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._change_table import TABLE, Phase, What
from ._dispatch import MAX_HELD
from ._errors import Error
from ._flushes import PAUSE
from ._link import Link
from ._timers import Timer, void
from ._wire import MAX_LONG, Barrier, ChangeBus, Welcome

if TYPE_CHECKING:
    from ._machine import Machine

MIN, MAX = 0.1, 300.0
#: How long an application may keep the old connection from being read while it cannot publish.
STALL = 0.1
#: How long a new bus that is given up may take to drain.
UNDO = 2.0
#: How long the new bus may take to show that what it had sent before has come.
OVERTAKE = 2.0
#: So much a bus that knows of credit may send over the new connection until its events are handed on.
STANDBY_CREDIT = MAX_HELD // 4


class Change:
    """See the module. ``machine`` is the client that moves."""

    def __init__(self, machine: Machine, request: ChangeBus, urls: list[str], old: Link, now: float) -> None:
        self._machine = machine
        self.token = request.token
        self.old = old
        self.new: Link | None = None
        self.url = urls[0]
        self._urls = urls
        self.phase = Phase.CONNECTING
        self.why = "none of its addresses can be used"
        #: What the new bus has asked for meanwhile, and when.
        self.next: tuple[ChangeBus, float] | None = None
        self._unconfirmed: set[int] = set()
        # What the new bus was asked for, and what ends it there and here.
        self._served: dict[int, bytes] = {}
        self._undrained: set[int] = set()
        self._leaving: set[int] = set()
        # Whose end the old bus was asked for before the change.
        self._ending: set[int] = set()
        self._has_groups = False
        # The new bus may have given this client what nobody else gets.
        self._is_exclusive = False
        self._barrier = 0
        self._patience = max(MIN, min(MAX, request.deadline_millis / 1000))
        #: When the bus closes a client that has not gone.
        self.until = now + self._patience
        self._waited = 0.0
        self._connecting: Timer | None = None
        self._pause: Timer | None = None
        # Runs while the old bus has drained and the new one is still asked how far it is.
        self._overtaking: Timer | None = None
        # Before the bus closes the old connection there has to be time to stay.
        self._deadline = machine.timers.at(now + self._patience * 0.75, self._on_late)
        self._now = now
        self._connect(now)

    # ---- What happens

    def on(self, what: What, now: float, why: str | None = None) -> bool:
        """The only writer of the phase. Returns whether that changed anything."""
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
        """A bus has greeted this client over the new connection."""
        problem = self._machine.connector.unfit(welcome)
        if problem is not None:
            assert self.new is not None
            self._machine.abort(self.new)
            self._try_next(now, problem)
            return
        if self._connecting is not None:
            self._connecting.cancel()
        self.on(What.READY, now)

    def new_ended(self, now: float, why: str) -> None:
        """The new connection has ended, or never came about."""
        if self.new is not None and self.new.welcome is not None and self.phase is not Phase.CONNECTING:
            if self.phase in (Phase.LEAVING, Phase.SENDING_MOVED, Phase.RECEIVING_MOVED):
                # The subscriptions were in force there, and are not at the old bus any more.
                self._machine.dispatcher.lost()
            self.on(What.NEW_ENDED, now, why)
            self._caught_up(now)
        elif not self.is_over:
            self._try_next(now, why)

    def confirmed(self, id: int, now: float) -> None:
        """A subscription is in force at the new bus, or it has a member of a service."""
        if id in self._unconfirmed:
            self._unconfirmed.discard(id)
            if not self._unconfirmed:
                self.on(What.CONFIRMED, now)

    def refused(self, id: int, error: Error, now: float) -> None:
        """A subscription or service is refused at the new bus."""
        self._served.pop(id, None)
        self.on(What.REFUSED, now, f"it refuses a subscription or service: {error}")

    def new_drained(self, id: int, now: float) -> None:
        """Nothing more comes for a subscription or service at the new bus."""
        if id in self._undrained:
            self._undrained.discard(id)
            if not self._undrained:
                self.on(What.UNDONE, now)

    def old_drained(self, id: int, now: float) -> bool:
        """Nothing more comes for one at the old bus; returns whether this is not its end for the application."""
        if id not in self._leaving:
            return False
        self._leaving.discard(id)
        mine = id not in self._ending
        if not mine:
            self._machine.registry.end(id)
        if not self._leaving:
            self._drained(now)
        return True

    def _drained(self, now: float) -> None:
        """Two connections have no order: what the new bus had sent for a group before the old one was done may not be read yet,
        and would come behind events with higher numbers. The Pong of the new bus comes behind all that."""
        link = self.new
        if self._has_groups and link is not None and not link.over:
            self._overtaking = self._machine.timers.at(now + OVERTAKE, self._caught_up)
            self._machine.ask_behind(link)
        else:
            self._release()
            self.on(What.DRAINED, now)

    def pong(self, now: float) -> None:
        """The new bus has answered: all that it had sent before has come."""
        self._caught_up(now)

    def _caught_up(self, now: float) -> None:
        if self._overtaking is not None:
            self._stop_overtaking()
            self._release()
            self.on(What.DRAINED, now)

    def _stop_overtaking(self) -> None:
        self._cancel(self._overtaking)
        self._overtaking = None

    def echoed(self, id: int, now: float) -> bool:
        """A barrier has come back; returns whether it was asked for here."""
        if id != self._barrier:
            return False
        self._barrier = 0
        self.on(What.FLUSHED, now)
        return True

    def barrier_refused(self, id: int, now: float) -> bool:
        """A barrier was refused; returns whether it was asked for here."""
        if id != self._barrier:
            return False
        self._barrier = 0
        self.on(What.NOT_FLUSHED, now)
        return True

    def _on_too_much(self) -> None:
        self._machine.soon(lambda now: self.on(What.TOO_MUCH, now, "too much came for groups meanwhile"))

    def _on_late(self, now: float) -> None:
        self.on(What.LATE, now, "no connection in time" if self.phase is Phase.CONNECTING else "not done in time")

    def _on_stall(self, now: float) -> None:
        self.on(What.NOT_FLUSHED if self.old.paused else What.FLOWING, now)

    def _on_waited(self, now: float) -> None:
        # What the old bus has is the application's to take, however slowly; it has left for the rest.
        behind = self._machine.is_held_back() and self._waited < MAX
        self.on(What.BEHIND if behind else What.WAITED, now)

    # ---- What is done

    def _try_next(self, now: float, why: str) -> None:
        self.why = why
        if self._connecting is not None:
            self._connecting.cancel()
        self.new = None
        if self._urls:
            self._connect(now)
        else:
            self.on(What.UNREACHABLE, now)

    def _connect(self, now: float) -> None:
        self.url = self._urls.pop(0)
        patience = self._machine.options.connect_timeout
        link = self.new = self._machine.open_link(self.url, now, change=self.token)

        def give_up(then: float) -> None:
            self._machine.abort(link)
            self._try_next(then, f"no answer within {patience:g} s")

        self._connecting = self._machine.timers.at(now + patience, give_up)

    def _ready(self) -> Link:
        assert self.new is not None
        return self.new

    def _subscribe(self) -> None:
        machine = self._machine
        machine.dispatcher.hold(self._on_too_much)
        machine.registry.waiting_control = []
        everything = list(machine.registry.all.values())
        self._ending = {r.id for r in everything if r.ending}
        for registration in everything:
            if registration.ending:
                continue
            self._served[registration.id] = registration.end_frame()
            self._is_exclusive |= registration.is_exclusive
            self._has_groups |= registration.is_exclusive and not registration.is_service
            self._ready().control.append(registration.begin_frame())
        self._unconfirmed = set(self._served)
        if not self._unconfirmed:
            self.on(What.CONFIRMED, self._now)

    def _flush(self) -> None:
        """Nothing more is published at the old bus; it is asked whether it has handed on everything."""
        machine = self._machine
        # protocol.md#credit: not before the subscriptions are confirmed; a bus that does not know it would take it for a
        # sign that the client stays.
        machine.grant(self._ready(), STANDBY_CREDIT)
        machine.outbox.part()
        self._barrier = machine.flushes.take_id()
        # Behind all events, because they wait from now on.
        machine.outbox_farewell = Barrier(self._barrier).frame()
        self._look_later()

    def _look_later(self) -> None:
        self._pause = self._machine.timers.at(self._now + STALL, self._on_stall)

    def _publish_on_for_a_moment(self) -> None:
        self._cancel(self._pause)
        self._forget_barrier()
        self._machine.outbox.stay()
        self._pause = self._machine.timers.at(self._now + PAUSE, lambda now: void(self.on(What.ASK_AGAIN, now)))

    def _leave(self) -> None:
        machine = self._machine
        self._cancel(self._pause)
        # Only the old bus has what is queued there for this client, and answers the calls that are under way; for leaving it
        # gives the whole time again.
        self.until = self._now + self._patience
        self._deadline.cancel()
        self._deadline = machine.timers.at(self.until, self._on_waited)
        self._ending &= machine.registry.all.keys()
        self._leaving = self._served.keys() | self._ending
        self.old.control.extend(self._served[id] for id in sorted(self._served))
        if not self._leaving:
            self._release()
            self.on(What.DRAINED, self._now)
        # On the new connection subscriptions were asked for before; what is published comes behind them.
        self.on(What.SENT, self._now)

    def _move_sending(self) -> None:
        link = self._ready()
        assert link.welcome is not None
        self._machine.limit(link.welcome)
        self._machine.outbox.moved()
        self._machine.sending = link

    def _move_sending_and_finish(self) -> None:
        self._move_sending()
        self._finish()

    def _resume_sending_and_finish(self) -> None:
        link = self._ready()
        assert link.welcome is not None
        self._machine.limit(link.welcome)
        self._machine.resume_sending(link)
        self._finish()

    def _release(self) -> None:
        """From now on the new connection's events are handed on."""
        self._machine.dispatcher.release(True)
        if self.new is not None:
            self.new.standby = False

    def _release_and_finish(self) -> None:
        """The old connection is lost or given up before the bus had drained."""
        self._machine.dispatcher.lost()
        self._release()
        self._finish()

    def _wait_on(self) -> None:
        self._waited += UNDO
        self._deadline = self._machine.timers.at(self._now + UNDO, self._on_waited)

    def _finish(self) -> None:
        self._end()
        self._machine.moves.moved(self, self._served, self._unconfirmed, self._ending, self._now)

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
        self._machine.outbox_farewell = None

    def _go_on(self) -> None:
        """The old connection is lost or given up; what it had not confirmed is sent again."""
        self._end()
        self._machine.dispatcher.lost()
        self.old.abandoned = True
        self._release()
        self._machine.lose_sending()
        self.on(What.SENT, self._now)

    def _lose_sending(self) -> None:
        self._machine.lose_sending()

    def _undo(self) -> None:
        """Nothing was taken from the old bus; what the new one has for groups no other member gets."""
        machine = self._machine
        machine.outbox.stay()
        self._forget_barrier()
        self._cancel(self._pause)
        if not self._is_exclusive or not self._served:
            self.on(What.UNDONE, self._now)
            return
        machine.dispatcher.hold_groups_only()
        link = self._ready()
        machine.grant(link, MAX_LONG)
        self._undrained = set(self._served)
        link.control.extend(self._served[id] for id in sorted(self._served))
        self._pause = machine.timers.at(self._now + UNDO, lambda now: void(self.on(What.UNDONE, now)))

    def _stay_unbegun(self) -> None:
        self._end()
        self._drop_new("the client stays at its bus")
        self._machine.moves.stayed(self)

    def _stay(self) -> None:
        self._end()
        if self._undrained or (self.new is not None and self.new.over):
            self._lose_groups()
        self._drop_new("the client stays at its bus")
        self._machine.outbox.stay()
        self._machine.dispatcher.release(False)
        self._machine.registry.say_waiting(self.old)
        self._machine.moves.stayed(self)

    def _lose_groups(self) -> None:
        """What the new bus had for groups is lost with it. The subscriptions are in force at the old one all the time."""
        dispatcher = self._machine.dispatcher
        for id in sorted(self._served):
            subscription = dispatcher.subscriptions.get(id)
            if subscription is not None and subscription.is_exclusive:
                dispatcher.away(subscription)
                dispatcher.back(subscription)

    def _come_back(self, sending: bool = False) -> None:
        """The new bus is lost after the old one was left: what it had is lost with it."""
        machine = self._machine
        self._end()
        self._drop_new("")
        machine.dispatcher.release(True)
        if sending:
            machine.resume_sending(self.old)
        else:
            machine.outbox.stay()
        assert self.old.welcome is not None
        machine.calls.connected(self.old.welcome)
        machine.registry.waiting_control = None
        machine.registry.ask_again(self.old, self._now)
        machine.moves.stayed(self)

    def _come_back_sending(self) -> None:
        self._come_back(sending=True)

    def _drop_new(self, reason: str) -> None:
        if self.new is not None:
            self._machine.moves.leave(self.new, reason, self.until)

    def _drop(self) -> None:
        self._end()
        self._drop_new("the client stays at its bus")
        self._machine.dispatcher.release(True)
        self._machine.registry.waiting_control = None
        self._machine.outbox.stay()

    def _lose_both(self) -> None:
        self._drop()
        self._machine.moves.lost_both(self.why, self._now)
