import { RETRY_DELAY } from './barriers.js';
import { step } from './move-table.js';
import { MoveTarget } from './move-target.js';
import { joined } from './wire/bytes.js';

/** @import {Action, Happening, Phase} from './move-table.js' */
/** @import {EventBusError} from './errors.js' */
/** @import {BusLink, LinkOwner, Parts} from './bus-link.js' */
/** @import {Settings} from './options.js' */
/** @import {Registration} from './registry.js' */
/** @import {Destination} from './move-target.js' */
/** @import {ChangeBus, Welcome} from './wire/frames.js' */

// Bounds of the deadline that the bus names, in ms.
const MIN_DEADLINE = 100;
const MAX_DEADLINE = 300_000;
// Time for a new bus that is given up to drain, and step in which an application is waited for, in ms.
const UNDO_TIMEOUT = 2000;
// Timeout for the answer of the new bus that comes behind all it had sent before, in ms.
const OVERTAKE_TIMEOUT = 2000;

/**
 * The owner of both connections.
 *
 * @typedef {object} Home
 * @property {(link: BusLink, welcome: Welcome, until: number) => void} moved makes the new connection the client's; closes the old one when no call
 *   is under way there, or at that time
 * @property {(url: string, why: string) => void} stayed the client stays at its old bus
 * @property {() => void} loseSending records that the connection for sending is lost
 * @property {LinkOwner['welcomed']} welcomed
 * @property {LinkOwner['ended']} ended
 * @property {(link: BusLink, request: ChangeBus, heardAt?: number) => void} changeBus
 */

/**
 * A move of a client to another bus: makes the new connection before it breaks the old one, so that no event is lost, doubled or put out of order, as
 * protocol.md#client-moves says. The table decides, this class acts. Until LEAVING the old bus keeps everything, and any failure leaves the client
 * there.
 */
export class BusMove {
  #parts;
  #env;
  #home;
  #old;
  #target;
  /** @type {Phase} */
  #phase = 'CONNECTING';
  #why = '';
  /** @type {unknown} */
  #deadline = null;
  /** @type {unknown} */
  #pause = null;
  #timeout = MIN_DEADLINE;
  // Time at which the bus closes a client that has not moved.
  #until = 0;
  #waited = 0;
  #hasGroups = false;
  // Set if the new bus may have sent events or requests that no other client gets.
  #hasExclusive = false;
  #isNewLost = false;
  // Subscriptions and services of the new bus.
  /** @type {Set<number>} */
  #unconfirmed = new Set();
  /** @type {Set<number>} */
  #confirmed = new Set();
  /** @type {Map<number, Registration>} */
  #served = new Map();
  /** @type {Set<number>} */
  #undrained = new Set();

  /**
   * @param {Settings} settings
   * @param {Parts} parts
   * @param {Home} home
   * @param {BusLink} old the connection that the client has
   * @param {Destination} destination
   */
  constructor(settings, parts, home, old, destination) {
    this.#parts = parts;
    this.#env = parts.env;
    this.#home = home;
    this.#old = old;
    this.#target = new MoveTarget(parts, this, home, destination, settings.connectTimeout);
  }

  /**
   * @param {number} wanted ms until the bus closes a client that has not moved
   * @param {number} gone ms of it that have passed
   */
  start(wanted, gone) {
    this.#timeout = Math.max(MIN_DEADLINE, Math.min(MAX_DEADLINE, wanted));
    this.#until = this.#env.now() - gone + this.#timeout;
    // Leaves time to stay before the bus closes the old connection.
    this.#deadline = this.#env.setTimeout(
      () => this.#on('late', this.#phase === 'CONNECTING' ? 'no connection in time' : 'not done in time'), Math.max(0, this.#timeout * 0.75 - gone));
    this.#target.connect();
  }

  // ---- Events

  /**
   * Makes a step of the table. Nothing else writes the phase.
   * @param {Happening} happening
   * @param {string} why reason, if the client stays because of this
   * @returns {Action} the action
   */
  #on(happening, why = this.#why) {
    const [next, action] = step(this.#phase, happening);
    if (action !== 'nothing') {
      this.#why = why;
    }
    this.#phase = next;
    this.#act(action);
    return action;
  }

