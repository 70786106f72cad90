const encoder = new TextEncoder();

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>} its bytes in UTF-8
 */
export const utf8 = text => encoder.encode(text);

/**
 * @param {Uint8Array[]} chunks
 * @returns {Uint8Array<ArrayBuffer>} all of them, one after the other
 */
export function joined(chunks) {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
