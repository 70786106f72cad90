import assert from 'node:assert/strict';
import { test } from 'node:test';

import { durable, latest, replay } from '../src/durable.js';
import { EventBus } from '../src/index.js';
import { settings } from '../src/options.js';
import { concat, frame, rawFrame, stored } from './support/bus-frames.js';
import { connected, FakeEnvironment, settle } from './support/fakes.js';
import { gate } from './support/gate.js';

const MIB = 2 ** 20;

/** A handler that notes what it gets, and fails where the test says. */
function noting() {
  const handled = [];
  const handler = event => {
    if (event.text() === handler.failsAt) {
      handled.push(`failed ${event.text()}`);
      throw new Error(event.text());
    }
    handled.push(`${event.position} ${event.text()}`);
  };
  const onTruncated = ({ from, to, reason }) => void handled.push(`truncated ${from}..${to} ${reason}`);
  return Object.assign(handler, { handled, onTruncated, failsAt: '' });
}

/** Returns a client with a consumer that the bus has accepted. */
async function consuming(begin, options = {}) {
  const all = await connected(options);
  const consumer = begin(all.client);
  await settle();
  const [consume] = all.bus.of('CONSUME');
  all.bus.confirmAll();
  await consumer.ready;
  const feed = (from, to, ...frames) => all.env.bus.send('FEED', { id: consume.id, from, to, frames });
  const settled = (bus = all.env.bus) => bus.of('SETTLE').map(f => f.upTo);
  /** Loses the connection; returns the Consume of the next one, which it accepts. */
  const reconnect = async () => {
    all.env.bus.end();
    await all.env.advance(1000);
    const [again] = all.env.bus.of('CONSUME');
    all.env.bus.confirmAll();
    await settle();
    return again;
  };
  return { ...all, consumer, consume, feed, settled, reconnect };
}

// ---- Consuming

test('a durable subscription is consumed and settled', async () => {
  const handler = noting();
  const { client, env, consumer, consume, feed, settled } = await consuming(
    bus => durable(bus, 'billing', { filter: 'a.>', journal: 'shop', from: 'FIRST' }, handler));
  assert.deepEqual(consume, { frame: 'CONSUME', id: 1, filter: 'a.>', journal: 'shop', name: 'billing', mode: 1, start: 'FIRST', from: 0, limit: MIB });
  feed(1, 0);
  feed(1, 5, stored(1, 'x', 'y'), stored(4, 'z'));
  await settle();
  assert.deepEqual(handler.handled, ['1 x', '2 y', '4 z']);
  assert.deepEqual(settled(), [1], 'the first one at once, the next one after a moment');
  assert.deepEqual([consumer.position, consumer.lag()], [5, 0]);
  await env.advance(100);
  assert.deepEqual(settled(), [1, 5]);
  assert.deepEqual(consumer.counters(), { received: 3, duplicates: 0, failed: 0, bufferedBytes: 0 });
  assert.equal(client.counters().received, 3);
  await env.advance(1000);
  assert.deepEqual(settled(), [1, 5]);
});

test('an event has the numbers of its publisher', async () => {
  const got = [];
  const { feed } = await consuming(bus => replay(bus, { codec: { decode: bytes => bytes.length } }, event => void got.push(event)));
  feed(1, 2, stored(1, 'x', 'yy'));
  await settle();
  const [, event] = got;
  assert.deepEqual([event.topic, event.position, event.producer, event.sequence, event.value()], ['a', 2, 9n, 102, 2]);
  assert.deepEqual(event.detached().toJSON(), event.toJSON());
});

test('positions without events are settled too, also without a handler', async () => {
  for (const handler of [() => {}, undefined]) {
    const { feed, settled, consumer } = await consuming(bus => durable(bus, 'billing', {}, handler));
    feed(100, 99);
    feed(100, 220);
    await settle();
    assert.deepEqual([settled(), consumer.position], [[220], 220]);
  }
});

test('nothing is settled where a consumer begins, or without a name', async () => {
  const handler = noting();
  const first = await consuming(bus => durable(bus, 'billing', handler));
  first.env.bus.send('FEED', { id: 1, from: 100, to: 99, head: 120 });
  await first.env.advance(1000);
  assert.deepEqual([first.consumer.position, first.consumer.lag(), first.settled()], [99, 21, []]);
  const { consume, feed, env, settled } = await consuming(bus => replay(bus, { from: { position: 7 } }, handler));
  assert.deepEqual([consume.name, consume.filter, consume.start, consume.from], ['', '>', 'POSITION', 7]);
  feed(7, 8, stored(7, 'x', 'y'));
  await env.advance(1000);
  assert.deepEqual(handler.handled, ['7 x', '8 y']);
  assert.deepEqual(settled(), []);
});

test('starts are sent as they are', async () => {
  const { client, bus } = await connected();
  latest(client, 'prices.>', () => {});
  replay(client, { from: { time: new Date(3004) } });
  replay(client, { from: { time: 3_000_004 } });
  replay(client);
  await settle();
  assert.deepEqual(bus.of('CONSUME').map(f => [f.filter, f.start, f.from]),
    [['prices.>', 'LATEST_VALUES', 0], ['>', 'TIME', 3_004_000], ['>', 'TIME', 3_000_004], ['>', 'NEW', 0]]);
});

