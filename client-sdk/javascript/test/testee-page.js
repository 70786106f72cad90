// The testee for the conformance kit, in a page of Chromium: passes the lines to the page, and writes its answers.
import { createInterface } from 'node:readline';

import { launch, noChromium, serveFiles } from './support/chromium.js';

if (noChromium) {
  console.error(noChromium);
  process.exit(2);
}
const server = await serveFiles({ scripts: /^\/(src|test\/support)\/[\w/-]+\.js$/ });
const browser = await launch();
const page = await browser.newPage();
page.on('console', message => console.error('page:', message.text()));
page.on('pageerror', error => console.error('page:', error.stack));
await page.exposeBinding('told', (source, line) => void process.stdout.write(`${line}\n`));
await page.goto(server.origin);
await page.evaluate(async () => {
  const { testee } = await import('/test/support/testee.js');
  globalThis.take = testee('browser', line => void globalThis.told(line));
});
createInterface({ input: process.stdin, crlfDelay: Infinity })
  // In the order of the lines, without waiting for their results.
  .on('line', line => void page.evaluate(one => globalThis.take(one), line))
  .on('close', async () => {
    await browser.close();
    process.exit(0);
  });
