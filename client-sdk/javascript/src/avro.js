import { utf8 } from './wire/bytes.js';
import { Reader } from './wire/reader.js';
import { Writer } from './wire/writer.js';

/** @import {Codec} from './types.js' */

/**
 * An Avro schema as JSON, parsed.
 * @typedef {string | {[name: string]: unknown} | Schema[]} Schema
 */

/**
 * A compiled schema.
 *
 * @typedef {object} Type
 * @property {string} kind type of its values in JavaScript, which tells the branches of a union apart
 * @property {string} name of a branch of a union
 * @property {(w: Writer, value: unknown, path: string) => void} write
 * @property {(r: Reader, path: string, depth: number) => unknown} read
 * @property {() => boolean} isEmpty whether its values take no bytes
 */

const PRIMITIVES = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']);
const EMPTY = 0xC15D213AA4D7A795n;
// Deeper values are refused: a recursive schema lets a few bytes nest as deep as they are many.
const MAX_DEPTH = 100;
// Maximum of items that take no bytes: their number alone must not fill the memory.
const MAX_EMPTY = 65_536;
/** @type {bigint[]} */
const table = [];

/** @param {Schema} schema */
const typeOf = schema => Array.isArray(schema) ? 'union' : typeof schema === 'string' ? schema : /** @type {{type: Schema}} */ (schema).type;

/**
 * @param {unknown} value
 * @returns {string} for an error
 */
const shown = value => value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `${typeof value} ${String(value).slice(0, 40)}`;

/**
 * @param {string} path
 * @param {unknown} found
 * @param {string} expected
 */
const wrong = (path, found, expected) => new TypeError(`${path}: ${shown(found)} (expected: ${expected})`);

/**
 * @param {{[name: string]: unknown}} schema
 * @param {string} space namespace around it
 * @returns {string} the full name
 */
function fullName(schema, space) {
  const name = String(schema['name']);
  const namespace = typeof schema['namespace'] === 'string' ? schema['namespace'] : space;
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
}

/** @param {string} name */
const spaceOf = name => name.slice(0, Math.max(0, name.lastIndexOf('.')));

/**
 * @param {Schema} schema
 * @param {string} [space] namespace around it
 * @returns {string} the Parsing Canonical Form of the Avro specification
 */
export function canonical(schema, space = '') {
  if (typeof schema === 'string') {
    return JSON.stringify(PRIMITIVES.has(schema) || schema.includes('.') || space === '' ? schema : `${space}.${schema}`);
  }
  if (Array.isArray(schema)) {
    return `[${schema.map(branch => canonical(branch, space)).join()}]`;
  }
  const type = /** @type {Schema} */ (schema['type']);
  if (typeof type !== 'string') {
    return canonical(type, space);
  }
  switch (type) {
    case 'array': return `{"type":"array","items":${canonical(/** @type {Schema} */ (schema['items']), space)}}`;
    case 'map': return `{"type":"map","values":${canonical(/** @type {Schema} */ (schema['values']), space)}}`;
    case 'enum': return `{"name":${JSON.stringify(fullName(schema, space))},"type":"enum","symbols":${JSON.stringify(schema['symbols'])}}`;
    case 'fixed': return `{"name":${JSON.stringify(fullName(schema, space))},"type":"fixed","size":${Number(schema['size'])}}`;
    case 'record':
    case 'error': {
      const name = fullName(schema, space);
      const fields = /** @type {{name: string, type: Schema}[]} */ (schema['fields']).map(
        field => `{"name":${JSON.stringify(field.name)},"type":${canonical(field.type, spaceOf(name))}}`);
      return `{"name":${JSON.stringify(name)},"type":"${type}","fields":[${fields.join()}]}`;
    }
    default: return canonical(type, space);
  }
}

/**
 * @param {Schema} schema
 * @returns {bigint} its CRC-64-AVRO fingerprint, signed, as it goes with an event
 */
