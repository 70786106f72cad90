// The Node socket over TLS trusts only the given certificates.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { WebSocketServer } from 'ws';

import { connect } from '../src/index.js';
import { open } from '../src/node-socket.js';
import { SUBPROTOCOL } from '../src/wire/names.js';
import { frame, read } from './support/bus-frames.js';

const skip = spawnSync('openssl', ['version']).status === 0 ? false : 'left out: no openssl';

/** Starts a server of bus.test, with a certificate of its own; `behave` gets each connection. */
async function serve(t, behave) {
  const directory = mkdtempSync(join(tmpdir(), 'eventbus-js-tls-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [keyFile, certFile] = ['key.pem', 'cert.pem'].map(name => join(directory, name));
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=bus.test', '-addext', 'subjectAltName=DNS:bus.test',
    '-keyout', keyFile, '-out', certFile]);
  assert.equal(made.status, 0, String(made.stderr));
  const cert = readFileSync(certFile);
  const https = createServer({ key: readFileSync(keyFile), cert });
  const server = new WebSocketServer({ server: https, handleProtocols: () => SUBPROTOCOL });
  server.on('connection', behave);
  https.on('tlsClientError', () => {});
  https.listen(0, '127.0.0.1');
  await once(https, 'listening');
  t.after(() => {
    server.close();
    https.close();
  });
  return { cert, url: `wss://127.0.0.1:${https.address().port}/bus` };
}

test('wss accepts a trusted certificate, and refuses an untrusted one and one for another name', { skip }, async t => {
  const { cert, url } = await serve(t, socket => socket.on('message', data => socket.send(data)));
  const talk = tls => new Promise(resolve => {
    const channel = open(url, SUBPROTOCOL, {
      onOpen: () => channel.send([Uint8Array.of(1, 2, 3)]),
      onMessage: message => {
        channel.close(1000, '');
        resolve([...message]);
      },
      onClose: (code, reason, refusal) => resolve(`${code} ${refusal?.status} ${reason}`),
      onDrain() {},
      onPong() {},
    }, tls);
  });
  assert.deepEqual(await talk({ ca: cert, servername: 'bus.test' }), [1, 2, 3]);
  assert.match(await talk({ servername: 'bus.test' }), /^1006 0 self[- ]signed certificate/);
  assert.match(await talk({ ca: cert, servername: 'other.test' }), /^1006 0 Hostname\/IP does not match/);
  assert.match(await talk({ ca: cert }), /^1006 0 Hostname\/IP does not match/);
  assert.match(await talk({ rejectUnauthorized: false, servername: 'bus.test' }), /^1006 0 self[- ]signed certificate/, 'trust is not switched off');
});

test('a client over wss publishes with a trusted certificate, and ends at once with another', { skip }, async t => {
  const { cert, url } = await serve(t, socket => socket.on('message', data => {
    for (const one of read(new Uint8Array(data))) {
      if (one.frame === 'HELLO') {
        socket.send(frame('WELCOME'));
      } else if (one.frame === 'PUBLISH') {
        socket.send(frame('CONFIRM', { typeCode: 1, topic: one.topic, about: one.sequence, receivers: 2 }));
      }
    }
  }));
  const bus = await connect({ url, tls: { ca: cert, servername: 'bus.test' }, connectTimeout: 60_000 });
  assert.deepEqual(await bus.publish('a', 'x'), { topic: 'a', producer: 77n, sequence: 1, receivers: 2, position: 0, repeated: false });
  await bus.close();
  await assert.rejects(connect({ url, connectTimeout: 60_000 }), { code: 'NOT_CONNECTED', retryable: false, message: /self[- ]signed certificate$/ });
});
