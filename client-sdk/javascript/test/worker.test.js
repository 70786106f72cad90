import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { test } from 'node:test';

import { worker } from '../src/durable.js';
import { frame, stored } from './support/bus-frames.js';
import { connected, settle } from './support/fakes.js';
import { gate } from './support/gate.js';
import { settled, working } from './support/workers.js';

const MIB = 2 ** 20;
const LONG = { silenceTimeout: 86_400_000 };

/** A handler that notes what it gets and does not return. */
function holding() {
  const held = [];
  const texts = [];
  return Object.assign((event, delivery) => {
    const one = gate();
    held.push({ delivery, ...one });
    texts.push(event.text());
    return one.promise;
  }, { held, texts });
}

// ---- Consuming

test('the bus is told what a worker wants', async () => {
  const { consume, worker: one } = await working(() => {}, { filter: 'a.>', journal: 'shop', from: { position: 7 }, maxUnsettled: 5, ackTimeout: 2000, maxAttempts: 3 });
  assert.deepEqual(consume, {
    frame: 'CONSUME', id: 1, filter: 'a.>', journal: 'shop', name: 'billing', mode: 2, start: 'POSITION', from: 7, limit: MIB, limits: [5, 2000, 3],
  });
  assert.deepEqual([one.id, one.name, one.filter, String(one)], [1, 'billing', 'a.>', 'worker billing of a.>']);
  const { consume: standard } = await working(() => {});
  assert.deepEqual([standard.filter, standard.start, standard.limits], ['>', 'NEW', [256, 30_000, 10]]);
  assert.match(inspect(one), /^Worker .*name: 'billing'.*received: 0/s);
});

