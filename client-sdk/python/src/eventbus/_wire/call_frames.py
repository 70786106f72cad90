"""Frames of services. docs/protocol.md#services has the rules; ``records`` writes and reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from .codec import Reader, blob, text_map, varint
from .events import encode_event
from .records import (
    BOOLEAN,
    INT,
    LONG,
    OVERFLOW,
    POSITION,
    STRING,
    TEXT_MAP,
    Kind,
    Overflow,
    Record,
    enum_kind,
    record_field,
)
from .records import RECORDS as CONTROL_RECORDS

MAX_CONCURRENCY = 65_536
#: Maximum bytes of a request around its event, with the names of service and method.
AROUND_CALL = 640
MAX_NAME_BYTES = 255
MAX_MESSAGE_BYTES = 1024
MAX_DETAILS_BYTES = 64 * 1024


class Execution(IntEnum):
    """Tells whether a member of a service has begun with a request that has no answer."""

    #: A handler may have begun with it, may still be running, or may have finished.
    UNKNOWN = 0
    #: No member's handler has seen it: it is safe to send it again.
    NO = 1
    #: A handler has begun with it, and has failed.
    YES = 2


class Priority(IntEnum):
    """Priority of a request among those that wait."""

    #: Default.
    NORMAL = 0
    #: Before the others, which do not starve.
    HIGH = 1
    #: After the others, and refused first when a service is overloaded.
    LOW = 2


class FailureCode(IntEnum):
    """Reason why a call has no reply."""

    INTERNAL = 0
    NO_MEMBER = 1
    TIMEOUT = 2
    CANCELLED = 3
    OVERLOADED = 4
    MEMBER_LOST = 5
    FORBIDDEN = 6
    UNKNOWN_METHOD = 7
    TOO_BIG = 8
    REFUSED = 9
    FAILED = 10
    UNSUPPORTED = 11


class CallKind(IntEnum):
    """Form of the answer to a call."""

    REPLY = 0
    STREAM = 1
    TUNNEL = 2


class CallScope(IntEnum):
    """Number of members that a call is for."""

    ONE = 0
    ALL = 1


class EventParts(NamedTuple):
    """The protocol's ``Event``, in a request or an answer."""

    published_at: int
    key: str | None
    headers: Mapping[str, str]
    payload: bytes


def _read_event(r: Reader, name: str) -> EventParts:
    at, key, headers = r.long(f"{name}.publishedAt"), r.optional(f"{name}.key"), r.text_map(f"{name}.headers")
    n = r.length(f"{name}.payload")
    r.pos += n
    return EventParts(at, key, headers, r.data[r.pos - n : r.pos])


def _read_bytes(r: Reader, name: str) -> bytes:
    n = r.length(name)
    r.pos += n
    return r.data[r.pos - n : r.pos]


def _symbol(symbols: type[IntEnum]) -> Kind:
    """Returns a kind of symbols in which unknown ones stay numbers, because they have to be answered."""

    def read(r: Reader, name: str) -> int:
        start = r.pos
        symbol = r.int32(name)
        if symbol < 0:
            raise r.malformed(name, start, f"symbol {symbol}", "at least 0")
        return symbols(symbol) if symbol < len(symbols) else symbol

    return Kind(varint, read)


def _at_least(minimum: int, maximum: int | None = None) -> Kind:
    def read(r: Reader, name: str) -> int:
        start = r.pos
        value = r.int32(name)
        if value < minimum or (maximum is not None and value > maximum):
            raise r.malformed(name, start, value, f"at least {minimum}" if maximum is None else f"{minimum}..{maximum}")
        return value

    return Kind(varint, read)


#: Encoded events, as bytes, are written as they are.
EVENT = Kind(lambda v: v if isinstance(v, bytes) else encode_event(*v), _read_event)
BYTES = Kind(blob, _read_bytes)
EXECUTION = enum_kind(Execution, True)
FAILURE_CODE = enum_kind(FailureCode, True)
CALL_KIND, CALL_SCOPE, PRIORITY = _symbol(CallKind), _symbol(CallScope), _symbol(Priority)
CONCURRENCY = _at_least(0, MAX_CONCURRENCY)
NATURAL = _at_least(0)
#: Offset in the bytes of a stream or tunnel.
OFFSET = POSITION


