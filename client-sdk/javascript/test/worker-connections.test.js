import assert from 'node:assert/strict';
import { test } from 'node:test';

import { worker } from '../src/durable.js';
import { stored } from './support/bus-frames.js';
import { connected, settle } from './support/fakes.js';
import { gate } from './support/gate.js';
import { settled, working } from './support/workers.js';

const creation = number => ['CONFIRM', { typeCode: 16, about: 1, topic: 'shop', receivers: -1, position: 0, creation: number }];
const frames = bus => bus.said.map(one => one.frame);
/** Returns a handler that notes texts and waits, and the end of its wait. */
function waiting() {
  const { promise, resolve } = gate();
  const texts = [];
  return { handler: event => { texts.push(event.text()); return promise; }, texts, release: resolve };
}

// ---- Connections

test('what a lost connection has brought is forgotten, and what is settled late is counted', async () => {
  const { handler, texts, release } = waiting();
  const deliveries = [];
  const { env, bus, feed, worker: one } = await working((event, delivery) => { deliveries.push(delivery); return handler(event); }, { concurrency: 2, bufferBytes: 4096 });
  feed(1, ['a', 'x'.repeat(1000), 'c']);
  await settle();
  const answer = deliveries[1].doneConfirmed();
  const { bufferedBytes } = one.counters();
  bus.end();
  await assert.rejects(answer, { code: 'CONNECTION_LOST' });
  await env.advance(1000);
  const [again] = env.bus.of('CONSUME');
  assert.deepEqual([again.mode, again.limits, again.limit], [2, [256, 30_000, 10], 4096 - bufferedBytes], 'what is not settled takes its room');
  env.bus.confirmAll();
  feed(1, ['a'], { attempt: 2 });
  release();
  await settle();
  assert.deepEqual(texts.map(text => text[0]), ['a', 'x', 'a'], 'c was not begun');
  assert.deepEqual(settled(env.bus), ['1 DONE of 2']);
  await assert.rejects(deliveries[0].doneConfirmed(), TypeError);
  assert.deepEqual(one.counters(), { received: 3, done: 2, retried: 0, rejected: 0, late: 1, failed: 0, bufferedBytes: 0 });
  deliveries[1].extend();
});

test('a settlement that was not sent is late, too', async () => {
  const { handler } = waiting();
  const { env, bus, feed, worker: one } = await working((event, delivery) => { delivery.done(); return handler(event); });
  feed(1, ['a']);
  await settle();
  bus.end();
  await env.advance(50);
  assert.deepEqual([settled(bus), one.counters().late, one.counters().done], [[], 1, 0]);
});

test('a confirmed settlement behind the end of the connection is not waited for', async () => {
  const { handler } = waiting();
  let delivery;
  const { bus, feed, worker: one } = await working((event, given) => { delivery = given; return handler(event); });
  feed(1, ['a']);
  await settle();
  bus.end();
  await assert.rejects(delivery.doneConfirmed(), { code: 'CONNECTION_LOST' });
  assert.equal(one.counters().late, 1);
});

test('a worker that the bus has ended consumes again', async () => {
  const { handler, texts, release } = waiting();
  const { env, bus, feed, worker: one, of } = await working(handler);
  feed(1, ['a', 'b']);
  await settle();
  bus.send('PROBLEM', { code: 'REPLACED', message: 'taken for lost', about: 1, typeCode: 16, retryable: true });
  feed(3, ['void']);
  release();
  await env.advance(999);
  assert.deepEqual([settled(bus), one.counters().late, bus.of('CONSUME')], [[], 1, []]);
  await env.advance(1);
  assert.equal(bus.of('CONSUME').length, 1);
  bus.confirmAll();
  feed(1, ['a'], { attempt: 2 });
  await settle();
  assert.deepEqual(texts, ['a', 'a']);
  assert.deepEqual(settled(bus), ['1 DONE of 2']);
  assert.deepEqual(of('problem').map(p => p.message), ['taken for lost']);
  bus.said.splice(0);
  feed(2, ['x'.repeat(200_000)]);
  await settle();
  assert.deepEqual(bus.of('CREDIT').map(f => f.limit - f.received), [2 ** 20], 'the bytes count from 0 again');
});

