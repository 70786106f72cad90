"""The part of the client that shares the events of a work queue; see docs/protocol.md#shared-subscriptions.

    images = await bus.work("resizer", "images.>", handler)         # async def handler(job): ...
    await images.close()

A job is done when the handler returns, and comes again after an exception, to some worker; Reject makes it a dead letter.
"""

import asyncio
import inspect
import logging
from dataclasses import dataclass

from wire import (
    CONSUME,
    CREDIT,
    DELIVER,
    DRAINED,
    FEED,
    MODES,
    OUTCOMES,
    SETTLE,
    STARTS,
    TRUNCATED,
    TRUNCATED_REASONS,
    UNSUBSCRIBE,
    EventBusError,
    frame,
    frames,
)

log = logging.getLogger("eventbus")

WINDOW_BYTES = 1 << 20  # of feeds whose jobs are not settled; the rest waits at the bus
ANSWER_SECONDS = 10  # how long to wait for the end of a worker, once its handlers have returned
AGAIN_SECONDS = 1  # pause before a bus is asked again that has ended a worker
MAX_CONCURRENCY = 1024
MAX_ACK_SECONDS = 43_200
MAX_REASON_BYTES = 256


class Reject(Exception):
    """Raised by handlers: the job is a dead letter, and comes to no worker until an operator says so."""


@dataclass(frozen=True)
class Job:
    """An event of a work queue, and the number of its delivery: 1 for the first time."""

    topic: str
    payload: bytes
    key: str | None
    headers: dict[str, str]
    position: int
    attempt: int


class _Line:
    """A worker at the bus of one connection since its Consume: bytes that have come, and may come."""

    def __init__(self, limit):
        self.received, self.limit = 0, limit


class Worker:
    """A consumer of a shared durable subscription. It gets as many jobs as it handles at once, so that none waits here."""

    def __init__(self, workers, id, name, filter, handler, start, concurrency, ack_seconds):
        self._workers = workers
        self.id, self.name, self.filter, self.handler = id, name, filter, handler
        self.start, self.concurrency, self.ack_seconds = start, concurrency, ack_seconds
        self.creation = 0  # which journal, under one name
        self.line = None
        self.held = 0  # bytes of feeds with jobs that are not settled
        self.tasks = set()
        self.ending = False

    def room(self):
        return max(0, WINDOW_BYTES - self.held)

    def request(self):
        self.line, start = _Line(self.room()), STARTS.index(self.start)
        consume = {"id": self.id, "filter": self.filter, "journal": "", "name": self.name, "from": 0}
        consume |= {"mode": MODES.index("SHARED"), "start": start, "limit": self.line.limit}
        consume |= {"creation": self.creation, "otherStart": start, "otherFrom": 0, "maxEvents": self.concurrency}
        return consume | {"ackTimeoutMillis": int(self.ack_seconds * 1000), "maxAttempts": 0}

    def start_task(self, work):
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def close(self):
        """Ends the worker; returns when its handlers have returned, and the bus knows what became of their jobs."""
        await self._workers.end(self)


