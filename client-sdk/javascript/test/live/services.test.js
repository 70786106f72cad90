import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';

import { Rejection, Reply } from '../../src/services.js';
import { connect, skip, startBus } from '../support/live.js';

let bus;
let clients = [];

async function join(name) {
  const client = await connect({ url: bus.url, name });
  clients.push(client);
  return client;
}

before(async () => {
  bus = skip ? null : await startBus(['--port', '0', '--set', 'admin.enabled=false']);
});
after(() => bus?.stop());
afterEach(async () => {
  await Promise.all(clients.map(client => client.close({ timeout: 0 })));
  clients = [];
});

test('requests are answered by members, each once, by no more handlers at once than a service has places', { skip }, async () => {
  const caller = await join('caller');
  let running = 0;
  let max = 0;
  const by = new Map();
  const members = await Promise.all(['a', 'b'].map(async name => {
    const client = await join(name);
    const service = client.serve('sums', async ({ event, caller: who }) => {
      assert.equal(typeof who, 'bigint');
      by.set(name, (by.get(name) ?? 0) + 1);
      max = Math.max(max, ++running);
      await null;
      running--;
      const { x, y } = event.json();
      return new Reply({ sum: x + y }, { headers: { by: name } });
    }, { concurrency: 4 });
    await service.ready;
    return { client, service };
  }));
  const count = 1000;
  // A busy bus refuses requests that would wait for long.
  const replies = await Promise.all(Array.from({ length: count }, (_, i) => caller.request('sums', { x: i, y: 1 }, { retry: { attempts: 1000 } })));
  assert.deepEqual(replies.map(reply => reply.json().sum), Array.from({ length: count }, (_, i) => i + 1));
  assert.equal(replies[7].member > 0n, true);
  assert.ok(max <= 8 && by.get('a') > 0 && by.get('b') > 0, `${max} at once, ${JSON.stringify([...by])}`);
  const pinned = await Promise.all(Array.from({ length: 20 }, () => caller.request('sums', { x: 1, y: 1 }, { member: replies[7].member })));
  assert.equal(new Set(pinned.map(reply => reply.headers.by)).size, 1);
  const [first, second] = members;
  first.service.pause();
  assert.equal(await second.service.close(), true);
  const refused = await caller.request('sums', { x: 1, y: 1 }).catch(error => error);
  assert.deepEqual([refused.code, refused.executed], ['NO_MEMBER', 'NO']);
  const waits = caller.request('sums', { x: 1, y: 1 }, { waitFor: 30_000 });
  first.service.resume();
  assert.equal((await waits).json().sum, 2);
  assert.equal((await first.client.request('sums', { x: 2, y: 1 })).json().sum, 3, 'a client may ask its own service');
  assert.equal(await first.client.close(), true);
  const none = await caller.request('sums', { x: 1, y: 1 }).catch(error => error);
  assert.deepEqual([none.code, none.executed, none.retryable], ['NO_MEMBER', 'NO', true]);
  assert.equal(await second.client.close(), true);
  assert.equal(await caller.close(), true);
});

test('failures, timeouts and cancellations reach the other side', { skip }, async () => {
  const caller = await join('caller');
  const client = await join('member');
  const aborted = [];
  const service = client.serve('jobs', ({ method, signal }) => {
    if (method === 'reject') {
      throw new Rejection('FAILED', 'no order 7', { type: 'NoSuchOrder', details: Uint8Array.of(7) });
    }
    return new Promise(resolve => {
      signal.addEventListener('abort', () => {
        aborted.push(method);
        resolve();
      });
    });
  });
  await service.ready;
  const failed = await caller.request('jobs', '', { method: 'reject' }).catch(error => error);
  assert.deepEqual([failed.code, failed.executed, failed.message, failed.type, [...failed.details]], ['FAILED', 'YES', 'no order 7', 'NoSuchOrder', [7]]);
  const late = await caller.request('jobs', '', { method: 'late', timeout: 200 }).catch(error => error);
  assert.deepEqual([late.code, late.executed], ['TIMEOUT', 'UNKNOWN']);
  const control = new AbortController();
  const cancelled = caller.request('jobs', '', { method: 'cancelled', signal: control.signal });
  while (service.counters().received < 3) {
    await new Promise(setImmediate);
  }
  control.abort();
  await assert.rejects(cancelled, { name: 'AbortError' });
  while (aborted.length < 2) {
    await new Promise(setImmediate);
  }
  assert.deepEqual(aborted, ['late', 'cancelled']);
  // The member is gone before it has answered.
  const lost = caller.request('jobs', '', { method: 'lost' }).catch(error => error);
  while (service.counters().received < 4) {
    await new Promise(setImmediate);
  }
  await client.close({ timeout: 0 });
  assert.deepEqual([(await lost).code, (await lost).executed], ['MEMBER_LOST', 'UNKNOWN']);
  await caller.close();
});