@dataclass(frozen=True)
class Register(Record):
    """020: makes the connection a member of a service."""

    CODE = 20
    id: int = record_field("id", LONG)
    service: str = record_field("service", STRING)
    concurrency: int = record_field("concurrency", CONCURRENCY, 16)
    identify: bool = record_field("identify", BOOLEAN, False)
    version: str = record_field("version", STRING, "")
    metadata: Mapping[str, str] | None = record_field(
        "metadata", Kind(lambda v: text_map(v or {}), TEXT_MAP.read), None
    )
    # Broadcasts to members are delivered to no handler here, and must stall no publisher.
    overflow: Overflow = record_field("overflow", OVERFLOW, Overflow.DROP_OLDEST)


@dataclass(frozen=True)
class Unregister(Record):
    """021: ends a member, which takes no more calls."""

    CODE = 21
    id: int = record_field("id", LONG)


@dataclass(frozen=True)
class Request(Record):
    """022: a call."""

    CODE = 22
    call: int = record_field("call", LONG)
    service: str = record_field("service", STRING)
    method: str = record_field("method", STRING)
    kind: int = record_field("kind", CALL_KIND)
    scope: int = record_field("scope", CALL_SCOPE)
    priority: int = record_field("priority", PRIORITY)
    timeout_millis: int = record_field("timeoutMillis", INT)
    wait_millis: int = record_field("waitMillis", INT)
    idempotent: bool = record_field("idempotent", BOOLEAN)
    attempt: int = record_field("attempt", INT)
    member: int = record_field("member", LONG)
    schema: int = record_field("schema", LONG)
    event: Any = record_field("event", EVENT)
    limit: int = record_field("limit", OFFSET, 0)


@dataclass(frozen=True)
class Invoke(Record):
    """023: a call for a member."""

    CODE = 23
    call: int = record_field("call", LONG)
    service: int = record_field("service", LONG)
    method: str = record_field("method", STRING)
    kind: int = record_field("kind", CALL_KIND)
    timeout_millis: int = record_field("timeoutMillis", INT)
    caller: int = record_field("caller", LONG)
    request: int = record_field("request", LONG)
    attempt: int = record_field("attempt", INT)
    identity: str = record_field("identity", STRING)
    received_at: int = record_field("receivedAt", LONG)
    schema: int = record_field("schema", LONG)
    event: Any = record_field("event", EVENT)
    limit: int = record_field("limit", OFFSET, 0)


@dataclass(frozen=True)
class Reply(Record):
    """024: the answer to a call."""

    CODE = 24
    call: int = record_field("call", LONG)
    member: int = record_field("member", LONG)
    queued_micros: int = record_field("queuedMicros", NATURAL)
    handled_micros: int = record_field("handledMicros", NATURAL)
    schema: int = record_field("schema", LONG)
    event: Any = record_field("event", EVENT)
    more: bool = record_field("more", BOOLEAN, False)
    limit: int = record_field("limit", OFFSET, 0)


@dataclass(frozen=True)
class Failure(Record):
    """025: there is no reply."""

    CODE = 25
    call: int = record_field("call", LONG)
    code: FailureCode = record_field("code", FAILURE_CODE)
    message: str = record_field("message", STRING)
    executed: Execution = record_field("executed", EXECUTION)
    retry_after_millis: int = record_field("retryAfterMillis", LONG, 0)
    member: int = record_field("member", LONG, 0)
    type: str = record_field("type", STRING, "")
    details: bytes = record_field("details", BYTES, b"")
    more: bool = record_field("more", BOOLEAN, False)


@dataclass(frozen=True)
class Cancel(Record):
    """026: cancels a call."""

    CODE = 26
    call: int = record_field("call", LONG)
    reason: str = record_field("reason", STRING, "")


@dataclass(frozen=True)
class Data(Record):
    """027: a message of a stream or tunnel, or a part of one. This client opens none and takes none."""

    CODE = 27
    call: int = record_field("call", LONG)
    offset: int = record_field("offset", OFFSET)
    more: bool = record_field("more", BOOLEAN)
    last: bool = record_field("last", BOOLEAN)
    payload: bytes = record_field("payload", BYTES)


@dataclass(frozen=True)
class Capacity(Record):
    """031: number of calls that the client works on at once from now on."""

    CODE = 31
    id: int = record_field("id", LONG)
    concurrency: int = record_field("concurrency", CONCURRENCY)


#: All records, except those of published events.
RECORDS: dict[int, type[Record]] = {
    **CONTROL_RECORDS,
    **{
        record.CODE: record
        for record in (Register, Unregister, Request, Invoke, Reply, Failure, Cancel, Data, Capacity)
    },
}