test('names and options of a worker are checked', async () => {
  const { client } = await connected();
  assert.throws(() => worker(client, ''), { code: 'ILLEGAL_TOPIC' });
  assert.throws(() => worker(client), /TypeError: name: undefined/);
  assert.throws(() => worker(client, 'a', { from: 'LATEST_VALUES' }), /from: LATEST_VALUES/);
  assert.throws(() => worker(client, 'a', { group: 'b' }), /TypeError: group: unknown option \(expected: ackTimeout, /);
  assert.throws(() => worker(client, 'a', {}, 1), /handler: number/);
  assert.throws(() => worker({}, 'a'), /bus: object \(expected: a client/);
  for (const [name, below, above] of [['maxUnsettled', 0, 1025], ['ackTimeout', 999, 43_200_001], ['maxAttempts', 0, 1001], ['concurrency', 0, 1001]]) {
    [below, above].forEach(value => assert.throws(() => worker(client, 'a', { [name]: value }), new RegExp(`RangeError: ${name}: ${value} `)));
    assert.throws(() => worker(client, 'a', { [name]: 1000.5 }), new RegExp(`RangeError: ${name}: 1000.5 `));
  }
});

// ---- Settling

test('an event is done when the handler returns, and when its promise resolves', async () => {
  const got = [];
  const { client, env, bus, feed, worker: one } = await working((event, delivery) => {
    got.push([event.position, event.topic, event.value(), delivery.attempt]);
    return event.position === 5 ? Promise.resolve() : undefined;
  }, { codec: { decode: bytes => bytes.length } });
  feed(4, ['x', 'yy'], { attempt: 3 });
  await settle();
  assert.deepEqual(got, [[4, 'a', 1, 3], [5, 'a', 2, 3]]);
  assert.deepEqual(settled(bus), ['4..5 DONE of 3']);
  assert.deepEqual(one.counters(), { received: 2, done: 2, retried: 0, rejected: 0, late: 0, failed: 0, bufferedBytes: 0 });
  assert.equal(client.counters().received, 2);
  await env.advance(100_000);
  assert.equal(bus.of('SETTLE').length, 1);
});

test('neighbours with one outcome are settled together, also over positions of others', async () => {
  const { bus, feed } = await working((event, delivery) => {
    const text = event.text();
    if (text === 'no') {
      delivery.reject('no image');
    } else if (text === 'later') {
      delivery.retry(5000);
    }
  });
  bus.send('FEED', { id: 1, from: 1, to: 9, attempt: 1, frames: [stored(1, 'a'), stored(4, 'b', 'no', 'no', 'later'), stored(9, 'c')] });
  feed(10, ['d']);
  await settle();
  assert.deepEqual(settled(bus), ['1..4 DONE', '5..6 REJECT (no image)', '7 RETRY in 5000', '9 DONE', '10 DONE']);
});

test('events of different feeds are no neighbours', async () => {
  const handler = holding();
  const { env, bus, feed } = await working(handler, { concurrency: 3 });
  feed(1, ['a']);
  feed(2, ['b', 'c', 'd', 'e']);
  await settle();
  [0, 2].forEach(i => handler.held[i].resolve());
  await env.advance(3);
  assert.deepEqual(settled(bus), ['1 DONE', '3 DONE']);
});

test('settlements of several handlers are collected for a moment', async () => {
  const handler = holding();
  const { env, bus, feed } = await working(handler, { concurrency: 4 });
  feed(1, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  await settle();
  handler.held[2].resolve();
  await settle();
  handler.held[0].resolve();
  handler.held[1].resolve();
  await settle();
  assert.deepEqual(settled(bus), []);
  await env.advance(3);
  assert.deepEqual(settled(bus), ['1..3 DONE']);
});

test('after a failure of the handler the event comes again, and the bus knows why', async () => {
  const { env, bus, feed, worker: one, of, client } = await working(event => {
    if (event.text() === 'long') {
      return Promise.reject(new Error('€'.repeat(300)));
    }
    throw event.text() === 'plain' ? 'no error' : new Error('no room');
  });
  feed(1, ['a', 'plain', 'long']);
  await env.advance(3);
  const reasons = bus.of('SETTLE').map(({ outcome, delayMillis, reason }) => [outcome, delayMillis, reason]);
  assert.deepEqual(reasons.slice(0, 2), [['RETRY', -1, 'no room'], ['RETRY', -1, 'no error']]);
  assert.ok(Buffer.byteLength(reasons[2][2]) <= 256 && reasons[2][2].startsWith('€€'));
  assert.deepEqual(of('handlerError').map(e => [e.event.position, e.subscription === one]), [[1, true], [2, true], [3, true]]);
  assert.deepEqual([one.counters().failed, one.counters().retried, client.counters().handlerFailures], [3, 3, 3]);
});

test('the first settlement of an event counts', async () => {
  const { bus, feed, worker: one } = await working((event, delivery) => {
    delivery.release();
    delivery.reject('no');
    delivery.retry();
    delivery.done();
    throw new Error('late');
  });
  feed(1, ['a']);
  await settle();
  assert.deepEqual(settled(bus), ['1 RELEASE']);
  assert.deepEqual([one.counters().failed, one.counters().done], [1, 0]);
});

test('an event may be settled before its handler returns', async () => {
  const end = gate();
  const { env, bus, feed } = await working((event, delivery) => {
    delivery.done();
    return end.promise;
  });
  feed(1, ['a']);
  await env.advance(3);
  assert.deepEqual(settled(bus), ['1 DONE']);
  end.reject(new Error('later'));
  await env.advance(3);
  assert.deepEqual(settled(bus), ['1 DONE']);
});

test('delays and reasons are checked', async () => {
  const errors = [];
  const { bus, feed } = await working((event, delivery) => {
    for (const wrong of [() => delivery.retry(-1), () => delivery.retry(604_800_001), () => delivery.retry(NaN), () => delivery.reject(new Error('no'))]) {
      try {
        wrong();
      } catch (error) {
        errors.push(`${error.name} ${error.message}`);
      }
    }
    delivery.retry(event.position === 1 ? 0.5 : undefined);
  });
  feed(1, ['a', 'b']);
  await settle();
  assert.deepEqual(errors.slice(0, 4), [...[-1, 604_800_001, NaN].map(delay => `RangeError delay: ${delay} (expected: 0..604800000 ms)`), 'TypeError reason: object (expected: text)']);
  assert.deepEqual(settled(bus), ['1 RETRY in 1', '2 RETRY']);
});

test('settlements are sent in messages that each bus accepts', async () => {
  const { bus, feed } = await working((event, delivery) => delivery.reject(`${event.position}`.padStart(200, 'x')));
  feed(1, Array.from({ length: 64 }, () => 'a'));
  await settle();
  const sizes = bus.messages.filter(frames => frames[0].frame === 'SETTLE').map(frames => frames.length);
  assert.ok(sizes.length === 2 && sizes.every(size => size < 8192 / 200), String(sizes));
  assert.deepEqual(bus.of('SETTLE').map(f => f.upTo), Array.from({ length: 64 }, (_, i) => i + 1));
});

// ---- Answers

const stores = (bus, position) => bus.send('CONFIRM', { typeCode: 18, about: 1, receivers: -1, position });
const refuses = bus => bus.send('PROBLEM', { code: 'UNKNOWN_SUBSCRIPTION', message: 'late', about: 1, typeCode: 18 });

/** Returns the states of promises as text. */
async function states(promises) {
  await settle();
  return Promise.all(promises.map(one => Promise.race([one.then(() => 'stored', error => error.busCode ?? error.code ?? error.name), settle().then(() => 'waits')])));
}

test('a confirmed settlement is sent at once, and answered', async () => {
  const handler = holding();
  const { env, bus, feed, worker: one } = await working(handler, { concurrency: 2 });
  feed(1, ['a', 'b']);
  await settle();
  const [a, b] = handler.held.map(({ delivery }) => delivery);
  const answer = a.doneConfirmed();
  assert.deepEqual(settled(bus), ['1 DONE confirmed']);
  assert.equal(a.doneConfirmed(), answer, 'the same for every call');
  assert.deepEqual(await states([answer]), ['waits']);
  stores(bus, 1);
  b.done();
  assert.deepEqual(await states([answer, b.doneConfirmed()]), ['stored', 'TypeError']);
  assert.deepEqual(one.counters().done, 1);
  await env.advance(3);
  assert.deepEqual(one.counters().done, 2);
  handler.held.forEach(({ resolve }) => resolve());
  await settle();
  assert.equal(env.timers.size, (await connected()).env.timers.size + 1, 'no timer is left but that of what waits for long');
});

test('a refused settlement is told from others', async () => {
  const handler = holding();
  const { bus, feed, of } = await working(handler, { concurrency: 3 });
  feed(1, ['a', 'b', 'c']);
  await settle();
  const answers = handler.held.slice(0, 2).map(({ delivery }) => delivery.doneConfirmed());
  refuses(bus);
  assert.deepEqual(await states(answers), ['waits', 'waits'], 'it is not known which');
  const third = handler.held[2].delivery.doneConfirmed();
  assert.equal(bus.of('SETTLE').length, 2, 'another one would make it worse');
  stores(bus, 2);
  assert.deepEqual(await states(answers), ['UNKNOWN_SUBSCRIPTION', 'stored']);
  assert.equal(bus.of('SETTLE').length, 3);
  stores(bus, 3);
  assert.deepEqual(await states([third]), ['stored']);
  assert.deepEqual(of('problem'), []);
  bus.send('PROBLEM', { code: 'LIMIT_EXCEEDED', message: 'too far', about: 1, typeCode: 18 });
  assert.deepEqual(of('problem').map(p => p.message), ['too far'], 'nobody waits for it');
});

test('a limited number of settlements waits for answers', async () => {
  const handler = holding();
  const { bus, feed } = await working(handler, { concurrency: 200 });
  for (let i = 0; i < 4; i++) {
    feed(1 + 50 * i, Array.from({ length: 50 }, () => 'a'));
  }
  await settle();
  await settle();
  await settle();
  const answers = handler.held.map(({ delivery }) => delivery.doneConfirmed());
  assert.deepEqual([answers.length, bus.of('SETTLE').length], [200, 128]);
  stores(bus, 1);
  assert.equal(bus.of('SETTLE').length, 129);
  for (let i = 2; i <= 200; i++) {
    stores(bus, i);
  }
  await Promise.all(answers);
});

test('an answer that does not come is not waited for', async () => {
  const handler = holding();
  const { env, feed } = await working(handler);
  feed(1, ['a']);
  await settle();
  const answer = handler.held[0].delivery.doneConfirmed();
  await env.advance(9999);
  assert.deepEqual(await states([answer]), ['waits']);
  await env.advance(1);
  assert.deepEqual(await states([answer]), ['TIMED_OUT']);
});

// ---- Concurrency, credit and memory

test('as many handlers run as the worker has concurrency', async () => {
  const handler = holding();
  const { feed } = await working(handler, { concurrency: 3 });
  feed(1, ['a', 'b']);
  await settle();
  assert.deepEqual(handler.texts, ['a', 'b']);
  feed(3, ['c', 'd', 'e']);
  await settle();
  assert.deepEqual(handler.texts, ['a', 'b', 'c']);
  handler.held[1].resolve();
  await settle();
  assert.deepEqual(handler.texts, ['a', 'b', 'c', 'd']);
  handler.held[0].reject(new Error('no'));
  await settle();
  assert.deepEqual(handler.texts, ['a', 'b', 'c', 'd', 'e']);
});

test('what is not settled takes its room, and the rest is granted in small steps', async () => {
  const handler = holding();
  const { env, bus, feed, consume, worker: one } = await working(handler, { bufferBytes: 4096, concurrency: 4 });
  assert.equal(consume.limit, 4096);
  const credits = () => bus.of('CREDIT').filter(f => f.consumer === 1);
  feed(1, ['x'.repeat(2000)]);
  feed(2, ['y'.repeat(700)]);
  await settle();
  assert.deepEqual(credits(), []);
  const { bufferedBytes } = one.counters();
  assert.ok(bufferedBytes > 2700 && bufferedBytes < 3100);
  handler.held[1].resolve();
  await env.advance(3);
  const [{ call, limit, received }] = credits();
  assert.deepEqual([call, limit], [0, received + 4096 - one.counters().bufferedBytes], 'the room of one that stays is not granted');
  handler.held[0].resolve();
  await env.advance(3);
  assert.equal(credits().at(-1).limit, received + 4096);
  assert.equal(one.counters().bufferedBytes, 0);
});

test('a bus that sends far beyond the limit of a worker is left', async () => {
  const { bus, feed } = await working(() => new Promise(() => {}), { bufferBytes: 1024 });
  const payload = 'x'.repeat(4 * MIB);
  for (let i = 1; i < 6 && !bus.closed; i++) {
    feed(i, [payload]);
  }
  assert.equal(bus.closed.code, 4001);
});

test('a feed without events, and events before its begin, are no work', async () => {
  const got = [];
  const { bus, worker: one } = await working(event => void got.push(event.position));
  bus.send('FEED', { id: 1, from: 5, to: 4, attempt: 1 });
  assert.equal(one.counters().bufferedBytes, 0);
  bus.send('FEED', { id: 1, from: 5, to: 6, attempt: 1, frames: [stored(4, 'x', 'y', 'z')] });
  await settle();
  assert.deepEqual(got, [5, 6]);
  assert.deepEqual(settled(bus), ['5..6 DONE']);
  assert.equal(one.counters().bufferedBytes, 0);
});

// ---- Time

test('what waits for half of the ack timeout goes back', async () => {
  const handler = holding();
  const { env, bus, feed } = await working(handler, { ackTimeout: 8000 }, LONG);
  feed(1, ['a', 'b', 'c']);
  feed(4, ['d']);
  await env.advance(3999);
  assert.deepEqual(settled(bus), []);
  await env.advance(1);
  assert.deepEqual(settled(bus), ['2..3 RELEASE', '4 RELEASE']);
  handler.held[0].resolve();
  await env.advance(3);
  assert.deepEqual(handler.texts, ['a']);
  assert.deepEqual(settled(bus).slice(2), ['1 DONE']);
});

test('the handler gets the whole ack timeout', async () => {
  const handler = holding();
  const { env, bus, feed } = await working(handler, { ackTimeout: 8000 }, LONG);
  feed(1, ['a', 'b']);
  await env.advance(1001);
  handler.held[0].resolve();
  await settle();
  assert.deepEqual(settled(bus), ['1 DONE', '2 EXTEND']);
});

test('an extension is sent if it matters', async () => {
  const handler = holding();
  const { env, bus, feed } = await working(handler, { ackTimeout: 8000 }, LONG);
  feed(1, ['a']);
  await env.advance(999);
  const [{ delivery }] = handler.held;
  delivery.extend();
  await env.advance(3);
  assert.deepEqual(settled(bus), [], 'too early');
  delivery.extend();
  delivery.extend();
  await env.advance(3);
  assert.deepEqual(settled(bus), ['1 EXTEND']);
  await env.advance(1000);
  delivery.extend();
  delivery.done();
  await env.advance(1000);
  delivery.extend();
  await env.advance(3);
  assert.deepEqual(settled(bus), ['1 EXTEND', '1 EXTEND', '1 DONE']);
});

test('what is never settled does not take room for ever', async () => {
  const { env, bus, feed, worker: one } = await working(holding(), { ackTimeout: 8000, bufferBytes: 1024 }, LONG);
  feed(1, ['x'.repeat(1000)]);
  await env.advance(15_999);
  assert.ok(one.counters().bufferedBytes > 1000);
  await env.advance(1);
  assert.equal(one.counters().bufferedBytes, 0);
  assert.equal(bus.of('CREDIT').filter(f => f.consumer).length, 1);
});

// ---- The reader

test('a reader settles each event itself', async () => {
  const { env, bus, feed, worker: one } = await working(null);
  const reader = one[Symbol.asyncIterator]();
  const first = reader.next();
  await assert.rejects(reader.next(), /one at a time/);
  feed(1, ['a', 'b', 'c'], { attempt: 2 });
  const { value: { event, delivery } } = await first;
  assert.deepEqual([event.text(), delivery.attempt], ['a', 2]);
  const second = (await reader.next()).value;
  await env.advance(1000);
  assert.deepEqual(settled(bus), [], 'nothing is settled by itself');
  second.delivery.reject('no');
  delivery.done();
  await env.advance(3);
  assert.deepEqual(settled(bus), ['1 DONE of 2', '2 REJECT of 2 (no)']);
  assert.throws(() => one[Symbol.asyncIterator](), /iterated already/);
  const { worker: handled } = await working(() => {});
  assert.throws(() => handled[Symbol.asyncIterator](), /has a handler/);
});

test('a loop that is left ends the worker, and gives back what is not settled', async () => {
  const { bus, feed, worker: one } = await working(null);
  const deliveries = [];
  const loop = (async () => {
    for await (const { event, delivery } of one) {
      deliveries.push(delivery);
      if (event.text() === 'b') {
        delivery.done();
      } else if (event.text() === 'c') {
        break;
      }
    }
  })();
  feed(1, ['a', 'b', 'c', 'd']);
  await settle();
  assert.deepEqual(settled(bus).toSorted(), ['1 RELEASE', '2 DONE', '3 RELEASE', '4 RELEASE']);
  assert.equal(bus.said.filter(f => f.frame === 'UNSUBSCRIBE').length, 1);
  bus.confirmAll();
  await loop;
  deliveries[0].done();
  await settle();
  assert.equal(one.counters().late, 0, 'it was given back before');
});

test('a reader ends with the worker, and fails with the reason', async () => {
  const { bus, worker: one } = await working(null);
  const reader = one[Symbol.asyncIterator]();
  const next = reader.next();
  bus.send('PROBLEM', { code: 'NO_JOURNAL', message: 'deleted', typeCode: 16, about: 1 });
  await assert.rejects(next, { busCode: 'NO_JOURNAL' });
  assert.deepEqual(await reader.next(), { value: undefined, done: true });
  const abort = new AbortController();
  const { worker: aborted } = await working(null, { signal: abort.signal });
  const wait = aborted[Symbol.asyncIterator]().next();
  abort.abort(new Error('enough'));
  await assert.rejects(wait, /enough/);
});

test('events of a reader go back at the latest when the time for the end is over', async () => {
  const { env, bus, feed, worker: one } = await working(null, {}, LONG);
  const reader = one[Symbol.asyncIterator]();
  feed(1, ['a']);
  await reader.next();
  const end = one.unsubscribe();
  bus.send('CONFIRM', { typeCode: 6, about: 1 });
  assert.deepEqual(await reader.next(), { value: undefined, done: true });
  await env.advance(9999);
  assert.deepEqual(settled(bus), []);
  await env.advance(1);
  assert.deepEqual(settled(bus), ['1 RELEASE']);
  bus.send('DRAINED', { id: 1 });
  await end;
});

test('other frames in a feed are skipped, and a message with more in it is not kept', async () => {
  const got = [];
  const { bus } = await working(event => void got.push(event));
  bus.raw(new Uint8Array(Buffer.concat([frame('FEED', { id: 1, from: 4, to: 4, attempt: 1, frames: [stored(4, 'z')] }), frame('DELIVER', { topic: 'b', events: [{ payload: 'x'.repeat(5000) }] })])));
  await settle();
  assert.ok(got[0].text() === 'z' && got[0].payload.buffer.byteLength < 100);
});
