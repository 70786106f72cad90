"""Prints events as JSON lines: python subscribe.py [--url URL] FILTER."""

import argparse
import asyncio
import json
import logging
import sys

from eventbus import OVERFLOW, EventBus, EventBusError


async def main():
    parser = argparse.ArgumentParser(description="Subscribes, and prints each event as a line of JSON.")
    parser.add_argument("--url", action="append", help="may be repeated (default: ws://localhost:8080/bus)")
    parser.add_argument("--token")
    parser.add_argument("--group", help="share the events with the other members of this group")
    parser.add_argument("--overflow", choices=OVERFLOW, default="BLOCK")
    parser.add_argument("--count", type=int, help="end after so many events")
    parser.add_argument("filter")
    args = parser.parse_args()
    async with EventBus(*(args.url or ["ws://localhost:8080/bus"]), token=args.token) as bus:
        events = await bus.subscribe(args.filter, args.group, args.overflow)
        print(f"subscribed to {args.filter}", file=sys.stderr, flush=True)
        left = args.count
        while left is None or left > 0:
            event = await anext(events)
            shown = {"topic": event.topic, "sequence": event.sequence, "publishedAt": event.published_at}
            shown |= {"key": event.key, "headers": event.headers}
            shown["payload"] = event.payload.decode("utf-8", "replace")
            print(json.dumps(shown, ensure_ascii=False), flush=True)
            left = left and left - 1


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    logging.getLogger("websockets").setLevel(logging.WARNING)
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (EventBusError, ValueError, OSError) as e:
        sys.exit(f"subscribe: {e}")
