import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connected, settle } from './support/fakes.js';

const events = (n, payload = 'x') => Array.from({ length: n }, () => ({ payload }));
const codes = code => thrown => thrown.code === code || assert.fail(thrown.stack);

async function subscribed(options = {}, handler = undefined, clientOptions = {}) {
  const all = await connected(clientOptions);
  const subscription = all.client.subscribe('a.>', options, handler);
  await settle();
  all.bus.confirmAll();
  await subscription.ready;
  return { ...all, subscription };
}

test('an event has the published fields', async () => {
  const got = [];
  const { bus } = await subscribed({}, event => got.push(event));
  bus.send('DELIVER', { topic: 'a.b', producer: -5n, sequence: 7, schema: 9n, receivedAt: 1700, events: [{ publishedAt: 1600, key: 'kü', headers: { h: 'v', __proto__: null }, payload: '{"n":1}' }, {}] });
  const [event, other] = got;
  assert.deepEqual(JSON.parse(JSON.stringify(event)), {
    topic: 'a.b', sequence: 7, position: 0, producer: '-5', schema: '9', publishedAt: 1600, receivedAt: 1700, key: 'kü', headers: { h: 'v' }, payload: '{"n":1}',
  });
  assert.deepEqual(event.value(), { n: 1 });
  assert.equal(event.producer, -5n);
  const kept = event.detached();
  assert.deepEqual(kept.toJSON(), event.toJSON());
  assert.notEqual(kept.payload.buffer, event.payload.buffer);
  assert.ok(kept.payload.buffer.byteLength < 30);
  assert.throws(() => other.json(), codes('UNREADABLE_PAYLOAD'));
  assert.equal(other.key, null);
});

test('the codec of each subscription reads the payload', async () => {
  const { client, bus, subscription } = await subscribed({ codec: { encode: () => assert.fail(), decode: (payload, schema) => `${payload.length} ${schema}` } });
  const other = [];
  client.subscribe('a.b', { codec: { encode: () => assert.fail(), decode: () => { throw new Error('no'); } } }, event => other.push(event));
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { schema: 3n, events: events(1) });
  const { value } = await subscription[Symbol.asyncIterator]().next();
  assert.equal(value.value(), '1 3');
  assert.throws(() => other[0].value(), thrown => codes('UNREADABLE_PAYLOAD')(thrown) && thrown.message === 'event 1 of a.b: no');
});

test('overlapping subscriptions get an event each; groups only their own', async () => {
  const { client, bus } = await connected();
  const got = [];
  for (const [filter, group] of [['a.b'], ['a.>'], ['b'], ['a.b', 'g'], ['>', 'g']]) {
    client.subscribe(filter, group ? { group } : {}, () => got.push(`${filter}${group ?? ''}`));
  }
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { events: events(1) });
  assert.deepEqual(got.splice(0), ['a.b', 'a.>']);
  bus.send('DELIVER', { sequence: 2, events: events(1), groups: [5] });
  assert.deepEqual(got, ['a.b', 'a.>', '>g']);
  assert.equal(client.counters().received, 2);
});

test('frames of a durable topic for groups are for them alone', async () => {
  const { client, bus } = await connected();
  const got = [];
  const gaps = [];
  client.on('gap', gap => gaps.push(gap));
  for (const group of [undefined, 'g']) {
    client.subscribe('a.b', group ? { group } : {}, event => { got.push(`${group ?? ''}${event.sequence}`); });
  }
  await settle();
  bus.confirmAll();
  const stored = (sequence, n, groups) => bus.send('DELIVER', { sequence, offset: sequence, originProducer: 9n, originSequence: sequence, events: events(n), groups });
  stored(1, 1, []);
  // Of another bus, before and after the frames for the subscription without a group.
  stored(3, 1, [2]);
  stored(2, 2, []);
  stored(2, 1, [2]);
  await settle();
  assert.deepEqual(got, ['1', 'g3', '2', '3', 'g2']);
  assert.deepEqual(gaps, []);
  assert.equal(client.counters().duplicates, 0);
});

test('a handler that returns a promise is awaited; other subscriptions continue', async () => {
  const { client, bus } = await connected();
  const got = [];
  let go;
  client.subscribe('a.b', {}, event => {
    got.push(`slow ${event.sequence}`);
    return new Promise(resolve => { go = resolve; });
  });
  client.subscribe('a.b', {}, event => { got.push(`fast ${event.sequence}`); });
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { events: events(2) });
  assert.deepEqual(got.splice(0), ['slow 1', 'fast 1', 'fast 2']);
  go();
  await settle();
  assert.deepEqual(got, ['slow 2']);
});

