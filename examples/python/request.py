"""Sends a request to a service: python request.py [--url URL] SERVICE TEXT; prints the answer."""

import argparse
import asyncio
import sys

from eventbus import EventBus, EventBusError


async def main():
    parser = argparse.ArgumentParser(description="Asks a service, and prints its answer.")
    parser.add_argument("--url", action="append", help="may be repeated (default: ws://localhost:8080/bus)")
    parser.add_argument("--token")
    parser.add_argument("--method", default="")
    parser.add_argument("--timeout", type=float, default=30, help="seconds (default: %(default)s)")
    parser.add_argument("--idempotent", action="store_true", help="it may be executed more than once")
    parser.add_argument("service")
    parser.add_argument("text")
    args = parser.parse_args()
    async with EventBus(*(args.url or ["ws://localhost:8080/bus"]), token=args.token) as bus:
        answer = await bus.request(args.service, args.text.encode(), args.method, args.timeout, args.idempotent)
        print(answer.payload.decode("utf-8", "replace"))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (EventBusError, ValueError, OSError) as e:
        sys.exit(f"request: {e}")
