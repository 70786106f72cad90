import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ProducerState, Ranges } from '../src/producers.js';
import { repeated } from './support/random.js';

repeated('ranges are a set of numbers', 300, random => {
  const ranges = new Ranges();
  const model = new Set();
  for (let i = 0; i < 40; i++) {
    const from = 1 + random.below(100);
    const to = from + random.below(12);
    const missing = [];
    ranges.missing(from, to, (low, high) => {
      for (let n = low; n <= high; n++) {
        missing.push(n);
      }
    });
    const expected = [];
    for (let n = from; n <= to; n++) {
      if (!model.has(n)) {
        expected.push(n);
      }
    }
    assert.deepEqual(missing, expected);
    let first = from;
    while (model.has(first)) {
      first++;
    }
    assert.equal(ranges.firstMissing(from), first);
    if (random.below(2)) {
      ranges.add(from, to);
      for (let n = from; n <= to; n++) {
        model.add(n);
      }
    }
  }
});

test('too many ranges drop the lowest', () => {
  const ranges = new Ranges();
  for (let i = 0; i <= 64; i++) {
    ranges.add(10 * i, 10 * i);
  }
  assert.equal(ranges.firstMissing(0), 0);
  assert.equal(ranges.firstMissing(10), 11);
});

test('duplicates and gaps of a connection that gets every event', () => {
  const state = new ProducerState({}, 1n);
  const gaps = [];
  const received = (first, count) => state.received(first, count, true, (from, to) => gaps.push([from, to]));
  assert.equal(received(5, 3), 0);
  assert.equal(received(6, 2), 2);
  assert.equal(received(7, 3), 1);
  assert.equal(received(12, 1), 0);
  assert.deepEqual(gaps, [[10, 11]]);
  state.gap(13, 15, (from, to) => gaps.push([from, to]));
  assert.equal(received(17, 1), 0);
  assert.deepEqual(gaps, [[10, 11], [13, 15], [16, 16]]);
});

test('a member of a group sees no gaps, and recognises duplicates', () => {
  const state = new ProducerState({}, 1n);
  const none = () => assert.fail('no gaps');
  assert.equal(state.received(10, 2, false, none), 0);
  assert.equal(state.received(3, 1, false, none), 0);
  assert.equal(state.received(10, 3, false, none), 2);
  state.forgetBaseline();
  assert.equal(state.received(10, 3, false, none), 0);
});
