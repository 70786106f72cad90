"""The codec against fastavro, with the schemas of the repository, and against bytes that are no frames.

FUZZ_SECONDS is the time for fuzzing the decoder; by default a moment.
"""

from __future__ import annotations

import io
import os
import random
import time
from pathlib import Path
from typing import Any

import fastavro
import fastavro.schema
import pytest
from fakes import NANOS, deliver
from hypothesis import given, settings
from hypothesis import strategies as st
from test_wire import examples, plain, publish_frame

from eventbus._outbound.publish_frame import ENCODED
from eventbus._outbound.publish_frame import encode as encode_together
from eventbus._wire import events as events_module
from eventbus._wire.call_frames import RECORDS, EventParts
from eventbus._wire.codec import Malformed, Reader, frames, text, varint
from eventbus._wire.events import DeliveryReader, Event, EventCursor, encode_event
from eventbus._wire.records import DELIVER, PUBLISH, _fields_of

AVRO = Path(__file__).parents[3] / "schemas" / "avro"
NAMES = {record.CODE: record.__name__.replace("GapFrame", "Gap") for record in RECORDS.values()}
NAMES |= {PUBLISH: "Publish", DELIVER: "Deliver"}
SCHEMAS = {code: fastavro.schema.load_schema(str(AVRO / f"{name}.avsc")) for code, name in NAMES.items()}

longs = st.integers(-(1 << 63), (1 << 63) - 1)
times = st.integers(0, 1 << 53) | longs
texts = st.text(max_size=40)
topics = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)
events = st.fixed_dictionaries(
    {
        "publishedAt": times,
        "key": st.none() | texts,
        "headers": st.dictionaries(texts, texts, max_size=3),
        "payload": st.binary(max_size=300),
    }
)
deliveries = st.fixed_dictionaries(
    {
        "topic": topics,
        "producer": longs,
        "sequence": st.integers(1, 1 << 62),
        "schema": longs,
        "receivedAt": longs,
        "offset": longs,
        "events": st.lists(events, max_size=12),
        "groups": st.lists(longs, max_size=4),
        "originProducer": longs,
        "originSequence": longs,
    }
)


def avro(code: int, record: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, SCHEMAS[code], record)
    return out.getvalue()


@given(longs)
def test_integers(n: int) -> None:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", n)
    assert varint(n) == out.getvalue()
    assert Reader(varint(n)).long("n") == n


@settings(deadline=None, max_examples=40)
@given(deliveries, st.booleans())
def test_deliveries(record: dict[str, Any], one_block: bool) -> None:
    body = avro(DELIVER, record)
    reader = DeliveryReader()
    for _ in range(2):
        d = reader.read(body, 0, len(body))
        assert (d.topic, d.producer, d.sequence) == (record["topic"], record["producer"], record["sequence"])
        assert (d.schema, d.received_at, d.groups) == (record["schema"], record["receivedAt"], tuple(record["groups"]))
        found: list[Event] = []
        cursor = EventCursor(d)
        while d.count and not cursor.take(found, 3):
            pass
        assert [
            {"publishedAt": e.published_at, "key": e.key, "headers": e.headers, "payload": e.payload} for e in found
        ] == record["events"]
        durable = record["offset"] > 0
        first = record["originSequence" if durable else "sequence"]
        assert [e.sequence for e in found] == [first + i for i in range(len(found))]
        assert [e.position for e in found] == [record["offset"] + i if durable else 0 for i in range(len(found))]
        assert {e.producer for e in found} <= {record["originProducer" if durable else "producer"]}
    if one_block:
        payloads = [e["payload"] for e in record["events"]]
        raw = deliver(record["topic"], record["producer"], record["sequence"], payloads, tuple(record["groups"]))
        [(_, _, at, end)] = frames(raw)
        if payloads:
            found = []
            assert EventCursor(reader.read(raw, at, end)).take(found, 1 << 30)
            assert [e.payload for e in found] == payloads
            # A truncated one is refused, or gets the default of the groups.
            for cut in range(at, end):
                try:
                    d = reader.read(raw, at, cut)
                    assert EventCursor(d).take([], 1 << 30)
                    assert cut >= end - 1 or record["groups"]
                except Malformed:
                    pass


