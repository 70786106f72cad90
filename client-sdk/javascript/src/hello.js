import { encodeHello } from './wire/frames.js';

/** @import {Settings} from './options.js' */

/**
 * What a client has from its bus, and says when it connects again.
 * @typedef {object} Known
 * @property {string | null} resume
 * @property {string | null} session of the last connection
 */

/**
 * @param {Settings} settings
 * @param {string} agent
 * @param {Known} known
 * @param {string | null} moveToken the token of a move to another bus, null for none
 * @returns {Promise<Uint8Array>} the frame, with the token of now
 */
export async function hello(settings, agent, { resume, session }, moveToken) {
  const token = await settings.token();
  const { name, user, attributes } = settings;
  // In a move to another bus the last connection goes on.
  const previous = moveToken === null ? session : null;
  return encodeHello({ client: name, agent, token, resume, attributes, change: moveToken, user, previous });
}
