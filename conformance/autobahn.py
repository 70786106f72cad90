"""Plays the cases of Autobahn|Testsuite at echo endpoints; autobahn.sh has what this needs."""

import argparse
import asyncio
import ssl
import sys
from collections import Counter
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from kosoku import FailureError, run_fuzzingclient
from kosoku._report import write_reports

# Groups of cases that ask the bus to compress with a smaller window. The JDK has none, so the bus does not negotiate it.
NOT_NEGOTIATED = ("13.3.", "13.5.")

# Timeout of all cases at one endpoint: the suite itself waits only for seconds.
TIMEOUT = 1800
AT_A_TIME = 2


async def copy(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            to.write(data)
            await to.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        to.close()


@asynccontextmanager
async def plain(url: str):
    """The endpoint without TLS, which the suite does not speak."""
    parts = urlsplit(url)
    if parts.scheme == "ws":
        yield url
        return
    trusting = ssl.create_default_context()
    trusting.check_hostname = False
    trusting.verify_mode = ssl.CERT_NONE

    # Keeps references to the tasks, which could be garbage collected before their end.
    held: set[asyncio.Task | None] = set()

    async def encrypt(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.add(asyncio.current_task())
        try:
            there, back = await asyncio.open_connection(parts.hostname, parts.port, ssl=trusting)
            await asyncio.gather(copy(reader, back), copy(there, writer))
        except OSError:
            writer.close()
        finally:
            held.discard(asyncio.current_task())

    server = await asyncio.start_server(encrypt, "127.0.0.1", 0)
    try:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}{parts.path}"
    finally:
        server.close()


def passed(result) -> bool:
    """Returns whether the bus did as the case requires, or did not negotiate what it cannot do."""
    if result.behavior.value == "UNIMPLEMENTED":
        return result.case_id.startswith(NOT_NEGOTIATED)
    return result.behavior.value in ("OK", "NON-STRICT", "INFORMATIONAL") and result.behavior_close.value in ("OK", "INFORMATIONAL")


async def play(url: str, cases: list[str], reports: str) -> bool:
    async with plain(url) as address:
        try:
            results = await asyncio.wait_for(run_fuzzingclient(address, cases, [], concurrency=AT_A_TIME), TIMEOUT)
        except FailureError as failure:
            results = failure.results
    if not results:
        print(f"autobahn: {url}: no case was played (expected: some of {' '.join(cases)})", file=sys.stderr)
        return False
    if reports:
        write_reports(results, f"{reports}/{urlsplit(url).scheme}")
    counts = Counter(str(result.behavior.value) for result in results)
    summary = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"autobahn: {url}: {len(results)} cases: {summary}")
    failed = [result for result in results if not passed(result)]
    for result in failed:
        print(f"  {result.case_id}: {result.behavior.value}, close {result.behavior_close.value}", file=sys.stderr)
    return not failed


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--reports", default="")
    parser.add_argument("--cases", nargs="+", required=True)
    parser.add_argument("--urls", nargs="+", required=True)
    arguments = parser.parse_args()
    all_passed = [await play(url, arguments.cases, arguments.reports) for url in arguments.urls]
    return 0 if all(all_passed) else 1


sys.exit(asyncio.run(main()))
