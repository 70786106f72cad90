// A clock that tests advance, and buses that record the frames of clients.
import { settings } from '../../src/options.js';
import { ServiceBus } from '../../src/services.js';
import { frame, read } from './bus-frames.js';

/** Runs everything that waits for no timer. */
export async function settle() {
  for (let i = 0; i < 30; i++) {
    await null;
  }
}

export class FakeEnvironment {
  time = 1000;
  timers = new Map();
  nextTimer = 1;
  /** All connections that were tried, the latest last. */
  connections = [];
  /** Decides a try to connect; opens it by default. */
  onOpen = connection => connection.open();
  reported = [];
  page = null;
  inBrowser = false;
  explain = null;
  agent = 'eventbus-js/test';
  random = () => 0;
  micros = () => 1_700_000_000_000_000;
  now = () => this.time;
  report = error => this.reported.push(error);
  onExit = () => () => {};

  setTimeout = (task, delay) => {
    const id = this.nextTimer++;
    this.timers.set(id, { at: this.time + delay, task });
    return id;
  };

  clearTimeout = id => void this.timers.delete(id);

  open = (url, protocol, events) => {
    const connection = new FakeConnection(url, events);
    this.connections.push(connection);
    queueMicrotask(() => this.onOpen(connection));
    return connection.channel;
  };

  /** The latest connection. */
  get bus() {
    return this.connections.at(-1);
  }

  /** Advances the clock, and runs due timers in order. */
  async advance(ms) {
    const until = this.time + ms;
    await settle();
    for (;;) {
      const due = [...this.timers].filter(([, timer]) => timer.at <= until).sort(([, a], [, b]) => a.at - b.at)[0];
      if (!due) {
        break;
      }
      this.timers.delete(due[0]);
      this.time = Math.max(this.time, due[1].at);
      due[1].task();
      await settle();
    }
    this.time = until;
    await settle();
  }

  /** Lets the machine sleep: time passes, and timers fire late. */
  async sleep(ms) {
    this.time += ms;
    await this.advance(0);
  }
}

export class FakeConnection {
  said = [];
  /** Received messages, each a list of frames. */
  messages = [];
  closed = null;
  bufferedAmount = 0;

  constructor(url, events) {
    this.url = url;
    this.events = events;
    const self = this;
    this.channel = {
      send(chunks) {
        const frames = read(new Uint8Array(Buffer.concat(chunks)));
        self.messages.push(frames);
        self.said.push(...frames);
      },
      get bufferedAmount() { return self.bufferedAmount; },
      close(code, reason) { self.closed = { code, reason }; },
      abort() { self.closed = { code: 1006, reason: 'aborted' }; },
      limit: null,
      ping: null,
    };
  }

  open() {
    this.events.onOpen();
  }

  /** Opens the connection and sends a `Welcome`. */
  welcome(record) {
    this.open();
    this.send('WELCOME', record);
  }

  send(name, record) {
    this.raw(frame(name, record));
  }

  raw(bytes) {
    this.events.onMessage(bytes);
  }

  end(code = 1006, reason = '', refusal = undefined) {
    this.events.onClose(code, reason, refusal);
  }

  /** Returns the received frames of one type. */
  of(name) {
    return this.said.filter(one => one.frame === name);
  }

  /** Confirms all requests that are not confirmed yet. */
  confirmAll() {
    for (const one of this.said.splice(0)) {
      this.before ??= [];
      this.before.push(one);
      if (one.frame === 'SUBSCRIBE') {
        this.send('CONFIRM', { typeCode: 2, about: one.id });
      } else if (one.frame === 'REGISTER') {
        this.send('CONFIRM', { typeCode: 20, about: one.id });
      } else if (one.frame === 'CONSUME') {
        this.send('CONFIRM', { typeCode: 16, about: one.id, topic: 'shop' });
      } else if (one.frame === 'PUBLISH' && one.confirm) {
        this.send('CONFIRM', { typeCode: 1, topic: one.topic, about: one.sequence + one.events.length - 1 });
      } else if (one.frame === 'BARRIER' || one.frame === 'ECHO') {
        this.send(one.frame, { id: one.id });
      } else if (one.frame === 'UNSUBSCRIBE' || one.frame === 'UNREGISTER') {
        this.send('CONFIRM', { typeCode: one.frame === 'UNSUBSCRIBE' ? 6 : 21, about: one.id });
        this.send('DRAINED', { id: one.id });
      }
    }
  }
}

/** Returns a client connected to a fake bus, and its events. */
export async function connected(options = {}, env = new FakeEnvironment(), welcome = {}) {
  env.onOpen = connection => connection.welcome(welcome);
  const { callBytes = 2 ** 24, ...others } = options;
  // A client with calls, so that everything else is tested beside them.
  const client = new ServiceBus(settings({ url: 'ws://bus-1.test/bus', ...others }, env.page !== null), env, callBytes);
  const told = [];
  for (const type of ['connected', 'disconnected', 'reconnecting', 'busChanged', 'busChangeFailed', 'gap', 'interruption', 'truncated', 'dropped', 'problem', 'handlerError', 'requestFailed', 'producerChanged']) {
    client.on(type, event => told.push({ type, ...event, ...(event instanceof Error && { message: event.message }) }));
  }
  await client.start();
  await settle();
  return { client, env, bus: env.bus, told, of: type => told.filter(one => one.type === type) };
}
