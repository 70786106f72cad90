import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { test } from 'node:test';

import { EventBus } from '../src/client.js';
import { settings } from '../src/options.js';
import { Rejection, Reply } from '../src/services.js';
import { connected, FakeEnvironment, settle } from './support/fakes.js';

const events = (n, payload = 'x') => Array.from({ length: n }, () => ({ payload }));

test('subscribe(filter, handler)', async () => {
  const { client, bus } = await connected();
  const got = [];
  client.subscribe('a', event => { got.push(event.sequence); });
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { topic: 'a', events: events(2) });
  assert.deepEqual(got, [1, 2]);
  assert.throws(() => client.subscribe('a', () => {}, () => {}), { name: 'TypeError', message: 'options: function (expected: an object)' });
});

test('an unknown option is a TypeError in every call', async () => {
  const { client, bus } = await connected();
  const unknown = name => thrown => thrown.name === 'TypeError' && new RegExp(`(^|\\.)${name}: unknown option \\(expected: `).test(thrown.message) || assert.fail(thrown.stack);
  await assert.rejects(client.publish('a', 'x', { haeders: {} }), unknown('haeders'));
  await assert.rejects(client.flush({ timout: 1 }), unknown('timout'));
  await assert.rejects(client.request('s', 'x', { timout: 5 }), unknown('timout'));
  await assert.rejects(client.close({ timout: 5 }), unknown('timout'));
  for (const [name, call] of [
    ['signal', () => client.send('a', 'x', { signal: new AbortController().signal })],
    ['overfow', () => client.subscribe('a', { overfow: 'CONFLATE' }, () => {})],
    ['maximum', () => client.subscribe('a').batches({ maximum: 1 })],
    ['concurency', () => client.serve('s', () => {}, { concurency: 1 })],
    ['timout', () => client.serve('s', () => {}).close({ timout: 1 })],
    ['retryafter', () => new Rejection('FAILED', 'm', { retryafter: 1 })],
    ['haeders', () => new Reply('x', { haeders: {} })],
    ['rejectUnauthorized', () => settings({ url: 'wss://x/bus', tls: { rejectUnauthorized: false } }, false)],
  ]) {
    assert.throws(call, unknown(name), name);
  }
  assert.throws(() => client.on('disconnect', () => {}), { name: 'TypeError', message: /^disconnect: unknown event \(expected: busChangeFailed, .*disconnected, / });
  assert.throws(() => settings({ url: 'wss://x/bus', tls: true }, false), { name: 'TypeError', message: 'tls: boolean (expected: an object)' });
  for (const wrong of [null, 5, 'x']) {
    await assert.rejects(client.publish('a', 'x', wrong), { name: 'TypeError', message: /^options: .* \(expected: an object\)$/ });
  }
  await settle();
  assert.equal(client.state, 'CONNECTED');
  assert.deepEqual(bus.of('PUBLISH'), []);
});

test('values that JSON would write as {} are refused; views are sent as their bytes', async () => {
  const { client, bus } = await connected();
  class Hidden { #x = 1; get x() { return this.#x; } }
  for (const payload of [
    Promise.resolve(1), { then() {} }, new Map([[1, 2]]), new Set(), new WeakMap(), new Blob(['hi']), new Error('x'), Object.assign(new Error('x'), { code: 'X' }), () => 1, Symbol('x'), undefined,
    new SharedArrayBuffer(4), new Hidden(), /x/, (function* () { yield 1; })(), new AbortController().signal,
  ]) {
    assert.throws(() => client.send('a', payload), thrown => thrown.code === 'UNREADABLE_PAYLOAD' || assert.fail(thrown.stack), inspect(payload));
    await assert.rejects(client.publish('a', payload), { code: 'UNREADABLE_PAYLOAD', message: /^payload: .*expected: / });
  }
  class Shown { a = 1; }
  const whole = new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7]).buffer;
  for (const [payload, expected] of [
    [{}, '{}'], [Object.create(null), '{}'], [new Shown(), '{"a":1}'], [new Date(0), '"1970-01-01T00:00:00.000Z"'], [new URL('http://x/'), '"http://x/"'], [[], '[]'], [null, 'null'], [0, '0'], [false, 'false'],
    [new DataView(whole, 2, 2), '\u0002\u0003'], [new Uint16Array(whole, 4, 1), '\u0004\u0005'], [whole, '\0\u0001\u0002\u0003\u0004\u0005\u0006\u0007'], [Buffer.from('hi'), 'hi'],
  ]) {
    client.send('a', payload);
    await settle();
    assert.equal(bus.of('PUBLISH').at(-1).events[0].payload, expected);
  }
  client.send('a', new Map(), { codec: { encode: () => Uint8Array.of(65) } });
  await settle();
  assert.equal(bus.of('PUBLISH').at(-1).events[0].payload, 'A', 'a codec takes what it likes');
});

