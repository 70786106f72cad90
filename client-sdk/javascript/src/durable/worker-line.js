import { EventBusError } from '../errors.js';
import { joined } from '../wire/bytes.js';
import { frameOf, merged, SettleAnswers } from './settlements.js';

/** @import {BusLink} from '../bus-link.js' */
/** @import {FeedCredit} from './credits.js' */
/** @import {Answer, Range} from './settlements.js' */

/** @typedef {{received: number, done: number, retried: number, rejected: number, late: number, failed: number}} Counts */

// Size from which settlements are sent in another message: each bus accepts as much.
const MESSAGE_BYTES = 8192;

/** @type {Partial<Record<Range['outcome'], 'done' | 'retried' | 'rejected'>>} outcomes that are counted */
const COUNTED = { DONE: 'done', RETRY: 'retried', REJECT: 'rejected' };

/** Worker at the bus of one connection, from the bus's answer to `Consume` on: the settlements of what came over it. */
export class WorkerLine {
  /** Set when events that come are given back. */
  isLeaving = false;
  credit;
  #link;
  #id;
  #creation;
  #counts;
  #isLost = false;
  /** @type {Range[]} */
  #waiting = [];
  #answers = new SettleAnswers();

  /**
   * @param {BusLink} link
   * @param {FeedCredit} credit
   * @param {number} id of the worker
   * @param {number} creation of the journal; 0 if it is not known
   * @param {Counts} counts
   */
  constructor(link, credit, id, creation, counts) {
    this.#link = link;
    this.credit = credit;
    this.#id = id;
    this.#creation = creation;
    this.#counts = counts;
  }

  /** Records that nothing that came over it can be settled any more. */
  lose() {
    this.#isLost = true;
    this.#waiting.forEach(range => this.#late(range));
    this.#waiting = [];
    this.#answers.end(lost());
  }

  /** @param {Range} range that cannot be settled any more */
  #late({ first, last, outcome }) {
    if (outcome in COUNTED) {
      this.#counts.late += last - first + 1;
    }
  }

  /** @param {Range} range to settle with the next `flush` */
  settle(range) {
    if (this.#isLost) {
      this.#late(range);
    } else {
      this.#waiting.push(range);
    }
  }

  /**
   * Settles an event with an answer, as soon as the bus takes it.
   * @param {Range} range
   * @param {Answer} answer
   */
  confirm(range, answer) {
    if (this.#isLost) {
      this.#late(range);
      answer.reject(lost());
    } else {
      this.#answers.add(range, answer);
      this.flush();
    }
  }

  /** @param {number} position whose settlement is stored */
  settled(position) {
    this.#answers.confirmed(position);
    this.flush();
  }

  /**
   * @param {EventBusError} failure
   * @returns {boolean} whether a settlement waits for an answer
   */
  refused(failure) {
    const isExpected = this.#answers.refused(failure);
    this.flush();
    return isExpected;
  }

  /** Sends what waits. */
  flush() {
    /** @type {Uint8Array[]} */
    let message = [];
    let bytes = 0;
    const add = (/** @type {Range} */ range, /** @type {boolean} */ confirm) => {
      const counter = COUNTED[range.outcome];
      if (counter) {
        this.#counts[counter] += range.last - range.first + 1;
      }
      const frame = frameOf(this.#id, range, confirm, this.#creation);
      if (bytes + frame.length > MESSAGE_BYTES) {
        this.#link.send(joined(message));
        message = [];
        bytes = 0;
      }
      message.push(frame);
      bytes += frame.length;
    };
    merged(this.#waiting).forEach(range => add(range, false));
    this.#waiting = [];
    for (let next = this.#answers.next(); next; next = this.#answers.next()) {
      add(next, true);
    }
    if (bytes > 0) {
      this.#link.send(joined(message));
    }
  }
}

const lost = () => new EventBusError('CONNECTION_LOST', 'the connection that brought the event has ended: it may come again');
