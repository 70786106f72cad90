// Tests the worker's handler without a bus: node --test claims.test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { payer } from './claims.mjs';

/** Has a handler handle an event; returns how the event was settled. */
async function settled(handler, payload) {
  let outcome = null;
  const delivery = { attempt: 1, reject: reason => { outcome = `rejected: ${reason}`; } };
  await handler({ position: 7, json: () => JSON.parse(payload) }, delivery);
  return outcome ?? 'done';
}

const late = JSON.stringify({ carrier: 'B6', flight: 8, origin: 'JFK', dest: 'BOS', delay: 75 });

test('a late flight is paid for once, however often it comes', async () => {
  const table = new Map();
  const said = [];
  const pay = async (position, claim) => !table.has(position) && Boolean(table.set(position, claim));
  const handler = payer(pay, line => said.push(line));
  assert.equal(await settled(handler, late), 'done');
  assert.equal(await settled(handler, late), 'done');
  assert.deepEqual([...table], [[7, { flight: 'B6 8', delay: 75 }]]);
  assert.deepEqual(said, ['paid for B6 8, 75 minutes late']);
});

test('a flight in time is done, and nobody is paid', async () => {
  const handler = payer(() => assert.fail('paid'), assert.fail);
  assert.equal(await settled(handler, late.replace('75', '59')), 'done');
});

test('what is not a flight is a dead letter', async () => {
  const handler = payer(() => assert.fail('paid'), assert.fail);
  for (const payload of ['', 'null', '{"delay":"75"}']) {
    assert.equal(await settled(handler, payload), 'rejected: not a departed flight');
  }
});

test('a flight comes again while nobody can be paid', async () => {
  await assert.rejects(settled(payer(async () => { throw new Error('the bank is closed'); }, assert.fail), late), /the bank is closed/);
});
