// Stops Chromium (SIGSTOP) while events are published, continues it, and prints how soon its page is live again and whether all missed events are
// reported.
//
//   node stopped.js [SECONDS]   duration of the stop, default 60
import { readdirSync, readFileSync } from 'node:fs';

import { launchServer, serveFiles, skip } from '../support/chromium.js';
import { connect, startBus } from '../support/live.js';

const seconds = Number(process.argv[2] ?? 60);
const LIVE_WITHIN = 3000;
const TIMEOUT = 60_000;
// A thousand events of 1 KB per second: soon more than the bus queues for the page.
const TICK = 10;
const EVENTS = 10;
const payload = new Uint8Array(1000);
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Returns the process and its descendants. */
function family(root) {
  const parents = new Map();
  for (const entry of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      // The name before the last parenthesis may contain anything.
      const [, parent] = readFileSync(`/proc/${entry}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
      parents.set(Number(entry), Number(parent));
    } catch {
      // Ended meanwhile.
    }
  }
  const all = [root];
  for (const one of all) {
    all.push(...[...parents].filter(([, parent]) => parent === one).map(([pid]) => pid));
  }
  return all;
}

if (skip) {
  console.log(`stopped: ${skip}`);
  process.exit(0);
}
const bus = await startBus(['--port', '0', '--set', 'admin.enabled=false', '--set', 'listen.allowed-origins=*']);
const server = await serveFiles();
const { browser, pid, end } = await launchServer();
const page = await browser.newPage();
page.on('pageerror', error => console.error('page:', error.stack));
await page.goto(server.origin);
await page.evaluate(async url => {
  const { connect } = await import('/src/index.js');
  const client = await connect({ url, name: 'stopped' });
  globalThis.client = client;
  globalThis.told = [];
  globalThis.gaps = { LOST: 0, QUEUE_FULL: 0, CONFLATED: 0 };
  // Times at which each event arrived and was published.
  globalThis.arrivals = [];
  for (const type of ['disconnected', 'connected', 'problem']) {
    client.on(type, ({ code, reason }) => globalThis.told.push([Date.now(), type, code, reason]));
  }
  client.on('gap', ({ from, to, reason }) => { globalThis.gaps[reason] += to - from + 1; });
  await client.subscribe('stopped', {}, event => { globalThis.arrivals.push([Date.now(), event.publishedAt / 1000]); }).ready;
}, bus.url);

const publisher = await connect({ url: bus.url, name: 'publisher' });
let published = 0;
const publishing = setInterval(() => {
  for (let i = 0; i < EVENTS; i++) {
    published += Number(publisher.send('stopped', payload));
  }
}, TICK);
await pause(2000);
const all = family(pid);
all.forEach(one => process.kill(one, 'SIGSTOP'));
await pause(seconds * 1000);
const woken = Date.now();
all.reverse().forEach(one => process.kill(one, 'SIGCONT'));
const live = await page.waitForFunction(since => globalThis.arrivals.find(([, at]) => at > since)?.[0], woken, { timeout: TIMEOUT }).then(found => found.jsonValue());
await pause(2000);
clearInterval(publishing);
// The last event reveals the last gap.
await publisher.publish('stopped', payload);
published++;
const { received, missing, gaps, told } = await page.evaluate(async wanted => {
  const until = Date.now() + 10_000;
  const { client } = globalThis;
  while (client.counters().received + client.counters().missing < wanted && Date.now() < until) {
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  const { received, missing } = client.counters();
  return { received, missing, gaps: globalThis.gaps, told: globalThis.told };
}, published);
const after = live - woken;
console.log(`stopped: ${seconds} s of ${all.length} processes; live after ${after} ms (expected: within ${LIVE_WITHIN}); ${published} published = ${received} received + ${missing} told as missing ${JSON.stringify(gaps)}`);
told.forEach(([at, ...what]) => console.log(`stopped: ${at - woken} ms: ${what.filter(part => part !== undefined).join(' ')}`));
await Promise.all([publisher.close(), browser.close()]);
await end();
await bus.stop();
server.close();
process.exit(after <= LIVE_WITHIN && received + missing === published ? 0 : 1);
