"""Everything that can go wrong.

::

    Error
    ├── IllegalTopic        a topic or filter that breaks the rules         do not retry
    ├── TooBig              an event over a limit of the bus                do not retry
    ├── BufferFull          the outbound buffer is full                     retry after a pause
    ├── NotConnected        no connection could be made                     retry
    ├── ConnectionLost      the outcome of what was under way is open       as the application decides
    ├── Refused             the bus refused something                       as ``retryable`` says
    ├── TimedOut            a deadline passed; the outcome may be open      retry after a pause
    ├── Closed              the client or subscription is closed            do not retry; make a new one
    └── UnreadablePayload   a payload that is not what the codec expects    do not retry

Programs look at ``code`` and ``retryable``, people at the text. Broken arguments are ValueError and TypeError.
"""

from __future__ import annotations

from typing import ClassVar

from ._wire import BusCode


class Error(Exception):
    """What all errors of this library have."""

    #: The kind, the same word in all SDKs.
    code: ClassVar[str] = "ERROR"
    #: Whether the same call may succeed later.
    retryable: bool = False


class IllegalTopic(Error, ValueError):
    """A topic or filter that breaks the rules. Nothing was sent. Do not retry; correct the name, as the text says."""

    code = "ILLEGAL_TOPIC"


class TooBig(Error, ValueError):
    """An event whose payload, key or headers are over a limit of the bus. Do not retry; make it smaller."""

    code = "TOO_BIG"


class BufferFull(Error):
    """The outbound buffer is full. The event was not sent and got no sequence number. Retry after a pause."""

    code = "BUFFER_FULL"
    retryable = True


class NotConnected(Error, ConnectionError):
    """No connection could be made. Nothing was sent. Retry, unless the cause is a mistake in the settings."""

    code = "NOT_CONNECTED"
    retryable = True


class ConnectionLost(Error, ConnectionError):
    """The connection was lost for good while the outcome was open: the events may or may not have been delivered.

    Publishing them again may deliver them twice; not publishing them again may lose them.
    """

    code = "CONNECTION_LOST"
    retryable = True


class Refused(Error):
    """The bus refused something: ``bus_code`` and ``retryable`` are what it answered."""

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
    """The client or the subscription is closed; ``__cause__`` is why, if not the application has closed it. Do not retry."""

    code = "CLOSED"


class UnreadablePayload(Error, ValueError):
    """A payload that is not what the codec expects, or a value that it cannot encode. Do not retry with the same bytes."""

    code = "UNREADABLE_PAYLOAD"


def closed(what: str, cause: BaseException | None = None) -> Closed:
    """Makes a Closed that names its cause."""
    if cause is None or isinstance(cause, Closed):
        return Closed(what)
    error = Closed(f"{what}: {cause}")
    error.__cause__ = cause
    return error
