"""Rules for topics and filters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

MAX_BYTES = 255
MAX_SERVICE_BYTES = 240
MAX_TOKENS = 16
# Unicode categories of forbidden characters: white space, separators, controls, lone surrogates.
_FORBIDDEN = frozenset(("Zs", "Zl", "Zp", "Cc", "Cs"))


def _quote(name: str) -> str:
    """Returns hostile text shortened and without control characters."""
    shown = "".join(c if " " <= c < "\x7f" and c != "'" else f"\\u{ord(c):04X}" for c in name[:64])
    return f"'{shown}{'…' if len(name) > 64 else ''}'"


def _name_problem(name: str, what: str) -> str | None:
    if not name:
        return f"{what} is empty (expected: tokens separated by dots)"
    if len(name) > MAX_BYTES or len(name.encode(errors="surrogatepass")) > MAX_BYTES:
        return f"{what} {_quote(name)} has more than {MAX_BYTES} bytes of UTF-8 (expected: at most {MAX_BYTES})"
    for i, c in enumerate(name):
        if unicodedata.category(c) in _FORBIDDEN:
            expected = "no white space and no control characters"
            return f"{what} {_quote(name)} holds the character U+{ord(c):04X} at {i} (expected: {expected})"
    tokens = name.split(".")
    if "" in tokens:
        return f"{what} {_quote(name)} has an empty token, number {tokens.index('') + 1} (expected: none)"
    if len(tokens) > MAX_TOKENS:
        return f"{what} {_quote(name)} has {len(tokens)} tokens (expected: at most {MAX_TOKENS})"
    return None


def topic_problem(topic: str) -> str | None:
    """Returns the problem of a topic to publish to; None for none."""
    problem = _name_problem(topic, "topic")
    if problem is None and ("*" in topic or ">" in topic):
        return f"topic {_quote(topic)} holds a wildcard (expected: a topic without * and >)"
    if problem is None and topic.startswith("$"):
        return f"topic {_quote(topic)} is the system's (expected: a topic that does not start with $)"
    return problem


def service_problem(name: str) -> str | None:
    """Returns the problem of the name of a service; None for none."""
    problem = _name_problem(name, "service")
    if problem is None and len(name.encode()) > MAX_SERVICE_BYTES:
        return f"service {_quote(name)} has more than {MAX_SERVICE_BYTES} bytes of UTF-8 (expected: at most that)"
    if problem is None and ("*" in name or ">" in name or name.startswith("$")):
        return f"service {_quote(name)} is no name (expected: one without * and > that does not start with $)"
    return problem


def filter_problem(name: str) -> str | None:
    """Returns the problem of a filter; None for none."""
    problem = _name_problem(name, "filter")
    if problem is not None:
        return problem
    tokens = name.split(".")
    for i, token in enumerate(tokens):
        if token == ">" and i < len(tokens) - 1:
            return f"filter {_quote(name)} has > as token {i + 1} (expected: only as the last)"
        if len(token) > 1 and ("*" in token or ">" in token):
            return f"filter {_quote(name)} mixes a wildcard into token {i + 1} (expected: * or > alone)"
    return None


@lru_cache(maxsize=1024)
def matcher(name: str) -> Callable[[str], object]:
    """Returns a function that tells whether a legal filter selects a legal topic."""
    tokens = name.split(".")
    if "*" not in tokens and tokens[-1] != ">":
        return name.__eq__
    tail = tokens[-1] == ">"
    pattern = r"\.".join(r"[^.]+" if t == "*" else re.escape(t) for t in (tokens[:-1] if tail else tokens))
    if tail:
        pattern += r"\..+" if pattern else ".+"
    # A wildcard as the first token does not select the topics of the system.
    if tokens[0] in ("*", ">"):
        pattern = r"(?!\$)" + pattern
    return re.compile(pattern, re.DOTALL).fullmatch
