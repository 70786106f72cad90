import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connected, FakeEnvironment, settle } from './support/fakes.js';
import { CountingTarget } from './support/page.js';

async function inPage(options = {}) {
  const env = new FakeEnvironment();
  const document = new CountingTarget('visible');
  const window = new CountingTarget();
  env.page = { document, window };
  return { ...await connected(options, env), document, window };
}

const echoes = connection => connection.of('ECHO').length;

test('an Echo is sent after half of the timeout, and the connection given up after the other half', async () => {
  const { env, bus, of } = await connected({ silenceTimeout: 40_000 });
  await env.advance(19_999);
  assert.equal(echoes(bus), 0);
  await env.advance(1);
  assert.equal(echoes(bus), 1);
  await env.advance(19_999);
  assert.equal(bus.closed, null);
  await env.advance(1);
  assert.deepEqual(of('disconnected').map(e => [e.code, e.reason]), [[1006, 'nothing heard for 40000 ms']]);
});

test('any answer is a sign of life, also a refused Echo', async () => {
  const { env, bus, told } = await connected();
  for (let i = 0; i < 5; i++) {
    await env.advance(20_000);
    bus.send('PROBLEM', { code: 'UNKNOWN_TYPE', typeCode: 33 });
  }
  assert.equal(bus.closed, null);
  assert.equal(echoes(bus), 5);
  assert.deepEqual(told.map(e => e.type), ['connected']);
});

test('after a sleep the bus is probed first, and has 5 s', async () => {
  const { env, bus } = await connected();
  await env.sleep(3_600_000);
  assert.equal(echoes(bus), 1);
  assert.equal(bus.closed, null);
  await env.advance(4_999);
  assert.equal(bus.closed, null);
  await env.advance(1);
  assert.equal(bus.closed.code, 1006);
});

test('after a sleep while an answer is awaited the bus is probed again', async () => {
  const { env, bus } = await connected();
  await env.advance(20_000);
  assert.equal(echoes(bus), 1);
  await env.sleep(3_600_000);
  assert.equal(echoes(bus), 2);
  assert.equal(bus.closed, null);
  await env.advance(5000);
  assert.equal(bus.closed.code, 1006);
});

test('late timers do not keep a dead connection', async () => {
  const { env, bus } = await connected();
  for (let i = 0; i < 2; i++) {
    assert.equal(bus.closed, null);
    await env.sleep(60_000);
  }
  assert.equal(bus.closed?.code, 1006);
});

test('a page that is seen again probes a connection silent for 5 s, and gives it up after 3 s', async () => {
  const { env, bus, document } = await inPage();
  await env.advance(4000);
  document.tell('visibilitychange');
  assert.equal(echoes(bus), 0);
  await env.advance(2000);
  document.tell('visibilitychange');
  assert.equal(echoes(bus), 1);
  await env.advance(2999);
  assert.equal(bus.closed, null);
  await env.advance(1);
  assert.equal(bus.closed.code, 1006);
});

test('a page that waits for the next try tries at once when it is seen, or has a network', async () => {
  for (const wake of [({ document }) => document.tell('visibilitychange'), ({ document }) => document.tell('resume'),
    ({ window }) => window.tell('online'), ({ window }) => window.tell('pageshow', { persisted: true })]) {
    const page = await inPage();
    page.env.onOpen = connection => connection.end();
    page.bus.end();
    await page.env.advance(60_000);
    const before = page.env.connections.length;
    page.env.onOpen = connection => connection.welcome();
    wake(page);
    await settle();
    assert.equal(page.env.connections.length, before + 1);
    assert.equal(page.client.state, 'CONNECTED');
  }
});

test('offline keeps the connection, but new tries wait for online, or 30 s', async () => {
  const { env, bus, window, client } = await inPage();
  window.tell('offline');
  await settle();
  assert.equal(client.state, 'CONNECTED');
  bus.end();
  await env.advance(29_999);
  assert.equal(env.connections.length, 1);
  await env.advance(1);
  assert.equal(client.state, 'CONNECTED');
});

test('hiddenFor: the connection is closed, and opened again when the page is seen', async () => {
  const { env, bus, document, client, window } = await inPage({ hiddenFor: 10_000 });
  const published = client.publish('a', 'x');
  document.visibilityState = 'hidden';
  document.tell('visibilitychange');
  await env.advance(10_000);
  assert.deepEqual(bus.closed, { code: 1000, reason: 'the page is hidden' });
  assert.equal(client.state, 'RECONNECTING');
  await env.advance(600_000);
  window.tell('online');
  await settle();
  assert.equal(env.connections.length, 1);
  document.visibilityState = 'visible';
  document.tell('visibilitychange');
  await settle();
  assert.equal(client.state, 'CONNECTED');
  assert.equal(env.bus.of('PUBLISH').length, 1);
  env.bus.confirmAll();
  await assert.rejects(published, { code: 'TIMED_OUT' });
});

test('buffered events are sent when the page is hidden or left', async () => {
  const { bus, client, window, document } = await inPage();
  client.send('a', '1');
  window.tell('pagehide');
  assert.equal(bus.of('PUBLISH').length, 1);
  client.send('a', '2');
  document.visibilityState = 'hidden';
  document.tell('visibilitychange');
  assert.equal(bus.of('PUBLISH').length, 2);
});

test('a close by the application is final, whatever happens to the page', async () => {
  const { env, document, window, client } = await inPage({ closeTimeout: 0 });
  await Promise.all([client.close(), env.advance(1)]);
  document.tell('visibilitychange');
  window.tell('online');
  await env.advance(100_000);
  assert.equal(env.connections.length, 1);
});

/** Environment whose timers fire up to a millisecond early, as Node's do. */
class EarlyTimers extends FakeEnvironment {
  exact = this.setTimeout;
  setTimeout = (task, delay) => this.exact(task, Math.max(1, delay) - 0.4);
}

test('timers that come 0.4 ms early change nothing: a dead connection is given up within silenceTimeout', async () => {
  for (const silenceTimeout of [16_000, 40_000]) {
    for (const heardAfter of [0, 1, 0.3, 7_000, 7_999.9]) {
      const env = new EarlyTimers();
      const { bus, of } = await connected({ silenceTimeout }, env);
      await env.advance(heardAfter);
      bus.send('PROBLEM', { code: 'UNKNOWN_TYPE', typeCode: 33 });
      const heardAt = env.now();
      await env.advance(silenceTimeout - 20);
      assert.equal(bus.closed, null, `${heardAfter}: too early (expected: ${silenceTimeout})`);
      let endedAt = null;
      while (endedAt === null && env.now() < heardAt + silenceTimeout + 50) {
        await env.advance(0.5);
        endedAt = bus.closed ? env.now() : null;
      }
      assert.ok(Math.abs(endedAt - heardAt - silenceTimeout) <= 3, `${heardAfter}: after ${endedAt - heardAt} ms (expected: ${silenceTimeout})`);
      assert.equal(of('disconnected')[0].reason, `nothing heard for ${silenceTimeout} ms`);
    }
  }
});
