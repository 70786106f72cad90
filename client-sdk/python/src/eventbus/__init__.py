"""A client for the event bus, for asyncio; ``eventbus.sync`` has the same without ``await``.

::

    async with eventbus.connect("ws://localhost:8080/bus") as bus:
        async with bus.subscribe("flights.>") as flights:
            await bus.publish("flights.JFK.departed", "B6 8")
            async for event in flights:
                print(event.topic, event.text())
        async with bus.serve("sums", lambda request: str(sum(request.event.json()))):
            print((await bus.request("sums", "[1, 2, 3]", timeout=2)).text())
"""

from ._aio.client import EventBus
from ._aio.connect import Connecting, connect
from ._aio.durable import ConsumerFailed, DurableSubscription
from ._aio.service import Invocation, RequestFailed, Service
from ._aio.subscription import HandlerFailed, Subscription
from ._aio.worker import WorkDelivery, Worker, WorkFailed
from ._api.answers import Answer, Response
from ._api.call_event import CallEvent
from ._api.call_options import Retry
from ._api.durable import DurableCounters, Start, Truncated, WorkerCounters
from ._api.errors import (
    BufferFull,
    BusLost,
    CallFailed,
    Cancelled,
    Closed,
    ConnectionLost,
    DeadlineExceeded,
    Error,
    HeldBack,
    IllegalTopic,
    MemberLost,
    NoMember,
    NotConnected,
    NoToken,
    NotServed,
    Overloaded,
    Refused,
    Rejected,
    TimedOut,
    TooBig,
    UnreadablePayload,
)
from ._api.happenings import (
    BusChanged,
    BusChangeFailed,
    Connection,
    Counters,
    Disconnected,
    DropCause,
    Dropped,
    Gap,
    GapReason,
    Interruption,
    ProducerChanged,
    Reconnecting,
    State,
    SubscriptionCounters,
)
from ._api.options import Reconnect
from ._api.payload import Codec
from ._api.published import Published
from ._api.service_options import ServiceCounters
from ._version import VERSION as __version__
from ._wire.call_frames import Execution, Priority
from ._wire.durable_frames import TruncatedReason
from ._wire.events import Event
from ._wire.records import BusCode, Limits, Overflow

__all__ = [
    "Answer",
    "BufferFull",
    "BusChangeFailed",
    "BusChanged",
    "BusCode",
    "BusLost",
    "CallEvent",
    "CallFailed",
    "Cancelled",
    "Closed",
    "Codec",
    "Connecting",
    "Connection",
    "ConnectionLost",
    "ConsumerFailed",
    "Counters",
    "DeadlineExceeded",
    "Disconnected",
    "DropCause",
    "Dropped",
    "DurableCounters",
    "DurableSubscription",
    "Error",
    "Event",
    "EventBus",
    "Execution",
    "Gap",
    "GapReason",
    "HandlerFailed",
    "HeldBack",
    "IllegalTopic",
    "Interruption",
    "Invocation",
    "Limits",
    "MemberLost",
    "NoMember",
    "NoToken",
    "NotConnected",
    "NotServed",
    "Overflow",
    "Overloaded",
    "Priority",
    "ProducerChanged",
    "Published",
    "Reconnect",
    "Reconnecting",
    "Refused",
    "Rejected",
    "RequestFailed",
    "Response",
    "Retry",
    "Service",
    "ServiceCounters",
    "Start",
    "State",
    "Subscription",
    "SubscriptionCounters",
    "TimedOut",
    "TooBig",
    "Truncated",
    "TruncatedReason",
    "UnreadablePayload",
    "WorkDelivery",
    "WorkFailed",
    "Worker",
    "WorkerCounters",
    "__version__",
    "connect",
]
