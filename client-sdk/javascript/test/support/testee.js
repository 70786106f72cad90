// Testee of the conformance kit, in Node and in a page: handles its lines, as conformance/adapter.md defines them.
import { connect, Rejection, Reply } from '../../src/services.js';
import { durable, replay } from '../../src/durable.js';
import { Malformed } from '../../src/errors.js';
import { filterProblem, matcher, topicProblem } from '../../src/topics.js';
import { fingerprint } from '../../src/avro.js';
import { base64, fromBase64, fromHex } from './text.js';
import { decode } from './records.js';

const VERSION = 1;
const CAPABILITIES = [
  'publish', 'send', 'limits', 'outbound', 'confirm-timeout', 'flush', 'subscribe', 'groups', 'repetitions', 'forget', 'pause', 'credit',
  'reconnect', 'others', 'previous', 'credentials', 'tokens', 'token-again', 'authenticate', 'change', 'silence', 'counters', 'decode', 'strict', 'topics', 'fingerprint',
  'services', 'durable', 'positions', 'consume', 'calls', 'interruption', 'independent', 'proxies', 'refusals', 'withdraw', 'retry-refused',
];
const OPTIONS = [
  'name', 'user', 'token', 'attributes', 'connectTimeout', 'confirmTimeout', 'silenceTimeout', 'closeTimeout', 'reconnect', 'outboundBytes', 'whenFull',
  'blockTimeout', 'batchBytes', 'receiveBytes', 'trackedProducers',
];

/** Clients by name, including those being connected. */
let clients = new Map();
/** Subscriptions by name. */
let subscriptions = new Map();
/** Names of subscriptions. */
const names = new WeakMap();
/** Services by name. */
let services = new Map();
/** Requests of this testee by name. */
let requests = new Map();
/** Requests to its services that wait for an answer, by number. */
let invocations = new Map();
let invoked = 0;
// Counts resets: clients of an earlier era report nothing.
let era = 0;
let agent = '';

let output = () => {};
const write = line => output(JSON.stringify(line, (key, value) => (typeof value === 'bigint' ? String(value) : value)));
const info = connection => connection && { url: connection.url, bus: connection.bus, session: connection.session, producer: connection.producer };
const bytes = text => fromBase64(text ?? '');
const given = args => Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== undefined));

class Broken extends Error {}

function find(map, name) {
  return map.get(name) ?? (() => { throw new Broken(`${name}: no such name`); })();
}

function clientOf(name) {
  return find(clients, name).client ?? (() => { throw new Broken(`${name}: not connected yet`); })();
}

/** Reports the events of a client. */
function tell(name, client) {
  const mine = era;
  const say = (event, members) => mine === era && write({ event, client: name, ...members });
  client.on('connected', now => say('connected', info(now)));
  client.on('disconnected', ({ code, reason, willReconnect }) => say('disconnected', { code: code === 1005 ? 1006 : code, reason, willReconnect }));
  client.on('reconnecting', members => say('reconnecting', members));
  client.on('busChanged', ({ before, now }) => say('busChanged', { before: info(before), now: info(now) }));
  client.on('busChangeFailed', members => say('busChangeFailed', members));
  // A drop in the client counts as one of the policy, like one in the bus.
  client.on('gap', ({ topic, producer, from, to, reason }) => say('gap', { topic, producer, from, to, reason: { BUFFER_FULL: 'QUEUE_FULL', BUFFER_CONFLATED: 'CONFLATED' }[reason] ?? reason }));
  client.on('interruption', ({ subscription, from, to }) => say('interruption', { subscription: names.get(subscription), from, to }));
  client.on('producerChanged', members => say('producerChanged', members));
  client.on('dropped', members => say('dropped', members));
  client.on('problem', problem => say('problem', errorOf(problem)));
  client.on('handlerError', ({ error, event }) => say('handlerError', { subscription: event?.topic, message: error.message }));
  return say;
}

function errorOf(thrown) {
  const { code, busCode, retryable, message, executed } = thrown;
  return { code, busCode, retryable, message, executed };
}

