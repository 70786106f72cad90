// A departures board: a row for each flight, updated by its events.
import { clock, element, fetchJson, follow, tick } from './flights.js';

const AIRLINES = {
  '9E': 'Endeavor', AA: 'American', AS: 'Alaska', B6: 'JetBlue', DL: 'Delta', EV: 'ExpressJet', F9: 'Frontier', FL: 'AirTran', HA: 'Hawaiian',
  MQ: 'Envoy', OO: 'SkyWest', UA: 'United', US: 'US Airways', VX: 'Virgin America', WN: 'Southwest', YV: 'Mesa',
};
const MINUTE = 60_000;
const ROWS = 30;
// Maximum of remembered flights: more than a day of them.
const MAX_FLIGHTS = 2000;

const table = document.querySelector('table');
const body = table.tBodies[0];
/** Flights by their constant fields, the latest last. @type {Map<string, any>} */
const flights = new Map();
let airport = '';
let due = false;

// A flight of the next day has the same number: a scheduled one is new.
const nameOf = flight => `${flight.carrier} ${flight.flight} ${flight.origin} ${flight.dest}`;

function take({ kind, time, flight }, again) {
  if (again) {
    flights.clear();
    body.replaceChildren();
  }
  const name = nameOf(flight);
  if (kind === 'landed' && !flights.has(name)) {
    // The flight left before the first event that is stored.
    return;
  }
  if (kind === 'scheduled' || !flights.has(name)) {
    flights.get(name)?.row?.remove();
    flights.delete(name);
    flights.set(name, { ...flight, time: time - (flight.delay ?? 0) * MINUTE, kind: 'scheduled', row: null });
    if (flights.size > MAX_FLIGHTS) {
      const [oldest, { row }] = flights.entries().next().value;
      row?.remove();
      flights.delete(oldest);
    }
  }
  if (kind !== 'scheduled') {
    Object.assign(flights.get(name), { kind, delay: flight.delay, at: time, changed: true });
  }
  if (!due) {
    due = true;
    requestAnimationFrame(draw);
  }
}

function statusOf({ kind, delay, at }) {
  switch (kind) {
    case 'cancelled': return ['bad', 'cancelled'];
    case 'scheduled': return ['', 'scheduled'];
    default: {
      const late = delay > 0 ? ` +${delay}` : '';
      return [delay > 60 ? 'bad' : delay > 15 ? 'late' : 'good', `${kind} ${clock(at)}${late}`];
    }
  }
}

function cell(row, text, className = '') {
  const added = row.insertCell();
  added.textContent = text;
  added.className = className;
  return added;
}

function rowOf(flight) {
  const row = document.createElement('tr');
  cell(row, clock(flight.time));
  cell(row, `${flight.carrier} ${flight.flight}`);
  cell(row, AIRLINES[flight.carrier] ?? '', 'wide');
  cell(row, flight.origin);
  const to = cell(row, airports[flight.dest]?.[2] ?? flight.dest, 'to');
  const code = document.createElement('small');
  code.textContent = flight.dest;
  to.append(code);
  cell(row, '');
  return row;
}

function draw() {
  due = false;
  const shown = [...flights.values()]
    .filter(flight => !airport || flight.origin === airport)
    .sort((one, other) => other.time - one.time)
    .slice(0, ROWS);
  shown.forEach(flight => {
    const fresh = flight.row === null;
    flight.row ??= rowOf(flight);
    if (fresh || flight.changed) {
      const [className, text] = statusOf(flight);
      const status = flight.row.lastElementChild;
      status.textContent = text;
      status.className = `${className}${fresh ? '' : ' changed'}`;
      flight.row.className = flight.kind;
      flight.changed = false;
    }
  });
  // Does not touch rows in their place: an inserted row restarts its animation.
  shown.forEach(({ row }, at) => body.rows[at] !== row && body.insertBefore(row, body.rows[at] ?? null));
  while (body.rows.length > shown.length) {
    body.lastElementChild.remove();
  }
  table.hidden = shown.length === 0;
  element('empty').hidden = shown.length > 0;
  const late = shown.filter(({ delay }) => delay > 15).length;
  element('summary').textContent = shown.length ? `${late} of ${shown.length} more than 15 minutes late` : '';
}

document.querySelectorAll('.choice button').forEach(button => button.addEventListener('click', () => {
  airport = button.dataset.airport;
  document.querySelectorAll('.choice button').forEach(one => one.setAttribute('aria-pressed', String(one === button)));
  draw();
}));
// Grey while the board is stale.
new MutationObserver(() => document.body.classList.toggle('stale', element('status').className !== 'live')).observe(element('status'), { attributes: true });

const airports = await fetchJson('airports.json');
const time = await follow('departures board', take);
tick(time);
setInterval(() => tick(time), 250);
