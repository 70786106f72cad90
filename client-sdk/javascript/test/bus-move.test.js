import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LIMITS } from './support/bus-frames.js';
import { connected, settle } from './support/fakes.js';

const events = payload => [{ payload: String(payload) }];

/** Returns a client with a subscription, in a move to another bus that has welcomed it. */
async function moving({ filters = [['a.>']], change = {}, welcome = {}, options = {} } = {}) {
  const all = await connected(options);
  const { client, bus, env } = all;
  const got = [];
  for (const [filter, group] of filters) {
    client.subscribe(filter, group ? { group } : {}, event => { got.push(`${group ?? ''}${event.topic} ${event.sequence}`); });
  }
  await settle();
  bus.confirmAll();
  env.onOpen = connection => connection.welcome(welcome);
  bus.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'], ...change });
  await settle();
  return { ...all, old: bus, fresh: env.bus, got };
}

const frames = connection => connection.said.map(one => one.frame);

test('a move subscribes at the new bus, sends a barrier and unsubscribes at the old one, publishes at the new one, and delivers held events', async () => {
  const { client, env, old, fresh, got, of } = await moving({ welcome: { session: 'bus-2-1' } });
  assert.deepEqual(frames(fresh), ['HELLO', 'SUBSCRIBE']);
  const { change, resume, previous } = fresh.of('HELLO')[0];
  assert.deepEqual({ change, resume, previous }, { change: 'move-1', resume: 'r'.repeat(43), previous: null });
  old.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1) });
  fresh.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1) });
  fresh.send('DELIVER', { topic: 'a.x', sequence: 2, events: events(2) });
  const first = client.publish('p', '1');
  await settle();
  assert.equal(old.of('PUBLISH').length, 1);
  old.said.length = 0;
  fresh.confirmAll();
  assert.deepEqual(frames(old), ['BARRIER']);
  assert.deepEqual(fresh.of('CREDIT').map(c => c.limit), [2 ** 20], 'only when all subscriptions are confirmed');
  const second = client.publish('p', '2');
  await settle();
  assert.deepEqual(frames(old), ['BARRIER'], 'what is published waits');
  old.send('CONFIRM', { typeCode: 1, topic: 'p', about: 1 });
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await settle();
  assert.deepEqual(frames(old), ['BARRIER', 'UNSUBSCRIBE']);
  assert.deepEqual(fresh.of('PUBLISH').map(f => f.sequence), [2]);
  old.send('DELIVER', { topic: 'a.x', sequence: 2, events: events(2) });
  assert.deepEqual(got, ['a.x 1', 'a.x 2']);
  fresh.send('DELIVER', { topic: 'a.x', sequence: 3, events: events(3) });
  old.send('CONFIRM', { typeCode: 6, about: 1 });
  assert.equal(old.closed, null);
  old.send('DRAINED', { id: 1 });
  assert.deepEqual(got, ['a.x 1', 'a.x 2', 'a.x 3']);
  assert.deepEqual(old.closed, { code: 1000, reason: 'the client goes on at another bus' });
  assert.ok(fresh.of('CREDIT').at(-1).limit > 4 * 2 ** 20);
  fresh.send('CONFIRM', { typeCode: 1, topic: 'p', about: 2 });
  assert.deepEqual((await Promise.all([first, second])).map(p => p.sequence), [1, 2]);
  assert.deepEqual(of('busChanged').map(e => [e.before.url, e.now.url]), [['ws://bus-1.test/bus', 'ws://bus-2.test/bus']]);
  const { busChanges, duplicates, missing } = client.counters();
  assert.deepEqual({ busChanges, duplicates, missing }, { busChanges: 1, duplicates: 2, missing: 0 });
  assert.equal(client.state, 'CONNECTED');
  fresh.end();
  await env.advance(100);
  assert.equal(env.bus.of('HELLO')[0].previous, 'bus-2-1', 'the last connection is that of the new bus');
});

test('deliveries for groups over both connections are sorted by their numbers', async () => {
  const { old, fresh, got } = await moving({ filters: [['a.>', 'g'], ['a.x']] });
  fresh.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1) });
  fresh.send('DELIVER', { topic: 'a.x', sequence: 2, events: events(2), groups: [1] });
  old.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1), groups: [1] });
  old.send('DELIVER', { topic: 'a.x', sequence: 2, events: events(2) });
  old.send('DELIVER', { topic: 'a.y', sequence: 1, events: events(1), groups: [1] });
  assert.deepEqual(got, []);
  fresh.confirmAll();
  old.confirmAll();
  await settle();
  old.confirmAll();
  fresh.confirmAll();
  assert.deepEqual(got.toSorted(), ['a.x 1', 'a.x 2', 'ga.x 1', 'ga.x 2', 'ga.y 1']);
  assert.ok(got.indexOf('ga.x 1') < got.indexOf('ga.x 2'));
});

