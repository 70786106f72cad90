import assert from 'node:assert/strict';
import { test } from 'node:test';

import avsc from 'avsc';

import { avro, canonical, fingerprint } from '../src/avro.js';
import { repeated } from './support/random.js';
import { hasVectors, vectors } from './support/vectors.js';

test('fingerprints equal those of the Java library', { skip: hasVectors ? false : 'the conformance kit is not here' }, () => {
  for (const { schema, canonical: form, fingerprint: print } of vectors('fingerprints')) {
    assert.equal(canonical(JSON.parse(schema)), form);
    assert.equal(String(fingerprint(JSON.parse(schema))), print);
  }
});

test('the fingerprint of int equals that of the Avro specification', () => {
  assert.equal(BigInt.asUintN(64, fingerprint('int')).toString(16), '7275d51a3f395c8f');
});

const SIMPLE = ['null', 'boolean', 'int', 'long', 'double', 'float', 'bytes', 'string'];

/** Returns a random schema, without unions whose branches need names. */
function sample(random, depth = 0, names = { next: 0 }) {
  const inner = () => sample(random, depth + 1, names);
  switch (depth > 3 ? 0 : random.below(8)) {
    case 1: return { type: 'array', items: inner() };
    case 2: return { type: 'map', values: inner() };
    case 3:
    case 4: {
      const name = `R${names.next++}`;
      return { type: 'record', name, namespace: 'n.s', fields: Array.from({ length: random.below(4) }, (_, i) => ({ name: `f${i}`, type: inner() })) };
    }
    case 5: return { type: 'enum', name: `E${names.next++}`, symbols: ['A', 'B', 'C'] };
    case 6: return { type: 'fixed', name: `F${names.next++}`, size: random.below(5) + 1 };
    case 7: return ['null', random.pick(['string', 'int', 'boolean', 'bytes'])];
    default: return random.pick(SIMPLE);
  }
}

/** Returns a random value of a schema. */
function fill(schema, random) {
  return () => {
    if (Array.isArray(schema)) {
      return fill(random.pick(schema), random)();
    }
    switch (schema.type ?? schema) {
      case 'null': return null;
      case 'boolean': return random.below(2) === 1;
      case 'int': return random.below(2 ** 32) - 2 ** 31;
      case 'long': return Number(random.bits(50)) * (random.below(2) ? 1 : -1);
      case 'double': return random.next() * 1e9;
      case 'float': return Math.fround(random.next());
      case 'bytes': return Buffer.from(random.bytes(random.below(9)));
      case 'string': return random.text(20);
      case 'array': return Array.from({ length: random.below(4) }, fill(schema.items, random));
      case 'map': return Object.fromEntries(Array.from({ length: random.below(4) }, (_, i) => [`k${i}`, fill(schema.values, random)()]));
      case 'record': return Object.fromEntries(schema.fields.map(field => [field.name, fill(field.type, random)()]));
      case 'enum': return random.pick(schema.symbols);
      default: return Buffer.from(random.bytes(schema.size));
    }
  };
}

/** Returns a value as JSON, in which buffers equal bytes, -0 equals 0, and prototypes do not count. */
const plain = value => JSON.stringify(value, (key, one) => (one instanceof Uint8Array || one?.type === 'Buffer' ? Buffer.from(one.data ?? one).toString('hex') : one));

repeated('values are written and read like in avsc', 400, random => {
  const schema = sample(random);
  const oracle = avsc.Type.forSchema(structuredClone(schema), { wrapUnions: false });
  const value = fill(schema, random)();
  const codec = avro(schema);
  const bytes = codec.encode(value);
  assert.equal(Buffer.from(bytes).toString('hex'), oracle.toBuffer(value).toString('hex'), JSON.stringify(schema));
  assert.equal(plain(codec.decode(bytes, codec.fingerprint)), plain(value));
  assert.equal(plain(codec.decode(bytes, 0n)), plain(value));
});

test('64-bit numbers are bigint where a number is not exact', () => {
  const codec = avro('long');
  for (const value of [2n ** 62n, -(2n ** 63n), 5, Number.MAX_SAFE_INTEGER]) {
    assert.equal(codec.decode(codec.encode(value), 0n), value);
  }
  assert.throws(() => codec.encode(2 ** 60), { message: /^value: number 1152921504606847000 \(expected: an integer within 2\^53/ });
});

test('a union whose branches look alike has their names', () => {
  const codec = avro(['null', 'int', 'string', { type: 'enum', name: 'E', symbols: ['A'] }]);
  for (const value of [null, { int: 5 }, { string: 'A' }, { E: 'A' }]) {
    assert.deepEqual(codec.decode(codec.encode(value), 0n), value);
  }
  assert.throws(() => codec.encode('A'), { message: 'value: string A (expected: {"null": …}, {"int": …}, {"string": …}, {"E": …})' });
});

test('records: defaults, recursion, and errors that say where', () => {
  const schema = { type: 'record', name: 'Node', fields: [{ name: 'n', type: 'int', default: 7 }, { name: 'next', type: ['null', 'Node'], default: null }] };
  const codec = avro(schema);
  assert.deepEqual(codec.decode(codec.encode({ next: { n: 1 } }), 0n), { n: 7, next: { n: 1, next: null } });
  assert.throws(() => codec.encode({ next: { n: 'x' } }), { message: 'value.next.n: string x (expected: an integer of 32 bits)' });
  const deep = Uint8Array.from({ length: 2000 }, (_, i) => (i % 2 === 0 ? 0 : 2));
  assert.throws(() => codec.decode(deep, 0n), { message: /nested deeper than 100/ });
});

test('an unknown schema and surplus bytes are refused', () => {
  const codec = avro('string', { writers: ['int'] });
  assert.equal(codec.decode(Uint8Array.of(10), fingerprint('int')), 5);
  assert.throws(() => codec.decode(Uint8Array.of(0), 255n), { message: /^schema 00000000000000ff is not known \(expected: that of "string", or one of writers/ });
  assert.throws(() => codec.decode(Uint8Array.of(0, 1), 0n), { message: /1 bytes behind the value/ });
  assert.throws(() => avro({ type: 'array', items: 'null' }).decode(Uint8Array.of(0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 0), 0n), { message: /block count|empty items/ });
  assert.throws(() => avro('nothing'), { message: /^schema: type nothing/ });
});
