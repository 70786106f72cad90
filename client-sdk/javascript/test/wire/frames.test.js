import assert from 'node:assert/strict';
import { test } from 'node:test';

import { encodeAuthenticate, encodeChangeBusFailed, encodeCredit, encodeHello, encodeId, encodeSubscribe } from '../../src/wire/frames.js';
import { PublishFrame } from '../../src/frame.js';
import { encodeEvent, estimate } from '../../src/encoder.js';
import { Malformed } from '../../src/errors.js';
import { decode, READERS } from '../support/records.js';
import { bytesOf, examples, hasVectors, vectors } from '../support/vectors.js';

const hex = bytes => Buffer.from(bytes).toString('hex');

/** A Publish as the outbox makes it, of one schema. */
function publish({ topic, sequence, schema, confirm, events }) {
  const name = new TextEncoder().encode(topic);
  const frame = new PublishFrame({ head: Uint8Array.of(name.length << 1, ...name) }, sequence, schema, confirm ? [] : null, 16);
  for (const { payload, ...options } of events) {
    encodeEvent(frame.writer, estimate(payload, options, null, 1e6).event, () => assert.fail('the time is given'));
    frame.count++;
  }
  return frame.bytes();
}

const ENCODED = {
  Hello: encodeHello({ client: 'flight-board', agent: 'example/1.0', token: null, resume: null, attributes: {}, change: null, user: null, previous: null }),
  Publish: publish({
    topic: 'flights.EDDF.landed', sequence: 1, schema: 0n, confirm: true, events: [
      { publishedAt: 1763712000000000, key: 'LH400', headers: { type: 'json' }, payload: '{"runway":"07C"}' },
      { publishedAt: 1763712000000250, payload: '' },
    ],
  }),
  Subscribe: encodeSubscribe(1, 'flights.*.landed', 'boards', 'DROP_OLDEST'),
  Unsubscribe: encodeId(6, 1),
  Barrier: encodeId(11, 77),
  ChangeBusFailed: encodeChangeBusFailed('move-7f3a', 'no connection'),
  Credit: encodeCredit(1048576, 70000),
  Authenticate: encodeAuthenticate('s3cret', null),
  Echo: encodeId(33, 78),
};

test('what a client sends has the bytes of the protocol page', () => {
  const page = Object.fromEntries(examples().map(one => [one.name, hex(one.bytes)]));
  for (const [name, bytes] of Object.entries(ENCODED)) {
    assert.equal(hex(bytes), page[name], name);
  }
});

test('a Hello with all fields has the bytes of the vector', { skip: !hasVectors && 'the conformance kit is not here' }, () => {
  const { hex: expected, frames: [{ record }] } = vectors('frames').find(one => one.id === 'hello-all');
  assert.ok(record.user && record.previous);
  assert.equal(hex(encodeHello(record)), expected);
});

test('what a bus sends is read as the protocol page has it', () => {
  const plain = value => JSON.parse(JSON.stringify(value));
  let read = 0;
  for (const { code, name, record, bytes } of examples()) {
    if (!READERS[code]) {
      continue;
    }
    read++;
    const [frame] = decode(bytes);
    // In Avro's JSON a number is not text, a union has its branch, and bytes are a text of Latin-1.
    const expected = JSON.parse(record, function (key, value, context) {
      if (typeof value === 'number' && !['typeCode', 'hops', 'payloadBytes', 'messageBytes', 'headers', 'headerBytes', 'subscriptions', 'calls', 'services', 'tunnels', 'window'].includes(key)) {
        return context?.source ?? String(value);
      }
      return key === 'key' && value ? value.string : key === 'payload' ? Buffer.from(value, 'latin1').toString('base64') : value;
    });
    const producer = /"producer": (\d+)/.exec(record);
    if (producer) {
      expected.producer = producer[1];
    }
    assert.deepEqual(plain(frame.record), expected, name);
  }
  assert.equal(read, Object.keys(READERS).length);
});

test('frames of the Java codec are read alike', { skip: hasVectors ? false : 'the conformance kit is not here' }, () => {
  for (const { id, hex: bytes, from, frames } of vectors('frames')) {
    if (from === 'bus') {
      const expected = frames.filter(one => READERS[one.typeCode]).map(({ typeCode, record }) => ({ typeCode, record }));
      assert.deepEqual(JSON.parse(JSON.stringify(decode(bytesOf(bytes)))), expected, id);
    }
  }
});

test('what the Java codec refuses is refused', { skip: hasVectors ? false : 'the conformance kit is not here' }, () => {
  for (const { id, hex: bytes, from } of vectors('refused')) {
    if (from === 'bus') {
      assert.throws(() => decode(bytesOf(bytes)), Malformed, id);
    }
  }
});