const OPS = {
  hello: () => ({ protocol: VERSION, agent, capabilities: CAPABILITIES }),

  async reset() {
    era++;
    const all = [...clients.values()];
    clients = new Map();
    subscriptions = new Map();
    services = new Map();
    requests = new Map();
    invocations = new Map();
    await Promise.all(all.map(entry => {
      entry.control.abort();
      return entry.client?.close({ timeout: 0 });
    }));
    return {};
  },

  async connect(name, args) {
    const options = { url: args.urls, ...Object.fromEntries(OPTIONS.filter(option => args[option] !== undefined).map(option => [option, args[option]])) };
    options.name ??= 'testee';
    if (args.tokens) {
      let asked = 0;
      options.token = () => args.tokens[Math.min(asked++, args.tokens.length - 1)];
    }
    const entry = { control: new AbortController(), client: null };
    clients.set(name, entry);
    let say;
    try {
      entry.client = await connect({ ...options, signal: entry.control.signal });
      say = tell(name, entry.client);
    } catch (error) {
      clients.delete(name);
      throw error;
    }
    const now = info(entry.client.connection);
    say('connected', now);
    return now;
  },

  async close(name, { timeout }) {
    const entry = find(clients, name);
    if (!entry.client) {
      entry.control.abort();
      return { drained: false };
    }
    return { drained: await entry.client.close(timeout === undefined ? {} : { timeout }) };
  },

  state(name) {
    const { client } = find(clients, name);
    return client ? { state: client.state, connection: info(client.connection) } : { state: 'CONNECTING', connection: null };
  },

  counters: name => clientOf(name).counters(),
  publish: (name, args) => clientOf(name).publish(args.topic, bytes(args.payload), { ...event(args), ...durableOptions(args) }),
  send: (name, args) => ({ accepted: clientOf(name).send(args.topic, bytes(args.payload), event(args)) }),

  async flush(name, { timeout }) {
    await clientOf(name).flush(timeout === undefined ? {} : { timeout });
    return {};
  },

  async subscribe(name, { as, filter, group, overflow, bufferBytes }) {
    await begin(as, handler => clientOf(name).subscribe(filter, given({ group, overflow, bufferBytes }), handler), name);
    return {};
  },

  async consume(name, { as, name: durableName, filter, journal, start, from, bufferBytes }) {
    const mine = era;
    const position = start === 'POSITION' && { position: from };
    const options = given({ filter, journal, from: position || (start === 'TIME' ? { time: from } : start), bufferBytes });
    options.onTruncated = ({ from: first, to, reason }) => {
      if (mine === era) {
        write({ event: 'truncated', client: name, subscription: as, from: first, to, reason });
      }
    };
    const client = clientOf(name);
    await begin(as, handler => (durableName ? durable(client, durableName, options, handler) : replay(client, options, handler)), name);
    return {};
  },

  async unsubscribe(name, { subscription }) {
    await find(subscriptions, subscription).subscription.unsubscribe();
    return {};
  },

  pause(name, { subscription }) {
    find(subscriptions, subscription).paused = true;
    return {};
  },

  resume(name, { subscription }) {
    const entry = find(subscriptions, subscription);
    entry.paused = false;
    entry.resume();
    return {};
  },

  async serve(name, { as, service, concurrency, rememberReplies }) {
    const mine = era;
    const say = (event, members) => mine === era && write({ event, client: name, service: as, ...members });
    const served = clientOf(name).serve(service, invocation => {
      const { method, caller, request, attempt, identity, event: asked, signal } = invocation;
      const number = ++invoked;
      say('invoked', { invocation: number, method, caller, request: Number(request), attempt, identity, payload: base64(asked.payload) });
      signal.addEventListener('abort', () => say('invocationCancelled', { invocation: number }));
      return new Promise((resolve, reject) => invocations.set(number, { resolve, reject }));
    }, given({ concurrency, rememberReplies }));
    services.set(as, served);
    await served.ready;
    return {};
  },

  async unserve(name, { service }) {
    await find(services, service).close({ timeout: 5000 });
    return {};
  },

  reply(name, args) {
    find(invocations, args.invocation).resolve(new Reply(bytes(args.payload), event(args)));
    return {};
  },

  reject(name, { invocation, reason, message = '', type = '' }) {
    find(invocations, invocation).reject(new Rejection(reason, message, { type }));
    return {};
  },

  async request(name, args) {
    const { as, service, payload, method, timeout, waitFor, idempotent, priority, member, retry } = args;
    const control = new AbortController();
    if (as) {
      requests.set(as, control);
    }
    const reply = await clientOf(name).request(service, bytes(payload), {
      ...event(args), ...given({ method, timeout, waitFor, idempotent, priority, retry: retry === false ? false : undefined }),
      ...member && { member: BigInt(member) }, signal: control.signal,
    });
    return { payload: base64(reply.payload), member: reply.member };
  },

  cancel(name, { request }) {
    find(requests, request).abort();
    return {};
  },

  decode: (name, { hex }) => ({ frames: decode(fromHex(hex)) }),
  checkTopic: (name, { topic }) => ({ legal: topicProblem(topic) === null }),
  checkFilter: (name, { filter }) => ({ legal: filterProblem(filter) === null }),
  match: (name, { filter, topic }) => ({ matches: matcher(filter)(topic) }),
  fingerprint: (name, { schema }) => ({ fingerprint: fingerprint(JSON.parse(schema)) }),
};

