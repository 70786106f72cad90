// Cases of a WebSocket client against a server of raw bytes, and against `ws`.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { WebSocketServer } from 'ws';

import { FrameReceiver, maskedFrame, readClose } from '../src/node-frames.js';
import { open } from '../src/node-socket.js';
import { SUBPROTOCOL } from '../src/wire/names.js';
import { repeated } from './support/random.js';

const accept = key => createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

const upgrade = head => ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade',
  `Sec-WebSocket-Accept: ${accept(/Sec-WebSocket-Key: (.*)\r/.exec(head)[1])}`, `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`, '', ''];

/** Connects a client to a server with this answer to the upgrade, and returns its events. */
async function conversation(t, answer, behaviour = () => {}) {
  const received = [];
  const server = createServer(socket => {
    let head = '';
    socket.on('error', () => {});
    socket.on('data', chunk => {
      if (head.endsWith('\r\n\r\n')) {
        received.push(chunk);
        return;
      }
      head += chunk.toString('latin1');
      if (head.endsWith('\r\n\r\n')) {
        server.head = head;
        socket.write(answer(head));
      }
    });
    server.client = socket;
    socket.on('close', () => server.emit('gone'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.client?.destroy();
    server.close();
  });
  const told = { messages: [], opened: 0, pongs: 0 };
  const closed = new Promise(resolve => {
    const channel = open(`ws://127.0.0.1:${server.address().port}/bus?x=1`, SUBPROTOCOL, {
      onOpen: () => { told.opened++; behaviour(channel, server); },
      onMessage: message => told.messages.push(Buffer.from(message)),
      onClose: (code, reason, refusal) => resolve({ ...told, code, reason, refusal, received: () => Buffer.concat(received), server }),
      onDrain: () => {},
      onPong: () => { told.pongs++; },
    });
  });
  return closed;
}

const ok = head => upgrade(head).join('\r\n');
/** Returns an answer to the upgrade with these bytes right behind it. */
const withBytes = (...parts) => head => Buffer.concat([Buffer.from(ok(head)), ...parts.map(part => Buffer.from(part))]);
const frame = (opcode, payload = [], fin = true) => Buffer.from([(fin ? 0x80 : 0) | opcode, ...(payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 255]), ...payload]);
const close = (code, reason = '') => frame(8, [code >> 8, code & 255, ...Buffer.from(reason)]);

test('the upgrade asks for the sub-protocol with a fresh key', async t => {
  const { server, opened, code } = await conversation(t, withBytes(close(1000)));
  assert.match(server.head, /^GET \/bus\?x=1 HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: [\w+/]{22}==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: eventbus\.v1\.avro\r\n\r\n$/);
  assert.deepEqual([opened, code], [1, 1000]);
});

test('an answer to another upgrade is refused', async t => {
  for (const [change, reason] of [
    [lines => lines.with(1, 'Upgrade: h2c'), /^upgrade: h2c/], [lines => lines.toSpliced(2, 1), /^connection: nothing/],
    [lines => lines.with(3, 'Sec-WebSocket-Accept: x'), /^sec-websocket-accept: x/],
    [lines => lines.with(4, 'Sec-WebSocket-Protocol: other'), /^sec-websocket-protocol: other \(expected: eventbus.v1.avro\)/],
    [lines => lines.toSpliced(4, 1), /^sec-websocket-protocol: nothing/],
    [lines => lines.toSpliced(4, 0, 'Sec-WebSocket-Extensions: permessage-deflate'), /^sec-websocket-extensions/],
    [() => ['SSH-2.0-OpenSSH', '', ''], /not HTTP/], [() => ['x'.repeat(20_000)], /^an answer whose head has more than/],
  ]) {
    const { opened, reason: told, code } = await conversation(t, head => change(upgrade(head)).join('\r\n'));
    assert.equal(opened, 0);
    assert.match(told, reason);
    assert.notEqual(code, 1000);
  }
});

test('a refused upgrade is reported with its status and text', async t => {
  const { refusal, code } = await conversation(t, () => 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 3\r\nConnection: close\r\n\r\nfull: 10 of 10\u001B\n');
  assert.equal(code, 1006);
  assert.deepEqual(refusal && { ...refusal }, { status: 503, text: 'full: 10 of 10', retryAfter: 3000, isByBus: false });
  const byBus = await conversation(t, () => 'HTTP/1.1 404 Not Found\r\neventbus-refused: yes\r\nConnection: close\r\n\r\nno');
  assert.deepEqual(byBus.refusal && { ...byBus.refusal }, { status: 404, text: 'no', retryAfter: 0, isByBus: true });
  for (const [given, min, max] of [['999999', 300_000, 300_000], [new Date(Date.now() + 60_000).toUTCString(), 1, 60_000], ['Wed, 21 Oct 2015 07:28:00 GMT', 0, 0], ['soon', 0, 0], ['-5', 0, 0]]) {
    const { refusal: { retryAfter } } = await conversation(t, () => `HTTP/1.1 429 Too Many Requests\r\nRetry-After: ${given}\r\nConnection: close\r\n\r\n`);
    assert.ok(retryAfter >= min && retryAfter <= max, `${given}: ${retryAfter}`);
  }
});

test('a port without a listener is reported', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  const { promise, resolve } = withResolvers();
  open(`ws://127.0.0.1:${port}/bus`, SUBPROTOCOL, { onOpen: assert.fail, onMessage: assert.fail, onClose: (code, reason) => resolve([code, reason]), onDrain() {}, onPong() {} });
  const [code, reason] = await promise;
  assert.equal(code, 1006);
  assert.match(reason, /ECONNREFUSED/);
});

/** Returns the short frames of a client. */
function framesOf(bytes) {
  const frames = [];
  for (let at = 0; at < bytes.length; at += 6 + (bytes[at + 1] & 127)) {
    frames.push({ opcode: bytes[at] & 15, masked: bytes[at + 1] >= 128 });
  }
  return frames;
}

function withResolvers() {
  let resolve;
  const promise = new Promise(r => { resolve = r; });
  return { promise, resolve };
}

for (const [name, parts, code, messages = []] of [
  ['a message', [frame(2, [1, 2]), close(1001, 'bye')], 1001, ['0102']],
  ['an empty message is none', [frame(2), close(1000)], 1000],
  ['a message in three frames with a ping between', [frame(2, [1], false), frame(9, [7]), frame(0, [2], false), frame(0, [3]), close(1000)], 1000, ['010203']],
  ['empty fragments', [frame(2, [], false), frame(0, [], false), frame(0, [9]), close(1000)], 1000, ['09']],
  ['a message of 126 bytes', [frame(2, Array(126).fill(5)), close(1000)], 1000, ['05'.repeat(126)]],
  ['a close without a code', [frame(8)], 1005],
  ['a text message', [frame(1, [65])], 1003],
  ['a masked frame', [[0x82, 0x81, 0, 0, 0, 0, 1]], 1002],
  ['reserved bits', [[0xC2, 0]], 1002],
  ['an unknown opcode', [frame(3)], 1002],
  ['an unknown control opcode', [frame(11)], 1002],
  ['a ping that is not final', [frame(9, [], false)], 1002],
  ['a ping of 126 bytes', [frame(9, Array(126).fill(0))], 1002],
  ['a continuation of nothing', [frame(0, [1])], 1002],
  ['a message inside of another', [frame(2, [1], false), frame(2, [1])], 1002],
  ['a close of one byte', [frame(8, [3])], 1002],
  ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000].map(bad => [`close code ${bad}`, [close(bad)], 1002]),
  ...[1003, 1011, 3000, 4000, 4999].map(good => [`close code ${good}`, [close(good)], good]),
  ['a close reason that is not UTF-8', [frame(8, [3, 232, 0xFF])], 1007],
  ['a length of 2^63', [[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]], 1009],
  ['nothing behind the close is read', [close(1000), frame(2, [1])], 1000],
]) {
  test(`conversation: ${name}`, async t => {
    const got = await conversation(t, withBytes(...parts));
    assert.equal(got.code, code);
    assert.deepEqual(got.messages.map(m => m.toString('hex')), messages);
    if (got.server.client && !got.server.client.destroyed) {
      await once(got.server, 'gone');
    }
    const said = framesOf(got.received());
    assert.ok(said.every(one => one.masked));
    assert.equal(said.at(-1).opcode, 8, 'a Close answers');
  });
}

