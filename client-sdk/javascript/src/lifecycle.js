/** @import {Connector} from './connector.js' */
/** @import {Environment, Page} from './internal.js' */

// Maximum delay of the platforms' timers, in ms.
const MAX_TIMER = 2 ** 31 - 1;

/**
 * Tells the connector about the life of its page: seen, hidden, frozen, cached, without a network. `start` and `stop` are mirror images.
 */
export class Lifecycle {
  #env;
  #page;
  #connector;
  #send;
  #hiddenFor;
  /** @type {unknown} */
  #timer = null;
  #hiddenAt = 0;
  /** @type {[EventTarget, string, (event: Event) => void][]} */
  #listeners;

  /**
   * @param {Environment} env
   * @param {Page} page
   * @param {Connector} connector
   * @param {() => void} send sends buffered events
   * @param {number} hiddenFor ms
   */
  constructor(env, page, connector, send, hiddenFor) {
    this.#env = env;
    this.#page = page;
    this.#connector = connector;
    this.#send = send;
    this.#hiddenFor = hiddenFor;
    this.#listeners = [
      [page.document, 'visibilitychange', () => this.#visibility()],
      // After the page was frozen.
      [page.document, 'resume', () => this.#wake()],
      [page.window, 'online', () => this.#wake()],
      [page.window, 'offline', () => connector.offline()],
      [page.window, 'pageshow', event => {
        // Restored from the back/forward cache, which has closed the connection.
        if ('persisted' in event && event.persisted) {
          this.#wake();
        }
      }],
      [page.window, 'pagehide', () => send()],
    ];
  }

  start() {
    for (const [target, type, listener] of this.#listeners) {
      target.addEventListener(type, listener);
    }
    if (this.#page.document.visibilityState === 'hidden') {
      this.#visibility();
    }
  }

  stop() {
    this.#stopTimer();
    for (const [target, type, listener] of this.#listeners) {
      target.removeEventListener(type, listener);
    }
  }

  #stopTimer() {
    this.#env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#timer = null;
  }

  #visibility() {
    this.#stopTimer();
    if (this.#page.document.visibilityState !== 'hidden') {
      this.#wake();
      return;
    }
    this.#send();
    if (this.#hiddenFor < Infinity) {
      this.#hiddenAt = this.#env.now();
      this.#timer = this.#env.setTimeout(() => this.#connector.sleep(), Math.min(this.#hiddenFor, MAX_TIMER));
    }
  }

  #wake() {
    if (this.#page.document.visibilityState === 'hidden' && this.#hiddenFor < Infinity && this.#env.now() - this.#hiddenAt >= this.#hiddenFor) {
      // Still hidden: no connection until the page is seen.
      return;
    }
    this.#connector.wake();
  }
}