test('other frames in a feed are skipped, and a message with more in it is not kept', async () => {
  const handler = noting();
  const got = [];
  const { bus, feed } = await consuming(client => replay(client, event => { got.push(event); handler(event); }));
  feed(1, 3, stored(1, 'x'), rawFrame(63, Uint8Array.of(7)), stored(3, 'y'));
  await settle();
  assert.deepEqual(handler.handled, ['1 x', '3 y']);
  bus.raw(concat(frame('FEED', { id: 1, from: 4, to: 4, frames: [stored(4, 'z')] }), frame('DELIVER', { topic: 'b', events: [{ payload: 'x'.repeat(5000) }] })));
  await settle();
  assert.ok(got.at(-1).payload.buffer.byteLength < 100);
});

test('a malformed feed ends the connection, and none of its events is handled', async () => {
  for (const frames of [[stored(1, 'x'), Uint8Array.of(8, 2, 126)], [stored(1, 'x', 'y'), stored(2, 'z')], [stored(4, 'x')], [frame('DELIVER', { topic: 'a' })]]) {
    const handler = noting();
    const { bus, feed } = await consuming(client => durable(client, 'billing', handler));
    feed(1, 3, ...frames);
    await settle();
    assert.equal(bus.closed.code, 1007);
    assert.deepEqual(handler.handled, []);
  }
});

test('what does not come is told in order, and to the listener', async () => {
  const handler = noting();
  const { bus, env, feed, settled, of, consumer } = await consuming(client => durable(client, 'billing', { onTruncated: handler.onTruncated }, handler));
  const truncated = (from, to, reason) => bus.send('TRUNCATED', { id: 1, from, to, reason });
  truncated(1, 9, 'RETENTION');
  feed(10, 10, stored(10, 'x'));
  truncated(11, 12, 'EXPIRED');
  truncated(13, 14, 'EXPIRED');
  truncated(15, 15, 99);
  await settle();
  assert.deepEqual(handler.handled, ['truncated 1..9 RETENTION', '10 x', 'truncated 11..14 EXPIRED', 'truncated 15..15 UNKNOWN']);
  assert.deepEqual(of('truncated').map(t => [t.from, t.to, t.filter, t.subscription === consumer]), [[1, 9], [11, 12], [13, 14], [15, 15]].map(range => [...range, '>', true]));
  await env.advance(100);
  assert.equal(settled().at(-1), 15);
  truncated(8, 18, 'PURGED');
  await settle();
  assert.equal(handler.handled.at(-1), 'truncated 16..18 PURGED', 'what is known was told before');
});

test('a hole that the bus does not tell is told', async () => {
  const handler = noting();
  const { feed, reconnect } = await consuming(client => replay(client, { onTruncated: handler.onTruncated }, handler));
  feed(5, 5, stored(5, 'x'));
  feed(8, 8, stored(8, 'y'));
  await settle();
  await reconnect();
  feed(20, 20, stored(20, 'z'));
  await settle();
  assert.deepEqual(handler.handled, ['5 x', 'truncated 6..7 UNKNOWN', '8 y', 'truncated 9..19 UNKNOWN', '20 z']);
});

test('a feed that overtakes the confirmation is taken, and counted once', async () => {
  const handler = noting();
  const { client, bus } = await connected();
  replay(client, { bufferBytes: 1024 }, handler);
  await settle();
  const feed = (position, payload) => bus.send('FEED', { id: 1, from: position, to: position, frames: [stored(position, payload)] });
  feed(1, 'x'.repeat(600));
  bus.confirmAll();
  feed(2, 'y'.repeat(600));
  await settle();
  assert.deepEqual(handler.handled.map(text => text.slice(0, 3)), ['1 x', '2 y']);
  const { limit, received } = bus.of('CREDIT').filter(f => f.consumer).at(-1);
  assert.ok(received > 1200 && limit === received + 1024);
});

test('what does not come is an error where nobody listens', async () => {
  const env = new FakeEnvironment();
  env.onOpen = connection => connection.welcome();
  const client = await new EventBus(settings({ url: 'ws://bus-1.test/bus' }, false), env).start();
  durable(client, 'billing', () => {});
  await settle();
  env.bus.confirmAll();
  env.bus.send('TRUNCATED', { id: 1, from: 1, to: 9 });
  assert.deepEqual(env.reported.map(e => [e.code, e.message]), [['TRUNCATED', 'durable subscription billing of > does not get the events at 1 to 9 (RETENTION)']]);
  client.on('truncated', () => {});
  env.bus.send('TRUNCATED', { id: 1, from: 10, to: 11 });
  assert.equal(env.reported.length, 1);
});

