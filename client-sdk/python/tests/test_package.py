"""Versions, exports, examples for type checkers, the example of the README."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from fakes import deliver

import eventbus
import eventbus.avro
import eventbus.sync
from eventbus import CallEvent, Event, UnreadablePayload
from eventbus._api.happenings import MOVES, State
from eventbus._version import AGENT
from eventbus._wire.codec import frames
from eventbus._wire.events import Delivery, DeliveryReader, EventCursor

ROOT = Path(__file__).parents[1]


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dynamic"] == ["version"]
    assert f"eventbus-python/{eventbus.__version__}" == AGENT
    # The version of the repository, in Python's form.
    pom = (ROOT.parents[1] / "pom.xml").read_text(encoding="utf-8")
    version = re.search(r"<artifactId>eventbus-parent</artifactId>\s*<version>([^<]*)</version>", pom)
    assert version is not None
    assert eventbus.__version__ == version[1].replace("-SNAPSHOT", ".dev0")


def test_the_package_has_metadata() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license-files"] == ["LICENSE"]
    assert (ROOT / "LICENSE").read_bytes() == (ROOT.parents[1] / "LICENSE").read_bytes()
    assert any(c.endswith(":: 3.13") for c in project["classifiers"])
    # All links work on the page of a package index.
    assert re.findall(r"\]\((?!https?://)", (ROOT / "README.md").read_text(encoding="utf-8")) == []
    [websockets] = project["dependencies"]
    assert "<" in websockets


def test_exports() -> None:
    for module in (eventbus, eventbus.sync, eventbus.avro):
        assert (
            list(module.__all__) == sorted(module.__all__, key=lambda n: (n.startswith("_"), n)) or module is eventbus
        )
        for name in module.__all__:
            assert hasattr(module, name)
    assert (ROOT / "src" / "eventbus" / "py.typed").exists()


def test_public_names_have_docstrings() -> None:
    for name in eventbus.__all__:
        thing = getattr(eventbus, name)
        if isinstance(thing, type) or callable(thing):
            assert thing.__doc__, name
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if not member.startswith("_") and callable(value):
                    assert value.__doc__ or member in ("encode",), f"{name}.{member}"


def test_the_table_of_states() -> None:
    assert set(MOVES) == set(State)
    assert MOVES[State.CLOSED] == frozenset()


def event(payload: bytes, schema: int) -> Event:
    raw = deliver("a", 5, 1, [payload], schema=schema)
    [(_, _, at, end)] = frames(raw)
    found: list[Event] = []
    delivery: Delivery = DeliveryReader().read(raw, at, end)
    EventCursor(delivery).take(found, 1)
    return found[0]


def test_avro_payloads() -> None:
    old = {"type": "record", "name": "F", "fields": [{"name": "gate", "type": "string"}]}
    new = {**old, "fields": [*old["fields"], {"name": "late", "type": "int", "default": 0}]}
    writer, reader = eventbus.avro.AvroCodec(old), eventbus.avro.AvroCodec(new, writers=[old])
    raw = writer.encode({"gate": "B6"})
    assert reader.decode(event(raw, writer.fingerprint)) == {"gate": "B6", "late": 0}
    assert eventbus.avro.fingerprint('"int"') == 0x7275D51A3F395C8F
    for codec, wrong, what in (
        (writer, event(raw, reader.fingerprint), f"{reader.fingerprint & (1 << 64) - 1:016x}"),
        (writer, event(raw + b"x", writer.fingerprint), "bytes behind"),
        (writer, event(b"\x7f", writer.fingerprint), "is no F"),
    ):
        with pytest.raises(UnreadablePayload, match=what):
            codec.decode(wrong)
    with pytest.raises(UnreadablePayload, match="int is no F"):
        writer.encode(1)
    # Requests and answers, too.
    assert reader.decode(CallEvent(0, None, {}, raw, writer.fingerprint)) == {"gate": "B6", "late": 0}
    with pytest.raises(UnreadablePayload, match="what came with a call was written with"):
        writer.decode(CallEvent(0, None, {}, raw, reader.fingerprint))
    with pytest.raises(ValueError, match="expected: an Avro schema"):
        eventbus.avro.AvroCodec({"type": "nonsense"})
