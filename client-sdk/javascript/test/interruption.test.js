import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connected, settle } from './support/fakes.js';

const events = (n, payload = 'x') => Array.from({ length: n }, () => ({ payload }));
const NOW = 1_700_000_000_000_000;

/** Returns a client with confirmed subscriptions; `log` has the calls of their handlers and callbacks, in order. */
async function subscribed(filters, options = {}, clientOptions = {}) {
  const all = await connected(clientOptions);
  const { client, bus, env } = all;
  env.micros = () => NOW + 1000 * env.time;
  const log = [];
  const interruptions = [];
  client.on('interruption', ({ subscription, filter, from, to }) => interruptions.push([subscription.id, filter, from, to]));
  const subscriptions = filters.map(([filter, group, more]) => client.subscribe(filter, {
    ...group && { group }, ...options, ...more,
    onInterruption: ({ from, to }) => { log.push(`${filter} away ${from - NOW}..${to - NOW}`); },
    onGap: ({ topic, from, to, reason }) => { log.push(`${filter} gap ${topic} ${from}-${to} ${reason}`); },
  }, event => { log.push(`${filter} ${event.topic} ${event.sequence}`); }));
  await settle();
  bus.confirmAll();
  return { ...all, subscriptions, log, interruptions };
}

test('each subscription in force is told of an interruption, also of a group, and without known losses', async () => {
  const { client, bus, env, log, interruptions, subscriptions } = await subscribed([['a.>'], ['b', 'g']]);
  client.subscribe('never.confirmed', { onInterruption: () => log.push('never in force') }, () => {});
  bus.send('DELIVER', { topic: 'a.x', events: events(1) });
  await env.advance(500);
  bus.send('DELIVER', { topic: 'b', events: events(1), groups: [2] });
  await env.advance(250);
  assert.deepEqual(log.splice(0), ['a.> a.x 1', 'b b 1']);
  bus.end();
  await env.advance(100);
  assert.deepEqual(interruptions, [], 'not before the bus has confirmed the subscription');
  await env.advance(30);
  env.bus.confirmAll();
  env.bus.send('DELIVER', { topic: 'a.x', sequence: 2, events: events(1) });
  await settle();
  // The last receipt was at 1500, and the bus confirms at 1880.
  assert.deepEqual(log, ['a.> away 1500000..1880000', 'b away 1500000..1880000', 'a.> a.x 2']);
  assert.deepEqual(interruptions, [[1, 'a.>', NOW + 1_500_000, NOW + 1_880_000], [2, 'b', NOW + 1_500_000, NOW + 1_880_000]]);
  assert.equal(client.counters().interruptions, 2);
  assert.equal(subscriptions[0].counters().interruptions, 1);
});

test('a second loss before the new confirmation makes one interruption, from the first loss on', async () => {
  const { bus, env, log } = await subscribed([['a']]);
  bus.end();
  await env.advance(100);
  env.bus.end();
  await env.advance(1000);
  env.bus.confirmAll();
  await settle();
  assert.deepEqual(log, ['a away 1000000..2100000']);
});

test('interruptions and gaps come in order with the events, and are awaited', async () => {
  const { client, bus, env } = await connected();
  const log = [];
  const going = [];
  const slowly = what => new Promise(resolve => {
    log.push(what);
    going.push(resolve);
  });
  client.subscribe('a', { onGap: gap => slowly(`gap ${gap.from}-${gap.to}`), onInterruption: () => slowly('away') }, event => slowly(event.sequence));
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { topic: 'a', sequence: 1, events: events(2) });
  bus.send('GAP', { topic: 'a', from: 3, to: 4 });
  bus.send('DELIVER', { topic: 'a', sequence: 5, events: events(1) });
  bus.end();
  await env.advance(100);
  env.bus.confirmAll();
  env.bus.send('DELIVER', { topic: 'a', sequence: 8, events: events(1) });
  for (const expected of [1, 2, 'gap 3-4', 5, 'away', 'gap 6-7', 8]) {
    await settle();
    assert.equal(log.at(-1), expected);
    assert.equal(going.length, 1);
    going.pop()();
  }
  await settle();
  assert.equal(log.length, 7);
});

