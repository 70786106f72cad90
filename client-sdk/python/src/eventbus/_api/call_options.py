"""Options of requests, and the policy of their retries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .._wire.call_frames import MAX_NAME_BYTES, Execution, Priority
from .backoff import Backoff
from .checks import check_range

MAX = 600.0


@dataclass(frozen=True, kw_only=True)
class Retry(Backoff):
    """Retry policy of failed requests, within their timeout.

    Only ``retryable`` failures are retried. The pause before repetition n is ``min(max_delay, initial_delay *
    multiplier ** (n - 1))`` seconds, minus a random part of up to ``jitter``, plus the retry-after time of the bus or
    the member.
    """

    MAX = MAX

    #: Maximum of tries in all, 1 to 1000.
    attempts: int = 3
    #: Seconds before the first repetition, 0.001 to 600.
    initial_delay: float = 0.05
    #: Maximum of seconds, ``initial_delay`` to 600.
    max_delay: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("attempts", self.attempts, 1, 1000, "tries", whole=True)


_ONCE, _STANDARD = Retry(attempts=1), Retry()


#: Policy of requests that were not executed and have a retry-after time: until the timeout.
_NOT_EXECUTED = Retry(attempts=1000)


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """Options of a request; ``EventBus.request`` documents each."""

    method: str = ""
    timeout: float = 30.0
    wait_for: float = 0.0
    idempotent: bool = False
    priority: Priority = Priority.NORMAL
    member: int = 0
    retry: Retry | Literal[False] | None = None

    def __post_init__(self) -> None:
        check_range("timeout", self.timeout, 0.001, MAX, "s")
        check_range("wait_for", self.wait_for, 0, MAX, "s")
        check_range("member", self.member, -(1 << 63), (1 << 63) - 1, "", whole=True)
        if not isinstance(self.method, str) or len(self.method.encode()) > MAX_NAME_BYTES:
            raise ValueError(f"method: {self.method!r} (expected: at most {MAX_NAME_BYTES} bytes of UTF-8)")
        if self.retry is not None and self.retry is not False and not isinstance(self.retry, Retry):
            raise TypeError(f"retry: {self.retry!r} (expected: a Retry, False or None)")

    def policy(self, executed: Execution = Execution.UNKNOWN, retry_after: float = 0.0) -> Retry:
        """Returns the retry policy after a failure."""
        if self.retry:
            return self.retry
        if self.retry is False:
            return _ONCE
        if executed is Execution.NO and retry_after > 0:
            return _NOT_EXECUTED
        return _STANDARD if self.idempotent else _ONCE
