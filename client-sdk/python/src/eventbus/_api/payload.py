"""Payloads of an application as bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol, TypedDict, TypeVar

from .._wire.codec import MAX_LONG
from .._wire.durable_frames import publish_tail
from .._wire.events import Event
from .._wire.topics import topic_problem
from .call_event import CallEvent
from .checks import check_range
from .errors import IllegalTopic

Payload = bytes | bytearray | memoryview | str
T = TypeVar("T")
#: Maximum of ``delay`` and ``ttl``, in seconds.
MAX_DURABLE_SECONDS = 3650 * 86_400
MAX_PRODUCER_BYTES = 63
#: Maximum of ``number``: the bus wants room behind it for the numbers of a whole frame.
MAX_NUMBER = MAX_LONG - 65_537


class Codec(Protocol[T]):
    """Converts values to payloads and back, like :class:`eventbus.avro.AvroCodec`."""

    #: CRC-64-AVRO fingerprint of the writer schema, signed; 0 for none.
    fingerprint: int

    def encode(self, value: T, /) -> bytes:
        """Returns the payload of a value. Raises UnreadablePayload for a value that it cannot encode."""
        ...

    def decode(self, event: Event | CallEvent, /) -> T:
        """Reads the payload of an event, of a request or of an answer. Raises UnreadablePayload."""
        ...


class EventOptions(TypedDict, total=False):
    """Options of an event; ``EventBus.publish`` documents each."""

    key: str | None
    headers: Mapping[str, str] | None
    published_at: int | None
    schema: int


class PublishOptions(EventOptions, total=False):
    """Options of an event with a confirmation; ``EventBus.publish`` documents each."""

    expected: int | None
    delay: float
    ttl: float | None
    producer: str | None
    number: int | None


def durable_fields(
    expected: int | None, delay: float, ttl: float | None, producer: str | None = None, number: int | None = None
) -> bytes:
    """Encodes what only durable topics have; empty for nothing. Raises ValueError and IllegalTopic."""
    if expected is None and not delay and ttl is None and producer is None and number is None:
        return b""
    if expected is not None:
        check_range("expected", expected, 0, MAX_LONG - 1, "(0, or a position)", whole=True)
    check_range("delay", delay, 0, MAX_DURABLE_SECONDS, "s")
    if ttl is not None:
        check_range("ttl", ttl, 0.001, MAX_DURABLE_SECONDS, "s")
    if producer is None and number is not None:
        raise ValueError(f"number: {number!r} (expected: only with producer)")
    if producer is not None:
        _check_producer(producer)
        check_range("number", number, 1, MAX_NUMBER, "(the event's number of the producer)", whole=True)
    expect = 0 if expected is None else expected + 1
    return publish_tail(expect, _millis(delay), _millis(ttl or 0), producer, number or 0)


def _check_producer(name: str) -> None:
    problem = topic_problem(name)
    if problem is None and ("/" in name or len(name.encode()) > MAX_PRODUCER_BYTES):
        problem = f"{name!r} (expected: at most {MAX_PRODUCER_BYTES} bytes, without /)"
    if problem is not None:
        raise IllegalTopic(f"producer: {problem}")


def _millis(seconds: float) -> int:
    """Rounds up, except for what is an error of floating-point numbers."""
    return math.ceil(round(seconds * 1000, 6))


def as_payload(payload: Any, schema: int, codec: Codec[Any] | None) -> tuple[bytes, int]:
    """Returns the bytes of a payload, and its schema. Raises TypeError."""
    if codec is not None:
        return codec.encode(payload), codec.fingerprint
    if isinstance(payload, str):
        return payload.encode(), schema
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return bytes(payload), schema
    raise TypeError(f"payload: {type(payload).__name__} (expected: bytes or str, or a codec)")


def check_head(key: Any, headers: Any, published_at: Any) -> None:
    """Checks the options of an event. Raises TypeError."""
    if key is not None and not isinstance(key, str):
        raise TypeError(f"key: {type(key).__name__} (expected: str or None)")
    if headers is not None:
        if not isinstance(headers, Mapping):
            raise TypeError(f"headers: {type(headers).__name__} (expected: a mapping of str to str, or None)")
        for name, value in headers.items():
            if not isinstance(name, str) or not isinstance(value, str):
                found = f"{type(name).__name__} to {type(value).__name__}"
                raise TypeError(f"headers: {found}, for {name!r} (expected: str to str)")
    if published_at is not None and (not isinstance(published_at, int) or isinstance(published_at, bool)):
        raise TypeError(
            f"published_at: {type(published_at).__name__} (expected: microseconds since 1970 as int, or None)"
        )
