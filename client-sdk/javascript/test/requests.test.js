import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CallError } from '../src/services.js';
import { LIMITS } from './support/bus-frames.js';
import { connected, settle } from './support/fakes.js';

/** Returns the outcome of a promise. */
const outcome = promise => promise.then(value => ({ value }), error => ({ error }));

/** Returns a request that was sent to the bus. */
async function asked(options = {}, clientOptions = {}) {
  const all = await connected(clientOptions);
  const answer = outcome(all.client.request('orders', { order: 7 }, options));
  await settle();
  return { ...all, answer, request: all.bus.of('REQUEST')[0] };
}

test('a request and its answer', async () => {
  const { client, bus, answer, request } = await asked({
    method: 'total', timeout: 2000, waitFor: 5000, priority: 'HIGH', member: -5n, key: 'k', headers: { a: 'b' }, schema: 3n, publishedAt: 7,
  });
  assert.deepEqual(request, {
    frame: 'REQUEST', call: 1, service: 'orders', method: 'total', kind: 0, scope: 0, priority: 'HIGH', timeoutMillis: 2000, waitMillis: 2000, idempotent: false,
    attempt: 0, member: -5n, schema: 3n, event: { publishedAt: 7, key: 'k', headers: { a: 'b' }, payload: '{"order":7}' }, limit: 0,
  });
  bus.send('REPLY', { call: 2, event: { payload: 'of nobody' } });
  bus.send('REPLY', { call: 1, schema: 4n, event: { payload: '{"total":42}', key: 'x', headers: { c: 'd' }, publishedAt: 8 } });
  const { value } = await answer;
  assert.deepEqual(value.json(), { total: 42 });
  assert.deepEqual([value.text(), value.key, value.headers.c, value.publishedAt, value.schema, value.member, value.queued, value.handled], ['{"total":42}', 'x', 'd', 8, 4n, 12n, 0.5, 1.5]);
  const next = client.request('orders', 'again');
  await settle();
  assert.equal(bus.of('REQUEST')[1].call, 2);
  assert.equal(bus.of('REQUEST')[1].timeoutMillis, 30_000);
  bus.send('REPLY', { call: 2 });
  assert.equal((await next).text(), '');
});

test('requests of one turn are sent as one message', async () => {
  const { client, bus } = await connected();
  const all = [1, 2, 3].map(i => outcome(client.request('orders', String(i))));
  await settle();
  assert.deepEqual(bus.messages.at(-1).map(f => f.event.payload), ['1', '2', '3']);
  [3, 1, 2].forEach(call => bus.send('REPLY', { call, event: { payload: `to ${call}` } }));
  assert.deepEqual((await Promise.all(all)).map(one => one.value.text()), ['to 1', 'to 2', 'to 3']);
});

test('a failure says whether the request was executed', async () => {
  for (const [failure, idempotent, expected] of [
    [{ code: 'NO_MEMBER', executed: 'NO' }, false, ['NO_MEMBER', 'NO', true]],
    [{ code: 'MEMBER_LOST', executed: 'UNKNOWN' }, false, ['MEMBER_LOST', 'UNKNOWN', false]],
    [{ code: 'MEMBER_LOST', executed: 'UNKNOWN' }, true, ['MEMBER_LOST', 'UNKNOWN', true]],
    [{ code: 'FAILED', executed: 'YES' }, true, ['FAILED', 'YES', false]],
    [{ code: 'FORBIDDEN', executed: 'NO' }, false, ['FORBIDDEN', 'NO', false]],
  ]) {
    const { bus, answer } = await asked({ idempotent, retry: false });
    bus.send('FAILURE', { call: 1, retryAfterMillis: 70, member: 12n, type: 'NoSuchOrder', details: '7', ...failure });
    const { error } = await answer;
    assert.ok(error instanceof CallError);
    assert.deepEqual([error.code, error.executed, error.retryable], expected);
    const message = ['NO_MEMBER', 'MEMBER_LOST'].includes(failure.code) ? 'orders: why' : 'why';
    assert.deepEqual([error.message, error.retryAfter, error.member, error.type, Buffer.from(error.details).toString()], [message, 70, 12n, 'NoSuchOrder', '7']);
  }
});

