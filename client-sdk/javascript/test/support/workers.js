// A worker at a fake bus.
import { worker } from '../../src/durable.js';
import { stored } from './bus-frames.js';
import { connected, settle } from './fakes.js';

/** Returns a client with a worker `billing` that the bus has accepted; a handler of `null` is for none. */
export async function working(handler, options = {}, clientOptions = {}) {
  const all = await connected(clientOptions);
  const one = worker(all.client, 'billing', options, handler ?? undefined);
  await settle();
  const [consume] = all.bus.of('CONSUME');
  all.bus.confirmAll();
  await one.ready;
  /** Feeds events with consecutive positions. */
  const feed = (from, payloads, record = {}, bus = all.env.bus) =>
    bus.send('FEED', { id: 1, from, to: from + payloads.length - 1, frames: [stored(from, ...payloads)], attempt: 1, ...record });
  return { ...all, worker: one, consume, feed };
}

/** Returns what a bus was told of events: `from..upTo outcome`, and what else is not as usual. */
export const settled = bus => bus.of('SETTLE').map(({ from, upTo, outcome, attempt, delayMillis, reason, confirm }) =>
  `${from === upTo ? from : `${from}..${upTo}`} ${outcome}${attempt === 1 ? '' : ` of ${attempt}`}${delayMillis === -1 ? '' : ` in ${delayMillis}`}${reason && ` (${reason})`}${confirm ? ' confirmed' : ''}`);
