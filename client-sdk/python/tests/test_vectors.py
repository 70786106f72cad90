"""The vectors of the conformance kit, read by the testee's own functions; skipped without the kit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import testee

from eventbus._connection.connector import may_reconnect
from eventbus._wire.codec import Malformed
from eventbus._wire.topics import filter_problem, matcher, topic_problem

VECTORS = Path(__file__).parents[3] / "conformance" / "vectors"
pytestmark = pytest.mark.skipif(not VECTORS.is_dir(), reason="the conformance kit is not here")


def vectors(name: str) -> list[dict[str, Any]]:
    """Returns the vectors of a file."""
    found: list[dict[str, Any]] = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def same(value: Any) -> Any:
    """Returns a value in which integers are strings, as both forms are legal."""
    if isinstance(value, dict):
        return {k: same(v) for k, v in value.items()}
    if isinstance(value, list):
        return [same(v) for v in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def known(found: Any, wanted: Any) -> Any:
    """Returns the part of a record that a vector has: a record may have more fields at its end."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return {k: known(v, wanted[k]) for k, v in found.items() if k in wanted}
    if isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        return [known(f, w) for f, w in zip(found, wanted, strict=True)]
    return found


def test_frames() -> None:
    for v in vectors("frames"):
        want = [{"typeCode": f["typeCode"], "record": f["record"]} for f in v["frames"]]
        assert same(known(testee.decode(bytes.fromhex(v["hex"])), want)) == same(want), v["id"]
        for f in want if v["from"] != "bus" else ():
            assert same(testee.decode(testee.encode(f["typeCode"], f["record"]))) == same([f]), v["id"]


def test_refused() -> None:
    for v in vectors("refused"):
        with pytest.raises(Malformed):
            testee.decode(bytes.fromhex(v["hex"]))
            pytest.fail(v["id"])


def test_names() -> None:
    for v in vectors("topics"):
        assert (topic_problem(v["topic"]) is None) == v["legal"], v
    for v in vectors("filters"):
        assert (filter_problem(v["filter"]) is None) == v["legal"], v
    for v in vectors("matches"):
        assert bool(matcher(v["filter"])(v["topic"])) == v["matches"], v


def test_fingerprints_and_close_codes() -> None:
    for v in vectors("fingerprints"):
        assert testee.pure("fingerprint", {"schema": v["schema"]}) == {"fingerprint": v["fingerprint"]}
    for v in vectors("close-codes"):
        assert may_reconnect(v["code"]) == v["reconnect"], v
