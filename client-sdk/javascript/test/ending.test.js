import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventBus } from '../src/client.js';
import { settings } from '../src/options.js';
import { connected, FakeEnvironment, settle } from './support/fakes.js';

const client = (options, env) => new EventBus(settings({ url: 'ws://bus-1.test/bus', ...options }, false), env);
const refused = (status, text = '', retryAfter = 0, isByBus = false) => connection => connection.end(1006, '', { status, text, retryAfter, isByBus });
const NOTHING_HERE = 'There is nothing here. The bus is at /bus.';
const FOREIGN = "Origin: a page of another site may not use this bus (expected: the bus's own, or one in listen.allowed-origins).";

test('no HTTP status of a proxy ends a client that was connected', async () => {
  for (const [status, text] of [[400, 'Sec-WebSocket-Protocol: none'], [401, ''], [403, FOREIGN], [404, NOTHING_HERE], [407, ''], [408, ''], [418, ''], [425, ''], [429, ''], [500, ''], [502, ''], [504, NOTHING_HERE]]) {
    const { client, env, bus } = await connected();
    env.onOpen = refused(status, text);
    bus.end();
    await env.advance(60_000);
    assert.equal(client.state, 'RECONNECTING', String(status));
    env.onOpen = connection => connection.welcome();
    await env.advance(10_000);
    assert.equal(client.state, 'CONNECTED', String(status));
  }
});

test('an HTTP refusal by the bus itself is final, and reported with its status', async () => {
  for (const [status, text] of [[404, 'no'], [403, 'no'], [405, 'no'], [426, 'no'], [400, 'no']]) {
    const { client, env, bus, of } = await connected();
    env.onOpen = refused(status, text, 0, true);
    bus.end();
    await env.advance(100);
    assert.equal(client.state, 'CLOSED', String(status));
    const { reason, willReconnect } = of('disconnected').at(-1);
    assert.deepEqual({ reason, willReconnect }, { reason: `ws://bus-1.test/bus answered ${status}: ${text}`, willReconnect: false });
  }
});

test('Retry-After of any status is honoured', async () => {
  const { env, bus, of } = await connected();
  env.onOpen = refused(429, 'slow down', 7000);
  bus.end();
  await env.advance(100);
  assert.equal(of('reconnecting').at(-1).delay, 7000);
});

test('408, 425 and 429 do not end a first connection either', async () => {
  for (const status of [408, 425, 429]) {
    const env = new FakeEnvironment();
    env.onOpen = connection => env.connections.length === 1 ? refused(status, '', 2000)(connection) : connection.welcome();
    const started = client({}, env).start();
    await env.advance(2000);
    await started;
  }
});

test('a client that ends by itself resolves closed with the reason, and without a listener reports it', async () => {
  const { client: bus, env, bus: connection } = await connected();
  connection.end(4503, 'another connection has the same resume');
  assert.deepEqual(env.reported, [], 'there is a listener');
  const why = await bus.closed;
  assert.deepEqual([why.code, why.busCode], ['REFUSED', 'REPLACED']);

  for (const listen of [() => {}, one => one.on('problem', () => {}), one => void one.closed, one => one.on('disconnected', () => {})]) {
    const env = new FakeEnvironment();
    env.onOpen = connection => connection.welcome();
    const quiet = client({}, env);
    await quiet.start();
    const isHeard = listen.toString().includes('closed') || listen.toString().includes('disconnected');
    listen(quiet);
    env.bus.end(4503, 'another connection has the same resume');
    assert.deepEqual(env.reported.map(error => error.message), isHeard ? [] : [
      'the client js-client has ended: ws://bus-1.test/bus closed with 4503: another connection has the same resume']);
  }
  assert.equal(env.reported.length, 0);
});

test('a closed client reports nothing and resolves closed with null; a failed first connection only rejects', async () => {
  const { client: bus, env } = await connected({ closeTimeout: 0 });
  const [, why] = await Promise.all([bus.close(), bus.closed, env.advance(1)]);
  assert.equal(why, null);
  const other = new FakeEnvironment();
  other.onOpen = refused(404, NOTHING_HERE);
  await assert.rejects(client({}, other).start(), { code: 'NOT_CONNECTED', retryable: false });
  assert.deepEqual([...env.reported, ...other.reported], []);
});