test('a ping is answered with its payload, a pong is a sign of life', async t => {
  const got = await conversation(t, withBytes(frame(9, [1, 2, 3]), frame(10), close(1000)));
  await once(got.server, 'gone');
  const answer = got.received();
  const mask = answer.subarray(2, 6);
  assert.deepEqual([...answer.subarray(0, 2)], [0x8A, 0x83]);
  assert.deepEqual([...answer.subarray(6, 9)].map((byte, i) => byte ^ mask[i]), [1, 2, 3]);
  assert.ok(got.pongs >= 2);
});

test('the end of a connection without a Close is reported as 1006', async t => {
  const { code } = await conversation(t, ok, (_, server) => server.client.destroy());
  assert.equal(code, 1006);
});

test('an unanswered close ends after 2 s', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const ended = conversation(t, ok, channel => {
    channel.close(1000, 'ü'.repeat(100));
    t.mock.timers.tick(2000);
  });
  const { code, reason, server } = await ended;
  assert.deepEqual([code, reason], [1006, 'the bus has not answered the Close']);
  await once(server, 'gone');
});

test('ws echoes messages of any size whole and in order', async t => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => SUBPROTOCOL, perMessageDeflate: false });
  await once(server, 'listening');
  t.after(() => server.close());
  server.on('connection', socket => socket.on('message', data => {
    for (let at = 0; at < data.length; at += 70_000) {
      socket.send(data.subarray(at, at + 70_000), { binary: true, fin: at + 70_000 >= data.length });
    }
  }));
  const sizes = [1, 2, 3, 4, 5, 125, 126, 127, 65_535, 65_536, 65_537, 1_000_003];
  const { promise, resolve } = withResolvers();
  const got = [];
  const channel = open(`ws://127.0.0.1:${server.address().port}/`, SUBPROTOCOL, {
    onOpen: () => sizes.forEach(size => channel.send([Buffer.alloc(size >> 1, size & 127), Buffer.alloc(size - (size >> 1), 200)])),
    onMessage: message => {
      got.push(message);
      if (got.length === sizes.length) {
        channel.close(1000, '');
      }
    },
    onClose: code => resolve(code),
    onDrain() {},
    onPong() {},
  });
  assert.equal(await promise, 1000);
  got.forEach((message, i) => {
    const size = sizes[i];
    assert.ok(Buffer.concat([Buffer.alloc(size >> 1, size & 127), Buffer.alloc(size - (size >> 1), 200)]).equals(message), String(size));
  });
});

