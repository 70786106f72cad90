"""What waits for an answer, without a loop."""

from __future__ import annotations

from typing import Any, Protocol

from ._errors import Error


class Waiter(Protocol):
    """The futures of asyncio and of concurrent.futures are some."""

    def done(self) -> bool: ...

    def set_result(self, result: Any, /) -> None: ...

    def set_exception(self, exception: Any, /) -> None: ...


def succeed(waiter: Waiter, result: object) -> None:
    """Answers, unless nothing waits any more."""
    if not waiter.done():
        waiter.set_result(result)


def fail(waiter: Waiter, error: Error) -> None:
    """Answers with an error of its own, unless nothing waits any more."""
    if not waiter.done():
        waiter.set_exception(error)
