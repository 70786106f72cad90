// Mutated frames, for 1 s or FUZZ_SECONDS: a decoder refuses them as malformed or reads them, in time and memory bounded by the input.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Malformed } from '../../src/errors.js';
import { FrameReceiver, WebSocketError } from '../../src/node-frames.js';
import { rawFrame, frame } from '../support/bus-frames.js';
import { generator } from '../support/random.js';
import { decode } from '../support/records.js';
import { examples } from '../support/vectors.js';

const seconds = Number(process.env.FUZZ_SECONDS ?? 1);
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

function mutate(bytes, random) {
  let all = Array.from(bytes);
  for (let i = 1 + random.below(4); i > 0; i--) {
    const at = random.below(all.length + 1);
    switch (random.below(5)) {
      case 0: all[at] = random.below(256); break;
      case 1: all.splice(at, random.below(4)); break;
      case 2: all.splice(at, 0, ...random.bytes(1 + random.below(4))); break;
      case 3: all.splice(at, 0, ...Array(random.below(10)).fill(0xFF), random.below(3)); break;
      default: all = all.slice(0, at);
    }
  }
  return Uint8Array.from(all, byte => byte ?? 0);
}

test('mutated frames are malformed or read, and take no longer than others', () => {
  const random = generator(seed);
  const seeds = [...examples().map(one => one.bytes), frame('DELIVER', { events: Array.from({ length: 40 }, (_, i) => ({ key: `k${i}`, headers: { a: 'ü' }, payload: 'x'.repeat(i) })), groups: [1, 2, 3] })];
  const until = performance.now() + 500 * seconds;
  let refused = 0;
  let tried = 0;
  while (performance.now() < until) {
    let input = mutate(random.pick(seeds), random);
    if (random.below(2)) {
      // Mutates only the body, so that it is read.
      const [type, , ...body] = random.pick(seeds);
      input = rawFrame(type >> 1, mutate(Uint8Array.from(body), random));
    }
    tried++;
    const before = performance.now();
    try {
      JSON.stringify(decode(input));
    } catch (error) {
      assert.ok(error instanceof Malformed, `${error.stack} of ${Buffer.from(input).toString('hex')} (SEED=${seed})`);
      refused++;
    }
    const took = performance.now() - before;
    assert.ok(took < 1000, `${took} ms for ${input.length} bytes: ${Buffer.from(input).toString('hex')}`);
  }
  assert.ok(refused > tried / 100 && refused < tried, `${refused} of ${tried}`);
});

test('mutated WebSocket frames end in an error or in messages, and take no more memory than was received', () => {
  const random = generator(seed);
  const until = performance.now() + 500 * seconds;
  while (performance.now() < until) {
    const size = random.pick([0, 5, 125, 126, 300, 70_000]);
    const head = size < 126 ? [0x82, size] : size < 65_536 ? [0x82, 126, size >> 8, size & 255] : [0x82, 127, 0, 0, 0, 0, 0, size >> 16, (size >> 8) & 255, size & 255];
    const input = mutate(Uint8Array.from([0x89, 2, 1, 2, 0x02, 1, 7, ...head.map((b, i) => (i === 0 ? 0x80 : b)), ...random.bytes(size), 0x88, 2, 3, 232]), random);
    let messages = 0;
    const receiver = new FrameReceiver(message => { messages += message.length; }, () => {});
    receiver.limit = 100_000;
    try {
      for (let at = 0; at < input.length;) {
        const to = at + 1 + random.below(input.length);
        receiver.push(input.subarray(at, to));
        at = to;
      }
    } catch (error) {
      assert.ok(error instanceof WebSocketError, `${error.stack} (SEED=${seed})`);
    }
    assert.ok(messages <= input.length);
  }
});
