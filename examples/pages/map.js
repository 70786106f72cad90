// A map of the flights in the air, computed from the positions of airports.
import { element, fetchJson, follow, tick } from './flights.js';

const RADIANS = Math.PI / 180;
const MINUTE = 60_000;
// Duration of a flight: taxi and climb, then about 13 km a minute.
const GROUND = 25 * MINUTE;
const KM_PER_MINUTE = 13;
const EARTH_KM = 6371;
// Margin around the map, in pixels.
const MARGIN = 16;
// Number of segments of the line of a flight.
const STEPS = 16;
// Maximum time in the air: a flight that has not landed by then was missed.
const MAX_AIR_TIME = 12 * 60 * MINUTE;
const NAMED = ['LAX', 'SFO', 'SEA', 'DEN', 'ORD', 'ATL', 'MIA', 'DFW', 'IAH', 'MSP', 'PHX', 'SLC', 'LAS', 'BOS', 'MCO', 'CLT', 'STL', 'SJU', 'HNL', 'MSY', 'PDX', 'SAN'];
const NEW_YORK = new Set(['JFK', 'EWR', 'LGA']);
// Islands are drawn nearer than they are, as on most maps of the country: shift in degrees to the east and to the north.
const MOVED = { HNL: [38.5, 5.5], SJU: [-7, 6.5], BQN: [-7, 6.5], PSE: [-7, 6.5], STT: [-7, 6.5] };

const canvas = document.querySelector('canvas');
/** Flights in the air by their constant fields. @type {Map<string, any>} */
const flying = new Map();
let landed = 0;
let cancelled = 0;

/**
 * Projects a position with Albers' equal-area projection and the usual parallels for the United States; x to the east, y to the
 * south, radius 1.
 */
function project(longitude, latitude) {
  const [first, second, middle] = [29.5, 45.5, 37.5].map(degrees => degrees * RADIANS);
  const n = (Math.sin(first) + Math.sin(second)) / 2;
  const c = Math.cos(first) ** 2 + 2 * n * Math.sin(first);
  const radius = angle => Math.sqrt(c - 2 * n * Math.sin(angle)) / n;
  const turn = n * (longitude + 96) * RADIANS;
  return [radius(latitude * RADIANS) * Math.sin(turn), radius(latitude * RADIANS) * Math.cos(turn) - radius(middle)];
}

function pointOf(code) {
  const [longitude, latitude] = airports[code];
  const [east, north] = MOVED[code] ?? [0, 0];
  return project(longitude + east, latitude + north);
}

function kilometres([x1, y1], [x2, y2]) {
  const cosine = Math.sin(y1 * RADIANS) * Math.sin(y2 * RADIANS) + Math.cos(y1 * RADIANS) * Math.cos(y2 * RADIANS) * Math.cos((x2 - x1) * RADIANS);
  return EARTH_KM * Math.acos(Math.min(1, cosine));
}

const nameOf = flight => `${flight.carrier} ${flight.flight} ${flight.origin} ${flight.dest}`;

function take({ kind, time, flight }, again) {
  if (again) {
    flying.clear();
    landed = cancelled = 0;
  }
  if (!airports[flight.origin] || !airports[flight.dest]) {
    return;
  }
  const name = nameOf(flight);
  if (kind === 'departed') {
    const takes = GROUND + kilometres(airports[flight.origin], airports[flight.dest]) / KM_PER_MINUTE * MINUTE;
    flying.set(name, { from: pointOf(flight.origin), to: pointOf(flight.dest), dest: flight.dest, delay: flight.delay ?? 0, since: time, takes });
  } else if (kind === 'landed') {
    landed += flying.delete(name) ? 1 : 0;
  } else if (kind === 'cancelled') {
    cancelled++;
  }
}

/** Returns the points of a flight's way so far, a little to the north of the straight line; the last one is its position. */
function wayOf({ from, to, since, takes }, now) {
  const bend = 0.08 * Math.hypot(to[0] - from[0], to[1] - from[1]);
  const flown = Math.min(0.99, Math.max(0, (now - since) / takes));
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const part = flown * step / STEPS;
    return [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part - bend * Math.sin(part * Math.PI)];
  });
}

