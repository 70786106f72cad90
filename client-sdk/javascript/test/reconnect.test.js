import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventBus } from '../src/client.js';
import { settings } from '../src/options.js';
import { LIMITS } from './support/bus-frames.js';
import { connected, FakeEnvironment, settle } from './support/fakes.js';

const client = (options, env) => new EventBus(settings({ url: 'ws://bus-1.test/bus', ...options }, false), env);
const codes = code => thrown => thrown.code === code || assert.fail(thrown.stack);

test('unconfirmed events are sent again under their numbers, before anything new', async () => {
  const { client, bus, env, of } = await connected();
  const published = ['1', '2'].map(payload => client.publish('a', payload));
  await settle();
  published.push(client.publish('a', '3'));
  published.push(client.publish('b', '4'));
  await settle();
  bus.end();
  published.push(client.publish('a', '5'));
  client.send('a', '6');
  await env.advance(100);
  const { resume, previous } = env.bus.of('HELLO')[0];
  assert.deepEqual({ resume, previous }, { resume: 'r'.repeat(43), previous: 'bus-1-1' });
  assert.deepEqual(env.bus.of('PUBLISH').map(f => [f.topic, f.sequence, f.events.map(e => e.payload).join('')]),
    [['a', 1, '12'], ['a', 3, '3'], ['b', 1, '4'], ['a', 4, '5'], ['a', 5, '6']]);
  env.bus.confirmAll();
  assert.deepEqual((await Promise.all(published)).map(p => p.sequence), [1, 2, 3, 1, 4]);
  assert.deepEqual(of('disconnected'), [{ type: 'disconnected', code: 1006, reason: '', willReconnect: true }]);
  assert.deepEqual(of('reconnecting'), [{ type: 'reconnecting', attempt: 1, url: 'ws://bus-1.test/bus', delay: 100 }]);
  const { resent, reconnects } = client.counters();
  assert.deepEqual({ resent, reconnects }, { resent: 4, reconnects: 1 });
});

test('events without a waiter are not sent again; indeterminate ones are reported', async () => {
  const { client, bus, env, of } = await connected();
  client.send('a', 'x');
  const published = client.publish('b', 'y');
  await settle();
  client.send('a', 'x');
  client.send('a', 'x');
  await settle();
  bus.send('CONFIRM', { typeCode: 1, topic: 'b', about: 1 });
  await published;
  bus.end();
  await env.advance(100);
  assert.deepEqual(env.bus.of('PUBLISH'), []);
  assert.deepEqual(of('dropped'), [{ type: 'dropped', events: 2, cause: 'CONNECTION_LOST' }]);
  assert.equal(client.counters().indeterminate, 2);
});

test('a new producer number starts every topic again at 1, and is reported', async () => {
  const { client, bus, env, of } = await connected();
  const first = client.publish('a', '1');
  await settle();
  bus.confirmAll();
  await first;
  const again = [client.publish('a', '2'), client.publish('a', '3'), client.publish('b', '4')];
  await settle();
  bus.end();
  again.push(client.publish('a', '5'));
  env.onOpen = connection => connection.welcome({ producer: 78n });
  await env.advance(100);
  assert.deepEqual(env.bus.of('PUBLISH').map(f => [f.topic, f.sequence, f.events.length]), [['a', 1, 2], ['b', 1, 1], ['a', 3, 1]]);
  env.bus.confirmAll();
  assert.deepEqual((await Promise.all(again)).map(p => [p.producer, p.sequence]), [[78n, 1], [78n, 2], [78n, 1], [78n, 3]]);
  assert.deepEqual(of('producerChanged'), [{ type: 'producerChanged', before: 77n, now: 78n }]);
});

