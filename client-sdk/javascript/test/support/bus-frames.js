// Frames as a bus writes and reads them, for tests that play the bus.
import {
  BUS_CODES, CHANGE_REASONS, CONSUME_STARTS, EXECUTIONS, FAILURE_CODES, GAP_REASONS, OVERFLOWS, PRIORITIES, SETTLE_OUTCOMES, TRUNCATED_REASONS,
} from '../../src/wire/names.js';
import * as TYPE from '../../src/wire/type.js';
import { Reader } from '../../src/wire/reader.js';
import { Writer } from '../../src/wire/writer.js';

export const LIMITS = { payloadBytes: 1_048_576, messageBytes: 4_194_304, headers: 64, headerBytes: 16_384, subscriptions: 10_000, queueBytes: 8_388_608 };

const strings = (w, all) => {
  if (all.length > 0) {
    w.long(all.length);
    all.forEach(one => w.string(one));
  }
  w.long(0);
};

const bytesOf = payload => typeof payload === 'string' ? new TextEncoder().encode(payload) : payload;

function writeEvent(w, { publishedAt = 1, key = null, headers = {}, payload = '' }) {
  w.long(publishedAt);
  w.optional(key);
  w.map(headers);
  w.data(bytesOf(payload));
}

export function writeEvents(w, events) {
  const body = new Writer();
  events.forEach(event => writeEvent(body, event));
  if (events.length > 0) {
    w.long(-events.length);
    w.data(body.done());
  }
  w.long(0);
}

const BODIES = {
  WELCOME(w, { bus = 'bus-1', session = 'bus-1-1', producer = 77n, resume = 'r'.repeat(43), limits = LIMITS, others = [], expiresAt = 0, calls = 4096, services = 1000, tunnels = 1024, window = 4_194_304, durable = true }) {
    w.string(bus);
    w.string(session);
    w.bigint64(producer);
    w.string(resume);
    for (const name of Object.keys(LIMITS)) {
      w.long(limits[name]);
    }
    strings(w, others);
    w.long(expiresAt);
    w.long(calls);
    w.long(services);
    w.long(tunnels);
    w.long(window);
    w.boolean(durable);
  },
  CHANGE_BUS(w, { urls, reason = 'DRAIN', deadlineMillis = 30_000, token = 'move-1', hops = 2 }) {
    strings(w, urls);
    w.long(CHANGE_REASONS.indexOf(reason));
    w.long(deadlineMillis);
    w.string(token);
    w.long(hops);
  },
  DELIVER(w, { topic = 'a.b', producer = 5n, sequence = 1, schema = 0n, receivedAt = 2, offset = -1, events = [{}], groups = [], originProducer = undefined, originSequence = 1 }) {
    w.string(topic);
    w.bigint64(producer);
    w.long(sequence);
    w.bigint64(schema);
    w.long(receivedAt);
    w.long(offset);
    writeEvents(w, events);
    if (groups.length > 0) {
      w.long(groups.length);
      groups.forEach(id => w.long(id));
    }
    w.long(0);
    if (originProducer !== undefined) {
      w.bigint64(originProducer);
      w.long(originSequence);
    }
  },
  PROBLEM(w, { code = 'INTERNAL', message = 'refused', retryable = false, about = 0, typeCode = -1, topic = '' }) {
    w.long(BUS_CODES.indexOf(code));
    w.string(message);
    w.boolean(retryable);
    w.long(about);
    w.long(typeCode);
    w.string(topic);
  },
  CONFIRM(w, { typeCode, about, topic = '', receivers = undefined, position = undefined, repeated = false, creation = undefined }) {
    w.long(typeCode);
    w.long(about);
    w.string(topic);
    if (receivers !== undefined) {
      w.long(receivers);
    }
    if (position !== undefined) {
      w.long(position);
      w.boolean(repeated);
    }
    if (creation !== undefined) {
      w.long(creation);
    }
  },
  GAP(w, { topic = 'a.b', producer = 5n, from, to, reason = 'QUEUE_FULL' }) {
    w.string(topic);
    w.bigint64(producer);
    w.long(from);
    w.long(to);
    w.long(GAP_REASONS.indexOf(reason));
  },
  INVOKE(w, { call = -1n, service, method = '', kind = 0, timeoutMillis = 1000, caller = 9n, request = 1n, attempt = 0, identity = '', receivedAt = 2, schema = 0n, event = {}, limit = 0 }) {
    w.bigint64(call);
    w.long(service);
    w.string(method);
    w.long(kind);
    w.long(timeoutMillis);
    w.bigint64(caller);
    w.bigint64(request);
    w.long(attempt);
    w.string(identity);
    w.long(receivedAt);
    w.bigint64(schema);
    writeEvent(w, event);
    w.long(limit);
  },
  REPLY(w, { call, member = 12n, queuedMicros = 500, handledMicros = 1500, schema = 0n, event = {}, more = false, limit = 0 }) {
    w.long(call);
    w.bigint64(member);
    w.long(queuedMicros);
    w.long(handledMicros);
    w.bigint64(schema);
    writeEvent(w, event);
    w.boolean(more);
    w.long(limit);
  },
  FAILURE(w, { call, code, message = 'why', executed = 'UNKNOWN', retryAfterMillis = 0, member = 0n, type = '', details = '', more = false }) {
    w.long(call);
    w.long(FAILURE_CODES.indexOf(code));
    w.string(message);
    w.long(EXECUTIONS.indexOf(executed));
    w.long(retryAfterMillis);
    w.bigint64(member);
    w.string(type);
    w.data(bytesOf(details));
    w.boolean(more);
  },
  CANCEL(w, { call, reason = '' }) {
    w.bigint64(call);
    w.string(reason);
  },
  FEED(w, { id, from, to, head = to, frames = [], attempt = 0 }) {
    w.long(id);
    w.long(from);
    w.long(to);
    w.long(head);
    w.data(concat(...frames));
    if (attempt > 0) {
      w.long(attempt);
    }
  },
  TRUNCATED(w, { id, from, to, reason = 'RETENTION' }) {
    w.long(id);
    w.long(from);
    w.long(to);
    w.long(typeof reason === 'number' ? reason : TRUNCATED_REASONS.indexOf(reason));
  },
  BARRIER: (w, { id }) => w.long(id),
  DRAINED: (w, { id }) => w.long(id),
  ECHO: (w, { id }) => w.long(id),
};

