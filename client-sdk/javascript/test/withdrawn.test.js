import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connected, settle } from './support/fakes.js';

const frames = connection => connection.of('PUBLISH').map(f => [f.topic, f.sequence, f.events.map(e => e.payload).join(' ')]);

test('TIMED_OUT withdraws an unsent event, and those behind it take its number', async () => {
  const { client, bus, env } = await connected({ confirmTimeout: 5000 });
  const first = client.publish('a', '1');
  await settle();
  bus.confirmAll();
  await first;
  env.onOpen = connection => connection.end();
  bus.end();
  const late = [client.publish('a', '2'), client.publish('b', '1')].map(one => assert.rejects(one, thrown => thrown.code === 'TIMED_OUT' && thrown.retryable && /was not sent, and will not be/.test(thrown.message)));
  client.send('a', 'plain');
  await env.advance(3000);
  const kept = [client.publish('a', '3'), client.publish('b', '2')];
  await env.advance(2000);
  await Promise.all(late);
  env.onOpen = connection => connection.welcome();
  client.reconnect();
  await settle();
  assert.deepEqual(frames(env.bus), [['a', 2, 'plain'], ['a', 3, '3'], ['b', 1, '2']]);
  env.bus.confirmAll();
  assert.deepEqual((await Promise.all(kept)).map(p => p.sequence), [3, 1]);
  assert.equal(client.counters().bufferedBytes, 0);
  client.send('a', 'x');
  await settle();
  assert.equal(env.bus.of('PUBLISH').at(-1).sequence, 4);
});

test('an event sent over a lost connection keeps its number, and is sent again', async () => {
  const { client, bus, env } = await connected({ confirmTimeout: 5000 });
  const sent = assert.rejects(client.publish('a', '1'), thrown => thrown.code === 'TIMED_OUT' && !/was not sent/.test(thrown.message));
  await settle();
  env.onOpen = connection => connection.end();
  bus.end();
  const unsent = assert.rejects(client.publish('a', '2'), { code: 'TIMED_OUT' });
  await env.advance(6000);
  await Promise.all([sent, unsent]);
  env.onOpen = connection => connection.welcome();
  client.reconnect();
  await settle();
  assert.deepEqual(frames(env.bus), [['a', 1, '1']]);
  client.send('a', 'x');
  await settle();
  assert.deepEqual(frames(env.bus).at(-1), ['a', 2, 'x']);
});

test('confirmTimeout is precise, of events that wait together too', async () => {
  for (const isConnected of [true, false]) {
    const { client, bus, env } = await connected({ confirmTimeout: 1500 });
    env.onOpen = connection => connection.end();
    if (!isConnected) {
      bus.end();
    }
    await env.advance(333);
    const from = env.time;
    const ends = [];
    for (let i = 0; i < 5; i++) {
      const at = env.time;
      client.publish('a', 'x').catch(() => ends.push(env.time - at));
      await env.advance(100);
    }
    while (ends.length < 5 && env.time < from + 5000) {
      await env.advance(5);
    }
    assert.equal(ends.length, 5);
    ends.forEach(after => assert.ok(after >= 1500 && after <= 1510, String(ends)));
  }
});

test('aborting a publish that waits for room withdraws it', async () => {
  const { client, bus } = await connected({ outboundBytes: 2000 });
  const first = client.publish('a', 'x'.repeat(1000));
  const control = new AbortController();
  const given = assert.rejects(client.publish('a', `y${'x'.repeat(999)}`, { signal: control.signal }), { message: 'enough' });
  const third = client.publish('a', 'z'.repeat(900));
  control.abort(new Error('enough'));
  await given;
  await settle();
  bus.confirmAll();
  await first;
  await settle();
  bus.confirmAll();
  assert.equal((await third).sequence, 2);
  assert.equal(client.send('a', 'x'), true, 'nobody waits before it');
});
