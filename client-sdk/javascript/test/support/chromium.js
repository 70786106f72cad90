// Chromium, and a server of files for its pages.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

import { skip as noJar } from './live.js';

const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-headless-shell', '/usr/bin/chromium-browser'].find(path => path && existsSync(path));
export const noChromium = executablePath ? false : 'left out: no Chromium (expected: /usr/bin/chromium, or a path in CHROMIUM)';
/** Reason to skip tests of pages with a bus; false for none. */
export const skip = noJar || noChromium;

const sdk = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Serves scripts to pages: the SDK's own, or those of another directory. `/` is an empty page.
 * @param {{directory?: string, scripts?: RegExp, html?: string, headers?: () => Record<string, string>}} [options]
 */
export async function serveFiles({ directory = sdk, scripts = /^\/src\/[\w/-]+\.js$/, html = '<!doctype html><title>page</title>', headers = () => ({}) } = {}) {
  const server = createServer(async (request, response) => {
    const path = normalize(request.url ?? '/');
    if (path === '/') {
      response.setHeaders(new Map(Object.entries(headers())));
      response.setHeader('Content-Type', 'text/html').end(html);
    } else if (scripts.test(path) && existsSync(directory + path)) {
      response.setHeader('Content-Type', 'text/javascript').end(await readFile(directory + path));
    } else {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Starts Chromium without a window. */
export async function launch() {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** Starts Chromium without a window, and returns its process, too. */
export async function launchServer() {
  const { chromium } = await import('playwright-core');
  const server = await chromium.launchServer({ executablePath, args: ['--no-sandbox'] });
  return { browser: await chromium.connect(server.wsEndpoint()), pid: server.process().pid, end: () => server.close() };
}
