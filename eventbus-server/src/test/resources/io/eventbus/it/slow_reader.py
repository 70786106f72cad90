"""Reads what a bus delivers at a bounded rate, with a WebSocket library as it is; its keep-alive ends connections that do not answer.

Usage: slow_reader.py URL HELLO SUBSCRIBE BYTES_PER_SECOND SECONDS; the two frames in hexadecimal.
"""

import asyncio
import sys
import time

from websockets.asyncio.client import connect


async def main(url: str, hello: str, subscribe: str, rate: int, seconds: int) -> None:
    async with connect(url, subprotocols=["eventbus.v1.avro"], max_size=None) as socket:
        await socket.send(bytes.fromhex(hello))
        await socket.recv()
        await socket.send(bytes.fromhex(subscribe))
        begun = time.monotonic()
        taken = 0
        while (gone := time.monotonic() - begun) < seconds:
            taken += len(await socket.recv())
            await asyncio.sleep(max(0.0, taken / rate - gone))
    print(f"read {taken} bytes in {gone:.0f} s")


asyncio.run(main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])))