export function fingerprint(schema) {
  if (table.length === 0) {
    for (let i = 0n; i < 256n; i++) {
      let entry = i;
      for (let bit = 0; bit < 8; bit++) {
        entry = (entry >> 1n) ^ (entry & 1n ? EMPTY : 0n);
      }
      table.push(entry);
    }
  }
  let print = EMPTY;
  for (const byte of utf8(canonical(schema))) {
    print = (print >> 8n) ^ /** @type {bigint} */ (table[Number((print ^ BigInt(byte)) & 255n)]);
  }
  return BigInt.asIntN(64, print);
}

/**
 * @param {string} kind
 * @param {string} name
 * @param {Type['write']} write
 * @param {Type['read']} read
 * @param {() => boolean} [isEmpty]
 * @returns {Type}
 */
const type = (kind, name, write, read, isEmpty = () => false) => ({ kind, name, write, read, isEmpty });

/** @type {Record<string, Type>} */
const SIMPLE = {
  null: type('null', 'null', (w, value, path) => {
    if (value !== null && value !== undefined) {
      throw wrong(path, value, 'null');
    }
  }, () => null, () => true),
  boolean: type('boolean', 'boolean', (w, value, path) => {
    if (typeof value !== 'boolean') {
      throw wrong(path, value, 'a boolean');
    }
    w.boolean(value);
  }, (r, path) => r.boolean(path)),
  int: type('number', 'int', (w, value, path) => {
    if (typeof value !== 'number' || value !== (value | 0)) {
      throw wrong(path, value, 'an integer of 32 bits');
    }
    w.long(value);
  }, (r, path) => r.int(path)),
  long: type('number', 'long', (w, value, path) => {
    if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) {
      w.bigint64(value);
    } else if (Number.isSafeInteger(value)) {
      w.long(/** @type {number} */ (value));
    } else {
      throw wrong(path, value, 'an integer within 2^53, or a bigint of 64 bits');
    }
  }, (r, path) => {
    const value = r.bigint64(path);
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }),
  float: decimal('float', 4),
  double: decimal('double', 8),
  bytes: type('bytes', 'bytes', (w, value, path) => {
    if (!(value instanceof Uint8Array)) {
      throw wrong(path, value, 'a Uint8Array');
    }
    w.data(value);
  }, (r, path) => take(r, r.length(path))),
  string: type('string', 'string', (w, value, path) => {
    if (typeof value !== 'string') {
      throw wrong(path, value, 'a string');
    }
    w.string(value);
  }, (r, path) => r.string(path)),
};

/**
 * @param {Reader} r
 * @param {number} length
 * @returns {Uint8Array} a view
 */
function take(r, length) {
  r.at += length;
  return r.bytes.subarray(r.at - length, r.at);
}

/**
 * @param {'float' | 'double'} name
 * @param {4 | 8} size
 * @returns {Type}
 */
function decimal(name, size) {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  return type('number', name, (w, value, path) => {
    if (typeof value !== 'number') {
      throw wrong(path, value, 'a number');
    }
    if (size === 4) {
      view.setFloat32(0, value, true);
    } else {
      view.setFloat64(0, value, true);
    }
    w.raw(bytes.subarray(0, size));
  }, (r, path) => {
    if (r.end - r.at < size) {
      throw r.malformed(path, r.at, 'the end of the data', `a ${name}`);
    }
    bytes.set(take(r, size));
    return size === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true);
  });
}

/**
 * @param {Schema} schema
 * @param {string} space namespace around it
 * @param {Map<string, Type>} named types that are known by name
 * @returns {Type}
 */
function compile(schema, space, named) {
  if (Array.isArray(schema)) {
    return union(schema.map(branch => compile(branch, space, named)));
  }
  const name = typeOf(schema);
  if (typeof name !== 'string') {
    return compile(name, space, named);
  }
  const simple = SIMPLE[name];
  if (simple) {
    return simple;
  }
  const known = named.get(name) ?? named.get(`${space}.${name}`);
  if (known) {
    return known;
  }
  if (typeof schema === 'string') {
    throw new TypeError(`schema: type ${schema} (expected: one of Avro's, or one that was named before)`);
  }
  switch (name) {
    case 'array': return array(compile(/** @type {Schema} */ (schema['items']), space, named));
    case 'map': return map(compile(/** @type {Schema} */ (schema['values']), space, named));
    case 'enum': return enumeration(fullName(schema, space), /** @type {string[]} */ (schema['symbols']), named);
    case 'fixed': return fixed(fullName(schema, space), Number(schema['size']), named);
    case 'record':
    case 'error': return record(fullName(schema, space), /** @type {Field[]} */ (schema['fields']), named);
    default: throw new TypeError(`schema: type ${name} (expected: one of Avro's, or one that was named before)`);
  }
}