test('the bus has a moment longer than the timeout to answer', async () => {
  const { env, bus, answer } = await asked({ timeout: 100 });
  await env.advance(149);
  bus.send('FAILURE', { call: 1, code: 'TIMEOUT', executed: 'NO' });
  assert.deepEqual([(await answer).error.code, (await answer).error.executed], ['TIMEOUT', 'NO']);
  const silent = await asked({ timeout: 100 });
  await silent.env.advance(150);
  assert.deepEqual([(await silent.answer).error.code, (await silent.answer).error.executed], ['TIMEOUT', 'UNKNOWN']);
});

test('without a connection a request waits, and is never sent after its timeout', async () => {
  const { client, env, bus } = await connected();
  bus.end();
  const late = outcome(client.request('orders', 'late', { timeout: 50 }));
  const inTime = outcome(client.request('orders', 'in time', { timeout: 1000 }));
  await env.advance(200);
  assert.deepEqual([(await late).error.code, (await late).error.executed], ['TIMEOUT', 'NO']);
  const [request, ...others] = env.bus.of('REQUEST');
  assert.deepEqual(others, []);
  assert.equal(request.event.payload, 'in time');
  assert.ok(request.timeoutMillis < 1000);
  env.bus.send('REPLY', { call: request.call });
  await inTime;
});

test('a timed-out request is not sent, even while timers are late', async () => {
  const { client, env, bus } = await connected();
  bus.bufferedAmount = 2 ** 20;
  const late = outcome(client.request('orders', '', { timeout: 50 }));
  await settle();
  bus.bufferedAmount = 0;
  env.time += 51;
  client.send('a.b', 'event');
  await settle();
  assert.deepEqual([bus.of('PUBLISH').length, bus.of('REQUEST').length], [1, 0]);
  await env.advance(0);
  assert.deepEqual([(await late).error.code, (await late).error.executed], ['TIMEOUT', 'NO']);
});

test('requests that wait are bounded in bytes', async () => {
  const { client, bus, env } = await connected({ callBytes: 2048 });
  bus.end();
  const first = outcome(client.request('orders', 'x'.repeat(1000), { retry: false }));
  const second = (await outcome(client.request('orders', 'x'.repeat(1000)))).error;
  assert.deepEqual([second.code, second.executed, second.retryable], ['OVERLOADED', 'NO', true]);
  await env.advance(100);
  // Sent, and not to be sent again: there is room.
  const third = outcome(client.request('orders', 'x'.repeat(1000)));
  await settle();
  env.bus.of('REQUEST').forEach(({ call }) => env.bus.send('REPLY', { call }));
  assert.ok((await first).value && (await third).value);
});

test('a possibly executed request is not sent again, unless it is idempotent', async () => {
  const { client, env, bus } = await connected();
  const once = outcome(client.request('orders', 'once'));
  const often = outcome(client.request('orders', 'often', { idempotent: true }));
  await settle();
  bus.end();
  const { error } = await once;
  assert.deepEqual([error.code, error.executed, error.retryable], ['BUS_LOST', 'UNKNOWN', false]);
  await env.advance(100);
  assert.deepEqual(env.bus.of('REQUEST').map(f => [f.call, f.attempt, f.event.payload]), [[2, 1, 'often']]);
  bus.send('REPLY', { call: 2, event: { payload: 'too late' } });
  env.bus.send('FAILURE', { call: 2, code: 'NO_MEMBER', executed: 'NO' });
  await env.advance(50);
  assert.equal(env.bus.of('REQUEST')[1].attempt, 2);
  env.bus.send('FAILURE', { call: 2, code: 'FORBIDDEN', executed: 'NO' });
  assert.equal((await often).error.executed, 'UNKNOWN', 'the try before may have been');
});

test('a failed request is tried again after a pause, as long as there is time', async () => {
  const { env, bus, answer } = await asked({ retry: { attempts: 3, jitter: 0 }, timeout: 1000 });
  bus.send('FAILURE', { call: 1, code: 'OVERLOADED', executed: 'NO', retryAfterMillis: 80 });
  await env.advance(129);
  assert.equal(bus.of('REQUEST').length, 1, 'the pause of the policy comes after the time that the refusal names');
  await env.advance(1);
  assert.equal(bus.of('REQUEST').length, 2);
  bus.send('FAILURE', { call: 1, code: 'OVERLOADED', executed: 'NO' });
  await env.advance(100);
  assert.deepEqual(bus.of('REQUEST').map(f => [f.call, f.attempt, f.timeoutMillis]), [[1, 0, 1000], [1, 1, 870], [1, 2, 770]]);
  bus.send('FAILURE', { call: 1, code: 'OVERLOADED', executed: 'NO' });
  assert.equal((await answer).error.code, 'OVERLOADED');
  const short = await asked({ retry: {}, timeout: 60 });
  short.bus.send('FAILURE', { call: 1, code: 'OVERLOADED', executed: 'NO', retryAfterMillis: 2 ** 52 });
  assert.equal((await short.answer).error.code, 'OVERLOADED');
});

