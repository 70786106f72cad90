// Publishes alerts for flights that have left more than an hour late: reads flights.*.departed, publishes alerts.late.AIRPORT.
//
//   node late.mjs ws://127.0.0.1:8080/bus
// Start it several times: the members of its group share the flights. SIGTERM and Ctrl-C end it after its last alert.
// Your own program has the package as a dependency and imports from 'eventbus-client'.
import { connect } from '../../client-sdk/javascript/src/index.js';

const LATE_MINUTES = 60;

const [url = 'ws://127.0.0.1:8080/bus'] = process.argv.slice(2);
const bus = await connect({ url, name: 'late flights' });

bus.on('reconnecting', ({ attempt, url: to }) => console.error(`no connection, try ${attempt} at ${to}`));
bus.on('gap', ({ topic, from, to }) => console.error(`missed ${to - from + 1} events of ${topic}`));
bus.on('handlerError', ({ error }) => console.error(`not published: ${error.message}`));

// Takes the next flight when the alert of this one is confirmed, so that an unreachable bus stalls the program instead of losing
// alerts.
const flights = bus.subscribe('flights.*.departed', { group: 'late-flights' }, async event => {
  const { carrier, flight, origin, dest, delay } = event.json();
  if (delay >= LATE_MINUTES) {
    await bus.publish(`alerts.late.${origin}`, { flight: `${carrier} ${flight}`, dest, delay }, { key: `${carrier}${flight}` });
    console.log(`${carrier} ${flight} ${origin}-${dest} left ${delay} minutes late`);
  }
});
await flights.ready;
console.log(`watching flights on ${url}`);

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    process.exitCode = await bus.close() ? 0 : 1;
  });
}
