"""What the core asks its driver to do."""

from __future__ import annotations

from dataclasses import dataclass

from ._link import Link


@dataclass(frozen=True)
class Open:
    """Make a connection; ``opened`` or ``closed`` has to follow."""

    link: Link
    timeout: float


@dataclass(frozen=True)
class Close:
    """Send what was given before, then a Close frame, and end the connection within 2 s."""

    link: Link
    code: int
    reason: str


@dataclass(frozen=True)
class Abort:
    """End the connection, or the try to make one, at once."""

    link: Link


@dataclass(frozen=True)
class Ping:
    """Send a Ping; its Pong is ``heard``, after every message that came before it."""

    link: Link
    #: To be given to ``heard`` with the Pong.
    behind: bool = False


@dataclass(frozen=True)
class AskToken:
    """Ask the application for a token; ``token`` or ``no_token`` has to follow."""

    round: int


Command = Open | Close | Abort | Ping | AskToken
