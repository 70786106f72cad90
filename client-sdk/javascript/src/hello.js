import { encodeHello } from './wire/frames.js';

/** @import {Settings} from './options.js' */

/**
 * Values from the last bus, sent when the client connects again.
 * @typedef {object} Known
 * @property {string | null} resume
 * @property {string | null} session of the last connection
 */

/**
 * @param {Settings} settings
 * @param {string} agent
 * @param {Known} known
 * @param {string | null} moveToken the token of a move to another bus, null for none
 * @returns {Promise<Uint8Array>} the frame, with a current token
 */
export async function hello(settings, agent, { resume, session }, moveToken) {
  const token = await settings.token();
  const { name, user, attributes } = settings;
  // A move continues the last connection, so that it has no previous session.
  const previous = moveToken === null ? session : null;
  return encodeHello({ client: name, agent, token, resume, attributes, change: moveToken, user, previous });
}