test('a bus with smaller limits refuses too big events, and gets the others in smaller frames', async () => {
  const { client, bus, env, of } = await connected();
  bus.bufferedAmount = 2 ** 21;
  const big = assert.rejects(client.publish('a', 'x'.repeat(5000)), codes('TOO_BIG'));
  const small = client.publish('a', 'y');
  client.send('b', 'x'.repeat(5000));
  client.send('b', 'z');
  bus.end();
  env.onOpen = connection => connection.welcome({ limits: { ...LIMITS, payloadBytes: 1000, messageBytes: 2000 } });
  await env.advance(100);
  await big;
  assert.deepEqual(env.bus.of('PUBLISH').map(f => [f.topic, f.sequence, f.events[0].payload]), [['a', 2, 'y'], ['b', 2, 'z']]);
  env.bus.confirmAll();
  assert.equal((await small).sequence, 2);
  assert.deepEqual(of('dropped'), [{ type: 'dropped', events: 1, cause: 'TOO_BIG' }]);
});

test('subscriptions are renewed, and missed events are reported as a gap with the next event', async () => {
  const { client, bus, env, of } = await connected();
  const got = [];
  client.subscribe('a', {}, event => got.push(event.sequence));
  await settle();
  bus.confirmAll();
  bus.send('DELIVER', { topic: 'a', sequence: 1, events: [{}, {}] });
  client.publish('a', 'x');
  await settle();
  bus.end();
  await env.advance(100);
  assert.deepEqual(env.bus.said.map(f => f.frame), ['HELLO', 'CREDIT', 'SUBSCRIBE', 'PUBLISH'], 'before the events that are sent again, or its own would be missed');
  env.bus.confirmAll();
  env.bus.send('DELIVER', { topic: 'a', sequence: 2, events: [{}] });
  env.bus.send('DELIVER', { topic: 'a', sequence: 6, events: [{}] });
  assert.deepEqual(got, [1, 2, 6]);
  assert.deepEqual(of('gap'), [{ type: 'gap', topic: 'a', producer: 5n, from: 3, to: 5, reason: 'LOST' }]);
  assert.equal(client.counters().duplicates, 1);
});

test('the delay grows, and starts again after a lasting connection', async () => {
  const { env, bus, of } = await connected({ reconnect: { maxDelay: 500 } });
  env.onOpen = connection => connection.end();
  bus.end();
  await env.advance(1000);
  assert.deepEqual(of('reconnecting').map(e => e.delay), [100, 200, 400, 500]);
  env.onOpen = connection => connection.welcome();
  await env.advance(500);
  await env.advance(5000);
  env.bus.end();
  assert.equal(of('reconnecting').at(-1).delay, 100);
});

test('jitter leaves out a random part', async () => {
  const { env, bus, of } = await connected();
  env.random = () => 0.5;
  bus.end();
  assert.equal(of('reconnecting')[0].delay, 75);
});

test('after five tries without a Welcome the application is told, once', async () => {
  const { env, bus, of } = await connected({ reconnect: { maxDelay: 100 } });
  env.onOpen = connection => connection.end(1006, 'no route');
  env.explain = async url => `403: Origin is not allowed at ${url}`;
  bus.end();
  await env.advance(2000);
  assert.deepEqual(of('problem').map(e => [e.code, e.message]), [['NOT_CONNECTED',
    'no connection in 5 tries, and trying on: the connection to ws://bus-1.test/bus ended with 1006 no route (403: Origin is not allowed at ws://bus-1.test/bus)']]);
});

test('others that the bus has named are tried after the configured addresses', async () => {
  const { env, bus, of } = await connected({ url: ['ws://bus-1.test/bus', 'ws://bus-2.test/bus'] }, undefined, { others: ['ws://bus-3.test/bus', 'wss://bus-4.test/bus', 'http://no.test', 'ws://u:p@no.test/'] });
  env.onOpen = connection => connection.end();
  bus.end();
  await env.advance(20_000);
  assert.deepEqual(of('reconnecting').slice(0, 5).map(e => e.url.slice(-14, -9)), ['bus-2', 'bus-3', 'bus-4', 'bus-1', 'bus-2']);
});

