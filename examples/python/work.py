"""Prints the events of a work queue in upper case: python work.py [--url URL] NAME FILTER. Ends in order on SIGTERM."""

import argparse
import asyncio
import json
import logging
import signal
import sys

from eventbus import EventBus, EventBusError
from workers import Reject


def shout(job):
    """Returns the text of a job in upper case; rejects what is no text, because another try would not help."""
    try:
        return job.payload.decode().upper()
    except UnicodeDecodeError as e:
        raise Reject(f"no UTF-8: {e}") from None


def handle(job):
    shown = {"position": job.position, "attempt": job.attempt, "text": shout(job)}
    print(json.dumps(shown, ensure_ascii=False), flush=True)


async def main():
    parser = argparse.ArgumentParser(description="Takes events of a work queue, and prints each as a line of JSON.")
    parser.add_argument("--url", action="append", help="may be repeated (default: ws://localhost:8080/bus)")
    parser.add_argument("--token")
    parser.add_argument("--concurrency", type=int, default=1, help="events at once (default: %(default)s)")
    parser.add_argument("--first", action="store_true", help="begin with the oldest event, if this is the first worker")
    parser.add_argument("name", help="the workers of one name share the events")
    parser.add_argument("filter")
    args = parser.parse_args()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with EventBus(*(args.url or ["ws://localhost:8080/bus"]), token=args.token) as bus:
        start = "FIRST" if args.first else "NEW"
        worker = await bus.work(args.name, args.filter, handle, start, args.concurrency)
        print(f"works on {args.filter}", file=sys.stderr, flush=True)
        stopped, ended = asyncio.create_task(stop.wait()), asyncio.create_task(bus.ended())
        await asyncio.wait([stopped, ended], return_when=asyncio.FIRST_COMPLETED)
        await worker.close()
        stopped.cancel()
        if ended.done():
            await ended
        ended.cancel()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    logging.getLogger("websockets").setLevel(logging.WARNING)
    try:
        asyncio.run(main())
    except (EventBusError, ValueError, OSError) as e:
        sys.exit(f"work: {e}")