/** Returns a frame of a bus. */
export function frame(name, record = {}) {
  const body = new Writer();
  BODIES[name](body, record);
  return rawFrame(TYPE[name], body.done());
}

/** Returns a Deliver of consecutive events of a durable topic, the first one at this position. */
export const stored = (offset, ...payloads) => frame('DELIVER', {
  topic: 'a', producer: 5n, sequence: offset, offset, originProducer: 9n, originSequence: 100 + offset, events: payloads.map(payload => ({ payload })),
});

export function rawFrame(typeCode, body) {
  const w = new Writer();
  w.long(typeCode);
  w.data(body);
  return w.done();
}

export function concat(...parts) {
  return new Uint8Array(Buffer.concat(parts));
}

function map(r) {
  const all = {};
  r.blocks('map', 2, count => {
    for (let i = 0; i < count; i++) {
      const name = r.string('name');
      all[name] = r.string('value');
    }
  });
  return all;
}

const optional = r => r.present('union') ? r.string('text') : null;

const named = r => {
  const name = optional(r);
  const number = r.long('number');
  return name === null ? {} : { named: [name, number] };
};

const event = r => ({ publishedAt: r.long('publishedAt'), key: optional(r), headers: map(r), payload: bytes(r) });

function events(r) {
  const all = [];
  r.blocks('events', 4, count => {
    for (let i = 0; i < count; i++) {
      all.push(event(r));
    }
  });
  return all;
}

function bytes(r) {
  const length = r.length('payload');
  r.at += length;
  return Buffer.from(r.bytes.slice(r.at - length, r.at)).toString();
}

