"""Exceptions of this library.

::

    Error
    ├── IllegalTopic        a topic or filter that breaks the rules         do not retry
    ├── TooBig              an event over a limit of the bus                do not retry
    ├── BufferFull          the outbound buffer is full                     retry after a pause
    ├── NotConnected        no connection could be made                     retry
    ├── NoToken             the token function failed                       retry after a pause
    ├── ConnectionLost      the outcome of events under way is open         as the application decides
    ├── Refused             the bus refused something                       as ``retryable`` says
    ├── TimedOut            a deadline passed; the outcome may be open      retry after a pause
    ├── Closed              the client or subscription is closed            do not retry; make a new one
    ├── HeldBack            a subscription stalls all others                read it, or another overflow policy
    ├── UnreadablePayload   a payload that the codec cannot read or write   do not retry
    └── CallFailed          a request to a service has no answer            as ``executed`` and ``retryable`` say
        ├── NoMember            no member serves the service
        ├── Overloaded          more requests wait than the client, the bus or the member lets wait
        ├── DeadlineExceeded    the timeout has passed
        ├── MemberLost          the member's connection ended before it answered
        ├── BusLost             this client's connection ended after the request was sent
        ├── Cancelled           the client was closed, or the caller no longer waits
        ├── NotServed           the bus does not serve the request, or met a fault
        └── Rejected            the member has rejected it; raised by handlers

Programs test ``code`` and ``retryable``, people read the text. Wrong arguments are ValueError and TypeError.
"""

from __future__ import annotations

from typing import Self

from .._wire.call_frames import Execution
from .._wire.records import BusCode


class Error(Exception):
    """Base of all exceptions of this library."""

    #: Kind of error, the same word in all SDKs.
    code: str = "ERROR"
    #: True if the same call may succeed later.
    retryable: bool = False


class IllegalTopic(Error, ValueError):
    """A topic or filter that breaks the rules. Nothing was sent. Do not retry; correct the name, as the text says."""

    code = "ILLEGAL_TOPIC"


class TooBig(Error, ValueError):
    """The payload, key or headers of an event are over a limit of the bus. Do not retry; make it smaller."""

    code = "TOO_BIG"


class BufferFull(Error):
    """The outbound buffer is full. The event was not sent and got no sequence number. Retry after a pause."""

    code = "BUFFER_FULL"
    retryable = True


class NotConnected(Error, ConnectionError):
    """No connection could be made. Nothing was sent. Retry, unless the settings are wrong."""

    code = "NOT_CONNECTED"
    retryable = True


class NoToken(Error):
    """The token function failed, or returned no legal token; ``__cause__`` is the reason.

    An existing connection stays, and the function is called again later; for a new one nothing was sent. Retry after
    a pause.
    """

    code = "NO_TOKEN"
    retryable = True


class ConnectionLost(Error, ConnectionError):
    """The connection was lost for good while the outcome was open: the events may or may not have been delivered.

    Publishing them again may deliver them twice; not publishing them again may lose them.
    """

    code = "CONNECTION_LOST"
    retryable = True


class Refused(Error):
    """The bus refused something: ``bus_code`` and ``retryable`` are from its answer."""

    code = "REFUSED"

    def __init__(self, bus_code: BusCode, message: str, retryable: bool) -> None:
        super().__init__(bus_code, message, retryable)
        self.bus_code = bus_code
        self.message = message
        self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.bus_code.name}: {self.message}"


class TimedOut(Error, TimeoutError):
    """A deadline passed. Of a published event the outcome is open. Retry after a pause."""

    code = "TIMED_OUT"
    retryable = True


class Closed(Error):
    """The client or the subscription is closed; ``__cause__`` is the reason, unless the application has closed it. Do not
    retry."""

    code = "CLOSED"


class HeldBack(Error):
    """A subscription under ``BLOCK`` is not read, and stalls all others of its client; reported by ``on_problem``.

    ``filter`` is its filter, ``others`` are the filters of the others. Read it, end it, or subscribe with another
    policy.
    """

    code = "HELD_BACK"

    def __init__(self, filter: str, others: tuple[str, ...], named: str, held: int) -> None:
        super().__init__(
            f"{filter!r} has {held} bytes that were received and not handled, and holds back {named}: nothing comes for them "
            "(expected: read it, or another overflow policy than BLOCK)"
        )
        self.filter = filter
        self.others = others


