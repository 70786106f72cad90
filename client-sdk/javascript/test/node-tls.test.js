// The Node socket over TLS: trusts what it is told to trust, and nothing else.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { WebSocketServer } from 'ws';

import { open } from '../src/node-socket.js';
import { SUBPROTOCOL } from '../src/wire/names.js';

const skip = spawnSync('openssl', ['version']).status === 0 ? false : 'left out: no openssl';

test('wss: a certificate that is trusted, one that is not, and one for another name', { skip }, async t => {
  const directory = mkdtempSync(join(tmpdir(), 'eventbus-js-tls-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [keyFile, certFile] = ['key.pem', 'cert.pem'].map(name => join(directory, name));
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=bus.test', '-addext', 'subjectAltName=DNS:bus.test',
    '-keyout', keyFile, '-out', certFile]);
  assert.equal(made.status, 0, String(made.stderr));
  const cert = readFileSync(certFile);
  const https = createServer({ key: readFileSync(keyFile), cert });
  const server = new WebSocketServer({ server: https, handleProtocols: () => SUBPROTOCOL });
  server.on('connection', socket => socket.on('message', data => socket.send(data)));
  https.on('tlsClientError', () => {});
  https.listen(0, '127.0.0.1');
  await once(https, 'listening');
  t.after(() => {
    server.close();
    https.close();
  });
  const talk = tls => new Promise(resolve => {
    const channel = open(`wss://127.0.0.1:${https.address().port}/bus`, SUBPROTOCOL, {
      onOpen: () => channel.send([Uint8Array.of(1, 2, 3)]),
      onMessage: message => {
        channel.close(1000, '');
        resolve([...message]);
      },
      onClose: (code, reason) => resolve(`${code} ${reason}`),
      onDrain() {},
      onPong() {},
    }, tls);
  });
  assert.deepEqual(await talk({ ca: cert, servername: 'bus.test' }), [1, 2, 3]);
  assert.match(await talk({ servername: 'bus.test' }), /^1006 self[- ]signed certificate/);
  assert.match(await talk({ ca: cert, servername: 'other.test' }), /^1006 Hostname\/IP does not match/);
  assert.match(await talk({ ca: cert }), /^1006 Hostname\/IP does not match/);
  assert.match(await talk({ rejectUnauthorized: false, servername: 'bus.test' }), /^1006 self[- ]signed certificate/, 'trust is not switched off');
});
