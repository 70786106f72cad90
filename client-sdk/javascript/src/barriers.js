import { encodeId } from './wire/frames.js';
import * as TYPE from './wire/type.js';

/** @import {EventBusError} from './errors.js' */
/** @import {Outbox} from './outbox.js' */
/** @import {Environment} from './internal.js' */

/** Pause before a barrier that the bus could not answer is sent again, in ms. */
export const RETRY_DELAY = 100;

/**
 * A barrier without an answer.
 *
 * @typedef {object} Pending
 * @property {() => void} resolve
 * @property {(error: EventBusError) => void} reject
 * @property {unknown} pause timer until it is sent again
 * @property {number} plainSent events without a waiter that were sent before it
 */

/**
 * The barriers that no bus has answered. A barrier asks whether everything published before has arrived. Each is sent again on every new connection,
 * and after a pause where the bus could not answer in time, until its caller stops waiting.
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
   * @returns {() => void} forgets the barrier
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

  /** Sends all barriers over a new connection, behind the events that are sent again. */
  connected() {
    this.#pending.forEach((asked, id) => {
      this.#env.clearTimeout(/** @type {never} */ (asked.pause));
      this.#send(id, asked);
    });
  }

  /**
   * Returns a barrier that is sent once, over the current connection; it replaces the one made so before.
   * @param {() => void} answered
   * @param {() => void} refused
   * @returns {Uint8Array} the frame, to be sent behind everything else
   */
  askOnce(answered, refused) {
    const id = this.#nextId++;
    this.#question = { id, answered, refused };
    return encodeId(TYPE.BARRIER, id);
  }

  /** Forgets the barrier of `askOnce`. */
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
      asked.pause = this.#env.setTimeout(() => this.#send(id, asked), RETRY_DELAY);
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
