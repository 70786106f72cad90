// Durable topics of three buses, of which the one is killed that the client is connected to.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { durable, replay } from '../../src/durable.js';
import { connect, freePorts, skip, startBus } from '../support/live.js';

const COUNT = 300;
const positions = Array.from({ length: COUNT }, (_, i) => i + 1);
const pause = () => new Promise(resolve => setTimeout(resolve, 100));

const buses = [];
let admin;

before(async () => {
  if (skip) {
    return;
  }
  const ports = await freePorts(4);
  admin = `http://127.0.0.1:${ports[3]}/api/v1`;
  const key = randomBytes(32);
  const started = await Promise.allSettled(['a', 'b', 'c'].map(async (name, i) => {
    const directory = mkdtempSync(join(tmpdir(), 'eventbus-js-'));
    // Buses of a cluster know each other's resumes.
    writeFileSync(join(directory, 'resume-key'), key, { mode: 0o600 });
    const admins = name === 'a' ? ['--admin-port', String(ports[3])] : ['--set', 'admin.enabled=false'];
    // For the time of the lease the others wait for the consumers of a bus that has ended.
    return startBus(['--port', '0', '--name', name, '--data', join(directory, 'data'), '--cluster-port', String(ports[i]), '--cluster-host', '127.0.0.1',
      '--join', ports.slice(0, 3).map(port => `127.0.0.1:${port}`).join(), '--set', 'cluster.lease=4s', '--set', 'balance.enabled=false', ...admins], directory);
  }));
  buses.push(...started.filter(each => each.status === 'fulfilled').map(each => each.value));
  started.forEach(each => assert.equal(each.status, 'fulfilled', String(each.reason)));
  // The first journal needs every bus.
  while ((await (await fetch(`${admin}/buses`)).json()).items.filter(bus => bus.state === 'UP').length < 3) {
    await pause();
  }
  // While the replicas are not ready, the same is asked for again.
  for (;;) {
    const answer = await fetch(`${admin}/journals/orders?filters=orders.%3E`, { method: 'PUT' });
    if (answer.ok) {
      break;
    }
    assert.ok([409, 503, 504].includes(answer.status), `${answer.status} ${await answer.text()}`);
    await pause();
  }
});
after(() => Promise.all(buses.map(async bus => {
  // Faster than an end in order.
  await bus.kill();
  await bus.stop();
})));

test('a client whose bus is killed goes on at another one: nothing is missing, doubled or out of order', { skip }, async t => {
  const [a, b, c] = buses;
  const options = { confirmTimeout: 120_000, reconnect: { initialDelay: 20, maxDelay: 200 } };
  const client = await connect({ ...options, url: [c.url, b.url, a.url] });
  t.after(() => client.close({ timeout: 0 }));
  assert.equal(client.connection.bus, 'c');
  const handled = [];
  const read = [];
  let killed;
  const allHandled = new Promise(resolve => {
    durable(client, 'billing', { filter: 'orders.>', from: 'FIRST' }, event => {
      handled.push([event.position, event.text()]);
      if (event.position === COUNT / 3) {
        killed = c.kill();
      }
      if (event.position === COUNT) {
        resolve();
      }
    });
  });
  const replayed = replay(client, { filter: 'orders.>', from: 'FIRST' });
  const allRead = (async () => {
    for await (const event of replayed) {
      read.push([event.position, event.text()]);
      if (event.position === COUNT) {
        break;
      }
    }
  })();
  const stored = [];
  for (let i = 0; i < COUNT; i += 10) {
    const batch = positions.slice(i, i + 10);
    stored.push(...await Promise.all(batch.map(n => client.publish('orders.1', String(n)))));
  }
  await Promise.all([allHandled, allRead]);
  await killed;
  assert.notEqual(client.connection.bus, 'c');
  // Of a frame that was sent again, and had been stored, only the last event is told its position.
  assert.deepEqual(stored.map((p, i) => (p.repeated && p.position === 0 ? positions[i] : p.position)), positions);
  const expected = positions.map(n => [n, String(n)]);
  assert.deepEqual(handled, expected);
  assert.deepEqual(read, expected);
});
