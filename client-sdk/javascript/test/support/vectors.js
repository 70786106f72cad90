// Vectors that the conformance kit makes with the Java codec, and the examples of the protocol page.
import { existsSync, readFileSync } from 'node:fs';

const root = new URL('../../../../', import.meta.url);
const folder = process.env.VECTORS ? new URL(`file://${process.env.VECTORS}/`) : new URL('conformance/vectors/', root);

/** Set if the vectors of the kit exist. */
export const hasVectors = existsSync(folder);

/** Returns the vectors of a file. */
export const vectors = name => JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));

/** Returns the examples of docs/protocol.md: type code, name, record in Avro's JSON, bytes. */
export function examples() {
  const page = readFileSync(new URL('docs/protocol.md', root), 'utf8');
  return [...page.matchAll(/^### (\d{3}) (\w+)\n\n```json\n(.*?)\n```\n\n```hex\n(.*?)```/gms)].map(([, code, name, json, hex]) => ({
    code: Number(code),
    name,
    record: json,
    bytes: new Uint8Array(Buffer.from(hex.split('\n').map(line => line.split(';')[0]).join('').replace(/\s/g, ''), 'hex')),
  }));
}

export const bytesOf = hex => new Uint8Array(Buffer.from(hex, 'hex'));
