"""Control frames of the protocol, as records with a table of their fields.

One writer and one reader serve all of them. Events, which are frequent, have code of their own in ``events``.
docs/protocol.md has the records and the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import IntEnum
from typing import Any, ClassVar, TypeVar

from .codec import MAX_TOPIC_BYTES, Reader, frame, text, text_map, varint

SUBPROTOCOL = "eventbus.v1.avro"


class Overflow(IntEnum):
    """Policy of the bus for a subscriber whose queue is full."""

    #: The bus stops reading the publishers that feed the queue; nothing is lost.
    BLOCK = 0
    #: The oldest events make room; each loss is reported as a gap.
    DROP_OLDEST = 1
    #: Of the events that do not fit, the last of each key is kept; each loss is reported as a gap.
    CONFLATE = 2
    #: The connection is closed with 4001.
    DISCONNECT = 3


class BusCode(IntEnum):
    """Reason of a refusal by a bus: the codes of the protocol's ``Problem``."""

    INTERNAL = 0
    UNKNOWN_TYPE = 1
    MALFORMED = 2
    TOO_BIG = 3
    ILLEGAL_TOPIC = 4
    ILLEGAL_FILTER = 5
    PROTOCOL_VIOLATION = 6
    UNAUTHENTICATED = 7
    FORBIDDEN = 8
    UNSUPPORTED = 9
    LIMIT_EXCEEDED = 10
    DUPLICATE_SUBSCRIPTION = 11
    UNKNOWN_SUBSCRIPTION = 12
    SLOW_CONSUMER = 13
    OVERLOADED = 14
    SHUTTING_DOWN = 15
    IDLE = 16
    REPLACED = 17
    SEQUENCE_GAP = 18
    EXPECTATION_FAILED = 19
    STORE_FULL = 20
    UNAVAILABLE = 21
    NO_JOURNAL = 22

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)


class WireGapReason(IntEnum):
    """The protocol's ``GapReason``."""

    UNKNOWN = 0
    QUEUE_FULL = 1
    CONFLATED = 2


class ChangeReason(IntEnum):
    """Reason why a bus asks a client to move."""

    OVERLOAD = 0
    DRAIN = 1
    OPERATOR = 2


Write = Callable[[Any], bytes]
Read = Callable[[Reader, str], Any]


@dataclass(frozen=True)
class Kind:
    """Encoding of a field."""

    write: Write
    read: Read


def enum_kind(symbols: type[IntEnum], open_ended: bool) -> Kind:
    """Returns the encoding of symbols; ``open_ended`` if a later version may have more."""

    def read(r: Reader, name: str) -> IntEnum:
        start = r.pos
        symbol = r.int32(name)
        if 0 <= symbol < len(symbols):
            return symbols(symbol)
        if open_ended and symbol >= 0:
            # protocol.md#evolution: unknown symbols count as the first one.
            return symbols(0)
        raise r.malformed(name, start, f"symbol {symbol}", f"0..{len(symbols) - 1}")

    return Kind(lambda v: varint(int(v)), read)


def _array(item: Kind, min_size: int) -> Kind:
    def write(values: Any) -> bytes:
        if not values:
            return b"\0"
        return b"".join([varint(len(values)), *map(item.write, values), b"\0"])

    return Kind(write, lambda r, name: tuple(item.read(r, name) for _ in r.items(name, min_size)))


def _natural(r: Reader, name: str) -> int:
    start = r.pos
    value = r.long(name)
    if value < 0:
        raise r.malformed(name, start, value, "at least 0")
    return value


LONG = Kind(varint, Reader.long)
#: Number that is not negative: a position in a journal, or a number of bytes.
POSITION = Kind(varint, _natural)
INT = Kind(varint, Reader.int32)
BOOLEAN = Kind(lambda v: b"\1" if v else b"\0", Reader.boolean)
STRING = Kind(text, Reader.string)
TOPIC = Kind(text, lambda r, name: r.string(name, MAX_TOPIC_BYTES))
OPTIONAL = Kind(lambda v: b"\0" if v is None else b"\2" + text(v), Reader.optional)
TEXT_MAP = Kind(text_map, Reader.text_map)
STRINGS = _array(STRING, 1)
LONGS = _array(LONG, 1)
OVERFLOW = enum_kind(Overflow, False)
BUS_CODE = enum_kind(BusCode, True)
GAP_REASON = enum_kind(WireGapReason, True)
CHANGE_REASON = enum_kind(ChangeReason, True)

