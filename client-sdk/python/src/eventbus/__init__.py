"""A client for the event bus, for asyncio; ``eventbus.sync`` has the same without ``await``.

::

    async with eventbus.connect("ws://localhost:8080/bus") as bus:
        async with bus.subscribe("flights.>") as flights:
            await bus.publish("flights.JFK.departed", "B6 8")
            async for event in flights:
                print(event.topic, event.text())
"""

from ._aio import EventBus
from ._connect import Connecting, connect
from ._dispatch import Gap, GapReason
from ._errors import (
    BufferFull,
    Closed,
    ConnectionLost,
    Error,
    IllegalTopic,
    NotConnected,
    Refused,
    TimedOut,
    TooBig,
    UnreadablePayload,
)
from ._events import Event
from ._happenings import (
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
    SubscriptionCounters,
)
from ._options import Reconnect
from ._outbox import Published
from ._payload import Codec
from ._subscription import HandlerFailed, Subscription
from ._version import VERSION as __version__
from ._wire import BusCode, Limits, Overflow

__all__ = [
    "BufferFull",
    "BusChangeFailed",
    "BusChanged",
    "BusCode",
    "Closed",
    "Codec",
    "Connecting",
    "Connection",
    "ConnectionLost",
    "Counters",
    "Disconnected",
    "DropCause",
    "Dropped",
    "Error",
    "Event",
    "EventBus",
    "Gap",
    "GapReason",
    "HandlerFailed",
    "IllegalTopic",
    "Limits",
    "NotConnected",
    "Overflow",
    "ProducerChanged",
    "Published",
    "Reconnect",
    "Reconnecting",
    "Refused",
    "State",
    "Subscription",
    "SubscriptionCounters",
    "TimedOut",
    "TooBig",
    "UnreadablePayload",
    "__version__",
    "connect",
]
