"""Avro's binary encoding of frames. Trusts nothing that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

MIN_LONG, MAX_LONG = -(1 << 63), (1 << 63) - 1
MAX_SEQUENCE = MAX_LONG - 1
MAX_TOPIC_BYTES = 255


class Malformed(Exception):
    """Bytes that are no legal frame. The message names the field, the byte, the found value, and the expectation."""

    def __init__(self, field_name: str, at: int, found: object, expected: str) -> None:
        super().__init__(f"{field_name} at byte {at}: {found} (expected: {expected})")
        self.field = field_name
        self.at = at


# ---- Writing


def _varint(n: int) -> bytes:
    z = (n << 1) ^ (n >> 63)
    out = bytearray()
    while z > 0x7F:
        out.append((z & 0x7F) | 0x80)
        z >>= 7
    out.append(z)
    return bytes(out)


_SMALL = [_varint(n) for n in range(1024)]


def varint(n: int) -> bytes:
    """Encodes an integer of 64 bits."""
    return _SMALL[n] if 0 <= n < 1024 else _varint(n)


def text(s: str) -> bytes:
    """Encodes a string. Raises UnicodeEncodeError for a lone surrogate."""
    raw = s.encode()
    return varint(len(raw)) + raw


def blob(raw: bytes) -> bytes:
    """Encodes bytes."""
    return varint(len(raw)) + raw


def text_map(items: Mapping[str, str]) -> bytes:
    """Encodes a map of strings."""
    if not items:
        return b"\0"
    return b"".join([varint(len(items)), *(text(k) + text(v) for k, v in items.items()), b"\0"])


def frame(code: int, body: bytes) -> bytes:
    """Puts the type code and the length before a body."""
    return varint(code) + varint(len(body)) + body


# ---- Reading


class Reader:
    """Reads Avro's binary encoding from a range of bytes; every length is checked before it is used."""

    __slots__ = ("base", "data", "end", "pos")

    def __init__(self, data: bytes, pos: int = 0, end: int | None = None) -> None:
        self.data = data
        self.pos = self.base = pos
        self.end = len(data) if end is None else end

    def malformed(self, name: str, at: int, found: object, expected: str) -> Malformed:
        return Malformed(name, at - self.base, found, expected)

    def long(self, name: str) -> int:
        data, pos, end = self.data, self.pos, self.end
        raw = shift = 0
        while pos < end:
            b = data[pos]
            if shift == 63 and b & 0xFE:
                raise self.malformed(name, self.pos, "an integer of more than 64 bits", "at most 10 bytes")
            raw |= (b & 0x7F) << shift
            pos += 1
            if b < 0x80:
                self.pos = pos
                return (raw >> 1) ^ -(raw & 1)
            shift += 7
        raise self.malformed(name, self.pos, "the end of the data inside an integer", "a whole one")

    def int32(self, name: str) -> int:
        start = self.pos
        value = self.long(name)
        if self.pos - start > 5 or not -(1 << 31) <= value < 1 << 31:
            found = f"{value} in {self.pos - start} bytes"
            raise self.malformed(name, start, found, "an integer of 32 bits in at most 5 bytes")
        return value

    def boolean(self, name: str) -> bool:
        if self.pos >= self.end:
            raise self.malformed(name, self.pos, "the end of the data", "a boolean")
        b = self.data[self.pos]
        if b > 1:
            raise self.malformed(name, self.pos, b, "0 or 1")
        self.pos += 1
        return b == 1

    def length(self, name: str, most: int = MAX_LONG) -> int:
        start = self.pos
        n = self.long(name)
        left = self.end - self.pos
        if not 0 <= n <= left or n > most:
            expected = f"0..{most}" if n > most else f"at most the {left} bytes that are left"
            raise self.malformed(name, start, f"length {n}", expected)
        return n

    def string(self, name: str, most: int = MAX_LONG) -> str:
        n = self.length(name, most)
        start = self.pos
        self.pos += n
        try:
            return self.data[start : self.pos].decode()
        except UnicodeDecodeError:
            raise self.malformed(name, start, "bytes that are not UTF-8", "a string") from None

    def optional(self, name: str) -> str | None:
        start = self.pos
        branch = self.int32(name)
        if branch not in (0, 1):
            raise self.malformed(name, start, f"union index {branch}", "0 or 1")
        return self.string(name) if branch else None

    def block(self, name: str, min_size: int) -> tuple[int, int | None]:
        """Reads the head of a block: the number of items, 0 for the end, and its end by its size."""
        start = self.pos
        count = self.long(name)
        block_end = None
        if count < 0:
            count = -count
            size_at = self.pos
            size = self.long(name)
            left = self.end - self.pos
            if not 0 <= size <= left:
                raise self.malformed(name, size_at, f"block size {size}", f"0..{left}, the bytes that are left")
            block_end = self.pos + size
        room = (self.end if block_end is None else block_end) - self.pos
        if count > room // min_size:
            expected = f"at most the {room // min_size} items that fit in {room} bytes"
            raise self.malformed(name, start, f"block count {count}", expected)
        return count, block_end

    def items(self, name: str, min_size: int) -> Iterator[None]:
        """Yields once for each item of an array or map; the caller reads the item."""
        while True:
            count, block_end = self.block(name, min_size)
            if count == 0:
                return
            for _ in range(count):
                yield
            if block_end is not None and self.pos != block_end:
                raise self.malformed(name, self.pos, "a block whose items end here", "the end that its size gives")

    def text_map(self, name: str) -> dict[str, str]:
        found = {}
        for _ in self.items(name, 2):
            key = self.string(name)
            found[key] = self.string(name)
        return found


def frames(message: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yields the frames of a message: type code, start of the frame, start and end of its body."""
    pos, end = 0, len(message)
    r = Reader(message)
    while pos < end:
        # The usual case: one byte for the type code and one or two for the length.
        code = message[pos]
        if code < 0x80 and not code & 1 and pos + 3 <= end:
            b = message[pos + 1]
            if b < 0x80:
                length, body = b >> 1, pos + 2
                plain = not b & 1
            else:
                c = message[pos + 2]
                length, body = ((b & 0x7F) | (c << 7)) >> 1, pos + 3
                plain = c < 0x80 and not b & 1
            if plain and body + length <= end:
                yield code >> 1, pos, body, body + length
                pos = body + length
                continue
        r.pos = r.base = pos
        type_code = r.int32("Frame.typeCode")
        length = r.length("Frame.body")
        yield type_code, pos, r.pos, r.pos + length
        pos = r.pos + length