test('requests refused together are not sent again together', async () => {
  const { client, env, bus } = await asked({ timeout: 5000 });
  const randoms = [0.25, 0.75];
  env.random = () => randoms.shift() ?? 0;
  client.request('orders', 'x', { timeout: 5000 }).catch(() => {});
  await settle();
  for (const call of [1, 2]) {
    bus.send('FAILURE', { call, code: 'OVERLOADED', executed: 'NO', retryAfterMillis: 1000 });
  }
  const sent = [];
  for (let after = 1000; after < 1060; after++) {
    await env.advance(after === 1000 ? 1000 : 1);
    for (const { call, attempt } of bus.of('REQUEST').slice(2 + sent.length)) {
      sent.push([call, attempt, after]);
    }
  }
  assert.deepEqual(sent, [[2, 1, 1032], [1, 1, 1044]]);
});

test('a refused request that was not executed is sent again by default, as long as there is time', async () => {
  const { env, bus, answer } = await asked({ timeout: 5000 });
  for (let i = 1; i <= 10; i++) {
    bus.send('FAILURE', { call: 1, code: 'OVERLOADED', executed: 'NO', retryAfterMillis: 110 });
    await env.advance(110 + Math.min(2000, 50 * 2 ** (i - 1)));
    if (i === 3) {
      assert.deepEqual(bus.of('REQUEST').map(f => f.attempt), [0, 1, 2, 3]);
    }
  }
  assert.deepEqual([(await answer).error.code, (await answer).error.executed], ['OVERLOADED', 'NO'], 'no pause fits into its time');
  for (const [failure, options, times] of [
    [{ executed: 'NO', retryAfterMillis: 0 }, {}, 1], [{ executed: 'UNKNOWN', retryAfterMillis: 10 }, {}, 1], [{ executed: 'NO', retryAfterMillis: 10 }, { retry: false }, 1],
    [{ executed: 'NO', retryAfterMillis: 10 }, { retry: { attempts: 2 } }, 2], [{ executed: 'NO', retryAfterMillis: 10 }, { idempotent: true, timeout: 60_000 }, 6],
  ]) {
    const { env, bus, answer } = await asked(options);
    for (let i = 0; i < 5; i++) {
      bus.send('FAILURE', { call: 1, code: 'OVERLOADED', ...failure });
      await env.advance(3000);
    }
    assert.equal(bus.of('REQUEST').length, times);
    bus.send('REPLY', { call: 1 });
    assert.equal((await answer).error?.code, times === 6 ? undefined : 'OVERLOADED');
  }
});

test('an aborted signal cancels the request', async () => {
  const control = new AbortController();
  const { client, bus, env, answer } = await asked({ signal: control.signal });
  control.abort(new Error('enough'));
  assert.equal((await answer).error.message, 'enough');
  await settle();
  assert.deepEqual(bus.of('CANCEL').map(f => f.call), [1]);
  bus.send('REPLY', { call: 1 });
  const late = new AbortController();
  const answered = client.request('orders', '', { signal: late.signal });
  await settle();
  bus.send('REPLY', { call: 2 });
  await answered;
  late.abort();
  await settle();
  assert.equal(bus.of('CANCEL').length, 1);
  const second = new AbortController();
  bus.end();
  const unsent = outcome(client.request('orders', '', { signal: second.signal }));
  await settle();
  second.abort();
  assert.equal((await unsent).error.name, 'AbortError');
  await env.advance(100);
  assert.deepEqual([env.bus.of('REQUEST'), env.bus.of('CANCEL')], [[], []]);
  assert.equal((await outcome(client.request('orders', '', { signal: second.signal }))).error.name, 'AbortError');
});