test('readers: the callbacks are called when the reader passes the place', async () => {
  for (const read of ['events', 'batches']) {
    const { client, bus, env } = await connected();
    const log = [];
    const subscription = client.subscribe('a', {
      onGap: async gap => {
        await null;
        log.push(`gap ${gap.from}-${gap.to}`);
      }, onInterruption: () => { log.push('away'); },
    });
    await settle();
    bus.confirmAll();
    bus.send('DELIVER', { topic: 'a', sequence: 1, events: events(2) });
    bus.end();
    await env.advance(100);
    env.bus.confirmAll();
    env.bus.send('DELIVER', { topic: 'a', sequence: 5, events: events(2) });
    await settle();
    assert.deepEqual(log, [], 'nobody has come by');
    const reading = (async () => {
      for await (const got of read === 'events' ? subscription : subscription.batches()) {
        log.push(read === 'events' ? got.sequence : got.map(event => event.sequence).join());
      }
    })();
    await settle();
    assert.deepEqual(log.splice(0), read === 'events' ? [1, 2, 'away', 'gap 3-4', 5, 6] : ['1,2', 'away', 'gap 3-4', '5,6']);
    env.bus.end();
    await env.advance(200);
    env.bus.confirmAll();
    await settle();
    assert.deepEqual(log.splice(0), ['away'], 'a reader that waits is at that place');
    env.bus.send('DELIVER', { topic: 'a', sequence: 8, events: events(1) });
    await settle();
    assert.deepEqual(log, ['gap 7-7', read === 'events' ? 8 : '8']);
    client.close({ timeout: 0 });
    await env.advance(0);
    await reading;
  }
});

test('a failed callback is reported like a failed handler', async () => {
  const { client, bus, env, of } = await connected();
  const got = [];
  const subscription = client.subscribe('a', { onInterruption: () => Promise.reject(new Error('one')), onGap: () => { throw new Error('two'); } }, event => { got.push(event.sequence); });
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { topic: 'a', events: events(1) });
  bus.end();
  await env.advance(100);
  env.bus.confirmAll();
  env.bus.send('DELIVER', { topic: 'a', sequence: 3, events: events(1) });
  await settle();
  assert.deepEqual(of('handlerError').map(e => [e.error.message, e.event]), [['one', null], ['two', null]]);
  assert.deepEqual(got, [1, 3]);
  assert.equal(subscription.counters().failed, 2);
});

test('a Gap of the bus is reported to a group, too', async () => {
  const { bus, log } = await subscribed([['a', 'g']]);
  bus.send('DELIVER', { topic: 'a', events: events(1), groups: [1] });
  bus.send('GAP', { topic: 'a', from: 2, to: 4 });
  bus.send('DELIVER', { topic: 'a', sequence: 9, events: events(1), groups: [1] });
  await settle();
  assert.deepEqual(log, ['a a 1', 'a gap a 2-4 QUEUE_FULL', 'a a 9']);
});

test('too many waiting gaps become one interruption', async () => {
  const { client, bus, env } = await connected();
  env.micros = () => NOW + 1000 * env.time;
  const log = [];
  let go;
  client.subscribe('a.>', { onGap: gap => { log.push(gap); }, onInterruption: ({ from, to }) => { log.push([from - NOW, to - NOW]); } }, () => new Promise(resolve => { go = resolve; }));
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { topic: 'a.0', events: events(1) });
  for (let i = 1; i <= 1500; i++) {
    bus.send('GAP', { topic: `a.${i}`, from: 1, to: 1 });
    await env.advance(1);
  }
  go();
  await settle();
  assert.equal(log.length, 500, 'one for the first 1,001, and those that came after');
  assert.deepEqual(log[0], [1_000_000, 2_000_000]);
  assert.equal(client.counters().missing, 1500);
});

// ---- Moves

async function moving(filters) {
  const all = await subscribed(filters);
  const { bus, env } = all;
  env.onOpen = connection => connection.welcome({ session: 'bus-2-1' });
  bus.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'] });
  await settle();
  return { ...all, old: bus, fresh: env.bus };
}

