// Consumers against a model of a bus with a journal: connections are lost, buses taken down, handlers fail, and still each event is handled once.
import assert from 'node:assert/strict';

import { durable, replay } from '../src/durable.js';
import { frame, stored } from './support/bus-frames.js';
import { connected, settle } from './support/fakes.js';
import { repeated } from './support/random.js';

const EVENTS = 60;
const BUFFER = 1024;
const STEPS = 150;
const NAME = 'billing';
// Repetitions, more where somebody asks for them.
const RUNS = Number(process.env.RUNS ?? 6);

/** A cluster: all its connections read one journal. */
class ModelBus {
  settled = 0;
  fed = 0;
  /** @type {Map<object, {id: number, name: string, next: number, limit: number, sent: number, isTold: boolean}>} by connection, in the order of Consume */
  consumers = new Map();

  /** @param {string[]} journal `event`, `other` for a topic of no interest, or `gone`, from position 1 */
  constructor(journal, random, env) {
    this.journal = journal;
    this.random = random;
    this.env = env;
  }

  /** Reads what clients have sent, and answers. */
  read() {
    for (const connection of this.env.connections) {
      if (connection.closed || connection.isLost) {
        this.consumers.delete(connection);
        continue;
      }
      for (const one of connection.said.splice(0)) {
        this.#answer(connection, one);
      }
    }
  }

  #answer(connection, one) {
    const consumer = this.consumers.get(connection);
    switch (one.frame) {
      case 'CONSUME': {
        assert.equal(consumer, undefined, 'one Consume for each connection');
        const from = one.start === 'POSITION' ? one.from : 1;
        this.consumers.set(connection, { id: one.id, name: one.name, next: from, limit: one.limit, sent: 0, isTold: false });
        connection.send('CONFIRM', { typeCode: 16, about: one.id, topic: 'shop' });
        break;
      }
      case 'CREDIT':
        if (one.consumer && consumer) {
          consumer.limit = Math.max(consumer.limit, one.limit);
        }
        break;
      case 'SETTLE':
        if (consumer && this.#isActive(connection)) {
          assert.ok(one.upTo <= this.fed, 'nothing is settled that was not fed');
          this.settled = Math.max(this.settled, one.upTo);
        } else {
          connection.send('PROBLEM', { code: 'UNKNOWN_SUBSCRIPTION', typeCode: 18, about: one.id });
        }
        break;
      case 'UNSUBSCRIBE':
        this.consumers.delete(connection);
        connection.send('CONFIRM', { typeCode: 6, about: one.id });
        connection.send('DRAINED', { id: one.id });
        break;
      case 'BARRIER':
      case 'ECHO':
        connection.send(one.frame, { id: one.id });
        break;
    }
  }

  /** Of one name the first one is active. */
  #isActive(connection) {
    const { name } = this.consumers.get(connection);
    return name === '' || [...this.consumers.keys()][0] === connection;
  }

  /** Sends a Feed or a Truncated, where the limit allows it. */
  feed(connection) {
    const consumer = this.consumers.get(connection);
    if (!consumer || connection.closed || connection.isLost || !this.#isActive(connection) || consumer.sent >= consumer.limit) {
      return;
    }
    const { id } = consumer;
    if (!consumer.isTold) {
      consumer.isTold = true;
      consumer.next = consumer.name === '' ? consumer.next : this.settled + 1;
      this.#send(connection, { id, from: consumer.next, to: consumer.next - 1, head: EVENTS });
      return;
    }
    const from = consumer.next;
    if (from > EVENTS) {
      return;
    }
    const kind = this.journal[from];
    let to = from;
    while (to < EVENTS && this.random.below(8) > 0 && (kind === 'gone') === (this.journal[to + 1] === 'gone')) {
      to++;
    }
    consumer.next = to + 1;
    this.fed = Math.max(this.fed, to);
    if (kind === 'gone') {
      connection.send('TRUNCATED', { id, from, to });
      return;
    }
    const frames = [];
    for (let position = from; position <= to; position++) {
      if (this.journal[position] === 'event') {
        frames.push(stored(position, `${position}${'x'.repeat(this.random.below(100))}`));
      }
    }
    this.#send(connection, { id, from, to, head: EVENTS, frames });
  }

  #send(connection, record) {
    this.consumers.get(connection).sent += frame('FEED', record).length;
    connection.send('FEED', record);
  }
}

