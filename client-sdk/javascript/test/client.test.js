import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connected, FakeEnvironment, settle } from './support/fakes.js';

const error = (code, more = {}) => thrown => {
  assert.equal(thrown.code, code, thrown.stack);
  assert.deepEqual({ ...thrown, ...more }, { ...thrown });
  return true;
};

test('sends Hello first, and Credit before the first Subscribe', async () => {
  const { client, bus } = await connected({ name: 'board', user: 'alice', token: 'secret', attributes: { team: 'a' } });
  client.subscribe('a.>', { group: 'g', overflow: 'CONFLATE' });
  await settle();
  assert.deepEqual(bus.said.map(one => one.frame), ['HELLO', 'CREDIT', 'SUBSCRIBE']);
  assert.deepEqual(bus.of('HELLO')[0], {
    frame: 'HELLO', client: 'board', agent: 'eventbus-js/test', token: 'secret', resume: null, attributes: { team: 'a' }, change: null,
    user: 'alice', previous: null,
  });
  assert.deepEqual(bus.of('SUBSCRIBE')[0], { frame: 'SUBSCRIBE', id: 1, filter: 'a.>', group: 'g', overflow: 'CONFLATE' });
  assert.equal(bus.of('CREDIT')[0].limit, 4 * 2 ** 20);
});

test('events of one turn are one message; confirmed events share no frame with others', async () => {
  const { client, bus } = await connected();
  for (const payload of ['1', '2']) {
    client.send('a.b', payload);
  }
  const published = client.publish('a.b', '3', { key: 'k', headers: { h: 'v' } });
  client.send('c', '4');
  client.send('a.b', '5');
  await settle();
  assert.equal(bus.messages.length, 3);
  const frames = bus.messages[2];
  assert.deepEqual(frames.map(f => [f.topic, f.sequence, f.events.map(e => e.payload).join()]),
    [['a.b', 1, '1,2'], ['a.b', 3, '3'], ['c', 1, '4'], ['a.b', 4, '5']]);
  assert.deepEqual(frames[1].events[0], { publishedAt: 1_700_000_000_000_000, key: 'k', headers: { h: 'v' }, payload: '3' });
  bus.send('CONFIRM', { typeCode: 1, topic: 'a.b', about: 3 });
  assert.deepEqual(await published, { topic: 'a.b', producer: 77n, sequence: 3, receivers: undefined, position: 0, repeated: false });
});

test('of events without a waiter one frame in 256 KiB is confirmed', async () => {
  const { client, bus } = await connected();
  const flags = [];
  for (let i = 0; i < 6; i++) {
    client.send('a', new Uint8Array(100_000));
    await settle();
    flags.push(bus.of('PUBLISH').at(-1).confirm);
  }
  assert.deepEqual(flags, [false, false, true, false, false, true]);
  bus.confirmAll();
  assert.equal(client.counters().confirmed, 0, 'nobody waits for it');
});

test('events that the network does not take are collected', async () => {
  const { client, bus, env } = await connected();
  bus.bufferedAmount = 2 ** 20;
  for (let i = 0; i < 3; i++) {
    client.send('a', String(i));
    await settle();
  }
  assert.equal(bus.of('PUBLISH').length, 0);
  bus.bufferedAmount = 0;
  await env.advance(4);
  assert.deepEqual(bus.of('PUBLISH').map(f => f.events.length), [3]);
});

test('payloads are text, bytes, or bytes of the codec', async () => {
  const { client, bus } = await connected();
  const codec = { fingerprint: -3n, encode: value => new TextEncoder().encode(`<${value}>`), decode: () => 0 };
  for (const [payload, options] of [['ü', {}], [Uint8Array.of(65, 66), {}], [Uint8Array.of(67).buffer, {}], [{ a: 1 }, {}], [7, { codec }], ['x'.repeat(200), {}]]) {
    client.send('a', payload, options);
  }
  await settle();
  assert.deepEqual(bus.of('PUBLISH').flatMap(f => f.events.map(e => e.payload)), ['ü', 'AB', 'C', '{"a":1}', '<7>', 'x'.repeat(200)]);
  assert.deepEqual(bus.of('PUBLISH').map(f => f.schema), [0n, -3n, 0n]);
  assert.throws(() => client.send('a', undefined), error('UNREADABLE_PAYLOAD'));
  assert.throws(() => client.send('a', 5n), error('UNREADABLE_PAYLOAD'));
});

test('limits are checked before anything is sent', async () => {
  const { client, bus } = await connected();
  for (const [topic, payload, options, code] of [
    ['a..b', '', {}, 'ILLEGAL_TOPIC'], ['$SYS.x', '', {}, 'ILLEGAL_TOPIC'], ['a', new Uint8Array(1_048_577), {}, 'TOO_BIG'],
    ['a', '', { key: 'k'.repeat(4097) }, 'TOO_BIG'], ['a', '', { headers: { h: 'x'.repeat(16_384) } }, 'TOO_BIG'],
    ['a', '', { headers: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [i, ''])) }, 'TOO_BIG'],
  ]) {
    assert.throws(() => client.send(topic, payload, options), error(code));
    await assert.rejects(client.publish(topic, payload, options), error(code));
  }
  assert.throws(() => client.send('a', '', { headers: { h: 1 } }), TypeError);
  client.send('a', new Uint8Array(1_048_576));
  client.send('a', '');
  await settle();
  assert.deepEqual(bus.of('PUBLISH').map(f => f.sequence), [1, 2], 'refused ones use no number');
});