test('a successful move interrupts nothing', async () => {
  const { client, env, old, fresh, interruptions, of } = await moving([['a.>'], ['b', 'g']]);
  fresh.confirmAll();
  old.confirmAll();
  await settle();
  old.confirmAll();
  fresh.confirmAll();
  await env.advance(100);
  assert.equal(of('busChanged').length, 1);
  assert.deepEqual(interruptions, []);
  assert.equal(client.counters().interruptions, 0);
});

test('losing the old connection during a move interrupts all, ahead of the events of the new bus', async () => {
  const { env, old, fresh, log, of } = await moving([['a.>'], ['b', 'g']]);
  await env.advance(10);
  fresh.send('CONFIRM', { typeCode: 2, about: 1 });
  fresh.send('DELIVER', { topic: 'a.x', sequence: 4, events: events(1) });
  await env.advance(10);
  old.end();
  await settle();
  assert.equal(of('busChanged').length, 1);
  assert.deepEqual(log, ['a.> away 1000000..1020000', 'a.> a.x 4'], 'the other one is not confirmed yet');
  await env.advance(10);
  fresh.send('CONFIRM', { typeCode: 2, about: 2 });
  await settle();
  assert.deepEqual(log.slice(2), ['b away 1000000..1030000']);
});

test('losing the old connection before it has drained interrupts all', async () => {
  const { old, fresh, interruptions } = await moving([['a.>']]);
  fresh.confirmAll();
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  assert.equal(old.of('UNSUBSCRIBE').length, 1);
  old.end();
  await settle();
  assert.equal(interruptions.length, 1);
});

test('coming back to the old bus is an interruption', async () => {
  const { old, fresh, env, interruptions } = await moving([['a.>']]);
  fresh.confirmAll();
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  await env.advance(10);
  fresh.end();
  old.send('CONFIRM', { typeCode: 6, about: 1 });
  old.send('DRAINED', { id: 1 });
  await settle();
  assert.deepEqual(interruptions, []);
  old.send('CONFIRM', { typeCode: 2, about: 1 });
  await settle();
  assert.deepEqual(interruptions, [[1, 'a.>', NOW + 1_000_000, NOW + 1_010_000]]);
});

test('a client that stays reports an interruption of groups at the new bus', async () => {
  const { fresh, env, interruptions, of } = await moving([['a.>'], ['b', 'g']]);
  fresh.confirmAll();
  await env.advance(10);
  fresh.end();
  await settle();
  assert.equal(of('busChangeFailed').length, 1);
  assert.deepEqual(interruptions, [[2, 'b', NOW + 1_000_000, NOW + 1_010_000]]);
});

test('a hidden page reports an interruption', async () => {
  const { CountingTarget } = await import('./support/page.js');
  const { FakeEnvironment } = await import('./support/fakes.js');
  const env = new FakeEnvironment();
  const document = new CountingTarget('visible');
  env.page = { document, window: new CountingTarget() };
  const { client, bus } = await connected({ hiddenFor: 1000 }, env);
  let heard = 0;
  client.on('interruption', () => heard++);
  client.subscribe('a', {}, () => {});
  await settle();
  bus.confirmAll();
  document.visibilityState = 'hidden';
  document.tell('visibilitychange');
  await env.advance(5000);
  document.visibilityState = 'visible';
  document.tell('visibilitychange');
  await settle();
  env.bus.confirmAll();
  await settle();
  assert.equal(heard, 1);
});

// ---- Receivers of a confirmed event

test('published.receivers is the number from the bus; undefined of a bus that tells none', async () => {
  const { client, bus } = await connected();
  const all = Array.from({ length: 4 }, () => client.publish('a', 'x'));
  const alone = await Promise.all([client.publish('b', 'x'), client.publish('c', 'x'), client.publish('d', 'x')].map((one, i) => {
    const about = { typeCode: 1, topic: 'bcd'[i], about: 1 };
    settle().then(() => bus.send('CONFIRM', i === 0 ? about : { ...about, receivers: i === 1 ? -1 : 0 }));
    return one;
  }));
  bus.send('CONFIRM', { typeCode: 1, topic: 'a', about: 4, receivers: 3 });
  assert.deepEqual((await Promise.all(all)).map(p => p.receivers), [3, 3, 3, 3]);
  assert.deepEqual(alone.map(p => p.receivers), [undefined, undefined, 0]);
});
