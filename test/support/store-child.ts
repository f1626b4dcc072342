import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Held } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { openVault } from '../../src/store/vault/vault.ts';

// A process that works with a vault: what it is to do comes as lines on stdin, what it did goes out as lines on stdout.

const [, , name = 'counter', witness = ''] = process.argv;
const vault = openVault({ env: process.env });
const me = String(process.pid);
const wait = { timeoutMs: 60_000, signal: undefined };
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const numberIn = (held: Held): number => (held.kept === undefined ? 0 : JSON.parse(held.kept.content.reveal()).number);

async function count(held: Held): Promise<number> {
  const number = numberIn(held) + 1;
  if (!(await held.write({ head: String(number), content: new Secret(JSON.stringify({ number })) }))) {
    throw new Error('somebody else wrote');
  }
  return number;
}

/** Leaves a line on each way in and out; whoever finds another inside says so. */
async function countAndTell(held: Held): Promise<void> {
  appendFileSync(witness, `enter ${me}\n`);
  await held.write(
    { head: held.kept?.head ?? '', content: held.kept?.content ?? new Secret('{"number":0}') },
    { reserve: true },
  );
  appendFileSync(witness, `wrote ${me} ${await count(held)}\n`);
  const last = readFileSync(witness, 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => line.startsWith('enter'))
    .at(-1);
  appendFileSync(witness, last === `enter ${me}` ? `leave ${me}\n` : `intruder ${last}\n`);
}

const acts: Record<string, (argument: string) => Promise<void>> = {
  async count(times) {
    for (let done = 0; done < Number(times); done++) await vault.update(name, count, wait);
    say('counted');
  },
  async forever() {
    for (;;) await vault.update(name, countAndTell, wait);
  },
  async hold() {
    await vault.update(
      name,
      async () => {
        say('holding');
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
        say(`let go ${process.hrtime.bigint()}`);
      },
      wait,
    );
    say('done');
  },
  async release() {
    letGo();
  },
  /** Writes what it was told to before, when it is let go. */
  async 'write-late'(head) {
    await vault.update(
      name,
      async (held) => {
        say('holding');
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
        say(`written ${await held.write({ head, content: new Secret('{}') })}`);
      },
      wait,
    );
  },
  /** So many callers at once; says when the last was served. */
  async callers(many) {
    const calls = Array.from({ length: Number(many) }, () => vault.update(name, async () => {}, wait));
    say('waiting');
    await Promise.all(calls);
    say(`served ${process.hrtime.bigint()}`);
  },
  async write() {
    await vault.update(name, count, wait);
    say('wrote');
  },
  async reserve() {
    await vault.update(
      name,
      async (held) => {
        await held.write({ head: '', content: new Secret('{"number":0}') }, { reserve: true });
        say('reserved');
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
      },
      wait,
    );
  },
  async exit() {
    process.exit(0);
  },
};

let letGo = (): void => {};

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    letGo();
    await vault.close();
    process.exit(0);
  });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const [act = '', argument = ''] = line.split(' ');
  acts[act]?.(argument).catch((error) => say(`failed ${error.code ?? ''} ${error.message}`));
});
say('ready');
