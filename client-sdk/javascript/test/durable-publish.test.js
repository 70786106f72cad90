import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LIMITS } from './support/bus-frames.js';
import { connected, settle } from './support/fakes.js';

const confirm = (bus, about, position, repeated = false) => bus.send('CONFIRM', { typeCode: 1, topic: 'a', about, receivers: -1, position, repeated });
const refused = { code: 'REFUSED', busCode: 'UNSUPPORTED', retryable: false };

test('each event of a frame gets its position', async () => {
  const { client, bus } = await connected();
  const all = ['1', '2', '3'].map(text => client.publish('a', text));
  await settle();
  assert.deepEqual(bus.of('PUBLISH').map(f => f.events.length), [3]);
  confirm(bus, 3, 12);
  const [first, , third] = await Promise.all(all);
  assert.deepEqual(first, { topic: 'a', producer: 77n, sequence: 1, receivers: undefined, position: 10, repeated: false });
  assert.equal(third.position, 12);
  const plain = client.publish('a', '4');
  await settle();
  bus.send('CONFIRM', { typeCode: 1, topic: 'a', about: 4, receivers: 2 });
  assert.deepEqual(await plain, { topic: 'a', producer: 77n, sequence: 4, receivers: 2, position: 0, repeated: false });
});

test('of a frame that was stored before only the last position is known', async () => {
  const { client, bus } = await connected();
  const all = ['1', '2'].map(text => client.publish('a', text));
  await settle();
  confirm(bus, 2, 12, true);
  assert.deepEqual((await Promise.all(all)).map(p => [p.position, p.repeated]), [[0, true], [12, true]]);
});

test('an event with options is alone in its frame', async () => {
  const { client, bus } = await connected();
  const publish = (text, options) => void client.publish('a', text, options).catch(() => {});
  publish('1');
  publish('2', { expected: 41 });
  publish('3', { expected: 0, ttl: 60_000 });
  publish('4');
  publish('5', { delay: 1.2, key: 'k' });
  publish('6', { delay: 0, ttl: 0 });
  publish('7');
  await settle();
  assert.deepEqual(bus.of('PUBLISH').map(f => [f.sequence, f.events.map(e => e.payload).join(), f.wish]), [
    [1, '1', undefined], [2, '2', [42, 0, 0]], [3, '3', [1, 0, 60_000]], [4, '4', undefined], [5, '5', [0, 2, 0]], [6, '6,7', undefined],
  ]);
});

test('options are sent again after a lost connection, also under new numbers', async () => {
  const { client, env, bus } = await connected();
  client.publish('a', '1').catch(() => {});
  const expecting = client.publish('a', '2', { expected: 4, ttl: 3650 * 86_400_000 });
  await settle();
  bus.end();
  await env.advance(100);
  assert.deepEqual(env.bus.of('PUBLISH').map(f => [f.sequence, f.wish]), [[1, undefined], [2, [5, 0, 3650 * 86_400_000]]]);
  env.onOpen = connection => connection.welcome({ producer: 99n, limits: { ...LIMITS, payloadBytes: 1000 } });
  confirm(env.bus, 1, 3);
  env.bus.end();
  await env.advance(500);
  assert.deepEqual(env.bus.of('PUBLISH').map(f => [f.sequence, f.wish]), [[1, [5, 0, 3650 * 86_400_000]]], 'for a bus with smaller limits it was cut again');
  confirm(env.bus, 1, 5, true);
  assert.deepEqual(await expecting, { topic: 'a', producer: 99n, sequence: 1, receivers: undefined, position: 5, repeated: true });
});

test('an event of a named producer is alone in its frame, and sent again under its name and number', async () => {
  const { client, env, bus } = await connected();
  client.publish('a', '1').catch(() => {});
  const named = client.publish('a', '2', { producer: 'outbox', number: 41 });
  client.publish('a', '3', { producer: 'é-1', number: Number.MAX_SAFE_INTEGER, expected: 4, delay: 5 }).catch(() => {});
  client.publish('a', '4').catch(() => {});
  const seen = [[1, '1', undefined, undefined], [2, '2', [0, 0, 0], ['outbox', 41]], [3, '3', [5, 5, 0], ['é-1', Number.MAX_SAFE_INTEGER]], [4, '4', undefined, undefined]];
  const frames = of => of('PUBLISH').map(f => [f.sequence, f.events.map(e => e.payload).join(), f.wish, f.named]);
  await settle();
  assert.deepEqual(frames(type => bus.of(type)), seen);
  env.onOpen = connection => connection.welcome({ producer: 99n });
  bus.end();
  await env.advance(100);
  assert.deepEqual(frames(type => env.bus.of(type)), seen);
  confirm(env.bus, 2, 7, true);
  assert.deepEqual(await named, { topic: 'a', producer: 99n, sequence: 2, receivers: undefined, position: 7, repeated: true });
});

test('a refusal has the code of the bus', async () => {
  const { client, bus } = await connected();
  for (const [i, [code, retryable]] of [['EXPECTATION_FAILED', false], ['STORE_FULL', true], ['UNAVAILABLE', true], ['NO_JOURNAL', false], ['SEQUENCE_GAP', false]].entries()) {
    const published = client.publish('a', 'x', { expected: 4 });
    await settle();
    bus.send('PROBLEM', { code, retryable, message: 'last position of the topic: 9', about: i + 1, typeCode: 1, topic: 'a' });
    await assert.rejects(published, { code: 'REFUSED', busCode: code, retryable, message: 'last position of the topic: 9' });
  }
});

