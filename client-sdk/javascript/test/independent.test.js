import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connected, settle } from './support/fakes.js';

const KIB = 1024;
const events = (n, payload = 'x') => Array.from({ length: n }, () => ({ payload }));

/** Returns a client with a subscription whose handler is stalled, and one that keeps up. */
async function slow(options, clientOptions = { receiveBytes: 64 * KIB }) {
  const all = await connected(clientOptions);
  const { client, bus } = all;
  const log = [];
  const waiting = [];
  const subscription = client.subscribe('slow.>', {
    onGap: ({ topic, from, to, reason }) => { log.push(`gap ${topic} ${from}-${to} ${reason}`); }, ...options,
  }, event => {
    log.push(event.key === null ? event.sequence : `${event.sequence}${event.key}`);
    return new Promise(resolve => waiting.push(resolve));
  });
  let other = 0;
  client.subscribe('other', { overflow: 'DROP_OLDEST' }, () => { other++; });
  await settle();
  bus.confirmAll();
  bus.before = [];
  return {
    ...all, subscription, log, waiting, others: () => other,
    deliver: (sequence, payload = 'x'.repeat(KIB), more = {}) => bus.send('DELIVER', { topic: 'slow.a', sequence, events: events(1, payload), ...more }),
    /** Continues the handler until no event waits. */
    async catchUp() {
      while (waiting.length > 0) {
        waiting.shift()();
        await settle();
      }
    },
    granted: () => Math.max(...bus.of('CREDIT').map(c => c.limit)),
  };
}

test('DROP_OLDEST: a slow subscription drops in its own buffer, reports that in order, and the others continue', async () => {
  const { client, bus, env, subscription, log, others, deliver, catchUp, of, granted } = await slow({ overflow: 'DROP_OLDEST', bufferBytes: 8 * KIB });
  for (let i = 1; i <= 200; i++) {
    deliver(i);
    bus.send('DELIVER', { topic: 'other', sequence: i, events: events(1) });
    await env.advance(0);
  }
  assert.equal(others(), 200);
  assert.ok(granted() > 200 * KIB, 'the bus goes on sending');
  assert.ok(client.counters().unhandledBytes < 10 * KIB);
  await catchUp();
  assert.equal(log[0], 1);
  const [, first, last] = /^gap slow.a (\d+)-(\d+) BUFFER_FULL$/.exec(log[1]);
  assert.equal(Number(first), 2);
  assert.deepEqual(log.slice(2), Array.from({ length: 200 - last }, (_, i) => Number(last) + 1 + i), 'those that came last');
  assert.equal(subscription.counters().missing, last - 1);
  assert.equal(client.counters().missing, last - 1);
  assert.equal(client.counters().unhandledBytes, 0);
  const told = of('gap');
  assert.ok(told.every(gap => gap.reason === 'BUFFER_FULL' && gap.filter === 'slow.>'));
  assert.equal(told.reduce((sum, gap) => sum + gap.to - gap.from + 1, 0), last - 1);
});

test('a frame larger than the buffer is delivered all the same', async () => {
  const { log, deliver, catchUp, env } = await slow({ overflow: 'DROP_OLDEST', bufferBytes: KIB });
  for (let i = 1; i <= 3; i++) {
    deliver(i, 'x'.repeat(5 * KIB));
    await env.advance(0);
  }
  await catchUp();
  assert.deepEqual(log, [1, 'gap slow.a 2-2 BUFFER_FULL', 3]);
});

test('CONFLATE: the last event of each topic and key stays', async () => {
  const { client, bus, env, log, catchUp, subscription } = await slow({ overflow: 'CONFLATE', bufferBytes: 8 * KIB });
  for (let i = 1; i <= 99; i += 3) {
    bus.send('DELIVER', { topic: 'slow.a', sequence: i, events: ['a', 'b', null].map(key => ({ key, payload: 'x'.repeat(300) })) });
    await env.advance(0);
  }
  bus.send('DELIVER', { topic: 'slow.a', sequence: 100, events: [{ key: 'c', payload: '' }] });
  await catchUp();
  assert.deepEqual(log.slice(0, 3), ['1a', '2b', 3], 'the frame that the handler has begun with');
  const rest = log.slice(3);
  assert.match(rest[0], /^gap slow.a 4-\d+ BUFFER_CONFLATED$/);
  for (const [key, last] of [['a', 97], ['b', 98], ['c', 100]]) {
    assert.equal(rest.filter(one => String(one).endsWith(key)).at(-1), `${last}${key}`);
  }
  const got = log.filter(one => !String(one).startsWith('gap')).length;
  assert.equal(got + subscription.counters().missing, 100);
  assert.ok(got < 60);
  assert.equal(client.counters().unhandledBytes, 0);
});

test('CONFLATE: where even the last events are too many, the oldest go', async () => {
  const { bus, env, log, catchUp, client } = await slow({ overflow: 'CONFLATE', bufferBytes: 8 * KIB });
  for (let i = 1; i <= 100; i++) {
    bus.send('DELIVER', { topic: 'slow.a', sequence: i, events: [{ key: `k${i}`, payload: 'x'.repeat(KIB) }] });
    await env.advance(0);
  }
  assert.ok(client.counters().unhandledBytes < 10 * KIB);
  await catchUp();
  assert.equal(log[0], '1k1');
  assert.match(log[1], /^gap slow.a 2-\d+ BUFFER_FULL$/);
  assert.equal(log.at(-1), '100k100');
});

