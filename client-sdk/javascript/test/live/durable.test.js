// Durable topics of a bus with a data directory, which is killed and started again.
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { durable, latest, replay, worker } from '../../src/durable.js';
import { gate } from '../support/gate.js';
import { connect, freePorts, skip, startBus } from '../support/live.js';

const JOURNALS = 'orders orders.>, prices prices.> keep=latest, images images.>';
const newDirectory = () => mkdtempSync(join(tmpdir(), 'eventbus-js-durable-'));
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const start = (directory, port = 0) => startBus(
  ['--port', String(port), '--set', 'admin.enabled=false', '--data', join(directory, 'data'), '--set', `durable.journals=${JOURNALS}`], directory);

let bus;

before(async () => {
  bus = skip ? null : await start(newDirectory());
});
after(() => bus?.stop());

/** Connects for a test, also one that fails, with time for a bus that starts again. */
async function open(t, options) {
  const client = await connect({ confirmTimeout: 120_000, ...(typeof options === 'string' ? { url: options } : options) });
  t.after(() => client.close({ timeout: 0 }));
  return client;
}

/** Takes the events of a consumer without a handler up to a position, as they are shown. */
async function take(consumer, upTo) {
  const events = [];
  for await (const event of consumer) {
    events.push(`${event.position} ${event.topic} ${event.text()}`);
    if (event.position === upTo) {
      consumer.settle();
      break;
    }
  }
  return events;
}

test('events get positions, and are read again from every start', { skip }, async t => {
  const client = await open(t, bus.url);
  const began = Date.now();
  const first = await client.publish('orders.1', 'a', { expected: 0 });
  assert.deepEqual([first.position, first.repeated], [1, false]);
  await assert.rejects(client.publish('orders.1', 'x', { expected: 0 }), { code: 'REFUSED', busCode: 'EXPECTATION_FAILED', retryable: false });
  assert.equal((await client.publish('orders.1', 'b', { expected: 1 })).position, 2);
  // In one frame, in the middle of which a replay begins.
  const more = await Promise.all(['c', 'd', 'e'].map(text => client.publish('orders.2', text)));
  assert.deepEqual(more.map(p => p.position), [3, 4, 5]);
  const all = ['1 orders.1 a', '2 orders.1 b', '3 orders.2 c', '4 orders.2 d', '5 orders.2 e'];
  const read = async options => {
    const consumer = await replay(client, { filter: 'orders.>', ...options }).ready;
    const events = await take(consumer, 5);
    await consumer.unsubscribe();
    return events;
  };
  assert.deepEqual(await read({ from: 'FIRST' }), all);
  assert.deepEqual(await read({ from: { position: 4 } }), all.slice(3));
  assert.deepEqual(await read({ from: { position: 2 }, filter: 'orders.2' }), all.slice(2));
  assert.deepEqual(await read({ from: { time: new Date(began - 60_000) } }), all);
  const fresh = await replay(client, { filter: 'orders.>', from: 'NEW' }).ready;
  await client.publish('orders.3', 'f');
  assert.deepEqual(await take(fresh, 6), ['6 orders.3 f']);
});

test('the latest values come first, and then each change', { skip }, async t => {
  const client = await open(t, bus.url);
  await Promise.all([['prices.a', '1'], ['prices.a', '2'], ['prices.b', '3']].map(([topic, price]) => client.publish(topic, price)));
  const prices = await latest(client, 'prices.>').ready;
  assert.deepEqual(await take(prices, 3), ['2 prices.a 2', '3 prices.b 3']);
  await client.publish('prices.a', '4');
  assert.deepEqual(await take(prices, 4), ['4 prices.a 4']);
});

