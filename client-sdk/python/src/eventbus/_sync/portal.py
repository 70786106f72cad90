"""The thread with the event loop of all synchronous clients of the process."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from .._api.checks import check_range
from .._api.errors import Closed, TimedOut

T = TypeVar("T")

#: Seconds beyond a timeout that the loop's thread has to notice it.
GRACE = 5.0


class Portal:
    """The thread with the event loop; after a fork there is none in the child."""

    def __init__(self) -> None:
        self.is_lost = False
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="eventbus", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def check(self) -> None:
        """Raises if this thread cannot wait for the loop."""
        if self.is_lost:
            raise Closed("this client was made before a fork (expected: connect after the fork)")
        if threading.current_thread() is self._thread:
            raise RuntimeError("called in the client's own thread, which would wait for itself (expected: another one)")

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts a coroutine in the loop; cancelling the future cancels it."""
        try:
            self.check()
        except BaseException:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def call(self, work: Coroutine[Any, Any, T], timeout: float | None = None, what: str = "") -> T:
        """Runs a coroutine in the loop and waits for it, at most ``timeout`` seconds."""
        try:
            if timeout is not None:
                check_range("timeout", timeout, 0, 3600, "s")
        except BaseException:
            work.close()
            raise
        future = self.begin(work if timeout is None else _within(work, timeout, what))
        try:
            return future.result(None if timeout is None else timeout + GRACE)
        except BaseException as e:
            is_late = isinstance(e, TimeoutError) and not future.done()
            future.cancel()
            if is_late:
                raise TimedOut(
                    f"{what} did not end: a listener blocks the client's thread (expected: none does)"
                ) from None
            raise


async def _within(work: Coroutine[Any, Any, T], timeout: float, what: str) -> T:
    """Ends the coroutine in the loop's thread, where it is known whether it has completed."""
    scope = asyncio.timeout(timeout)
    try:
        async with scope:
            return await work
    except TimeoutError:
        if scope.expired():
            raise TimedOut(f"{what} did not end within {timeout:g} s; the outcome is open") from None
        raise


_lock = threading.Lock()
_portal: Portal | None = None


def the_portal() -> Portal:
    """Returns the portal of this process."""
    global _portal
    with _lock:
        if _portal is None:
            _portal = Portal()
        return _portal


def _after_fork() -> None:
    global _portal, _lock
    _lock = threading.Lock()
    if _portal is not None:
        _portal.is_lost = True
        _portal = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