test('names, filters and options are checked', async () => {
  const { client } = await connected();
  const illegal = { code: 'ILLEGAL_TOPIC' };
  ['', 'a..b', '*', '$a', 'x'.repeat(129)].forEach(name => assert.throws(() => durable(client, name), illegal, name));
  assert.throws(() => durable(client), /TypeError: name: undefined/);
  assert.throws(() => replay(client, { filter: 'a..b' }), illegal);
  assert.throws(() => replay(client, { journal: '*' }), illegal);
  assert.throws(() => latest(client, undefined), /TypeError: filter: undefined/);
  assert.throws(() => latest(client, 'a', { from: 'FIRST' }), /from: unknown option/);
  assert.throws(() => replay(client, { bufferBytes: 1 }), /bufferBytes: 1 \(expected: 1024\.\.1073741824 bytes\)/);
  for (const from of [{ position: -1 }, { position: 1.5 }, { time: new Date(NaN) }]) {
    assert.throws(() => replay(client, { from }), /^RangeError: from\./);
  }
  for (const from of ['LAST', {}, { position: 1, time: 1 }, null]) {
    assert.throws(() => replay(client, { from }), /^TypeError: from: unknown/);
  }
  assert.throws(() => replay(client, {}, 1), /handler: number/);
  assert.throws(() => replay(client, { onTruncated: 1 }), /onTruncated: number/);
  assert.throws(() => replay({}), /bus: object \(expected: a client/);
  await client.close({ timeout: 0 });
  assert.throws(() => replay(client), { code: 'CLOSED' });
});

// ---- Credit and memory

test('credit is granted for what is handled', async () => {
  const release = gate();
  const { bus, feed, consume, consumer } = await consuming(client => replay(client, { bufferBytes: 2048 }, () => release.promise));
  assert.equal(consume.limit, 2048);
  feed(1, 1, stored(1, 'x'.repeat(1000)));
  feed(2, 2, stored(2, 'y'.repeat(1000)));
  await settle();
  assert.deepEqual(bus.of('CREDIT').filter(f => f.consumer), [], 'nothing is handled');
  const { bufferedBytes } = consumer.counters();
  assert.ok(bufferedBytes > 2000 && bufferedBytes < 2500);
  release.resolve();
  await settle();
  const credits = bus.of('CREDIT').filter(f => f.consumer);
  assert.deepEqual(credits.map(f => [f.call, f.consumer]), credits.map(() => [0, 1]));
  const { limit, received } = credits.at(-1);
  assert.ok(received > 2000 && received < 2200);
  assert.equal(limit, received + 2048);
});

test('a slow handler makes no memory grow, however often the connection is lost', async () => {
  for (const begin of [handler => client => replay(client, { bufferBytes: 2048 }, handler), handler => client => durable(client, 'billing', { bufferBytes: 2048 }, handler)]) {
    const release = gate();
    const { env, feed, consumer, consume, reconnect } = await consuming(begin(() => release.promise));
    assert.equal(consume.limit, 2048);
    feed(1, 1, stored(1, 'x'.repeat(1000)));
    feed(2, 2, stored(2, 'x'.repeat(1100)));
    const full = consumer.counters().bufferedBytes;
    for (let i = 0; i < 3; i++) {
      const again = await reconnect();
      assert.equal(again.limit, 0, 'what waits takes its room');
    }
    assert.equal(consumer.counters().bufferedBytes, full);
    release.resolve();
    await settle();
    assert.deepEqual(env.bus.of('CREDIT').filter(f => f.consumer).map(f => [f.limit, f.received]), [[2048, 0]], 'the bytes of a connection count from 0');
  }
});

test('empty frames and losses of a stuck consumer take no memory', async () => {
  const { bus, feed, consumer } = await consuming(client => durable(client, 'billing', { onTruncated: () => {} }, () => new Promise(() => {})));
  feed(1, 1, stored(1, 'x'));
  await settle();
  for (let i = 2; i < 1000; i++) {
    feed(i, i);
  }
  for (let i = 1000; i < 2000; i++) {
    bus.send('TRUNCATED', { id: 1, from: i, to: i, reason: 'EXPIRED' });
  }
  assert.ok(consumer.counters().bufferedBytes < 1000);
  assert.deepEqual([consumer.position, consumer.lag()], [0, 1999]);
});

test('a bus that sends far beyond the limit is left', async () => {
  const { bus, feed } = await consuming(client => replay(client, { bufferBytes: 1024 }, () => new Promise(() => {})));
  const payload = 'x'.repeat(4 * MIB);
  for (let i = 1; i < 6 && !bus.closed; i++) {
    feed(i, i, stored(i, payload));
  }
  assert.equal(bus.closed.code, 4001);
});

test('credit begins anew when the bus has ended a consumer and accepts it again', async () => {
  const { env, bus, feed } = await consuming(client => durable(client, 'billing', { bufferBytes: 2048 }, () => {}));
  for (let i = 1; i < 5; i++) {
    feed(i, i, stored(i, 'x'.repeat(1500)));
    await settle();
  }
  bus.said.splice(0);
  bus.send('PROBLEM', { code: 'REPLACED', about: 1, typeCode: 16 });
  await env.advance(1000);
  bus.confirmAll();
  feed(5, 5, stored(5, 'x'.repeat(1500)));
  await settle();
  assert.ok(bus.of('CREDIT').filter(f => f.consumer).every(f => f.limit < 2 * 2048), 'the bus counts from 0 again');
});

// ---- Failures of the handler

test('after a failure the same event comes again, after growing pauses', async () => {
  const handler = noting();
  const { env, feed, consumer, of, client } = await consuming(bus => durable(bus, 'billing', handler), { silenceTimeout: 86_400_000 });
  handler.failsAt = 'y';
  feed(1, 3, stored(1, 'x', 'y', 'z'));
  await settle();
  assert.deepEqual(handler.handled, ['1 x', 'failed y']);
  assert.deepEqual(of('handlerError').map(e => [e.event.position, e.subscription === consumer]), [[2, true]]);
  assert.equal(consumer.position, 1);
  let failures = 1;
  for (const pause of [1000, 5000, 30_000, 120_000, 120_000]) {
    await env.advance(pause - 1);
    assert.equal(consumer.counters().failed, failures);
    await env.advance(1);
    assert.equal(consumer.counters().failed, ++failures, `after ${pause} ms`);
  }
  feed(4, 4, stored(4, 'u'));
  await settle();
  assert.equal(consumer.counters().failed, failures, 'an arrival does not end the pause');
  handler.failsAt = '';
  await env.advance(120_000);
  assert.deepEqual(handler.handled.slice(-3), ['2 y', '3 z', '4 u']);
  assert.equal(client.counters().handlerFailures, failures);
});

test('a promise of the handler is awaited, and a failing onTruncated is called again', async () => {
  const gates = [gate(), gate()];
  const handled = [];
  let fails = true;
  const onTruncated = () => {
    handled.push('truncated');
    if (fails) {
      throw new Error('no');
    }
  };
  const { env, bus, feed, consumer } = await consuming(client => durable(client, 'billing', { onTruncated }, event => {
    handled.push(event.text());
    return gates[event.position - 1].promise;
  }));
  feed(1, 2, stored(1, 'x', 'y'));
  bus.send('TRUNCATED', { id: 1, from: 3, to: 4 });
  await settle();
  assert.deepEqual([handled, consumer.position], [['x'], 0]);
  gates[0].resolve();
  await settle();
  assert.deepEqual([handled, consumer.position], [['x', 'y'], 1]);
  gates[1].reject(new Error('late'));
  gates[1] = { promise: null };
  await settle();
  assert.equal(consumer.position, 1);
  await env.advance(1000);
  assert.deepEqual([handled, consumer.position], [['x', 'y', 'y', 'truncated'], 2]);
  fails = false;
  await env.advance(1000);
  assert.deepEqual([handled.length, consumer.position], [5, 4]);
});

// ---- A reader

test('a reader has handled an event when it asks for the next one', async () => {
  const { env, feed, settled, consumer } = await consuming(client => durable(client, 'billing'));
  feed(1, 3, stored(1, 'x', 'y', 'z'));
  const reader = consumer[Symbol.asyncIterator]();
  assert.equal((await reader.next()).value.text(), 'x');
  assert.throws(() => consumer.batches(), /iterated already/);
  assert.deepEqual([consumer.position, settled()], [0, []]);
  assert.equal((await reader.next()).value.text(), 'y');
  await settle();
  assert.deepEqual([consumer.position, settled()], [1, [1]]);
  await reader.return();
  assert.deepEqual(await reader.next(), { value: undefined, done: true });
  assert.equal(consumer.position, 1, 'the event at which a loop was left is not handled');
  for await (const event of consumer) {
    assert.equal(event.text(), 'y');
    consumer.settle();
    break;
  }
  assert.equal(consumer.position, 2);
  const again = consumer[Symbol.asyncIterator]();
  assert.equal((await again.next()).value.text(), 'z');
  const waiting = again.next();
  await assert.rejects(again.next(), /next\(\) before the last one was answered/);
  feed(4, 4, stored(4, 'u'));
  assert.equal((await waiting).value.text(), 'u');
  await env.advance(100);
  assert.equal(settled().at(-1), 3);
  const last = again.next();
  await settle();
  const end = consumer.unsubscribe();
  assert.equal((await last).done, true);
  env.bus.confirmAll();
  await end;
  assert.deepEqual(env.bus.before.filter(f => f.frame === 'SETTLE').at(-1).upTo, 4);
});

test('a loop that fails has not handled its event', async () => {
  const { feed, consumer } = await consuming(client => durable(client, 'billing'));
  feed(1, 2, stored(1, 'x', 'y'));
  await assert.rejects(async () => {
    for await (const event of consumer) {
      if (event.text() === 'y') {
        throw new Error('no');
      }
    }
  }, /no/);
  assert.equal(consumer.position, 1);
  for await (const event of consumer) {
    assert.equal(event.text(), 'y');
    break;
  }
});

test('a reader of batches gets what is there', async () => {
  const { bus, feed, consumer } = await consuming(client => replay(client, { onTruncated: ({ from }) => void told.push(from) }));
  const told = [];
  feed(1, 3, stored(1, 'x', 'y', 'z'));
  bus.send('TRUNCATED', { id: 1, from: 4, to: 4 });
  feed(5, 5, stored(5, 'u'));
  const batches = [];
  for await (const events of consumer.batches({ max: 2 })) {
    batches.push(events.map(e => e.text()).join(''));
    if (batches.length === 3) {
      break;
    }
  }
  assert.deepEqual([batches, told], [['xy', 'z', 'u'], [4]]);
  assert.throws(() => consumer.batches({ max: 0 }), /max: 0/);
});

test('a reader waits while onTruncated fails', async () => {
  let calls = 0;
  const { bus, env, feed, consumer } = await consuming(client => replay(client, { onTruncated: () => {
    if (++calls < 3) {
      throw new Error('no');
    }
  } }));
  bus.send('TRUNCATED', { id: 1, from: 1, to: 4 });
  const next = consumer[Symbol.asyncIterator]().next();
  await settle();
  feed(5, 5, stored(5, 'x'));
  await settle();
  assert.equal(calls, 1, 'an arrival does not end the pause');
  await env.advance(1000);
  assert.equal(calls, 2);
  await env.advance(5000);
  assert.equal((await next).value.text(), 'x');
});

// ---- Reconnecting, standing by, moving

test('a durable subscription goes on after a lost connection: no event is handled twice', async () => {
  const handler = noting();
  const { client, feed, reconnect, settled, consumer } = await consuming(bus => durable(bus, 'billing', { from: 'FIRST' }, handler));
  feed(1, 2, stored(1, 'x', 'y'));
  await settle();
  assert.deepEqual(settled(), [1]);
  const again = await reconnect();
  assert.deepEqual([again.id, again.name, again.start, again.journal], [1, 'billing', 'FIRST', 'shop']);
  // The bus knows only the first settlement.
  feed(2, 3, stored(2, 'y', 'z'));
  await settle();
  assert.deepEqual(handler.handled, ['1 x', '2 y', '3 z']);
  assert.deepEqual(settled(), [2], 'what it does not know is settled again');
  assert.deepEqual([consumer.counters().duplicates, client.counters().duplicates], [1, 1]);
});

test('events that wait are handled over a lost connection, once', async () => {
  const gates = new Map(['x', 'y', 'z'].map(text => [text, gate()]));
  const handled = [];
  const { feed, reconnect, consumer, env, settled } = await consuming(client => durable(client, 'billing', event => {
    handled.push(event.text());
    return gates.get(event.text()).promise;
  }));
  feed(1, 2, stored(1, 'x', 'y'));
  await settle();
  await reconnect();
  feed(1, 3, stored(1, 'x', 'y', 'z'));
  gates.forEach(one => one.resolve());
  await env.advance(100);
  assert.deepEqual(handled, ['x', 'y', 'z']);
  assert.equal(consumer.position, 3);
  assert.equal(settled().at(-1), 3);
});

test('what was handled is settled again after a lost connection', async () => {
  const handler = noting();
  const { feed, reconnect, settled } = await consuming(client => durable(client, 'billing', handler));
  feed(1, 1, stored(1, 'x'));
  await settle();
  await reconnect();
  feed(1, 0);
  await settle();
  assert.deepEqual([settled(), handler.handled], [[1], ['1 x']]);
});

test('a replay goes on behind what it has got', async () => {
  const { feed, reconnect } = await consuming(client => replay(client, () => {}));
  feed(50, 49);
  const again = await reconnect();
  assert.deepEqual([again.start, again.from, again.journal], ['POSITION', 50, 'shop']);
  feed(50, 50, stored(50, 'x'));
  await settle();
  assert.equal((await reconnect()).from, 51);
});

/** The answer to a Consume of a creation of the journal. */
const ofCreation = creation => ['CONFIRM', { typeCode: 16, about: 1, topic: 'shop', receivers: -1, position: 0, creation }];

test('nothing of a deleted journal counts in the one that was created again', async () => {
  const handled = [];
  const inHand = gate();
  const told = [];
  const { client, env } = await connected();
  client.on('truncated', ({ from, to, reason }) => told.push([from, to, reason]));
  const onTruncated = ({ from, to, reason }) => void handled.push(`truncated ${from}..${to} ${reason}`);
  const consumer = durable(client, 'billing', { from: 'FIRST', onTruncated }, async event => {
    handled.push(`${event.position} ${event.text()}`);
    if (event.text() === 'a') {
      await inHand.promise;
    }
  });
  await settle();
  env.bus.send(...ofCreation(79));
  env.bus.send('FEED', { id: 1, from: 1, to: 2, frames: [stored(1, 'a', 'b')] });
  env.bus.send('FEED', { id: 1, from: 3, to: 5, frames: [stored(3, 'c')] });
  await settle();
  env.bus.end();
  await env.advance(1000);
  const [consume] = env.bus.of('CONSUME');
  assert.deepEqual([consume.creation, consume.otherStart, consume.otherFrom], [79, 'FIRST', 0]);
  env.bus.send(...ofCreation(80));
  env.bus.send('FEED', { id: 1, from: 1, to: 2, frames: [stored(1, 'x', 'y')] });
  await settle();
  inHand.resolve();
  await settle();
  assert.deepEqual(handled, ['1 a', 'truncated 1..5 DELETED', '1 x', '2 y']);
  assert.deepEqual(told, [[1, 5, 'DELETED']]);
  await env.advance(100);
  assert.deepEqual(env.bus.of('SETTLE').map(f => [f.upTo, f.creation]), [[1, 80], [2, 80]]);
  assert.deepEqual([consumer.position, consumer.counters().bufferedBytes], [2, 0]);
});

test('an event of a deleted journal does not come again after a failure', async () => {
  const handler = noting();
  handler.failsAt = 'a';
  const { client, env } = await connected();
  durable(client, 'billing', { onTruncated: handler.onTruncated }, handler);
  await settle();
  env.bus.send(...ofCreation(79));
  env.bus.send('FEED', { id: 1, from: 1, to: 1, frames: [stored(1, 'a')] });
  await settle();
  env.bus.send('PROBLEM', { code: 'REPLACED', about: 1, typeCode: 16 });
  env.bus.send(...ofCreation(80));
  env.bus.send('FEED', { id: 1, from: 1, to: 1, frames: [stored(1, 'x')] });
  await settle();
  assert.deepEqual(handler.handled, ['failed a', 'truncated 1..1 DELETED', '1 x']);
});

test('a reader counts nothing of a deleted journal, and a bus that is behind feeds nothing more', async () => {
  const { client, env, bus } = await connected();
  const reader = durable(client, 'billing')[Symbol.asyncIterator]();
  await settle();
  bus.send(...ofCreation(79));
  bus.send('FEED', { id: 1, from: 1, to: 2, frames: [stored(1, 'a', 'b')] });
  assert.equal((await reader.next()).value.text(), 'a');
  bus.send('CHANGE_BUS', { urls: ['ws://two/bus'], token: 'move' });
  await settle();
  const other = env.bus;
  assert.notEqual(other, bus);
  other.send(...ofCreation(80));
  bus.send('FEED', { id: 1, from: 3, to: 3, frames: [stored(3, 'c')] });
  other.send('FEED', { id: 1, from: 1, to: 1, frames: [stored(1, 'x')] });
  assert.equal((await reader.next()).value.text(), 'x');
  await env.advance(100);
  assert.deepEqual([...bus.of('SETTLE'), ...other.of('SETTLE')], []);
});

test('one that stands by takes over where the others have come', async () => {
  const handler = noting();
  const { env, bus, feed, settled, consumer, reconnect, of } = await consuming(client => durable(client, 'billing', handler));
  assert.deepEqual([consumer.position, consumer.lag()], [0, 0]);
  feed(5, 6, stored(5, 'x', 'y'));
  await settle();
  bus.send('PROBLEM', { code: 'REPLACED', message: 'taken for lost', about: 1, typeCode: 16 });
  await env.advance(1000);
  assert.deepEqual(bus.of('CONSUME').map(f => f.id), [1]);
  bus.confirmAll();
  feed(201, 200);
  await settle();
  assert.deepEqual([consumer.position, settled()], [200, []], 'what others have settled is not settled again');
  feed(201, 201, stored(201, 'z'));
  await env.advance(100);
  assert.deepEqual([handler.handled, settled(), of('truncated')], [['5 x', '6 y', '201 z'], [201], []]);
  await reconnect();
});

test('one that the bus has ended asks again, but only once', async () => {
  const handler = noting();
  const { env, bus, feed, of } = await consuming(client => durable(client, 'billing', handler));
  bus.send('PROBLEM', { code: 'UNAVAILABLE', message: 'no leader', retryable: true, about: 1, typeCode: 16 });
  assert.deepEqual(of('problem').map(p => p.message), ['no leader']);
  await env.advance(999);
  assert.deepEqual(bus.of('CONSUME'), []);
  await env.advance(1);
  assert.equal(bus.of('CONSUME').length, 1);
  bus.confirmAll();
  bus.send('PROBLEM', { code: 'REPLACED', about: 1, typeCode: 16 });
  await env.advance(500);
  bus.end();
  await env.advance(300);
  assert.equal(env.bus.of('CONSUME').length, 1);
  env.bus.confirmAll();
  await env.advance(1000);
  assert.deepEqual(env.bus.of('CONSUME'), [], 'the new connection has it already');
  feed(1, 1, stored(1, 'x'));
  await settle();
  assert.deepEqual(handler.handled, ['1 x']);
});

test('a refused consumer has ended', async () => {
  const { client, bus, told } = await connected();
  const awaited = durable(client, 'billing', () => {});
  const ready = assert.rejects(awaited.ready, { code: 'REFUSED', busCode: 'NO_JOURNAL' });
  durable(client, 'others', () => {});
  const read = replay(client);
  const next = assert.rejects(read[Symbol.asyncIterator]().next(), { busCode: 'NO_JOURNAL' });
  await settle();
  [1, 2, 3].forEach(about => bus.send('PROBLEM', { code: 'NO_JOURNAL', message: `no ${about}`, typeCode: 16, about }));
  await ready;
  await next;
  await awaited.unsubscribe();
  assert.deepEqual(told.filter(t => t.type === 'problem').map(t => t.message), ['no 2'], 'nobody waited for it');
});

test('a consumer waits for a bus with durable topics', async () => {
  const handler = noting();
  const { client, env, bus, of } = await connected({}, undefined, { durable: false });
  const consumer = durable(client, 'billing', handler);
  const ready = assert.rejects(consumer.ready, { code: 'REFUSED', busCode: 'UNKNOWN_TYPE' });
  await settle();
  bus.send('PROBLEM', { code: 'UNKNOWN_TYPE', typeCode: 16, about: 0 });
  await ready;
  await env.advance(30_000);
  assert.deepEqual([bus.closed, of('problem')], [null, []], 'it waits for no answer');
  bus.end();
  await env.advance(1000);
  env.bus.confirmAll();
  env.bus.send('FEED', { id: 1, from: 1, to: 1, frames: [stored(1, 'x')] });
  await settle();
  assert.deepEqual(handler.handled, ['1 x']);
});

/** Returns a consumer in a move to another bus, which has accepted it. */
async function moving(begin) {
  const all = await consuming(begin);
  const old = all.bus;
  all.feed(1, 2, stored(1, 'x', 'y'));
  await settle();
  all.env.onOpen = connection => connection.welcome({ bus: 'bus-2' });
  old.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'] });
  await settle();
  return { ...all, old, fresh: all.env.bus };
}

test('a move hands a durable subscription over without a loss', async () => {
  const handler = noting();
  const { client, env, old, fresh, settled, consumer } = await moving(bus => durable(bus, 'billing', handler));
  assert.deepEqual(fresh.of('CONSUME').map(f => [f.id, f.name]), [[1, 'billing']]);
  fresh.confirmAll();
  await settle();
  old.send('FEED', { id: 1, from: 3, to: 3, frames: [stored(3, 'z')] });
  await env.advance(1000);
  assert.deepEqual(settled(old), [1], 'no settlement in a move: it is told when the old bus is left');
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  assert.deepEqual(old.said.slice(-2).map(f => [f.frame, f.upTo ?? f.id]), [['SETTLE', 3], ['UNSUBSCRIBE', 1]]);
  old.send('FEED', { id: 1, from: 4, to: 4, frames: [stored(4, 'u')] });
  // The new bus is faster than the old one.
  fresh.send('FEED', { id: 1, from: 4, to: 5, frames: [stored(4, 'u', 'v')] });
  old.send('CONFIRM', { typeCode: 6, about: 1 });
  old.send('DRAINED', { id: 1 });
  await env.advance(200);
  assert.equal(client.connection.bus, 'bus-2');
  assert.deepEqual(handler.handled, ['1 x', '2 y', '3 z', '4 u', '5 v']);
  assert.equal(settled(fresh).at(-1), 5);
  assert.equal(consumer.counters().duplicates, 1);
  fresh.send('FEED', { id: 1, from: 6, to: 6, frames: [stored(6, 'w')] });
  await settle();
  assert.equal(handler.handled.at(-1), '6 w');
});

test('a replay is fed by both buses in a move, and each has its own credit', async () => {
  const handler = noting();
  const { env, old, fresh } = await moving(client => replay(client, { bufferBytes: 2048 }, handler));
  assert.deepEqual(fresh.of('CONSUME').map(f => [f.start, f.from]), [['POSITION', 3]]);
  fresh.confirmAll();
  const bytes = { old: 0, fresh: 0 };
  for (let i = 3; i < 9; i++) {
    for (const [name, bus] of Object.entries({ old, fresh })) {
      const record = { id: 1, from: i, to: i, frames: [stored(i, 'x'.repeat(600))] };
      bytes[name] += frame('FEED', record).length;
      bus.send('FEED', record);
      await settle();
    }
  }
  assert.equal(handler.handled.length, 8);
  const { limit, received } = fresh.of('CREDIT').filter(f => f.consumer).at(-1);
  assert.ok(limit === received + 2048 && limit > bytes.fresh, 'it may go on');
  await env.advance(30_000);
});

test('after a failed move a durable subscription stays at its bus', async () => {
  const handler = noting();
  const { env, old, fresh, settled } = await moving(client => durable(client, 'billing', handler));
  fresh.send('PROBLEM', { code: 'NO_JOURNAL', typeCode: 16, about: 1 });
  await settle();
  old.send('FEED', { id: 1, from: 3, to: 3, frames: [stored(3, 'z')] });
  await env.advance(200);
  assert.deepEqual(handler.handled, ['1 x', '2 y', '3 z']);
  assert.equal(settled(old).at(-1), 3);
});

/** Returns a consumer that its bus has ended before it began to move the client. */
async function movingEnded() {
  const all = await consuming(client => durable(client, 'billing', () => {}));
  const old = all.bus;
  old.send('PROBLEM', { code: 'REPLACED', typeCode: 16, about: 1 });
  all.env.onOpen = connection => connection.welcome({ bus: 'bus-2' });
  old.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'] });
  await all.env.advance(5000);
  assert.deepEqual(old.of('CONSUME'), [], 'until it is known where the client is');
  return { ...all, old, fresh: all.env.bus };
}

test('one that its bus has ended before a move that fails asks that bus again', async () => {
  const { env, old, fresh } = await movingEnded();
  fresh.end();
  await env.advance(1000);
  assert.equal(old.of('CONSUME').length, 1);
});

test('one that its bus has ended before a move is asked for once at the new bus', async () => {
  const { client, env, old, fresh } = await movingEnded();
  assert.equal(fresh.of('CONSUME').length, 1);
  fresh.confirmAll();
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  old.send('DRAINED', { id: 1 });
  await env.advance(5000);
  assert.equal(client.connection.bus, 'bus-2');
  assert.deepEqual(fresh.of('CONSUME'), []);
});

test('one that its bus has ended before the client comes back to it is asked for once', async () => {
  const { client, env, old, fresh } = await movingEnded();
  fresh.confirmAll();
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  fresh.end();
  old.send('DRAINED', { id: 1 });
  await env.advance(2000);
  assert.equal(client.connection.bus, 'bus-1');
  assert.equal(old.of('CONSUME').length, 1);
});

test('one that the new bus has ended in a move asks it again', async () => {
  const { client, env, old, fresh } = await moving(one => durable(one, 'billing', () => {}));
  fresh.confirmAll();
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  fresh.send('PROBLEM', { code: 'REPLACED', typeCode: 16, about: 1 });
  old.send('DRAINED', { id: 1 });
  await env.advance(1000);
  assert.equal(client.connection.bus, 'bus-2');
  assert.equal(fresh.of('CONSUME').length, 1);
});

test('what only the old bus of a move was told is settled at the new one, too', async () => {
  const { env, old, fresh, settled } = await moving(client => durable(client, 'billing', () => {}));
  old.send('FEED', { id: 1, from: 3, to: 3, frames: [stored(3, 'z')] });
  fresh.confirmAll();
  // The new bus has taken over before the old one has stored more.
  fresh.send('FEED', { id: 1, from: 2, to: 1 });
  await settle();
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  old.send('DRAINED', { id: 1 });
  await env.advance(200);
  assert.deepEqual(settled(fresh), [3]);
});

// ---- The end

test('unsubscribing finishes the event and settles it', async () => {
  const release = gate();
  const handled = [];
  const { bus, env, feed, consumer, of } = await consuming(client => durable(client, 'billing', async event => {
    await release.promise;
    handled.push(event.text());
  }));
  feed(1, 3, stored(1, 'x', 'y', 'z'));
  await settle();
  const end = consumer.unsubscribe();
  await settle();
  assert.deepEqual(bus.of('UNSUBSCRIBE'), []);
  release.resolve();
  await settle();
  assert.deepEqual(bus.said.map(f => [f.frame, f.upTo]), [['SETTLE', 1], ['UNSUBSCRIBE', undefined]]);
  bus.confirmAll();
  await end;
  feed(4, 4, stored(4, 'late'));
  await settle();
  assert.deepEqual(handled, ['x']);
  assert.equal(consumer.counters().bufferedBytes, 0);
  assert.equal(env.timers.size, (await connected()).env.timers.size, 'no timer is left');
  bus.send('PROBLEM', { code: 'UNKNOWN_SUBSCRIPTION', typeCode: 18, about: 1 });
  assert.deepEqual(of('problem'), [], 'it was settled too late');
  bus.send('PROBLEM', { code: 'LIMIT_EXCEEDED', typeCode: 18, about: 1 });
  assert.deepEqual(of('problem').map(p => p.busCode), ['LIMIT_EXCEEDED']);
});

test('closing the client waits for the handler, and settles its event', async () => {
  const release = gate();
  const { client, bus, feed } = await consuming(one => durable(one, 'billing', () => release.promise));
  feed(1, 2, stored(1, 'x', 'y'));
  await settle();
  const closing = client.close();
  await settle();
  assert.deepEqual(bus.said, []);
  release.resolve();
  await settle();
  assert.deepEqual(bus.said.map(f => [f.frame, f.upTo]), [['SETTLE', 1], ['UNSUBSCRIBE', undefined]]);
  bus.confirmAll();
  assert.equal(await closing, true);
});

test('closing the client settles what is handled', async () => {
  const handler = noting();
  const { client, env, bus, feed } = await consuming(one => durable(one, 'billing', handler));
  feed(1, 2, stored(1, 'x', 'y'));
  await settle();
  const closing = client.close();
  await settle();
  bus.confirmAll();
  assert.equal(await closing, true);
  assert.deepEqual(bus.before.filter(f => f.frame === 'SETTLE').map(f => f.upTo), [1, 2]);
  assert.equal(bus.before.at(-1).frame, 'UNSUBSCRIBE');
  assert.equal(env.timers.size, 0);
});

test('closing at once settles what is handled, too', async () => {
  const { client, env, bus, feed } = await consuming(one => durable(one, 'billing', event => event.text() === 'z' ? new Promise(() => {}) : undefined));
  feed(1, 3, stored(1, 'x', 'y', 'z'));
  await settle();
  const closing = client.close({ timeout: 0 });
  await env.advance(0);
  assert.equal(await closing, false);
  assert.deepEqual(bus.of('SETTLE').map(f => f.upTo), [1, 2]);
  assert.equal(env.timers.size, 0);
});

test('a handler may end its own consumer', async () => {
  const { bus, feed, consumer, settled } = await consuming(client => durable(client, 'billing', () => void consumer.unsubscribe()));
  feed(1, 2, stored(1, 'x', 'y'));
  await settle();
  assert.deepEqual(settled(), [1]);
  bus.confirmAll();
  await consumer.unsubscribe();
});

test('a handler that waits for the end of its own consumer is not waited for', async () => {
  const { env, bus, feed, consumer, settled } = await consuming(client => durable(client, 'billing', () => consumer.unsubscribe()));
  feed(1, 2, stored(1, 'x', 'y'));
  await env.advance(10_000);
  bus.confirmAll();
  await consumer.unsubscribe();
  assert.deepEqual([settled(), consumer.position], [[], 0], 'its event comes again');
});

test('a pause after a failure ends with the consumer', async () => {
  const { bus, feed, consumer, settled } = await consuming(client => durable(client, 'billing', () => { throw new Error('no'); }));
  feed(1, 1, stored(1, 'x'));
  await settle();
  const end = consumer.unsubscribe();
  await settle();
  bus.confirmAll();
  await end;
  assert.deepEqual([settled(), consumer.position], [[], 0]);
});

test('a signal ends a consumer', async () => {
  const { client, bus } = await connected();
  const abort = new AbortController();
  const consumer = durable(client, 'billing', { signal: abort.signal });
  const next = consumer[Symbol.asyncIterator]().next();
  await settle();
  bus.confirmAll();
  abort.abort(new Error('enough'));
  await assert.rejects(next, /enough/);
  await settle();
  assert.equal(bus.of('UNSUBSCRIBE').length, 1);
  assert.throws(() => durable(client, 'billing', { signal: abort.signal }), /enough/);
});

test('a consumer that is ended without a connection has ended at once', async () => {
  const { bus, feed, consumer } = await consuming(client => durable(client, 'billing', () => {}));
  feed(1, 1, stored(1, 'x'));
  bus.end();
  await consumer.unsubscribe();
});
