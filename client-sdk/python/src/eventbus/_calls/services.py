"""The services of a client: their requests that wait and that are worked on. Part of the core: without I/O or a clock.

A request occupies a slot while its handler runs; there are as many as the service has concurrency, whichever
connections the requests come over. Requests without a slot wait, bounded in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .._base.bus_link import BusLink
from .._base.context import ClientContext
from .._base.registration import Registration
from .._base.waiters import Waiter, succeed
from .._wire.call_frames import CallKind, Failure, FailureCode, Invoke, Reply
from .failures import not_begun
from .service_state import ReceivedRequest, ServiceState

#: Bytes of waiting answers above which no more handlers start.
MAX_ANSWER_BYTES = 4 << 20


class Services:
    """See the module. ``registrations`` has the services by their ids, among others."""

    def __init__(self, context: ClientContext, registrations: Mapping[int, Registration]) -> None:
        self._context = context
        self._registrations = registrations
        # Unanswered requests, by connection and number of the call.
        self._received: dict[BusLink, dict[int, ReceivedRequest]] = {}
        #: Bytes of answers that wait to be sent, of all connections.
        self.answer_bytes = 0
        # Services that start no handler until these are sent.
        self._paused: set[ServiceState] = set()

    # ---- Output

    def send(self, link: BusLink, frame: bytes) -> None:
        """Sends a frame about a call, over its connection."""
        if not link.over:
            link.answers.append(frame)
            self.answer_bytes += len(frame)
            self._context.wake()

    def take(self, link: BusLink, room: int, out: list[bytes], now: float) -> int:
        """Adds answers to a message with that much room, at least one if it is empty; returns the remaining room."""
        answers = link.answers
        while answers and (not out or len(answers[0]) <= room):
            out.append(answers.popleft())
            room -= len(out[-1])
            self.answer_bytes -= len(out[-1])
        self._check_room(now)
        return room

    def _check_room(self, now: float) -> None:
        """Resumes paused services when half of the answers were sent."""
        if self._paused and self.answer_bytes <= MAX_ANSWER_BYTES // 2:
            paused, self._paused = self._paused, set()
            for service in paused:
                self._resume(service, now)

    # ---- Input

    def invoked(self, link: BusLink, invoke: Invoke, now: float) -> None:
        """Handles a request."""
        service = self._registrations.get(invoke.service)
        if not isinstance(service, ServiceState):
            self._refuse(link, invoke.call, not_begun(FailureCode.REFUSED, "the member has ended"))
            return
        service.received += 1
        if invoke.kind is not CallKind.REPLY:
            failure = not_begun(FailureCode.UNSUPPORTED, "the member serves no calls of this kind")
            self._refuse(link, invoke.call, failure)
            return
        received = ReceivedRequest(service, link, invoke, now)
        same = service.known.get(received.key)
        reply = service.replies.get(received.key)
        if same is not None and not same.cancelled:
            service.repeated += 1
            same.targets.append((link, invoke.call))
            self._add(link, invoke.call, same)
        elif reply is not None:
            service.repeated += 1
            self.send(link, replace(reply, call=invoke.call).frame())
        elif service.waiting and service.waiting_bytes + received.bytes > service.options.buffer_bytes:
            service.refused += 1
            text = f"the requests that wait in the member take {service.waiting_bytes} bytes already"
            self._refuse(link, invoke.call, not_begun(FailureCode.OVERLOADED, text))
        else:
            self._add(link, invoke.call, received)
            service.known[received.key] = service.waiting[received.key] = received
            service.waiting_bytes += received.bytes
            self._resume(service, now)

    def _add(self, link: BusLink, call: int, received: ReceivedRequest) -> None:
        calls = self._received.setdefault(link, {})
        link.open_calls += call not in calls
        calls[call] = received

    def _at(self, link: BusLink, call: int) -> ReceivedRequest | None:
        calls = self._received.get(link)
        return None if calls is None else calls.get(call)

    def _refuse(self, link: BusLink, call: int, failure: Failure) -> None:
        self.send(link, replace(failure, call=call).frame())

    def cancelled(self, link: BusLink, call: int) -> None:
        """Handles a cancellation over one of the connections that wait for the answer."""
        received = self._at(link, call)
        if received is None or received.cancelled:
            return
        received.gone += 1
        if received.gone < len(received.targets):
            return
        service = received.service
        service.cancelled += 1
        received.cancel()
        if self._stop_waiting(received):
            # The slot of a request that is worked on is free when its handler has ended.
            self._answer(received, not_begun(FailureCode.CANCELLED, "cancelled before it was begun with"))
            self._check_idle(service)

    @staticmethod
    def _stop_waiting(received: ReceivedRequest) -> bool:
        service = received.service
        if service.waiting.get(received.key) is not received:
            return False
        del service.waiting[received.key]
        service.waiting_bytes -= received.bytes
        return True

    # ---- Handling

    def _resume(self, service: ServiceState, now: float) -> None:
        while service.waiting and service.running < service.options.concurrency:
            if self.answer_bytes >= MAX_ANSWER_BYTES:
                self._paused.add(service)
                return
            received = next(iter(service.waiting.values()))
            self._stop_waiting(received)
            if received.deadline <= now:
                service.expired += 1
                text = "its time was over before it was begun with"
                self._answer(received, not_begun(FailureCode.TIMEOUT, text))
            elif not any(self._at(link, call) is received for link, call in received.targets):
                # All connections that wait for the answer are lost.
                service.cancelled += 1
                self._answer(received, not_begun(FailureCode.CANCELLED, "its connection is lost"))
            else:
                service.running += 1
                received.begun = now
                service.start(received)
        self._check_idle(service)

    def done(self, received: ReceivedRequest, outcome: tuple[bytes, int] | Failure, now: float) -> None:
        """Handles the end of a handler: with an encoded event and its schema, or with a failure."""
        service = received.service
        service.running -= 1
        if isinstance(outcome, Failure):
            service.failed += 1
            self._answer(received, outcome)
        else:
            service.answered += 1
            micros = min(max(0, int((now - received.begun) * 1e6)), (1 << 31) - 1)
            reply = Reply(0, 0, 0, micros, outcome[1], outcome[0])
            service.remember(received.key, reply)
            self._answer(received, reply)
        self._resume(service, now)

    def dropped(self, received: ReceivedRequest) -> None:
        """Handles the end of a handler with its client: nobody waits for an answer."""
        received.service.running -= 1
        self._check_idle(received.service)

    def _answer(self, received: ReceivedRequest, answer: Reply | Failure) -> None:
        received.answered = True
        received.on_cancel = []
        if received.service.known.get(received.key) is received:
            del received.service.known[received.key]
        for link, call in received.targets:
            if self._at(link, call) is received:
                del self._received[link][call]
                link.open_calls -= 1
                self.send(link, replace(answer, call=call).frame())
                if link.left is not None:
                    self._context.close_if_quiet(link)

    # ---- The end

    @staticmethod
    def _check_idle(service: ServiceState) -> None:
        if service.idle and service.is_idle():
            waiting, service.idle = service.idle, []
            for waiter in waiting:
                succeed(waiter, None)

    def when_idle(self, service: ServiceState, waiter: Waiter) -> None:
        """Tells the waiter when all requests are answered."""
        service.idle.append(waiter)
        self._check_idle(service)

    def abandon(self, service: ServiceState) -> None:
        """Gives up all requests that are here: cancels their handlers."""
        for received in list(service.waiting.values()):
            self._stop_waiting(received)
            self._answer(received, not_begun(FailureCode.REFUSED, "the member has ended"))
        for received in list(service.known.values()):
            if not received.cancelled:
                received.cancel()
        self._check_idle(service)

    def lost(self, link: BusLink, now: float) -> None:
        """Handles the end of a connection: its calls need no answers. The handlers continue."""
        link.open_calls -= len(self._received.pop(link, ()))
        self.answer_bytes -= sum(map(len, link.answers))
        link.answers.clear()
        self._check_room(now)
