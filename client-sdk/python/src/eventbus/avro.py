"""Avro payloads, with fastavro: ``pip install eventbus-client[avro]``.

::

    flights = AvroCodec({"type": "record", "name": "Flight", "fields": [{"name": "gate", "type": "string"}]})
    await bus.publish("flights.JFK", {"gate": "B6"}, codec=flights)
    async for event in bus.subscribe("flights.>"):
        print(flights.decode(event)["gate"])
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

from ._api.call_event import CallEvent
from ._api.errors import UnreadablePayload
from ._wire.events import Event

try:
    import fastavro
    from fastavro.schema import fingerprint as _fingerprint
    from fastavro.schema import to_parsing_canonical_form as _canonical
except ImportError as e:  # pragma: no cover
    raise ImportError("eventbus.avro needs fastavro (expected: pip install eventbus-client[avro])") from e

__all__ = ["AvroCodec", "fingerprint"]


def fingerprint(schema: Any) -> int:
    """Returns the CRC-64-AVRO fingerprint of a schema's parsing canonical form, as the signed integer in events.

    ``schema``: as JSON text or parsed JSON. Raises ValueError for an illegal schema.
    """
    return _of(_load(schema))


def _load(schema: Any) -> Any:
    loaded = json.loads(schema) if isinstance(schema, str) and schema.lstrip()[:1] in ('"', "{", "[") else schema
    try:
        return fastavro.parse_schema(loaded)
    except Exception as e:
        raise ValueError(f"schema: {e} (expected: an Avro schema)") from e


def _of(parsed: Any) -> int:
    # fastavro writes the bytes in little-endian order.
    return int.from_bytes(bytes.fromhex(_fingerprint(_canonical(parsed), "CRC-64-AVRO")), "little", signed=True)


class AvroCodec:
    """Writes and reads payloads of one schema. Any thread may use it.

    ``schema`` is used for writing, and values are read as it; ``writers`` are further schemas of publishers, which
    are resolved to it. Raises ValueError for an illegal schema.
    """

    def __init__(self, schema: Any, *, writers: Iterable[Any] = ()) -> None:
        self._schema = _load(schema)
        self.fingerprint = _of(self._schema)
        self._writers = {self.fingerprint: self._schema}
        for writer in writers:
            parsed = _load(writer)
            self._writers[_of(parsed)] = parsed
        self._name = self._schema.get("name", "?") if isinstance(self._schema, dict) else str(self._schema)

    def encode(self, value: Any) -> bytes:
        """Encodes a value. Raises UnreadablePayload for a value that does not match the schema."""
        out = io.BytesIO()
        try:
            fastavro.schemaless_writer(out, self._schema, value)
        except Exception as e:
            raise UnreadablePayload(f"{type(value).__name__} is no {self._name}: {e}") from e
        return out.getvalue()

    def decode(self, event: Event | CallEvent) -> Any:
        """Reads the payload of an event, of a request (``invocation.event``) or of an answer (``response.event``).

        Raises UnreadablePayload for an unknown schema, and for bytes that do not match it.
        """
        what = f"an event of {event.topic}" if isinstance(event, Event) else "what came with a call"
        writer = self._writers.get(event.schema)
        if writer is None:
            raise UnreadablePayload(
                f"{what} was written with the schema {event.schema & (1 << 64) - 1:016x}, and is read with "
                f"{self._name}, {self.fingerprint & (1 << 64) - 1:016x} (expected: the publisher's schema among writers, or "
                "subscribers that are upgraded before publishers)"
            )
        payload = io.BytesIO(event.payload)
        try:
            value = fastavro.schemaless_reader(payload, writer, self._schema if writer is not self._schema else None)
        except Exception as e:
            raise UnreadablePayload(f"{what} is no {self._name}: {e}") from e
        if payload.read(1):
            raise UnreadablePayload(f"{what} has bytes behind its {self._name}")
        return value