test('a slow move leaves its calls the whole deadline of the bus', async () => {
  const { client, env, old, fresh } = await moving({ change: { deadlineMillis: 10_000 } });
  let code = null;
  client.request('orders', '1', { timeout: 60_000 }).catch(failure => { code = failure.code; });
  await settle();
  fresh.confirmAll();
  await env.advance(6000);
  old.send('BARRIER', { id: old.of('BARRIER')[0].id });
  await env.advance(5000);
  old.send('DRAINED', { id: 1 });
  assert.equal(client.connection.url, 'ws://bus-2.test/bus');
  // The deadline of the bus begins again with the barrier and the frames behind it.
  await env.advance(4990);
  assert.equal(code, null);
  assert.equal(old.closed, null);
  await env.advance(20);
  assert.equal(code, 'BUS_LOST');
});

/** Returns a client with a group, in a move whose old bus has drained before the new one was read. */
async function overtaking() {
  const all = await moving({ filters: [['a.>', 'g']] });
  const { old, fresh } = all;
  fresh.confirmAll();
  old.confirmAll();
  await settle();
  old.send('DELIVER', { topic: 'a.x', sequence: 2, events: events(2), groups: [1] });
  old.confirmAll();
  assert.deepEqual(fresh.of('ECHO').length, 1);
  assert.deepEqual(all.got, []);
  return all;
}

test('a move waits for events that the new bus had sent for a group before the old one had drained', async () => {
  for (const answer of [{ name: 'ECHO' }, { name: 'PROBLEM', code: 'UNKNOWN_TYPE', typeCode: 33 }]) {
    const { client, fresh, got, of } = await overtaking();
    fresh.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1), groups: [1] });
    assert.deepEqual(got, []);
    fresh.send(answer.name, { id: fresh.of('ECHO')[0].id, ...answer });
    assert.deepEqual(got, ['ga.x 1', 'ga.x 2']);
    assert.equal(client.connection.url, 'ws://bus-2.test/bus');
    assert.equal(of('problem').length, 0);
  }
});

test('an earlier Echo does not end the wait', async () => {
  const { client, fresh } = await overtaking();
  fresh.send('ECHO', { id: fresh.of('ECHO')[0].id - 1 });
  assert.equal(client.connection.url, 'ws://bus-1.test/bus');
});

test('a silent new bus delays a move for 2 s at most', async () => {
  const { client, env, got } = await overtaking();
  await env.advance(1999);
  assert.deepEqual(got, []);
  await env.advance(1);
  assert.deepEqual(got, ['ga.x 2']);
  assert.equal(client.connection.url, 'ws://bus-2.test/bus');
});

test('the client comes back when the new bus is lost while its answer is awaited', async () => {
  const { client, old, fresh, got, of } = await overtaking();
  const published = client.publish('p', '1');
  await settle();
  assert.equal(fresh.of('PUBLISH').length, 1);
  fresh.end();
  assert.deepEqual(got, ['ga.x 2']);
  assert.deepEqual(old.of('SUBSCRIBE').map(f => f.group), ['g']);
  assert.deepEqual(of('busChangeFailed').length, 1);
  await settle();
  old.confirmAll();
  await published;
  assert.equal(client.connection.url, 'ws://bus-1.test/bus');
});

test('the client stays at the new bus when the old one is lost while the answer is awaited', async () => {
  const { client, old, fresh, got, env } = await overtaking();
  old.end();
  assert.deepEqual(got, ['ga.x 2']);
  assert.equal(client.connection.url, 'ws://bus-2.test/bus');
  fresh.confirmAll();
  await env.advance(2000);
  assert.equal(client.state, 'CONNECTED');
});

