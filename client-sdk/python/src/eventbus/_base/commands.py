"""Commands of the core for its driver."""

from __future__ import annotations

from dataclasses import dataclass

from .bus_link import BusLink


@dataclass(frozen=True)
class Open:
    """Make a connection; ``opened`` or ``closed`` has to follow."""

    link: BusLink
    timeout: float


@dataclass(frozen=True)
class Close:
    """Send all earlier messages, then a Close frame, and end the connection within 2 s."""

    link: BusLink
    code: int
    reason: str


@dataclass(frozen=True)
class Abort:
    """End the connection, or the try to make one, at once."""

    link: BusLink


@dataclass(frozen=True)
class Ping:
    """Send a Ping; pass its Pong to ``heard``, after all messages before it."""

    link: BusLink
    #: Argument of ``heard`` with the Pong.
    behind: bool = False


@dataclass(frozen=True)
class AskToken:
    """Ask the application for a token; ``token`` or ``no_token`` has to follow."""

    round: int


Command = Open | Close | Abort | Ping | AskToken
