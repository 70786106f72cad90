"""The codec against the examples of docs/protocol.md."""

from __future__ import annotations

import json
import re
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from eventbus._wire.call_frames import EventParts
from eventbus._wire.codec import Malformed, Reader, frame, frames, text, varint
from eventbus._wire.durable_frames import RECORDS, Feed, deliveries, publish_tail
from eventbus._wire.events import DeliveryReader, Event, EventCursor, encode_event, publish_head
from eventbus._wire.records import DELIVER, PUBLISH, Confirm, Record, _fields_of

PAGE = Path(__file__).parents[3] / "docs" / "protocol.md"
EXAMPLE = re.compile(r"^### (\d{3}) \w+\n\n```json\n(.*?)\n```\n\n```hex\n(.*?)```", re.M | re.S)


def examples() -> list[tuple[int, dict[str, Any], bytes]]:
    found = []
    for code, record, hexa in EXAMPLE.findall(PAGE.read_text(encoding="utf-8")):
        raw = bytes.fromhex("".join(line.split(";")[0] for line in hexa.splitlines()))
        found.append((int(code), json.loads(record), raw))
    return found


def plain(value: Any) -> Any:
    """Removes the names of branches from Avro's JSON, and those of symbols from ours."""
    if isinstance(value, dict):
        return next(iter(value.values())) if set(value) == {"string"} else {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def shown(value: Any) -> Any:
    if isinstance(value, Record):
        return {path.split(".")[1]: shown(getattr(value, name)) for name, path, _, _ in _fields_of(type(value))}
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, EventParts):
        payload = value.payload.decode("latin-1")
        return {"publishedAt": value.published_at, "key": value.key, "headers": value.headers, "payload": payload}
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return list(value) if isinstance(value, tuple) else value


def of_the_page(value: Any, record: dict[str, Any]) -> Any:
    """Returns the fields that the page's example has: a record may have more at its end, each with a default."""
    return {name: field for name, field in shown(value).items() if name in record}


CONTROL = [e for e in examples() if e[0] in RECORDS]


def test_the_page_has_an_example_of_each_frame() -> None:
    assert {code for code, _, _ in examples()} == {*RECORDS, PUBLISH, DELIVER}


@pytest.mark.parametrize(("code", "record", "raw"), CONTROL, ids=[str(e[0]) for e in CONTROL])
def test_control_frames(code: int, record: dict[str, Any], raw: bytes) -> None:
    [(found, start, body, end)] = frames(raw)
    assert (found, start, end) == (code, 0, len(raw))
    value = RECORDS[code].read(Reader(raw, body, end))
    assert of_the_page(value, record) == plain(record)
    if len(shown(value)) == len(record):
        assert value.frame() == raw
    else:
        assert value.encode().startswith(raw[body:end])


@pytest.mark.parametrize(("code", "record", "raw"), CONTROL, ids=[str(e[0]) for e in CONTROL])
def test_a_truncated_frame_is_refused_or_gets_defaults(code: int, record: dict[str, Any], raw: bytes) -> None:
    [(_, _, body, end)] = frames(raw)
    whole = RECORDS[code].read(Reader(raw, body, end))
    for cut in range(body, end):
        try:
            found = RECORDS[code].read(Reader(raw, body, cut))
        except Malformed as e:
            assert "expected: " in str(e)
        else:
            # Only fields with a default may be missing, and those before them are all there.
            assert found.encode().startswith(raw[body:cut])
            assert type(found) is type(whole)
    with pytest.raises(Malformed):
        list(frames(raw[:-1]))


def test_bytes_behind_the_known_fields_are_ignored() -> None:
    for code, record, raw in CONTROL:
        [(_, _, body, end)] = frames(raw)
        value = RECORDS[code].read(Reader(raw[body:end] + b"\x0ageflk"))
        assert of_the_page(value, record) == plain(record)


def test_a_confirmation_has_its_receivers() -> None:
    told = Confirm(PUBLISH, 2, "a", 3).encode()
    assert Confirm.read(Reader(told)).receivers == 3
    # Of a bus without durable topics, and of one that tells no receivers.
    assert Confirm.read(Reader(told[:-3])).receivers == 3
    assert Confirm.read(Reader(told[:-4])).receivers == -1


def test_a_feed_has_deliveries_and_frames_of_later_versions() -> None:
    [(_, record, raw)] = [e for e in examples() if e[0] == Feed.CODE]
    deliver = record["frames"].encode("latin-1")
    feed = Feed(4, 42, 45, 45, deliver + frame(63, b"\7") + deliver)
    found = [(d.offset, d.origin_producer, d.origin_sequence) for d in deliveries(DeliveryReader(), feed.frames)]
    assert found == [(43, 7378243254498108065, 5)] * 2
    assert Feed.read(Reader(raw, 2)).frames == deliver