R = TypeVar("R", bound="Record")
Fields = tuple[tuple[str, str, Kind, bool], ...]
_FIELDS: dict[type, Fields] = {}


def _fields_of(record: type[Record]) -> Fields:
    found = _FIELDS.get(record)
    if found is None:
        found = _FIELDS[record] = tuple(
            (f.name, f"{record.__name__}.{f.metadata['wire']}", f.metadata["kind"], f.default is not MISSING)
            for f in fields(record)
        )
    return found


@dataclass(frozen=True)
class Record:
    """A record of the protocol."""

    CODE: ClassVar[int] = -1

    def encode(self) -> bytes:
        """Writes the fields in their order."""
        return b"".join([kind.write(getattr(self, name)) for name, _, kind, _ in _fields_of(type(self))])

    def frame(self) -> bytes:
        """Writes the whole frame."""
        return frame(self.CODE, self.encode())

    @classmethod
    def read(cls: type[R], r: Reader) -> R:
        """Reads the known fields; missing ones at the end get their defaults."""
        values = {}
        for name, path, kind, optional in _fields_of(cls):
            # protocol.md#evolution: fields with defaults behind the end of the body get their defaults.
            if optional and r.pos >= r.end:
                break
            values[name] = kind.read(r, path)
        return cls(**values)


def record_field(wire: str, kind: Kind, default: Any = MISSING) -> Any:
    """Returns a field of a record, with its name in the protocol."""
    metadata = {"wire": wire, "kind": kind}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Limits(Record):
    """Limits of a bus for one connection; every figure is a maximum."""

    payload_bytes: int = record_field("payloadBytes", INT)
    message_bytes: int = record_field("messageBytes", INT)
    headers: int = record_field("headers", INT)
    header_bytes: int = record_field("headerBytes", INT)
    subscriptions: int = record_field("subscriptions", INT)
    queue_bytes: int = record_field("queueBytes", LONG)


LIMITS = Kind(lambda v: v.encode(), lambda r, name: Limits.read(r))


@dataclass(frozen=True)
class Hello(Record):
    """000: the first frame of a connection."""

    CODE = 0
    client: str = record_field("client", STRING)
    agent: str = record_field("agent", STRING)
    token: str | None = record_field("token", OPTIONAL, None)
    resume: str | None = record_field("resume", OPTIONAL, None)
    attributes: Mapping[str, str] | None = record_field(
        "attributes", Kind(lambda v: text_map(v or {}), Reader.text_map), None
    )
    change: str | None = record_field("change", OPTIONAL, None)
    user: str | None = record_field("user", OPTIONAL, None)
    previous: str | None = record_field("previous", OPTIONAL, None)

    def __repr__(self) -> str:
        return f"Hello(client={self.client!r}, agent={self.agent!r})"


@dataclass(frozen=True)
class Subscribe(Record):
    """002."""

    CODE = 2
    id: int = record_field("id", LONG)
    filter: str = record_field("filter", TOPIC)
    group: str | None = record_field("group", OPTIONAL, None)
    overflow: Overflow = record_field("overflow", OVERFLOW, Overflow.BLOCK)


@dataclass(frozen=True)
class ChangeBus(Record):
    """003: asks a client to move."""

    CODE = 3
    urls: tuple[str, ...] = record_field("urls", STRINGS)
    reason: ChangeReason = record_field("reason", CHANGE_REASON)
    deadline_millis: int = record_field("deadlineMillis", LONG)
    token: str = record_field("token", STRING)
    hops: int = record_field("hops", INT)

    def __repr__(self) -> str:
        return f"ChangeBus(urls={self.urls!r}, reason={self.reason.name}, deadline_millis={self.deadline_millis})"


@dataclass(frozen=True)
class Ack(Record):
    """005."""

    CODE = 5
    topic: str = record_field("topic", TOPIC)
    producer: int = record_field("producer", LONG)
    sequence: int = record_field("sequence", LONG)


@dataclass(frozen=True)
class Unsubscribe(Record):
    """006."""

    CODE = 6
    id: int = record_field("id", LONG)