test('of a held gap only missing events are reported', async () => {
  const { old, fresh, of } = await moving();
  old.send('DELIVER', { topic: 'a.x', sequence: 1, events: [{}, {}] });
  fresh.send('GAP', { topic: 'a.x', from: 1, to: 3 });
  fresh.send('DELIVER', { topic: 'a.x', sequence: 4, events: [{}] });
  fresh.confirmAll();
  old.confirmAll();
  await settle();
  old.confirmAll();
  assert.deepEqual(of('gap').map(g => [g.from, g.to, g.reason]), [[3, 3, 'QUEUE_FULL']]);
});

test('after a refused subscription the client stays, publishes on, and reports the reason', async () => {
  const { client, old, fresh, got, of } = await moving();
  const published = client.publish('p', '1');
  fresh.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1) });
  fresh.send('PROBLEM', { code: 'LIMIT_EXCEEDED', message: 'too many', typeCode: 2, about: 1 });
  await settle();
  assert.deepEqual(old.of('CHANGE_BUS_FAILED'), [{ frame: 'CHANGE_BUS_FAILED', token: 'move-1', message: 'it refuses subscription 1 to a.>: too many' }]);
  assert.equal(fresh.closed.code, 1000);
  old.confirmAll();
  await published;
  assert.deepEqual(got, []);
  old.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1) });
  assert.deepEqual(got, ['a.x 1']);
  assert.deepEqual(of('busChangeFailed'), [{ type: 'busChangeFailed', url: 'ws://bus-2.test/bus', why: 'it refuses subscription 1 to a.>: too many' }]);
  assert.equal(client.state, 'CONNECTED');
});

test('a client that stays drains the groups of the new bus, with unlimited credit', async () => {
  const { old, fresh, got, env } = await moving({ filters: [['a.>', 'g'], ['b']], change: { deadlineMillis: 10_000 } });
  fresh.send('CONFIRM', { typeCode: 2, about: 1 });
  fresh.send('DELIVER', { topic: 'a.x', sequence: 3, events: events(3), groups: [1] });
  old.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1), groups: [1] });
  await env.advance(7500);
  assert.deepEqual(fresh.of('UNSUBSCRIBE').map(f => f.id), [1, 2]);
  assert.deepEqual(fresh.of('CREDIT').map(f => f.limit), [Number.MAX_SAFE_INTEGER]);
  fresh.send('DELIVER', { topic: 'a.x', sequence: 2, events: events(2), groups: [1] });
  fresh.send('DRAINED', { id: 1 });
  fresh.send('DRAINED', { id: 2 });
  assert.deepEqual(got, ['ga.x 1', 'ga.x 2', 'ga.x 3']);
  assert.equal(old.of('CHANGE_BUS_FAILED')[0].message, 'not done in time');
});

test('after a refused barrier the client publishes on, and sends another one later', async () => {
  const { client, old, fresh, env } = await moving();
  fresh.confirmAll();
  const published = client.publish('p', '1');
  await settle();
  assert.equal(old.of('PUBLISH').length, 0);
  const [{ id }] = old.of('BARRIER');
  old.send('PROBLEM', { code: 'OVERLOADED', retryable: true, typeCode: 11, about: id });
  await settle();
  assert.equal(old.of('PUBLISH').length, 1);
  await env.advance(100);
  assert.equal(old.of('BARRIER').length, 2);
  old.confirmAll();
  await settle();
  old.confirmAll();
  await published;
  assert.equal(client.connection.url, 'ws://bus-2.test/bus');
});

test('unconfirmed events are sent again to the new bus when the old one is lost before the barrier', async () => {
  const { client, old, fresh, got, of } = await moving();
  const published = client.publish('p', '1');
  await settle();
  fresh.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1) });
  old.end();
  await settle();
  assert.deepEqual(fresh.of('PUBLISH').map(f => f.sequence), [1]);
  assert.deepEqual(got, ['a.x 1']);
  fresh.confirmAll();
  assert.equal((await published).sequence, 1);
  assert.equal(of('disconnected').length, 0);
  assert.equal(client.connection.url, 'ws://bus-2.test/bus');
});

test('held events are delivered when the old bus is lost while leaving it', async () => {
  const { client, old, fresh, got } = await moving();
  fresh.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1) });
  fresh.confirmAll();
  old.said.length = 0;
  old.send('BARRIER', { id: 1 });
  await settle();
  old.end();
  assert.deepEqual(got, ['a.x 1']);
  assert.equal(client.connection.url, 'ws://bus-2.test/bus');
});

