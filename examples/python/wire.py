"""Frames of the protocol as Avro records, and errors from the bus."""

import io
import json
from pathlib import Path

import fastavro
import fastavro.schema

SUBPROTOCOL = "eventbus.v1.avro"
HELLO, PUBLISH, SUBSCRIBE, DELIVER, UNSUBSCRIBE, WELCOME = 0, 1, 2, 4, 6, 7
PROBLEM, CONFIRM, GAP, BARRIER, DRAINED = 8, 9, 10, 11, 12
CONSUME, FEED, SETTLE, CREDIT, TRUNCATED = 16, 17, 18, 28, 37
REGISTER, UNREGISTER, REQUEST, INVOKE, REPLY, FAILURE, CANCEL = range(20, 27)
OVERFLOW = ("BLOCK", "DROP_OLDEST", "CONFLATE", "DISCONNECT")

# The schemas of the repository: copy them with this file.
AVRO = Path(__file__).resolve().parents[2] / "schemas" / "avro"


def _schema(record):
    return fastavro.schema.load_schema(AVRO / f"{record}.avsc")


def _names(record, field):
    """Returns the names of the numbers in a field that has an int where the protocol has an enum."""
    fields = json.loads((AVRO / f"{record}.avsc").read_text("utf-8"))["fields"]
    return next(f["type"]["names"] for f in fields if f["name"] == field)


def _fields(schema):
    """Returns name, type, and whether it may be missing, of each field of a record."""
    return [(f["name"], fastavro.parse_schema(f["type"]), "default" in f, f.get("default")) for f in schema["fields"]]


_frame = _schema("Frame")
SCHEMAS = {
    HELLO: _schema("Hello"),
    PUBLISH: _schema("Publish"),
    SUBSCRIBE: _schema("Subscribe"),
    DELIVER: _schema("Deliver"),
    UNSUBSCRIBE: _schema("Unsubscribe"),
    WELCOME: _schema("Welcome"),
    PROBLEM: _schema("Problem"),
    CONFIRM: _schema("Confirm"),
    GAP: _schema("Gap"),
    BARRIER: _schema("Barrier"),
    DRAINED: _schema("Drained"),
    CONSUME: _schema("Consume"),
    FEED: _schema("Feed"),
    SETTLE: _schema("Settle"),
    CREDIT: _schema("Credit"),
    TRUNCATED: _schema("Truncated"),
    REGISTER: _schema("Register"),
    UNREGISTER: _schema("Unregister"),
    REQUEST: _schema("Request"),
    INVOKE: _schema("Invoke"),
    REPLY: _schema("Reply"),
    FAILURE: _schema("Failure"),
    CANCEL: _schema("Cancel"),
}
FIELDS = {code: _fields(schema) for code, schema in SCHEMAS.items()}
ERRORS = _names("Problem", "code")
GAP_REASONS = _names("Gap", "reason")
MODES, STARTS, OUTCOMES = _names("Consume", "mode"), _names("Consume", "start"), _names("Settle", "outcome")
TRUNCATED_REASONS = _names("Truncated", "reason")
FAILURES, EXECUTED = _names("Failure", "code"), _names("Failure", "executed")


class EventBusError(Exception):
    """A refusal by the bus, or the reason of the lost connection; `code` is an error's name or a close code."""

    def __init__(self, code, message, retryable=False):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.retryable = retryable


def frame(type_code, record):
    body = io.BytesIO()
    fastavro.schemaless_writer(body, SCHEMAS[type_code], record)
    out = io.BytesIO()
    fastavro.schemaless_writer(out, _frame, {"typeCode": type_code, "body": body.getvalue()})
    return out.getvalue()


def frames(message):
    """Yields the records of a message with their type codes, without those of unknown types."""
    stream = io.BytesIO(message)
    while (start := stream.tell()) < len(message):
        outer = fastavro.schemaless_reader(stream, _frame, None)
        if outer["typeCode"] in FIELDS:
            record = _record(outer["body"], FIELDS[outer["typeCode"]])
            if outer["typeCode"] == FEED:
                record["frameBytes"] = stream.tell() - start  # counts in the credit of its consumer
            yield outer["typeCode"], record


def _record(body, fields):
    """Reads a record: fields that an older bus does not write get defaults, those that a newer one adds are skipped."""
    stream, record = io.BytesIO(body), {}
    for name, schema, optional, default in fields:
        missing = optional and stream.tell() == len(body)
        record[name] = default if missing else fastavro.schemaless_reader(stream, schema, None)
    return record