test('a failed handler is reported, and the next event is delivered', async () => {
  const { bus, of, subscription, client, env } = await subscribed({}, event => {
    if (event.sequence === 1) {
      throw new Error('one');
    }
    return Promise.reject(new Error('two'));
  });
  bus.send('DELIVER', { events: events(2) });
  await settle();
  assert.deepEqual(of('handlerError').map(e => [e.error.message, e.event.sequence]), [['one', 1], ['two', 2]]);
  assert.equal(subscription.counters().failed, 2);
  assert.equal(client.counters().handlerFailures, 2);
  assert.equal(client.counters().unhandledBytes, 0);
  assert.deepEqual(env.reported, []);
});

test('credit is granted when half of the window was handled', async () => {
  const waiting = [];
  const { bus, client } = await subscribed({}, () => new Promise(resolve => waiting.push(resolve)), { receiveBytes: 10_000 });
  const limits = () => bus.of('CREDIT').map(c => c.limit);
  bus.said.length = 0;
  for (let i = 1; i <= 5; i++) {
    bus.send('DELIVER', { sequence: i, events: events(1, 'x'.repeat(2000)) });
  }
  const bytes = client.counters().unhandledBytes;
  assert.ok(bytes > 10_000 && bytes < 10_500);
  assert.deepEqual(limits(), []);
  for (let i = 0; i < 4; i++) {
    waiting.shift()();
    await settle();
  }
  const frame = bytes / 5;
  assert.deepEqual(bus.of('CREDIT').map(c => [c.limit, c.received]), [[10_000 + 3 * frame, bytes]]);
});

test('duplicates and discarded events return their credit', async () => {
  const { bus, client, subscription } = await subscribed({}, undefined, { receiveBytes: 4096 });
  bus.send('DELIVER', { events: events(3, 'x'.repeat(500)) });
  assert.ok(client.counters().unhandledBytes > 1500);
  bus.send('DELIVER', { events: events(3, 'x'.repeat(500)) });
  const iterator = subscription[Symbol.asyncIterator]();
  await iterator.next();
  await iterator.return();
  subscription.unsubscribe();
  await settle();
  bus.confirmAll();
  assert.equal(client.counters().unhandledBytes, 0);
  bus.send('DELIVER', { sequence: 4, events: events(1, 'x'.repeat(500)) });
  assert.equal(client.counters().unhandledBytes, 0);
});

test('a bus without credit cannot fill the memory', async () => {
  const { bus, of, env } = await subscribed({}, () => new Promise(() => {}), { receiveBytes: 4096 });
  bus.send('PROBLEM', { code: 'UNKNOWN_TYPE', typeCode: 28 });
  bus.said.length = 0;
  for (let i = 1; bus.closed === null && i < 100; i++) {
    bus.send('DELIVER', { sequence: i, events: events(1, 'x'.repeat(1_000_000)) });
  }
  assert.equal(bus.closed.code, 4001);
  assert.equal(of('disconnected')[0].code, 4001);
  assert.deepEqual(bus.of('CREDIT'), []);
  await env.advance(100);
  assert.equal(env.bus.of('CREDIT')[0].limit, 0, 'what is still here takes of the window');
});

test('for await: an event counts as handled when the next is asked for, or when the loop is left', async () => {
  const { bus, client, subscription } = await subscribed();
  bus.send('DELIVER', { events: events(1) });
  bus.send('DELIVER', { sequence: 2, events: events(2) });
  const got = [];
  for await (const event of subscription) {
    got.push(event.sequence);
    if (got.length === 2) {
      break;
    }
    assert.ok(client.counters().unhandledBytes > 0);
  }
  assert.deepEqual(got, [1, 2]);
  const over = subscription.unsubscribe();
  await settle();
  bus.confirmAll();
  await over;
  assert.equal(client.counters().unhandledBytes, 0);
});

test('for await waits, and ends with the subscription', async () => {
  const { bus, subscription } = await subscribed();
  const got = [];
  const reading = (async () => {
    for await (const event of subscription) {
      got.push(event.text());
    }
  })();
  await settle();
  bus.send('DELIVER', { events: events(2, 'y') });
  await settle();
  const over = subscription.unsubscribe();
  await settle();
  bus.send('DELIVER', { sequence: 3, events: events(1, 'z') });
  bus.confirmAll();
  await Promise.all([reading, over]);
  assert.deepEqual(got, ['y', 'y', 'z']);
});