test('a feed without an accepted Consume does not count', async () => {
  const got = [];
  const { client, bus, of } = await connected();
  worker(client, 'billing', event => void got.push(event.text()));
  await settle();
  bus.send('FEED', { id: 1, from: 1, to: 1, attempt: 1, frames: [stored(1, 'a')] });
  bus.send('TRUNCATED', { id: 1, from: 1, to: 9 });
  await settle();
  assert.deepEqual([got, of('truncated')], [[], []]);
});

test('a worker waits for a bus with durable topics, and a refused one has ended', async () => {
  const { client, env, bus } = await connected();
  const one = worker(client, 'billing', () => {});
  const ready = assert.rejects(one.ready, { busCode: 'UNKNOWN_TYPE' });
  await settle();
  bus.send('PROBLEM', { code: 'UNKNOWN_TYPE', typeCode: 16, about: 0 });
  await ready;
  bus.end();
  await env.advance(1000);
  assert.equal(env.bus.of('CONSUME').length, 1);
  env.bus.send('PROBLEM', { code: 'UNSUPPORTED', message: 'exclusive', typeCode: 16, about: 1 });
  await one.unsubscribe();
});

// ---- What does not come

test('what does not come is told to the listener and onTruncated', async () => {
  const told = [];
  const onTruncated = truncated => { told.push(truncated); throw new Error('no'); };
  const { bus, of, worker: one } = await working(() => {}, { onTruncated });
  bus.send('TRUNCATED', { id: 1, from: 3, to: 5, reason: 'EXPIRED' });
  await settle();
  assert.deepEqual(told, [{ filter: '>', from: 3, to: 5, reason: 'EXPIRED' }]);
  assert.deepEqual(of('truncated').map(t => [t.from, t.to, t.subscription === one]), [[3, 5, true]]);
  assert.deepEqual(of('handlerError').map(e => [e.event, e.error.message]), [[null, 'no']]);
  assert.deepEqual(settled(bus), [], 'there is nothing to settle');
});

test('a journal that was created again is told once', async () => {
  const { client, env, bus, of } = await connected();
  worker(client, 'billing', { from: 'FIRST' }, () => {});
  await settle();
  bus.send(...creation(79));
  bus.send('FEED', { id: 1, from: 4, to: 4, head: 9, attempt: 1 });
  bus.end();
  await env.advance(1000);
  const [consume] = env.bus.of('CONSUME');
  assert.deepEqual([consume.creation, consume.otherStart, consume.otherFrom], [79, 'FIRST', 0]);
  env.bus.send(...creation(80));
  env.bus.send(...creation(80));
  assert.deepEqual(of('truncated').map(t => [t.from, t.to, t.reason]), [[5, 9, 'DELETED']]);
});

test('a settlement names the creation of its journal', async () => {
  const { client, bus } = await connected();
  worker(client, 'billing', () => {});
  await settle();
  bus.send(...creation(79));
  const { feed } = await working(() => {});
  feed(1, ['a'], {}, bus);
  await settle();
  assert.deepEqual(bus.of('SETTLE').map(f => f.creation), [79]);
});

// ---- Moves

/** Returns a worker with an event in its hands and one that waits, in a move whose new bus has accepted it. */
async function moving(options = {}) {
  const wait = waiting();
  const all = await working(wait.handler, options);
  const old = all.bus;
  all.feed(1, ['a', 'b']);
  await settle();
  all.env.onOpen = connection => connection.welcome({ bus: 'bus-2' });
  old.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'] });
  await settle();
  const fresh = all.env.bus;
  assert.deepEqual(fresh.of('CONSUME').map(f => [f.name, f.mode]), [['billing', 2]]);
  return { ...all, ...wait, old, fresh };
}

