"""Executes the commands of the core on asyncio: connections, timers, requests for tokens."""

from __future__ import annotations

import asyncio
import inspect
import random
import time
from collections.abc import Callable, Coroutine
from typing import Any

from .._api.errors import NoToken, TimedOut
from .._api.options import Options, check_token
from .._base.bus_link import BusLink
from .._base.commands import AskToken, Close, Command, Open, Ping
from .._connection.machine import Machine
from .._version import AGENT
from .socket import Socket


class Driver:
    """See the module. ``tell`` is called with happenings. To be used in the thread of the loop that is running when it is
    made."""

    def __init__(self, options: Options, tell: Callable[[object], None]) -> None:
        self.options = options
        self.loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self.machine = Machine(options, AGENT, random.random, time.time_ns)
        self.machine.wake = self.wake
        self._sockets: dict[BusLink, Socket] = {}
        #: Set while a call of ``pump`` at the end of this turn of the loop is scheduled.
        self.woken = False
        #: Time of the timer; None if it is not set.
        self.timer_at: float | None = None
        self._tell = tell
        self._joining: set[asyncio.Task[Any]] = set()
        self._asking: asyncio.Task[None] | None = None
        self._pumping = False
        self._timer: asyncio.TimerHandle | None = None

    async def token(self) -> str | None:
        """Returns the token for authentication."""
        token = self.options.token
        if not callable(token):
            return token
        found = token()
        return check_token("what the token function returned", await found if inspect.isawaitable(found) else found)

    def wake(self) -> None:
        """Schedules ``pump`` at the end of this turn of the loop."""
        if not self.woken:
            self.woken = True
            self.loop.call_soon(self.pump)

    async def _renew(self, round_: int) -> None:
        """Requests a new token from the application, with ``connect_timeout``."""
        machine, timeout = self.machine, self.options.connect_timeout
        scope = asyncio.timeout(timeout)
        try:
            async with scope:
                token = await self.token()
        except Exception as e:
            why = f"gave none within {timeout:g} s" if scope.expired() else f"failed: {type(e).__name__}"
            error = (TimedOut if scope.expired() else NoToken)(f"the token function {why}")
            error.__cause__ = e
            machine.no_token(round_, error, self.loop.time())
        else:
            machine.token(round_, token or "", self.loop.time())

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts a task, which ``join`` waits for."""
        task = self.loop.create_task(work)
        self._joining.add(task)
        task.add_done_callback(self._joining.discard)
        return task

    def forget(self, link: BusLink) -> None:
        """Forgets the socket of a connection, which has ended."""
        self._sockets.pop(link, None)

    def pump(self) -> None:
        """Executes the commands of the core."""
        self.woken = False
        if self._pumping:
            return
        self._pumping = True
        machine = self.machine
        try:
            at = machine.wake_at()
            if at is not None and at <= self.loop.time():
                machine.tick(self.loop.time())
            while machine.commands:
                self._do(machine.commands.popleft())
            for socket in tuple(self._sockets.values()):
                socket.wake()
            if machine.happenings:
                happened = list(machine.happenings)
                machine.happenings.clear()
                for happening in happened:
                    self._tell(happening)
            at = machine.wake_at()
            if at != self.timer_at:
                self._set_timer(at)
        finally:
            self._pumping = False
        if machine.commands or machine.happenings:
            self.wake()

    def _set_timer(self, at: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.timer_at = at
        self._timer = None if at is None else self.loop.call_at(at, self._on_time)

    def _on_time(self) -> None:
        self.timer_at = None
        self._timer = None
        self.machine.tick(self.loop.time())
        self.pump()

    def _do(self, command: Command) -> None:
        if isinstance(command, Open):
            socket = self._sockets[command.link] = Socket(self, command.link, command.timeout)
            self.spawn(socket.join())
            return
        if isinstance(command, AskToken):
            self._asking = self.spawn(self._renew(command.round))
            return
        found = self._sockets.get(command.link)
        if found is None:
            return
        if isinstance(command, Close):
            found.close(command.code, command.reason)
        elif isinstance(command, Ping):
            found.ping(command.behind)
        else:
            found.abort()

    def close(self) -> None:
        """Ends the client; ``join`` has to follow."""
        self.machine.close(self.loop.time())
        self.pump()
        if self._asking is not None:
            self._asking.cancel()

    async def join(self, others: list[asyncio.Task[Any]]) -> None:
        """Waits until all tasks have ended, and ``others``, too."""
        tasks = [*self._joining, *others]
        if tasks:
            await asyncio.wait(tasks)
        if self._timer is not None:
            self._timer.cancel()