class Workers:
    """All workers of a client, `bus`."""

    def __init__(self, bus):
        self._bus = bus
        self._workers = {}  # by id
        self.again_seconds = AGAIN_SECONDS

    async def work(self, name, filter, handler, start, concurrency, ack_seconds):
        if start not in ("FIRST", "NEW"):
            raise ValueError(f"start: {start!r} (expected: FIRST or NEW)")
        if not 1 <= concurrency <= MAX_CONCURRENCY:
            raise ValueError(f"concurrency: {concurrency} (expected: 1 to {MAX_CONCURRENCY})")
        if not 1 <= ack_seconds <= MAX_ACK_SECONDS:
            raise ValueError(f"ack_seconds: {ack_seconds} (expected: 1 to {MAX_ACK_SECONDS})")
        await self._bus._until_ready()
        worker = Worker(self, next(self._bus._ids), name, filter, handler, start, concurrency, ack_seconds)
        self._workers[worker.id] = worker
        try:
            await self._bus._ask(CONSUME, worker.id, worker.request())
        except BaseException:
            self._workers.pop(worker.id, None)
            raise
        return worker

    async def end(self, worker):
        worker.ending = True
        drained = None
        if worker.line and self._bus._ws:
            drained = self._bus._answer(DRAINED, worker.id)
            drained.add_done_callback(lambda answer: answer.cancelled() or answer.exception())
            try:
                await self._bus._ask(UNSUBSCRIBE, worker.id, {"id": worker.id})
            except EventBusError:
                drained.cancel()  # the connection is lost, or the bus has ended the worker itself
        if worker.tasks:
            await asyncio.wait(worker.tasks)  # the bus waits for their settlements
        if drained:
            await asyncio.wait([drained], timeout=ANSWER_SECONDS)
        self._workers.pop(worker.id, None)

    # --- jobs -------------------------------------------------------------------------------------

    async def _feed(self, feed):
        worker = self._workers.get(feed["id"])
        if worker is None or worker.line is None:
            return
        line, size = worker.line, feed["frameBytes"]
        line.received += size
        if worker.ending:
            await self._settle(worker, line, feed["from"], feed["to"], feed["attempt"], "RELEASE")
            return
        worker.held += size
        jobs = [
            Job(deliver["topic"], event["payload"], event["key"], event["headers"], position, feed["attempt"])
            for type_code, deliver in frames(feed["frames"])
            if type_code == DELIVER
            for position, event in enumerate(deliver["events"], deliver["offset"])
            if position >= feed["from"]
        ]
        worker.start_task(self._handle_all(worker, line, jobs, size))

    async def _handle_all(self, worker, line, jobs, size):
        await asyncio.gather(*(self._handle_one(worker, line, job) for job in jobs))
        worker.held -= size
        line, limit = worker.line, worker.line.received + worker.room() if worker.line else 0
        if line and not worker.ending and limit - line.limit >= WINDOW_BYTES // 2:
            line.limit = limit
            credit = {"call": 0, "limit": limit, "received": line.received, "consumer": worker.id}
            await self._bus._send(frame(CREDIT, credit))

    async def _handle_one(self, worker, line, job):
        outcome, reason = "DONE", ""
        try:
            result = worker.handler(job)
            if inspect.isawaitable(result):
                await result
        except Reject as e:
            outcome, reason = "REJECT", str(e)
        except Exception as e:
            log.exception("the handler of %s failed at position %d", worker.name, job.position)
            outcome, reason = "RETRY", f"{type(e).__name__}: {e}"
        await self._settle(worker, line, job.position, job.position, job.attempt, outcome, reason)

    async def _settle(self, worker, line, first, last, attempt, outcome, reason=""):
        if line is not worker.line:
            return  # a job is of the connection that brought it: others have it when that is lost
        settle = {"id": worker.id, "upTo": last, "confirm": False, "creation": worker.creation, "from": first}
        settle |= {"outcome": OUTCOMES.index(outcome), "attempt": attempt, "delayMillis": -1}
        kept = reason.encode("utf-8", "replace")[:MAX_REASON_BYTES].decode("utf-8", "ignore")
        await self._bus._send(frame(SETTLE, settle | {"reason": kept}))

    # --- the connection ---------------------------------------------------------------------------

    async def handle(self, type_code, record):
        """Handles a frame for workers."""
        if type_code == FEED:
            await self._feed(record)
        elif type_code == TRUNCATED and (worker := self._workers.get(record["id"])):
            reasons, reason = TRUNCATED_REASONS, record["reason"]
            text = reasons[reason] if reason < len(reasons) else reasons[0]
            log.warning("%s: positions %d to %d do not come: %s", worker.name, record["from"], record["to"], text)

    def confirmed(self, confirm):
        """Handles that the bus has accepted a worker."""
        worker = self._workers.get(confirm["about"])
        if worker and confirm["creation"]:
            if worker.creation not in (0, confirm["creation"]):
                log.warning("%s: its journal was deleted, and created again", worker.name)
            worker.creation = confirm["creation"]

    def refused(self, id, error):
        """Handles that the bus has ended a worker, which asks again if that can help."""
        worker = self._workers.get(id)
        if worker is None:
            return
        worker.line = None
        log.warning("the bus has ended %s: %s", worker.name, error)
        if error.retryable and not worker.ending:
            worker.start_task(self._ask_again(worker, self._bus._ws))

    async def _ask_again(self, worker, ws):
        await asyncio.sleep(self.again_seconds)
        if ws is self._bus._ws and not worker.ending:  # over another connection it begins in any case
            await self._bus._send(frame(CONSUME, worker.request()))

    def requests(self):
        """Returns what begins the workers over a new connection."""
        return [worker.request() for worker in self._workers.values() if not worker.ending]

    def disconnected(self):
        """Forgets what belongs to the connection."""
        for worker in self._workers.values():
            worker.line = None

    async def close(self):
        """Ends all handlers, because the client has ended."""
        tasks = [task for worker in self._workers.values() for task in worker.tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
