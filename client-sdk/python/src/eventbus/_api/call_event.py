"""The event of a request or of its answer."""

from __future__ import annotations

import json as _json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._wire.call_frames import EventParts


@dataclass(frozen=True, slots=True)
class CallEvent:
    """The event of a request or of its answer, without a topic. Immutable."""

    #: Microseconds since 1970-01-01T00:00Z, by the clock of its author.
    published_at: int
    #: None for none.
    key: str | None
    headers: Mapping[str, str]
    payload: bytes = field(repr=False)
    #: CRC-64-AVRO fingerprint of the payload's writer schema, signed; 0 for none.
    schema: int = 0

    def text(self) -> str:
        """Decodes the payload as UTF-8. Raises UnicodeDecodeError."""
        return self.payload.decode()

    def json(self) -> Any:
        """Decodes the payload as JSON. Raises ValueError."""
        return _json.loads(self.payload)


def event_of(parts: EventParts, schema: int) -> CallEvent:
    """Returns the event of a received frame."""
    return CallEvent(parts.published_at, parts.key, parts.headers, parts.payload, schema)
