import { ASK_AGAIN } from './barriers.js';
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

// What the client waits for when the bus names no useful deadline, in ms.
const MIN = 100;
const MAX = 300_000;
// How long a new bus that is given up may take to drain, and an application to go on taking what came.
const UNDO = 2000;
// How long the new bus may take to show that what it had sent before has come.
const OVERTAKE = 2000;

/**
 * Whose connections these are.
 *
 * @typedef {object} Home
 * @property {(link: BusLink, welcome: Welcome, until: number) => void} moved the new connection is the one that the client has; closes the old one
 *   when no call is under way there, or at that time
 * @property {(url: string, why: string) => void} stayed the client stays at its old bus
 * @property {() => void} loseSending nothing can be sent over the connection that was sent over
 * @property {LinkOwner['welcomed']} welcomed
 * @property {LinkOwner['ended']} ended
 * @property {(link: BusLink, request: ChangeBus, heardAt?: number) => void} changeBus
 */

/**
 * One move of a client to another bus: makes the new connection before it breaks the old one, so that no event is lost, doubled or put
 * out of order, as protocol.md#change-of-bus says. The table says what is done when; here it is done. Until LEAVING nothing was
 * taken from the old bus, and whatever fails leaves the client where it is.
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
  #timeout = MIN;
  // When the bus closes a client that has not gone.
  #until = 0;
  #waited = 0;
  #hasGroups = false;
  // Whether the new bus has sent what nobody else gets.
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
   * @param {number} wanted ms until the bus closes a client that has not gone
   * @param {number} gone ms of it that have gone by
   */
  start(wanted, gone) {
    this.#timeout = Math.max(MIN, Math.min(MAX, wanted));
    this.#until = this.#env.now() - gone + this.#timeout;
    // Before the bus closes the old connection there has to be time to stay.
    this.#deadline = this.#env.setTimeout(
      () => this.#on('late', this.#phase === 'CONNECTING' ? 'no connection in time' : 'not done in time'), Math.max(0, this.#timeout * 0.75 - gone));
    this.#target.connect();
  }

  // ---- What happens

  /**
   * The only writer of the phase.
   * @param {Happening} happening
   * @param {string} why the client stays, if this is what it stays for
   * @returns {Action} what was done
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
      case 'pause': this.#publishOnForAMoment(); break;
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
   * The old connection has ended.
   * @returns {boolean} whether the client goes on over the new one; if not, the move is over
   */
  oldEnded() {
    const action = this.#on('oldEnded');
    return action !== 'abandon' && action !== 'nothing';
  }

  /** The client is closed. */
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

  /** The old bus has had its time: what it has is the application's to take, however slowly; it has left for the rest. */
  #onWaited() {
    this.#on(this.#parts.window.isStalled && this.#waited < MAX ? 'behind' : 'waited');
  }

  // ---- What is done

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

  /** Nothing more is published at the old bus; it is asked whether it has handed on everything. */
  #flush() {
    const { outbox, barriers } = this.#parts;
    this.#target.link.limitStandby();
    outbox.pause();
    outbox.sendNow(barriers.askOnce(() => this.#on('flushed'), () => this.#on('notFlushed')));
  }

  #publishOnForAMoment() {
    this.#parts.barriers.forget();
    this.#parts.outbox.stay();
    this.#pause = this.#env.setTimeout(() => this.#on('askAgain'), ASK_AGAIN);
  }

  #leave() {
    const { link } = this.#target;
    this.#stopTimers();
    // Only the old bus has what is queued there for this client, and answers the calls that are under way; for leaving it gives the whole
    // time again.
    this.#until = this.#env.now() + this.#timeout;
    this.#deadline = this.#env.setTimeout(() => this.#onWaited(), this.#timeout);
    const frames = this.#parts.registry.leave(this.#served, () => this.#on('drained'));
    if (frames && frames.length > 0) {
      this.#parts.outbox.sendNow(joined(frames));
    }
    this.#parts.outbox.moved(link.channel, /** @type {Welcome} */ (link.welcome).limits);
    if (!frames) {
      this.#on('drained');
    }
  }

  /**
   * Two connections have no order between them: what the new bus had sent for a group before the old one was done may not be read yet, and
   * would come behind events with higher numbers. Its answer comes behind all that.
   */
  #catchUp() {
    this.#stopTimers();
    if (this.#hasGroups) {
      this.#deadline = this.#env.setTimeout(() => this.#on('caughtUp'), OVERTAKE);
      this.#target.link.askBehind(() => this.#on('caughtUp'));
    } else {
      this.#on('caughtUp');
    }
  }

  /** From now on the new connection's events are handed on. */
  #release() {
    // Before the first credit: what was held takes of the room.
    this.#parts.dispatcher.release(true);
    this.#target.link.goLive();
  }

  /**
   * What is in force was away, or is until it is confirmed; told ahead of what the new bus has sent.
   * @param {BusLink} lost what was on its way over it has not come
   */
  #interrupt(lost) {
    this.#parts.registry.away(lost.heardAtMicros);
    this.#confirmed.forEach(id => this.#parts.registry.confirmed(id));
  }

  #waitOn() {
    this.#waited += UNDO;
    this.#deadline = this.#env.setTimeout(() => this.#onWaited(), UNDO);
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

  /** The old connection is lost: what it had not confirmed is sent again over the new one. */
  #goOn() {
    const { link } = this.#target;
    this.#parts.barriers.forget();
    this.#old.abandon();
    this.#interrupt(this.#old);
    this.#release();
    this.#home.loseSending();
    this.#parts.outbox.moved(link.channel, /** @type {Welcome} */ (link.welcome).limits);
    this.#parts.barriers.connected();
    this.#finish();
  }

  /** Nothing was taken from the old bus; what the new one has for groups and services no other member gets. */
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
    this.#target.link.takeRest();
    this.#undrained = new Set(this.#served.keys());
    this.#target.link.channel.send([...this.#served.values()].map(one => one.endFrame));
    this.#pause = this.#env.setTimeout(() => this.#on('undone'), UNDO);
  }

  #stay() {
    this.#end();
    this.#target.drop(this.#until);
    this.#parts.outbox.stay();
    this.#parts.dispatcher.release(false);
    this.#parts.registry.stayed();
    if (this.#isNewLost || this.#undrained.size > 0) {
      // Of their events some may have gone to the new bus, and nowhere else.
      const from = this.#target.link.heardAtMicros;
      this.#served.forEach(one => one.group !== null && one.interrupted(from));
      this.#parts.dispatcher.handOver();
    }
    this.#home.stayed(this.#target.url, this.#why);
  }

  /** The new bus is lost after the old one was left: what it had is lost with it. */
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