test('leaving an iterator loses nothing: the next one continues there', async () => {
  const { client, bus } = await connected();
  const subscription = client.subscribe('a', { overflow: 'DROP_OLDEST' });
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { topic: 'a', events: events(2) });
  bus.send('DELIVER', { topic: 'a', sequence: 3, events: events(2) });
  const got = [];
  for await (const event of subscription) {
    got.push(event.sequence);
    break;
  }
  await settle();
  assert.deepEqual(bus.of('UNSUBSCRIBE'), []);
  bus.send('DELIVER', { topic: 'a', sequence: 5, events: events(1) });
  for await (const batch of subscription.batches({ max: 2 })) {
    got.push(batch.map(event => event.sequence));
    if (batch.at(-1).sequence === 5) {
      break;
    }
  }
  assert.deepEqual(got, [1, [2, 3], [4, 5]]);
  const waiting = subscription.batches();
  const next = waiting.next();
  assert.throws(() => subscription.batches(), { message: /iterated already/ });
  await waiting.return();
  assert.deepEqual(await next, { value: undefined, done: true });
  assert.deepEqual(await waiting.next(), { value: undefined, done: true }, 'it has been left');
  const ended = subscription.unsubscribe();
  await settle();
  bus.confirmAll();
  await ended;
  assert.deepEqual(await subscription[Symbol.asyncIterator]().next(), { value: undefined, done: true });
  assert.equal(client.counters().unhandledBytes, 0);
});

test('unsubscribe inside of its own handler does not hang', async () => {
  for (const body of ['at once', 'after a wait']) {
    const { client, bus, env, of } = await connected();
    const log = [];
    const subscription = client.subscribe('a', async event => {
      log.push(event.sequence);
      if (event.sequence === 1) {
        if (body !== 'at once') {
          await null;
          await null;
        }
        await subscription.unsubscribe();
        log.push('unsubscribed');
      }
    });
    await settle();
    bus.confirmAll();
    bus.send('DELIVER', { topic: 'a', events: events(2) });
    await settle();
    bus.confirmAll();
    await settle();
    if (body === 'at once') {
      assert.deepEqual(log, [1, 'unsubscribed', 2]);
    } else {
      // The caller may be the handler itself: fails with that as the likely cause.
      await env.advance(10_000);
      assert.deepEqual(log, [1, 2]);
      assert.match(of('handlerError')[0].error.message, /handler .* still at work after closeTimeout \(expected: not awaited inside of the handler\)/);
    }
    await Promise.all([client.close({ timeout: 10 }), env.advance(10)]);
    assert.equal(env.timers.size, 0);
  }
});

test('a refused subscription is reported where ready is not awaited, also after its reader has left', async () => {
  const env = new FakeEnvironment();
  env.onOpen = connection => connection.welcome();
  const client = new EventBus(settings('ws://bus-1.test/bus', false), env);
  await client.start();
  await client.subscribe('left').batches().return();
  client.subscribe('handled', () => {});
  const looked = assert.rejects(client.subscribe('looked.at', () => {}).ready, { code: 'REFUSED' });
  await settle();
  for (const about of [1, 2, 3]) {
    env.bus.send('PROBLEM', { code: 'FORBIDDEN', message: `no ${about}`, typeCode: 2, about });
  }
  await looked;
  assert.deepEqual(env.reported.map(error => error.message), ['no 1', 'no 2']);
});

test('a refused duplicate is ended at the bus, too', async () => {
  const { client, bus } = await connected();
  const subscription = client.subscribe('a', () => {});
  const failed = assert.rejects(subscription.ready, { code: 'REFUSED' });
  await settle();
  bus.send('PROBLEM', { code: 'DUPLICATE_SUBSCRIPTION', typeCode: 2, about: 1 });
  await failed;
  await settle();
  assert.deepEqual(bus.of('UNSUBSCRIBE').map(f => f.id), [1]);
});

test('a service ends at the bus when its signal is aborted, before and after it is confirmed', async () => {
  for (const confirmed of [false, true]) {
    const { client, bus } = await connected();
    const control = new AbortController();
    const service = client.serve('s', () => {}, { signal: control.signal });
    const ready = service.ready.then(() => 'ready', error => error.message);
    await settle();
    if (confirmed) {
      bus.confirmAll();
      await ready;
    }
    control.abort(new Error('enough'));
    assert.equal(await ready, confirmed ? 'ready' : 'enough');
    await settle();
    assert.equal(bus.of('UNREGISTER').length, 1);
    bus.confirmAll();
    await settle();
    await service.close();
    assert.throws(() => client.serve('s', () => {}, { signal: control.signal }), { message: 'enough' });
  }
});

test('the details of a Rejection: an error says what they are', () => {
  assert.throws(() => new Rejection('FAILED', 'm', { details: '7' }), { name: 'TypeError', message: 'details: string (expected: a Uint8Array of at most 65536 bytes)' });
  assert.throws(() => new Rejection('FAILED', 'm', { details: new Uint8Array(65_537) }), { name: 'RangeError', message: 'details: 65537 bytes (expected: a Uint8Array of at most 65536 bytes)' });
});

test('console.log shows events, subscriptions and clients', async () => {
  const { client, bus } = await connected();
  const got = [];
  const subscription = client.subscribe('a', event => { got.push(event); });
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { topic: 'a', events: [{ key: 'k', payload: '{"n":1}' }] });
  assert.match(inspect(got[0]), /^BusEvent \{\s+topic: 'a',\s+sequence: 1,[^]*key: 'k',[^]*payload: '\{"n":1\}'/);
  assert.match(inspect(subscription), /^Subscription \{[^]*id: 1,[^]*filter: 'a'/);
  assert.match(inspect(client), /^ServiceBus \{[^]*name: 'js-client',[^]*state: 'CONNECTED',[^]*url: 'ws:\/\/bus-1.test\/bus'/);
});