/**
 * @param {Type} items
 * @returns {Type}
 */
const array = items => type('array', 'array', (w, value, path) => {
  if (!Array.isArray(value)) {
    throw wrong(path, value, 'an array');
  }
  if (value.length > 0) {
    w.long(value.length);
    value.forEach((item, i) => items.write(w, item, `${path}[${i}]`));
  }
  w.long(0);
}, (r, path, depth) => {
  /** @type {unknown[]} */
  const all = [];
  const isEmpty = items.isEmpty();
  r.blocks(path, isEmpty ? 1 / MAX_EMPTY : 1, count => {
    if (isEmpty && all.length + count > MAX_EMPTY) {
      throw r.malformed(path, r.at, `${all.length + count} empty items`, `at most ${MAX_EMPTY}`);
    }
    for (let i = 0; i < count; i++) {
      all.push(items.read(r, path, deeper(path, depth)));
    }
  });
  return all;
});

/**
 * @param {Type} values
 * @returns {Type}
 */
const map = values => type('object', 'map', (w, value, path) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong(path, value, 'an object');
  }
  const entries = Object.entries(value);
  if (entries.length > 0) {
    w.long(entries.length);
    for (const [name, one] of entries) {
      w.string(name);
      values.write(w, one, `${path}.${name}`);
    }
  }
  w.long(0);
}, (r, path, depth) => {
  /** @type {Record<string, unknown>} */
  const all = Object.create(null);
  r.blocks(path, 1, count => {
    for (let i = 0; i < count; i++) {
      const name = r.string(path);
      all[name] = values.read(r, path, deeper(path, depth));
    }
  });
  return all;
});

/**
 * @param {string} path
 * @param {number} depth
 * @returns {number} one more
 */
function deeper(path, depth) {
  if (depth >= MAX_DEPTH) {
    throw new RangeError(`${path}: nested deeper than ${MAX_DEPTH} (expected: less)`);
  }
  return depth + 1;
}

/**
 * @param {string} name
 * @param {string[]} symbols
 * @param {Map<string, Type>} named
 * @returns {Type}
 */
function enumeration(name, symbols, named) {
  const made = type('string', name, (w, value, path) => {
    const at = symbols.indexOf(/** @type {string} */ (value));
    if (at < 0) {
      throw wrong(path, value, symbols.join(', '));
    }
    w.long(at);
  }, (r, path) => {
    const at = r.at;
    const number = r.int(path);
    const symbol = symbols[number];
    if (symbol === undefined) {
      throw r.malformed(path, at, `symbol ${number}`, `0..${symbols.length - 1}`);
    }
    return symbol;
  });
  named.set(name, made);
  return made;
}

/**
 * @param {string} name
 * @param {number} size
 * @param {Map<string, Type>} named
 * @returns {Type}
 */
function fixed(name, size, named) {
  const made = type('bytes', name, (w, value, path) => {
    if (!(value instanceof Uint8Array) || value.length !== size) {
      throw wrong(path, value, `a Uint8Array of ${size} bytes`);
    }
    w.raw(value);
  }, (r, path) => {
    if (r.end - r.at < size) {
      throw r.malformed(path, r.at, `the last ${r.end - r.at} bytes`, `${size} bytes`);
    }
    return take(r, size);
  }, () => size === 0);
  named.set(name, made);
  return made;
}

/**
 * @typedef {{name: string, type: Schema, default?: unknown}} Field
 */

/**
 * @param {string} name
 * @param {Field[]} fields
 * @param {Map<string, Type>} named
 * @returns {Type}
 */