test('with reconnect.retryFirst the first connection is retried until connectTimeout, whatever answers', async () => {
  const env = new FakeEnvironment();
  const answers = [refused(404, 'no backend'), refused(502), connection => connection.end(1006, 'connection refused')];
  env.onOpen = connection => env.connections.length <= 20 ? answers[env.connections.length % 3](connection) : connection.welcome();
  const bus = client({ connectTimeout: 600_000, reconnect: { retryFirst: true } }, env);
  const started = bus.start();
  while (env.connections.length < 21) {
    await env.advance(1000);
  }
  await started;
  for (const [options, connections, last] of [
    // A delay beyond the end is cut to half of the rest, and leaves the other half for a try, and so on.
    [{ connectTimeout: 20_000, reconnect: { retryFirst: true, jitter: 0 } }, 15, 19_800],
    [{ connectTimeout: 600_000, reconnect: { retryFirst: true, maxAttempts: 4 } }, 4, 0],
  ]) {
    const env = new FakeEnvironment();
    const begun = env.now();
    let lastAt = 0;
    env.onOpen = connection => {
      lastAt = env.now() - begun;
      connection.end(1006, 'connection refused');
    };
    const failed = assert.rejects(client(options, env).start(), { code: 'NOT_CONNECTED' });
    await env.advance(600_000);
    await failed;
    assert.equal(env.connections.length, connections);
    assert.ok(lastAt >= last && lastAt < options.connectTimeout, `the last try was after ${lastAt} ms`);
    assert.equal(env.timers.size, 0);
  }
  const later = new FakeEnvironment();
  later.onOpen = refused(503, 'starting', 30_000);
  await assert.rejects(client({ connectTimeout: 20_000, reconnect: { retryFirst: true } }, later).start(), { code: 'NOT_CONNECTED' });
  assert.equal(later.connections.length, 1);
  const final = new FakeEnvironment();
  final.onOpen = refused(404, NOTHING_HERE, 0, true);
  await assert.rejects(client({ reconnect: { retryFirst: true } }, final).start(), { code: 'NOT_CONNECTED' });
});

test('an untrusted certificate, and 403 and 404 in a page, are not retryable', async () => {
  const env = new FakeEnvironment();
  env.onOpen = refused(0, 'self-signed certificate');
  const failed = assert.rejects(client({}, env).start(), { code: 'NOT_CONNECTED', retryable: false, message: 'ws://bus-1.test/bus: self-signed certificate' });
  await env.advance(1000);
  await failed;
  assert.equal(env.connections.length, 3);
  for (const [told, retryable] of [['403: Origin: no', false], ['404: nothing here', false], ['429: later', true], ['503: full', true], ['a bus answers there in plain HTTP', true]]) {
    const page = new FakeEnvironment();
    page.onOpen = connection => connection.end();
    page.explain = async () => told;
    const failed = assert.rejects(client({}, page).start(), { code: 'NOT_CONNECTED', retryable });
    await page.advance(1000);
    await failed;
  }
});

test('a connection shortens the next delay by its life', async () => {
  const { env, of } = await connected({ reconnect: { maxDelay: 10_000 } });
  const lose = async () => {
    env.onOpen = connection => connection.end();
    env.bus.end();
    while (of('reconnecting').at(-1).delay < 10_000) {
      await env.advance(of('reconnecting').at(-1).delay);
    }
    env.onOpen = connection => connection.welcome();
    await env.advance(10_000);
  };
  await lose();
  await env.advance(2500);
  env.onOpen = connection => connection.end();
  env.bus.end();
  assert.equal(of('reconnecting').at(-1).delay, 1600, 'half of the tries are forgotten');
  env.onOpen = connection => connection.welcome();
  await env.advance(1600);
  env.bus.end();
  assert.equal(of('reconnecting').at(-1).delay, 3200, 'a bus that ends it at once is not overrun');
});

test('reconnect() tries at once', async () => {
  const { client: bus, env, bus: connection } = await connected();
  env.onOpen = connection => connection.end();
  connection.end();
  await env.advance(60_000);
  const before = env.connections.length;
  env.onOpen = connection => connection.welcome();
  bus.reconnect();
  await settle();
  assert.equal(env.connections.length, before + 1);
  assert.equal(bus.state, 'CONNECTED');
  bus.reconnect();
  await settle();
  assert.equal(bus.state, 'CONNECTED', 'a connection that is there stays');
  await Promise.all([bus.close({ timeout: 0 }), env.advance(1)]);
  assert.throws(() => bus.reconnect(), { code: 'CLOSED' });
});

test('an address is text or a URL, alone, in a list, or an option', () => {
  const url = 'ws://localhost:8080/bus';
  for (const given of [url, new URL(url), { url: new URL(url) }]) {
    assert.deepEqual(settings(given, false).urls, [url]);
  }
  for (const given of [[url, new URL(url)], { url: [url, url] }]) {
    assert.deepEqual(settings(given, false).urls, [url, url]);
  }
  assert.throws(() => settings([], false), { message: 'url: none (expected: at least one)' });
  assert.throws(() => settings([5], false), { message: 'url: 5 (expected: ws://host:port/bus or wss://…, without user and fragment)' });
});
