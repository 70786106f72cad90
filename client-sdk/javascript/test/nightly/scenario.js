// Scenario for every platform, against a bus: prints `ok` and the platform, or fails. node scenario.js ws://host:port/bus
import { connect, EventBusError } from 'eventbus-client';
import { avro } from 'eventbus-client/avro';

const url = globalThis.process.argv[2];
const EVENTS = 1000;

// Node 20 has no Promise.withResolvers.
function deferred() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}

function same(found, wanted, what) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${what}: ${JSON.stringify(found)} (expected: ${JSON.stringify(wanted)})`);
  }
}

const bus = await connect({ url, name: 'scenario' });
const other = await connect({ url, name: 'scenario-2', receiveBytes: 65_536 });

// With and without confirmation, in order, to a handler and to a loop.
const handled = [];
const done = deferred();
await bus.subscribe('scenario.*', { overflow: 'BLOCK' }, event => {
  handled.push(event.sequence);
  if (handled.length === EVENTS) {
    done.resolve();
  }
}).ready;
const read = await other.subscribe('scenario.x', { overflow: 'BLOCK' }).ready;
const confirmed = [];
for (let i = 1; i <= EVENTS; i++) {
  if (i % 2 === 0) {
    confirmed.push(bus.publish('scenario.x', `grüße ${i}`, { key: 'k', headers: { n: String(i) } }));
  } else if (!bus.send('scenario.x', `grüße ${i}`, { key: 'k', headers: { n: String(i) } })) {
    throw new Error('the buffer is full');
  }
}
const numbers = Array.from({ length: EVENTS }, (_, i) => i + 1);
same((await Promise.all(confirmed)).map(one => one.sequence), numbers.filter(n => n % 2 === 0), 'confirmed');
const looped = [];
for await (const event of read) {
  looped.push([event.sequence, event.text(), event.key, event.headers.n]);
  if (looped.length === EVENTS) {
    break;
  }
}
same(looped, numbers.map(n => [n, `grüße ${n}`, 'k', String(n)]), 'read');
await done.promise;
same(handled, numbers, 'handled');

// A codec, a flush, a refusal, an end.
const codec = avro({ type: 'record', name: 'R', fields: [{ name: 'at', type: 'long' }] });
const value = deferred();
await other.subscribe('avro', { codec }, event => value.resolve(event.value())).ready;
await bus.publish('avro', { at: 7 }, { codec });
same(await value.promise, { at: 7 }, 'avro');
await bus.flush();
const refused = await connect({ url: url.replace('/bus', '/other'), connectTimeout: 3000 }).catch(error => error);
same(refused instanceof EventBusError, true, 'an address without a bus');
same([await bus.close(), await other.close()], [true, true], 'closed');
const { Deno, Bun, process } = globalThis;
globalThis.console.log(`ok: ${Deno ? `deno ${Deno.version.deno}` : Bun ? `bun ${Bun.version}` : `node ${process.versions.node}`}`);
process.exit(0);