function record(name, fields, named) {
  /** @type {{name: string, type: Type, default: unknown}[]} */
  const compiled = [];
  const made = type('object', name, (w, value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw wrong(path, value, `an object with ${compiled.map(field => field.name).join(', ')}`);
    }
    const given = /** @type {Record<string, unknown>} */ (value);
    for (const field of compiled) {
      const own = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
      field.type.write(w, own === undefined ? field.default : own, `${path}.${field.name}`);
    }
  }, (r, path, depth) => {
    /** @type {Record<string, unknown>} */
    const all = {};
    for (const field of compiled) {
      const value = field.type.read(r, `${path}.${field.name}`, deeper(path, depth));
      if (field.name === '__proto__') {
        Object.defineProperty(all, field.name, { value, enumerable: true, configurable: true, writable: true });
      } else {
        all[field.name] = value;
      }
    }
    return all;
  }, () => compiled.every(field => field.type.isEmpty()));
  // Set before the fields are compiled, which may be of this type.
  named.set(name, made);
  for (const field of fields) {
    compiled.push({ name: field.name, type: compile(field.type, spaceOf(name), named), default: field.default });
  }
  return made;
}

/**
 * Compiles a union: its value stands for itself where the kinds of the branches differ, else in an object with the branch's name: `{"long": 5}`.
 * @param {Type[]} branches
 * @returns {Type}
 */
function union(branches) {
  const kinds = branches.map(branch => branch.kind);
  const isPlain = new Set(kinds).size === kinds.length;
  const expected = branches.map(branch => isPlain ? branch.name : `{"${branch.name}": …}`).join(', ');
  return type('union', 'union', (w, value, path) => {
    const [key, inner] = isPlain || value === null || typeof value !== 'object' ? [null, value] : /** @type {[string, unknown]} */ (Object.entries(value)[0] ?? [null, value]);
    const at = branches.findIndex((branch, i) => key === null ? kinds[i] === kindOf(value) && (isPlain || branch.name === 'null') : branch.name === key);
    const branch = branches[at];
    if (!branch) {
      throw wrong(path, value, expected);
    }
    w.long(at);
    branch.write(w, inner, path);
  }, (r, path, depth) => {
    const at = r.at;
    const number = r.int(path);
    const branch = branches[number];
    if (!branch) {
      throw r.malformed(path, at, `union index ${number}`, `0..${branches.length - 1}`);
    }
    const value = branch.read(r, path, deeper(path, depth));
    return isPlain || branch.name === 'null' ? value : { [branch.name]: value };
  });
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function kindOf(value) {
  if (value === null || value === undefined) {
    return 'null';
  }
  if (Array.isArray(value)) {
    return 'array';
  }
  return value instanceof Uint8Array ? 'bytes' : typeof value === 'bigint' ? 'number' : typeof value;
}

/**
 * Returns a codec for payloads in Avro's binary encoding. Records are objects, enums text, `bytes` and `fixed` a `Uint8Array`, a `long` a number
 * where that is exact and else a bigint; a union is the value itself where its branches differ in JavaScript, else `{branch: value}`.
 * Logical types are left as they are.
 *
 * Payloads are read with their writer's schema: that of the codec, or one of `writers`, found by the event's fingerprint.
 * Fields are not resolved between the two.
 * @param {Schema} schema for writing
 * @param {{writers?: Schema[]}} [options] further schemas of publishers
 * @returns {Codec<unknown>}
 */
export function avro(schema, { writers = [] } = {}) {
  const own = fingerprint(schema);
  const types = new Map([schema, ...writers].map(one => [fingerprint(one), compile(one, '', new Map())]));
  const writer = /** @type {Type} */ (types.get(own));
  const name = canonical(schema).slice(0, 80);
  return {
    fingerprint: own,
    encode(value) {
      const w = new Writer();
      writer.write(w, value, 'value');
      return w.done();
    },
    decode(payload, print) {
      const found = types.get(print === 0n ? own : print);
      if (!found) {
        throw new TypeError(`schema ${BigInt.asUintN(64, print).toString(16).padStart(16, '0')} is not known (expected: that of ${name}, or one of writers: `
          + "give the codec the publisher's schema as well, or upgrade this program before the publisher)");
      }
      const r = new Reader().wrap(payload);
      const value = found.read(r, 'value', 0);
      if (!r.done) {
        throw r.malformed('value', r.at, `${r.end - r.at} bytes behind the value`, 'none');
      }
      return value;
    },
  };
}
