import { exceeds, notDurable } from './encoder.js';
import { PublishFrame } from './frame.js';

/** @import {Limits} from './types.js' */

/** Bytes of the outbound buffer that an event takes beside its own. */
export const AROUND_EVENT = 64;

/**
 * Splits a frame into frames for a bus with smaller limits than the one it was made for. Events that are too big for it are removed, and their
 * waiters told; all others keep their numbers.
 *
 * @param {PublishFrame} old
 * @param {Limits} limits of the bus
 * @param {number} batchBytes
 * @param {boolean} durable whether the bus has durable topics
 * @returns {{frames: PublishFrame[], refused: number}} and the number of removed events without a waiter
 */
export function splitBatch(old, limits, batchBytes, durable) {
  /** @type {PublishFrame[]} */
  const frames = [];
  let refused = 0;
  /** @type {PublishFrame | null} */
  let frame = null;
  for (const [i, event] of old.events().entries()) {
    const waiter = old.waiters?.[i] ?? null;
    const problem = old.tail && !durable ? notDurable() : exceeds(event, limits);
    if (problem) {
      waiter?.reject(problem);
      refused += old.waiters ? 0 : 1;
      // After a hole in the numbers the next event needs a frame of its own.
      frame = null;
      continue;
    }
    if (!frame || frame.size + event.bytes.length > batchBytes) {
      frame = new PublishFrame(old.topic, old.first + i, old.schema, old.waiters && [], event.bytes.length);
      frame.born = old.born;
      frame.isSent = old.isSent;
      frame.tail = old.tail;
      frames.push(frame);
    }
    frame.writer.raw(event.bytes);
    frame.count++;
    frame.cost += event.bytes.length + AROUND_EVENT;
    frame.waiters?.push(waiter);
  }
  return { frames, refused };
}

/**
 * @param {Limits} limits that a bus has told
 * @returns {Limits} corrected, so that something can be published whatever the bus has told
 */
export function usable(limits) {
  return {
    ...limits, payloadBytes: Math.max(1, limits.payloadBytes), headers: Math.max(0, limits.headers), headerBytes: Math.max(0, limits.headerBytes),
    messageBytes: Math.max(1024, limits.messageBytes),
  };
}

/**
 * @param {Limits} before
 * @param {Limits} now
 * @returns {boolean} whether a bus accepts all that the one before has accepted
 */
export function fits(before, now) {
  return now.payloadBytes >= before.payloadBytes && now.headers >= before.headers && now.headerBytes >= before.headerBytes
    && now.messageBytes >= before.messageBytes;
}
