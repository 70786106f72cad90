import { Credit } from './credit.js';
import { EventBusError, Malformed } from './errors.js';
import { STANDBY_CREDIT } from './held-deliveries.js';
import { SilenceWatch } from './silence.js';
import { isTemporary } from './reconnect-backoff.js';
import { utf8 } from './wire/bytes.js';
import {
  decodeChangeBus, decodeConfirm, decodeGap, decodeProblem, decodeWelcome, encodeCredit, encodeId,
} from './wire/frames.js';
import { SUBPROTOCOL } from './wire/names.js';
import * as TYPE from './wire/type.js';
import * as LIMIT from './wire/limit.js';
import { Reader } from './wire/reader.js';

/** @import {Barriers} from './barriers.js' */
/** @import {Window} from './credit.js' */
/** @import {Dispatcher} from './dispatcher.js' */
/** @import {Outbox} from './outbox.js' */
/** @import {Registry} from './registry.js' */
/** @import {TokenRefresh} from './token-refresh.js' */
/** @import {CallPort, Channel, DurablePort, Environment, Refusal} from './internal.js' */
/** @import {BusCode, Counters, TlsOptions} from './types.js' */
/** @import {ChangeBus, Confirm, Welcome} from './wire/frames.js' */

/**
 * The parts of a client that frames go to and come from.
 *
 * @typedef {object} Parts
 * @property {Environment} env
 * @property {Outbox} outbox
 * @property {Registry} registry
 * @property {Dispatcher} dispatcher
 * @property {Barriers} barriers
 * @property {Window} window
 * @property {TokenRefresh} refresh
 * @property {CallPort | null} calls null for a client that neither calls services nor serves them
 * @property {DurablePort | null} durable null for a client without consumers of durable topics
 * @property {Counters} counters
 * @property {number} silenceTimeout in ms
 * @property {TlsOptions | undefined} tls
 * @property {(error: EventBusError) => void} problem reports an error that no call waits for
 */

/**
 * Listener of a connection.
 *
 * @typedef {object} LinkOwner
 * @property {(link: BusLink, welcome: Welcome) => void} welcomed the bus has greeted this client
 * @property {(link: BusLink, end: End) => void} ended the connection is over, or never came about; the last call
 * @property {(link: BusLink, request: ChangeBus) => void} changeBus the bus asks the client to move
 *
 * End of a connection.
 * @typedef {object} End
 * @property {number} code
 * @property {string} reason
 * @property {EventBusError | null} failure error, where one is known beside the code
 * @property {Refusal | null} refusal of the upgrade
 * @property {boolean} welcomed
 */

/**
 * Listener of a connection that is not the client's only one yet.
 *
 * @typedef {object} Standby
 * @property {(id: number) => void} confirmed a subscription is in force there
 * @property {(id: number, failure: EventBusError) => void} refused a subscription is not served there
 * @property {(id: number) => void} drained the bus sends nothing more for a subscription there
 */

/** @type {Record<number, BusCode>} codes of refusals by close code, for which a client must not come back */
const VERDICTS = {
  1002: 'PROTOCOL_VIOLATION', 1003: 'PROTOCOL_VIOLATION', 1007: 'MALFORMED', 1009: 'TOO_BIG',
  4500: 'UNAUTHENTICATED', 4501: 'FORBIDDEN', 4502: 'UNSUPPORTED', 4503: 'REPLACED',
};
const SLOW_CONSUMER = 4001;
// Bounds of the message size that is accepted: default and maximum of a bus.
const MIN_MESSAGE_BYTES = 4 * 2 ** 20;
const MAX_MESSAGE_BYTES = 2 ** 30;
const text = new TextDecoder();

/** A connection to a bus: sends `Hello`, reads frames and dispatches them. */
export class BusLink {
  #parts;
  #owner;
  /** @type {Standby | null} */
  #standby;
  /** @type {Channel | null} */
  #channel = null;
  #reader = new Reader();
  #body = new Reader();
  #credit;
  #watch;
  /** @type {EventBusError | null} reason of the close that follows */
  #refusal = null;
  #isOver = false;
  #isAbandoned = false;
  // Set after `leave`: only calls that are under way count.
  #isLeft = false;
  #nextEcho = 1;
  /** @type {{id: number, passed: () => void} | null} the Echo that is under way */
  #fence = null;
  /** Time of the last receipt, in ms. */
  heardAt;
  /** @type {Welcome | null} */
  welcome = null;

  /**
   * @param {string} url
   * @param {Parts} parts
   * @param {LinkOwner} owner
   * @param {Standby | null} standby null for the client's only connection
   */
  constructor(url, parts, owner, standby) {
    this.url = url;
    this.#parts = parts;
    this.#owner = owner;
    this.#standby = standby;
    this.#credit = new Credit(parts.window);
    this.heardAt = parts.env.now();
    this.#watch = new SilenceWatch(parts.env, this, parts.silenceTimeout, () => this.fail(`nothing heard for ${parts.silenceTimeout} ms`));
  }