test('a refused publish fails with the message of the bus', async () => {
  const { client, bus } = await connected();
  const published = client.publish('a', 'x');
  await settle();
  bus.send('PROBLEM', { code: 'TOO_BIG', message: 'too big', typeCode: 1, about: 1, topic: 'a' });
  await assert.rejects(published, error('REFUSED', { busCode: 'TOO_BIG', retryable: false }));
});

test('without a confirmation in time a publish fails, and is not sent again', async () => {
  const { client, env, bus } = await connected({ confirmTimeout: 5000 });
  const published = client.publish('a', 'x');
  const failed = assert.rejects(published, error('TIMED_OUT', { retryable: true }));
  await env.advance(7000);
  await failed;
  bus.end();
  await env.advance(1000);
  assert.equal(env.bus.of('PUBLISH').length, 0);
  assert.equal(client.counters().bufferedBytes, 0);
});

test('a signal only stops the wait', async () => {
  const { client, bus } = await connected();
  const control = new AbortController();
  const published = client.publish('a', 'x', { signal: control.signal });
  control.abort(new Error('enough'));
  await assert.rejects(published, { message: 'enough' });
  await settle();
  assert.equal(bus.of('PUBLISH').length, 1);
  bus.confirmAll();
  await assert.rejects(client.publish('a', 'x', { signal: control.signal }), { message: 'enough' });
  await settle();
  assert.equal(bus.of('PUBLISH').length, 0);
});

test('with a full buffer send returns false, publish waits or fails, and confirmations make room', async () => {
  const { client, bus, env } = await connected({ outboundBytes: 2000, blockTimeout: 3000 });
  const first = client.publish('a', 'x'.repeat(1000));
  assert.equal(client.send('a', 'y'.repeat(1000)), false);
  assert.equal(client.counters().droppedFull, 1);
  const second = client.publish('a', 'z'.repeat(900));
  const third = client.publish('a', 'ü');
  let room = false;
  client.room().then(() => { room = true; });
  await settle();
  assert.deepEqual(bus.of('PUBLISH').map(f => f.sequence), [1]);
  assert.equal(room, false);
  bus.confirmAll();
  await first;
  await settle();
  assert.deepEqual(bus.of('PUBLISH').map(f => [f.sequence, f.events.length]), [[2, 2]]);
  bus.confirmAll();
  assert.deepEqual((await Promise.all([second, third])).map(p => p.sequence), [2, 3]);
  assert.equal(room, true);
  client.publish('a', 'x'.repeat(1000)).catch(() => {});
  const late = assert.rejects(client.publish('a', 'x'.repeat(1000)), error('BUFFER_FULL'));
  await env.advance(5000);
  await late;
});

test('whenFull: fail refuses at once', async () => {
  const { client } = await connected({ outboundBytes: 2000, whenFull: 'fail' });
  client.publish('a', 'x'.repeat(1000));
  await assert.rejects(client.publish('a', 'x'.repeat(1000)), error('BUFFER_FULL', { retryable: true }));
});

test('flush sends a Barrier behind all events, and another while the refusal is retryable', async () => {
  const { client, bus, env } = await connected();
  client.send('a', 'x');
  const flushed = client.flush();
  await settle();
  assert.deepEqual(bus.said.slice(2).map(one => one.frame), ['PUBLISH', 'BARRIER']);
  bus.send('PROBLEM', { code: 'OVERLOADED', retryable: true, typeCode: 11, about: 1 });
  await env.advance(100);
  assert.equal(bus.of('BARRIER').length, 2);
  bus.confirmAll();
  await flushed;
  const late = assert.rejects(client.flush({ timeout: 50 }), error('TIMED_OUT'));
  await env.advance(50);
  await late;
});

test('close sends, waits for confirmations and Drained, and is final', async () => {
  const { client, bus, of, env } = await connected();
  const handled = [];
  client.subscribe('a', {}, event => handled.push(event.sequence));
  await settle();
  bus.confirmAll();
  const published = client.publish('a', 'x');
  client.send('b', 'y');
  const closing = client.close();
  assert.throws(() => client.send('a', 'z'), error('CLOSED'));
  await settle();
  assert.equal(client.state, 'DRAINING');
  bus.send('DELIVER', { topic: 'a', producer: 77n, events: [{}] });
  bus.confirmAll();
  await settle();
  bus.confirmAll();
  assert.equal(await closing, true);
  assert.equal((await published).sequence, 1);
  assert.deepEqual(handled, [1]);
  assert.equal(client.state, 'CLOSED');
  assert.deepEqual(bus.closed, { code: 1000, reason: 'the client is closed' });
  assert.deepEqual(of('disconnected'), [{ type: 'disconnected', code: 1000, reason: 'the client is closed', willReconnect: false }]);
  assert.equal(env.timers.size, 0, 'no timer is left');
  assert.equal(await client.close(), true);
  await assert.rejects(client.publish('a', 'x'), error('CLOSED'));
});

