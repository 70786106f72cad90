"""Serves a service that answers with the request in upper case: python respond.py [--url URL] SERVICE."""

import argparse
import asyncio
import logging
import sys

from eventbus import EventBus, EventBusError


async def main():
    parser = argparse.ArgumentParser(description="Answers the requests to a service with their text in capital letters.")
    parser.add_argument("--url", action="append", help="may be repeated (default: ws://localhost:8080/bus)")
    parser.add_argument("--token")
    parser.add_argument("--concurrency", type=int, default=16, help="requests at once (default: %(default)s)")
    parser.add_argument("service")
    args = parser.parse_args()
    async with EventBus(*(args.url or ["ws://localhost:8080/bus"]), token=args.token) as bus:
        await bus.serve(args.service, lambda invocation: invocation.payload.decode().upper().encode(), args.concurrency)
        print(f"serves {args.service}", file=sys.stderr, flush=True)
        await bus.ended()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    logging.getLogger("websockets").setLevel(logging.WARNING)
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (EventBusError, ValueError, OSError) as e:
        sys.exit(f"respond: {e}")