def publish_frame(record: dict[str, Any]) -> bytes:
    events = [
        encode_event(e["publishedAt"], e["key"], e["headers"], e["payload"].encode("latin-1")) for e in record["events"]
    ]
    size = sum(map(len, events))
    names = ("expect", "delayMillis", "ttlMillis", "producerName", "number")
    tail = publish_tail(*(record[name] for name in names))
    head = publish_head(
        text(record["topic"]), record["sequence"], record["schema"], record["confirm"], len(events), size, len(tail)
    )
    return head + b"".join(events) + b"\0" + tail


def events_of(raw: bytes, reader: DeliveryReader | None = None) -> tuple[Any, list[Event]]:
    [(code, start, body, end)] = frames(raw)
    assert code == DELIVER
    delivery = (reader or DeliveryReader()).read(raw, body, end, end - start)
    events: list[Event] = []
    assert EventCursor(delivery).take(events, 1_000_000)
    return delivery, events


def as_json(delivery: Any, events: list[Event]) -> dict[str, Any]:
    return {
        "topic": delivery.topic,
        "producer": delivery.producer,
        "sequence": delivery.sequence,
        "schema": delivery.schema,
        "receivedAt": delivery.received_at,
        "offset": delivery.offset,
        "events": [
            {"publishedAt": e.published_at, "key": e.key, "headers": e.headers, "payload": e.payload.decode("latin-1")}
            for e in events
        ],
        "groups": list(delivery.groups),
        "originProducer": delivery.origin_producer,
        "originSequence": delivery.origin_sequence,
    }


def test_publish() -> None:
    [(_, record, raw)] = [e for e in examples() if e[0] == PUBLISH]
    record = plain(record)
    # The page's map of headers is a single block with a count, like ours.
    assert publish_frame(record) == raw


def test_deliver() -> None:
    [(_, record, raw)] = [e for e in examples() if e[0] == DELIVER]
    reader = DeliveryReader()
    events_of(raw, reader)
    delivery, events = events_of(raw, reader)  # its head is known now
    assert as_json(delivery, events) == plain(record)
    assert delivery.cost == len(raw)
    first, second = events
    assert first.text() == '{"runway":"07C"}'
    assert first.json() == {"runway": "07C"}
    assert first.published.isoformat() == "2025-11-21T08:00:00+00:00"
    assert (first.sequence, second.sequence) == (1, 2)
    assert second.key is None
    assert "07C" not in repr(first)


def test_events_are_taken_in_parts() -> None:
    [(_, _, raw)] = [e for e in examples() if e[0] == DELIVER]
    [(_, _, body, end)] = frames(raw)
    cursor = EventCursor(DeliveryReader().read(raw, body, end))
    events: list[Event] = []
    assert not cursor.take(events, 1)
    assert cursor.take(events, 1)
    assert [e.sequence for e in events] == [1, 2]


def test_duplicates_are_skipped() -> None:
    [(_, _, raw)] = [e for e in examples() if e[0] == DELIVER]
    [(_, _, body, end)] = frames(raw)
    delivery = DeliveryReader().read(raw, body, end)
    delivery.skip = 1
    events: list[Event] = []
    assert EventCursor(delivery).take(events, 9)
    assert [e.sequence for e in events] == [2]


@pytest.mark.parametrize("n", [0, 1, 63, 64, 8191, 8192, 1 << 31, (1 << 63) - 1, -1, -64, -65, -(1 << 63)])
def test_integers(n: int) -> None:
    raw = varint(n)
    assert Reader(raw).long("n") == n
    assert len(raw) <= 10
    for cut in range(len(raw)):
        with pytest.raises(Malformed):
            Reader(raw[:cut]).long("n")


def test_integers_beyond_their_bits_are_refused() -> None:
    for raw in (b"\xff" * 9 + b"\x02", b"\x80" * 10 + b"\0"):
        with pytest.raises(Malformed, match="more than 64 bits"):
            Reader(raw).long("n")
    for raw in (varint(1 << 31), b"\x80" * 5 + b"\0"):
        with pytest.raises(Malformed, match="32 bits"):
            Reader(raw).int32("n")


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"\x10", "the end of the data inside an integer"),
        (b"\x10\x02", "length 1"),
        (b"\x10\x01", "length -1"),
        (b"\x80\x80\x80\x80\x80\x00\x00", "32 bits"),
        (b"\x10\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", "length"),
    ],
)
def test_malformed_frames_are_refused(raw: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        list(frames(raw))


def test_type_codes_of_any_size() -> None:
    assert [f[0] for f in frames(b"\x80\x02\x02x\x10\x00\x01\x00")] == [128, 8, -1]
