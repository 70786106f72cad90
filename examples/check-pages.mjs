// Opens both pages of a demo in headless Chromium, and expects flights on them.
//
//   node check-pages.mjs http://127.0.0.1:PORT [DIRECTORY for screenshots]
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [pages, screenshots] = process.argv.slice(2);
// The JavaScript SDK's check installs it.
const { chromium } = createRequire(new URL('../client-sdk/javascript/package.json', import.meta.url))('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** Opens a page that must report no error and request nothing from other machines. */
async function open(name, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', message => wrong.push(message.text()));
  page.on('pageerror', error => wrong.push(error.message));
  page.on('request', request => new URL(request.url()).hostname === '127.0.0.1' || wrong.push(request.url()));
  await page.goto(`${pages}/${name}.html`);
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

try {
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