/** Returns a scale for the canvas that shows all airports and all states. */
function scaleFor(width, height) {
  const points = [...states.flat().map(point => project(...point)), ...Object.keys(airports).map(pointOf)];
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const size = Math.min((width - 2 * MARGIN) / (right - left), (height - 2 * MARGIN) / (bottom - top));
  const [x0, y0] = [(width - (right - left) * size) / 2, (height - (bottom - top) * size) / 2];
  return ([x, y]) => [x0 + (x - left) * size, y0 + (y - top) * size];
}

/** Draws the background, once for each size and scheme of colours. */
function ground(width, height, ratio, colour, place) {
  const layer = new OffscreenCanvas(width * ratio, height * ratio);
  const pen = layer.getContext('2d');
  pen.scale(ratio, ratio);
  pen.fillStyle = colour('--land');
  pen.strokeStyle = colour('--border');
  pen.lineJoin = 'round';
  for (const ring of states) {
    pen.beginPath();
    ring.forEach(point => pen.lineTo(...place(project(...point))));
    pen.closePath();
    pen.fill();
    pen.stroke();
  }
  pen.font = '12px system-ui, sans-serif';
  for (const code of Object.keys(airports)) {
    const [x, y] = place(pointOf(code));
    const home = NEW_YORK.has(code);
    pen.fillStyle = colour(home ? '--ink' : '--soft');
    pen.globalAlpha = home ? 1 : 0.7;
    pen.beginPath();
    pen.arc(x, y, home ? 3 : 2, 0, 2 * Math.PI);
    pen.fill();
    if (NAMED.includes(code) && width > 500) {
      pen.fillText(code, x + 6, y + 4);
    }
  }
  return layer;
}

let base = null;
let baseFor = '';
let place = point => point;

function draw(time) {
  const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
  const style = getComputedStyle(canvas);
  const colour = name => style.getPropertyValue(name);
  const wanted = [width, height, ratio, colour('--land')].join();
  if (wanted !== baseFor) {
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    place = scaleFor(width, height);
    base = ground(width, height, ratio, colour, place);
    baseFor = wanted;
  }
  const pen = canvas.getContext('2d');
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(base, 0, 0);
  pen.scale(ratio, ratio);
  pen.lineWidth = width > 500 ? 1.5 : 1;
  const now = time.now();
  for (const [name, flight] of flying) {
    if (now - flight.since > MAX_AIR_TIME) {
      flying.delete(name);
      continue;
    }
    const way = wayOf(flight, now).map(place);
    pen.strokeStyle = pen.fillStyle = colour(flight.delay > 60 ? '--bad' : flight.delay > 15 ? '--late' : '--good');
    pen.globalAlpha = 0.3;
    pen.beginPath();
    way.forEach(point => pen.lineTo(...point));
    pen.stroke();
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(...way[STEPS], width > 500 ? 3.5 : 2.5, 0, 2 * Math.PI);
    pen.fill();
  }
  tell();
}

function tell() {
  const count = number => number.toLocaleString('en');
  const busy = flying.size + landed + cancelled > 0;
  element('empty').hidden = busy;
  const text = busy ? `${count(flying.size)} in the air, ${count(landed)} landed, ${count(cancelled)} cancelled` : '';
  if (element('summary').textContent !== text) {
    element('summary').textContent = text;
  }
}

new MutationObserver(() => document.body.classList.toggle('stale', element('status').className !== 'live')).observe(element('status'), { attributes: true });

const [airports, states] = await Promise.all([fetchJson('airports.json'), fetchJson('states.json')]);
let shown = { now: () => 0 };
const still = matchMedia('(prefers-reduced-motion: reduce)');
let last = 0;
requestAnimationFrame(function frame(at) {
  if (!still.matches || at - last > 1000) {
    last = at;
    draw(shown);
  }
  requestAnimationFrame(frame);
});
shown = await follow('map', take);
tick(shown);
setInterval(() => tick(shown), 250);
