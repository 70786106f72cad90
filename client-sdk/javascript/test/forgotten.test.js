import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ForgottenTopics } from '../src/forgotten-topics.js';

test('a number is used once, also when too many topics were forgotten', () => {
  const topics = new ForgottenTopics(2);
  topics.put('a', 5);
  topics.put('b', 9);
  assert.equal(topics.take('a'), 5);
  assert.equal(topics.take('new'), 1);
  topics.put('a', 6);
  topics.put('c', 2);
  assert.equal(topics.size, 1);
  assert.equal(topics.take('a'), 9, 'above every number that was');
  assert.equal(topics.take('c'), 2);
  topics.clear();
  assert.equal(topics.take('b'), 1);
});
