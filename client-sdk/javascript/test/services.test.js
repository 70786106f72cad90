import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Rejection, Reply } from '../src/services.js';
import { LIMITS } from './support/bus-frames.js';
import { connected, settle } from './support/fakes.js';

/** Returns a client that serves `orders`; the test completes its handler. */
async function serving(options = {}, clientOptions = {}) {
  const all = await connected(clientOptions);
  const invocations = [];
  const service = all.client.serve('orders', invocation => new Promise((resolve, reject) => {
    invocations.push({ invocation, resolve, reject });
  }), options);
  await settle();
  all.bus.confirmAll();
  await service.ready;
  let number = 0;
  const invoke = (record = {}, bus = all.bus) => bus.send('INVOKE', { call: BigInt(--number), service: service.id, request: BigInt(-number), ...record });
  return { ...all, service, invocations, invoke };
}

const answers = bus => bus.said.filter(f => f.frame === 'REPLY' || f.frame === 'FAILURE').map(f => [Number(f.call), f.code ?? f.event.payload, f.executed ?? 'reply']);

test('a service is registered and answers a request', async () => {
  const { client, env, bus } = await connected();
  const service = client.serve('orders', async ({ event, method, caller, request, attempt, identity, receivedAt, remaining, service: name }) => {
    assert.deepEqual({ method, caller, request, attempt, identity, receivedAt, remaining, name },
      { method: 'total', caller: 9n, request: 2n ** 63n - 1n, attempt: 2, identity: 'alice', receivedAt: 2, remaining: 900, name: 'orders' });
    assert.deepEqual([event.json(), event.key, event.headers.a], [{ order: 7 }, 'k', 'b']);
    return { total: 42 };
  }, { concurrency: 3, identify: true, version: '2.1', metadata: { zone: 'eu' } });
  await settle();
  assert.deepEqual(bus.of('REGISTER'), [{ frame: 'REGISTER', id: 1, service: 'orders', concurrency: 3, identify: true, version: '2.1', metadata: { zone: 'eu' }, overflow: 'DROP_OLDEST' }]);
  bus.confirmAll();
  assert.equal(await service.ready, service);
  bus.send('INVOKE', {
    call: -(2n ** 63n), service: 1, method: 'total', timeoutMillis: 900, request: 2n ** 63n - 1n, attempt: 2, identity: 'alice', event: { payload: '{"order":7}', key: 'k', headers: { a: 'b' } },
  });
  env.time += 5;
  await settle();
  assert.deepEqual(bus.of('REPLY'), [{
    frame: 'REPLY', call: -(2n ** 63n), member: 0, queuedMicros: 0, handledMicros: 5000, schema: 0n,
    event: { publishedAt: 1_700_000_000_000_000, key: null, headers: {}, payload: '{"total":42}' }, more: false, limit: 0,
  }]);
  assert.deepEqual(service.counters(), { received: 1, answered: 1, failed: 0, expired: 0, cancelled: 0, refused: 0, repeated: 0, running: 0, waiting: 0, waitingBytes: 0 });
});

