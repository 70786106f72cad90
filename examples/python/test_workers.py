"""Tests of workers without a bus: python -m unittest test_workers."""

import asyncio
import itertools
import logging
import unittest

from wire import CONSUME, CREDIT, DELIVER, FEED, MODES, OUTCOMES, SETTLE, UNSUBSCRIBE, EventBusError, frame, frames
from work import shout
from workers import WINDOW_BYTES, Job, Reject, Workers


class FakeBus:
    """A client that is connected, and records what workers send."""

    def __init__(self):
        self.sent = []
        self._ws = object()
        self._ids = itertools.count(1)
        self.drained = None

    async def _until_ready(self):
        pass

    async def _ask(self, type_code, id, record):
        await self._send(frame(type_code, record))

    def _answer(self, type_code, id):
        self.drained = asyncio.get_running_loop().create_future()
        return self.drained

    async def _send(self, message):
        self.sent += frames(message)

    def take(self, type_code):
        taken = [record for code, record in self.sent if code == type_code]
        self.sent = [(code, record) for code, record in self.sent if code != type_code]
        return taken

    def settled(self):
        return [(s["from"], s["upTo"], OUTCOMES[s["outcome"]], s["attempt"], s["reason"]) for s in self.take(SETTLE)]


def event(payload):
    return {"publishedAt": 1, "key": None, "headers": {}, "payload": payload}


def feed(first, *payloads, before=0, attempt=1):
    """Returns a feed of neighbours; `before`: events in its frame that come before its first position."""
    events = [event(b"other")] * before + [event(payload) for payload in payloads]
    deliver = {"topic": "jobs.a", "producer": 9, "sequence": first, "schema": 0, "receivedAt": 1, "events": events}
    raw = frame(DELIVER, deliver | {"offset": first - before, "groups": []})
    last = first + len(payloads) - 1
    return {"id": 1, "from": first, "to": last, "head": last, "frames": raw, "attempt": attempt, "frameBytes": len(raw) + 20}


class WorkersTest(unittest.IsolatedAsyncioTestCase):
    async def begin(self, handler, **options):
        self.bus = FakeBus()
        self.workers = Workers(self.bus)
        options = {"start": "NEW", "concurrency": 4, "ack_seconds": 30, **options}
        self.worker = await self.workers.work("resizer", "jobs.>", handler, **options)

    async def give(self, *args, **options):
        await self.workers.handle(FEED, feed(*args, **options))

    async def idle(self):
        while self.worker.tasks:
            await asyncio.wait(self.worker.tasks)

    async def test_the_bus_is_told_what_the_worker_wants(self):
        await self.begin(print, concurrency=7, ack_seconds=60)
        [consume] = self.bus.take(CONSUME)
        wanted = {"name": "resizer", "filter": "jobs.>", "mode": MODES.index("SHARED"), "maxEvents": 7}
        wanted |= {"ackTimeoutMillis": 60_000, "limit": WINDOW_BYTES}
        self.assertEqual(wanted, {name: consume[name] for name in wanted})
        for wrong in ({"start": "LAST"}, {"concurrency": 0}, {"ack_seconds": 0.5}):
            with self.assertRaises(ValueError):
                await self.begin(print, **wrong)

    async def test_each_outcome_is_settled(self):
        jobs = []

        async def handle(job):
            jobs.append(job)
            if job.payload == b"bad":
                raise Reject("never")
            if job.payload == b"fails":
                raise LookupError("x" * 500)

        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        await self.begin(handle)
        await self.give(5, b"good", b"bad", b"fails", before=2, attempt=3)
        await self.idle()
        self.assertEqual(Job("jobs.a", b"good", None, {}, 5, 3), jobs[0])
        self.assertEqual(3, len(jobs))
        reason = "LookupError: " + "x" * 243
        expected = [(5, 5, "DONE", 3, ""), (6, 6, "REJECT", 3, "never"), (7, 7, "RETRY", 3, reason)]
        self.assertEqual(expected, sorted(self.bus.settled()))

    async def test_more_may_come_when_half_of_the_window_is_settled(self):
        gate = asyncio.Event()
        await self.begin(lambda job: gate.wait())
        await self.give(1, bytes(WINDOW_BYTES // 2))
        self.assertEqual([], self.bus.take(CREDIT))
        gate.set()
        await self.idle()
        [credit] = self.bus.take(CREDIT)
        self.assertEqual((credit["received"] + WINDOW_BYTES, 1), (credit["limit"], credit["consumer"]))
        self.assertGreater(credit["received"], WINDOW_BYTES // 2)

    async def test_jobs_of_a_lost_connection_are_not_settled_over_the_next_one(self):
        gate = asyncio.Event()
        await self.begin(lambda job: gate.wait())
        await self.give(1, bytes(1000))
        self.workers.disconnected()
        [again] = self.workers.requests()
        self.assertLess(again["limit"], WINDOW_BYTES)  # what is here keeps its room
        gate.set()
        await self.idle()
        self.assertEqual([], self.bus.settled())
        self.assertEqual(WINDOW_BYTES, self.workers.requests()[0]["limit"])

    async def test_the_end_finishes_what_has_begun_and_gives_back_the_rest(self):
        gate = asyncio.Event()
        await self.begin(lambda job: gate.wait())
        await self.give(1, b"a")
        end = asyncio.create_task(self.worker.close())
        while not self.bus.take(UNSUBSCRIBE):
            await asyncio.sleep(0)
        await self.give(2, b"b", b"c")
        self.assertEqual([(2, 3, "RELEASE", 1, "")], self.bus.settled())
        gate.set()
        await self.idle()
        self.assertEqual([(1, 1, "DONE", 1, "")], self.bus.settled())
        self.assertFalse(end.done())
        self.bus.drained.set_result(None)
        await end
        self.assertEqual([], self.workers.requests())

    async def test_the_end_without_a_connection_waits_for_handlers(self):
        gate = asyncio.Event()
        await self.begin(lambda job: gate.wait())
        await self.give(1, b"a")
        self.workers.disconnected()
        end = asyncio.create_task(self.worker.close())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        self.assertFalse(end.done())
        gate.set()
        await end
        self.assertEqual([], self.bus.take(UNSUBSCRIBE) + self.bus.take(SETTLE))

    async def test_a_worker_that_the_bus_has_taken_for_lost_asks_again(self):
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        await self.begin(print)
        self.bus.sent.clear()
        self.workers.refused(1, EventBusError("NO_JOURNAL", "deleted"))
        self.assertEqual(set(), self.worker.tasks)
        self.workers.again_seconds = 0
        self.workers.refused(1, EventBusError("REPLACED", "lost", True))
        await self.idle()
        self.assertEqual(1, len(self.bus.take(CONSUME)))

    async def test_the_journal_that_was_read_is_told(self):
        await self.begin(print)
        self.workers.confirmed({"about": 1, "creation": 79})
        [again] = self.workers.requests()
        self.assertEqual(79, again["creation"])


class ShoutTest(unittest.TestCase):
    def test_what_is_no_text_is_rejected(self):
        self.assertEqual("GRÜSSE", shout(Job("a", "grüße".encode(), None, {}, 1, 1)))
        with self.assertRaises(Reject):
            shout(Job("a", b"\xff", None, {}, 1, 1))


if __name__ == "__main__":
    unittest.main()
