"""Answers to requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, Unpack, overload

from .call_event import CallEvent
from .payload import Codec, EventOptions, Payload, as_payload

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Response:
    """Answer to a request."""

    #: Event of the answer.
    event: CallEvent
    #: The member's number, for ``member`` of another request.
    member: int
    #: Seconds that the request waited in the bus.
    queued: float
    #: Seconds that the member worked, as it says.
    handled: float

    @property
    def payload(self) -> bytes:
        """Returns the event's payload."""
        return self.event.payload

    def text(self) -> str:
        """Decodes the payload as UTF-8. Raises UnicodeDecodeError."""
        return self.event.text()

    def json(self) -> Any:
        """Decodes the payload as JSON. Raises ValueError."""
        return self.event.json()


@dataclass(frozen=True, slots=True, init=False)
class Answer:
    """An answer with more than a payload, returned by a handler."""

    #: Bytes, text, or with ``codec`` any value that it encodes.
    payload: Any
    key: str | None
    headers: Mapping[str, str] | None
    #: Microseconds since 1970; None for now.
    published_at: int | None
    #: Fingerprint of the payload's Avro schema.
    schema: int
    codec: Codec[Any] | None

    @overload
    def __init__(self, payload: Payload, *, codec: None = None, **event: Unpack[EventOptions]) -> None: ...

    @overload
    def __init__(self, payload: T, *, codec: Codec[T], **event: Unpack[EventOptions]) -> None: ...

    def __init__(
        self,
        payload: Any,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        published_at: int | None = None,
        schema: int = 0,
        codec: Codec[Any] | None = None,
    ) -> None:
        for name, value in (
            ("payload", payload), ("key", key), ("headers", headers), ("published_at", published_at), ("schema", schema),
            ("codec", codec),
        ):  # fmt: skip
            object.__setattr__(self, name, value)


def parts_of(answer: Any) -> tuple[bytes, str | None, Mapping[str, str] | None, int | None, int]:
    """Returns the parts of a handler's result: payload, key, headers, time, schema. Raises TypeError,
    UnreadablePayload."""
    if isinstance(answer, Answer):
        raw, schema = as_payload(answer.payload, answer.schema, answer.codec)
        return raw, answer.key, answer.headers, answer.published_at, schema
    raw, schema = as_payload(answer, 0, None)
    return raw, None, None, None, schema
