// A drained bus of two moves its clients without an event lost, doubled or out of order, and without a request that is not answered.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { connect, freePorts, skip, startBus } from '../support/live.js';

/** @type {{url: string, admin: number, stop: () => Promise<void>}[]} */
const buses = [];

before(async () => {
  if (skip) {
    return;
  }
  const [adminA, linkA, adminB, linkB] = await freePorts(4);
  const member = (name, admin, link, ...more) => directory => ['--port', '0', '--name', name, '--admin-port', String(admin), '--cluster-directory', `${directory}/data`,
    '--cluster-port', String(link), ...more];
  const key = randomBytes(32);
  const start = async (admin, args) => {
    const directory = mkdtempSync(join(tmpdir(), 'eventbus-js-'));
    // Buses of a cluster know each other's resumes.
    writeFileSync(join(directory, 'resume-key'), key, { mode: 0o600 });
    buses.push({ ...await startBus(args(directory), directory), admin });
  };
  await start(adminA, member('a', adminA, linkA));
  await start(adminB, member('b', adminB, linkB, '--join', `127.0.0.1:${linkA}`));
  for (const { admin } of buses) {
    while (!(await fetch(`http://127.0.0.1:${admin}/readyz`)).ok) {
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
});
after(() => Promise.all(buses.map(bus => bus.stop())));

test('a drained bus moves its clients, and nothing is lost, doubled or out of order', { skip }, async () => {
  const [a, b] = buses;
  const publisher = await connect({ url: a.url, name: 'publisher' });
  const subscriber = await connect({ url: a.url, name: 'subscriber' });
  const member = await connect({ url: b.url, name: 'member' });
  const worker = await connect({ url: a.url, name: 'worker' });
  const caller = await connect({ url: a.url, name: 'caller' });
  const moved = Promise.all([publisher, subscriber, worker, caller].map(client => new Promise((resolve, reject) => {
    client.on('busChanged', resolve);
    client.on('busChangeFailed', failed => reject(new Error(failed.why)));
  })));
  const got = [];
  const grouped = new Map();
  const inGroup = event => { grouped.set(event.sequence, (grouped.get(event.sequence) ?? 0) + 1); };
  const executed = new Map();
  const work = async ({ request, event }) => {
    executed.set(request, (executed.get(request) ?? 0) + 1);
    await new Promise(resolve => setTimeout(resolve, 3));
    return `done: ${event.text()}`;
  };
  await Promise.all([
    worker.serve('work', work).ready,
    subscriber.subscribe('move.>', {}, event => { got.push(event.sequence); }).ready,
    subscriber.subscribe('move.x', { group: 'g' }, inGroup).ready,
    member.subscribe('move.x', { group: 'g' }, inGroup).ready,
  ]);
  let over = false;
  let count = 0;
  const publishing = (async () => {
    const all = [];
    while (!over) {
      for (let i = 0; i < 20; i++) {
        all.push(publisher.publish('move.x', String(++count)));
      }
      await new Promise(resolve => setTimeout(resolve, 2));
    }
    return Promise.all(all);
  })();
  const asking = (async () => {
    const all = [];
    while (!over) {
      const text = String(all.length + 1);
      // Retried: while the member or the caller has moved and the other has not, the service may have no member.
      all.push(caller.request('work', text, { retry: { attempts: 100, maxDelay: 50 } }).then(reply => assert.equal(reply.text(), `done: ${text}`)));
      await new Promise(resolve => setTimeout(resolve, 2));
    }
    return Promise.all(all);
  })();
  await new Promise(resolve => setTimeout(resolve, 100));
  const answer = await fetch(`http://127.0.0.1:${a.admin}/api/v1/drains/a`, { method: 'PUT' });
  assert.ok(answer.ok, `${answer.status} ${await answer.text()}`);
  const changes = await moved;
  assert.deepEqual(changes.map(change => change.now.bus), ['b', 'b', 'b', 'b']);
  await new Promise(resolve => setTimeout(resolve, 100));
  over = true;
  const confirmed = await publishing;
  assert.equal(confirmed.length, count);
  const { length } = await asking;
  assert.deepEqual([executed.size, [...executed.values()].filter(times => times !== 1)], [length, []]);
  await publisher.flush();
  while (got.length < count || grouped.size < count) {
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  assert.deepEqual(got, Array.from({ length: count }, (_, i) => i + 1));
  assert.deepEqual([...grouped.values()].filter(times => times !== 1), []);
  const { reconnects, busChanges, missing } = subscriber.counters();
  assert.deepEqual({ reconnects, busChanges, missing }, { reconnects: 0, busChanges: 1, missing: 0 });
  await Promise.all([publisher, subscriber, member, worker, caller].map(client => client.close()));
});
