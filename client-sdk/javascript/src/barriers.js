import { encodeId } from './wire/frames.js';
import * as TYPE from './wire/type.js';

/** @import {EventBusError} from './errors.js' */
/** @import {Outbox} from './outbox.js' */
/** @import {Environment} from './internal.js' */

/** When to ask again what the bus could not answer, in ms. */
export const ASK_AGAIN = 100;

/**
 * A question that is not answered.
 *
 * @typedef {object} Pending
 * @property {() => void} resolve
 * @property {(error: EventBusError) => void} reject
 * @property {unknown} pause timer until it is asked again
 * @property {number} plainSent events without a waiter that were sent before it
 */

/**
 * The questions "has all that I published arrived?" that the bus has not answered. They are asked again on every new connection, and
 * after a pause where the bus could not answer in time, until the asker waits no longer.
 */
export class Barriers {
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  #nextId = 1;
  #outbox;
  #env;
  /** @type {{id: number, answered: () => void, refused: () => void} | null} */
  #question = null;

  /**
   * @param {Outbox} outbox
   * @param {Environment} env
   */
  constructor(outbox, env) {
    this.#outbox = outbox;
    this.#env = env;
  }

  /**
   * @param {() => void} resolve
   * @param {(error: EventBusError) => void} reject
   * @returns {() => void} forgets the question
   */
  ask(resolve, reject) {
    const id = this.#nextId++;
    const asked = { resolve, reject, pause: null, plainSent: 0 };
    this.#pending.set(id, asked);
    this.#send(id, asked);
    return () => {
      this.#env.clearTimeout(/** @type {never} */ (asked.pause));
      this.#pending.delete(id);
    };
  }

  /**
   * @param {number} id
   * @param {Pending} asked
   */
  #send(id, asked) {
    asked.pause = null;
    this.#outbox.control(encodeId(TYPE.BARRIER, id), plainSent => {
      asked.plainSent = plainSent;
    });
  }

  /** A connection is ready: asks everything again, behind what is sent again. */
  connected() {
    this.#pending.forEach((asked, id) => {
      this.#env.clearTimeout(/** @type {never} */ (asked.pause));
      this.#send(id, asked);
    });
  }

  /**
   * Asks once, over the connection that is there, in place of what was asked so before.
   * @param {() => void} answered
   * @param {() => void} refused
   * @returns {Uint8Array} what has to be sent behind everything else
   */
  askOnce(answered, refused) {
    const id = this.#nextId++;
    this.#question = { id, answered, refused };
    return encodeId(TYPE.BARRIER, id);
  }

  /** Whatever was asked so is not of interest any more. */
  forget() {
    this.#question = null;
  }

  /** @param {number} id that the bus has sent back */
  echoed(id) {
    const question = this.#question;
    if (question?.id === id) {
      this.#question = null;
      question.answered();
      return;
    }
    const asked = this.#pending.get(id);
    if (asked) {
      this.#pending.delete(id);
      this.#outbox.plainKnown(asked.plainSent);
      asked.resolve();
    }
  }

  /**
   * @param {number} id
   * @param {EventBusError} error
   * @returns {boolean} whether it was asked
   */
  refused(id, error) {
    const question = this.#question;
    if (question?.id === id) {
      this.#question = null;
      question.refused();
      return true;
    }
    const asked = this.#pending.get(id);
    if (asked && error.retryable) {
      asked.pause = this.#env.setTimeout(() => this.#send(id, asked), ASK_AGAIN);
    } else if (asked) {
      this.#pending.delete(id);
      asked.reject(error);
    }
    return asked !== undefined;
  }

  /** @param {EventBusError} why the client has ended */
  close(why) {
    this.forget();
    this.#pending.forEach(asked => {
      this.#env.clearTimeout(/** @type {never} */ (asked.pause));
      asked.reject(why);
    });
    this.#pending.clear();
  }
}