  /** @param {Action} action */
  #act(action) {
    switch (action) {
      case 'nothing': break;
      case 'subscribe': this.#subscribe(); break;
      case 'flush': this.#flush(); break;
      case 'pause': this.#postponeFlush(); break;
      case 'leave': this.#leave(); break;
      case 'catchUp': this.#catchUp(); break;
      case 'releaseAndFinish': this.#release(); this.#finish(); break;
      case 'interruptAndFinish': this.#interrupt(this.#old); this.#release(); this.#finish(); break;
      case 'goOn': this.#goOn(); break;
      case 'loseSending': this.#home.loseSending(); break;
      case 'waitOn': this.#waitOn(); break;
      case 'comeBack': this.#comeBack(); break;
      case 'loseSendingAndComeBack': this.#home.loseSending(); this.#comeBack(); break;
      case 'undo': this.#undo(); break;
      case 'stayUnbegun': this.#end(); this.#target.drop(this.#until); this.#home.stayed(this.#target.url, this.#why); break;
      case 'stay': this.#stay(); break;
      case 'abandon': this.#end(); this.#target.drop(this.#until); this.#parts.dispatcher.release(true); break;
    }
  }

  ready() {
    this.#on('ready');
  }

  /** @param {string} why */
  unreachable(why) {
    this.#on('unreachable', why);
  }

  /** @param {string} why */
  lost(why) {
    this.#isNewLost = true;
    this.#on('newEnded', why);
  }

  /**
   * Handles the end of the old connection.
   * @returns {boolean} whether the client stays at the new bus; if not, the move has ended
   */
  oldEnded() {
    const action = this.#on('oldEnded');
    return action !== 'abandon' && action !== 'nothing';
  }

  /** Ends the move, because the client is closed. */
  abandon() {
    this.#on('closed');
  }

  /** @param {number} id */
  confirmed(id) {
    this.#confirmed.add(id);
    if (this.#unconfirmed.delete(id) && this.#unconfirmed.size === 0) {
      this.#on('confirmed');
    }
  }

  /**
   * @param {number} id
   * @param {EventBusError} failure
   */
  refused(id, failure) {
    const one = this.#served.get(id) ?? id;
    this.#served.delete(id);
    this.#on('refused', `it refuses ${one}: ${failure.message}`);
  }

  /** @param {number} id */
  drained(id) {
    if (this.#undrained.delete(id) && this.#undrained.size === 0) {
      this.#on('undone');
    }
  }

  /** Handles the deadline of the old bus: while the application is stalled the client waits on, else it leaves. */
  #onWaited() {
    this.#on(this.#parts.window.isStalled && this.#waited < MAX_DEADLINE ? 'behind' : 'waited');
  }

  // ---- Actions

  #subscribe() {
    const { registry, dispatcher } = this.#parts;
    const all = registry.beginMove();
    dispatcher.hold(() => this.#on('tooMuch', 'too much came for groups meanwhile'));
    for (const one of all) {
      this.#served.set(one.id, one);
      this.#unconfirmed.add(one.id);
      this.#hasGroups ||= one.group !== null;
      this.#hasExclusive ||= one.isExclusive;
    }
    if (all.length === 0) {
      this.#on('confirmed');
    } else {
      this.#target.link.channel.send(all.map(one => one.beginFrame));
    }
  }

  /** Stops publishing at the old bus, and asks it whether it has delivered everything. */
  #flush() {
    const { outbox, barriers } = this.#parts;
    this.#target.link.limitStandby();
    outbox.pause();
    outbox.sendNow(barriers.askOnce(() => this.#on('flushed'), () => this.#on('notFlushed')));
  }

  #postponeFlush() {
    this.#parts.barriers.forget();
    this.#parts.outbox.stay();
    this.#pause = this.#env.setTimeout(() => this.#on('askAgain'), RETRY_DELAY);
  }

  #leave() {
    const { link } = this.#target;
    this.#stopTimers();
    // Only the old bus has the events queued there for this client and the answers to calls under way; it gives the whole deadline again for leaving.
    this.#until = this.#env.now() + this.#timeout;
    this.#deadline = this.#env.setTimeout(() => this.#onWaited(), this.#timeout);
    this.#parts.durable?.leave(this.#old);
    const frames = this.#parts.registry.leave(this.#served, () => this.#on('drained'));
    if (frames && frames.length > 0) {
      this.#parts.outbox.sendNow(joined(frames));
    }
    this.#parts.outbox.moved(link.channel, /** @type {Welcome} */ (link.welcome));
    if (!frames) {
      this.#on('drained');
    }
  }

  /**
   * Waits until everything is read that the new bus had sent for groups before the old one was drained: two connections have no order between them,
   * and those events would come behind others with higher numbers. The answer of the new bus comes behind them.
   */
  #catchUp() {
    this.#stopTimers();
    if (this.#hasGroups) {
      this.#deadline = this.#env.setTimeout(() => this.#on('caughtUp'), OVERTAKE_TIMEOUT);
      this.#target.link.fence(() => this.#on('caughtUp'));
    } else {
      this.#on('caughtUp');
    }
  }

  /** Delivers the held events, and from now on those of the new connection. */
  #release() {
    // Before the first credit: the held events count against it.
    this.#parts.dispatcher.release(true);
    this.#target.link.goLive();
  }

  /**
   * Reports an interruption of all subscriptions in force, ahead of the events of the new bus.
   * @param {BusLink} lost whose frames under way are lost
   */
  #interrupt(lost) {
    this.#parts.registry.away(lost.heardAtMicros);
    this.#confirmed.forEach(id => this.#parts.registry.confirmed(id));
  }

  #waitOn() {
    this.#waited += UNDO_TIMEOUT;
    this.#deadline = this.#env.setTimeout(() => this.#onWaited(), UNDO_TIMEOUT);
  }

  #finish() {
    const { link } = this.#target;
    const { registry } = this.#parts;
    this.#end();
    this.#target.handOver();
    registry.moved(this.#served);
    this.#confirmed.forEach(id => registry.confirmed(id));
    this.#home.moved(link, /** @type {Welcome} */ (link.welcome), this.#until);
    this.#target.passOn();
  }

  /** Moves at once after the loss of the old connection: unconfirmed events are sent again over the new one. */
  #goOn() {
    const { link } = this.#target;
    this.#parts.barriers.forget();
    this.#old.abandon();
    this.#interrupt(this.#old);
    this.#release();
    this.#home.loseSending();
    this.#parts.outbox.moved(link.channel, /** @type {Welcome} */ (link.welcome));
    this.#parts.barriers.connected();
    this.#finish();
  }

  /**
   * Gives up the new connection. The old bus has kept everything; events and requests that the new one has for groups and services are drained,
   * because no other member gets them.
   */
  #undo() {
    const { outbox, barriers, dispatcher } = this.#parts;
    outbox.stay();
    barriers.forget();
    this.#stopTimers();
    if (!this.#hasExclusive || this.#served.size === 0) {
      this.#on('undone');
      return;
    }
    dispatcher.holdGroupsOnly();
    this.#parts.durable?.leave(this.#target.link);
    this.#target.link.grantAll();
    this.#undrained = new Set(this.#served.keys());
    this.#target.link.channel.send([...this.#served.values()].map(one => one.endFrame));
    this.#pause = this.#env.setTimeout(() => this.#on('undone'), UNDO_TIMEOUT);
  }

  #stay() {
    this.#end();
    this.#target.drop(this.#until);
    this.#parts.outbox.stay();
    this.#parts.dispatcher.release(false);
    this.#parts.registry.stayed();
    if (this.#isNewLost || this.#undrained.size > 0) {
      // Events of groups may have gone to the new bus alone.
      const from = this.#target.link.heardAtMicros;
      this.#served.forEach(one => one.group !== null && one.interrupted(from));
      this.#parts.dispatcher.handOver();
    }
    this.#home.stayed(this.#target.url, this.#why);
  }

  /** Comes back to the old bus after it was left, because the new bus and all it had are lost. */
  #comeBack() {
    const { outbox, dispatcher, registry, barriers } = this.#parts;
    this.#end();
    this.#target.drop(this.#until);
    dispatcher.release(true);
    outbox.use(this.#old.channel);
    registry.away(this.#target.link.heardAtMicros);
    registry.cameBack();
    barriers.connected();
    this.#home.stayed(this.#target.url, this.#why);
  }

  #stopTimers() {
    this.#env.clearTimeout(/** @type {never} */ (this.#deadline));
    this.#env.clearTimeout(/** @type {never} */ (this.#pause));
  }

  #end() {
    this.#stopTimers();
    this.#parts.barriers.forget();
  }
}
