// Buses as processes, from the jar that EVENTBUS_JAR names or the repository's.
import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { connect as connectTo } from '../../src/services.js';

const built = fileURLToPath(new URL('../../../../eventbus-server/target/eventbus.jar', import.meta.url));
export const jar = process.env.EVENTBUS_JAR ?? (existsSync(built) ? built : null);
export const skip = jar === null ? 'no jar: build it, or name it in EVENTBUS_JAR' : false;

const START = 120_000;
// A bus reads variables with its prefix as configuration.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('EVENTBUS_')));

/** Connects, with time for a busy machine. */
export const connect = options => connectTo({ connectTimeout: START, ...(typeof options === 'string' ? { url: options } : options) });

/**
 * Returns ports for buses that are told each other's, or are started again at the same one. They lie below those that Linux gives to outgoing
 * connections by itself: one of these could take a port before the bus does.
 */
export async function freePorts(count) {
  const ports = new Set();
  for (let attempt = 0; ports.size < count; attempt++) {
    const port = randomInt(15_000, 32_000);
    const server = createServer();
    try {
      await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
      ports.add(port);
      await new Promise(resolve => server.close(resolve));
    } catch (error) {
      if (attempt === 100) {
        throw error;
      }
    }
  }
  return [...ports];
}

/**
 * Starts a bus.
 * @returns {Promise<{url: string, admin: string | undefined, directory: string, end: () => Promise<void>,
 *   kill: () => Promise<void>, stop: () => Promise<void>}>} when it listens
 */
export async function startBus(args = [], directory = mkdtempSync(join(tmpdir(), 'eventbus-js-'))) {
  const key = join(directory, 'resume-key');
  if (!existsSync(key)) {
    writeFileSync(key, randomBytes(32), { mode: 0o600 });
  }
  const child = spawn('java', ['-Xmx300m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-jar', jar, 'serve', '--host', '127.0.0.1', '--set', `auth.resume-key-file=${key}`, ...args],
    { stdio: ['ignore', 'ignore', 'pipe'], env });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise(resolve => child.once('exit', resolve)).then(() => process.off('exit', kill));
  let log = '';
  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no bus within ${START} ms: ${log.slice(-2000)}`)), START);
    child.once('exit', () => reject(new Error(`the bus has ended: ${log.slice(-2000)}`)));
    child.stderr.on('data', chunk => {
      log = (log + chunk).slice(-20_000);
      const found = /listens on (ws:[^, ]+)/.exec(log);
      if (found) {
        clearTimeout(late);
        resolve(found[1]);
      }
    });
  }).catch(error => {
    child.kill('SIGKILL');
    throw error;
  });
  const end = async () => {
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(hard);
  };
  return {
    url,
    /** Address of its administration, where it has one. */
    admin: /administration on (http:[^, \n]+)/.exec(log)?.[1],
    directory,
    /** Ends the bus, and keeps its directory for another one. */
    end,
    /** Ends the bus at once, as a crash does. */
    kill: async () => {
      kill();
      await ended;
    },
    stop: async () => {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
