"""Publishes events: python publish.py [--url URL] TOPIC [TEXT ...]; without TEXT the lines of standard input."""

import argparse
import asyncio
import sys

from eventbus import EventBus, EventBusError


async def main():
    parser = argparse.ArgumentParser(description="Publishes events, and waits until the bus has confirmed them.")
    parser.add_argument("--url", action="append", help="may be repeated (default: ws://localhost:8080/bus)")
    parser.add_argument("--token")
    parser.add_argument("--key")
    parser.add_argument("--header", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("topic")
    parser.add_argument("text", nargs="*")
    args = parser.parse_args()
    headers = dict(h.split("=", 1) for h in args.header)
    async with EventBus(*(args.url or ["ws://localhost:8080/bus"]), token=args.token) as bus:
        for text in args.text or sys.stdin:
            await bus.publish(args.topic, text.rstrip("\n").encode(), args.key, headers)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (EventBusError, ValueError, OSError) as e:
        sys.exit(f"publish: {e}")