test('in a move each bus is told what it has given', async () => {
  const { client, env, old, fresh, feed, texts, release, worker: one } = await moving({ concurrency: 1 });
  fresh.confirmAll();
  assert.deepEqual(settled(old), [], 'the client may stay');
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  assert.deepEqual(settled(old), ['2 RELEASE']);
  assert.equal(old.of('UNSUBSCRIBE').length, 1);
  old.send('CONFIRM', { typeCode: 6, about: 1 });
  feed(3, ['late'], { attempt: 3 }, old);
  assert.deepEqual(settled(old), ['2 RELEASE', '3 RELEASE of 3']);
  feed(4, ['c'], {}, fresh);
  await env.advance(10_000);
  assert.notEqual(client.connection.bus, 'bus-2', 'the handler may finish');
  assert.equal(old.closed, null);
  release();
  await env.advance(3);
  assert.deepEqual(texts, ['a', 'c']);
  assert.deepEqual([settled(old).slice(2), settled(fresh).at(-1)], [['1 DONE'], '4 DONE']);
  old.send('DRAINED', { id: 1 });
  await settle();
  assert.equal(client.connection.bus, 'bus-2');
  feed(5, ['d'], {}, fresh);
  await settle();
  assert.deepEqual([texts.at(-1), settled(fresh).at(-1), one.counters().late], ['d', '5 DONE', 0]);
});

test('a bus that the client does not move to gets its events back', async () => {
  const { env, old, fresh, feed, texts, release } = await moving({ ackTimeout: 120_000 });
  fresh.confirmAll();
  feed(3, ['c'], {}, fresh);
  await env.advance(30_000 * 0.75);
  assert.deepEqual(settled(fresh), ['3 RELEASE']);
  assert.equal(fresh.of('UNSUBSCRIBE').length, 1);
  fresh.send('DRAINED', { id: 1 });
  release();
  await env.advance(3);
  assert.equal(fresh.closed.code, 1000);
  assert.ok(settled(old).includes('1 DONE'), String(settled(old)));
  feed(5, ['d'], {}, old);
  await settle();
  assert.equal(texts.at(-1), 'd');
});

test('a client that comes back to its bus is given events there again', async () => {
  const { client, old, fresh, feed, texts, release, worker: one, env } = await moving();
  fresh.confirmAll();
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  fresh.end();
  old.said.splice(0);
  old.send('DRAINED', { id: 1 });
  await settle();
  assert.equal(client.connection.bus, 'bus-1');
  assert.equal(old.of('CONSUME').length, 1);
  old.confirmAll();
  feed(5, ['e'], {}, old);
  release();
  await env.advance(3);
  assert.deepEqual([texts, settled(old), one.counters().late], [['a', 'e'], ['5 DONE'], 1]);
});

test('one that its bus has ended before the client comes back to it is asked for once', async () => {
  const { bus: old, env } = await working(() => {});
  old.send('PROBLEM', { code: 'REPLACED', typeCode: 16, about: 1, retryable: true });
  env.onOpen = connection => connection.welcome({ bus: 'bus-2' });
  old.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'] });
  await settle();
  const fresh = env.bus;
  fresh.confirmAll();
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  fresh.end();
  old.send('DRAINED', { id: 1 });
  await settle();
  old.send(...creation(79));
  await env.advance(2000);
  assert.equal(old.of('CONSUME').length, 1);
});

// ---- The end

test('unsubscribing gives back what waits, and finishes the rest', async () => {
  const { handler, texts, release } = waiting();
  const { env, bus, feed, worker: one } = await working(handler, { bufferBytes: 1024 });
  feed(1, ['a', 'b'.repeat(600)]);
  await settle();
  let isOver = false;
  const end = one.unsubscribe().then(() => { isOver = true; });
  await settle();
  assert.deepEqual(settled(bus), ['2 RELEASE']);
  assert.deepEqual(frames(bus).slice(-2), ['SETTLE', 'UNSUBSCRIBE']);
  bus.send('CONFIRM', { typeCode: 6, about: 1 });
  feed(3, ['c']);
  release();
  await env.advance(3);
  assert.deepEqual(settled(bus), ['2 RELEASE', '3 RELEASE', '1 DONE']);
  assert.equal(isOver, false);
  bus.send('DRAINED', { id: 1 });
  await end;
  assert.deepEqual([texts, bus.of('CREDIT').filter(f => f.consumer), one.counters().bufferedBytes], [['a'], [], 0]);
  feed(4, ['late']);
  await settle();
  assert.deepEqual([texts.length, settled(bus).length], [1, 3]);
  assert.equal(env.timers.size, (await connected()).env.timers.size, 'no timer is left');
});