@settings(deadline=None)
@given(topics, st.integers(1, 1 << 62), longs, st.booleans(), st.lists(events, min_size=1, max_size=5))
def test_publishes(topic: str, sequence: int, schema: int, confirm: bool, listed: list[dict[str, Any]]) -> None:
    record = {
        "topic": topic, "sequence": sequence, "schema": schema, "confirm": confirm, "events": listed,
        "expect": sequence, "delayMillis": 60_000, "ttlMillis": 0,
        "producerName": topic if confirm else None, "number": sequence if confirm else 0,
    }  # fmt: skip
    latin = {**record, "events": [{**e, "payload": e["payload"].decode("latin-1")} for e in listed]}
    raw = publish_frame(latin)
    [(code, _, at, end)] = frames(raw)
    assert code == PUBLISH
    assert fastavro.schemaless_reader(io.BytesIO(raw[at:end]), SCHEMAS[PUBLISH], None) == record


@settings(deadline=None)
@given(
    st.sampled_from([0, 60, 1 << 13, 1_763_712_000_000_000, (1 << 55) - 3]),
    st.lists(
        st.tuples(st.integers(-9000, 9000), st.sampled_from([b"x" * 100, b"y" * 100, b"", b"\x80" * 3])),
        min_size=3,
        max_size=40,
    ),
    st.sets(st.integers(0, 40)),
)
def test_runs_of_one_size(start: int, steps: list[tuple[int, bytes]], keyed: set[int]) -> None:
    listed: list[dict[str, Any]] = []
    for i, (step, payload) in enumerate(steps):
        start += step
        key = "k" if i in keyed else None
        listed.append({"publishedAt": start, "key": key, "headers": {}, "payload": payload})
    raw = [encode_event(e["publishedAt"], e["key"], None, e["payload"]) for e in listed]
    size = sum(map(len, raw))
    body = text("a") + varint(5) + varint(1) + b"\0\0\1" + varint(-len(raw)) + varint(size) + b"".join(raw) + b"\0\0"
    found: list[Event] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events_module, "MIN_RUN", 1)
        assert EventCursor(DeliveryReader().read(body, 0, len(body))).take(found, 1 << 30)
    assert [
        {"publishedAt": e.published_at, "key": e.key, "headers": e.headers, "payload": e.payload} for e in found
    ] == listed


CONTROL = [e for e in examples() if e[0] in RECORDS]


@pytest.mark.parametrize(("code", "record", "raw"), CONTROL, ids=[str(e[0]) for e in CONTROL])
def test_control_frames_are_read_like_in_fastavro(code: int, record: dict[str, Any], raw: bytes) -> None:
    [(_, _, at, end)] = frames(raw)
    found: Any = fastavro.schemaless_reader(io.BytesIO(raw[at:end]), SCHEMAS[code], None)
    value = RECORDS[code].read(Reader(raw, at, end))
    for name, path, _, _ in _fields_of(type(value)):
        if path.split(".")[1] not in found:
            continue  # at the end, with a default
        mine, theirs = getattr(value, name), found[path.split(".")[1]]
        if isinstance(mine, EventParts):
            assert theirs == dict(zip(("publishedAt", "key", "headers", "payload"), mine, strict=True))
            continue
        if isinstance(mine, bytes):
            assert theirs == mine
            continue
        assert plain(record)[path.split(".")[1]] in (theirs, getattr(mine, "name", None)) or code == 7
        if isinstance(theirs, (int, str)) and not hasattr(mine, "name"):
            assert mine == theirs


