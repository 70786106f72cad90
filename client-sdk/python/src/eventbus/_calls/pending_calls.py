"""Requests of a client without an outcome, over all its connections. Part of the core: without I/O or a clock.

A request is kept here from beginning to end, and sent whenever there is a connection. Only an answer over the
connection that the request was sent over counts; so late answers over an abandoned connection change nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from .._api.answers import Response
from .._api.call_event import event_of
from .._api.call_options import MAX, CallOptions
from .._api.errors import BusLost, CallFailed, Cancelled, DeadlineExceeded, Error, IllegalTopic, NotServed, Overloaded
from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._base.timers import Timer
from .._base.waiters import Waiter, fail, succeed
from .._wire.call_frames import AROUND_CALL, Cancel, Execution, Failure, Reply
from .._wire.records import Welcome
from .._wire.topics import service_problem
from .call import Call, RequestState
from .failures import failure_error
from .services import Services

#: Minimum interval of checks of deadlines, in seconds.
MIN_CHECK = 0.005


class PendingCalls:
    """See the module. ``services`` sends frames about calls."""

    def __init__(self, context: ClientContext, services: Services) -> None:
        self._context = context
        self._services = services
        # Bound of requests that are not sent, or may be sent again.
        self._max_bytes = context.options.call_buffer_bytes
        self.used = 0
        self.made = 0
        self._calls: dict[int, Call] = {}
        self._waiting: dict[int, Call] = {}
        self._drained: list[Waiter] = []
        # Name of the current bus, if it has no services; else None.
        self._unserved: str | None = None
        self._closed: Callable[[], Error] | None = None
        # Shared by all requests, so that one that is answered in time sets and cancels no timer.
        self._timer: Timer | None = None

    # ---- Callers

    def request(
        self, service: str, event: bytes, schema: int, options: CallOptions, waiter: Waiter, now: float
    ) -> Call:
        """Begins a request; ``event`` is of ``Outbox.encode_for_call``. Raises IllegalTopic, Overloaded, NotServed,
        Closed."""
        problem = service_problem(service)
        if problem is not None:
            raise IllegalTopic(problem)
        if self._closed is not None:
            raise self._closed()
        if self._unserved is not None:
            raise self._not_served(self._unserved, service, Execution.NO)
        cost = Call.cost(event)
        if self.used + cost > self._max_bytes:
            raise Overloaded(
                f"the requests that wait in this client take {self.used} bytes, and this one {cost} "
                f"(expected: at most {self._max_bytes} together, call_buffer_bytes)",
                Execution.NO,
                retryable=True,
            )
        self.made += 1
        call = Call(self.made, service, options, event, schema, now + options.timeout, waiter)
        self.used += call.charged
        self._calls[call.number] = self._waiting[call.number] = call
        self._watch(call.deadline)
        self._context.wake()
        return call

    @staticmethod
    def _not_served(bus: str, service: str, executed: Execution) -> NotServed:
        text = f"the bus {bus} has no services: the request to {service} is not sent"
        return NotServed("UNSUPPORTED", text, executed)

    def cancel(self, call: Call, why: str) -> None:
        """Cancels a request; tells its waiter, unless that has gone."""
        if call.state is RequestState.DONE:
            return
        executed, link = call.executed(), call.link
        self._end(call)
        if link is not None:
            self._services.send(link, Cancel(call.number).frame())
        fail(call.waiter, Cancelled(why, executed, retryable=call.is_safe(executed)))

    # ---- Output

    def has_work(self) -> bool:
        """Returns whether requests wait to be sent."""
        return bool(self._waiting)

    def take(self, link: BusLink, room: int, out: list[bytes], now: float) -> int:
        """Adds requests to a message with that much room, at least one if it is empty; returns the remaining room."""
        while self._waiting:
            call = next(iter(self._waiting.values()))
            if out and len(call.body) + AROUND_CALL > room:
                break
            del self._waiting[call.number]
            if call.deadline <= now:
                # Timed out: the timer will settle it.
                continue
            frame = call.send(link, now)
            if not call.is_retryable():
                self._release_body(call)
            out.append(frame)
            room -= len(frame)
        return room

    def _release_body(self, call: Call) -> None:
        self.used -= call.charged
        call.charged, call.body = 0, b""

    def _end(self, call: Call) -> None:
        if call.pause is not None:
            call.pause.cancel()
        link = call.link
        call.become(RequestState.DONE)
        self._release_body(call)
        del self._calls[call.number]
        self._waiting.pop(call.number, None)
        if link is not None and link.left is not None:
            self._context.close_if_quiet(link)
        if self._drained and not self._calls:
            for waiter in self._drained:
                succeed(waiter, None)
            self._drained.clear()

    def _fail(self, call: Call, error: CallFailed) -> None:
        self._end(call)
        fail(call.waiter, error)

    def _send_again(self, call: Call) -> None:
        call.become(RequestState.WAITING)
        self._waiting[call.number] = call
        self._context.wake()

    # ---- Answers of the bus

    def reply(self, link: BusLink, reply: Reply) -> None:
        """Handles an answer."""
        call = self._calls.get(reply.call)
        if call is not None and call.link is link:
            self._end(call)
            event = event_of(reply.event, reply.schema)
            succeed(call.waiter, Response(event, reply.member, reply.queued_micros / 1e6, reply.handled_micros / 1e6))

    def failed(self, link: BusLink, failure: Failure, now: float) -> None:
        """Handles a failure: sends the request again, if its policy and its deadline allow it."""
        call = self._calls.get(failure.call)
        if call is None or call.link is not link:
            return
        executed = failure.executed
        if call.maybe_executed and executed is Execution.NO:
            # NO speaks only of this try: an earlier one may have been executed.
            executed = Execution.UNKNOWN
        error = failure_error(call.service, failure, executed, call.is_safe(executed))
        policy = call.options.policy(executed, error.retry_after)
        # A sum, because the longer of both would bring all requests that were refused together back together.
        delay = error.retry_after + policy.delay(call.repetitions + 1, self._context.random())
        helps = error.retryable and not isinstance(error, (DeadlineExceeded, Cancelled))
        if not helps or call.repetitions + 1 >= policy.attempts or now + delay >= call.deadline:
            self._fail(call, error)
            return
        call.repetitions += 1
        call.attempt += 1
        call.maybe_executed |= executed is not Execution.NO
        call.become(RequestState.PAUSING)
        if link.left is not None:
            self._context.close_if_quiet(link)
        call.pause = self._context.timers.at(now + delay, lambda _: self._send_again(call))

    # ---- Connections

    def connected(self, welcome: Welcome) -> None:
        """Sends requests over a connection from now on."""
        self._unserved = None if welcome.calls > 0 else welcome.bus
        most = welcome.limits.message_bytes - AROUND_CALL
        for call in list(self._calls.values()):
            if call.state not in (RequestState.WAITING, RequestState.PAUSING):
                continue
            if self._unserved is not None:
                self._fail(call, self._not_served(self._unserved, call.service, call.executed()))
            elif len(call.body) > most:
                text = f"the bus {welcome.bus} takes smaller events than that of the request to {call.service}"
                self._fail(call, NotServed("TOO_BIG", f"{text} (expected: at most {most} bytes)", call.executed()))

    def lost(self, link: BusLink, now: float) -> None:
        """Handles the loss of a connection."""
        for call in [call for call in self._calls.values() if call.link is link]:
            self._lost(call, now)

    def _lost(self, call: Call, now: float) -> None:
        if call.options.idempotent and call.deadline > now:
            call.attempt += 1
            call.maybe_executed = True
            self._send_again(call)
            return
        what = f"the connection was lost before {call.service} answered: the request may or may not have been executed"
        self._fail(call, BusLost(what, Execution.UNKNOWN))

    # ---- Deadlines

    def _watch(self, due: float) -> None:
        if self._timer is not None and self._timer.at <= due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._context.timers.at(due, self._expire)

    def _expire(self, now: float) -> None:
        self._timer = None
        due = now + MAX + 1
        for call in list(self._calls.values()):
            if call.due() <= now:
                self._late(call)
            if call.state is not RequestState.DONE:
                due = min(due, call.due())
        if self._calls:
            self._watch(max(due, now + MIN_CHECK))

    def _late(self, call: Call) -> None:
        executed = call.executed()
        unsent = "" if call.state is RequestState.SENT else ": the request was not sent in time"
        text = f"{call.service} did not answer within {call.options.timeout:g} s{unsent}"
        self._fail(call, DeadlineExceeded(text, executed, retryable=call.is_safe(executed)))

    # ---- The end

    def drain(self, waiter: Waiter | None, error: Callable[[], Error]) -> None:
        """Takes no more requests; the waiter is told when all have their outcome."""
        self._closed = error
        if waiter is not None:
            if self._calls:
                self._drained.append(waiter)
            else:
                succeed(waiter, None)

    def close(self, error: Callable[[], Error]) -> None:
        """Fails all requests, because the client has ended."""
        self._closed = error
        for call in list(self._calls.values()):
            self.cancel(call, f"{error()}, before {call.service} answered")
        if self._timer is not None:
            self._timer.cancel()
