import { transport } from './transport.js';

/** @import {Environment, Page} from './internal.js' */
/** @import {Options} from './types.js' */

const VERSION = '0.1.0';
const EXPLAIN_TIMEOUT = 3000;
// Maximum difference of the two clocks, in ms.
const DRIFT = 100;

/** @returns {() => number} a clock of microseconds since 1970 that never runs slower than time */
export function microClock() {
  let origin = Date.now() - performance.now();
  let checkedAt = 0;
  return () => {
    const now = performance.now();
    if (now - checkedAt > 1000) {
      checkedAt = now;
      const by = Date.now() - now - origin;
      if (Math.abs(by) > DRIFT) {
        // The clock was set, or the machine has slept.
        origin += by;
      }
    }
    return Math.floor((origin + now) * 1000);
  };
}

/**
 * @typedef {object} Platform globals of the known platforms
 * @property {{versions?: {node?: string}, emitWarning?: (warning: string | Error) => void, stderr?: {write: (text: string) => void},
 *   on?: (event: string, listener: () => void) => void, off?: (event: string, listener: () => void) => void}} [process]
 * @property {{version?: unknown}} [Deno]
 * @property {unknown} [Bun]
 * @property {(error: unknown) => void} [reportError]
 * @property {typeof WebSocket} [WebSocket]
 * @property {Document} [document]
 */

/** @returns {Platform} */
const platform = () => /** @type {Platform} */ (/** @type {unknown} */ (globalThis));

/** @returns {string} for people */
function platformName() {
  const { process, Deno, Bun, document } = platform();
  if (Deno) {
    return 'deno';
  }
  if (Bun) {
    return 'bun';
  }
  if (process?.versions?.node) {
    return `node ${process.versions.node}`;
  }
  return document ? 'browser' : 'worker';
}

/** @returns {Page | null} */
export function pageOf() {
  const { document } = platform();
  return document ? { document, window } : null;
}

/**
 * Asks the bus with a plain HTTP request why it refuses the address, because a page is not told why an upgrade fails.
 * @param {string} url
 * @returns {Promise<string>} the answer
 */
async function explain(url) {
  const answer = await fetch(url.replace(/^ws/, 'http'), { signal: AbortSignal.timeout(EXPLAIN_TIMEOUT), credentials: 'omit' });
  // Only its beginning, because it may be endless.
  const beginning = await answer.body?.getReader().read();
  const text = new TextDecoder().decode(beginning?.value).slice(0, 500).trim();
  return answer.status === 200 ? 'a bus answers there in plain HTTP' : `${answer.status}: ${text}`;
}

/** @type {Set<() => string | null>} warnings of the clients at the end of the process, null for none */
const atExit = new Set();

/** Writes the warnings at the end of the process, synchronously. */
function exiting() {
  for (const warning of atExit) {
    const text = warning();
    if (text !== null) {
      platform().process?.stderr?.write(`${text}\n`);
    }
  }
}

/**
 * @param {() => string | null} say returns a warning when the process ends
 * @returns {() => void} removes it
 */
function onExit(say) {
  const { process } = platform();
  if (atExit.size === 0) {
    process?.on?.('exit', exiting);
  }
  atExit.add(say);
  return () => {
    if (atExit.delete(say) && atExit.size === 0) {
      process?.off?.('exit', exiting);
    }
  };
}

/** @param {unknown} error for which there is no listener */
function report(error) {
  const { reportError, process } = platform();
  if (reportError) {
    reportError(error);
  } else {
    process?.emitWarning?.(error instanceof Error ? error : String(error));
  }
}

/**
 * @param {Options} options
 * @returns {Promise<Environment>} the platform that this program runs on
 */
export async function environment(options) {
  const open = await transport(options);
  return {
    now: () => performance.now(),
    micros: microClock(),
    random: Math.random,
    setTimeout: (task, delay) => setTimeout(task, delay),
    clearTimeout: timer => clearTimeout(timer),
    open,
    page: pageOf(),
    inBrowser: ['browser', 'worker'].includes(platformName()),
    agent: `eventbus-js/${VERSION} (${platformName()})`,
    explain: platform().process?.versions?.node ? null : explain,
    report,
    onExit,
  };
}
