// Bytes as text and back, in Node and in pages.

const CHUNK = 8192;

export function base64(bytes) {
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}

export const fromBase64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
export const fromHex = text => Uint8Array.from(text.match(/../g) ?? [], byte => parseInt(byte, 16));