class UnreadablePayload(Error, ValueError):
    """The codec cannot read a payload, or encode a value. Do not retry with the same bytes."""

    code = "UNREADABLE_PAYLOAD"


class CallFailed(Error):
    """A request to a service has no answer: ``executed`` says whether a member has begun with it.

    ``retryable`` is True where the same request may succeed later and is safe: it was not executed, or that is
    unknown and it is idempotent. ``retry_after``: seconds after which another try may succeed, as the bus or the
    member says; 0 for no advice. ``code`` is the protocol's name for the failure.
    """

    code = "CALL_FAILED"

    def __init__(self, message: str, executed: Execution, *, retryable: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.message = message
        self.executed = executed
        self.retryable = retryable
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.message} (executed: {self.executed.name})"


class NoMember(CallFailed):
    """No member serves the service, or not the one that the request names. Retry after a pause."""

    code = "NO_MEMBER"


class Overloaded(CallFailed):
    """More requests wait than the client, the bus or the member lets wait. Retry after ``retry_after``."""

    code = "OVERLOADED"


class DeadlineExceeded(CallFailed, TimeoutError):
    """The timeout of the request has passed. Retry where ``executed`` is NO, or the request is idempotent."""

    code = "TIMEOUT"


class MemberLost(CallFailed):
    """The connection of the member ended before it answered. Retry where the request is idempotent."""

    code = "MEMBER_LOST"


class BusLost(CallFailed):
    """The connection of this client ended after the request was sent. Retry only requests that may be executed twice."""

    code = "BUS_LOST"


class Cancelled(CallFailed):
    """The request was cancelled: the client was closed, or its caller no longer waits. Do not retry."""

    code = "CANCELLED"


class NotServed(CallFailed):
    """The bus does not serve the request, or met a fault: ``code`` is FORBIDDEN, TOO_BIG, UNSUPPORTED or INTERNAL.

    Do not retry, except after INTERNAL where ``retryable`` says so.
    """

    def __init__(self, code: str, message: str, executed: Execution, *, retryable: bool = False) -> None:
        super().__init__(message, executed, retryable=retryable)
        self.code = code


class Rejected(CallFailed):
    """The member has rejected the request: ``code`` is REFUSED, UNKNOWN_METHOD or FAILED.

    Raised by handlers; ``type``, the application's name for the failure, and ``details``, in the application's own
    format, reach the caller as they are. Retry as ``retryable`` says.
    """

    def __init__(
        self,
        code: str,
        message: str,
        executed: Execution,
        *,
        retryable: bool = False,
        retry_after: float = 0.0,
        type: str = "",
        details: bytes = b"",
    ) -> None:
        super().__init__(message, executed, retryable=retryable, retry_after=retry_after)
        if code not in ("REFUSED", "UNKNOWN_METHOD", "FAILED"):
            raise ValueError(f"code: {code!r} (expected: REFUSED, UNKNOWN_METHOD or FAILED)")
        self.code = code
        self.type = type
        self.details = details

    @classmethod
    def refused(cls, message: str, retry_after: float = 0.0) -> Self:
        """Returns the exception of a handler that has not begun with the request and does not take it now: the bus tries
        other members."""
        return cls("REFUSED", message, Execution.NO, retryable=True, retry_after=retry_after)

    @classmethod
    def unknown_method(cls, method: str) -> Self:
        """Returns the exception of a handler that does not know the method."""
        return cls("UNKNOWN_METHOD", f"method {method!r} is unknown", Execution.NO)

    @classmethod
    def failed(cls, type: str, message: str, details: bytes = b"") -> Self:
        """Returns the exception of a handler that has tried and failed. ``type``: at most 255 bytes of UTF-8;
        ``details``: at most 64 KiB."""
        return cls("FAILED", message, Execution.YES, type=type, details=details)


def closed(what: str, cause: BaseException | None = None) -> Closed:
    """Returns a Closed that names its cause."""
    if cause is None or isinstance(cause, Closed):
        return Closed(what)
    error = Closed(f"{what}: {cause}")
    error.__cause__ = cause
    return error
