// Runs scenario.js in Node, Deno and Bun against a bus: node runtimes.js DIRECTORY, a project that has the SDK installed.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { skip, startBus } from '../support/live.js';

const project = process.argv[2];
const here = fileURLToPath(new URL('.', import.meta.url));
copyFileSync(join(here, 'scenario.js'), join(project, 'scenario.js'));

// The npm packages with the executables: install scripts do not run.
const platform = `${process.platform}-${process.arch}`;
const first = (...paths) => paths.map(path => join(here, 'node_modules', path)).find(existsSync);
const RUNTIMES = {
  node: [process.execPath],
  deno: [first(`@deno/${platform}-glibc/deno`, `@deno/${platform}/deno`), 'run', '--allow-net', '--allow-env', '--allow-read', '--node-modules-dir=manual'],
  bun: [first(`@oven/bun-${platform.replace('arm64', 'aarch64')}/bin/bun`, `@oven/bun-${platform}-baseline/bin/bun`), 'run'],
};

if (skip) {
  console.log(`runtimes: ${skip}`);
  process.exit(0);
}
const bus = await startBus(['--port', '0', '--set', 'admin.enabled=false']);
let failed = false;
for (const [name, [command, ...args]] of Object.entries(RUNTIMES)) {
  if (!command) {
    console.log(`runtimes: ${name}: left out, npm has none for ${platform}`);
    continue;
  }
  try {
    console.log(`runtimes: ${execFileSync(command, [...args, 'scenario.js', bus.url], { cwd: project, encoding: 'utf8', timeout: 60_000 }).trim()}`);
  } catch (error) {
    failed = true;
    console.error(`runtimes: ${name}: ${error.message}`);
  }
}
await bus.stop();
process.exit(failed ? 1 : 0);