test('the client drains the old bus and comes back when the new one is lost while leaving', async () => {
  const { client, old, fresh, got, of } = await moving();
  fresh.confirmAll();
  old.said.length = 0;
  old.send('BARRIER', { id: 1 });
  await settle();
  const published = client.publish('p', '1');
  await settle();
  assert.equal(fresh.of('PUBLISH').length, 1);
  fresh.end();
  old.send('DELIVER', { topic: 'a.x', sequence: 1, events: events(1) });
  assert.deepEqual(got, ['a.x 1']);
  old.send('DRAINED', { id: 1 });
  await settle();
  assert.deepEqual(old.of('SUBSCRIBE').map(f => f.id), [1]);
  assert.deepEqual(old.of('PUBLISH').map(f => f.sequence), [1]);
  old.confirmAll();
  await published;
  assert.equal(of('busChangeFailed').length, 1);
  assert.equal(client.state, 'CONNECTED');
});

test('the client reconnects when both buses are lost', async () => {
  const { client, old, fresh, of, env } = await moving();
  fresh.confirmAll();
  old.send('BARRIER', { id: 1 });
  await settle();
  fresh.end();
  old.end(1001, 'over');
  assert.equal(client.state, 'RECONNECTING');
  assert.deepEqual(of('disconnected').map(e => e.code), [1001]);
  await env.advance(1000);
  assert.equal(client.state, 'CONNECTED');
});

test('a move without a usable address is refused', async () => {
  for (const [welcome, why] of [
    [{ producer: 78n }, 'it knows this client as 78, not as 77'],
    [{ limits: { ...LIMITS, payloadBytes: 5 } }, 'it takes smaller events or messages than those that may be under way already'],
  ]) {
    const { old, client } = await moving({ welcome });
    assert.deepEqual(old.of('CHANGE_BUS_FAILED').map(f => f.message), [why]);
    assert.equal(client.state, 'CONNECTED');
  }
  const { old } = await moving({ change: { urls: ['http://x', 'ws://u:p@x/'] } });
  assert.deepEqual(old.of('CHANGE_BUS_FAILED').map(f => f.message), ['none of the addresses can be used']);
});

test('a silent new bus is given up before the old one closes', async () => {
  const all = await connected();
  all.env.onOpen = () => {};
  all.bus.send('CHANGE_BUS', { urls: ['ws://bus-2.test/bus'], deadlineMillis: 4000 });
  await all.env.advance(3000);
  assert.deepEqual(all.bus.of('CHANGE_BUS_FAILED').map(f => f.message), ['no connection in time']);
  assert.equal(all.env.bus.closed.code, 1006);
});

test('a client is not moved more than 8 times a minute', async () => {
  const { env, client } = await connected();
  env.onOpen = connection => connection.welcome();
  for (let i = 0; i < 9; i++) {
    const old = env.bus;
    old.send('CHANGE_BUS', { urls: [`ws://bus-${i}.test/bus`] });
    await settle();
    old.confirmAll();
    await settle();
  }
  assert.equal(client.counters().busChanges, 8);
  assert.match(env.bus.before.concat(env.bus.said).filter(f => f.frame === 'CHANGE_BUS_FAILED')[0].message, /^this client was moved 8 times/);
});

test('calls of the application during a move are sent to the new bus', async () => {
  const { client, old, fresh } = await moving();
  const late = client.subscribe('late', {}, () => {});
  await settle();
  fresh.confirmAll();
  old.confirmAll();
  await settle();
  old.confirmAll();
  await settle();
  assert.deepEqual(fresh.of('SUBSCRIBE').map(f => f.filter), ['late']);
  fresh.confirmAll();
  await late.ready;
});

test('closing a client during a move leaves no timer or connection', async () => {
  const { client, env, fresh } = await moving();
  const closing = client.close({ timeout: 10 });
  await env.advance(3000);
  await closing;
  assert.notEqual(fresh.closed, null);
  assert.equal(env.timers.size, 0);
});

test('an early move request of the new bus is followed after the move', async () => {
  const { client, old, fresh, env } = await moving();
  fresh.send('CHANGE_BUS', { urls: ['ws://bus-3.test/bus'], token: 'move-2' });
  fresh.confirmAll();
  old.confirmAll();
  await settle();
  old.confirmAll();
  await settle();
  assert.equal(env.bus.url, 'ws://bus-3.test/bus');
  assert.equal(env.bus.of('HELLO')[0].change, 'move-2');
  assert.equal(client.connection.url, 'ws://bus-2.test/bus');
});
