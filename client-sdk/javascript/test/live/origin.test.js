// A page of another site than the bus's, with a token, in Chromium: its role decides what it may do.
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { launch, serveFiles, skip } from '../support/chromium.js';
import { startBus } from '../support/live.js';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'eventbus';
const ROLES = `
[role visitor]
allow publish user.{sub}.>
allow subscribe user.{sub}.>
allow subscribe news
`;

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
let friend;
let stranger;
let bus;
let browser;

/** Returns a token of u1, a visitor, with a life of a minute. */
function token() {
  const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'u1', iat: now, exp: now + 60, jti: randomUUID(), eventbus: { roles: ['visitor'] } };
  const signed = `${part({ alg: 'ES256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

before(async () => {
  if (skip) {
    return;
  }
  [friend, stranger] = await Promise.all([serveFiles(), serveFiles()]);
  const directory = mkdtempSync(join(tmpdir(), 'eventbus-js-'));
  const keys = join(directory, 'keys.pem');
  writeFileSync(keys, publicKey.export({ type: 'spki', format: 'pem' }));
  const roles = join(directory, 'roles.conf');
  writeFileSync(roles, ROLES);
  const settings = {
    'auth.roles-file': roles,
    'admin.enabled': 'false',
    'listen.allowed-origins': friend.origin,
    'auth.jwt.issuer': ISSUER,
    'auth.jwt.audience': AUDIENCE,
    'auth.jwt.public-keys': keys,
  };
  bus = await startBus(['--port', '0', ...Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])], directory);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await bus?.stop();
  friend?.close();
  stranger?.close();
});

test('a page of an allowed site does what its role says, and nothing else', { skip }, async () => {
  const page = await browser.newPage();
  await page.goto(friend.origin);
  const outcome = await page.evaluate(async ({ url, token }) => {
    const { connect } = await import('/src/index.js');
    const client = await connect({ url, token, connectTimeout: 60_000 });
    const options = { overflow: 'DROP_OLDEST' };
    const said = promise => promise.then(() => 'allowed', error => error.busCode);
    const got = new Promise(resolve => client.subscribe('user.u1.*', options, event => resolve(event.text())).ready.then(() => client.publish('user.u1.a', 'hello')));
    const outcome = {
      got: await got,
      news: await said(client.subscribe('news', options, () => {}).ready),
      publishOther: await said(client.publish('news', 'x')),
      publishOfAnother: await said(client.publish('user.u2.a', 'x')),
      subscribeOther: await said(client.subscribe('user.u2.>', options, () => {}).ready),
      subscribeAll: await said(client.subscribe('>', options, () => {}).ready),
      observe: await said(client.subscribe('$SYS.>', options, () => {}).ready),
      stillAllowed: await said(client.publish('user.u1.b', 'x')),
    };
    await client.close();
    return outcome;
  }, { url: bus.url, token: token() });
  assert.deepEqual(outcome, {
    got: 'hello', news: 'allowed', publishOther: 'FORBIDDEN', publishOfAnother: 'FORBIDDEN', subscribeOther: 'FORBIDDEN', subscribeAll: 'FORBIDDEN', observe: 'FORBIDDEN', stillAllowed: 'allowed',
  });
  await page.close();
});

test('a page without a token, or with one of another key, is refused', { skip }, async () => {
  const page = await browser.newPage();
  await page.goto(friend.origin);
  const refused = shown => page.evaluate(async ({ url, token }) => {
    const { connect } = await import('/src/index.js');
    return connect({ url, token, connectTimeout: 60_000 }).then(() => 'connected', error => `${error.code} ${error.busCode}`);
  }, { url: bus.url, token: shown });
  const good = token();
  assert.equal(await refused(undefined), 'REFUSED UNAUTHENTICATED');
  assert.equal(await refused(`${good.slice(0, -8)}AAAAAAAA`), 'REFUSED UNAUTHENTICATED');
  await page.close();
});

test('a page of a forbidden site gets no connection, with any token', { skip }, async () => {
  const page = await browser.newPage();
  const statuses = [];
  page.on('console', message => statuses.push(message.text()));
  await page.goto(stranger.origin);
  const outcome = await page.evaluate(async ({ url, token }) => {
    const { connect } = await import('/src/index.js');
    return connect({ url, token, connectTimeout: 5000 }).then(() => 'connected', error => `${error.code} ${error.message}`);
  }, { url: bus.url, token: token() });
  assert.match(outcome, /^(NOT_CONNECTED|REFUSED) /);
  assert.ok(statuses.some(text => text.includes('403')), statuses.join('\n'));
  await page.close();
});
