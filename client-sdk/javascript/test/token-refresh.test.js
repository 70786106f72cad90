import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connected, FakeEnvironment, settle } from './support/fakes.js';

const EPOCH = 1_700_000_000_000_000;

/** Returns a client with an expiring token, without a silence timeout, and its bus. */
async function expiring(seconds, options = {}) {
  const env = new FakeEnvironment();
  env.micros = () => EPOCH + env.time * 1000;
  const in_ = s => env.micros() + s * 1_000_000;
  let asked = 0;
  const tokens = { next: async () => `token-${asked}`, asked: () => asked };
  const token = () => {
    asked++;
    return tokens.next();
  };
  const all = await connected({ token, silenceTimeout: 86_400_000, ...options }, env, { expiresAt: seconds && in_(seconds) });
  return {
    ...all,
    tokens,
    shown: () => all.bus.of('AUTHENTICATE').map(frame => frame.token),
    confirm: s => all.bus.send('CONFIRM', { typeCode: 32, about: in_(s) }),
    refuse: (code = 'UNAUTHENTICATED') => all.bus.send('PROBLEM', { code, message: 'not good', typeCode: 32 }),
    problems: () => all.of('problem').map(problem => problem.message),
  };
}

test('a token is replaced on the connection before it expires', async () => {
  const { client, env, bus, told, shown, confirm } = await expiring(100, { user: 'alice' });
  assert.equal(bus.of('HELLO')[0].token, 'token-1');
  await env.advance(79_999);
  assert.deepEqual(shown(), []);
  told.length = 0;
  await env.advance(1);
  assert.deepEqual(bus.of('AUTHENTICATE'), [{ frame: 'AUTHENTICATE', token: 'token-2', user: 'alice' }]);
  const before = client.connection;
  confirm(200);
  assert.equal(client.connection.expiresAt, EPOCH + (env.time + 200_000) * 1000);
  assert.deepEqual({ ...client.connection, expiresAt: before.expiresAt }, before);
  await env.advance(159_999);
  assert.equal(shown().length, 1);
  await env.advance(1);
  assert.deepEqual(shown(), ['token-2', 'token-3']);
  assert.deepEqual(told, []);
  assert.equal(env.connections.length, 1);
});

test('clients with equal tokens do not replace them at the same time', async () => {
  const { env, shown, confirm } = await expiring(100);
  env.random = () => 1;
  await env.advance(80_000);
  confirm(100);
  await env.advance(69_999);
  assert.equal(shown().length, 1);
  await env.advance(1);
  assert.equal(shown().length, 2);
});

test('a token without expiry, or a fixed one, is kept', async () => {
  const kept = await expiring(0);
  await kept.env.advance(120_000);
  assert.equal(kept.tokens.asked(), 1);
  assert.equal(kept.shown().length, 0);
  const fixed = await expiring(100, { token: 'fixed' });
  await fixed.env.advance(200_000);
  assert.deepEqual(fixed.shown(), []);
});

test('a life longer than the maximum timer is not a life of 0', async () => {
  const { env, tokens } = await expiring(60 * 86_400);
  await env.advance(1000);
  assert.equal(tokens.asked(), 1);
  assert.ok([...env.timers.values()].every(timer => timer.at - env.time < 2 ** 31));
});

test('a token that by this clock has expired is replaced once in a while', async () => {
  const { env, shown, confirm } = await expiring(-100);
  await env.advance(47_999);
  assert.deepEqual(shown(), []);
  await env.advance(1);
  assert.equal(shown().length, 1);
  confirm(0.001);
  await env.advance(999);
  assert.equal(shown().length, 1);
  await env.advance(1);
  assert.equal(shown().length, 2);
});

test('a failing token function is called again with growing delays, and reported', async () => {
  const { env, tokens, shown, problems, client, of } = await expiring(100);
  tokens.next = async () => { throw new Error('issuer down'); };
  await env.advance(80_000);
  assert.equal(tokens.asked(), 2);
  await env.advance(999);
  assert.equal(tokens.asked(), 2);
  await env.advance(1);
  assert.equal(tokens.asked(), 3);
  tokens.next = () => 5;
  await env.advance(2000);
  assert.equal(tokens.asked(), 4);
  tokens.next = () => { throw new Error('thrown'); };
  await env.advance(4000);
  assert.deepEqual(problems(), ['no token: issuer down', 'no token: issuer down', 'no token: token: number (expected: text of at most 16384 bytes)', 'no token: thrown']);
  assert.deepEqual(of('problem').map(({ code, retryable }) => [code, retryable]), Array(4).fill(['NO_TOKEN', true]), 'the client is connected');
  assert.deepEqual(shown(), []);
  tokens.next = () => 'good';
  await env.advance(8000);
  assert.deepEqual(shown(), ['good']);
  assert.equal(client.state, 'CONNECTED');
});