test('workers share the events of a name, and each one comes until it is settled', { skip }, async t => {
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => open(t, bus.url)));
  const got = new Map();
  const begun = new Set();
  const [haveBegun, areDone] = [gate(), gate()];
  const work = index => async (event, delivery) => {
    if (begun.add(index).size === 2) {
      haveBegun.resolve();
    }
    await haveBegun.promise;
    const number = Number(event.text());
    got.set(number, [...got.get(number) ?? [], delivery.attempt]);
    if (number % 100 === 0 && delivery.attempt === 1) {
      throw new Error('try again');
    }
    if (number % 100 === 1 && delivery.attempt === 1) {
      delivery.retry(0);
    } else if (number === 7) {
      delivery.reject('seven');
    } else {
      await delivery.doneConfirmed();
    }
    if (range(1, 300).every(each => got.get(each)?.length > (each % 100 < 2 ? 1 : 0))) {
      areDone.resolve();
    }
  };
  const options = { filter: 'images.>', from: 'FIRST', concurrency: 4, maxUnsettled: 16, ackTimeout: 600_000 };
  const workers = [first, second].map((client, index) => worker(client, 'resizer', options, work(index)));
  [first, second].forEach(client => client.on('handlerError', () => {}));
  await Promise.all(workers.map(one => one.ready));
  await Promise.all(range(1, 300).map(number => first.publish('images.1', String(number))));
  await areDone.promise;
  assert.deepEqual([100, 101, 7, 8].map(number => got.get(number)), [[1, 2], [1, 2], [1], [1]]);
  // Another consumer gets the events of one that ends.
  await workers[1].unsubscribe();
  await workers[0].unsubscribe();
  const held = worker(second, 'resizer', options)[Symbol.asyncIterator]();
  const taken = held.next();
  await first.publish('images.1', 'held');
  assert.equal((await taken).value.event.text(), 'held');
  const next = worker(third, 'resizer', options)[Symbol.asyncIterator]();
  const again = next.next();
  await second.close({ timeout: 0 });
  const { event, delivery } = (await again).value;
  assert.equal(event.text(), 'held');
  await delivery.doneConfirmed();
});

test('a bus that was killed has what was confirmed and settled, and knows the numbers of a producer', { skip }, async t => {
  const directory = newDirectory();
  const [port] = await freePorts(1);
  let running = await start(directory, port);
  t.after(() => running.stop());
  const client = await open(t, { url: running.url, reconnect: { initialDelay: 20, maxDelay: 200 } });
  const handled = [];
  let go;
  const isHandled = new Promise(resolve => { go = resolve; });
  const billing = durable(client, 'billing', { filter: 'orders.>', from: 'FIRST' }, event => {
    handled.push(event.position);
    if (event.position === 40) {
      go();
    }
  });
  await billing.ready;
  const publish = by => number => by.publish('orders.1', String(number), { producer: 'shop-outbox', number });
  assert.deepEqual((await Promise.all(range(1, 20).map(publish(client)))).map(p => p.position), range(1, 20));
  const down = new Promise(resolve => client.on('disconnected', resolve));
  const waiting = Promise.all(range(21, 40).map(publish(client)));
  await running.kill();
  await down;
  running = await start(directory, port);
  assert.deepEqual((await waiting).map(p => p.position), range(21, 40));
  await isHandled;
  assert.deepEqual(handled, range(1, 40));
  await client.close();
  // Another program goes on where this one has ended, and publishes again what it cannot know to be stored.
  const next = await open(t, running.url);
  const again = await Promise.all(range(1, 41).map(publish(next)));
  assert.deepEqual(again.map(p => p.repeated), range(1, 41).map(number => number <= 40));
  // Of older events a bus need not know the position any more.
  assert.ok(again.every(({ position }, i) => position === i + 1 || (position === 0 && i < 40)), JSON.stringify(again.map(p => p.position)));
  const active = await durable(next, 'billing', { filter: 'orders.>' }).ready;
  assert.deepEqual(await take(active, 41), ['41 orders.1 41']);
  const other = await open(t, running.url);
  const standing = await durable(other, 'billing', { filter: 'orders.>' }).ready;
  await publish(next)(42);
  assert.deepEqual(await take(active, 42), ['42 orders.1 42']);
  await active.unsubscribe();
  await publish(next)(43);
  assert.deepEqual(await take(standing, 43), ['43 orders.1 43']);
  const everything = await replay(other, { filter: 'orders.>', from: 'FIRST' }).ready;
  assert.deepEqual(await take(everything, 43), range(1, 43).map(n => `${n} orders.1 ${n}`));
});