const READERS = {
  [TYPE.HELLO]: r => ({ frame: 'HELLO', client: r.string('client'), agent: r.string('agent'), token: optional(r), resume: optional(r), attributes: map(r), change: optional(r), user: optional(r), previous: optional(r) }),
  [TYPE.PUBLISH]: r => ({ frame: 'PUBLISH', topic: r.string('topic'), sequence: r.long('sequence'), schema: r.bigint64('schema'), confirm: r.boolean('confirm'), events: events(r), ...(!r.done && { wish: [r.long('expect'), r.long('delayMillis'), r.long('ttlMillis')], ...named(r) }) }),
  [TYPE.SUBSCRIBE]: r => ({ frame: 'SUBSCRIBE', id: r.long('id'), filter: r.string('filter'), group: optional(r), overflow: OVERFLOWS[r.int('overflow')] }),
  [TYPE.UNSUBSCRIBE]: r => ({ frame: 'UNSUBSCRIBE', id: r.long('id') }),
  [TYPE.BARRIER]: r => ({ frame: 'BARRIER', id: r.long('id') }),
  [TYPE.ECHO]: r => ({ frame: 'ECHO', id: r.long('id') }),
  [TYPE.CHANGE_BUS_FAILED]: r => ({ frame: 'CHANGE_BUS_FAILED', token: r.string('token'), message: r.string('message') }),
  [TYPE.AUTHENTICATE]: r => ({ frame: 'AUTHENTICATE', token: r.string('token'), user: optional(r) }),
  [TYPE.REGISTER]: r => ({ frame: 'REGISTER', id: r.long('id'), service: r.string('service'), concurrency: r.int('concurrency'), identify: r.boolean('identify'), version: r.string('version'), metadata: map(r), overflow: OVERFLOWS[r.int('overflow')] }),
  [TYPE.UNREGISTER]: r => ({ frame: 'UNREGISTER', id: r.long('id') }),
  [TYPE.CAPACITY]: r => ({ frame: 'CAPACITY', id: r.long('id'), concurrency: r.int('concurrency') }),
  [TYPE.REQUEST]: r => ({
    frame: 'REQUEST', call: r.long('call'), service: r.string('service'), method: r.string('method'), kind: r.int('kind'), scope: r.int('scope'),
    priority: PRIORITIES[r.int('priority')], timeoutMillis: r.int('timeoutMillis'), waitMillis: r.int('waitMillis'), idempotent: r.boolean('idempotent'),
    attempt: r.int('attempt'), member: r.bigint64('member'), schema: r.bigint64('schema'), event: event(r), limit: r.long('limit'),
  }),
  [TYPE.REPLY]: r => ({ frame: 'REPLY', call: r.bigint64('call'), member: r.long('member'), queuedMicros: r.int('queuedMicros'), handledMicros: r.int('handledMicros'), schema: r.bigint64('schema'), event: event(r), more: r.boolean('more'), limit: r.long('limit') }),
  [TYPE.FAILURE]: r => ({
    frame: 'FAILURE', call: r.bigint64('call'), code: FAILURE_CODES[r.int('code')], message: r.string('message'), executed: EXECUTIONS[r.int('executed')],
    retryAfterMillis: r.long('retryAfterMillis'), member: r.long('member'), type: r.string('type'), details: bytes(r), more: r.boolean('more'),
  }),
  [TYPE.CANCEL]: r => ({ frame: 'CANCEL', call: r.long('call'), reason: r.string('reason') }),
  [TYPE.CREDIT]: r => ({ frame: 'CREDIT', call: r.long('call'), limit: r.long('limit'), received: r.long('received'), ...(!r.done && { consumer: r.long('consumer') }) }),
  [TYPE.CONSUME]: r => ({
    frame: 'CONSUME', id: r.long('id'), filter: r.string('filter'), journal: r.string('journal'), name: r.string('name'), mode: r.int('mode'),
    start: CONSUME_STARTS[r.int('start')], from: r.long('from'), limit: r.long('limit'),
    ...ofCreation(r.long('creation'), { otherStart: CONSUME_STARTS[r.int('otherStart')], otherFrom: r.long('otherFrom') }),
    ...(!r.done && { limits: [r.int('maxEvents'), r.int('ackTimeoutMillis'), r.int('maxAttempts')] }),
  }),
  [TYPE.SETTLE]: r => ({
    frame: 'SETTLE', id: r.long('id'), upTo: r.long('upTo'), confirm: r.boolean('confirm'), ...ofCreation(r.long('creation')),
    ...(!r.done && { from: r.long('from'), outcome: SETTLE_OUTCOMES[r.int('outcome')], attempt: r.int('attempt'), delayMillis: r.int('delayMillis'), reason: r.string('reason') }),
  }),
};

/** Returns what a frame says of a creation of a journal; nothing where it has none. */
function ofCreation(creation, other = {}) {
  return creation && { creation, ...other };
}

/** Returns the frames of a message of a client. */
export function read(message) {
  const all = [];
  const r = new Reader().wrap(message);
  while (!r.done) {
    const type = r.int('typeCode');
    const length = r.length('body');
    const body = new Reader().wrap(message, r.at, r.at + length);
    all.push(READERS[type](body));
    if (!body.done) {
      throw new Error(`${length} bytes of type ${type}: ${body.end - body.at} are left`);
    }
    r.at += length;
  }
  return all;
}
