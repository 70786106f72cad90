import { encodeHello } from './wire/frames.js';

/** @import {Settings} from './options.js' */

/**
 * @param {Settings} settings
 * @param {string} agent
 * @param {string | null} resume
 * @param {string | null} change
 * @returns {Promise<Uint8Array>} the frame, with the token of now
 */
export async function hello(settings, agent, resume, change) {
  const token = await settings.token();
  return encodeHello({ client: settings.name, agent, token, resume, attributes: settings.attributes, change });
}
