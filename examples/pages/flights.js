// Common part of both pages: the connection to the bus of the demo, its status, and the time of the flights.
import { replay } from './eventbus/durable.js';
import { connect } from './eventbus/index.js';

const NEW_YORK = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/New_York', hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/New_York', weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' });
// Jump back in time that marks a new round: the replay begins again behind the last flight.
const NEW_ROUND = 24 * 3600 * 1000;

export const clock = time => NEW_YORK.format(time);
export const day = time => DAY.format(time);
export const element = id => /** @type {HTMLElement} */ (document.getElementById(id));

/** Fetches JSON that the page requires. */
export async function fetchJson(path) {
  const response = await fetch(path);
  if (!response.ok) {
    throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }
  return response.json();
}

/** Clock of the flights, which runs on between events. */
export class FlightTime {
  #pace;
  #time = 0;
  #at = 0;
  #rests = false;

  /** @param {number} pace speed of the replay, in multiples of real time */
  constructor(pace) {
    this.#pace = pace;
  }

  /** @param {number} time of an event; returns whether the replay has begun again */
  heard(time) {
    const again = time < this.#time - NEW_ROUND;
    this.#time = time;
    this.#at = performance.now();
    this.#rests = false;
    return again;
  }

  /** Stops the clock until the next event. */
  rest() {
    this.#time = this.now();
    this.#rests = true;
  }

  /** 0 before the first event */
  now() {
    return this.#time && !this.#rests ? this.#time + (performance.now() - this.#at) * this.#pace : this.#time;
  }
}

/** Shows the state of the connection, as text and as a class of `#status`. */
function show(kind, text) {
  const status = element('status');
  status.className = kind;
  status.title = '';
  status.textContent = text;
}

function watch(bus, time) {
  let missed = 0;
  bus.on('connected', () => show('live', 'live'));
  bus.on('disconnected', () => time.rest());
  bus.on('reconnecting', ({ attempt }) => show('waiting', `connection lost, try ${attempt}`));
  bus.on('problem', ({ message }) => { element('status').title = message; });
  bus.on('state', ({ state }) => state === 'CLOSED' && show('broken', 'not connected; load the page again'));
  bus.on('truncated', ({ from, to }) => {
    missed += to - from + 1;
    element('missed').textContent = `${missed.toLocaleString('en')} missed`;
  });
}

/**
 * Connects and passes on the stored and all later events, with their flight and the time in the data.
 * @param {string} name of the client
 * @param {(what: {kind: string, airport: string, time: number, flight: any}, again: boolean) => void} take
 * @returns {Promise<FlightTime>} a stopped one without a bus; the page shows the reason
 */
export async function follow(name, take) {
  show('waiting', 'connecting');
  try {
    const { url, pace } = await fetchJson('bus.json');
    const time = new FlightTime(pace);
    const bus = await connect({ url, name, connectTimeout: 600_000 });
    watch(bus, time);
    show('live', 'live');
    // Begins with the stored events, of which the latest of each flight is what the page shows in the end, and goes on with each new
    // one. A slow page reads them from the bus when it can; those that the bus has removed by then are reported.
    await replay(bus, { filter: 'flights.*.*', from: 'FIRST' }, event => {
      const [, airport, kind] = event.topic.split('.');
      const at = Number(event.headers.time);
      try {
        take({ kind, airport, time: at, flight: event.json() }, time.heard(at));
      } catch (error) {
        // If it were thrown the bus would give the event again and again, and no later one.
        element('status').title = `event ${event.position} left out: ${error.message}`;
      }
    }).ready;
    return time;
  } catch (error) {
    show('broken', `not connected: ${error.message}`);
    return new FlightTime(0);
  }
}

/** Updates the day and the time of the page. */
export function tick(time) {
  const now = time.now();
  if (now) {
    element('day').textContent = day(now);
    element('clock').textContent = clock(now);
  }
}
