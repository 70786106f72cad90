// The testee for the conformance kit, in Node: reads requests as lines of JSON, writes answers and events.
import { createInterface } from 'node:readline';

import { testee } from './support/testee.js';

const take = testee(`node ${process.versions.node}`, line => process.stdout.write(`${line}\n`));
createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', take).on('close', () => process.exit(0));
