// The warning at the end of a program without close(), in a process of its own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { connected } from './support/fakes.js';

const fakes = new URL('support/fakes.js', import.meta.url).href;

/** Runs a script with a client connected to a fake bus. */
function run(body) {
  const script = `import { connected, FakeEnvironment, settle } from ${JSON.stringify(fakes)};
    import { environment } from ${JSON.stringify(new URL('../src/environment.js', import.meta.url).href)};
    const env = new FakeEnvironment();
    env.onExit = (await environment({ WebSocket: class {} })).onExit;
    const { client, bus } = await connected({ name: 'billing' }, env);
    ${body}`;
  const { status, stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return { status, said: stderr.trim(), stdout };
}

test('a process that ends with unconfirmed events prints their number', () => {
  const WARNING = n => `eventbus: the process ends, and ${n} of the client billing may be lost (expected: await close() first)`;
  for (const [body, expected] of [
    ["client.send('a', 'x'); process.exit(0);", WARNING('1 event')],
    ["client.publish('a', 'x'); client.publish('b', 'x'); client.send('a', 'x'); process.exit(0);", WARNING('3 events')],
    ["bus.end(); client.publish('a', 'x').catch(() => {}); await settle(); process.exit(0);", WARNING('1 event')],
    ["client.publish('a', 'x').catch(() => {}); await settle();", WARNING('1 event')],
    ["const p = client.publish('a', 'x'); await settle(); bus.confirmAll(); await p; process.exit(0);", ''],
    ["client.send('a', 'x'); const f = client.flush(); await settle(); bus.confirmAll(); await f; process.exit(0);", ''],
    ["client.publish('a', 'x').catch(() => {}); client.close({ timeout: 0 }); env.time += 1; await env.advance(1); process.exit(0);", ''],
  ]) {
    const { status, said } = run(body);
    assert.deepEqual({ status, said }, { status: 0, said: expected }, body);
  }
});

test('events that the network takes at once are still sent', () => {
  const { stdout } = run("process.on('exit', () => console.log(bus.of('PUBLISH').length)); client.send('a', 'x'); process.exit(0);");
  assert.equal(stdout.trim(), '1');
});

test('a closed client leaves no listener', async () => {
  const { client, env } = await connected({ closeTimeout: 0 });
  let listeners = 0;
  env.onExit = () => {
    listeners++;
    return () => listeners--;
  };
  const other = await connected({ closeTimeout: 0 }, env);
  assert.equal(listeners, 1);
  await Promise.all([client.close(), other.client.close(), env.advance(1)]);
  assert.equal(listeners, 0);
});