@dataclass(frozen=True)
class Welcome(Record):
    """007: the answer to Hello."""

    CODE = 7
    bus: str = record_field("bus", STRING)
    session: str = record_field("session", STRING)
    producer: int = record_field("producer", LONG)
    resume: str = record_field("resume", STRING)
    limits: Limits = record_field("limits", LIMITS)
    others: tuple[str, ...] = record_field("others", STRINGS, ())
    expires_at: int = record_field("expiresAt", LONG, 0)
    calls: int = record_field("calls", INT, 0)
    services: int = record_field("services", INT, 0)
    tunnels: int = record_field("tunnels", INT, 0)
    window: int = record_field("window", INT, 0)
    #: True if the bus has durable topics.
    durable: bool = record_field("durable", BOOLEAN, False)

    def __repr__(self) -> str:
        return f"Welcome(bus={self.bus!r}, session={self.session!r}, producer={self.producer})"


@dataclass(frozen=True)
class Problem(Record):
    """008: something was refused."""

    CODE = 8
    code: BusCode = record_field("code", BUS_CODE)
    message: str = record_field("message", STRING)
    retryable: bool = record_field("retryable", BOOLEAN)
    about: int = record_field("about", LONG)
    type_code: int = record_field("typeCode", INT, -1)
    topic: str = record_field("topic", STRING, "")


@dataclass(frozen=True)
class Confirm(Record):
    """009."""

    CODE = 9
    type_code: int = record_field("typeCode", INT)
    about: int = record_field("about", LONG)
    topic: str = record_field("topic", STRING, "")
    #: Number of receivers of a Publish: subscriptions at the bus and peers that its events were queued for; -1 from a
    #: bus that does not tell.
    receivers: int = record_field("receivers", LONG, -1)
    #: Position of the last event of a Publish to a durable topic; 0 for none or unknown.
    position: int = record_field("position", POSITION, 0)
    #: True if events of a Publish to a durable topic were stored before.
    repeated: bool = record_field("repeated", BOOLEAN, False)
    #: Creation of the journal, of a Publish to a durable topic and of a Consume; 0 for unknown.
    creation: int = record_field("creation", POSITION, 0)


@dataclass(frozen=True)
class GapFrame(Record):
    """010: events were not delivered."""

    CODE = 10
    topic: str = record_field("topic", TOPIC)
    producer: int = record_field("producer", LONG)
    first: int = record_field("from", LONG)
    last: int = record_field("to", LONG)
    reason: WireGapReason = record_field("reason", GAP_REASON)


@dataclass(frozen=True)
class Barrier(Record):
    """011."""

    CODE = 11
    id: int = record_field("id", LONG)


@dataclass(frozen=True)
class Drained(Record):
    """012: nothing more comes for a subscription."""

    CODE = 12
    id: int = record_field("id", LONG)


@dataclass(frozen=True)
class ChangeBusFailed(Record):
    """013: the client stays."""

    CODE = 13
    token: str = record_field("token", STRING)
    message: str = record_field("message", STRING, "")

    def __repr__(self) -> str:
        return f"ChangeBusFailed(message={self.message!r})"


@dataclass(frozen=True)
class Credit(Record):
    """028: limit of bytes of deliveries, or of a consumer of durable topics."""

    CODE = 28
    call: int = record_field("call", LONG)
    limit: int = record_field("limit", LONG)
    received: int = record_field("received", LONG)
    consumer: int = record_field("consumer", LONG, 0)


@dataclass(frozen=True)
class Echo(Record):
    """033."""

    CODE = 33
    id: int = record_field("id", LONG)


@dataclass(frozen=True)
class Authenticate(Record):
    """032: a new token, before the token of the connection expires."""

    CODE = 32
    token: str = record_field("token", STRING)
    user: str | None = record_field("user", OPTIONAL, None)

    def __repr__(self) -> str:
        return "Authenticate()"


PUBLISH, DELIVER = 1, 4
#: All records, except those with events and those of services.
RECORDS: dict[int, type[Record]] = {
    record.CODE: record
    for record in (
        Hello, Subscribe, ChangeBus, Ack, Unsubscribe, Welcome, Problem, Confirm, GapFrame, Barrier, Drained,
        ChangeBusFailed, Credit, Echo, Authenticate,
    )
}  # fmt: skip
