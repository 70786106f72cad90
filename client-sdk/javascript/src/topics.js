import { EventBusError } from './errors.js';
import { utf8 } from './wire/bytes.js';

const MAX_BYTES = 255;
const MAX_TOKENS = 16;
// Unicode separators, control characters, and lone surrogates.
const FORBIDDEN = /[\p{Z}\p{Cc}\p{Cs}]/u;
const PLAIN = /^[!-~]+$/;

/**
 * @param {string} text possibly hostile
 * @returns {string} shortened, without control characters
 */
export function quote(text) {
  let shown = '';
  for (const c of text.slice(0, 64).split('')) {
    shown += PLAIN.test(c) && c !== "'" || c === ' ' ? c : `\\u${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  }
  return `'${shown}${text.length > 64 ? '…' : ''}'`;
}

/**
 * @param {string} name
 * @param {string} what
 * @returns {string | null} the problem of a topic or filter; null for none
 */
function problemOf(name, what) {
  if (name === '') {
    return `${what} is empty (expected: tokens separated by dots)`;
  }
  const shown = `${what} ${quote(name)}`;
  if (name.length > MAX_BYTES || utf8(name).length > MAX_BYTES) {
    return `${shown} has more than ${MAX_BYTES} bytes of UTF-8 (expected: at most ${MAX_BYTES})`;
  }
  const bad = PLAIN.test(name) ? null : FORBIDDEN.exec(name);
  if (bad) {
    const code = /** @type {number} */ (bad[0].codePointAt(0)).toString(16).toUpperCase().padStart(4, '0');
    return `${shown} holds the character U+${code} at ${bad.index} (expected: no white space and no control characters)`;
  }
  const tokens = name.split('.');
  const empty = tokens.indexOf('');
  if (empty >= 0) {
    return `${shown} has an empty token, number ${empty + 1} (expected: none)`;
  }
  if (tokens.length > MAX_TOKENS) {
    return `${shown} has ${tokens.length} tokens (expected: at most ${MAX_TOKENS})`;
  }
  return null;
}

/**
 * @param {string} topic
 * @returns {string | null} the reason why a client may not publish to it; null if it may
 */
export function topicProblem(topic) {
  const problem = problemOf(topic, 'topic');
  if (problem !== null) {
    return problem;
  }
  if (topic.includes('*') || topic.includes('>')) {
    return `topic ${quote(topic)} holds a wildcard (expected: a topic without * and >)`;
  }
  if (topic.startsWith('$')) {
    return `topic ${quote(topic)} is the system's (expected: a topic that does not start with $)`;
  }
  return null;
}

/**
 * @param {string} filter
 * @returns {string | null} its problem; null for none
 */
export function filterProblem(filter) {
  const problem = problemOf(filter, 'filter');
  if (problem !== null) {
    return problem;
  }
  const tokens = filter.split('.');
  for (const [i, token] of tokens.entries()) {
    if (token === '>' && i < tokens.length - 1) {
      return `filter ${quote(filter)} has > as token ${i + 1} (expected: only as the last)`;
    }
    if (token.length > 1 && /[*>]/.test(token)) {
      return `filter ${quote(filter)} mixes a wildcard into token ${i + 1} (expected: * or > alone)`;
    }
  }
  return null;
}

/**
 * @param {string} what 'topic' or 'filter'
 * @param {unknown} name
 * @param {(name: string) => string | null} problem
 */
function check(what, name, problem) {
  if (typeof name !== 'string') {
    throw new TypeError(`${what}: ${typeof name} (expected: a string)`);
  }
  const found = problem(name);
  if (found !== null) {
    throw new EventBusError('ILLEGAL_TOPIC', found);
  }
}

/** @param {string} topic for publishing */
export const checkTopic = topic => check('topic', topic, topicProblem);

/** @param {string} filter for subscribing */
export const checkFilter = filter => check('filter', filter, filterProblem);

/**
 * @param {string} filter a legal one
 * @returns {(topic: string) => boolean} whether it selects a legal topic
 */
export function matcher(filter) {
  const tokens = filter.split('.');
  const tail = tokens[tokens.length - 1] === '>';
  if (!tail && !tokens.includes('*')) {
    return topic => topic === filter;
  }
  if (tail) {
    tokens.pop();
  }
  // Topics of the system are only selected by a filter that names their first token.
  const wild = tokens.length === 0 || tokens[0] === '*';
  return topic => {
    if (wild && topic.startsWith('$')) {
      return false;
    }
    const parts = topic.split('.');
    return (tail ? parts.length > tokens.length : parts.length === tokens.length)
      && tokens.every((token, i) => token === '*' || token === parts[i]);
  };
}