test('results and errors of handlers are replies and failures', async () => {
  const limits = { ...LIMITS, payloadBytes: 100 };
  const { client, bus, of } = await connected({}, undefined, { limits });
  const say = {
    text: () => 'plain', nothing: () => {}, bytes: () => Uint8Array.of(55), more: () => new Reply('x', { headers: { a: 'b' }, key: 'k', schema: 5n }),
    own: () => ({ then: yes => { yes('thenable'); } }),
    refused: () => { throw new Rejection('REFUSED', 'not now', { retryAfter: 30.2 }); },
    failed: async () => { throw new Rejection('FAILED', 'no order 7', { type: 'NoSuchOrder', details: Uint8Array.of(55) }); },
    unknown: () => { throw new Rejection('UNKNOWN_METHOD', 'no such method'); },
    secret: () => { throw new RangeError('the password is 7'); },
    odd: () => Promise.reject(null),
    huge: () => 'x'.repeat(101),
    unwritable: () => 5n,
  };
  client.serve('orders', ({ method }) => say[method]());
  await settle();
  const told = {};
  for (const method of Object.keys(say)) {
    bus.said.length = 0;
    bus.send('INVOKE', { service: 1, method, request: BigInt(Object.keys(told).length) });
    await settle();
    [told[method]] = bus.said;
  }
  const replies = Object.fromEntries(Object.entries(told).filter(([, f]) => f.frame === 'REPLY').map(([method, f]) => [method, f.event.payload]));
  assert.deepEqual(replies, { text: 'plain', nothing: '', bytes: '7', more: 'x', own: 'thenable' });
  assert.deepEqual([told.more.event.headers, told.more.event.key, told.more.schema], [{ a: 'b' }, 'k', 5n]);
  const failures = Object.fromEntries(Object.entries(told).filter(([, f]) => f.frame === 'FAILURE').map(([method, f]) => [method, [f.code, f.executed, f.message, f.retryAfterMillis, f.type, f.details]]));
  assert.deepEqual(failures, {
    refused: ['REFUSED', 'NO', 'not now', 31, '', ''],
    failed: ['FAILED', 'YES', 'no order 7', 0, 'NoSuchOrder', '7'],
    unknown: ['UNKNOWN_METHOD', 'NO', 'no such method', 0, '', ''],
    secret: ['FAILED', 'YES', "the member's handler failed with RangeError", 0, '', ''],
    odd: ['FAILED', 'YES', "the member's handler failed with object", 0, '', ''],
    huge: ['TOO_BIG', 'YES', 'the reply: payload: 101 (expected: at most 100)', 0, '', ''],
    unwritable: ['FAILED', 'YES', "the member's handler failed with EventBusError", 0, '', ''],
  });
  assert.deepEqual(of('requestFailed').map(e => e.invocation.method), ['secret', 'odd', 'huge', 'unwritable'], 'a rejection is no surprise');
  assert.throws(() => new Rejection('NO_MEMBER', ''), /code: NO_MEMBER \(expected: REFUSED/);
  assert.throws(() => new Rejection('FAILED', '', { details: 'text' }), /details: string \(expected: a Uint8Array of at most 65536 bytes\)/);
});

test('no more handlers run than the service has concurrency', async () => {
  const { bus, service, invocations, invoke } = await serving({ concurrency: 2 });
  [1, 2, 3, 4].forEach(() => invoke());
  assert.equal(invocations.length, 2);
  assert.deepEqual([service.counters().running, service.counters().waiting], [2, 2]);
  invocations[1].resolve('b');
  await settle();
  assert.equal(invocations.length, 3);
  invocations[0].resolve('a');
  invocations[2].reject(new Rejection('REFUSED', ''));
  await settle();
  invocations[3].resolve('d');
  await settle();
  assert.deepEqual(answers(bus), [[-2, 'b', 'reply'], [-1, 'a', 'reply'], [-3, 'REFUSED', 'NO'], [-4, 'd', 'reply']]);
});

test('no handler starts while the network takes no answers', async () => {
  const { bus, env, invocations, invoke } = await serving();
  bus.bufferedAmount = 2 ** 20;
  invoke();
  await env.advance(50);
  assert.equal(invocations.length, 0);
  bus.bufferedAmount = 0;
  await env.advance(10);
  assert.equal(invocations.length, 1);
});

test('waiting requests are bounded in bytes, and late ones are not handled', async () => {
  const { bus, env, service, invocations, invoke } = await serving({ concurrency: 1, bufferBytes: 2048 });
  invoke();
  invoke({ timeoutMillis: 100, event: { payload: 'x'.repeat(1000) } });
  invoke({ event: { payload: 'x'.repeat(1000) } });
  await settle();
  assert.deepEqual(answers(bus), [[-3, 'OVERLOADED', 'NO']]);
  assert.ok(service.counters().waitingBytes > 1000);
  await env.advance(100);
  invocations[0].resolve('');
  await settle();
  assert.deepEqual(answers(bus).slice(1), [[-1, '', 'reply'], [-2, 'TIMEOUT', 'NO']]);
  const { expired, refused, waitingBytes } = service.counters();
  assert.deepEqual({ expired, refused, waitingBytes }, { expired: 1, refused: 1, waitingBytes: 0 });
});

test('a cancellation reaches the handler, and removes a waiting request', async () => {
  const { bus, service, invocations, invoke } = await serving({ concurrency: 1 });
  invoke();
  invoke();
  bus.send('CANCEL', { call: -2n });
  bus.send('CANCEL', { call: -9n });
  const { signal } = invocations[0].invocation;
  assert.equal(signal.aborted, false);
  bus.send('CANCEL', { call: -1n });
  assert.equal(signal.aborted, true);
  assert.equal(service.counters().running, 1, 'its place is free when the handler is done');
  invocations[0].resolve('late');
  await settle();
  assert.deepEqual(answers(bus), [[-2, 'CANCELLED', 'NO'], [-1, 'late', 'reply']]);
  assert.equal(invocations.length, 1);
});

test('a repeated request is not executed again', async () => {
  const { bus, service, invocations, invoke } = await serving({ rememberReplies: 1 });
  invoke({ request: 7n });
  invoke({ request: 7n, attempt: 1 });
  bus.send('CANCEL', { call: -1n });
  assert.equal(invocations[0].invocation.signal.aborted, false, 'one still waits');
  invocations[0].resolve('done');
  await settle();
  invoke({ request: 7n, attempt: 2 });
  await settle();
  assert.deepEqual(answers(bus), [[-1, 'done', 'reply'], [-2, 'done', 'reply'], [-3, 'done', 'reply']]);
  assert.equal(service.counters().repeated, 2);
  invoke({ request: 8n });
  invocations[1].resolve('');
  await settle();
  invoke({ request: 7n, attempt: 3 });
  assert.equal(invocations.length, 3, 'only one reply is kept');
  invoke({ request: 7n, caller: 10n });
  assert.equal(invocations.length, 4, "another caller's is another one");
});

test('a reply that is too big for a bus is a failure there', async () => {
  const { bus, env, invocations, invoke } = await serving({ rememberReplies: 1 });
  invoke({ request: 7n });
  bus.end();
  env.onOpen = connection => connection.welcome({ limits: { ...LIMITS, messageBytes: 4096 } });
  await env.advance(100);
  invoke({ request: 7n, call: -1n, attempt: 1 }, env.bus);
  invocations[0].resolve(new Uint8Array(3500));
  await settle();
  invoke({ request: 8n, call: -2n }, env.bus);
  invocations[1].resolve('x');
  await settle();
  assert.deepEqual(answers(env.bus), [[-1, 'TOO_BIG', 'YES'], [-2, 'x', 'reply']]);
});

test('a paused service gets no requests until it resumes', async () => {
  const { client, bus, env, service } = await serving({ concurrency: 5 });
  service.pause();
  service.pause();
  await settle();
  assert.deepEqual(bus.of('CAPACITY'), [{ frame: 'CAPACITY', id: 1, concurrency: 0 }]);
  bus.end();
  await env.advance(100);
  assert.equal(env.bus.of('REGISTER')[0].concurrency, 0);
  service.resume();
  await settle();
  assert.equal(env.bus.of('CAPACITY')[0].concurrency, 5);
  env.bus.send('PROBLEM', { code: 'UNKNOWN_SUBSCRIPTION', typeCode: 31, about: 1 });
  const early = client.serve('early', () => '');
  early.pause();
  await settle();
  assert.deepEqual(env.bus.said.slice(-2).map(f => [f.frame, f.concurrency]), [['REGISTER', 16], ['CAPACITY', 0]], 'behind what it is about');
});

test('a service is registered on each connection; answers are sent over the connection of their request', async () => {
  const { client, bus, env, service, invocations, invoke } = await serving({ concurrency: 1 });
  invoke({ request: 7n });
  invoke({ request: 8n });
  bus.end();
  await env.advance(100);
  const next = env.bus;
  assert.deepEqual(next.of('REGISTER').map(f => f.id), [1]);
  invoke({ request: 7n, call: -1n, attempt: 1 }, next);
  assert.equal(invocations.length, 1, 'the handler is at it still');
  invocations[0].resolve('once');
  await settle();
  assert.deepEqual(answers(next), [[-1, 'once', 'reply']]);
  assert.equal(invocations.length, 1, 'nobody waits for the other one');
  assert.equal(service.counters().cancelled, 1);
  assert.equal(client.counters().reconnects, 1);
});

test('a refused service rejects ready', async () => {
  const { client, bus, told } = await connected();
  const awaited = client.serve('orders', () => '');
  const ready = assert.rejects(awaited.ready, { code: 'REFUSED', busCode: 'FORBIDDEN' });
  client.serve('others', () => '');
  await settle();
  [1, 2].forEach(about => bus.send('PROBLEM', { code: 'FORBIDDEN', message: `no ${about}`, typeCode: 20, about }));
  await ready;
  assert.equal(await awaited.close(), true);
  assert.deepEqual(told.filter(t => t.type === 'problem').map(t => t.message), ['no 2'], 'nobody waited for it');
  bus.send('INVOKE', { service: 1, call: -5n });
  await settle();
  assert.deepEqual(answers(bus), [[-5, 'REFUSED', 'NO']]);
});

test('an unknown kind of call is refused', async () => {
  const { bus, invoke, invocations } = await serving();
  invoke({ kind: 1 });
  invoke({ kind: 77 });
  await settle();
  assert.deepEqual(answers(bus), [[-1, 'UNSUPPORTED', 'NO'], [-2, 'UNSUPPORTED', 'NO']]);
  assert.equal(invocations.length, 0);
});

test('a closed service answers received requests', async () => {
  const { bus, env, service, invocations, invoke } = await serving();
  invoke();
  const closing = service.close();
  await settle();
  assert.deepEqual(bus.of('UNREGISTER'), [{ frame: 'UNREGISTER', id: 1 }]);
  invoke();
  bus.send('CONFIRM', { typeCode: 21, about: 1 });
  bus.send('DRAINED', { id: 1 });
  invocations.forEach(({ resolve }) => resolve('done'));
  assert.equal(await closing, true);
  assert.deepEqual(answers(bus), [[-1, 'done', 'reply'], [-2, 'done', 'reply']]);
  assert.equal(env.timers.size, (await connected()).env.timers.size, 'no timer is left');
});

test('a service that does not close in time aborts its handlers', async () => {
  const { bus, env, service, invocations, invoke } = await serving({ concurrency: 1 });
  invoke();
  invoke();
  const closing = service.close({ timeout: 30 });
  await env.advance(30);
  assert.equal(await closing, false);
  assert.equal(invocations[0].invocation.signal.aborted, true);
  await settle();
  assert.deepEqual(answers(bus), [[-2, 'REFUSED', 'NO']]);
});

test('close waits for the handlers of services', async () => {
  const { client, bus, env, invocations, invoke } = await serving();
  invoke();
  const closing = client.close();
  await settle();
  bus.confirmAll();
  await settle();
  assert.equal(bus.closed, null);
  invocations[0].resolve('done');
  assert.equal(await closing, true);
  assert.deepEqual(answers({ said: [...bus.before, ...bus.said] }), [[-1, 'done', 'reply']]);
  assert.equal(env.timers.size, 0);
  assert.throws(() => client.serve('more', () => ''), { code: 'CLOSED' });
  const other = await serving();
  other.invoke();
  const given = other.client.close({ timeout: 10 });
  await other.env.advance(10);
  assert.equal(await given, false);
  assert.equal(other.invocations[0].invocation.signal.aborted, true);
  assert.equal(other.env.timers.size, 0);
});

test('wrong arguments of a service are refused', async () => {
  const { client } = await connected();
  const serve = (...args) => () => client.serve(...args);
  assert.throws(serve('a.*', () => ''), { code: 'ILLEGAL_TOPIC' });
  assert.throws(serve('a'), /handler: undefined \(expected: a function\)/);
  assert.throws(serve('a', () => '', { concurency: 1 }), /concurency: unknown option/);
  assert.throws(serve('a', () => '', { concurrency: 0 }), /concurrency: 0 \(expected: 1\.\.65536\)/);
  assert.throws(serve('a', () => '', { concurrency: 1.5 }), /concurrency: 1\.5 \(expected: a whole number\)/);
  assert.throws(serve('a', () => '', { metadata: { a: 'x'.repeat(256) } }), /metadata\.a: longer/);
});

/** Returns a client with a service and requests, in a move to another bus that has welcomed it. */
async function moving() {
  const all = await serving();
  const { client, env, bus } = all;
  const asked = client.request('others', 'before', { idempotent: true, timeout: 60_000 });
  await settle();
  env.onOpen = connection => connection.welcome({ bus: 'bus-2' });
  bus.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'] });
  await settle();
  return { ...all, asked, old: bus, fresh: env.bus };
}

test('during a move the client is a member at both buses, sends requests to the new one, and leaves the old one when its calls have ended', async () => {
  const { client, env, old, fresh, asked, invoke, invocations, of } = await moving();
  assert.deepEqual(fresh.of('REGISTER').map(f => f.id), [1]);
  invoke({ call: -1n }, fresh);
  invoke({ call: -1n, request: 50n }, old);
  invocations[0].resolve('at the new one');
  await settle();
  assert.deepEqual(answers(fresh), [[-1, 'at the new one', 'reply']]);
  fresh.confirmAll();
  const meanwhile = client.request('others', 'meanwhile');
  await settle();
  assert.deepEqual(old.of('REQUEST').map(f => f.event.payload), ['before'], 'it waits');
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  assert.deepEqual(old.of('UNREGISTER').map(f => f.id), [1]);
  assert.deepEqual(fresh.of('REQUEST').map(f => f.event.payload), ['meanwhile']);
  old.send('DRAINED', { id: 1 });
  assert.deepEqual(of('busChanged').length, 1);
  assert.equal(old.closed, null, 'calls are under way there');
  old.send('DELIVER', { topic: 'a.b' });
  assert.equal(client.counters().received, 0, 'events of the old one would be out of order');
  old.send('REPLY', { call: 1, event: { payload: 'by the old one' } });
  assert.equal((await asked).text(), 'by the old one');
  invocations[1].resolve('at the old one');
  await env.advance(10);
  assert.deepEqual(answers(old), [[-1, 'at the old one', 'reply']]);
  assert.deepEqual(old.closed, { code: 1000, reason: 'the client goes on at another bus' });
  fresh.send('REPLY', { call: 2 });
  await meanwhile;
});

test('a service paused during a move is paused at the new bus', async () => {
  const { client, old, fresh, asked, service } = await moving();
  service.pause();
  await settle();
  old.send('REPLY', { call: 1 });
  await asked;
  fresh.confirmAll();
  old.confirmAll();
  await settle();
  old.confirmAll();
  await settle();
  assert.equal(client.connection.bus, 'bus-2');
  assert.deepEqual(fresh.of('CAPACITY').map(f => f.concurrency), [0]);
});

test('an idempotent request that the old bus does not answer in time is sent again', async () => {
  const { env, old, fresh, asked } = await moving();
  fresh.confirmAll();
  old.confirmAll();
  await settle();
  old.confirmAll();
  await env.advance(29_990);
  assert.equal(old.closed, null);
  await env.advance(10);
  assert.equal(old.closed.code, 1000);
  assert.deepEqual(fresh.of('REQUEST').map(f => [f.call, f.attempt]), [[1, 1]]);
  fresh.send('REPLY', { call: 1, event: { payload: 'by the new one' } });
  assert.equal((await asked).text(), 'by the new one');
});

test('after a failed move the new bus is left when its calls are answered', async () => {
  const { client, env, old, fresh, invoke, invocations } = await moving();
  invoke({ call: -1n }, fresh);
  await env.advance(22_500);
  assert.deepEqual(fresh.of('UNREGISTER').map(f => f.id), [1]);
  fresh.send('DRAINED', { id: 1 });
  assert.equal(fresh.closed, null);
  assert.equal(old.of('CHANGE_BUS_FAILED').length, 1);
  invocations[0].resolve('done');
  await env.advance(10);
  assert.deepEqual(answers(fresh), [[-1, 'done', 'reply']]);
  assert.equal(fresh.closed.code, 1000);
  assert.equal(client.connection.url, 'ws://bus-1.test/bus');
});

test('closing a client during a move closes the old connection', async () => {
  const { client, env, old, fresh, asked } = await moving();
  asked.catch(() => {});
  fresh.confirmAll();
  old.confirmAll();
  await settle();
  old.confirmAll();
  assert.equal(old.closed, null);
  const closing = client.close({ timeout: 0 });
  await env.advance(0);
  await closing;
  assert.notEqual(old.closed, null);
  await env.advance(500);
  assert.equal(env.timers.size, 0);
});
