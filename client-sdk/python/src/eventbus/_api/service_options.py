"""Options and figures of services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .._wire.call_frames import MAX_CONCURRENCY, MAX_NAME_BYTES
from .checks import check_range

MAX_METADATA = 64


MAX_METADATA_BYTES = 4096


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """Options of a service; ``EventBus.serve`` documents each."""

    concurrency: int = 16
    identify: bool = False
    version: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    remember_replies: int = 0
    buffer_bytes: int = 16 << 20

    def __post_init__(self) -> None:
        check_range("concurrency", self.concurrency, 1, MAX_CONCURRENCY, "requests", whole=True)
        check_range("remember_replies", self.remember_replies, 0, 1_000_000, "replies", whole=True)
        check_range("buffer_bytes", self.buffer_bytes, 1024, 1 << 30, "bytes", whole=True)
        texts = [t.encode() for kv in self.metadata.items() for t in kv]
        for name, raw in (("version", self.version.encode()), *(("metadata", t) for t in texts)):
            if len(raw) > MAX_NAME_BYTES:
                raise ValueError(f"{name}: {len(raw)} bytes (expected: at most {MAX_NAME_BYTES} bytes of UTF-8 each)")
        if len(self.metadata) > MAX_METADATA or sum(map(len, texts)) > MAX_METADATA_BYTES:
            expected = f"at most {MAX_METADATA} with {MAX_METADATA_BYTES} bytes of UTF-8 in all"
            raise ValueError(f"metadata: too many (expected: {expected})")


@dataclass(frozen=True, slots=True)
class ServiceCounters:
    """Figures of a member of a service."""

    #: Requests received.
    received: int
    #: Requests answered by the handler.
    answered: int
    #: Requests failed or rejected by the handler.
    failed: int
    #: Requests dropped before the handler because their timeout had passed.
    expired: int
    #: Requests cancelled before the handler or in it.
    cancelled: int
    #: Requests refused because too much waited.
    refused: int
    #: Repeated requests that got the reply of the first time.
    repeated: int
    #: Requests that the handler works on now.
    running: int
    #: Requests that wait for the handler now.
    waiting: int
    #: Bytes of the waiting requests.
    waiting_bytes: int
