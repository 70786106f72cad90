// A worker against a model of a bus with a work queue: connections are lost, buses taken down, handlers fail, and still each event is settled once.
import assert from 'node:assert/strict';

import { worker } from '../src/durable.js';
import { frame, stored } from './support/bus-frames.js';
import { connected, settle } from './support/fakes.js';
import { repeated } from './support/random.js';

const EVENTS = 60;
const BUFFER = 1024;
const CONCURRENCY = 3;
const STEPS = 150;
// Number of repetitions; the environment can raise it.
const RUNS = Number(process.env.RUNS ?? 6);

/** A cluster: all its connections share one queue. */
class ModelQueue {
  /** @type {{attempt: number, holder: object | null, feed: number, outcome: string | null}[]} from position 1 */
  events = Array.from({ length: EVENTS + 1 }, () => ({ attempt: 1, holder: null, feed: 0, outcome: null }));
  /** @type {Map<object, {limit: number, sent: number, isEnding: boolean}>} by connection */
  consumers = new Map();
  feeds = 0;

  constructor(random, env) {
    this.random = random;
    this.env = env;
  }

  /** Reads what clients have sent, and answers. */
  read() {
    for (const connection of this.env.connections) {
      if (connection.closed || connection.isLost) {
        this.end(connection);
      } else {
        connection.said.splice(0).forEach(one => this.#answer(connection, one));
      }
    }
  }

  /** Ends a consumer; what it has goes to others. */
  end(connection) {
    this.consumers.delete(connection);
    this.#held(connection).forEach(event => {
      event.holder = null;
      event.attempt++;
    });
  }

  #held(connection) {
    return this.events.filter(event => event.holder === connection);
  }

  #answer(connection, one) {
    const consumer = this.consumers.get(connection);
    switch (one.frame) {
      case 'CONSUME':
        assert.equal(consumer, undefined, 'one Consume for each connection');
        this.consumers.set(connection, { limit: one.limit, sent: 0, isEnding: false });
        connection.send('CONFIRM', { typeCode: 16, about: one.id, topic: 'shop' });
        break;
      case 'CREDIT':
        if (one.consumer && consumer) {
          consumer.limit = Math.max(consumer.limit, one.limit);
        }
        break;
      case 'SETTLE':
        if (consumer) {
          this.#settle(connection, one);
        }
        break;
      case 'UNSUBSCRIBE':
        connection.send('CONFIRM', { typeCode: 6, about: one.id });
        if (consumer) {
          consumer.isEnding = true;
        } else {
          connection.send('DRAINED', { id: one.id });
        }
        break;
      case 'BARRIER':
      case 'ECHO':
        connection.send(one.frame, { id: one.id });
        break;
    }
    if (consumer?.isEnding && this.#held(connection).length === 0) {
      this.consumers.delete(connection);
      connection.send('DRAINED', { id: 1 });
    }
  }

  #settle(connection, { from, upTo, attempt, outcome, confirm }) {
    const range = this.events.slice(from, upTo + 1).filter(event => event.holder === connection);
    const ends = [this.events[from], this.events[upTo]];
    assert.ok(ends.every(event => event.holder === connection && event.attempt === attempt), `${from}..${upTo} is what the consumer has`);
    assert.ok(range.every(event => event.feed === ends[0].feed), 'it is of one feed');
    for (const event of outcome === 'EXTEND' ? [] : range) {
      event.holder = null;
      event.attempt += outcome === 'RETRY' ? 1 : 0;
      event.outcome = ['DONE', 'REJECT'].includes(outcome) ? outcome : null;
    }
    if (confirm) {
      connection.send('CONFIRM', { typeCode: 18, about: 1, receivers: -1, position: upTo });
    }
  }

  /** Feeds some events that wait, where the limit allows it. */
  feed(connection) {
    const consumer = this.consumers.get(connection);
    if (!consumer || connection.closed || connection.isLost || consumer.isEnding || consumer.sent >= consumer.limit) {
      return;
    }
    const waiting = this.events.map((event, position) => ({ event, position })).filter(({ event, position }) => position > 0 && !event.holder && !event.outcome);
    const first = this.random.below(Math.max(1, waiting.length));
    const end = first + 1 + this.random.below(6);
    const given = waiting.slice(first, end).filter(({ event, position }, i) => event.attempt === waiting[first].event.attempt && position === waiting[first].position + i);
    if (given.length === 0) {
      return;
    }
    this.feeds++;
    given.forEach(({ event }) => Object.assign(event, { holder: connection, feed: this.feeds }));
    const record = {
      id: 1, from: given[0].position, to: given.at(-1).position, head: EVENTS, attempt: given[0].event.attempt,
      frames: given.map(({ position }) => stored(position, `${position}${'x'.repeat(this.random.below(100))}`)),
    };
    consumer.sent += frame('FEED', record).length;
    connection.send('FEED', record);
  }
}

