import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { EventBusError } from '../../src/index.js';
import { connect, freePorts, skip, startBus } from '../support/live.js';

let bus;

before(async () => {
  bus = skip ? null : await startBus(['--port', '0', '--set', 'admin.enabled=false']);
});
after(() => bus?.stop());

test('events arrive as they were published, in order, over publish and send, handler, loop and batches', { skip }, async () => {
  const publisher = await connect({ url: bus.url, name: 'publisher' });
  const subscriber = await connect({ url: bus.url, name: 'subscriber' });
  const byHandler = [];
  const byLoop = [];
  const byBatch = [];
  const handled = subscriber.subscribe('js.*.x', {}, event => { byHandler.push(event.detached()); });
  const looped = subscriber.subscribe('js.>');
  const batched = subscriber.subscribe('js.ü.x', { overflow: 'DROP_OLDEST' });
  await Promise.all([handled.ready, looped.ready, batched.ready]);
  const loop = (async () => {
    for await (const event of looped) {
      byLoop.push(event.sequence);
    }
  })();
  const batches = (async () => {
    for await (const events of batched.batches()) {
      byBatch.push(...events.map(event => event.sequence));
    }
  })();
  const count = 2000;
  const confirmed = [];
  for (let i = 1; i <= count; i++) {
    if (i % 3 === 0) {
      confirmed.push(publisher.publish('js.ü.x', `grüße ${i}`, { key: 'schlüssel', headers: { n: 'ä', empty: '' }, schema: -7n }));
    } else {
      assert.ok(publisher.send('js.ü.x', new TextEncoder().encode(`grüße ${i}`), { key: 'schlüssel', headers: { n: 'ä', empty: '' }, schema: -7n }));
    }
    if (i % 500 === 0) {
      await publisher.flush();
    }
  }
  assert.deepEqual((await Promise.all(confirmed)).map(p => p.sequence), Array.from({ length: Math.floor(count / 3) }, (_, i) => 3 * i + 3));
  assert.equal(await publisher.close(), true);
  while (byHandler.length < count || byLoop.length < count || byBatch.length < count) {
    await new Promise(setImmediate);
  }
  assert.equal(await subscriber.close(), true);
  await Promise.all([loop, batches]);
  const sequences = Array.from({ length: count }, (_, i) => i + 1);
  assert.deepEqual(byHandler.map(e => [e.text(), e.key, { ...e.headers }, e.schema, e.producer, e.sequence]), sequences.map(i => [
    `grüße ${i}`, 'schlüssel', { n: 'ä', empty: '' }, -7n, byHandler[0].producer, i]));
  assert.deepEqual(byLoop, sequences);
  assert.deepEqual(byBatch, sequences);
});

test('a stalled handler stalls events beyond the window until it continues', { skip }, async () => {
  const client = await connect({ url: bus.url, receiveBytes: 65_536 });
  let go;
  const stands = new Promise(resolve => { go = resolve; });
  let handled = 0;
  let max = 0;
  const subscription = client.subscribe('credit', {}, async () => {
    await stands;
    max = Math.max(max, client.counters().unhandledBytes);
    handled++;
  });
  await subscription.ready;
  const publisher = await connect(bus.url);
  const payload = new Uint8Array(1000);
  for (let i = 0; i < 1000; i++) {
    publisher.send('credit', payload);
    if (i % 10 === 0) {
      await null;
    }
  }
  await publisher.flush();
  // Answers overtake stalled events.
  await client.flush();
  const { unhandledBytes } = client.counters();
  assert.ok(unhandledBytes >= 65_536 && unhandledBytes < 150_000, `${unhandledBytes}`);
  go();
  while (handled < 1000) {
    await new Promise(setImmediate);
  }
  assert.ok(max < 200_000);
  await Promise.all([client.close(), publisher.close()]);
});

test('refusals have the code of the bus', { skip }, async () => {
  const client = await connect(bus.url);
  const groups = Array.from({ length: 33 }, (_, i) => client.subscribe('a', { group: `g${i}` }));
  const results = await Promise.allSettled(groups.map(one => one.ready));
  assert.deepEqual(results.filter(one => one.status === 'rejected').map(one => [one.reason.code, one.reason.busCode]), [['REFUSED', 'LIMIT_EXCEEDED']]);
  await assert.rejects(connect({ url: bus.url.replace('/bus', '/other') }), error => error instanceof EventBusError && /answered 404/.test(error.message) && !error.retryable);
  await client.close();
});

test('the members of a group share the events', { skip }, async () => {
  const members = await Promise.all([1, 2].map(() => connect({ url: bus.url, reconnect: { initialDelay: 10 } })));
  const got = [[], []];
  await Promise.all(members.map((member, i) => member.subscribe('group.x', { group: 'g' }, event => { got[i].push(event.sequence); }).ready));
  const publisher = await connect(bus.url);
  await Promise.all(Array.from({ length: 200 }, async (_, i) => {
    for (let turn = 0; turn < i; turn++) {
      await null;
    }
    return publisher.publish('group.x', String(i));
  }));
  while (got[0].length + got[1].length < 200) {
    await new Promise(setImmediate);
  }
  assert.deepEqual([...got[0], ...got[1]].sort((a, b) => a - b), Array.from({ length: 200 }, (_, i) => i + 1));
  await Promise.all([...members, publisher].map(client => client.close()));
});

test('publishes wait for a bus that restarts, and arrive once', { skip }, async t => {
  const [port] = await freePorts(1);
  const first = await startBus(['--port', String(port), '--set', 'admin.enabled=false']);
  t.after(() => first.stop());
  const client = await connect({ url: first.url, confirmTimeout: 120_000, reconnect: { initialDelay: 20, maxDelay: 200 } });
  const got = [];
  const subscription = client.subscribe('again', { overflow: 'DROP_OLDEST' }, event => { got.push(event.text()); });
  await subscription.ready;
  await client.publish('again', 'before');
  while (got.length === 0) {
    await new Promise(setImmediate);
  }
  const down = new Promise(resolve => client.on('disconnected', resolve));
  await first.end();
  await down;
  const waiting = client.publish('again', 'while away');
  const second = await startBus(['--port', String(port), '--set', 'admin.enabled=false'], first.directory);
  t.after(() => second.stop());
  assert.equal((await waiting).sequence, 2);
  while (got.length < 2) {
    await new Promise(setImmediate);
  }
  assert.deepEqual(got, ['before', 'while away']);
  assert.equal(client.counters().reconnects, 1);
  await client.close();
});
