"""Splits frames for a bus with smaller limits than the one before."""

from __future__ import annotations

from .._api.errors import TooBig
from .._base.waiters import fail
from .._wire.codec import Reader
from .._wire.events import check_event
from .._wire.records import Limits
from .publish_frame import ENCODED, HEAD, Frame


def split_batch(frame: Frame, limits: Limits, max_event: int, max_frame: int) -> tuple[list[Frame], int]:
    """Splits a frame for the limits of a bus; its events keep their numbers. Events that are too big fail.

    Returns the frames, and the number of too big events.
    """
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
