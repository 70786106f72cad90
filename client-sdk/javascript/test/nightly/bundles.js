// Bundles a small page with esbuild, Rollup, webpack and Vite, and runs each bundle in Chromium against a bus.
//
//   node bundles.js DIRECTORY   a project that has the SDK installed as its users install it
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { nodeResolve } from '@rollup/plugin-node-resolve';
import esbuild from 'esbuild';
import { rollup } from 'rollup';
import { build as vite } from 'vite';
import webpack from 'webpack';

import { launch, serveFiles, skip } from '../support/chromium.js';
import { startBus } from '../support/live.js';

const WANTED = 'bundle.x 1 grüße';
const TIMEOUT = 20_000;

const project = process.argv[2];
const entry = join(project, 'page.js');
copyFileSync(fileURLToPath(new URL('page.js', import.meta.url)), entry);

/** Bundlers that write app.js, and perhaps other files, into a directory. All but Rollup minify. */
const BUNDLERS = {
  esbuild: outdir => esbuild.build({ entryPoints: { app: entry }, bundle: true, minify: true, format: 'esm', platform: 'browser', outdir, logLevel: 'warning' }),

  async rollup(dir) {
    const bundle = await rollup({ input: { app: entry }, plugins: [nodeResolve({ browser: true })], onwarn: warning => { throw new Error(warning.message); } });
    await bundle.write({ dir, format: 'es', entryFileNames: '[name].js' });
    await bundle.close();
  },

  webpack: path => new Promise((resolve, reject) => {
    webpack({ mode: 'production', context: project, entry: { app: entry }, output: { path, filename: '[name].js' } }, (error, stats) => {
      const told = stats?.toString({ all: false, errors: true, warnings: true });
      return error || told ? reject(error ?? new Error(told)) : resolve();
    });
  }),

  vite: outDir => vite({
    root: project, configFile: false, logLevel: 'warn', build: { outDir, emptyOutDir: false, rollupOptions: { input: { app: entry }, output: { entryFileNames: '[name].js' } } },
  }),
};

if (skip) {
  console.log(`bundles: ${skip}`);
  process.exit(0);
}
const bus = await startBus(['--port', '0', '--set', 'admin.enabled=false', '--set', 'listen.allowed-origins=*']);
const browser = await launch();
let failed = false;
for (const [name, bundle] of Object.entries(BUNDLERS)) {
  const directory = join(project, name);
  mkdirSync(directory);
  let told;
  try {
    await bundle(directory);
    const files = readdirSync(directory, { recursive: true }).filter(file => file.endsWith('.js'));
    const code = files.map(file => readFileSync(join(directory, file)));
    if (code.some(text => text.includes('node:'))) {
      throw new Error('the bundle names a module of Node (expected: none)');
    }
    const server = await serveFiles({ directory, scripts: /^\/[\w./-]+\.js$/, html: '<!doctype html><title>page</title><script type="module" src="/app.js"></script>' });
    const page = await browser.newPage();
    page.on('pageerror', error => { told ??= error; });
    await page.goto(`${server.origin}/#${bus.url}`);
    const result = await (await page.waitForFunction(() => globalThis.result, null, { timeout: TIMEOUT })).jsonValue();
    await page.close();
    server.close();
    if (result !== WANTED) {
      throw new Error(`${result} (expected: ${WANTED})`);
    }
    const bytes = code.reduce((sum, text) => sum + text.length, 0);
    const zipped = code.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
    console.log(`bundles: ${name}: runs; ${bytes} bytes in ${code.length} file${code.length === 1 ? '' : 's'}, ${zipped} gzipped`);
  } catch (error) {
    told ??= error;
  }
  if (told) {
    failed = true;
    console.error(`bundles: ${name}: ${told.stack ?? told}`);
  }
}
await browser.close();
await bus.stop();
process.exit(failed ? 1 : 0);
