import { atLeast, frame, symbol } from './frames.js';
import { CONSUME_MODES, CONSUME_STARTS, SETTLE_OUTCOMES, TRUNCATED_REASONS } from './names.js';
import { Reader } from './reader.js';
import * as TYPE from './type.js';

// Frames of durable topics. Apart from the others, because most pages need none of them.

/**
 * @typedef {object} Consume
 * @property {number} id
 * @property {string} filter
 * @property {string} journal empty for the only one that has topics of the filter
 * @property {string} name of the durable subscription; empty for none
 * @property {typeof CONSUME_MODES[number]} mode
 * @property {typeof CONSUME_STARTS[number]} start
 * @property {number} from a position, or µs since the epoch; 0 where the start needs neither
 * @property {number} limit bytes of Feed frames
 * @property {number} creation of the journal that was read; 0 for none
 * @property {typeof CONSUME_STARTS[number]} otherStart start in another creation
 * @property {number} otherFrom as `from`
 *
 * @typedef {typeof SETTLE_OUTCOMES[number]} SettleOutcome
 *
 * @typedef {object} Settlement
 * @property {number} from first position
 * @property {SettleOutcome} outcome
 * @property {number} attempt that of the Feed
 * @property {number} delayMillis of RETRY; -1 for the bus's
 * @property {string} reason of RETRY and REJECT
 *
 * @typedef {object} Ask
 * @property {number} id
 * @property {string} journal empty for that of the topic
 * @property {string} topic empty for none
 * @property {string} name of a durable subscription; empty for none
 * @property {number} time µs since the epoch; 0 for none
 */

/**
 * @param {Consume} consume
 * @param {number[]} [limits] maxEvents, ackTimeoutMillis and maxAttempts of the mode SHARED, each 0 for the bus's; for others nothing, which is 0
 * @returns {Uint8Array} frame 016
 */
export const encodeConsume = ({ id, filter, journal, name, mode, start, from, limit, creation, otherStart, otherFrom }, limits = []) => frame(TYPE.CONSUME, body => {
  body.long(id);
  body.string(filter);
  body.string(journal);
  body.string(name);
  body.long(CONSUME_MODES.indexOf(mode));
  body.long(CONSUME_STARTS.indexOf(start));
  body.long(from);
  body.long(limit);
  body.long(creation);
  body.long(CONSUME_STARTS.indexOf(otherStart));
  body.long(otherFrom);
  limits.forEach(body.long, body);
});

/**
 * @param {number} id of the consumer
 * @param {number} upTo a position
 * @param {boolean} confirm whether the bus is to answer
 * @param {number} creation of the journal; 0 for any
 * @returns {Uint8Array} frame 018
 */
export const encodeSettle = (id, upTo, confirm, creation) => frame(TYPE.SETTLE, body => {
  body.long(id);
  body.long(upTo);
  body.boolean(confirm);
  body.long(creation);
});

/**
 * @param {number} id of the consumer
 * @param {number} upTo the last position
 * @param {boolean} confirm whether the bus is to answer
 * @param {number} creation of the journal; 0 for any
 * @param {Settlement} settlement of events of a shared subscription
 * @returns {Uint8Array} frame 018
 */
export const encodeSharedSettle = (id, upTo, confirm, creation, { from, outcome, attempt, delayMillis, reason }) => frame(TYPE.SETTLE, body => {
  body.long(id);
  body.long(upTo);
  body.boolean(confirm);
  body.long(creation);
  body.long(from);
  body.long(SETTLE_OUTCOMES.indexOf(outcome));
  body.long(attempt);
  body.long(delayMillis);
  body.string(reason);
});

/**
 * @param {number} consumer its id
 * @param {number} limit bytes of Feed frames since Consume
 * @param {number} received of them
 * @returns {Uint8Array} frame 028
 */
export const encodeConsumerCredit = (consumer, limit, received) => frame(TYPE.CREDIT, body => {
  body.long(0);
  body.long(limit);
  body.long(received);
  body.long(consumer);
});

/**
 * @param {Ask} ask
 * @returns {Uint8Array} frame 034
 */
export const encodeAsk = ({ id, journal, topic, name, time }) => frame(TYPE.ASK, body => {
  body.long(id);
  body.string(journal);
  body.string(topic);
  body.string(name);
  body.long(time);
});

/**
 * @typedef {object} Feed
 * @property {number} id of the consumer
 * @property {number} from first position that the frame covers
 * @property {number} to last one, `from` - 1 for none
 * @property {number} head last position of the journal
 * @property {number} start of the Deliver frames in the message
 * @property {number} end behind them
 * @property {number} attempt number of this delivery of the events, of a shared subscription; else 0
 */

/**
 * @param {Reader} body
 * @returns {Feed} of frame 017
 */
export function decodeFeed(body) {
  const id = body.long('id');
  const from = atLeast(body, 'from', 1);
  const to = atLeast(body, 'to', from - 1);
  const head = atLeast(body, 'head', to);
  const length = body.length('frames');
  const start = body.at;
  const end = start + length;
  body.at = end;
  return { id, from, to, head, start, end, attempt: body.done ? 0 : atLeast(body, 'attempt', 0) };
}

/**
 * @param {Uint8Array} message
 * @param {Feed} feed in it
 * @param {(from: number, to: number) => void} deliver is called with the body of each Deliver
 */
export function eachDeliver(message, { start, end }, deliver) {
  const frames = new Reader().wrap(message, start, end);
  while (!frames.done) {
    const typeCode = frames.int('Frame.typeCode');
    const length = frames.length('Frame.body');
    if (typeCode === TYPE.DELIVER) {
      deliver(frames.at, frames.at + length);
    }
    frames.at += length;
  }
}

/**
 * @param {Reader} body
 * @returns {{id: number, journal: string, first: number, last: number, topicLast: number, atTime: number, settled: number}} of frame 035
 */
export const decodeTold = body => ({
  id: body.long('id'),
  journal: body.string('journal'),
  first: body.long('first'),
  last: body.long('last'),
  topicLast: body.long('topicLast'),
  atTime: body.long('atTime'),
  settled: body.long('settled'),
});

/**
 * @param {Reader} body
 * @returns {{id: number, from: number, to: number, reason: typeof TRUNCATED_REASONS[number]}} of frame 037
 */
export function decodeTruncated(body) {
  const id = body.long('id');
  const from = atLeast(body, 'from', 1);
  return { id, from, to: atLeast(body, 'to', from), reason: symbol(body, 'reason', TRUNCATED_REASONS) };
}
