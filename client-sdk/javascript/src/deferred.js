import { textOf } from './errors.js';

/**
 * @template T
 * @returns {{promise: Promise<T>, resolve: (value: T) => void, reject: (error: unknown) => void}} a promise without a warning for an unhandled
 *   rejection
 */
export function deferred() {
  /** @type {(value: T) => void} */
  let resolve = () => {};
  /** @type {(error: unknown) => void} */
  let reject = () => {};
  /** @type {Promise<T>} */
  const promise = new Promise((yes, no) => { [resolve, reject] = [yes, no]; });
  promise.catch(textOf);
  return { promise, resolve, reject };
}
