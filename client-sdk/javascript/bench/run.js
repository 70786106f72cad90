// Runs all systems in turn, several rounds, and prints the medians.
import { build } from 'esbuild';
import { fork, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { freePorts, jar, startBus } from '../test/support/live.js';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '5' }, size: { type: 'string', default: '128' }, only: { type: 'string', default: '' } } });
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const size = Number(values.size);
const WARMUP = 200_000;
const here = dirname(fileURLToPath(import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'eventbus-bench-'));
const chromiumPath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-headless-shell'].find(path => path && existsSync(path));

if (!jar) {
  console.error('bench: no jar (expected: eventbus-server/target/eventbus.jar, or one in EVENTBUS_JAR)');
  process.exit(2);
}

const [natsPort, natsWebPort] = await freePorts(2);
writeFileSync(join(work, 'nats.conf'), `listen: 127.0.0.1:${natsPort}\nwebsocket { listen: "127.0.0.1:${natsWebPort}", no_tls: true }\n`);
const natsServer = spawn(process.env.NATS_SERVER ?? 'nats-server', ['-c', join(work, 'nats.conf')], { stdio: 'ignore' });
natsServer.once('error', error => { console.error(`bench: ${error.message}`); process.exit(2); });

/** Bundled page that imports the systems. */
const page = await (async () => {
  if (!chromiumPath) {
    console.error('bench: pages are left out: no Chromium');
    return null;
  }
  await build({ entryPoints: [join(here, 'systems.js')], bundle: true, minify: true, format: 'esm', platform: 'browser', outfile: join(work, 'systems.js'), logLevel: 'error',
    external: ['@nats-io/transport-node'] });
  const { readFileSync } = await import('node:fs');
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', request.url === '/' ? 'text/html' : 'text/javascript').end(request.url === '/' ? '<!doctype html>' : readFileSync(join(work, 'systems.js')));
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
})();

const bus = await startBus(['--port', '0', '--set', 'admin.enabled=false', ...(page ? ['--set', `listen.allowed-origins=${page.origin}`, '--set', 'listen.browser-block=allow'] : [])]);
const eventbus = bus.url;
const natsTcp = `nats://127.0.0.1:${natsPort}`;
const natsWeb = `ws://127.0.0.1:${natsWebPort}`;

const CASES = [
  { name: 'eventbus, own socket, handler', system: 'eventbus', options: { url: eventbus } },
  { name: 'eventbus, own socket, batches', system: 'eventbus', options: { url: eventbus, consume: 'batches' } },
  { name: 'eventbus, own socket, for await', system: 'eventbus', options: { url: eventbus, consume: 'iterator' } },
  { name: 'eventbus, ws, handler', system: 'eventbus', options: { url: eventbus, constructor: 'ws' } },
  { name: 'nats.js, TCP, callback', system: 'nats', options: { url: natsTcp } },
  { name: 'nats.js, TCP, for await', system: 'nats', options: { url: natsTcp, consume: 'iterator' } },
  { name: 'nats.js, WebSocket, callback', system: 'nats', options: { url: natsWeb } },
  ...(page ? [
    { name: 'eventbus, Chromium receives', system: 'eventbus', options: { url: eventbus }, inPage: true },
    { name: 'nats.js, Chromium receives', system: 'nats', options: { url: natsWeb }, publisher: { url: natsTcp }, inPage: true },
  ] : []),
].filter(({ name }) => values.only.split(' ').every(word => name.includes(word)));

function peer(task) {
  const child = fork(join(here, 'peer.js'), { env: { ...process.env, TASK: JSON.stringify(task) } });
  child.on('error', error => { throw error; });
  return child;
}

/** Returns a subscriber in a page, with the interface of a process. */
async function pageSubscriber(task, onMessage) {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  const tab = await browser.newPage();
  await tab.goto(page.origin);
  await tab.exposeFunction('tell', onMessage);
  await tab.evaluate(async ({ system, options, warmup }) => {
    const systems = await import('/systems.js');
    const client = await systems[system](options);
    let started = 0;
    await client.subscribe(systems.sink(count => {
      if (count === warmup) {
        started = performance.now();
      }
      globalThis.tell({ got: count });
    }));
    globalThis.finish = total => ({ rate: (total - warmup) / (performance.now() - started) * 1000, cpu: NaN, lost: client.lost.events });
  }, task);
  return { finish: total => tab.evaluate(sum => globalThis.finish(sum), total), close: () => browser.close() };
}

async function measure({ system, options, publisher, inPage }) {
  const task = { system, options, size, seconds, warmup: WARMUP };
  let total = Infinity;
  let publisherCpu = NaN;
  let got = 0;
  const pub = {};
  let done;
  const finished = new Promise(resolve => { done = resolve; });
  const check = () => got >= total && done();
  const onGot = message => {
    got = message.got;
    if (pub.process?.connected) {
      pub.process.send({ got });
    }
    check();
  };
  let finish;
  let close;
  if (inPage) {
    ({ finish, close } = await pageSubscriber(task, onGot));
  } else {
    const subscriber = peer({ ...task, role: 'subscriber' });
    let result;
    const told = new Promise(resolve => { result = resolve; });
    await new Promise(resolve => subscriber.on('message', message => {
      if (message.ready) {
        resolve();
      } else if (message.result) {
        result(message.result);
      } else {
        onGot(message);
      }
    }));
    finish = sum => {
      subscriber.send({ total: sum });
      return told;
    };
    close = () => subscriber.kill();
  }
  pub.process = peer({ ...task, options: publisher ?? options, role: 'publisher' });
  pub.process.on('message', message => {
    if (message.total) {
      total = message.total;
      publisherCpu = message.cpu;
      check();
    }
  });
  const late = setTimeout(() => { throw new Error(`got ${got} of ${total} events (expected: all)`); }, 60_000 + 10_000 * seconds);
  await finished;
  clearTimeout(late);
  const result = await finish(total);
  pub.process.disconnect();
  await close();
  return { ...result, publisherCpu, lost: result.lost + total - got };
}

const median = all => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
const results = new Map(CASES.map(({ name }) => [name, []]));
try {
  for (let round = 1; round <= rounds; round++) {
    for (const one of CASES) {
      const result = await measure(one);
      results.get(one.name).push(result);
      console.error(`round ${round}: ${one.name}: ${Math.round(result.rate)} events/s`);
    }
  }
} finally {
  natsServer.kill();
  await bus.stop();
  page?.close();
  rmSync(work, { recursive: true, force: true });
}

console.log(`\n${size} bytes, one publisher, one subscriber, ${rounds} rounds of ${seconds} s in turn, medians\n`);
console.log('| | events/s | lowest | highest | CPU of the subscriber, µs an event | of the publisher | lost |\n|---|---|---|---|---|---|---|');
for (const [name, all] of results) {
  const rates = all.map(one => one.rate);
  const figures = [median(rates), Math.min(...rates), Math.max(...rates)].map(rate => Math.round(rate).toLocaleString('en'));
  const cpu = [median(all.map(one => one.cpu)), median(all.map(one => one.publisherCpu))].map(value => (Number.isNaN(value) ? '–' : value.toFixed(2)));
  console.log(`| ${[name, ...figures, ...cpu, all.reduce((sum, one) => sum + one.lost, 0)].join(' | ')} |`);
}
process.exit(0);
