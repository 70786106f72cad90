// A client whose tokens live for some seconds stays connected for several of their lives; without a new token the bus closes it, and it reconnects
// with one.
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { connect, skip, startBus } from '../support/live.js';

const LIFE = 5;
const LIVES = 4;
// A bus keeps a client for 40 s after the expiry.
const TIMEOUT = 90_000;

if (skip) {
  console.log(`tokens: ${skip}`);
  process.exit(0);
}
const secret = randomBytes(32);
const directory = mkdtempSync(join(tmpdir(), 'eventbus-js-'));
writeFileSync(join(directory, 'secret'), secret, { mode: 0o600 });
const base64url = value => Buffer.from(JSON.stringify(value)).toString('base64url');
let asked = 0;
let hasNone = false;
function token() {
  if (hasNone) {
    throw new Error('the issuer is away');
  }
  asked++;
  const now = Math.floor(Date.now() / 1000);
  const text = `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url({ iss: 'test', aud: 'bus', sub: 'alice', iat: now, exp: now + LIFE })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
const until = async (what, wanted) => {
  const end = Date.now() + TIMEOUT;
  while (!wanted()) {
    if (Date.now() > end) {
      throw new Error(`${what}: not within ${TIMEOUT} ms`);
    }
    await new Promise(resolve => setTimeout(resolve, 20));
  }
};

const bus = await startBus(['--port', '0', '--set', 'admin.enabled=false', '--set', 'auth.jwt.issuer=test', '--set', 'auth.jwt.audience=bus',
  '--set', `auth.jwt.secret-file=${join(directory, 'secret')}`], directory);
let failed = false;
try {
  const client = await connect({ url: bus.url, token });
  const problems = [];
  const ends = [];
  client.on('problem', problem => problems.push(problem.message));
  client.on('disconnected', ({ code }) => ends.push(code));
  const { session, expiresAt } = client.connection;
  let got = 0;
  await client.subscribe('tokens', {}, () => { got++; }).ready;
  let published = 0;
  await until('new tokens', () => {
    client.publish('tokens', 'x').catch(error => problems.push(error.message));
    published++;
    return client.connection.expiresAt >= expiresAt + (LIVES - 1) * LIFE * 750_000;
  });
  await client.flush();
  if (client.connection.session !== session || ends.length > 0 || problems.length > 0 || client.counters().missing > 0) {
    throw new Error(`connected anew, or problems: ${JSON.stringify({ ends, problems, ...client.counters() })}`);
  }
  await until('all events', () => got === published);
  console.log(`tokens: ${asked} tokens of ${LIFE} s on one connection, ${got} of ${published} events received`);
  hasNone = true;
  await until('4004', () => ends.length > 0);
  hasNone = false;
  await until('a connection', () => client.state === 'CONNECTED');
  if (ends[0] !== 4004 || client.connection.session === session || !problems.every(problem => /issuer is away|expire/.test(problem))) {
    throw new Error(`not as expected: ${JSON.stringify({ ends, problems })}`);
  }
  console.log(`tokens: without a new one closed with ${ends[0]} after ${problems.length} problems were told, and connected again with one`);
  await client.close();
} catch (error) {
  failed = true;
  console.error(`tokens: ${error.stack}`);
}
await bus.stop();
process.exit(failed ? 1 : 0);