test('options are refused where the bus has no durable topics', async () => {
  const { client, bus } = await connected({}, undefined, { durable: false });
  await assert.rejects(client.publish('a', 'x', { expected: 0 }), refused);
  client.publish('a', 'x', { delay: 0 });
  await settle();
  assert.deepEqual(bus.of('PUBLISH').map(f => [f.sequence, f.wish]), [[1, undefined]], 'no number is used up, and options that ask for nothing need nothing');
});

test('options are not sent to a bus without durable topics after a reconnect', async () => {
  const { client, env, bus } = await connected();
  const plain = client.publish('a', '1');
  const expecting = client.publish('a', '2', { expected: 0 });
  const rejected = assert.rejects(expecting, refused);
  await settle();
  env.onOpen = connection => connection.welcome({ durable: false });
  bus.end();
  await env.advance(100);
  await rejected;
  assert.deepEqual(env.bus.of('PUBLISH').map(f => [f.sequence, f.wish]), [[1, undefined]]);
  env.bus.confirmAll();
  assert.equal((await plain).sequence, 1);
  await assert.rejects(client.publish('a', '3', { ttl: 1 }), refused);
});

test('a client stays at a bus with durable topics', async () => {
  const { env, bus, of } = await connected();
  env.onOpen = connection => connection.welcome({ bus: 'bus-2', durable: false });
  bus.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'] });
  await settle();
  assert.deepEqual(of('busChangeFailed').map(e => e.why), ['it has no durable topics']);
});

test('options have bounds', async () => {
  const { client } = await connected();
  for (const expected of [-1, 1.5, NaN, '1', Number.MAX_SAFE_INTEGER]) {
    await assert.rejects(client.publish('a', 'x', { expected }), /^RangeError: expected: /);
  }
  await assert.rejects(client.publish('a', 'x', { delay: -1 }), /^RangeError: delay: -1 \(expected: 0\.\.315360000000 ms\)/);
  await assert.rejects(client.publish('a', 'x', { ttl: 3651 * 86_400_000 }), /^RangeError: ttl: /);
  assert.throws(() => client.send('a', 'x', { expected: 0 }), /expected: unknown option/);
  for (const producer of [undefined, 7, '', 'a/b', 'a b', 'é'.repeat(32)]) {
    await assert.rejects(client.publish('a', 'x', { producer, number: 1 }), { code: 'ILLEGAL_TOPIC', message: /^producer: '.*' \(expected: the form of a topic/ });
  }
  for (const number of [undefined, 0, -1, 1.5, '1', 2 ** 53]) {
    await assert.rejects(client.publish('a', 'x', { producer: 'outbox', number }), /^RangeError: number: /);
  }
});

test('a subscription sees positions and publishers', async () => {
  const { client, bus, of } = await connected();
  const got = [];
  await settle();
  client.subscribe('a', { onGap: gap => got.push(gap) }, event => got.push(event));
  await settle();
  bus.confirmAll();
  const stored = (sequence, offset, originSequence, ...events) => bus.send('DELIVER', { topic: 'a', producer: 5n, sequence, offset, events, originProducer: 9n, originSequence });
  stored(3, 41, 7, { payload: 'x' }, { payload: 'y' });
  assert.deepEqual(got.map(e => [e.position, e.producer, e.sequence]), [[41, 9n, 7], [42, 9n, 8]]);
  const kept = got[1].detached();
  assert.deepEqual([kept.position, kept.sequence, kept.text()], [42, 8, 'y']);
  assert.equal(kept.toJSON().position, 42);
  got.splice(0);
  stored(4, 42, 8, { payload: 'y' }, { payload: 'z' });
  assert.deepEqual(got.splice(0).map(e => [e.position, e.text()]), [[43, 'z']], 'repetitions are judged by the number in the stream');
  stored(9, 60, 2, {});
  assert.deepEqual(of('gap').map(g => [g.producer, g.from, g.to]), [[5n, 6, 8]]);
  got.splice(0);
  bus.send('DELIVER', { topic: 'a', producer: 6n, sequence: 1 });
  assert.deepEqual([got[0].position, got[0].producer, got[0].sequence], [0, 6n, 1]);
});

test('what a full buffer drops is told by the numbers of the stream', async () => {
  const { client, env, bus, of } = await connected();
  const subscription = client.subscribe('a', { overflow: 'DROP_OLDEST', bufferBytes: 1024 });
  await settle();
  bus.confirmAll();
  for (let i = 0; i < 4; i++) {
    bus.send('DELIVER', { topic: 'a', producer: 5n, sequence: 11 + i, offset: 100 + 3 * i, originProducer: 9n, originSequence: 50 - i, events: [{ payload: 'x'.repeat(400) }] });
  }
  await env.advance(1);
  assert.deepEqual(of('gap').map(g => [g.producer, g.from, g.to, g.reason]), [[5n, 11, 11, 'BUFFER_FULL'], [5n, 12, 12, 'BUFFER_FULL'], [5n, 13, 13, 'BUFFER_FULL']].slice(0, of('gap').length));
  assert.ok(of('gap').length > 0);
  const { value } = await subscription[Symbol.asyncIterator]().next();
  assert.equal(value.producer, 9n);
});
