"""Waiters for answers, without a loop."""

from __future__ import annotations

from typing import Any, Protocol

from .._api.errors import Error


class Waiter(Protocol):
    """A waiter for an answer, like the futures of asyncio and of concurrent.futures."""

    def done(self) -> bool: ...

    def set_result(self, result: Any, /) -> None: ...

    def set_exception(self, exception: Any, /) -> None: ...


def succeed(waiter: Waiter, result: object) -> None:
    """Answers, unless the waiter has gone."""
    if not waiter.done():
        waiter.set_result(result)


def fail(waiter: Waiter, error: Error) -> None:
    """Answers with a new error, unless the waiter has gone."""
    if not waiter.done():
        waiter.set_exception(error)
