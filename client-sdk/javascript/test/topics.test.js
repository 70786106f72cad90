import assert from 'node:assert/strict';
import { test } from 'node:test';

import { filterProblem, matcher, topicProblem } from '../src/topics.js';
import { hasVectors, vectors } from './support/vectors.js';

const kit = { skip: hasVectors ? false : 'the conformance kit is not here' };

test('topics are checked like in the Java codec, with the same messages', kit, () => {
  for (const { topic, legal, reason } of vectors('topics')) {
    assert.equal(topicProblem(topic), legal ? null : reason);
  }
});

test('filters are checked like in the Java codec, with the same messages', kit, () => {
  for (const { filter, legal, reason } of vectors('filters')) {
    assert.equal(filterProblem(filter), legal ? null : reason);
  }
});

test('filters select the topics that Java\'s select', kit, () => {
  for (const { filter, topic, matches } of vectors('matches')) {
    assert.equal(matcher(filter)(topic), matches, `${filter} ${topic}`);
  }
});

test('filters select the topics in the table of the protocol page', () => {
  for (const [filter, selected, others] of [
    ['a.b', ['a.b'], ['a', 'a.b.c']], ['a.*', ['a.b'], ['a', 'a.b.c']], ['a.*.c', ['a.b.c'], ['a.c']], ['a.>', ['a.b', 'a.b.c'], ['a']],
    ['>', ['a', 'a.b'], ['$SYS.x']], ['*.x', ['a.x'], ['$SYS.x']], ['$SYS.>', ['$SYS.x'], ['a.x']],
  ]) {
    selected.forEach(topic => assert.ok(matcher(filter)(topic), `${filter} ${topic}`));
    others.forEach(topic => assert.ok(!matcher(filter)(topic), `${filter} ${topic}`));
  }
});

test('an illegal topic is refused, and hostile text is shown safely', () => {
  for (const topic of ['', '.', 'a.', '.a', 'a..b', 'a b', 'a\tb', 'a\u00A0b', 'a\u2028b', 'a\uD800', 'a.*', '>', '$SYS.x', 'x'.repeat(256), 'ü'.repeat(128), Array(17).fill('a').join('.')]) {
    assert.notEqual(topicProblem(topic), null, topic);
  }
  assert.equal(topicProblem(`\u001B[31m'${'x'.repeat(300)}`).includes('\u001B'), false);
  for (const filter of ['a.>.b', 'a*', 'a.b>', '>>', '**']) {
    assert.notEqual(filterProblem(filter), null, filter);
  }
  for (const name of ['x'.repeat(255), 'ü'.repeat(127), Array(16).fill('a').join('.'), '航空.着陸', '😀']) {
    assert.equal(topicProblem(name), null);
  }
});
