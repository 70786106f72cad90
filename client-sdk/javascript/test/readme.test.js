import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { settings } from '../src/options.js';
import { EventBusError } from '../src/errors.js';
import { FAILURE_CODES } from '../src/wire/names.js';

const read = path => readFileSync(new URL(path, import.meta.url), 'utf8');

test('the README has every option, and every code', () => {
  const readme = read('../README.md');
  const rows = /begin: options -->(.*?)<!-- end/s.exec(readme)[1];
  const documented = [...rows.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const message = (() => {
    try {
      settings({ none: 1 }, false);
    } catch (error) {
      return error.message;
    }
    return assert.fail('an unknown option was taken');
  })();
  assert.deepEqual(documented.toSorted(), /expected: (.*)\)/.exec(message)[1].split(', ').toSorted());
  const codes = [...read('../src/types.js').matchAll(/'([A-Z_]+)'/g)].map(([, code]) => code);
  const own = codes.slice(0, codes.indexOf('UNREADABLE_PAYLOAD') + 1);
  own.forEach(code => assert.ok(readme.includes(`| \`${code}\` |`), code));
  [...FAILURE_CODES, 'BUS_LOST'].forEach(code => assert.ok(readme.includes(`\`${code}\``), code));
  assert.ok(new EventBusError('BUFFER_FULL', 'x').retryable && !new EventBusError('CLOSED', 'x').retryable);
});

test('the version equals that of the package', () => {
  const { version } = JSON.parse(read('../package.json'));
  assert.ok(read('../src/environment.js').includes(`VERSION = '${version}'`));
});
