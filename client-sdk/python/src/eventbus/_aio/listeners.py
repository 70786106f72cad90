"""Listeners of an application, the same in both variants of the client."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from .._api.durable import Truncated
from .._api.errors import Error
from .._api.happenings import (
    BusChanged,
    BusChangeFailed,
    Connection,
    Disconnected,
    Dropped,
    Gap,
    Interruption,
    ProducerChanged,
    Reconnecting,
)
from .durable import ConsumerFailed
from .service import RequestFailed
from .subscription import HandlerFailed
from .worker import WorkFailed

LOG = logging.getLogger("eventbus")


class Listeners:
    """Adds listeners to a client. Each method returns a function that removes the listener."""

    def on_connected(self, listener: Callable[[Connection], object]) -> Callable[[], None]:
        """Adds a listener for each connection that a bus has welcomed."""
        return self._on(Connection, listener)

    def on_disconnected(self, listener: Callable[[Disconnected], object]) -> Callable[[], None]:
        """Adds a listener for each connection that has ended."""
        return self._on(Disconnected, listener)

    def on_reconnecting(self, listener: Callable[[Reconnecting], object]) -> Callable[[], None]:
        """Adds a listener for each planned try to reconnect."""
        return self._on(Reconnecting, listener)

    def on_bus_changed(self, listener: Callable[[BusChanged], object]) -> Callable[[], None]:
        """Adds a listener for moves to another bus."""
        return self._on(BusChanged, listener)

    def on_bus_change_failed(self, listener: Callable[[BusChangeFailed], object]) -> Callable[[], None]:
        """Adds a listener for failed moves."""
        return self._on(BusChangeFailed, listener)

    def on_producer_changed(self, listener: Callable[[ProducerChanged], object]) -> Callable[[], None]:
        """Adds a listener for a new producer number, because the bus no longer knew this client."""
        return self._on(ProducerChanged, listener)

    def on_gap(self, listener: Callable[[Gap], object]) -> Callable[[], None]:
        """Adds a listener for missing events, called once for each gap: at once, while handlers may still work on earlier
        events.

        ``on_gap`` of ``subscribe`` is called at the place of the gap. Without a listener it is logged.
        """
        return self._on(Gap, listener)

    def on_interruption(self, listener: Callable[[Interruption], object]) -> Callable[[], None]:
        """Adds a listener for interruptions, called once for each subscription: as soon as the bus has confirmed it
        again, while handlers may still work on earlier events.

        ``on_interruption`` of ``subscribe`` is called at the place of the interruption. Without a listener it is
        logged.
        """
        return self._on(Interruption, listener)

    def on_truncated(self, listener: Callable[[Truncated], object]) -> Callable[[], None]:
        """Adds a listener for events of durable topics that a consumer does not get: at once, while handlers may still work
        on earlier events.

        ``on_truncated`` of a consumer is called at their place. Without a listener they are logged.
        """
        return self._on(Truncated, listener)

    def on_dropped(self, listener: Callable[[Dropped], object]) -> Callable[[], None]:
        """Adds a listener for events published with ``send`` that are lost or may be."""
        return self._on(Dropped, listener)

    def on_problem(self, listener: Callable[[Error], object]) -> Callable[[], None]:
        """Adds a listener for errors that no call waits for. Without a listener they are logged."""
        return self._on(Error, listener)

    def on_handler_error(self, listener: Callable[[HandlerFailed], object]) -> Callable[[], None]:
        """Adds a listener for exceptions of handlers of subscriptions. Without a listener they are logged."""
        return self._on(HandlerFailed, listener)

    def on_consumer_error(self, listener: Callable[[ConsumerFailed], object]) -> Callable[[], None]:
        """Adds a listener for exceptions of handlers of consumers of durable topics, which get the same event again. Without
        a listener they are logged."""
        return self._on(ConsumerFailed, listener)

    def on_worker_error(self, listener: Callable[[WorkFailed], object]) -> Callable[[], None]:
        """Adds a listener for exceptions of handlers of workers. Without a listener they are logged."""
        return self._on(WorkFailed, listener)

    def on_request_error(self, listener: Callable[[RequestFailed], object]) -> Callable[[], None]:
        """Adds a listener for requests that a service's handler failed at. Without a listener they are logged."""
        return self._on(RequestFailed, listener)

    def _on(self, kind: type, listener: Callable[[Any], object]) -> Callable[[], None]:
        raise NotImplementedError


class Notices:
    """Calls listeners. Without a listener errors are logged."""

    def __init__(self, name: str) -> None:
        self._name = name
        #: Returns whether a subscription has a callback for it.
        self.is_heard: Callable[[Gap | Interruption], bool] = lambda _: False
        self._listeners: dict[type, list[Callable[[Any], object]]] = {}

    def on(self, kind: type, listener: Callable[[Any], object]) -> Callable[[], None]:
        """Adds a listener; returns a function that removes it."""
        if inspect.iscoroutinefunction(listener):
            raise TypeError(
                f"listener: {listener!r} is a coroutine function (expected: a function; it may begin a task)"
            )
        listeners = self._listeners.setdefault(kind, [])
        listeners.append(listener)

        def out() -> None:
            if listener in listeners:
                listeners.remove(listener)

        return out

    def tell(self, happening: object) -> None:
        """Calls the listeners of its kind."""
        kind = Error if isinstance(happening, Error) else type(happening)
        listeners = self._listeners.get(kind)
        if not listeners:
            if isinstance(happening, HandlerFailed):
                LOG.error(
                    "%r: a handler failed at %r", happening.subscription, happening.event, exc_info=happening.error
                )
            elif isinstance(happening, ConsumerFailed):
                failed = happening.subscription, happening.item
                LOG.error("%r: a handler failed at %r, which comes again", *failed, exc_info=happening.error)
            elif isinstance(happening, WorkFailed):
                what = happening.worker, happening.event
                LOG.error("%r: a handler failed at %r", *what, exc_info=happening.error)
            elif isinstance(happening, RequestFailed):
                request = happening.service, happening.invocation
                LOG.error("%r: a handler failed at %r", *request, exc_info=happening.error)
            elif isinstance(happening, (Gap, Interruption)):
                if not self.is_heard(happening):
                    LOG.warning("%s: %s", self._name, happening)
            elif isinstance(happening, (Error, Dropped, BusChangeFailed, ProducerChanged, Truncated)):
                LOG.warning("%s: %s", self._name, happening)
            return
        for listener in tuple(listeners):
            try:
                listener(happening)
            except Exception:
                LOG.exception("%s: a listener failed at %r", self._name, happening)
