"""Growing pauses with jitter, before connections and requests are tried again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .checks import check_range


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """See the module."""

    MAX: ClassVar[float] = 3600.0

    #: Seconds before the first try, from 0.001.
    initial_delay: float
    #: Maximum of seconds, from ``initial_delay``.
    max_delay: float
    #: Factor from try to try, 1 to 10.
    multiplier: float = 2.0
    #: Random part, 0 to 1.
    jitter: float = 0.5

    def __post_init__(self) -> None:
        check_range("initial_delay", self.initial_delay, 0.001, self.MAX, "s")
        check_range("max_delay", self.max_delay, self.initial_delay, self.MAX, "s")
        check_range("multiplier", self.multiplier, 1, 10, "")
        check_range("jitter", self.jitter, 0, 1, "")

    def delay(self, attempt: int, random: float) -> float:
        """Returns the seconds before a try, counted from 1; ``random`` is from 0 to 1."""
        # The exponent is bounded, because a float overflows.
        full = min(self.max_delay, self.initial_delay * self.multiplier ** min(attempt - 1, 100))
        return full * (1 - self.jitter * random)
