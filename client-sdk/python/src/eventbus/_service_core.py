"""One service of a client: its options, and which requests wait, are worked on or were answered. Without I/O or a
clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ._call_frames import MAX_CONCURRENCY, MAX_NAME_BYTES, Capacity, Register, Reply, Unregister
from ._checks import check_range
from ._received_request import ReceivedRequest
from ._registration import Registration
from ._waiters import Waiter

#: What a remembered reply takes in memory beside its bytes.
OVERHEAD = 256
MAX_METADATA = 64
MAX_METADATA_BYTES = 4096


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """How a service is served; ``EventBus.serve`` documents each."""

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
    """What has happened to a member of a service."""

    #: Requests that have come.
    received: int
    #: Requests that the handler has answered.
    answered: int
    #: Requests that the handler has failed or rejected.
    failed: int
    #: Requests that were dropped before the handler because their time was over.
    expired: int
    #: Requests that nobody waits for any more, before the handler or in it.
    cancelled: int
    #: Requests that were not taken because too much waited.
    refused: int
    #: Requests that came again and got the reply of the first time.
    repeated: int
    #: Requests that the handler is at now.
    running: int
    #: Requests that wait for the handler now.
    waiting: int
    #: What these take.
    waiting_bytes: int


class ServiceCore(Registration):
    """What the core knows of a service. ``start`` begins the handler; ``Services.done`` has to follow."""

    is_exclusive = True
    is_service = True

    def __init__(self, id: int, name: str, options: ServiceOptions, start: Callable[[ReceivedRequest], None]) -> None:
        super().__init__(id, f"the service {name}")
        self.name = name
        self.options = options
        self.start = start
        self.paused = False
        self.waiting: dict[tuple[int, int], ReceivedRequest] = {}
        self.known: dict[tuple[int, int], ReceivedRequest] = {}
        self.replies: dict[tuple[int, int], Reply] = {}
        self.reply_bytes = self.waiting_bytes = self.running = 0
        #: What waits until nothing is left to be answered.
        self.idle: list[Waiter] = []
        self.received = self.answered = self.failed = self.expired = 0
        self.cancelled = self.refused = self.repeated = 0

    def concurrency(self) -> int:
        """What the bus is told."""
        return 0 if self.paused else self.options.concurrency

    def begin_frame(self) -> bytes:
        o = self.options
        return Register(self.id, self.name, self.concurrency(), o.identify, o.version, o.metadata).frame()

    def end_frame(self) -> bytes:
        return Unregister(self.id).frame()

    def capacity_frame(self) -> bytes:
        """What tells the bus that it takes requests again, or none."""
        return Capacity(self.id, self.concurrency()).frame()

    def is_idle(self) -> bool:
        """Whether everything that came is answered."""
        return not self.running and not self.waiting

    def remember(self, key: tuple[int, int], reply: Reply) -> None:
        """Keeps a reply for when the request comes again."""
        most = self.options.remember_replies
        if not most:
            return
        old = self.replies.pop(key, None)
        self.replies[key] = reply
        self.reply_bytes += len(reply.event) + OVERHEAD - (len(old.event) + OVERHEAD if old is not None else 0)
        while len(self.replies) > most or self.reply_bytes > self.options.buffer_bytes:
            self.reply_bytes -= len(self.replies.pop(next(iter(self.replies))).event) + OVERHEAD

    def counters(self) -> ServiceCounters:
        return ServiceCounters(
            self.received, self.answered, self.failed, self.expired, self.cancelled, self.refused, self.repeated,
            self.running, len(self.waiting), self.waiting_bytes,
        )  # fmt: skip
