// The SDK in a page of Chromium, served as plain modules.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launch, serveFiles, skip } from '../support/chromium.js';
import { connect, startBus } from '../support/live.js';

let bus;
let server;
let browser;
let page;

before(async () => {
  if (skip) {
    return;
  }
  server = await serveFiles({
    headers: () => ({
      'Content-Security-Policy': `default-src 'none'; script-src 'self'; connect-src ${bus.url.replace('/bus', '')} ${bus.url.replace('ws', 'http').replace('/bus', '')}`,
    }),
  });
  bus = await startBus(['--port', '0', '--set', 'admin.enabled=false', '--set', `listen.allowed-origins=${server.origin}`]);
  browser = await launch();
  page = await browser.newPage();
  page.on('console', message => console.error('page:', message.text()));
  await page.addInitScript(() => {
    // Lets a test end a connection as the back/forward cache does.
    const Base = WebSocket;
    globalThis.WebSocket = class extends Base {
      constructor(...args) {
        super(...args);
        globalThis.lose = () => this.close(3000);
      }
    };
  });
  await page.goto(server.origin);
});
after(async () => {
  await browser?.close();
  await bus?.stop();
  server?.close();
});

test('a page publishes, subscribes, is limited by credit, and closes', { skip }, async t => {
  const publisher = await connect(bus.url);
  // Also where the test fails: an open client keeps the process.
  t.after(() => publisher.close());
  await page.evaluate(async url => {
    const { connect } = await import('/src/index.js');
    const client = await connect({ url, name: 'page', connectTimeout: 60_000, receiveBytes: 100_000 });
    globalThis.client = client;
    globalThis.got = [];
    globalThis.waits = new Promise(resolve => { globalThis.go = resolve; });
    globalThis.gap = new Promise(resolve => client.on('gap', resolve));
    await client.subscribe('page.>', {}, event => { globalThis.got.push([event.sequence, event.text()]); }).ready;
    await client.subscribe('slow', { overflow: 'DROP_OLDEST' }, () => globalThis.waits).ready;
  }, bus.url);
  assert.deepEqual(await page.evaluate(() => client.publish('page.x', 'from the page').then(({ topic, sequence }) => ({ topic, sequence }))), { topic: 'page.x', sequence: 1 });
  await publisher.publish('page.y', 'grüße');
  assert.deepEqual(await page.evaluate(async () => {
    while (globalThis.got.length < 2) {
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    return globalThis.got;
  }), [[1, 'from the page'], [1, 'grüße']]);
  // A stalled handler: the bus drops, the page holds no more than its window.
  const payload = new Uint8Array(10_000);
  for (let i = 0; i < 2000; i++) {
    while (!publisher.send('slow', payload)) {
      await publisher.room();
    }
  }
  await publisher.flush();
  const { held, missing } = await page.evaluate(async () => {
    await client.flush();
    const held = client.counters().unhandledBytes;
    globalThis.go();
    await globalThis.gap;
    return { held, missing: client.counters().missing };
  });
  assert.ok(held >= 100_000 && held < 250_000, `${held}`);
  assert.ok(missing > 0);
  assert.equal(await page.evaluate(() => client.close()), true);
});

test('a page restored from the cache, or hidden and seen, is connected', { skip }, async () => {
  const states = await page.evaluate(async url => {
    const { connect } = await import('/src/index.js');
    const client = await connect({ url, connectTimeout: 60_000, reconnect: { initialDelay: 60_000, maxDelay: 60_000 } });
    const states = [];
    client.on('state', ({ state }) => states.push(state));
    const again = () => new Promise(resolve => client.on('connected', resolve));
    // Closes the socket as the back/forward cache does.
    const lost = new Promise(resolve => client.on('disconnected', resolve));
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => globalThis.visibility });
    globalThis.visibility = 'hidden';
    document.dispatchEvent(new Event('visibilitychange'));
    globalThis.lose();
    await lost;
    const connected = again();
    globalThis.visibility = 'visible';
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    await connected;
    await client.close();
    return states;
  }, bus.url).catch(error => error);
  assert.ok(Array.isArray(states), String(states));
  assert.deepEqual(states, ['RECONNECTING', 'CONNECTED', 'DRAINING', 'CLOSED']);
});

test('a page that may not connect learns the reason', { skip }, async () => {
  const refused = url => page.evaluate(async to => {
    const { connect } = await import('/src/index.js');
    return connect({ url: to, connectTimeout: 5000 }).then(() => 'connected', error => `${error.code} ${error.message}`);
  }, url);
  assert.match(await refused(bus.url.replace('/bus', '/other')), /^NOT_CONNECTED the connection to ws:.*other ended with 1006/);
  assert.match(await refused('ws://not-in-the-policy.test/bus'), /^NOT_CONNECTED .* ended with 1006/);
});