test('a client that speaks TLS is not led to an address without it', async () => {
  const { env, bus, of } = await connected({ url: 'wss://bus-1.test/bus' }, undefined, { others: ['ws://bus-2.test/bus', 'wss://bus-3.test/bus'] });
  env.onOpen = connection => connection.end();
  bus.end();
  await env.advance(1000);
  assert.deepEqual(of('reconnecting').slice(0, 2).map(e => e.url), ['wss://bus-3.test/bus', 'wss://bus-1.test/bus']);
});

test('close codes from 4500 on, and those for errors of the client, are final', async () => {
  for (const [code, busCode] of [[1002, 'PROTOCOL_VIOLATION'], [1007, 'MALFORMED'], [1009, 'TOO_BIG'], [4500, 'UNAUTHENTICATED'], [4503, 'REPLACED'], [4999, 'UNSUPPORTED']]) {
    const { client, bus, of, env } = await connected();
    const waits = client.publish('a', 'x').catch(e => e);
    await settle();
    bus.end(code, 'because');
    assert.equal(client.state, 'CLOSED', String(code));
    assert.equal(of('disconnected')[0].willReconnect, false);
    assert.equal((await waits).code, 'CONNECTION_LOST');
    await assert.rejects(client.publish('a', 'x'), thrown => thrown.code === 'CLOSED' && thrown.cause.busCode === busCode);
    assert.equal(env.timers.size, 0);
  }
  for (const code of [1001, 1005, 1006, 1011, 1012, 3000, 4000, 4001, 4002, 4003, 4004, 4499]) {
    const { client, bus } = await connected();
    bus.end(code);
    assert.equal(client.state, 'RECONNECTING', String(code));
  }
});

test('reconnect: false ends the client with its connection', async () => {
  const { client, bus } = await connected({ reconnect: false });
  bus.end();
  assert.equal(client.state, 'CLOSED');
});

test('a token function is called at every connect, and once more after 4500', async () => {
  const env = new FakeEnvironment();
  const tokens = ['one', 'two', 'three', 'four'];
  let asked = 0;
  const options = { token: async () => tokens[asked++] };
  const { client, bus } = await connected(options, env);
  bus.end();
  env.onOpen = connection => connection.open();
  await env.advance(100);
  assert.equal(env.bus.of('HELLO')[0].token, 'two');
  env.bus.end(4500, 'old');
  await env.advance(1000);
  assert.equal(env.bus.of('HELLO')[0].token, 'three');
  env.bus.end(4500, 'old');
  assert.equal(client.state, 'CLOSED');
});

test('after an expiry the client reconnects with a new token, as the same user', async () => {
  const env = new FakeEnvironment();
  const tokens = ['one', 'two'];
  const { client, bus, of } = await connected({ user: 'alice', token: () => tokens.shift() }, env);
  bus.send('PROBLEM', { code: 'UNAUTHENTICATED', message: 'expired', retryable: true });
  bus.end(4004, 'expired');
  assert.deepEqual(of('disconnected'), [{ type: 'disconnected', code: 4004, reason: 'expired', willReconnect: true }]);
  await env.advance(100);
  const { user, token, previous } = env.bus.of('HELLO')[0];
  assert.deepEqual({ user, token, previous }, { user: 'alice', token: 'two', previous: 'bus-1-1' });
  assert.equal(client.state, 'CONNECTED');
});

test('an expired fixed token is refused, and that is reported', async () => {
  const { client, bus, env, of } = await connected({ token: 'old' });
  bus.end(4004, 'expired');
  env.onOpen = connection => connection.open();
  await env.advance(100);
  assert.equal(env.bus.of('HELLO')[0].token, 'old');
  env.bus.end(4500, 'wrong');
  assert.equal(client.state, 'CLOSED');
  assert.equal(of('disconnected').at(-1).willReconnect, false);
});

