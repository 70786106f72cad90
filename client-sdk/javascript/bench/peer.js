// A side of a measurement, as a process of its own: `node peer.js ROLE` and its task as JSON in TASK.
import * as systems from './systems.js';

const { role, system, options, size, seconds, warmup } = JSON.parse(process.env.TASK);
if (!globalThis.WebSocket) {
  globalThis.WebSocket = (await import('ws')).WebSocket;
}
if (options.constructor === 'ws') {
  options.WebSocket = (await import('ws')).WebSocket;
}
const WINDOW = 64_000;
const YIELD = 4000;
const tell = message => process.send(message);
const client = await systems[system](options);

if (role === 'subscriber') {
  let started = 0;
  let cpu;
  let first = 0;
  const take = systems.sink(count => {
    if (count === warmup) {
      started = performance.now();
      first = count;
      cpu = process.cpuUsage();
    }
    tell({ got: count });
  });
  await client.subscribe(take);
  process.on('message', ({ total }) => {
    const used = process.cpuUsage(cpu);
    const events = total - first;
    tell({ result: { rate: events / (performance.now() - started) * 1000, cpu: (used.user + used.system) / events, lost: client.lost.events } });
    setTimeout(() => process.exit(0), 50);
  });
  tell({ ready: true });
} else {
  let got = 0;
  let wake = () => {};
  process.on('message', message => {
    got = message.got;
    wake();
  });
  const payload = new Uint8Array(size).fill(7);
  let sent = 0;
  let cpu;
  let first = 0;
  let until = Infinity;
  tell({ ready: true });
  while (performance.now() < until || sent % 1000 !== 0) {
    if (sent === warmup) {
      cpu = process.cpuUsage();
      first = sent;
      until = performance.now() + 1000 * seconds;
    }
    while (sent - got >= WINDOW) {
      await new Promise(resolve => { wake = resolve; });
    }
    while (!client.send(payload)) {
      await client.room();
    }
    if (++sent % YIELD === 0) {
      await new Promise(setImmediate);
    }
  }
  await client.flush();
  const used = process.cpuUsage(cpu);
  tell({ total: sent, cpu: (used.user + used.system) / (sent - first) });
  setTimeout(() => process.exit(0), 2000).unref();
  process.on('disconnect', () => process.exit(0));
}