test('wrong arguments of a request are refused', async () => {
  const { client } = await connected({}, undefined, { limits: { ...LIMITS, payloadBytes: 10 } });
  const fails = async (...args) => (await outcome(client.request(...args))).error;
  for (const [args, code] of [[['a..b', ''], 'ILLEGAL_TOPIC'], [['a.*', ''], 'ILLEGAL_TOPIC'], [[`${'x'.repeat(241)}`, ''], 'ILLEGAL_TOPIC'], [['a', 'x'.repeat(11)], 'TOO_BIG'], [['a', () => {}], 'UNREADABLE_PAYLOAD']]) {
    const error = await fails(...args);
    assert.deepEqual([error.code, error.executed, error.retryable], [code, 'NO', false]);
  }
  for (const [args, message] of [
    [['a', '', { timeout: 0 }], 'timeout: 0 (expected: 1..600000 ms)'], [['a', '', { priority: 'URGENT' }], 'priority: unknown (expected: NORMAL, HIGH, LOW)'],
    [['a', '', { member: 5 }], 'member: number (expected: the bigint of an earlier Response)'], [['a', '', { idempotent: 1 }], 'idempotent: number (expected: a boolean)'],
    [['a', '', { method: 'x'.repeat(256) }], 'method: longer (expected: text of at most 255 bytes)'],
    [['a', '', { retry: { atempts: 1 } }], 'retry.atempts: unknown option (expected: attempts, initialDelay, jitter, maxDelay, multiplier)'],
    [[5, ''], 'service: number (expected: a string)'],
  ]) {
    assert.equal((await fails(...args)).message, message);
  }
});

test('requests fail at a bus without services, and at one with smaller limits', async () => {
  const { client, env, bus } = await connected({}, undefined, { calls: 0, services: 0 });
  const { error } = await outcome(client.request('orders', ''));
  assert.deepEqual([error.code, error.executed, error.message], ['UNSUPPORTED', 'NO', 'the bus bus-1 has no services: the request to orders is not sent']);
  const service = client.serve('orders', () => '');
  await settle();
  bus.send('PROBLEM', { code: 'UNKNOWN_TYPE', typeCode: 20 });
  await assert.rejects(service.ready, { code: 'REFUSED', busCode: 'UNKNOWN_TYPE' });
  assert.equal(await service.close(), true);
  bus.end();
  const large = outcome(client.request('orders', 'x'.repeat(9000)));
  env.onOpen = connection => connection.welcome({ limits: { ...LIMITS, messageBytes: 8192 } });
  await env.advance(100);
  assert.deepEqual([(await large).error.code, (await large).error.executed], ['TOO_BIG', 'NO']);
});

test('requests alternate with events, and wait while the network is behind', async () => {
  const { client, env, bus } = await connected();
  bus.bufferedAmount = 2 ** 20;
  const first = outcome(client.request('orders', 'x'));
  await settle();
  assert.equal(bus.of('REQUEST').length, 0);
  bus.bufferedAmount = 0;
  await env.advance(10);
  bus.send('REPLY', { call: 1 });
  await first;
  bus.bufferedAmount = 2 ** 20;
  const answer = outcome(client.request('orders', 'x'));
  client.send('a.b', 'event');
  await settle();
  assert.equal(bus.of('REQUEST').length, 1);
  bus.bufferedAmount = 0;
  await env.advance(10);
  assert.deepEqual(bus.messages.slice(-2).map(frames => frames.map(f => f.frame)), [['REQUEST'], ['PUBLISH']]);
  bus.send('REPLY', { call: 2 });
  await answer;
});

test('close waits for the answers to requests', async () => {
  const { client, bus, env, answer } = await asked();
  const closing = client.close();
  await settle();
  assert.equal((await outcome(client.request('orders', ''))).error.code, 'CLOSED');
  assert.equal(bus.closed, null);
  bus.send('REPLY', { call: 1 });
  assert.ok((await answer).value);
  assert.equal(await closing, true);
  assert.equal(env.timers.size, 0);
  const other = await asked();
  const given = other.client.close({ timeout: 10 });
  await other.env.advance(10);
  assert.equal(await given, false);
  assert.deepEqual([(await other.answer).error.code, (await other.answer).error.executed], ['CANCELLED', 'UNKNOWN']);
  assert.equal(other.env.timers.size, 0);
});
