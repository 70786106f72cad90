#!/usr/bin/env bash
# Shows that the package works for those who install it: packs it, installs it into an empty project, and uses it from modules, from CommonJS, from
# TypeScript with both ways of finding modules, and in a bundle for browsers, whose size it says.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# Bytes of a page's bundle, minified and gzipped: without more, with calls, with consumers of durable topics, and with workers. Publishing to durable
# topics, with its options and answers, and the places at which consumers plug in are in each of them.
most=29920
most_services=36800
most_durable=34840
most_workers=35910
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
fail() { echo "check-package: $1" >&2; exit 1; }
bin="$here/node_modules/.bin"

(cd "$here" && npm pack --silent --pack-destination "$work" >/dev/null)
if grep -rnwE ':\s*any|<any>|any\[\]' "$here/types"; then fail "an any in the declarations (expected: none)"; fi
if tar -tzf "$work"/*.tgz | grep -vE '^package/(package.json|README.md|src/|types/|dist/eventbus.min.js$)'; then fail "other files in the package (expected: src, types, dist/eventbus.min.js, README.md)"; fi

cd "$work"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-package-lock --offline --no-audit --no-fund ./*.tgz >/dev/null
cat >app.ts <<'TS'
import { connect, EventBusError, type BusEvent, type Options } from 'eventbus-client';
import { avro } from 'eventbus-client/avro';
import { traced } from 'eventbus-client/trace';
import { CallError, connect as connectServices, Rejection, Reply, type Invocation, type ServiceBus } from 'eventbus-client/services';
import {
  durable, latest, replay, worker, type DurableSubscription, type Start, type Truncated, type WorkDelivery, type Worker, type WorkerCounters,
} from 'eventbus-client/durable';
const options: Options = { url: 'ws://localhost:8080/bus', reconnect: { initialDelay: 50 }, WebSocket: traced(WebSocket, () => {}) };
async function main(): Promise<void> {
  await using bus = await connect(options);
  bus.on('gap', ({ topic, from, to, producer }) => { const missing: number = to - from; const who: bigint = producer; void [topic, missing, who]; });
  const prices = bus.subscribe('prices.>', { codec: avro('double'), overflow: 'CONFLATE' }, async (event: BusEvent) => { void event.value(); });
  await prices.ready;
  const { sequence } = await bus.publish('prices.a', 5, { codec: avro('double') });
  const taken: boolean = bus.send('prices.a', `${sequence}`);
  for await (const events of bus.subscribe('a').batches({ max: 10 })) { const all: BusEvent[] = events; void all; }
  void taken;
}
async function calls(): Promise<void> {
  await using bus: ServiceBus = await connectServices({ ...options, callBytes: 1e6 });
  await using service = bus.serve('orders', async (invocation: Invocation) => {
    if (invocation.signal.aborted || invocation.remaining < 5) { throw new Rejection('REFUSED', 'too late', { retryAfter: 5 }); }
    return new Reply({ total: invocation.event.json<{ order: number }>().order }, { headers: { a: 'b' } });
  }, { concurrency: 4, metadata: { zone: 'eu' } });
  await service.ready;
  try {
    const reply = await bus.request('orders', { order: 7 }, { method: 'total', timeout: 500, idempotent: true, priority: 'HIGH', retry: { attempts: 2 } });
    const total: number = reply.json<{ total: number }>().total; const member: bigint = reply.member; void [total, member];
  } catch (error) { if (error instanceof CallError && error.code === 'NO_MEMBER' && error.executed === 'NO') { void error.retryAfter; } }
  bus.on('requestFailed', ({ error, invocation }) => { const method: string = invocation.method; void [error, method]; });
}
async function stored(bus: ServiceBus): Promise<void> {
  const from: Start = { position: 7 };
  const onTruncated = ({ from, to, reason }: Truncated) => { if (reason === 'RETENTION') { void [from, to]; } };
  await using billing: DurableSubscription = durable(bus, 'billing', { filter: 'orders.>', from, codec: avro('double'), onTruncated }, async event => { const position: number = event.position; void position; });
  const lag: number = (await billing.ready).lag(); void lag;
  for await (const event of replay(bus, { from: { time: new Date() } })) { void event.text(); break; }
  latest(bus, 'prices.>', event => { void event.topic; });
  const { position, repeated } = await bus.publish('a', 1, { expected: 0, delay: 5, ttl: 10, producer: 'outbox', number: 42 }); const next: number = position + 1; void [next, repeated];
  bus.on('truncated', ({ subscription, from }) => { void [subscription.name, from]; });
  await using resizer: Worker = worker(bus, 'resizer', { filter: 'images.>', from: 'FIRST', concurrency: 4, maxUnsettled: 8, ackTimeout: 60_000, maxAttempts: 3, onTruncated }, async (event, delivery: WorkDelivery) => {
    if (delivery.attempt > 2) { delivery.reject('too often'); return; }
    delivery.extend(); delivery.retry(event.payload.length); await delivery.doneConfirmed();
  });
  const { late }: WorkerCounters = (await resizer.ready).counters(); void late;
  bus.on('handlerError', ({ subscription }) => { const name: string | undefined = subscription?.name; void name; });
}
void stored;
calls().catch(() => {});
main().catch((error: unknown) => { if (error instanceof EventBusError && error.code === 'CLOSED') { void error.retryable; } });
// @ts-expect-error An option that does not exist.
void connect({ url: 'ws://x/bus', confirmTimout: 1 });
TS
cat >plain.ts <<'TS'
// With nothing but the language's default library, as most programs have it.
import { connect, type Codec, type EventBus } from 'eventbus-client';
import { connect as connectServices } from 'eventbus-client/services';
import { durable, latest, replay, worker } from 'eventbus-client/durable';
const codec: Codec<{ a: number }> = { encode: value => new TextEncoder().encode(String(value.a)), decode: bytes => ({ a: bytes.length }) };
interface Flight { to: string }
export async function main(flight: Flight): Promise<void> {
  const bus: EventBus = await connect(['ws://localhost:8080/bus', new URL('ws://localhost:8081/bus')]);
  await bus.subscribe('a', event => { const text: string = event.text(); void text; }).ready;
  bus.subscribe('a', { codec, onInterruption: ({ from, to }) => { const length: number = to - from; void length; }, onGap: async gap => { void gap.topic; } }, event => { const a: number = event.value().a; void a; });
  for await (const event of bus.subscribe('a', { codec })) { const a: number = event.value().a; void a; }
  for await (const [event] of bus.subscribe<Flight>('a').batches()) { const to: string | undefined = event?.value().to; void to; }
  const { receivers } = await bus.publish('a', { a: 1 }, { codec, key: 'k' });
  const some: number = receivers ?? 0; void some;
  await bus.publish('a', flight);
  await bus.publish('a', { to: 'JFK', stack: 'x' });
  for (const payload of ['x', 1, null, [flight], new Date(), new Uint8Array(1), new DataView(new ArrayBuffer(1)), { name: 'x' }, { stack: 'x' }, new URL('http://x/')]) { bus.send('a', payload); }
  const billing = durable(bus, 'billing', { codec }, event => { const a: number = event.value().a; void a; });
  for await (const event of replay<Flight>(bus)) { const to: string = event.value().to; void to; }
  latest(bus, 'a', { codec }); billing.settle();
  worker(bus, 'billing', { codec }, (event, delivery) => { const a: number = event.value().a; delivery.done(); void a; });
  worker<Flight>(bus, 'billing', (event, { attempt }) => { const to: string = event.value().to; void [to, attempt]; });
  for await (const { event, delivery } of worker(bus, 'billing', { codec })) { const a: number = event.value().a; void a; delivery.release(); }
  // @ts-expect-error A worker gets every event.
  worker(bus, 'billing', { from: 'LATEST_VALUES' });
  // @ts-expect-error Not for applications.
  worker(bus, 'billing', (event, delivery) => { void delivery.feed; });
  // @ts-expect-error The start is fixed.
  latest(bus, 'a', { from: 'FIRST' });
  // @ts-expect-error No start.
  replay(bus, { from: 'LAST' });
  // @ts-expect-error Nothing waits for the answer.
  bus.send('a', 'x', { expected: 0 });
  const services = await connectServices('ws://localhost:8080/bus');
  const reply: { a: number } = (await services.request('s', { a: 1 }, { codec, replyCodec: codec })).value(); void reply;
  bus.on('interruption', ({ subscription, filter, from }) => { void [subscription.id, filter, from]; });
  const why = await bus.closed; if (why) { void why.busCode; }
  // @ts-expect-error What the codec reads is no text.
  bus.subscribe('a', { codec }, event => { const text: string = event.value(); void text; });
  // @ts-expect-error What a codec writes.
  void bus.publish('a', 'not an object', { codec });
  // @ts-expect-error A promise that is not awaited.
  void bus.publish('a', Promise.resolve(1));
  // @ts-expect-error A Map.
  bus.send('a', new Map());
  // @ts-expect-error A Blob.
  bus.send('a', new Blob([]));
  // @ts-expect-error An Error.
  bus.send('a', new Error('x'));
  // @ts-expect-error A function.
  bus.send('a', () => 1);
  // @ts-expect-error Memory that others write to.
  bus.send('a', new SharedArrayBuffer(1));
  // @ts-expect-error An option that does not exist.
  void bus.publish('a', 'x', { haeders: {} });
  // @ts-expect-error Not for applications.
  void bus.start;
  // @ts-expect-error Nor this.
  void bus.subscribe('a').pump;
  // @ts-expect-error Nor how the SDK is built.
  type Inner = import('eventbus-client').Environment;
}
TS
cat >app.cts <<'TS'
import client = require('eventbus-client');
const connecting: Promise<client.EventBus> = client.connect('ws://localhost:8080/bus');
void connecting;
TS
for way in "nodenext nodenext app.cts" "esnext bundler"; do
  read -r module resolution more <<<"$way"
  "$bin/tsc" --noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022 --types "" \
    --module "$module" --moduleResolution "$resolution" plain.ts ${more:+"$more"} || fail "TypeScript with the library of es2022, moduleResolution $resolution"
done
for way in "nodenext nodenext app.cts" "esnext bundler"; do
  read -r module resolution more <<<"$way"
  "$bin/tsc" --noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022 --lib es2023,dom,esnext.disposable --types "" \
    --module "$module" --moduleResolution "$resolution" app.ts ${more:+"$more"} || fail "TypeScript, moduleResolution $resolution"
done
node --input-type=module -e "import { connect } from 'eventbus-client'; import 'eventbus-client/avro'; import 'eventbus-client/trace'; import 'eventbus-client/services'; import 'eventbus-client/durable'; import { connect as minified } from 'eventbus-client/dist/eventbus.min.js';
  if (typeof connect !== 'function' || typeof minified !== 'function') process.exit(1)" || fail "import"
node --no-warnings --input-type=commonjs -e "if (typeof require('eventbus-client').connect !== 'function') process.exit(1)" || fail "require"

# Bundles a page, and says its size.
bundle() {
  "$bin/esbuild" "$1.js" --bundle --minify --format=esm --platform=browser --outfile="$1.min.js" --log-level=warning
  if grep -q 'node:' "$1.min.js"; then fail "a bundle for browsers names a module of Node (expected: none)"; fi
  gzip -9 -c "$1.min.js" | wc -c
}
echo "import { connect } from 'eventbus-client'; connect('ws://localhost:8080/bus').then(bus => bus.subscribe('a', {}, event => document.body.append(event.text())));" >page.js
echo "import { connect } from 'eventbus-client/services'; connect('ws://localhost:8080/bus').then(bus => bus.request('a', '').then(reply => document.body.append(reply.text())));" >calls.js
echo "import { connect } from 'eventbus-client'; import { latest } from 'eventbus-client/durable'; connect('ws://localhost:8080/bus').then(bus => latest(bus, 'a', event => document.body.append(event.text())));" >latest.js
echo "import { connect } from 'eventbus-client'; import { worker } from 'eventbus-client/durable'; connect('ws://localhost:8080/bus').then(bus => worker(bus, 'a', event => document.body.append(event.text())));" >worker.js
size="$(bundle page)"
size_services="$(bundle calls)"
size_durable="$(bundle latest)"
size_workers="$(bundle worker)"
for entry in avro trace; do
  "$bin/esbuild" "node_modules/eventbus-client/src/$entry.js" --bundle --minify --format=esm --outfile="$entry.min.js" --log-level=warning
done
echo "check-package: $size bytes gzipped in a page (at most $most), $size_services with services (at most $most_services), $size_durable with durable topics (at most $most_durable), $size_workers with workers (at most $most_workers), avro $(gzip -9 -c avro.min.js | wc -c), trace $(gzip -9 -c trace.min.js | wc -c)"
[ "$size" -le "$most" ] || fail "$size bytes (expected: at most $most)"
[ "$size_services" -le "$most_services" ] || fail "$size_services bytes with services (expected: at most $most_services)"
[ "$size_durable" -le "$most_durable" ] || fail "$size_durable bytes with durable topics (expected: at most $most_durable)"
[ "$size_workers" -le "$most_workers" ] || fail "$size_workers bytes with workers (expected: at most $most_workers)"
