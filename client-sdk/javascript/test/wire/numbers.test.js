import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Malformed } from '../../src/errors.js';
import { Reader } from '../../src/wire/reader.js';
import { longBytes, Writer } from '../../src/wire/writer.js';
import { repeated } from '../support/random.js';

/** Encodes a number as a zig-zag varint, in BigInt arithmetic. */
function reference(value) {
  let raw = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  const bytes = [];
  while (raw > 127n) {
    bytes.push(Number(raw & 127n) | 128);
    raw >>= 7n;
  }
  return Uint8Array.from([...bytes, Number(raw)]);
}

const written = write => {
  const w = new Writer(1);
  write(w);
  return w.done();
};

repeated('numbers over the whole range are written and read like in BigInt arithmetic', 5000, random => {
  const magnitude = random.bits(63);
  const value = random.below(2) ? magnitude : -magnitude - 1n;
  const bytes = reference(value);
  assert.deepEqual(written(w => w.bigint64(value)), bytes);
  assert.equal(new Reader().wrap(bytes).bigint64('n'), value);
  const skipped = new Reader().wrap(bytes);
  skipped.skipLong('n');
  assert.equal(skipped.at, bytes.length);
  const number = Number(value);
  if (Number.isSafeInteger(number)) {
    assert.deepEqual(written(w => w.long(number)), bytes);
    assert.equal(new Reader().wrap(bytes).long('n'), number);
    if (number >= 0) {
      assert.equal(longBytes(number), bytes.length);
    }
  } else {
    assert.throws(() => new Reader().wrap(bytes).long('n'), { message: /^n: a number beyond 2\^53 at byte 0/ });
  }
});

test('the largest numbers', () => {
  for (const value of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, -1, 63, 64, -64, -65, 2 ** 29, -(2 ** 29), 2 ** 29 - 1, 2 ** 31, 2 ** 32]) {
    assert.equal(new Reader().wrap(written(w => w.long(value))).long('n'), value);
  }
  for (const value of [2n ** 63n - 1n, -(2n ** 63n)]) {
    assert.equal(new Reader().wrap(written(w => w.bigint64(value))).bigint64('n'), value);
  }
});

test('truncated and too long integers are refused, with their position', () => {
  for (const read of ['long', 'bigint64', 'skipLong', 'int', 'length', 'present']) {
    assert.throws(() => new Reader().wrap(Uint8Array.of(0, 0x80, 0x80), 1)[read]('n'), { message: 'n: the end of the data inside an integer at byte 0 (expected: a whole one)' });
    for (const tail of [[2], [0x81, 0]]) {
      assert.throws(() => new Reader().wrap(Uint8Array.of(...Array(9).fill(0xFF), ...tail))[read]('n'), { message: 'n: an integer of more than 64 bits at byte 0 (expected: at most 10 bytes)' });
    }
  }
  assert.throws(() => new Reader().wrap(Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0)).int('n'), Malformed);
});

repeated('texts of any kind are written like in TextEncoder', 500, random => {
  const text = random.text(300);
  const bytes = written(w => w.string(text));
  assert.equal(new Reader().wrap(bytes).string('s'), text);
  assert.deepEqual(bytes, written(w => w.data(new TextEncoder().encode(text))));
});

repeated('the items of an array are read in any blocks', 500, random => {
  const items = Array.from({ length: random.below(20) }, () => random.below(1000));
  const w = new Writer();
  for (let at = 0; at < items.length;) {
    const count = 1 + random.below(items.length - at);
    const part = written(inner => items.slice(at, at + count).forEach(item => inner.long(item)));
    if (random.below(2)) {
      w.long(-count);
      w.data(part);
    } else {
      w.long(count);
      w.raw(part);
    }
    at += count;
  }
  w.long(0);
  const read = [];
  const reader = new Reader().wrap(w.done());
  reader.blocks('a', 1, count => {
    for (let i = 0; i < count; i++) {
      read.push(reader.long('item'));
    }
  });
  assert.deepEqual(read, items);
  assert.ok(reader.done);
});

test('impossible blocks are refused', () => {
  const blocks = bytes => () => new Reader().wrap(Uint8Array.from(bytes)).blocks('a', 1, () => {});
  assert.throws(blocks([0x80, 0x80, 0x80, 0x80, 0x10]), { message: /^a: block count 2147483648 at byte 0 \(expected: at most the 0 items/ });
  assert.throws(blocks([1, 20]), { message: /^a: block size 10 at byte 1 \(expected: 0..0/ });
  assert.throws(blocks([1, 2, 0, 0]), { message: /^a: a block whose items end here at byte 2 \(expected: the end at byte 3/ });
});