test('a bus that waits for a handler is not taken for silent', async () => {
  const { handler, release } = waiting();
  const { client, env, bus, feed, worker: one } = await working(handler, { ackTimeout: 60_000 }, { closeTimeout: 20_000 });
  feed(1, ['a']);
  await settle();
  const end = one.unsubscribe();
  await settle();
  bus.send('CONFIRM', { typeCode: 6, about: 1 });
  await env.advance(15_000);
  assert.deepEqual([bus.closed, client.state], [null, 'CONNECTED']);
  release();
  await env.advance(3);
  bus.send('DRAINED', { id: 1 });
  await end;
});

test('a handler that does not return is not waited for, and its event goes to another consumer', async () => {
  const { handler, release } = waiting();
  const { env, bus, feed, worker: one } = await working(handler);
  feed(1, ['a']);
  await settle();
  const end = one.unsubscribe();
  await settle();
  bus.send('CONFIRM', { typeCode: 6, about: 1 });
  await env.advance(9999);
  assert.deepEqual(settled(bus), []);
  await env.advance(1);
  assert.deepEqual(settled(bus), ['1 RELEASE']);
  bus.send('DRAINED', { id: 1 });
  await end;
  release();
  await settle();
  assert.deepEqual([settled(bus), one.counters().late], [['1 RELEASE'], 0]);
});

test('a bus that does not tell the end is not waited for', async () => {
  const { env, bus, worker: one } = await working(() => {});
  const end = one.unsubscribe();
  await settle();
  bus.send('CONFIRM', { typeCode: 6, about: 1 });
  await env.advance(20_000);
  await end;
  assert.equal(bus.closed, null);
  bus.send('DRAINED', { id: 1 });
});

test('what comes after the end was asked for goes back', async () => {
  const { client, bus } = await connected();
  const one = worker(client, 'billing', () => assert.fail('it has ended'));
  one.unsubscribe();
  await settle();
  bus.send(...creation(79));
  const { feed } = await working(() => {});
  feed(1, ['a'], {}, bus);
  await settle();
  assert.deepEqual(settled(bus), ['1 RELEASE']);
});

test('the end waits for the handler also without a connection, and nothing is asked for again', async () => {
  const { handler, release } = waiting();
  const { env, bus, feed, worker: one } = await working(handler);
  feed(1, ['a']);
  await settle();
  let isOver = false;
  const end = one.unsubscribe().then(() => { isOver = true; });
  bus.end();
  await env.advance(1000);
  assert.deepEqual([isOver, env.bus.of('CONSUME')], [false, []]);
  release();
  await end;
  assert.equal(one.counters().late, 1);
  assert.equal(env.timers.size, (await connected()).env.timers.size, 'no timer is left');
});

test('a handler that hangs without a connection does not hold up the end', async () => {
  const { handler } = waiting();
  const { env, bus, feed, worker: one } = await working(handler);
  feed(1, ['a']);
  await settle();
  bus.end();
  const end = one.unsubscribe();
  await env.advance(10_000);
  await end;
});

test('closing the client settles what is handled, and gives back the rest', async () => {
  const { client, env, bus, feed } = await working((event, delivery) => event.text() === 'a' ? undefined : new Promise(resolve => { delivery.done(); resolve(); }));
  feed(1, ['a', 'b']);
  await settle();
  const closing = client.close();
  await settle();
  bus.confirmAll();
  assert.equal(await closing, true);
  assert.deepEqual(bus.before.filter(f => f.frame === 'SETTLE').map(f => [f.from, f.upTo, f.outcome]), [[1, 2, 'DONE']]);
  assert.equal(env.timers.size, 0);
});

test('closing at once sends what is settled', async () => {
  const { client, env, bus, feed } = await working((event, delivery) => { delivery.done(); return new Promise(() => {}); });
  feed(1, ['a', 'b']);
  await settle();
  const closing = client.close({ timeout: 0 });
  await env.advance(0);
  assert.equal(await closing, false);
  assert.deepEqual(settled(bus), ['1 DONE', '2 RELEASE']);
  assert.equal(env.timers.size, 0);
});

test('a handler may end its own worker', async () => {
  const { env, bus, feed, worker: one } = await working(() => void one.unsubscribe());
  feed(1, ['a', 'b']);
  await env.advance(3);
  assert.deepEqual(settled(bus).toSorted(), ['1 DONE', '2 RELEASE']);
  bus.confirmAll();
  await one.unsubscribe();
});