test('close gives up at its timeout', async () => {
  const { client, env, of } = await connected();
  const lost = assert.rejects(client.publish('a', 'x'), error('CONNECTION_LOST'));
  const closing = client.close({ timeout: 500 });
  await env.advance(500);
  assert.equal(await closing, false);
  await lost;
  assert.equal(env.timers.size, 0);
  assert.deepEqual(of('dropped'), []);
});

test('listeners can be removed, and one that throws harms no other', async () => {
  const { client, bus, env } = await connected();
  const heard = [];
  const away = client.on('problem', problem => heard.push(problem.message));
  client.on('problem', () => { throw new Error('listener'); });
  bus.send('PROBLEM', { message: 'one', typeCode: 99 });
  away();
  bus.send('PROBLEM', { message: 'two', typeCode: 99 });
  assert.deepEqual(heard, ['one']);
  assert.deepEqual(env.reported.map(e => e.message), ['listener', 'listener']);
});

test('frames of a later version are skipped and counted', async () => {
  const { client, bus } = await connected();
  bus.raw(Uint8Array.of(2 * 34, 2, 0, 2 * 35, 0));
  assert.equal(client.counters().unknownFrames, 2);
  assert.equal(client.state, 'CONNECTED');
});

test('a malformed frame ends the connection with 1007, and the client reconnects', async () => {
  const { bus, client, of } = await connected();
  bus.raw(Uint8Array.of(8, 2, 0xFF));
  assert.equal(bus.closed.code, 1007);
  assert.equal(client.state, 'RECONNECTING');
  assert.equal(of('disconnected')[0].willReconnect, true);
});

test('await using closes the client', async () => {
  const { client, env } = await connected({ closeTimeout: 0 });
  await Promise.all([client[Symbol.asyncDispose](), env.advance(10)]);
  assert.equal(client.state, 'CLOSED');
});

test('a browser has DROP_OLDEST by default, and no listener is left after close', async () => {
  const env = new FakeEnvironment();
  const { CountingTarget } = await import('./support/page.js');
  const page = env.page = { document: new CountingTarget('visible'), window: new CountingTarget() };
  env.inBrowser = true;
  const { client, bus } = await connected({ closeTimeout: 0 }, env);
  client.subscribe('a');
  await settle();
  assert.equal(bus.of('SUBSCRIBE')[0].overflow, 'DROP_OLDEST');
  assert.ok(page.document.count + page.window.count > 0);
  const closing = client.close();
  await env.advance(1);
  await closing;
  assert.equal(page.document.count + page.window.count, 0);
  assert.equal(env.timers.size, 0);
});

test('the numbers of a topic continue, however many topics there are', async () => {
  const { client, bus } = await connected({ outboundBytes: 2 ** 30 });
  client.send('first', 'x');
  for (let i = 0; i < 50_000; i++) {
    client.send(`t.${i}`, '');
    if (i % 1000 === 0) {
      await settle();
    }
  }
  await settle();
  client.send('one.more', 'x');
  await settle();
  client.send('first', 'x');
  await settle();
  assert.deepEqual(bus.of('PUBLISH').filter(f => f.topic === 'first').map(f => f.sequence), [1, 2]);
  assert.equal(client.counters().publishedTopics, 50_002);
});

test('close asks whether events without a waiter have arrived', async () => {
  const { client, bus } = await connected();
  client.send('a', 'x');
  let closed = null;
  const closing = client.close().then(result => { closed = result; });
  await settle();
  assert.equal(bus.of('BARRIER').length, 1);
  assert.equal(closed, null);
  bus.confirmAll();
  await closing;
  assert.equal(closed, true);
});

test('events that waited for room are sent behind those that made it', async () => {
  const { client, bus, env } = await connected({ outboundBytes: 4000, batchBytes: 256 });
  bus.bufferedAmount = 2 ** 21;
  const payload = new Uint8Array(100);
  while (client.send('a', payload)) {
    await settle();
  }
  // Many topics, so that open frames fill a message while another one is being sent.
  const waiting = Array.from({ length: 30 }, (_, i) => client.publish(`p.${i}`, payload));
  bus.bufferedAmount = 0;
  for (let i = 0; i < 20; i++) {
    await env.advance(50);
    for (const { topic, sequence, events } of bus.of('PUBLISH')) {
      bus.send('CONFIRM', { typeCode: 1, topic, about: sequence + events.length - 1 });
    }
  }
  await Promise.all(waiting);
  const all = bus.of('PUBLISH').filter(f => f.topic === 'a').flatMap(f => f.events.map((_, i) => f.sequence + i));
  assert.deepEqual(all, Array.from({ length: all.length }, (_, i) => i + 1));
  assert.ok(all.length > 15);
});