test('a first connection refused for good fails at once, with the message of the bus', async () => {
  const env = new FakeEnvironment();
  env.onOpen = connection => connection.end(1006, '', { status: 404, text: 'no such path: /buss', retryAfter: 0, isByBus: false });
  await assert.rejects(client({}, env).start(), thrown => codes('NOT_CONNECTED')(thrown) && !thrown.retryable && /answered 404: no such path/.test(thrown.message));
  assert.equal(env.connections.length, 1);
  assert.equal(env.timers.size, 0);
});

test('a first connection that cannot be opened fails after three tries, with the answer to a plain GET', async () => {
  const env = new FakeEnvironment();
  env.onOpen = connection => connection.end();
  env.explain = async () => '403: Origin http://x is not allowed';
  const failed = assert.rejects(client({}, env).start(), thrown => codes('NOT_CONNECTED')(thrown) && /ended with 1006 \(403: Origin/.test(thrown.message));
  await env.advance(1000);
  await failed;
  assert.equal(env.connections.length, 3);
});

test('several addresses are tried without a pause, one after the other', async () => {
  const env = new FakeEnvironment();
  env.onOpen = connection => connection.url.includes('bus-3') ? connection.welcome() : connection.end();
  const bus = client({ url: [1, 2, 3].map(n => `ws://bus-${n}.test/bus`) }, env);
  const started = bus.start();
  await env.advance(0);
  await started;
  assert.equal(bus.connection.url, 'ws://bus-3.test/bus');
});

test('a silent bus is given up after connectTimeout', async () => {
  const env = new FakeEnvironment();
  env.onOpen = () => {};
  const failed = assert.rejects(client({ connectTimeout: 1000 }, env).start(), codes('TIMED_OUT'));
  await env.advance(1000);
  await failed;
  assert.equal(env.timers.size, 0);
});

test('503 is tried again after Retry-After', async () => {
  const env = new FakeEnvironment();
  env.onOpen = connection => env.connections.length === 1 ? connection.end(1006, '', { status: 503, text: 'full', retryAfter: 2000, isByBus: true }) : connection.welcome();
  const started = client({}, env).start();
  await env.advance(1999);
  assert.equal(env.connections.length, 1);
  await env.advance(1);
  await started;
});

test('a refused Hello is the reason why connect fails', async () => {
  const env = new FakeEnvironment();
  env.onOpen = connection => {
    connection.open();
    connection.send('PROBLEM', { code: 'UNAUTHENTICATED', message: 'no token' });
    connection.end(4500, 'no token');
  };
  await assert.rejects(client({}, env).start(), thrown => codes('REFUSED')(thrown) && thrown.busCode === 'UNAUTHENTICATED' && thrown.message === 'no token');
});

test('a signal aborts the first connection', async () => {
  const env = new FakeEnvironment();
  env.onOpen = () => {};
  const control = new AbortController();
  const bus = client({}, env);
  const failed = assert.rejects(bus.start(control.signal), { message: 'enough' });
  control.abort(new Error('enough'));
  await failed;
  assert.equal(bus.state, 'CLOSED');
  assert.equal(env.timers.size, 0);
});

test('an unanswered Subscribe is reported, and the client reconnects', async () => {
  const { client, env, of, bus } = await connected();
  client.subscribe('a', {}, () => {});
  await env.advance(11_000);
  assert.equal(of('problem').length, 1);
  assert.equal(bus.closed.code, 1006);
  await env.advance(1000);
  assert.equal(env.connections.length, 2);
});

test('a frame before Welcome is refused', async () => {
  const env = new FakeEnvironment();
  env.onOpen = connection => {
    connection.open();
    connection.send('BARRIER', { id: 1 });
  };
  const failed = assert.rejects(client({}, env).start(), codes('REFUSED'));
  await env.advance(1000);
  await failed;
});
