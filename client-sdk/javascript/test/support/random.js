// Random tests print their seed; SEED=n repeats a run.
import { test } from 'node:test';

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

/** mulberry32 */
export function generator(start) {
  let state = start | 0;
  const next = () => {
    state = (state + 0x6D2B79F5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = n => Math.floor(next() * n);
  return {
    next,
    below,
    pick: all => all[below(all.length)],
    bytes: n => Uint8Array.from({ length: n }, () => below(256)),
    /** Returns a random number with a random number of bits. */
    bits(max) {
      const bits = below(max + 1);
      let value = 0n;
      for (let i = 0; i < bits; i++) {
        value = (value << 1n) | BigInt(below(2));
      }
      return value;
    },
    text: n => Array.from({ length: below(n + 1) }, () => ['a', 'Z', '9', 'ü', '航', '😀', '.', ' '][below(8)]).join(''),
  };
}

/** Defines a test that is repeated with other random numbers. */
export function repeated(name, times, body) {
  test(name, async t => {
    for (let i = 0; i < times; i++) {
      try {
        await body(generator(seed + i), t);
      } catch (error) {
        error.message += ` (SEED=${seed + i})`;
        throw error;
      }
    }
  });
}
