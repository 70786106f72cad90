// Runs the programs of the documentation as printed, but for the address of the bus.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { skip, startBus } from '../support/live.js';

const SDK = fileURLToPath(new URL('../..', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const PRINTED = 'ws://localhost:8080/bus';
// Topics of the programs that a journal has to store.
const DURABLE = 'accounts.> reminders.> offers.> orders.> images.>';
const BLOCK = /^( *)```([^\n]*)\n(.*?)^ *```$/gms;

const markdown = folder => readdirSync(join(ROOT, folder)).filter(name => name.endsWith('.md')).map(name => join(folder, name));

/** Returns the blocks in JavaScript of a page; `js not-run` is another language. */
function blocks(page) {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll('\r\n', '\n');
  return [...text.matchAll(BLOCK)].filter(([, , language]) => language === 'js').map(found => {
    const line = text.slice(0, found.index).split('\n').length;
    return { name: `${page}:${line}`, code: found[3] };
  });
}

/** Completes a fragment, which has a client `bus` and leaves it open. */
const program = code => (/^const bus = /m.test(code) ? code : `
import { connect as connectToBus } from 'eventbus-client/services';
const bus = await connectToBus('${PRINTED}');
${code}
await bus.close();
`);

const execute = (file, cwd) => new Promise(resolve => {
  execFile(process.execPath, [file], { cwd, timeout: 60_000 }, (error, stdout, stderr) => {
    resolve({ code: error ? error.code ?? error.signal : 0, stdout, stderr });
  });
});

test('the programs of the pages end without a failure, and warn of nothing', { skip }, async t => {
  const directory = mkdtempSync(join(tmpdir(), 'eventbus-pages-'));
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(SDK, join(directory, 'node_modules', 'eventbus-client'), 'dir');
  const data = join(directory, 'data');
  mkdirSync(data, { mode: 0o700 });
  const bus = await startBus(['--port', '0', '--admin-port', '0', '--data', data]);
  t.after(async () => {
    await bus.stop();
    rmSync(directory, { recursive: true });
  });
  const created = await fetch(`${bus.admin}/api/v1/journals/pages?filters=${encodeURIComponent(DURABLE)}`, { method: 'PUT' });
  assert.equal(created.status, 200, await created.text());
  const sdks = readdirSync(join(ROOT, 'client-sdk')).map(name => join('client-sdk', name, 'README.md')).filter(page => existsSync(join(ROOT, page)));
  const found = ['README.md', ...markdown('docs'), ...sdks].flatMap(blocks);
  assert.ok(found.length > 0);
  for (const { name, code } of found) {
    // In order, because several use the same topics.
    await t.test(name, async () => {
      const file = join(directory, 'program.mjs');
      writeFileSync(file, program(code).replaceAll(PRINTED, bus.url));
      const { code: status, stderr, stdout } = await execute(file, directory);
      assert.equal(status, 0, stderr + stdout);
      // A problem that the program does not listen to is a warning of Node.
      assert.doesNotMatch(stderr, /^\(node:\d+\)/m);
    });
  }
});
