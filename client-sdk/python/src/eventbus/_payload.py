"""What an application publishes, as bytes."""

from __future__ import annotations

from typing import Any, Protocol

Payload = bytes | bytearray | memoryview | str


class Codec(Protocol):
    """Turns values into payloads; :class:`eventbus.avro.AvroCodec` is one."""

    #: CRC-64-AVRO fingerprint of the writer schema, signed; 0 for none.
    fingerprint: int

    def encode(self, value: Any, /) -> bytes: ...


def as_payload(payload: Any, schema: int, codec: Codec | None) -> tuple[bytes, int]:
    """Makes bytes of what an application publishes."""
    if codec is not None:
        return codec.encode(payload), codec.fingerprint
    if isinstance(payload, str):
        return payload.encode(), schema
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return bytes(payload), schema
    raise TypeError(f"payload: {type(payload).__name__} (expected: bytes or str, or a codec)")
