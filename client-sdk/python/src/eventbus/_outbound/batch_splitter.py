"""Splits frames for a bus with smaller limits than the one before."""

from __future__ import annotations

from .._api.errors import Refused, TooBig
from .._base.waiters import fail
from .._wire.codec import Reader
from .._wire.events import check_event
from .._wire.records import BusCode, Limits
from .publish_frame import ENCODED, HEAD, Frame


def not_durable() -> Refused:
    """Returns the error of an event that asks a bus for what it would ignore."""
    what = "the bus has no durable topics (expected: one that has, for expected, delay, ttl and producer)"
    return Refused(BusCode.UNSUPPORTED, what, False)


def split_batch(frame: Frame, limits: Limits, durable: bool, max_event: int, max_frame: int) -> tuple[list[Frame], int]:
    """Splits a frame for the limits of a bus; its events keep their numbers. Events that are too big fail, or that ask for
    a durable topic where the bus has none.

    Returns the frames, and the number of events that failed.
    """
    if frame.tail and not durable:
        for waiter in frame.waiters:
            fail(waiter, not_durable())
        return [], frame.count
    data = frame.encode()
    r = Reader(data)
    pieces: list[Frame] = []
    piece: Frame | None = None
    refused = 0
    for i in range(frame.count):
        start = r.pos
        payload_at = check_event(r, "Event")
        event = data[start : r.pos]
        waiters = frame.waiters[i : i + 1]
        if r.pos - payload_at > limits.payload_bytes or len(event) > max_event or not _fits(event, limits):
            piece = None
            refused += 1
            for waiter in waiters:
                fail(waiter, TooBig(f"event: {len(event)} bytes for a bus that takes less than the one before"))
            continue
        size = max(len(event), HEAD)
        if piece is None or piece.size + size > max_frame:
            piece = Frame(frame.topic, frame.schema, frame.confirm, frame.created)
            piece.first = frame.first + i
            piece.resend = frame.resend
            piece.tail = frame.tail
            pieces.append(piece)
        piece.payloads.append(event)
        piece.times.append(ENCODED)
        piece.count += 1
        piece.size += size
        piece.waiters += waiters
    return pieces, refused


def _fits(event: bytes, limits: Limits) -> bool:
    r = Reader(event)
    r.long("Event.publishedAt")
    r.optional("Event.key")
    headers = r.text_map("Event.headers")
    size = sum(len(text.encode()) for item in headers.items() for text in item)
    return len(headers) <= limits.headers and size <= limits.header_bytes