test('batches hold the available events, up to a maximum', async () => {
  const { bus, client, subscription } = await subscribed();
  bus.send('DELIVER', { events: events(3) });
  bus.send('DELIVER', { sequence: 4, events: events(3) });
  const iterator = subscription.batches({ max: 4 });
  const sizes = [];
  for (let i = 0; i < 2; i++) {
    sizes.push((await iterator.next()).value.map(e => e.sequence));
  }
  assert.deepEqual(sizes, [[1, 2, 3, 4], [5, 6]]);
  const waits = iterator.next();
  assert.equal(client.counters().unhandledBytes, 0);
  bus.send('DELIVER', { sequence: 7, events: events(2) });
  assert.equal((await waits).value.length, 2);
});

test('there is one reader', async () => {
  const { subscription } = await subscribed();
  subscription.batches();
  assert.throws(() => subscription[Symbol.asyncIterator](), { message: 'subscription to a.>: iterated already (expected: one reader)' });
  const { subscription: other } = await subscribed({}, () => {});
  assert.throws(() => other.batches(), { message: /has a handler/ });
});

test('a refused subscription fails ready and the reader, or is reported', async () => {
  const { client, bus, of } = await connected();
  const awaited = client.subscribe('a');
  const failed = assert.rejects(awaited.ready, thrown => codes('REFUSED')(thrown) && thrown.busCode === 'FORBIDDEN');
  const read = client.subscribe('b');
  const iterator = read.batches();
  const readFailed = assert.rejects(iterator.next(), codes('REFUSED'));
  client.subscribe('c', {}, () => {});
  await settle();
  for (const id of [1, 2, 3]) {
    bus.send('PROBLEM', { code: 'FORBIDDEN', message: `no ${id}`, typeCode: 2, about: id });
  }
  await failed;
  await readFailed;
  assert.deepEqual((await iterator.next()).done, true);
  assert.deepEqual(of('problem').map(e => e.message), ['no 3']);
});

test('a signal ends a subscription', async () => {
  const control = new AbortController();
  const { bus, subscription } = await subscribed({ signal: control.signal });
  const next = subscription[Symbol.asyncIterator]().next();
  control.abort(new Error('enough'));
  await assert.rejects(next, { message: 'enough' });
  await settle();
  assert.equal(bus.of('UNSUBSCRIBE').length, 1);
});

test('unsubscribe waits for Drained and the handler', async () => {
  let go;
  const { bus, subscription } = await subscribed({}, () => new Promise(resolve => { go = resolve; }));
  bus.send('DELIVER', { events: events(1) });
  let over = false;
  subscription.unsubscribe().then(() => { over = true; });
  await settle();
  bus.confirmAll();
  await settle();
  assert.equal(over, false);
  go();
  await settle();
  assert.equal(over, true);
  bus.send('DELIVER', { sequence: 2, events: events(1) });
});

test('unsubscribing without a connection ends at once', async () => {
  const { bus, subscription, env } = await subscribed({}, () => {});
  bus.end();
  await subscription.unsubscribe();
  await env.advance(100);
  assert.deepEqual(env.bus.of('SUBSCRIBE'), []);
});

test('a gap is reported once, with the reason of the bus', async () => {
  const { bus, of, subscription } = await subscribed({}, () => {});
  bus.send('DELIVER', { events: events(1) });
  bus.send('GAP', { from: 2, to: 4 });
  bus.send('DELIVER', { sequence: 5, events: events(1) });
  bus.send('GAP', { from: 0, to: 4 });
  bus.send('GAP', { from: 9, to: 8 });
  bus.send('DELIVER', { sequence: 8, events: events(1) });
  assert.deepEqual(of('gap').map(g => [g.from, g.to, g.reason]), [[2, 4, 'QUEUE_FULL'], [6, 7, 'LOST']]);
  assert.equal(subscription.counters().missing, 5);
});

test('of too many producers the least recently used are forgotten', async () => {
  const got = [];
  const { bus } = await subscribed({}, event => got.push(event.producer), { trackedProducers: 2 });
  for (const producer of [1n, 2n, 3n, 3n, 1n]) {
    bus.send('DELIVER', { producer, events: events(1) });
  }
  assert.deepEqual(got, [1n, 2n, 3n, 1n]);
});

test('wrong arguments are refused by the call', async () => {
  const { client } = await connected();
  for (const [args, name] of [
    [['a', { group: ' ' }], 'TypeError'], [['a', { group: 'g'.repeat(256) }], 'TypeError'], [['a', { overflow: 'NONE' }], 'TypeError'],
    [['a', {}, 'handler'], 'TypeError'], [['a..b'], 'EventBusError'], [[5], 'TypeError'],
  ]) {
    assert.throws(() => client.subscribe(...args), { name });
  }
});