test('a token function that times out is given up, and its late token is not used', async () => {
  const { env, tokens, shown, problems } = await expiring(100);
  let late;
  tokens.next = () => new Promise(resolve => { late = resolve; });
  await env.advance(90_000);
  assert.deepEqual(problems(), ['no token: the function gave none within 10000 ms']);
  late('late');
  await settle();
  assert.deepEqual(shown(), []);
  tokens.next = () => 'good';
  await env.advance(1000);
  assert.deepEqual(shown(), ['good']);
});

test('a token that the bus refuses, or does not answer, is replaced', async () => {
  const { env, shown, refuse, problems, of } = await expiring(100);
  await env.advance(80_000);
  refuse();
  assert.deepEqual(of('problem').map(({ code, busCode, message }) => [code, busCode, message]), [['REFUSED', 'UNAUTHENTICATED', 'not good']]);
  await env.advance(1000);
  assert.deepEqual(shown(), ['token-2', 'token-3']);
  await env.advance(10_000);
  assert.deepEqual(problems().slice(1), ['no answer to a new token within 10000 ms']);
  await env.advance(2000);
  assert.deepEqual(shown(), ['token-2', 'token-3', 'token-4']);
});

test('each connection has its own token, and never gets one requested for the last', async () => {
  const { env, tokens, bus, client, of } = await expiring(100);
  let late;
  tokens.next = () => new Promise(resolve => { late = resolve; });
  await env.advance(80_000);
  tokens.next = () => 'of the second';
  bus.end(4004, 'expired');
  await env.advance(100);
  late('late');
  await settle();
  assert.equal(client.state, 'CONNECTED');
  assert.equal(env.bus.of('HELLO')[0].token, 'of the second');
  assert.deepEqual([...bus.of('AUTHENTICATE'), ...env.bus.of('AUTHENTICATE')], []);
  // Without a token the client tries again, and reports the reason.
  tokens.next = async () => { throw new Error('issuer down'); };
  env.bus.end();
  await env.advance(200);
  assert.deepEqual(of('problem').map(({ code, message }) => [code, message]), [['NO_TOKEN', 'no token: issuer down']]);
  tokens.next = () => 'of the third';
  await env.advance(500);
  assert.equal(env.bus.of('HELLO')[0].token, 'of the third');
});

test('a move has a new token, which is replaced at the new bus', async () => {
  const { env, bus, client, of } = await expiring(100);
  env.onOpen = connection => connection.welcome({ bus: 'bus-2', session: 'bus-2-1', expiresAt: env.micros() + 100_000_000 });
  await env.advance(10_000);
  bus.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'] });
  await settle();
  bus.send('BARRIER', { id: bus.of('BARRIER')[0].id });
  await settle();
  assert.equal(of('busChanged').length, 1);
  assert.equal(env.bus.of('HELLO')[0].token, 'token-2');
  await env.advance(80_000);
  assert.deepEqual(env.bus.of('AUTHENTICATE').map(frame => frame.token), ['token-3']);
  env.bus.send('CONFIRM', { typeCode: 32, about: env.micros() + 500_000_000 });
  assert.equal(client.connection.expiresAt, env.micros() + 500_000_000);
  assert.deepEqual(bus.of('AUTHENTICATE'), []);
});

test('subscriptions that the new token forbids end, and are reported', async () => {
  const { env, bus, client, problems, confirm } = await expiring(100);
  const handled = client.subscribe('a', {}, () => {});
  const read = client.subscribe('b');
  await settle();
  bus.confirmAll();
  await Promise.all([handled.ready, read.ready]);
  const reading = assert.rejects((async () => { for await (const event of read) { void event; } })(), { busCode: 'FORBIDDEN' });
  await env.advance(80_000);
  for (const { id } of [handled, read]) {
    bus.send('PROBLEM', { code: 'FORBIDDEN', message: `not ${id}`, typeCode: 2, about: id });
  }
  confirm(100);
  for (const { id } of [handled, read]) {
    bus.send('DRAINED', { id });
  }
  await reading;
  // Already reported by the reader.
  assert.deepEqual(problems(), [`not ${handled.id}`]);
});

test('a closed client requests no token', async () => {
  const { env, client, tokens } = await expiring(100);
  await client.close();
  await env.advance(200_000);
  assert.equal(tokens.asked(), 1);
  assert.equal(env.timers.size, 0);
});
