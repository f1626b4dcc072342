import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { RecordLock } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { Vault } from '../../src/store/vault/vault.ts';

// A process that works with a vault. Commands arrive as lines on stdin, results leave as lines on stdout.

const [, , key = 'counter', logFile = ''] = process.argv;
const vault = new Vault({ env: process.env });
const pid = String(process.pid);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const currentNumber = ({ record }: RecordLock): number =>
  record === undefined ? 0 : JSON.parse(record.content.reveal()).number;

async function withLock<R>(work: (lock: RecordLock) => Promise<R> | R): Promise<R> {
  const lock = await vault.lock(key, { timeoutMs: 60_000, signal: undefined });
  try {
    return await work(lock);
  } finally {
    await lock.release();
  }
}

async function increment(lock: RecordLock): Promise<number> {
  const number = currentNumber(lock) + 1;
  const written = await lock.write({ version: String(number), content: new Secret(JSON.stringify({ number })) });
  if (!written) throw new Error('another owner changed the record');
  return number;
}

/** Logs each acquisition, write and release, and any other owner in between. */
async function incrementAndLog(lock: RecordLock): Promise<void> {
  appendFileSync(logFile, `acquired ${pid}\n`);
  const { version = '', content = new Secret('{"number":0}') } = lock.record ?? {};
  await lock.write({ version, content }, { reserve: true });
  appendFileSync(logFile, `wrote ${pid} ${await increment(lock)}\n`);
  const last = readFileSync(logFile, 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => line.startsWith('acquired'))
    .at(-1);
  appendFileSync(logFile, last === `acquired ${pid}` ? `released ${pid}\n` : `conflict ${last}\n`);
}

let resume = (): void => {};
const resumed = () =>
  new Promise<void>((resolve) => {
    resume = resolve;
  });

const commands: Record<string, (argument: string) => Promise<void>> = {
  async count(times) {
    for (let done = 0; done < Number(times); done++) await withLock(increment);
    print('counted');
  },
  async forever() {
    for (;;) await withLock(incrementAndLog);
  },
  async hold() {
    await withLock(async () => {
      print('holding');
      await resumed();
    });
    print('done');
  },
  async release() {
    resume();
  },
  /** Writes the version before it releases the lock. */
  async 'write-late'(version) {
    await withLock(async (lock) => {
      print('holding');
      await resumed();
      print(`written ${await lock.write({ version, content: new Secret('{}') })}`);
    });
  },
  async callers(count) {
    const calls = Array.from({ length: Number(count) }, () => withLock(() => {}));
    print('waiting');
    await Promise.all(calls);
    print('served');
  },
  async reserve() {
    await withLock(async (lock) => {
      await lock.write({ version: '', content: new Secret('{"number":0}') }, { reserve: true });
      print('reserved');
      await resumed();
    });
  },
  async exit() {
    process.exit(0);
  },
};

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    resume();
    await vault.close();
    process.exit(0);
  });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const [command = '', argument = ''] = line.split(' ');
  commands[command]?.(argument).catch((error) => print(`failed ${error.code ?? ''} ${error.message}`));
});
print('ready');
