"""Threads for handlers that may block. They are daemons: a stuck handler does not keep the program from ending."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[Any], Any], Any]


class Threads:
    """See the module. Starts as many threads as are needed at once. To be used in the thread of one loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._busy = self._begun = 0

    async def run(self, work: Callable[[Any], T], argument: Any) -> T:
        """Calls a function in a thread, and waits for its result or exception."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        if self._busy == self._begun:
            self._begun += 1
            threading.Thread(target=self._run, name=f"{self._name} {self._begun}", daemon=True).start()
        self._busy += 1
        self._tasks.put((loop, answer, work, argument))
        return await answer

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            loop, answer, work, argument = task
            try:
                result, error = work(argument), None
            except BaseException as e:
                result, error = None, e
            loop.call_soon_threadsafe(self._settle, answer, result, error)
            del task, answer, work, argument, result, error

    def _settle(self, answer: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        self._busy -= 1
        if answer.done():
            return
        if error is None:
            answer.set_result(result)
        else:
            # A future accepts no StopIteration, which would end its waiters.
            answer.set_exception(RuntimeError(repr(error)) if isinstance(error, StopIteration) else error)

    def close(self) -> None:
        """Ends idle threads, and the others when they are done."""
        for _ in range(self._begun):
            self._tasks.put(None)
