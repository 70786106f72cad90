"""The listeners that an application can have, the same in both faces."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from ._errors import Error
from ._happenings import (
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
from ._service import RequestFailed
from ._subscription import HandlerFailed

LOG = logging.getLogger("eventbus")


class Listeners:
    """What a client tells by itself. Each method returns the way out."""

    def on_connected(self, listener: Callable[[Connection], object]) -> Callable[[], None]:
        """Hears of each connection that a bus has welcomed."""
        return self._on(Connection, listener)

    def on_disconnected(self, listener: Callable[[Disconnected], object]) -> Callable[[], None]:
        """Hears of each connection that has ended."""
        return self._on(Disconnected, listener)

    def on_reconnecting(self, listener: Callable[[Reconnecting], object]) -> Callable[[], None]:
        """Hears of each planned try to reconnect."""
        return self._on(Reconnecting, listener)

    def on_bus_changed(self, listener: Callable[[BusChanged], object]) -> Callable[[], None]:
        """Hears when the client has gone on at another bus."""
        return self._on(BusChanged, listener)

    def on_bus_change_failed(self, listener: Callable[[BusChangeFailed], object]) -> Callable[[], None]:
        """Hears when the client should have gone to another bus and could not."""
        return self._on(BusChangeFailed, listener)

    def on_producer_changed(self, listener: Callable[[ProducerChanged], object]) -> Callable[[], None]:
        """Hears when the bus did not know this client any more."""
        return self._on(ProducerChanged, listener)

    def on_gap(self, listener: Callable[[Gap], object]) -> Callable[[], None]:
        """Hears of events that are missing, once for each: as soon as it is known, so that handlers may be at earlier
        ones.

        ``on_gap`` of ``subscribe`` tells it at its place. Where nothing listens it is logged.
        """
        return self._on(Gap, listener)

    def on_interruption(self, listener: Callable[[Interruption], object]) -> Callable[[], None]:
        """Hears of each subscription that was away: as soon as the bus has confirmed it again, so that handlers may be at
        earlier events.

        ``on_interruption`` of ``subscribe`` tells it at its place. Where nothing listens it is logged.
        """
        return self._on(Interruption, listener)

    def on_dropped(self, listener: Callable[[Dropped], object]) -> Callable[[], None]:
        """Hears of events published with ``send`` that are lost or may be."""
        return self._on(Dropped, listener)

    def on_problem(self, listener: Callable[[Error], object]) -> Callable[[], None]:
        """Hears what went wrong where no call waits for it. Without a listener it is logged."""
        return self._on(Error, listener)

    def on_handler_error(self, listener: Callable[[HandlerFailed], object]) -> Callable[[], None]:
        """Hears what handlers of subscriptions raise. Without a listener it is logged."""
        return self._on(HandlerFailed, listener)

    def on_request_error(self, listener: Callable[[RequestFailed], object]) -> Callable[[], None]:
        """Hears of requests that a service's handler failed at. Without a listener it is logged."""
        return self._on(RequestFailed, listener)

    def _on(self, kind: type, listener: Callable[[Any], object]) -> Callable[[], None]:
        raise NotImplementedError


class Notices:
    """Tells listeners what happens. Without one it is logged, where something went wrong."""

    def __init__(self, name: str) -> None:
        self._name = name
        #: Whether a subscription is told of it at its place.
        self.is_heard: Callable[[Gap | Interruption], bool] = lambda _: False
        self._listeners: dict[type, list[Callable[[Any], object]]] = {}

    def on(self, kind: type, listener: Callable[[Any], object]) -> Callable[[], None]:
        """Adds a listener; returns the way out."""
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
        """Tells something to those that listen to its kind."""
        kind = Error if isinstance(happening, Error) else type(happening)
        listeners = self._listeners.get(kind)
        if not listeners:
            if isinstance(happening, HandlerFailed):
                LOG.error(
                    "%r: a handler failed at %r", happening.subscription, happening.event, exc_info=happening.error
                )
            elif isinstance(happening, RequestFailed):
                what = happening.service, happening.invocation
                LOG.error("%r: a handler failed at %r", *what, exc_info=happening.error)
            elif isinstance(happening, (Gap, Interruption)):
                if not self.is_heard(happening):
                    LOG.warning("%s: %s", self._name, happening)
            elif isinstance(happening, (Error, Dropped, BusChangeFailed, ProducerChanged)):
                LOG.warning("%s: %s", self._name, happening)
            return
        for listener in tuple(listeners):
            try:
                listener(happening)
            except Exception:
                LOG.exception("%s: a listener failed at %r", self._name, happening)