def read_all(message: bytes, reader: DeliveryReader) -> None:
    """Reads a whole message, as the client does."""
    for code, start, at, end in frames(message):
        if code == DELIVER:
            d = reader.read(message, at, end, end - start)
            found: list[Event] = []
            EventCursor(d).take(found, 1 << 30)
            assert len(found) == d.count
            for e in found:
                assert len(e.payload) <= len(message)
                assert len(e.headers) <= len(message)
                _ = e.key, e.published_at, d.schema, d.received_at
        elif code in RECORDS:
            RECORDS[code].read(Reader(message, at, end))


def test_malformed_bytes_are_refused_without_side_effects() -> None:
    seed = int(os.environ.get("FUZZ_SEED", "0")) or random.randrange(1 << 32)
    print("FUZZ_SEED", seed)
    chance = random.Random(seed)
    seeds = [raw for _, _, raw in examples()]
    seeds += [deliver("a.b", 5, 1, [b"x" * n for n in (0, 1, 100)], (1, 2)), deliver("ü" * 40, -5, 1 << 60, [b""] * 3)]
    interesting = [0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF]
    reader = DeliveryReader()
    until = time.monotonic() + float(os.environ.get("FUZZ_SECONDS", "1.5"))
    tried = refused = 0
    while time.monotonic() < until:
        raw = bytearray(chance.choice(seeds))
        for _ in range(chance.randint(1, 4)):
            where = chance.randrange(len(raw)) if raw else 0
            kind = chance.randrange(5)
            if kind == 0 and raw:
                raw[where] = chance.randrange(256)
            elif kind == 1 and raw:
                raw[where] = chance.choice(interesting)
            elif kind == 2:
                raw[where:where] = bytes(chance.choice(interesting) for _ in range(chance.randint(1, 9)))
            elif kind == 3:
                del raw[where : where + chance.randint(1, 9)]
            else:
                raw += chance.choice(seeds)[: chance.randint(1, 40)]
        tried += 1
        began = time.monotonic()
        try:
            read_all(bytes(raw), reader)
        except Malformed:
            refused += 1
        except Exception as e:
            raise AssertionError(f"FUZZ_SEED={seed} try {tried}: {raw.hex()}") from e
        assert time.monotonic() - began < 5, f"FUZZ_SEED={seed}: too long: {raw.hex()}"
    assert refused > tried // 10


@pytest.mark.parametrize("count", [1 << 62, -(1 << 62), (1 << 63) - 1, -(1 << 63), -(1 << 31), 1 << 40])
def test_many_items_in_few_bytes_are_refused_before_allocation(count: int) -> None:
    head = deliver("a", 5, 1, [b"x"])
    [(_, _, at, end)] = frames(head)
    body = head[at:end]
    events_at = body.index(varint(-1) + varint(-1)) + 1
    with pytest.raises(Malformed, match="block count"):
        DeliveryReader().read(body[:events_at] + varint(count) + varint(0) * (count < 0) + b"\0\0", 0, len(body))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 1 << 62) | st.integers(NANOS, NANOS + 20_000_000), st.binary(max_size=80)), min_size=1
    )
)
def test_events_are_encoded_together_as_one_by_one(plain_events: list[tuple[int, bytes]]) -> None:
    times, payloads = [t for t, _ in plain_events], [p for _, p in plain_events]
    one_by_one = [encode_event(t // 1000, None, None, p) for t, p in plain_events]
    assert encode_together(times, payloads) == b"".join(one_by_one)
    # Events with a key are encoded already.
    times[0], payloads[0] = ENCODED, encode_event(1, "key", {"a": "b"}, b"x")
    assert encode_together(times, payloads) == payloads[0] + b"".join(one_by_one[1:])


def test_a_run_ends_where_a_time_has_fewer_bytes() -> None:
    event, other = bytes.fromhex("8080000000 02 78"), bytes.fromhex("0280000000 02 78")
    assert events_module._run(event * 4, 0, 6, 7, 3) == 3
    assert events_module._run(event * 2 + other + event, 0, 6, 7, 3) == 1
    assert events_module._run(other + event, 0, 6, 7, 1) == 0
