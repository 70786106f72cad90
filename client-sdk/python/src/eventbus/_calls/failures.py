"""Failures of calls as frames, and as errors that applications see."""

from __future__ import annotations

from .._api.errors import CallFailed, Cancelled, DeadlineExceeded, MemberLost, NoMember, NotServed, Overloaded, Rejected
from .._wire.call_frames import MAX_DETAILS_BYTES, MAX_MESSAGE_BYTES, MAX_NAME_BYTES, Execution, Failure, FailureCode

_PLAIN: dict[FailureCode, type[CallFailed]] = {
    FailureCode.NO_MEMBER: NoMember,
    FailureCode.TIMEOUT: DeadlineExceeded,
    FailureCode.CANCELLED: Cancelled,
    FailureCode.OVERLOADED: Overloaded,
    FailureCode.MEMBER_LOST: MemberLost,
}
#: Failures from a member, and whether they are retryable: an unknown method stays unknown.
_REJECTED = {FailureCode.REFUSED: True, FailureCode.UNKNOWN_METHOD: False, FailureCode.FAILED: True}


def failure_error(service: str, failure: Failure, executed: Execution, safe: bool) -> CallFailed:
    """Returns the exception for a Failure; ``safe``: the request may be sent again, as far as its execution is
    concerned."""
    code, message = failure.code, failure.message
    retry_after = max(0, failure.retry_after_millis) / 1000
    plain = _PLAIN.get(code)
    if plain is not None:
        # Messages of a bus about a call do not name its service.
        return plain(f"{service}: {message}", executed, retryable=safe, retry_after=retry_after)
    helps = _REJECTED.get(code)
    if helps is not None:
        return Rejected(
            code.name, message, executed, retryable=safe and helps, retry_after=retry_after, type=failure.type,
            details=failure.details,
        )  # fmt: skip
    return NotServed(code.name, message, executed, retryable=safe and code is FailureCode.INTERNAL)


def not_begun(code: FailureCode, message: str) -> Failure:
    """Returns the failure of a request whose handler was not started."""
    return Failure(0, code, _fit(message, MAX_MESSAGE_BYTES), Execution.NO)


def handler_failed(code: FailureCode, message: str) -> Failure:
    """Returns the failure of a request whose handler has failed."""
    return Failure(0, code, _fit(message, MAX_MESSAGE_BYTES), Execution.YES)


def rejection(rejected: Rejected) -> Failure:
    """Returns the failure of a request that its handler has rejected."""
    return Failure(
        0, FailureCode[rejected.code], _fit(rejected.message, MAX_MESSAGE_BYTES), rejected.executed,
        max(0, int(rejected.retry_after * 1000)), 0, _fit(rejected.type, MAX_NAME_BYTES),
        bytes(rejected.details[:MAX_DETAILS_BYTES]),
    )  # fmt: skip


def _fit(text: str, max_bytes: int) -> str:
    """Returns the beginning of a text, at most ``max_bytes`` of UTF-8."""
    return text.encode(errors="replace")[:max_bytes].decode(errors="ignore")