test('a message over the limit is refused before it is read', () => {
  const receiver = new FrameReceiver(assert.fail, assert.fail);
  receiver.limit = 1000;
  assert.throws(() => receiver.push(Uint8Array.of(0x82, 126, 3, 233)), { code: 1009, message: 'message of 1001 bytes (expected: at most 1000)' });
  const fragments = new FrameReceiver(assert.fail, assert.fail);
  fragments.limit = 3;
  assert.throws(() => fragments.push(Uint8Array.of(2, 2, 1, 1, 0, 2)), { code: 1009 });
});

test('a message in too many frames is refused', () => {
  const receiver = new FrameReceiver(assert.fail, assert.fail);
  const fragments = new Uint8Array(2 ** 21);
  fragments[0] = 2;
  receiver.push(fragments);
  assert.throws(() => receiver.push(Uint8Array.of(0, 0)), { code: 1009, message: /more than 1048576 frames/ });
});

repeated('messages do not depend on how their bytes are split', 200, random => {
  const messages = Array.from({ length: 1 + random.below(5) }, () => random.bytes(1 + random.below(300)));
  const bytes = Buffer.concat(messages.flatMap(message => {
    const cut = random.below(message.length);
    return random.below(2) ? [frame(2, [...message])] : [frame(2, [...message.subarray(0, cut)], false), frame(9), frame(0, [...message.subarray(cut)])];
  }));
  const got = [];
  const receiver = new FrameReceiver(message => got.push(Uint8Array.from(message)), () => {});
  for (let at = 0; at < bytes.length;) {
    const to = at + 1 + random.below(40);
    receiver.push(Uint8Array.from(bytes.subarray(at, to)));
    at = to;
  }
  assert.deepEqual(got, messages);
});

repeated('masked frames unmask to the sent bytes', 200, random => {
  const payload = random.bytes(random.below(70_000));
  const mask = random.bytes(4);
  const cut = random.below(payload.length + 1);
  const bytes = maskedFrame(2, [payload.subarray(0, cut), payload.subarray(cut)], mask, size => Buffer.alloc(size));
  const front = payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10;
  assert.deepEqual(bytes.subarray(front, front + 4), Buffer.from(mask));
  assert.equal(bytes.length, front + 4 + payload.length);
  assert.ok(payload.every((byte, i) => (byte ^ mask[i & 3]) === bytes[front + 4 + i]));
});

test('close frames', () => {
  assert.deepEqual(readClose(new Uint8Array(0)), { code: 1005, reason: '' });
  assert.deepEqual(readClose(new Uint8Array([15, 160, ...Buffer.from('ü')])), { code: 4000, reason: 'ü' });
});