/** Runs a consumer until it has handled the journal; returns what it has handled, and what was told as truncated. */
async function run(random, begin) {
  const { client, env, told } = await connected({ silenceTimeout: 86_400_000, reconnect: { initialDelay: 10, maxDelay: 50 } });
  const journal = ['', ...Array.from({ length: EVENTS }, () => random.pick(['event', 'event', 'event', 'other', 'gone']))];
  const bus = new ModelBus(journal, random, env);
  const handled = [];
  const truncated = [];
  let work = null;
  let isCalm = false;
  const handler = event => {
    const done = () => {
      if (!isCalm && random.below(10) === 0) {
        throw new Error('no');
      }
      handled.push(event.position);
    };
    return random.below(2) === 0 ? done() : new Promise(resolve => { work = resolve; }).then(done);
  };
  const onTruncated = ({ from, to, reason }) => void truncated.push({ from, to, reason });
  const consumer = begin(client, { bufferBytes: BUFFER, from: 'FIRST', onTruncated }, handler);
  const step = async faulty => {
    bus.read();
    bus.feed(random.pick(env.connections));
    bus.feed(env.bus);
    if (random.below(3) > 0 || !faulty) {
      work?.();
    }
    const fault = faulty ? random.below(40) : 99;
    if (fault === 0) {
      const lost = env.bus;
      if (!lost.isLost && !lost.closed) {
        lost.isLost = true;
        lost.end();
      }
    } else if (fault === 1 && !env.bus.isLost && !env.bus.closed) {
      env.bus.send('CHANGE_BUS', { urls: [`ws://bus-${env.connections.length + 1}.test/bus`] });
    } else if (fault === 2 && bus.consumers.get(env.bus)) {
      bus.consumers.delete(env.bus);
      env.bus.send('PROBLEM', { code: 'REPLACED', typeCode: 16, about: consumer.id });
    }
    await env.advance(random.below(3) === 0 ? random.below(300) : 1);
    const { bufferedBytes } = consumer.counters();
    assert.ok(bufferedBytes <= 6 * BUFFER + 4096, `${bufferedBytes} bytes are buffered`);
  };
  for (let i = 0; i < STEPS; i++) {
    await step(true);
  }
  isCalm = true;
  // The longest pause after a failure, and the end of a move.
  for (let i = 0; i < 30; i++) {
    await env.advance(10_000);
    bus.read();
  }
  for (let i = 0; i < 40 * EVENTS && (consumer.position < EVENTS || (consumer.name !== '' && bus.settled < EVENTS)); i++) {
    await step(false);
  }
  assert.equal(consumer.position, EVENTS, `it stalls: lag ${consumer.lag()}`);
  assert.equal(consumer.lag(), 0);
  await env.advance(200);
  bus.read();
  const positions = kind => journal.flatMap((one, position) => one === kind ? [position] : []);
  assert.deepEqual(handled, positions('event'), 'each event once, in order');
  const ranges = told.filter(one => one.type === 'truncated');
  const gone = ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
  assert.deepEqual(gone, positions('gone'), 'what does not come is told once');
  assert.deepEqual(truncated.flatMap(({ from, to }) => [from, to]).filter((at, i, all) => i > 0 && at < all[i - 1]), [], 'in order');
  assert.deepEqual(ranges.filter(one => one.reason === 'UNKNOWN'), []);
  const closing = client.close({ timeout: 1000 });
  for (let i = 0; i < 5; i++) {
    await settle();
    bus.read();
  }
  await env.advance(2000);
  await closing;
  assert.equal(env.timers.size, 0);
  return bus;
}

repeated('a durable subscription handles each event once over lost connections, moves, take-overs and failures', RUNS, async random => {
  const bus = await run(random, (client, options, handler) => durable(client, NAME, options, handler));
  assert.equal(bus.settled, EVENTS);
});

repeated('a replay handles each event once over lost connections, moves and failures', RUNS, async random => {
  await run(random, (client, options, handler) => replay(client, options, handler));
});
