"""Threads for handlers that may block. Daemons: one that is stuck does not keep the program from ending."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[Any], Any], Any]


class Threads:
    """See the module. As many as are needed at once are begun. For the thread of one loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._busy = self._begun = 0

    async def run(self, work: Callable[[Any], T], argument: Any) -> T:
        """Has a thread call a function, and waits for what it returns or raises."""
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
            # A future takes no StopIteration, which would end whatever waits for it.
            answer.set_exception(RuntimeError(repr(error)) if isinstance(error, StopIteration) else error)

    def close(self) -> None:
        """Ends those that have nothing to do, and the others when they are done."""
        for _ in range(self._begun):
            self._tasks.put(None)