  /** @param {Uint8Array} hello the first frame */
  open(hello) {
    const { env, tls } = this.#parts;
    try {
      this.#channel = env.open(this.url, SUBPROTOCOL, {
        onOpen: () => {
          this.#heard();
          this.#channel?.send([hello]);
        },
        onMessage: message => this.#onMessage(message),
        onClose: (code, reason, refusal) => this.#onClose(code, reason, refusal ?? null),
        onDrain: () => this.#parts.outbox.flush(),
        onPong: () => this.#heard(),
      }, tls);
    } catch (cause) {
      this.fail('', new EventBusError('NOT_CONNECTED', `no connection to ${this.url}: ${String(cause)}`, { cause }));
    }
  }

  /** @returns {Channel} of a welcomed connection */
  get channel() {
    return /** @type {Channel} */ (this.#channel);
  }

  #heard() {
    this.heardAt = this.#parts.env.now();
  }

  /** @returns {number} the time of the last receipt, in µs since 1970 */
  get heardAtMicros() {
    const { env } = this.#parts;
    return env.micros() - Math.round(1000 * (env.now() - this.heardAt));
  }

  // ---- The end

  /** Ignores confirmations and refusals from now on: they come too late. */
  abandon() {
    this.#isAbandoned = true;
  }

  /** Ends the connection at once, without telling the owner. */
  abort() {
    if (!this.#isOver) {
      this.#isAbandoned = true;
      this.#over();
      this.#channel?.abort();
    }
  }

  #over() {
    this.#isOver = true;
    this.#watch.stop();
    if (this.#channel) {
      this.#parts.calls?.lost(this.#channel);
    }
    this.#parts.durable?.lost(this);
  }

  /** Tells whether the client is at this bus. */
  get isCurrent() {
    return !this.#isOver && !this.#isLeft && !this.#standby;
  }

  /** @param {Uint8Array} frame sent at once; dropped after the end */
  send(frame) {
    if (!this.#isOver) {
      this.#channel?.send([frame]);
    }
  }

  /**
   * Ends the connection in good order, without telling the owner.
   * @param {string} reason
   */
  close(reason) {
    this.#isAbandoned = true;
    this.#over();
    this.#channel?.close(1000, reason);
  }

  /**
   * Closes the connection, as `close`, when the calls that are under way have ended.
   * @param {string} reason
   * @param {number} until deadline of the calls, on the clock of `env.now`
   */
  leave(reason, until) {
    const { calls } = this.#parts;
    if (calls && this.#channel && !this.#isOver) {
      this.#isLeft = this.#isAbandoned = true;
      calls.leave(this.#channel, until, () => this.close(reason));
    } else {
      this.close(reason);
    }
  }

  /**
   * Ends the connection at once, and tells the owner.
   * @param {string} reason
   * @param {EventBusError | null} failure
   * @param {number} code close code for the bus; 1006 for none
   */
  fail(reason, failure = null, code = 1006) {
    if (!this.#isOver) {
      this.#isAbandoned = true;
      this.#over();
      if (code === 1006) {
        this.#channel?.abort();
      } else {
        this.#channel?.close(code, shorten(reason));
      }
      this.#owner.ended(this, { code, reason, failure, refusal: null, welcomed: this.welcome !== null });
    }
  }

  /**
   * @param {number} code
   * @param {string} reason
   * @param {Refusal | null} refusal
   */
  #onClose(code, reason, refusal) {
    if (this.#isOver) {
      return;
    }
    this.#over();
    const busCode = VERDICTS[code] ?? (code >= 4500 ? 'UNSUPPORTED' : undefined);
    let failure = this.#refusal;
    if (!failure && busCode) {
      failure = new EventBusError('REFUSED', `${this.url} closed with ${code}: ${reason}`, { busCode, retryable: false });
    } else if (!failure && refusal) {
      const { status, text } = refusal;
      const told = status === 0 ? `${this.url}: ${text}` : `${this.url} answered ${status}: ${text}`;
      failure = new EventBusError('NOT_CONNECTED', told, { retryable: isTemporary(status) });
    }
    this.#owner.ended(this, { code, reason, failure, refusal, welcomed: this.welcome !== null });
  }

  // ---- Silence

  /** Sends a ping, or an Echo where the platform sends no pings. */
  probe() {
    const channel = this.#channel;
    if (channel?.ping) {
      channel.ping();
    } else {
      channel?.send([encodeId(TYPE.ECHO, this.#nextEcho++)]);
    }
  }

  /**
   * Sends an Echo, which the bus answers behind all that it has sent before.
   * @param {() => void} passed called once, with the answer; not if the connection ends before
   */
  fence(passed) {
    const id = this.#nextEcho++;
    this.#fence = { id, passed };
    this.#channel?.send([encodeId(TYPE.ECHO, id)]);
  }

  #passFence() {
    const fence = this.#fence;
    this.#fence = null;
    fence?.passed();
  }

  /**
   * Probes the connection if it was silent.
   * @param {number} silence ms without a receipt
   * @param {number} timeout ms for the answer
   */
  probeIfSilent(silence, timeout) {
    if (this.welcome && this.#parts.env.now() - this.heardAt > silence) {
      this.#watch.probe(timeout);
    }
  }

  // ---- Credit

  /** Grants credit for the free room, if it is due. */
  grant() {
    if (!this.#standby && !this.#isOver && !this.#isLeft && this.#credit.isDue) {
      this.#grantUpTo(this.#credit.next);
    }
  }

  /** @param {number} limit */
  #grantUpTo(limit) {
    if (this.#credit.granted(limit)) {
      this.#channel?.send([encodeCredit(limit, this.#credit.received)]);
    }
  }

  /**
   * Bounds the deliveries of a standby connection. Only after the bus has confirmed all subscriptions: a bus without credit would take the frame for
   * a sign that the client stays.
   */
  limitStandby() {
    this.#grantUpTo(STANDBY_CREDIT);
  }

  /** Grants unlimited credit before closing. */
  grantAll() {
    this.#grantUpTo(Number.MAX_SAFE_INTEGER);
  }

  /** Makes this the client's only connection. */
  goLive() {
    this.#standby = null;
    this.grant();
  }

  // ---- Input

  /** @param {Uint8Array} message */
  #onMessage(message) {
    if (this.#isOver) {
      return;
    }
    this.#heard();
    const { dispatcher, window } = this.#parts;
    try {
      this.#frames(message);
    } catch (thrown) {
      if (!(thrown instanceof Malformed)) {
        throw thrown;
      }
      this.#refusal = new EventBusError('REFUSED', `the bus sent what is malformed: ${thrown.message}`, { busCode: 'MALFORMED', retryable: true });
      this.fail(thrown.message, this.#refusal, 1007);
    } finally {
      // Events before a malformed frame are good.
      dispatcher.handOver();
    }
    if (window.isOverrun) {
      this.fail(`${window.unhandled} bytes that were not handled in time (expected: the handlers keep up)`, null, SLOW_CONSUMER);
    }
    this.grant();
    this.#parts.outbox.flush();
  }

  /** @param {Uint8Array} message */
  #frames(message) {
    const reader = this.#reader.wrap(message);
    while (reader.at < reader.end && !this.#isOver) {
      const start = reader.at;
      const type = reader.int('typeCode');
      const length = reader.length('body');
      const from = reader.at;
      const to = reader.at = from + length;
      if (this.#isLeft) {
        this.#ofCalls(type, this.#body.wrap(message, from, to));
      } else if (type === TYPE.DELIVER && this.welcome) {
        this.#credit.received += to - start;
        if (this.#standby) {
          this.#parts.dispatcher.holdDelivery(message, start, from, to);
        } else {
          this.#parts.dispatcher.deliver(message, start, from, to);
        }
      } else {
        this.#frame(type, this.#body.wrap(message, from, to), to - start);
      }
    }
  }

  /**
   * @param {number} type
   * @param {Reader} body
   * @returns {boolean} whether it is a frame of calls that this client knows
   */
  #ofCalls(type, body) {
    return this.#parts.calls?.frame(type, body, this.channel) ?? false;
  }

  /**
   * @param {number} type
   * @param {Reader} body
   * @param {number} bytes of the frame
   */
  #frame(type, body, bytes) {
    const { barriers, counters, dispatcher, durable } = this.#parts;
    if (!this.welcome && type !== TYPE.WELCOME && type !== TYPE.PROBLEM) {
      throw body.malformed('typeCode', body.at, String(type), 'Welcome first');
    }
    switch (type) {
      case TYPE.WELCOME:
        this.#greeted(decodeWelcome(body));
        break;
      case TYPE.CONFIRM:
        this.#confirmed(decodeConfirm(body));
        break;
      case TYPE.PROBLEM:
        this.#problem(body);
        break;
      case TYPE.GAP:
        if (this.#standby) {
          dispatcher.holdGap(decodeGap(body));
        } else {
          dispatcher.gap(decodeGap(body));
        }
        break;
      case TYPE.BARRIER:
        barriers.echoed(body.long('id'));
        break;
      case TYPE.DRAINED:
        // Delivers the last events before the end.
        dispatcher.handOver();
        this.#drained(body.long('id'));
        break;
      case TYPE.CHANGE_BUS:
        this.#owner.changeBus(this, decodeChangeBus(body));
        break;
      case TYPE.ECHO:
        if (body.long('id') === this.#fence?.id) {
          this.#passFence();
        }
        break;
      default:
        if (!this.#ofCalls(type, body) && !durable?.frame(type, body, bytes, this)) {
          // A frame of a later version: skipped, as the protocol says.
          counters.unknownFrames++;
        }
    }
  }

  /** @param {Welcome} welcome */
  #greeted(welcome) {
    if (this.welcome) {
      return;
    }
    this.welcome = welcome;
    this.#parts.calls?.opened(this.channel, welcome);
    this.#channel?.limit?.(Math.max(MIN_MESSAGE_BYTES, Math.min(MAX_MESSAGE_BYTES, welcome.limits.messageBytes)) + LIMIT.aroundEvents);
    this.#watch.start();
    // Before the first Subscribe, so that credit counts for all deliveries.
    this.grant();
    this.#owner.welcomed(this, welcome);
  }

  /** @param {Confirm} confirm */
  #confirmed(confirm) {
    const { typeCode, about } = confirm;
    if (this.#isAbandoned) {
      return;
    }
    this.#parts.durable?.confirmed(confirm, this);
    if (typeCode === TYPE.PUBLISH) {
      this.#parts.outbox.confirmed(confirm);
    } else if (typeCode === TYPE.SUBSCRIBE || typeCode === TYPE.REGISTER || typeCode === TYPE.CONSUME) {
      // A standby confirms nothing for the application: the client may stay at its bus, which may still refuse.
      (this.#standby ?? this.#parts.registry).confirmed(about);
    } else if (typeCode === TYPE.AUTHENTICATE) {
      this.#parts.refresh.renewed(this, about);
    }
  }

  /** @param {number} id */
  #drained(id) {
    if (!this.#isAbandoned) {
      (this.#standby ?? this.#parts.registry).drained(id);
    }
  }

  /** @param {Reader} body */
  #problem(body) {
    const { code, message, retryable, about, typeCode, topic } = decodeProblem(body);
    const failure = new EventBusError('REFUSED', message, { busCode: code, retryable });
    if (!this.#isExpected(typeCode, about, topic, failure)) {
      this.#parts.problem(failure);
    }
  }

  /**
   * @param {number} typeCode
   * @param {number} about
   * @param {string} topic
   * @param {EventBusError} failure
   * @returns {boolean} whether a call or the SDK waits for the answer
   */
  #isExpected(typeCode, about, topic, failure) {
    const { barriers, calls, dispatcher, durable, outbox, refresh, registry } = this.#parts;
    switch (typeCode) {
      case TYPE.PUBLISH:
        return outbox.refused(topic, about, failure);
      case TYPE.SUBSCRIBE:
        if (this.#standby) {
          this.#standby.refused(about, failure);
          return true;
        }
        return !this.#isAbandoned && registry.refused(about, failure);
      case TYPE.REGISTER:
        // A bus without services refuses each, without reading which.
        return this.#isExpected(TYPE.SUBSCRIBE, about || (calls?.someService ?? 0), topic, failure);
      case TYPE.CONSUME:
        if (this.#standby) {
          durable?.refusedAhead(about, this);
          this.#standby.refused(about, failure);
          return true;
        }
        return !this.#isAbandoned && (durable?.refused(about, failure, this) ?? false);
      case TYPE.SETTLE:
        return durable?.settleRefused(about, failure, this) ?? false;
      case TYPE.UNSUBSCRIBE:
      case TYPE.UNREGISTER:
        dispatcher.handOver();
        this.#drained(about);
        return true;
      case TYPE.BARRIER:
        return barriers.refused(about, failure);
      case TYPE.CREDIT:
        this.#credit.refused();
        return true;
      case TYPE.CAPACITY:
        // Ended meanwhile.
        return true;
      case TYPE.ECHO:
        // The bus does not know Echo: its refusal comes in the same order.
        this.#passFence();
        return true;
      case TYPE.AUTHENTICATE:
        refresh.refused(this);
        return false;
      default:
        // About the connection: the reason of the Close that follows.
        this.#refusal = failure;
        return !this.welcome;
    }
  }
}

/**
 * @param {string} reason
 * @param {number} [max] bytes; by default what fits into a Close frame
 * @returns {string} its beginning, as much as fits
 */
export function shorten(reason, max = 123) {
  const bytes = utf8(reason);
  return bytes.length <= max ? reason : text.decode(bytes.subarray(0, max - 3)).replace(/\uFFFD*$/, '') + '…';
}