repeated('a worker settles each event over lost connections, moves, take-overs and failures', RUNS, async random => {
  const { client, env } = await connected({ silenceTimeout: 86_400_000, reconnect: { initialDelay: 10, maxDelay: 50 } });
  const queue = new ModelQueue(random, env);
  const works = [];
  let running = 0;
  let isCalm = false;
  const handler = async (event, delivery) => {
    running++;
    assert.ok(running <= CONCURRENCY);
    if (random.below(2) === 0) {
      await new Promise(resolve => works.push(resolve));
    }
    delivery.extend();
    running--;
    switch (isCalm ? 9 : random.below(12)) {
      case 0: throw new Error('no');
      case 1: return delivery.retry(0);
      case 2: return delivery.release();
      case 3: return delivery.reject('never');
      case 4: return void delivery.doneConfirmed();
      default:
    }
  };
  const one = worker(client, 'billing', { bufferBytes: BUFFER, from: 'FIRST', concurrency: CONCURRENCY, ackTimeout: 43_200_000 }, handler);
  const step = async faulty => {
    queue.read();
    queue.feed(random.pick(env.connections));
    queue.feed(env.bus);
    if (random.below(3) > 0 || !faulty) {
      works.splice(random.below(Math.max(1, works.length)), 1).forEach(end => end());
    }
    const fault = faulty ? random.below(40) : 99;
    const { bus } = env;
    if (fault === 0 && !bus.isLost && !bus.closed) {
      bus.isLost = true;
      bus.end();
    } else if (fault === 1 && !bus.isLost && !bus.closed) {
      bus.send('CHANGE_BUS', { urls: [`ws://bus-${env.connections.length + 1}.test/bus`] });
    } else if (fault === 2 && queue.consumers.has(bus) && !queue.consumers.get(bus).isEnding) {
      queue.read();
      queue.end(bus);
      bus.send('PROBLEM', { code: 'REPLACED', typeCode: 16, about: 1, retryable: true });
    }
    await env.advance(random.below(3) === 0 ? random.below(300) : 1);
    assert.ok(one.counters().bufferedBytes <= 6 * BUFFER + 4096, `${one.counters().bufferedBytes} bytes are buffered`);
  };
  for (let i = 0; i < STEPS; i++) {
    await step(true);
  }
  isCalm = true;
  // The end of a move, and of the wait after the bus has ended the worker.
  for (let i = 0; i < 30; i++) {
    works.splice(0).forEach(end => end());
    await env.advance(10_000);
    queue.read();
  }
  const isOver = () => queue.events.slice(1).every(event => event.outcome);
  for (let i = 0; i < 40 * EVENTS && !isOver(); i++) {
    await step(false);
  }
  assert.ok(isOver(), `it stalls: ${JSON.stringify(one.counters())}`);
  assert.equal(one.counters().bufferedBytes, 0);
  const closing = client.close({ timeout: 1000 });
  for (let i = 0; i < 5; i++) {
    await settle();
    queue.read();
  }
  assert.equal(await closing, true);
  assert.equal(env.timers.size, 0);
});
