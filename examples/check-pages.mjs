// Opens both pages of two demos in headless Chromium, and expects flights on them.
//
//   node check-pages.mjs http://127.0.0.1:PORT http://127.0.0.1:PORT EVENTS [DIRECTORY for screenshots]
//
// The second demo publishes so many events at once, and then none for an hour.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { replay } from '../client-sdk/javascript/src/durable.js';
import { connect } from '../client-sdk/javascript/src/index.js';

const [pages, pausing, events, screenshots] = process.argv.slice(2);
// The JavaScript SDK's check installs it.
const { chromium } = createRequire(new URL('../client-sdk/javascript/package.json', import.meta.url))('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** Opens a page that must report no error and request nothing from other machines. */
async function open(name, options, from = pages) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', message => wrong.push(message.text()));
  page.on('pageerror', error => wrong.push(error.message));
  page.on('request', request => new URL(request.url()).hostname === '127.0.0.1' || wrong.push(request.url()));
  await page.goto(`${from}/${name}.html`);
  return { page, wrong, close: () => context.close() };
}

async function board(options = {}) {
  const opened = await open('board', options);
  await opened.page.waitForSelector('#status.live');
  await opened.page.waitForFunction(() => document.querySelectorAll('tbody tr').length >= 15, null, { timeout: 20_000 });
  await opened.page.waitForSelector('tbody tr.departed');
  return opened;
}

async function map(options = {}, least = 3) {
  const opened = await open('map', options);
  await opened.page.waitForFunction(wanted => parseInt(document.getElementById('summary').textContent) >= wanted, least, { timeout: 60_000 });
  return opened;
}

/** Waits until the second demo has published its events, and publishes one without a flight and another; returns the latest kind of each flight, by the cells of its row. */
async function published() {
  const { url } = await (await fetch(`${pausing}/bus.json`)).json();
  const bus = await connect(url);
  const latest = new Map();
  let departed;
  for await (const event of replay(bus, { filter: 'flights.>', from: 'FIRST' })) {
    const { carrier, flight, origin, dest } = event.json();
    const name = `${carrier} ${flight} ${origin} ${dest}`;
    const kind = event.topic.split('.')[2];
    latest.set(name, kind);
    departed = kind === 'departed' ? { event, name } : departed;
    if (event.position === Number(events)) {
      break;
    }
  }
  // Pages pass over the first, and show the second.
  await bus.publish(departed.event.topic, 'no flight');
  await bus.publish(departed.event.topic.replace('departed', 'landed'), departed.event.json(), { headers: departed.event.headers });
  latest.set(departed.name, 'landed');
  await bus.close();
  return latest;
}

/** Expects all flights on pages that are opened when nothing is published any more. */
async function openLate() {
  const latest = await published();
  const { page, wrong, close } = await open('board', {}, pausing);
  await page.waitForFunction(rows => document.querySelectorAll('tbody tr').length === rows, latest.size, { timeout: 60_000 });
  const shown = await page.$$eval('tbody tr', rows => rows.map(({ cells, className }) =>
    [[cells[1].textContent, cells[3].textContent, cells[4].lastElementChild.textContent].join(' '), className]));
  assert.deepEqual(new Map(shown.sort()), new Map([...latest].sort()));
  assert.deepEqual(wrong, []);
  await close();
  const landed = [...latest.values()].filter(kind => kind === 'landed').length;
  const map = await open('map', {}, pausing);
  await map.page.waitForFunction(text => document.getElementById('summary').textContent.includes(text), ` ${landed} landed`, { timeout: 60_000 });
  assert.deepEqual(map.wrong, []);
  await map.close();
  console.log(`check: pages that are opened late begin with ${latest.size} flights, ${landed} of them landed`);
}

try {
  await openLate();
  for (const show of [board, map]) {
    const { page, wrong, close } = await show();
    assert.deepEqual(wrong, []);
    const { status, ways } = await page.evaluate(() => ({ status: document.getElementById('status').textContent, ways: document.querySelectorAll('nav a').length }));
    assert.equal(status, 'live');
    assert.equal(ways, 2);
    if (show === board) {
      await page.click('button[data-airport=JFK]');
      assert.deepEqual(await page.$$eval('tbody tr', rows => [...new Set(rows.map(row => row.cells[3].textContent))]), ['JFK']);
    }
    await close();
    console.log(`check: ${show.name}: flights came`);
  }
  if (screenshots) {
    for (const colorScheme of ['light', 'dark']) {
      for (const [size, viewport] of Object.entries({ wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 780 } })) {
        for (const show of [board, map]) {
          const { page, close } = await show({ colorScheme, viewport }, 60);
          await page.screenshot({ path: join(screenshots, `${show.name}-${colorScheme}-${size}.png`) });
          await close();
        }
      }
    }
  }
} finally {
  await browser.close();
}