test('DISCONNECT: the connection is closed as the bus would close it, and that is reported', async () => {
  const { client, bus, env, deliver, of } = await slow({ overflow: 'DISCONNECT', bufferBytes: 8 * KIB });
  let sent = 0;
  while (bus.closed === null && sent < 50) {
    deliver(++sent);
    await env.advance(0);
  }
  assert.ok(sent > 7 && sent < 12, String(sent));
  assert.equal(bus.closed.code, 4001);
  assert.match(bus.closed.reason, /slow\.>/);
  assert.equal(client.state, 'RECONNECTING');
  assert.deepEqual(of('problem').map(e => e.code), ['SLOW_CONSUMER']);
  assert.match(of('problem')[0].message, /subscription 1 to slow\.> has \d+ bytes .*expected: at most 8192/);
});

test('a handler or reader that keeps up loses nothing, however much arrives at once', async () => {
  for (const reads of [false, true]) {
    const { client, bus, env, of } = await connected({ receiveBytes: 64 * KIB });
    let got = 0;
    const subscription = client.subscribe('a', { overflow: 'DROP_OLDEST', bufferBytes: KIB }, reads ? undefined : () => { got++; });
    await settle();
    bus.confirmAll();
    if (reads) {
      (async () => {
        for await (const event of subscription) {
          got += event.sequence > 0 ? 1 : 0;
        }
      })();
    }
    for (let i = 0; i < 5; i++) {
      bus.send('DELIVER', { topic: 'a', sequence: 1 + 1000 * i, events: events(1000, 'x'.repeat(100)) });
      while (got < 1000 * (i + 1)) {
        await settle();
      }
      await env.advance(0);
    }
    assert.equal(got, 5000);
    assert.deepEqual(of('gap'), []);
  }
});

test('all buffers together are bounded: the largest one makes room', async () => {
  const { client, bus, env } = await connected({ receiveBytes: 16 * KIB });
  for (let n = 0; n < 20; n++) {
    client.subscribe(`a.${n}`, { overflow: 'DROP_OLDEST', bufferBytes: 4 * KIB }, () => new Promise(() => {}));
  }
  await settle();
  bus.confirmAll();
  for (let i = 1; i <= 10; i++) {
    for (let n = 0; n < 20; n++) {
      bus.send('DELIVER', { topic: `a.${n}`, sequence: i, events: events(1, 'x'.repeat(400)) });
    }
    await env.advance(0);
  }
  // Of each the event being handled and the last one stay.
  assert.ok(client.counters().unhandledBytes < 20 * 2 * 450, String(client.counters().unhandledBytes));
});

test('only BLOCK uses up the credit of the connection; the stalled subscriptions are reported at most once in 10 s', async () => {
  const { client, bus, env, deliver, of, granted, catchUp } = await slow({ overflow: 'BLOCK' });
  client.subscribe('third', {}, () => {});
  await settle();
  bus.confirmAll();
  const before = granted();
  for (let i = 1; i <= 70; i++) {
    deliver(i);
  }
  assert.equal(granted(), before);
  assert.deepEqual(of('gap'), []);
  await env.advance(2000);
  assert.deepEqual(of('problem').map(e => [e.code, e.message]), [['SLOW_CONSUMER',
    `subscription 1 to slow.> with BLOCK has ${client.counters().unhandledBytes} bytes that are not handled (bufferBytes: 16384), and holds back the others of this client: other, third `
    + '(expected: it keeps up, or another overflow, or a client of its own)']]);
  await env.advance(7000);
  assert.equal(of('problem').length, 1);
  await env.advance(4000);
  assert.equal(of('problem').length, 2);
  await catchUp();
  await env.advance(30_000);
  assert.equal(of('problem').length, 2);
});

test('an unread subscription is reported, even if it is the only one', async () => {
  const { client, bus, env, of } = await connected({ receiveBytes: 16 * KIB });
  client.subscribe('a', { overflow: 'BLOCK' });
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { topic: 'a', events: events(20, 'x'.repeat(KIB)) });
  await env.advance(2000);
  assert.match(of('problem')[0].message, /^subscription 1 to a with BLOCK has \d+ bytes that nobody reads/);
});

test('bufferBytes is a quarter of receiveBytes, and checked', async () => {
  const { client } = await connected({ receiveBytes: 64 * KIB });
  assert.equal(client.subscribe('a').bufferBytes, 16 * KIB);
  assert.equal(client.subscribe('a', { bufferBytes: 4096 }).bufferBytes, 4096);
  assert.throws(() => client.subscribe('a', { bufferBytes: 1 }), { name: 'RangeError', message: 'bufferBytes: 1 (expected: 1024..1099511627776 bytes)' });
});

test('events dropped at the end leave nothing behind', async () => {
  const { client, bus, env, subscription, deliver } = await slow({ overflow: 'DROP_OLDEST', bufferBytes: 8 * KIB });
  for (let i = 1; i <= 5; i++) {
    deliver(i);
  }
  await env.advance(0);
  assert.ok(client.counters().unhandledBytes > 5 * KIB);
  subscription.discard();
  assert.equal(client.counters().unhandledBytes, 0);
  bus.send('DELIVER', { topic: 'slow.a', sequence: 6, events: events(1) });
  assert.equal(client.counters().unhandledBytes, 0);
});