/** Begins a subscription or consumer whose handler can be paused; returns when it is ready. */
async function begin(as, subscribe, client) {
  const mine = era;
  const entry = { paused: false, resume: () => {} };
  entry.subscription = subscribe(one => {
    if (mine === era) {
      write({
        event: 'received', client, subscription: as, topic: one.topic, producer: one.producer, sequence: one.sequence, position: one.position,
        payload: base64(one.payload), key: one.key, headers: one.headers, publishedAt: one.publishedAt,
        receivedAt: one.receivedAt, schema: one.schema,
      });
    }
    return entry.paused ? new Promise(resolve => { entry.resume = resolve; }) : undefined;
  });
  names.set(entry.subscription, as);
  subscriptions.set(as, entry);
  await entry.subscription.ready;
}

function durableOptions({ expected, delay, ttl, producerName, number }) {
  return given({ expected, delay, ttl, producer: producerName, number });
}

function event({ key, headers, publishedAt, schema }) {
  return given({ key, headers, publishedAt, schema: schema === undefined || schema === null ? undefined : BigInt(schema) });
}

function failure(op, thrown) {
  if (thrown instanceof Malformed) {
    return { error: { code: 'MALFORMED', retryable: false, message: thrown.message } };
  }
  if (thrown?.name === 'AbortError' && op === 'request') {
    return { error: { code: 'CANCELLED', retryable: false, message: 'cancelled' } };
  }
  if (thrown?.name === 'EventBusError' || thrown?.name === 'CallError') {
    const error = errorOf(thrown);
    return { error: (op === 'subscribe' || op === 'consume') && error.code === 'ILLEGAL_TOPIC' ? { ...error, code: 'INVALID' } : error };
  }
  if (thrown?.name === 'AbortError') {
    return { error: { code: 'CLOSED', retryable: false, message: 'given up' } };
  }
  if (thrown instanceof TypeError || thrown instanceof RangeError) {
    return { error: { code: 'INVALID', retryable: false, message: thrown.message } };
  }
  return { broken: thrown instanceof Broken ? thrown.message : String(thrown?.stack ?? thrown) };
}

async function answer(line) {
  const { id, op, on, args = {} } = JSON.parse(line);
  if (op === 'encode') {
    write({ id, unsupported: 'encode' });
    return;
  }
  try {
    const run = OPS[op] ?? (() => { throw new Broken(`op ${op}: unknown`); });
    write({ id, ok: await run(on, given(args)) });
  } catch (thrown) {
    write({ id, ...failure(op, thrown) });
  }
}

/**
 * @param {string} platform as Hello.agent has it
 * @param {(line: string) => void} to where answers and events go
 * @returns {(line: string) => void} takes a request
 */
export function testee(platform, to) {
  agent = `eventbus-js/0.1.0 (${platform})`;
  output = to;
  return line => void answer(line);
}
