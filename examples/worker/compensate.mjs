// Pays for flights that have left more than an hour late: works on the stored flights.*.departed, each one by one of its workers.
//
//   node compensate.mjs ws://127.0.0.1:8080/bus
// Start it several times: the workers share the flights, and one that is killed gives its flights to the others. SIGTERM and Ctrl-C
// end it after its last payment.
// Your own program has the package as a dependency and imports from 'eventbus-client' and 'eventbus-client/durable'.
import { worker } from '../../client-sdk/javascript/src/durable.js';
import { connect } from '../../client-sdk/javascript/src/index.js';
import { payer } from './claims.mjs';

const [url = 'ws://127.0.0.1:8080/bus'] = process.argv.slice(2);
const bus = await connect({ url, name: 'compensation' });

bus.on('reconnecting', ({ attempt, url: to }) => console.error(`no connection, try ${attempt} at ${to}`));
bus.on('truncated', ({ from, to, reason }) => console.error(`the flights at ${from} to ${to} are gone: ${reason}`));
bus.on('handlerError', ({ error, event }) => console.error(`not paid for the flight at ${event?.position}: ${error.message}`));

// Stands for a table with a unique column for the position, which all workers use.
const paid = new Map();
const pay = async (position, claim) => {
  const isFirst = !paid.has(position);
  paid.set(position, claim);
  return isFirst;
};

const flights = worker(bus, 'compensation', { filter: 'flights.*.departed', from: 'FIRST', concurrency: 4 }, payer(pay, console.log));
await flights.ready;
console.log(`works on flights of ${url}`);

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    process.exitCode = await bus.close() ? 0 : 1;
  });
}
