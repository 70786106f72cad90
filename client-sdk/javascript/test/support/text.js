// Bytes as text and back, in Node and in pages.

export const base64 = bytes => btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
export const fromBase64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
export const fromHex = text => Uint8Array.from(text.match(/../g) ?? [], byte => parseInt(byte, 16));
