/** Name of the method that `console.log` of Node calls. */
export const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/**
 * @param {object} object
 * @param {object} members of it
 * @param {object} options of Node
 * @param {(value: unknown, options: object) => string} inspect
 * @returns {string} the text that Node shows
 */
export const shownAs = (object, members, options, inspect) => `${object.constructor.name} ${inspect(members, options)}`;
