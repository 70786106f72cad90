import { textOf } from './errors.js';

/**
 * @template T
 * @returns {{promise: Promise<T>, resolve: (value: T) => void, reject: (error: unknown) => void}} a promise whose failure may be looked at by nobody
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
