import assert from 'node:assert/strict';
import { test } from 'node:test';

import { settings } from '../src/options.js';

const url = 'ws://localhost:8080/bus';

test('defaults', () => {
  const { urls, name, reconnect, connectTimeout, trackedProducers } = settings(url, false);
  assert.deepEqual({ urls, name, reconnect, connectTimeout, trackedProducers }, {
    urls: [url], name: 'js-client', connectTimeout: 10_000, trackedProducers: 100_000,
    reconnect: { initialDelay: 100, maxDelay: 10_000, multiplier: 2, jitter: 0.5, maxAttempts: Infinity, retryFirst: false },
  });
  assert.equal(settings(url, true).trackedProducers, 10_000);
  assert.equal(settings({ url, reconnect: false }, true).reconnect, null);
});

test('an error names the option, the value, and the expectation', () => {
  for (const [options, message] of [
    [{ url, confirmTimout: 1 }, /^confirmTimout: unknown option \(expected: .*confirmTimeout, /],
    [{ url, connectTimeout: '10s' }, 'connectTimeout: string (expected: 1..86400000 ms)'],
    [{ url, connectTimeout: NaN }, 'connectTimeout: NaN (expected: 1..86400000 ms)'],
    [{ url, confirmTimeout: Infinity }, 'confirmTimeout: Infinity (expected: 1..86400000 ms)'],
    [{ url, receiveBytes: null }, 'receiveBytes: null (expected: 4096..1099511627776 bytes)'],
    [{ url, reconnect: { jitter: 2 } }, 'reconnect.jitter: 2 (expected: 0..1)'],
    [{ url, reconnect: { delay: 2 } }, /^reconnect.delay: unknown option/],
    [{ url, reconnect: true }, 'reconnect: boolean (expected: an object or false)'],
    [{ url: 'http://x/bus' }, /^url: "http:\/\/x\/bus" \(expected: ws:/],
    [{ url: 'ws://u:secret@x/bus' }, 'url: "ws://…@x/bus" (expected: ws://host:port/bus or wss://…, without user and fragment)'],
    [{ url: [] }, 'url: none (expected: at least one)'],
    [{}, /^url: undefined/],
    [{ url, token: 5 }, 'token: number (expected: text, or a function that returns it)'],
    [{ url, user: 5, token: 't' }, 'user: number (expected: text of at most 255 bytes)'],
    [{ url, user: '', token: 't' }, 'user: empty (expected: text of 1 to 255 bytes)'],
    [{ url, user: 'alice' }, 'user: without token (expected: token is the password of the user)'],
    [{ url, name: 'x'.repeat(256) }, 'name: longer (expected: text of at most 255 bytes)'],
    [{ url, attributes: { a: 'x'.repeat(255), b: 'x'.repeat(255), c: 'x'.repeat(255), d: 'x'.repeat(255) } }, 'attributes: 4 of 1024 bytes (expected: at most 64 of 1024 bytes)'],
    [{ url, whenFull: 'drop' }, 'whenFull: unknown (expected: wait or fail)'],
    [null, 'options: null (expected: an address or an object with url)'],
  ]) {
    if (String(message).startsWith('attributes: 4 of 1024')) {
      settings(options, false);
      options.attributes.e = 'x';
      assert.throws(() => settings(options, false), { message: 'attributes: 5 of 1026 bytes (expected: at most 64 of 1024 bytes)' });
    } else {
      assert.throws(() => settings(options, false), { message });
    }
  }
});

test('no error contains a token', async () => {
  assert.throws(() => settings({ url, token: 'secret'.repeat(3000) }, false), error => !error.message.includes('secret'));
  await assert.rejects(settings({ url, token: () => ({ secret: 1 }) }, false).token(), { message: 'token: object (expected: text of at most 16384 bytes)' });
});
